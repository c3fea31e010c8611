/* A server for tests. It optimizes a program to itself. If the first instruction has code 0xdead,
 * the bytes after it name a way in which the server then misbehaves. With an argument, it
 * misbehaves in that way before it reads any request. It compiles a policy to as many instructions
 * as the policy has bytes. Its stages "one" and "two" are the program itself. Its evaluation of an
 * input is the input's first word; if the program's k is 0xdead, one value is missing. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t word(const unsigned char* at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void raw(const void* bytes, size_t size) {
  if (fwrite(bytes, 1, size, stdout) != size || fflush(stdout) != 0) _exit(9);
}

static void answer(unsigned char status, const void* body, size_t size) {
  const uint32_t length = (uint32_t)size + 1;
  fwrite(&length, 4, 1, stdout);
  fwrite(&status, 1, 1, stdout);
  raw(body, size);
}

static void flood(FILE* to) {
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  for (;;) fwrite(block, sizeof block, 1, to);
}

static void take_memory(const char* farewell) {
  for (;;) {
    char* more = malloc(1 << 20);
    if (more == NULL) fputs(farewell, stderr);
    if (more == NULL) abort();
    memset(more, 1, 1 << 20);
  }
}

static void go_wrong(const char* how, const unsigned char* program, size_t size) {
  if (!strcmp(how, "segv")) raise(SIGSEGV);
  if (!strcmp(how, "exit3")) fputs("three it is\n", stderr), exit(3);
  if (!strcmp(how, "exit0")) exit(0);
  if (!strcmp(how, "hang")) pause();
  if (!strcmp(how, "status9")) answer(9, program, size);
  if (!strcmp(how, "cut")) raw("\x11\0\0\0\0abc", 8), exit(0);
  if (!strcmp(how, "cut3")) raw("\x11\0\0\0\0abc", 8), exit(3);
  if (!strcmp(how, "cutlength")) raw("\x11\0", 2), exit(0);
  if (!strcmp(how, "cuthang")) raw("\x11\0\0\0\0abc", 8), pause();
  if (!strcmp(how, "length0")) raw("\0\0\0\0", 4);
  if (!strcmp(how, "length4g")) raw("\xff\xff\xff\xff", 4);
  if (!strcmp(how, "bytes13")) answer(0, "thirteenbytes", 13);
  if (!strcmp(how, "bytes0")) answer(0, "", 0);
  if (!strcmp(how, "text")) raw("hello, world\n", 13);
  if (!strcmp(how, "twice")) {
    unsigned char two[64] = {9, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0};
    memcpy(two + 13, two, 13);
    raw(two, 26);
  }
  if (!strcmp(how, "late")) answer(0, program, size), usleep(20000), raw("zz", 2), raise(SIGSTOP);
  if (!strcmp(how, "closed")) close(1), pause();
  if (!strcmp(how, "grandchild") && fork() != 0) _exit(0);
  if (!strcmp(how, "grandchild")) sleep(60), exit(0);
  if (!strcmp(how, "unsupported")) answer(1, "no such thing\x1b[2J", 17);
  if (!strcmp(how, "refused")) answer(2, "", 0);
  if (!strcmp(how, "answerexit0")) answer(0, program, size), exit(0);
  if (!strcmp(how, "answerexit4")) answer(0, program, size), exit(4);
  if (!strcmp(how, "bigexit")) { /* leaves more bytes in the pipe than one read returns */
    if (fcntl(1, F_SETPIPE_SZ, 1 << 20) > 0) answer(0, calloc(62500, 8), 500000);
    exit(0);
  }
  if (!strcmp(how, "slow")) usleep(150000), answer(0, program, size);
  if (!strcmp(how, "memory")) take_memory("out of memory\n");
  if (!strcmp(how, "memoryquiet")) take_memory("");
  if (!strcmp(how, "flood")) flood(stdout);
  if (!strcmp(how, "floodstderr")) flood(stderr);
  if (!strcmp(how, "panic")) {
    fputs("panic: runtime error: index out of range [7] with length 7\n\n", stderr);
    for (int i = 0; i < 500; ++i) fprintf(stderr, "goroutine %d [running]:\n", i);
    exit(2);
  }
  if (!strcmp(how, "rust")) {
    fputs("thread 'main' panicked at src/main.rs:7:5:\nattempt to subtract with overflow\n",
          stderr);
    exit(101);
  }
  if (!strcmp(how, "deaf")) pause();
}

int main(int argc, char** argv) {
  unsigned char length[4];
  if (argc > 1) go_wrong(argv[1], NULL, 0);
  while (fread(length, 4, 1, stdin) == 1) {
    const size_t size = word(length);
    unsigned char* body = malloc(size);
    if (body == NULL || fread(body, size, 1, stdin) != 1) return 1;
    if (body[0] == 'C') {
      answer(0, calloc(size, 8), 8 * (size - 1));
    } else if (body[0] == 'E') {
      const size_t inputs = 5 + 8 * (size_t)word(body + 1);
      const size_t count = (size - inputs) / 64 - (word(body + 9) == 0xdead);
      unsigned char* values = malloc(4 * count + 4);
      for (size_t i = 0; i < count; ++i) memcpy(values + 4 * i, body + inputs + 64 * i, 4);
      answer(0, values, 4 * count);
      free(values);
    } else if (body[0] == 'S' && word(body + 1) != 0xdead) {
      unsigned char* stages = malloc(2 * (size + 16));
      size_t end = 0;
      for (int i = 0; i < 2; ++i) {
        const unsigned char count = (unsigned char)(size / 8);
        memcpy(stages + end, i == 0 ? "\3\0\0\0one" : "\3\0\0\0two", 7);
        memcpy(stages + end + 7, (unsigned char[]){count, 0, 0, 0}, 4);
        memcpy(stages + end + 11, body + 1, size - 1);
        end += 11 + size - 1;
      }
      answer(0, stages, end);
      free(stages);
    } else if (word(body + 1) == 0xdead) {
      go_wrong((const char*)body + 9, body + 1, size - 1);
    } else {
      answer(0, body + 1, size - 1);
    }
    free(body);
  }
  return 0;
}
