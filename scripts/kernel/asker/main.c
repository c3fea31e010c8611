// Answers requests about the seccomp of the kernel that it runs on (../README.md). As an ordinary
// process it reads standard input and writes standard output; as the first process of a guest it
// uses the port to the host.
//
//     asker NAME [NAME=PROGRAM]...
//
// NAME is the architecture of this program's entry into the kernel. Each PROGRAM is an asker for
// another entry.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"

enum { kMostOthers = 4 };

struct other {
  int socket;
  char* info;  // its answer to `i`
};
static struct other others[kMostOthers];
static size_t others_count;

static void answer_entry(struct answer* answer, const char* name) {
  struct entry entry;
  const char* problem = look(&entry);
  if (problem != NULL) {
    answer_no(answer, kRefused, "%s: %s", name, problem);
    return;
  }
  answer_text(answer,
              "{\"name\": \"%s\", \"audit\": %lu, \"long_bits\": %d, \"nr_mask\": %lu, "
              "\"high_words\": \"%s\"}",
              name, (unsigned long)entry.audit, (int)(8 * sizeof(long)),
              (unsigned long)entry.nr_mask, entry.high_words);
}

static void answer_info(struct answer* answer, const char* name) {
  struct utsname system;
  const uint32_t one = 1;
  if (uname(&system) != 0) {
    answer_no(answer, kRefused, "uname failed");
    return;
  }
  answer_text(answer,
              "{\"arch\": \"%s\", \"release\": \"%s\", \"version\": \"%s\", \"big_endian\": %s, "
              "\"entries\": [",
              name, system.release, system.version, *(const uint8_t*)&one == 0 ? "true" : "false");
  answer_entry(answer, name);
  if (answer->at[4] != kAnswered) return;
  for (size_t i = 0; i < others_count; ++i) answer_text(answer, ", %s", others[i].info);
  answer_text(answer, "]}");
}

// A request that begins with programs, and what follows them.
struct programs {
  struct candidate* list;
  size_t count;
  struct bytes rest;
};

static void free_programs(struct programs* programs) {
  for (size_t i = 0; i < programs->count; ++i) free((void*)programs->list[i].program);
  free(programs->list);
}

// Returns whether the request has as many programs as it claims. The caller frees them in any case.
static int read_programs(struct bytes body, struct programs* programs) {
  *programs = (struct programs){NULL, 0, body};
  const size_t count = body.size < 4 ? SIZE_MAX : load32(body.at);
  if (count > body.size / 4) return 0;
  programs->list = calloc(count + 1, sizeof *programs->list);
  size_t at = 4;
  while (programs->list != NULL && programs->count < count && body.size - at >= 4) {
    const size_t length = load32(body.at + at);
    at += 4;
    if (length > (body.size - at) / kInsnBytes) return 0;
    programs->list[programs->count++] =
        (struct candidate){program_of(body.at + at, length), length};
    at += length * kInsnBytes;
  }
  programs->rest = (struct bytes){body.at + at, body.size - at};
  return programs->list != NULL && programs->count == count;
}

static void answer_accept(struct answer* answer, struct bytes body) {
  struct programs programs;
  if (!read_programs(body, &programs) || programs.rest.size != 0) {
    answer_no(answer, kRefused, "the programs do not fit the request");
  } else {
    const char* problem =
        accepts(programs.list, programs.count, answer_more(answer, programs.count));
    if (problem != NULL) answer_no(answer, kRefused, "%s", problem);
  }
  free_programs(&programs);
}

// The bits come as bytes, the lowest one first, and become words of this machine.
static void answer_find(struct answer* answer, struct bytes body) {
  struct programs programs;
  unsigned long words[kMostBits / 8 / sizeof(long)] = {0};
  struct places places;
  if (!read_programs(body, &programs) || programs.rest.size == 0 || programs.rest.size % 8 != 0 ||
      programs.rest.size > sizeof words) {
    answer_no(answer, kRefused, "programs and a multiple of 64 bits, at most %d, are expected",
              (int)kMostBits);
  } else {
    for (size_t i = 0; i < programs.rest.size; ++i)
      words[i / sizeof *words] |= (unsigned long)programs.rest.at[i] << (8 * (i % sizeof *words));
    const char* problem = find_with_filters(programs.list, programs.count, words,
                                            programs.rest.size / sizeof *words, &places);
    if (problem != NULL) answer_no(answer, kUnsupported, "%s", problem);
    for (size_t i = 0; problem == NULL && i < places.count; ++i) {
      store32(answer_more(answer, 4), (uint32_t)places.at[i]);
      store32(answer_more(answer, 4), (uint32_t)(places.at[i] >> 32));
    }
  }
  free_programs(&programs);
}

