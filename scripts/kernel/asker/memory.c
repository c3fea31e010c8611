#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

enum { kChunk = 1 << 20 };

// /proc/kcore is an ELF file whose segments are the kernel's address ranges.
struct core {
  int file;
  ElfW(Ehdr) head;
};

static const char* open_core(struct core* core) {
  core->file = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
  if (core->file == -1) return "/proc/kcore cannot be opened";
  if (pread(core->file, &core->head, sizeof core->head, 0) == sizeof core->head) return NULL;
  close(core->file);
  return "/proc/kcore cannot be read";
}

static int segment(const struct core* core, unsigned i, ElfW(Phdr) * part) {
  const off_t at = (off_t)(core->head.e_phoff + i * sizeof *part);
  return pread(core->file, part, sizeof *part, at) == sizeof *part && part->p_type == PT_LOAD;
}

static const char* read_core(uint64_t address, uint8_t* to, size_t size) {
  struct core core;
  const char* problem = open_core(&core);
  if (problem != NULL) return problem;
  problem = "/proc/kcore has no such address";
  ElfW(Phdr) part;
  for (unsigned i = 0; i < core.head.e_phnum; ++i) {
    if (!segment(&core, i, &part) || address < part.p_vaddr) continue;
    const uint64_t within = address - part.p_vaddr;
    if (within >= part.p_memsz || size > part.p_memsz - within) continue;
    const off_t at = (off_t)(part.p_offset + within);
    problem =
        pread(core.file, to, size, at) == (ssize_t)size ? NULL : "/proc/kcore cannot be read there";
    break;
  }
  close(core.file);
  return problem;
}

// Whether inverted words are those of `inverted`, which has no other copy in memory.
static int matches(const unsigned long* words, const unsigned long* inverted, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (words[i] != ~inverted[i]) return 0;
  return 1;
}

static void find_in(const struct core* core, const ElfW(Phdr) * part, unsigned long* chunk,
                    const unsigned long* inverted, size_t count, struct places* places) {
  const size_t size = count * sizeof *inverted;
  for (uint64_t at = 0; at + size <= part->p_memsz; at += kChunk - size) {
    const uint64_t left = part->p_memsz - at;
    const ssize_t got = pread(core->file, chunk, left < kChunk ? (size_t)left : kChunk,
                              (off_t)(part->p_offset + at));
    for (size_t i = 0; got >= (ssize_t)size && i + count <= (size_t)got / sizeof *chunk; ++i) {
      if (!matches(chunk + i, inverted, count)) continue;
      if (places->count < kMostPlaces)
        places->at[places->count++] = part->p_vaddr + at + i * sizeof *chunk;
      // This buffer is also part of the memory that is searched.
      memset(chunk + i, 0, size);
    }
  }
}

static const char* find_in_core(const unsigned long* inverted, size_t count,
                                struct places* places) {
  struct core core;
  places->count = 0;
  const char* problem = open_core(&core);
  if (problem != NULL) return problem;
  unsigned long* chunk = malloc(kChunk);
  ElfW(Phdr) part;
  for (unsigned i = 0; chunk != NULL && i < core.head.e_phnum; ++i) {
    // Only segments of RAM have a physical address.
    if (segment(&core, i, &part) && part.p_paddr + 1 != 0)
      find_in(&core, &part, chunk, inverted, count, places);
  }
  close(core.file);
  if (chunk == NULL) return "there is no memory for the search";
  memset(chunk, 0, kChunk);
  free(chunk);
  return NULL;
}

// Some kernels crash when they read parts of their own memory. That ends only the process that
// asked.
struct search {
  uint64_t address;
  uint8_t* to;
  size_t size;  // of `to`, or of the words
  const unsigned long* inverted;
  struct places* places;
  const char* problem;
};

static int search(void* job) {
  struct search* wanted = job;
  wanted->problem = wanted->inverted == NULL
                        ? read_core(wanted->address, wanted->to, wanted->size)
                        : find_in_core(wanted->inverted, wanted->size, wanted->places);
  _exit(0);
}

static const char kCrashed[] = "the kernel cannot read its own memory";

const char* read_memory(uint64_t address, uint8_t* to, size_t size) {
  struct search wanted = {address, to, size, NULL, NULL, kCrashed};
  run_child(search, &wanted);
  return wanted.problem;
}

const char* find_memory(const unsigned long* inverted, size_t count, struct places* places) {
  struct search wanted = {0, NULL, count, inverted, places, kCrashed};
  run_child(search, &wanted);
  return wanted.problem;
}

// Stops once without filters, and once with all of them.
static void stop_with_filters(const struct candidate* programs, size_t count) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(1);
  raise(SIGSTOP);
  for (size_t i = 0; i < count; ++i)
    if (!install(programs[i].program, programs[i].length)) _exit(2);
  raise(SIGSTOP);
  _exit(0);
}

static int stopped(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status);
}

const char* find_with_filters(const struct candidate* programs, size_t count,
                              const unsigned long* inverted, size_t words, struct places* places) {
  for (size_t i = 0; i < count; ++i)
    if (programs[i].length > UINT16_MAX) return "a program of this length cannot be installed";
  const pid_t child = fork();
  if (child == 0) stop_with_filters(programs, count);
  if (child == -1) return "a process cannot be started";
  const char* problem = NULL;
  // The filters must not decide the calls that install the next ones.
  if (!stopped(child) || ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_SUSPEND_SECCOMP) != 0)
    problem = "seccomp cannot be suspended for a process";
  else if (ptrace(PTRACE_CONT, child, 0, 0) != 0 || !stopped(child))
    problem = "the kernel refuses a program";
  else
    problem = find_memory(inverted, words, places);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return problem;
}
