/* A program that uses the library. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <secequiv.h>
#include <stdio.h>

int main(void) {
  const struct sock_filter before[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_filter after[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  secequiv_result* result = secequiv_prove(before, 1, after, 2, NULL);
  const int holds = secequiv_result_holds(result);
  if (!holds) fputs(secequiv_result_message(result), stderr);
  secequiv_result_free(result);
  return !holds;
}
