/* A plugin with a planted bug that oss_fuzz_check --clusterfuzz requires fuzz_plugin to find: the
 * optimizer swaps the targets of each jset. */
#include <string.h>

#include "harness/adapter/plugin.h"

uint32_t secequiv_plugin_version(void) { return SECEQUIV_PLUGIN_VERSION; }

int secequiv_optimize(const struct secequiv_insn* program, size_t count, struct secequiv_insn* out,
                      size_t* out_count, char* message) {
  if (count > *out_count) {
    strcpy(message, "the program is too long");
    return SECEQUIV_UNSUPPORTED;
  }
  memcpy(out, program, count * sizeof *program);
  for (size_t i = 0; i < count; ++i)
    if (program[i].code == 0x45) {
      out[i].jt = program[i].jf;
      out[i].jf = program[i].jt;
    }
  *out_count = count;
  return SECEQUIV_ANSWERED;
}
