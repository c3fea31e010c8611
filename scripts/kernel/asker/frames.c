#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asker.h"

uint32_t load32(const uint8_t* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void store32(uint8_t* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = (uint8_t)(value >> (8 * i));
}

int read_all(int from, void* to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t now = read(from, (char*)to + done, size - done);
    if (now == -1 && (errno == EINTR || errno == EAGAIN)) continue;
    if (now <= 0) return 0;
    done += (size_t)now;
  }
  return 1;
}

int write_all(int to, const void* from, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t now = write(to, (const char*)from + done, size - done);
    if (now == -1 && (errno == EINTR || errno == EAGAIN)) continue;
    if (now <= 0) return 0;
    done += (size_t)now;
  }
  return 1;
}

static int skip(int from, size_t size) {
  char bytes[4096];
  while (size > 0) {
    const size_t now = size < sizeof bytes ? size : sizeof bytes;
    if (!read_all(from, bytes, now)) return 0;
    size -= now;
  }
  return 1;
}

int read_frame(int from, struct bytes* frame) {
  static uint8_t* memory;
  static size_t room;
  uint8_t length[4];
  if (!read_all(from, length, sizeof length)) return 0;
  const size_t size = load32(length);
  if (size > room && size <= kMostBytes) {
    free(memory);
    memory = malloc(size);
    room = memory == NULL ? 0 : size;
  }
  if (size > room) return skip(from, size) ? -1 : 0;
  frame->at = memory;
  frame->size = size;
  return read_all(from, memory, size);
}

void answer_start(struct answer* answer, uint8_t status) {
  answer->size = 0;
  answer_more(answer, 4);
  *answer_more(answer, 1) = status;
}

uint8_t* answer_more(struct answer* answer, size_t size) {
  if (answer->size + size > answer->room) {
    answer->room = answer->size + size + 4096;
    answer->at = realloc(answer->at, answer->room);
    if (answer->at == NULL) abort();  // a request's memory is at least as large as its answer's
  }
  answer->size += size;
  return answer->at + answer->size - size;
}

static void answer_list(struct answer* answer, const char* format, va_list values) {
  char text[1024];
  vsnprintf(text, sizeof text, format, values);
  memcpy(answer_more(answer, strlen(text)), text, strlen(text));
}

void answer_text(struct answer* answer, const char* format, ...) {
  va_list values;
  va_start(values, format);
  answer_list(answer, format, values);
  va_end(values);
}

void answer_no(struct answer* answer, uint8_t status, const char* format, ...) {
  answer_start(answer, status);
  va_list values;
  va_start(values, format);
  answer_list(answer, format, values);
  va_end(values);
}

int answer_send(int to, struct answer* answer) {
  store32(answer->at, (uint32_t)(answer->size - 4));
  return write_all(to, answer->at, answer->size);
}