static void answer_ask(struct answer* answer, struct bytes body) {
  const size_t length = body.size < 5 ? SIZE_MAX : load32(body.at + 1);
  if (body.size < 5 || length > (body.size - 5) / kInsnBytes ||
      (body.size - 5 - length * kInsnBytes) % kCallBytes != 0) {
    answer_no(answer, kRefused, "the program and the calls do not fit the request");
    return;
  }
  const uint8_t* calls = body.at + 5 + length * kInsnBytes;
  const size_t count = (size_t)(body.at + body.size - calls) / kCallBytes;
  struct sock_filter* program = program_of(body.at + 5, length);
  uint32_t* answers = malloc(count * sizeof *answers + 1);
  const char* problem = program == NULL || answers == NULL
                            ? "there is no memory for the request"
                            : ask(program, length, calls, count, answers);
  if (problem != NULL)
    answer_no(answer, kRefused, "%s", problem);
  else
    for (size_t i = 0; i < count; ++i) store32(answer_more(answer, 4), answers[i]);
  free(answers);
  free(program);
}

static void answer_memory(struct answer* answer, struct bytes body) {
  const size_t size = body.size == 12 ? load32(body.at + 8) : 0;
  if (body.size != 12 || size > kMostBytes) {
    answer_no(answer, kRefused, "an address of 64 bits and a length of at most %d are expected",
              (int)kMostBytes);
    return;
  }
  const char* problem = read_memory(load32(body.at) | (uint64_t)load32(body.at + 4) << 32,
                                    answer_more(answer, size), size);
  if (problem != NULL) answer_no(answer, kUnsupported, "%s", problem);
}

// Sends a request to another asker and reads its answer.
static int exchange(const struct other* other, struct bytes request, struct answer* answer) {
  uint8_t length[4];
  store32(length, (uint32_t)request.size);
  if (!write_all(other->socket, length, 4) || !write_all(other->socket, request.at, request.size) ||
      !read_all(other->socket, length, 4))
    return 0;
  answer->size = 0;
  answer_more(answer, 4);
  return read_all(other->socket, answer_more(answer, load32(length)), load32(length));
}

// `text` is NAME=PROGRAM. Without this kernel's support for such programs, the entry is left out.
static void start_other(char* text) {
  int ends[2];
  char* program = strchr(text, '=');
  if (program == NULL || others_count == kMostOthers ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return;
  *program++ = '\0';
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 0);
    dup2(ends[1], 1);
    execl(program, program, text, (char*)NULL);
    _exit(127);
  }
  close(ends[1]);
  struct other other = {ends[0], NULL};
  struct answer answer = {0};
  uint8_t kind = 'i';
  if (child != -1 && exchange(&other, (struct bytes){&kind, 1}, &answer) &&
      answer.at[4] == kAnswered) {
    *answer_more(&answer, 1) = '\0';
    other.info = (char*)answer.at + 5;
    others[others_count++] = other;
    return;
  }
  fprintf(stderr, "asker: no entry %s: %s cannot be run\n", text, program);
  close(ends[0]);
  if (child != -1) waitpid(child, NULL, 0);
}

static void serve(int from, int to, const char* name) {
  struct answer answer = {0};
  struct bytes frame;
  for (int read; (read = read_frame(from, &frame)) != 0;) {
    answer_start(&answer, kAnswered);
    const struct bytes body = {frame.at + 1, frame.size - 1};
    if (read == -1) {
      answer_no(&answer, kRefused, "a request has at most %d bytes", (int)kMostBytes);
    } else if (frame.size == 0) {
      answer_no(&answer, kRefused, "the request is empty");
    } else if (frame.at[0] == 'I') {
      answer_info(&answer, name);
    } else if (frame.at[0] == 'i') {
      answer_entry(&answer, name);
    } else if (frame.at[0] == 'A') {
      answer_accept(&answer, body);
    } else if (frame.at[0] == 'C') {
      answer_find(&answer, body);
    } else if (frame.at[0] == 'K') {
      answer_memory(&answer, body);
    } else if (frame.at[0] != 'Q') {
      answer_no(&answer, kUnsupported, "unknown kind of request: %d", frame.at[0]);
    } else if (body.size == 0 || body.at[0] > others_count) {
      answer_no(&answer, kRefused, "there is no such entry: this kernel has %d",
                (int)others_count + 1);
    } else if (body.at[0] == 0) {
      answer_ask(&answer, body);
    } else {
      const struct other* other = &others[body.at[0] - 1];
      body.at[0] = 0;
      if (!exchange(other, frame, &answer))
        answer_no(&answer, kRefused, "the asker of this entry has ended");
    }
    if (!answer_send(to, &answer)) return;
  }
}

int main(int count, char** words) {
  if (count < 2) {
    fprintf(stderr, "usage: asker NAME [NAME=PROGRAM]...\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const int guest = getpid() == 1;
  const int port = guest ? open_port() : -1;
  for (int i = 2; i < count; ++i) start_other(words[i]);
  serve(guest ? port : 0, guest ? port : 1, words[1]);
  return 0;
}
