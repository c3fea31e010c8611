#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"

int run_child(int (*function)(void*), void* job) {
  static _Alignas(64) char stack[1 << 16];
  const pid_t child = clone(function, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, job);
  int status = -1;
  while (child != -1 && waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  return status;
}

struct sock_filter* program_of(const uint8_t* wire, size_t count) {
  struct sock_filter* program = malloc(count * sizeof *program + 1);
  for (size_t i = 0; program != NULL && i < count; ++i, wire += kInsnBytes)
    program[i] = (struct sock_filter){(uint16_t)(wire[0] | wire[1] << 8), wire[2], wire[3],
                                      load32(wire + 4)};
  return program;
}

int install(const struct sock_filter* program, size_t length) {
  const struct sock_fprog filter = {(unsigned short)length, (struct sock_filter*)program};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

// Whether a program may let the kernel run a call. A return of A may have any value.
static int may_run(const struct sock_filter* program, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if ((program[i].code & 7) != BPF_RET) continue;
    const uint32_t action = program[i].k & SECCOMP_RET_ACTION_FULL;
    if (program[i].code != (BPF_RET | BPF_K) ||
        (action != SECCOMP_RET_ERRNO && action != SECCOMP_RET_KILL_THREAD &&
         action != SECCOMP_RET_KILL_PROCESS))
      return 1;
  }
  return 0;
}

// The kernel takes the strictest answer of all filters, and of equally strict ones the newest
// filter's. With this older filter, a call that the program allows fails with the last error
// number. It allows only what is needed to install the program.
static const struct sock_filter kGuard[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | kLastError),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

struct questions {
  const struct sock_filter* program;
  size_t length;
  const uint8_t* calls;
  size_t count;
  uint32_t* answers;
  size_t done;  // answers so far
  int error;    // of the installation, or -1 before it
};

// Runs in the child. After the installation no system call works, so the child cannot exit: it ends
// by a trap. Without a core dump, its end does not concern the process whose memory it shares.
static int answer_calls(void* job) {
  struct questions* asked = job;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      (may_run(asked->program, asked->length) &&
       !install(kGuard, sizeof kGuard / sizeof *kGuard)) ||
      !install(asked->program, asked->length)) {
    asked->error = errno;
    _exit(1);
  }
  asked->error = 0;
  while (asked->done < asked->count) {
    const uint8_t* call = asked->calls + asked->done * kCallBytes;
    long values[6];
    for (int i = 0; i < 6; ++i) {
      const uint32_t words[2] = {load32(call + 16 + 8 * i), load32(call + 20 + 8 * i)};
      uint64_t value;
      memcpy(&value, words, sizeof value);
      values[i] = (long)value;
    }
    const long result = syscall((long)(int32_t)load32(call), values[0], values[1], values[2],
                                values[3], values[4], values[5]);
    asked->answers[asked->done++] = result == -1 ? (uint32_t)errno : 0;
  }
  __builtin_trap();
}

const char* ask(const struct sock_filter* program, size_t length, const uint8_t* calls,
                size_t count, uint32_t* answers) {
  if (length > UINT16_MAX) return "a program of this length cannot be given to the kernel";
  struct questions asked = {program, length, calls, count, answers, 0, -1};
  do {
    asked.error = -1;
    const int status = run_child(answer_calls, &asked);
    if (asked.error == -1) return "a process cannot be started";
    if (asked.error != 0) return strerror(asked.error);
    if (asked.done == count) break;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
      return "the process with the filter ended in an unexpected way";
    answers[asked.done++] = KILLED;
  } while (asked.done < count);
  return NULL;
}

struct candidates {
  const struct candidate* programs;
  size_t count;
  uint8_t* answers;
  const char* problem;
};

// Returns the kernel's error number for a program. A listener needs a descriptor, and there is
// none, so nothing is ever installed: the kernel answers EMFILE for a program that it accepts.
static int verdict(const struct candidate* one) {
  const struct sock_fprog filter = {(unsigned short)one->length, (struct sock_filter*)one->program};
  if (one->length > UINT16_MAX) return EINVAL;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter) ==
                 -1
             ? errno
             : 0;
}

// Runs in the child.
static int judge(void* job) {
  static const struct sock_filter shortest = {BPF_RET | BPF_K, 0, 0,
                                              0};  // if this one is refused, seccomp itself is
  struct candidates* judged = job;
  const struct rlimit none = {0, 0};
  judged->problem = "the kernel refuses every program: seccomp is not permitted";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setrlimit(RLIMIT_NOFILE, &none) != 0 ||
      verdict(&(struct candidate){&shortest, 1}) != EMFILE)
    _exit(1);
  judged->problem = NULL;
  for (size_t i = 0; i < judged->count && judged->problem == NULL; ++i) {
    const int error = verdict(&judged->programs[i]);
    judged->answers[i] = error == EMFILE;
    if (error != EMFILE && error != EINVAL) judged->problem = strerror(error);
  }
  _exit(0);
}

const char* accepts(const struct candidate* programs, size_t count, uint8_t* answers) {
  struct candidates judged = {programs, count, answers, "a process cannot be started"};
  run_child(judge, &judged);
  return judged.problem;
}

// Asks for a word of seccomp_data, in three parts, because an error number has only 12 bits.
static const char* word(uint32_t index, const uint8_t* call, uint32_t* value) {
  *value = 0;
  for (uint32_t shift = 0; shift < 32; shift += 12) {
    const struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * index),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, shift),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kLastError),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    uint32_t bits;
    const char* problem = ask(program, sizeof program / sizeof *program, call, 1, &bits);
    if (problem != NULL) return problem;
    *value |= bits << shift;
  }
  return NULL;
}

const char* look(struct entry* entry) {
  uint8_t call[kCallBytes] = {0};
  uint32_t none, all;
  const uint32_t one = 1;
  entry->big_endian = *(const uint8_t*)&one == 0;
  const char* problem = word(1, call, &entry->audit);
  if (problem == NULL) problem = word(0, call, &none);
  store32(call, UINT32_MAX);
  if (problem == NULL) problem = word(0, call, &all);
  if (problem != NULL) return problem;
  entry->nr_mask = all & ~none;
  entry->high_words = "own";
  if (sizeof(long) == 8) return NULL;
  int zero = 0, sign = 0;
  const uint32_t high = entry->big_endian ? 0 : 1, low = 1 - high;
  for (uint32_t i = 0; i < 6; ++i) {
    store32(call + 4 * (4 + 2 * i + low), UINT32_C(1) << 31);
    uint32_t seen;
    if ((problem = word(4 + 2 * i + high, call, &seen)) != NULL) return problem;
    zero += seen == 0;
    sign += seen == UINT32_MAX;
  }
  entry->high_words = zero == 6 ? "zero" : sign == 6 ? "sign" : "mixed";
  return NULL;
}
