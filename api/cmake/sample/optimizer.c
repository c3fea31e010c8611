/* An optimizer that changes nothing. With the argument "--break everything", its programs allow
 * everything. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  struct sock_filter insn;
  const int wrong = argc > 1 && strcmp(argv[1], "--break everything") == 0;
  while (fread(&insn, sizeof insn, 1, stdin) == 1) {
    if (wrong && insn.code == (BPF_RET | BPF_K)) insn.k = SECCOMP_RET_ALLOW;
    if (fwrite(&insn, sizeof insn, 1, stdout) != 1) return 1;
  }
  return ferror(stdin) != 0 || fflush(stdout) != 0;
}
