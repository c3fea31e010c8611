// What the parts of the asker share: frames, and questions to the seccomp of the kernel that it
// runs on. It must not know architectures: what differs between them is asked of the kernel.
#ifndef SECEQUIV_ASKER_H
#define SECEQUIV_ASKER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

enum { kAnswered = 0, kUnsupported = 1, kRefused = 2 };

enum {
  kMostBytes = 16 << 20,  // of a frame
  kCallBytes = 64,
  kInsnBytes = 8,
  kMostBits = 4096,   // of a bitmap that is searched
  kLastError = 4095,  // the highest error number that a filter can return
};
#define KILLED UINT32_MAX

struct bytes {
  uint8_t* at;
  size_t size;
};

// --- frames.c: frames on descriptors, and the answers' bodies

uint32_t load32(const uint8_t* at);
void store32(uint8_t* at, uint32_t value);
// Both return 0 if the other end is gone.
int read_all(int from, void* to, size_t size);
int write_all(int to, const void* from, size_t size);
// Returns 1 with a frame, 0 at the end of the input, and -1 after a frame that does not fit into
// memory, which it has skipped. Its bytes stay valid until the next call.
int read_frame(int from, struct bytes* frame);

// An answer that is being written. `at` includes the frame's length and the status.
struct answer {
  uint8_t* at;
  size_t size, room;
};
void answer_start(struct answer* answer, uint8_t status);
// Returns where the bytes are to be written.
uint8_t* answer_more(struct answer* answer, size_t size);
__attribute__((format(printf, 2, 3))) void answer_text(struct answer* answer, const char* format,
                                                       ...);
// Replaces what was written by the given status and reason.
__attribute__((format(printf, 3, 4))) void answer_no(struct answer* answer, uint8_t status,
                                                     const char* format, ...);
int answer_send(int to, struct answer* answer);

// --- seccomp.c: questions to the kernel

// Runs a function in a child, which shares this process's memory, and waits for its end; this is
// twice as fast as fork in an emulated machine. Returns the status of its end, or -1.
int run_child(int (*function)(void*), void* job);

// A number of instructions from the wire, in this machine's byte order; the caller frees it.
struct sock_filter* program_of(const uint8_t* wire, size_t count);

// Writes one answer per call: an error number, or KILLED. Without calls, it only installs the
// program. Returns NULL, or the reason why the program cannot be asked.
const char* ask(const struct sock_filter* program, size_t length, const uint8_t* calls,
                size_t count, uint32_t* answers);

// Whether the kernel accepts programs. `lengths` may exceed what the interface can express. Returns
// NULL, or the reason why nothing is known.
struct candidate {
  const struct sock_filter* program;
  size_t length;
};
const char* accepts(const struct candidate* programs, size_t count, uint8_t* answers);

// Installs a program in this process; returns whether this worked.
int install(const struct sock_filter* program, size_t length);

// What the kernel shows to filters for calls that come from this program.
struct entry {
  uint32_t audit, nr_mask, big_endian;
  const char* high_words;  // of arguments, for a `long` of 32 bits: "zero", "sign", "mixed";
                           // otherwise "own"
};
const char* look(struct entry* entry);

// --- guest.c: what the first process of a guest has to do

// Mounts, loads the modules, and opens the port to the host; ends the machine if it cannot.
int open_port(void);

// --- memory.c: the kernel's memory

const char* read_memory(uint64_t address, uint8_t* to, size_t size);

// Searches the kernel's memory for words. They are given inverted, so that the search does not find
// its own request.
enum { kMostPlaces = 16 };
struct places {
  size_t count;
  uint64_t at[kMostPlaces];
};
const char* find_memory(const unsigned long* inverted, size_t count, struct places* places);

// The same while a process has these filters, the oldest one first.
const char* find_with_filters(const struct candidate* programs, size_t count,
                              const unsigned long* inverted, size_t words, struct places* places);

#endif
