/* A plugin with all three functions (plugin.h):
 *   cc -shared -fPIC -I. harness/adapter/examples/plugin_example.c -o plugin_example.so */
#include <stdio.h>
#include <string.h>

#include "harness/adapter/plugin.h"

enum { LD_ABS = 0x20, RET_K = 0x06, RET_A = 0x16 };
#define KILL_PROCESS 0x80000000u
#define ALLOW 0x7fff0000u

uint32_t secequiv_plugin_version(void) { return SECEQUIV_PLUGIN_VERSION; }

/* If the first instruction is a return, removes all instructions after it. */
int secequiv_optimize(const struct secequiv_insn* program, size_t count, struct secequiv_insn* out,
                      size_t* out_count, char* message) {
  size_t wanted = count > 0 && program[0].code == RET_K ? 1 : count;
  if (wanted > *out_count) {
    snprintf(message, SECEQUIV_MESSAGE_BYTES, "no room for %zu instructions", wanted);
    return SECEQUIV_UNSUPPORTED;
  }
  memcpy(out, program, wanted * sizeof *program);
  *out_count = wanted;
  return SECEQUIV_ANSWERED;
}

/* Supports only policies without rules: all calls are allowed, or all are killed. */
int secequiv_compile(const char* policy, size_t bytes, struct secequiv_insn* out, size_t* out_count,
                     char* message) {
  char text[4096];
  if (bytes >= sizeof text) {
    snprintf(message, SECEQUIV_MESSAGE_BYTES, "this example reads at most %zu bytes",
             sizeof text - 1);
    return SECEQUIV_UNSUPPORTED;
  }
  memcpy(text, policy, bytes);
  text[bytes] = 0;
  if (strstr(text, "\"rules\": []") == NULL) {
    snprintf(message, SECEQUIV_MESSAGE_BYTES, "this example has no rules");
    return SECEQUIV_UNSUPPORTED;
  }
  int allow = strstr(text, "\"default_action\": 2147418112,") != NULL;
  out[0] = (struct secequiv_insn){RET_K, 0, 0, allow ? ALLOW : KILL_PROCESS};
  *out_count = 1;
  return SECEQUIV_ANSWERED;
}

/* Interprets only loads of the input and returns; add the other instructions yourself. */
int secequiv_evaluate(const struct secequiv_insn* program, size_t count,
                      const struct secequiv_input* inputs, size_t input_count, uint32_t* values,
                      char* message) {
  for (size_t i = 0; i < input_count; ++i) {
    uint32_t a = 0;
    size_t pc = 0;
    while (pc < count && program[pc].code == LD_ABS && program[pc].k / 4 < 16)
      a = inputs[i].words[program[pc++].k / 4];
    if (pc == count || (program[pc].code != RET_K && program[pc].code != RET_A)) {
      snprintf(message, SECEQUIV_MESSAGE_BYTES, "instruction %zu is not known here", pc);
      return SECEQUIV_UNSUPPORTED;
    }
    values[i] = program[pc].code == RET_K ? program[pc].k : a;
  }
  return SECEQUIV_ANSWERED;
}
