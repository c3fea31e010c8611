/* A plugin for tests, without secequiv_compile. If the code of the first instruction is 101 or
 * more, it selects a way in which the plugin misbehaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/adapter/plugin.h"

uint32_t secequiv_plugin_version(void) { return SECEQUIV_PLUGIN_VERSION; }

int secequiv_optimize(const struct secequiv_insn* program, size_t count, struct secequiv_insn* out,
                      size_t* out_count, char* message) {
  const size_t room = *out_count;
  memcpy(out, program, count * sizeof *program);
  *out_count = count;
  switch (program[0].code - 100) {
    case 1:
      abort();
    case 2:
      *out_count = room + 1;
      return SECEQUIV_ANSWERED;
    case 3:
      strcpy(message, "so it is");
      return 7;
    case 4:
      memset(message, 'm', SECEQUIV_MESSAGE_BYTES); /* the terminating NUL is missing */
      return SECEQUIV_REFUSED;
    case 5:
      exit(0);
    case 6:
      *out_count = 0;
      return SECEQUIV_ANSWERED;
    case 7:
      for (;;) pause();
    case 8: /* its answer comes from standard input, not from the program */
      out[0].k = getchar() == EOF ? 1 : 2;
      return SECEQUIV_ANSWERED;
    default:
      printf("a line on standard output that is no frame\n");
      fflush(stdout);
      return SECEQUIV_ANSWERED;
  }
}
