#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"

// What a child leaves for its parent.
struct shared {
  volatile uint32_t done;  // answers so far
  volatile uint32_t installed;
  volatile uint32_t answers[];
};

static struct shared* share(size_t count, size_t* size) {
  *size = sizeof(struct shared) + count * sizeof(uint32_t);
  void* memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  return status;
}

struct sock_filter* program_of(const uint8_t* wire, size_t count) {
  struct sock_filter* program = malloc(count * sizeof *program + 1);
  for (size_t i = 0; program != NULL && i < count; ++i, wire += kInsnBytes)
    program[i] = (struct sock_filter){(uint16_t)(wire[0] | wire[1] << 8), wire[2], wire[3], load32(wire + 4)};
  return program;
}

static int install(const struct sock_filter* program, size_t length) {
  const struct sock_fprog filter = {(unsigned short)length, (struct sock_filter*)program};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

// Whether a program may let the kernel run a call. A return of A may have any value.
static int may_run(const struct sock_filter* program, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if ((program[i].code & 7) != BPF_RET) continue;
    const uint32_t action = program[i].k & SECCOMP_RET_ACTION_FULL;
    if (program[i].code != (BPF_RET | BPF_K) || (action != SECCOMP_RET_ERRNO && action != SECCOMP_RET_KILL_THREAD && action != SECCOMP_RET_KILL_PROCESS))
      return 1;
  }
  return 0;
}

// The kernel takes the strictest answer of all filters, and of equally strict ones the newest filter's. With this older filter, a call that the program
// allows fails with the last error number. It allows only what is needed to install the program.
static const struct sock_filter kGuard[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | kLastError),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

// Runs in the child. After the installation no system call works, so the child cannot exit: it ends by a trap.
static void answer_calls(const struct sock_filter* program, size_t length, const uint8_t* calls, size_t count, struct shared* shared) {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      (may_run(program, length) && !install(kGuard, sizeof kGuard / sizeof *kGuard)) || !install(program, length))
    _exit(errno);
  shared->installed = 1;
  for (size_t i = shared->done; i < count; ++i) {
    const uint8_t* call = calls + i * kCallBytes;
    long values[6];
    for (int j = 0; j < 6; ++j) values[j] = (long)(load32(call + 16 + 8 * j) | (uint64_t)load32(call + 20 + 8 * j) << 32);
    const long result = syscall((long)(int32_t)load32(call), values[0], values[1], values[2], values[3], values[4], values[5]);
    shared->answers[i] = result == -1 ? (uint32_t)errno : 0;
    shared->done = (uint32_t)i + 1;
  }
  __builtin_trap();
}

const char* ask(const struct sock_filter* program, size_t length, const uint8_t* calls, size_t count, uint32_t* answers) {
  size_t size;
  if (length > UINT16_MAX) return "a program of this length cannot be given to the kernel";
  struct shared* shared = share(count, &size);
  if (shared == NULL) return "there is no memory for the answers";
  const char* problem = NULL;
  while (problem == NULL && shared->done < count) {
    shared->installed = 0;
    const pid_t child = fork();
    if (child == 0) answer_calls(program, length, calls, count, shared);
    const int status = child == -1 ? 0 : wait_for(child);
    if (child == -1)
      problem = "a process cannot be started";
    else if (!shared->installed)
      problem = WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "the process ended before the filter was installed";
    else if (shared->done == count)
      break;
    else if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
      problem = "the process with the filter ended in an unexpected way";
    else
      shared->answers[shared->done++] = KILLED;
  }
  if (problem == NULL) memcpy(answers, (const void*)shared->answers, count * sizeof *answers);
  munmap(shared, size);
  return problem;
}

const char* accepts(const struct candidate* programs, size_t count, uint8_t* answers) {
  static const struct sock_filter shortest = {BPF_RET | BPF_K, 0, 0, 0};  // if this one is refused, seccomp itself is
  size_t size;
  struct shared* shared = share(count + 1, &size);
  if (shared == NULL) return "there is no memory for the answers";
  const pid_t child = fork();
  if (child == 0) {
    // A listener needs a descriptor, and there is none, so nothing is ever installed: the kernel answers EMFILE for a program that it accepts.
    const struct rlimit none = {0, 0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(1);
    for (size_t i = 0; i <= count; ++i) {
      const struct candidate one = i == 0 ? (struct candidate){&shortest, 1} : programs[i - 1];
      const struct sock_fprog filter = {(unsigned short)one.length, (struct sock_filter*)one.program};
      const long done = one.length > UINT16_MAX ? -1 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
      shared->answers[i] = one.length > UINT16_MAX ? EINVAL : done == -1 ? (uint32_t)errno : 0;
      shared->done = (uint32_t)i + 1;
    }
    _exit(0);
  }
  if (child != -1) wait_for(child);
  const char* problem = NULL;
  if (shared->done != count + 1)
    problem = "the process that asks the kernel ended early";
  else if (shared->answers[0] != EMFILE)
    problem = "the kernel refuses every program: seccomp is not permitted";
  for (size_t i = 0; problem == NULL && i < count; ++i) {
    const uint32_t error = shared->answers[i + 1];
    if (error != EMFILE && error != EINVAL) problem = strerror((int)error);
    answers[i] = error == EMFILE;
  }
  munmap(shared, size);
  return problem;
}

// Asks for a word of seccomp_data, in three parts, because an error number has only 12 bits.
static const char* word(uint32_t index, const uint8_t* call, uint32_t* value) {
  *value = 0;
  for (uint32_t shift = 0; shift < 32; shift += 12) {
    const struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * index),     BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, shift),        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kLastError),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO), BPF_STMT(BPF_RET | BPF_A, 0),
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
  const uint32_t high = entry->big_endian ? 0 : 1;
  for (uint32_t i = 0; i < 6; ++i) {
    store32(call + 16 + 8 * i, UINT32_C(1) << 31);
    uint32_t seen;
    if ((problem = word(4 + 2 * i + high, call, &seen)) != NULL) return problem;
    zero += seen == 0;
    sign += seen == UINT32_MAX;
  }
  entry->high_words = zero == 6 ? "zero" : sign == 6 ? "sign" : "mixed";
  return NULL;
}
