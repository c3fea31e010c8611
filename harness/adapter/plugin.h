/* Owns the C interface of plugins: an optimizer, compiler or evaluator of seccomp filters in a
 * shared object. A plugin defines secequiv_plugin_version and at least one of the other functions.
 * It needs nothing else of this project. The host calls the functions one after the other from one
 * thread. This file must not know the host.
 *
 * Each of the other functions returns SECEQUIV_ANSWERED, or another status with a NUL-terminated
 * sentence in `message`. */
#ifndef SECEQUIV_PLUGIN_H
#define SECEQUIV_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SECEQUIV_PLUGIN_VERSION 1

enum { SECEQUIV_ANSWERED = 0, SECEQUIV_UNSUPPORTED = 1, SECEQUIV_REFUSED = 2 };

/* struct sock_filter of <linux/filter.h>. */
struct secequiv_insn {
  uint16_t code;
  uint8_t jt;
  uint8_t jf;
  uint32_t k;
};

/* struct seccomp_data as 16 words of the host's byte order: word i is what `ld [4*i]` loads. */
struct secequiv_input {
  uint32_t words[16];
};

enum { SECEQUIV_MESSAGE_BYTES = 1024 };

/* Must return SECEQUIV_PLUGIN_VERSION. Required. */
uint32_t secequiv_plugin_version(void);

/* Optimizes `program`. `out` has room for `*out_count` instructions. The function sets `*out_count`
 * to the number of instructions that it wrote. */
int secequiv_optimize(const struct secequiv_insn* program, size_t count, struct secequiv_insn* out,
                      size_t* out_count, char* message);

/* Compiles `policy`, a policy in its normal form (PROTOCOL.md) in `bytes` bytes of UTF-8 without a
 * NUL at the end. `out` and `out_count` work as in secequiv_optimize. */
int secequiv_compile(const char* policy, size_t bytes, struct secequiv_insn* out, size_t* out_count,
                     char* message);

/* Runs `program` on each input, and stores its return values in `values`, one for each input. */
int secequiv_evaluate(const struct secequiv_insn* program, size_t count,
                      const struct secequiv_input* inputs, size_t input_count, uint32_t* values,
                      char* message);

#ifdef __cplusplus
}
#endif

#endif
