/* The smallest served optimizer. It answers each program with itself (PROTOCOL.md, `serve:`) and
 * needs only libc. To write your own optimizer, change the program in optimize(). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct insn {
  uint16_t code;
  uint8_t jt;
  uint8_t jf;
  uint32_t k;
};

/* Changes `count` instructions in place. Returns how many remain. */
static size_t optimize(struct insn* program, size_t count) {
  (void)program;
  return count;
}

static int put(const unsigned char* bytes, size_t size) {
  const unsigned char length[4] = {(unsigned char)size, (unsigned char)(size >> 8),
                                   (unsigned char)(size >> 16), (unsigned char)(size >> 24)};
  return fwrite(length, 4, 1, stdout) == 1 && fwrite(bytes, size, 1, stdout) == 1;
}

int main(void) {
  unsigned char length[4];
  unsigned char* body = NULL;
  static char
      ahead[1 << 16]; /* each answer is flushed before the next request is read */
  setvbuf(stdout, ahead, _IOFBF, sizeof ahead);
  while (fread(length, 4, 1, stdin) == 1) {
    size_t size =
        length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    body = realloc(body, size + 32);
    if (body == NULL || size == 0 || fread(body, size, 1, stdin) != 1) return 1;
    if (body[0] == 'O') {
      struct insn* program = malloc(size);
      if (program == NULL) return 1;
      memcpy(program, body + 1, size - 1); /* this needs a little-endian machine */
      size = 1 + sizeof *program * optimize(program, (size - 1) / sizeof *program);
      memcpy(body + 1, program, size - 1);
      free(program);
      body[0] = 0; /* answered */
    } else {
      size = (size_t)sprintf((char*)body, "\1this is only an optimizer"); /* unsupported, why */
    }
    if (!put(body, size) || fflush(stdout) != 0) return 1;
  }
  free(body);
  return 0;
}
