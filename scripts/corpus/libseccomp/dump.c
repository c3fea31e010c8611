/* Compiles seccomp rules with libseccomp and writes the filter.
 *
 *   dump version                        prints the library's version
 *   dump syscalls ARCH LIMIT            prints "number name" for every number below LIMIT that
 *                                       libseccomp has a name for (of x32: for every number below
 *                                       0x40000000 + LIMIT)
 *   dump filter RULES linear|tree OUT   writes the program; an OUT that ends in .pfc gets the pseudo
 *                                       filter code instead
 *
 * RULES is text with one item in each line, as a container runtime hands it to libseccomp:
 *   default ACTION                      the first line; ACTION is the 32-bit return value
 *   arch NAME                           the primary architecture comes first
 *   rule ACTION SYSCALL [INDEX OP A B]...
 *                                       all conditions must hold; for OP see below; B is the value
 *                                       of masked_eq, otherwise 0
 * Like runtimes, this program omits rules for names that libseccomp does not know. It prints these
 * names on standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CONDITIONS = 6, MAX_FIELDS = 3 + 4 * MAX_CONDITIONS, LINE_LENGTH = 1024 };

struct source {
  const char* path;
  int line;
};

__attribute__((noreturn, format(printf, 2, 3))) static void fail(const struct source* at,
                                                                 const char* format, ...) {
  va_list arguments;
  if (at != NULL) {
    fprintf(stderr, "%s:%d: ", at->path, at->line);
  }
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static uint64_t number(const struct source* at, const char* text, uint64_t max) {
  char* end = NULL;
  errno = 0;
  const uint64_t value = strtoull(text, &end, 0);
  if (errno != 0 || end == text || *end != '\0' || *text == '-' || value > max) {
    fail(at, "'%s' is not a number up to %#" PRIx64, text, max);
  }
  return value;
}

static enum scmp_compare comparison(const struct source* at, const char* text) {
  static const struct {
    const char* name;
    enum scmp_compare op;
  } operators[] = {
      {"ne", SCMP_CMP_NE},
      {"lt", SCMP_CMP_LT},
      {"le", SCMP_CMP_LE},
      {"eq", SCMP_CMP_EQ},
      {"ge", SCMP_CMP_GE},
      {"gt", SCMP_CMP_GT},
      {"masked_eq", SCMP_CMP_MASKED_EQ},
  };
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
    if (strcmp(text, operators[i].name) == 0) {
      return operators[i].op;
    }
  }
  fail(at, "unknown operator '%s'", text);
}

static uint32_t architecture(const struct source* at, const char* name) {
  const uint32_t token = seccomp_arch_resolve_name(name);
  if (token == 0) {
    fail(at, "libseccomp does not know the architecture '%s'", name);
  }
  return token;
}

static void check(const struct source* at, int status, const char* what) {
  if (status < 0) {
    fail(at, "%s: %s", what, strerror(-status));
  }
}

/* Adds an architecture. libseccomp starts with the architecture that this program runs on. It stays
 * only if RULES names it. */
static void add_architecture(const struct source* at, scmp_filter_ctx filter, const char* name,
                             bool first) {
  const uint32_t token = architecture(at, name);
  /* The native one goes first, because libseccomp refuses to mix byte orders. */
  if (first && token != seccomp_arch_native()) {
    check(at, seccomp_arch_remove(filter, SCMP_ARCH_NATIVE), "seccomp_arch_remove");
  }
  const int status = seccomp_arch_add(filter, token);
  if (status != -EEXIST) {
    check(at, status, "seccomp_arch_add");
  }
}

/* Adds the rule in `fields`. Returns false if libseccomp does not know its system call. */
static bool add_rule(const struct source* at, scmp_filter_ctx filter, char** fields, int count) {
  struct scmp_arg_cmp conditions[MAX_CONDITIONS];
  unsigned int used = 0;
  if (count < 3 || (count - 3) % 4 != 0) {
    fail(at, "expected: rule ACTION SYSCALL [INDEX OP A B]...");
  }
  const uint32_t action = (uint32_t)number(at, fields[1], UINT32_MAX);
  for (int i = 3; i < count; i += 4, used++) {
    conditions[used] = (struct scmp_arg_cmp){
        .arg = (unsigned int)number(at, fields[i], 5),
        .op = comparison(at, fields[i + 1]),
        .datum_a = number(at, fields[i + 2], UINT64_MAX),
        .datum_b = number(at, fields[i + 3], UINT64_MAX),
    };
  }
  /* libseccomp expects numbers of the architecture that this program runs on (pseudo numbers for
   * calls that it lacks), and translates them. */
  const int syscall_number = seccomp_syscall_resolve_name(fields[2]);
  if (syscall_number == __NR_SCMP_ERROR) {
    return false;
  }
  check(at, seccomp_rule_add_array(filter, action, syscall_number, used, conditions), fields[2]);
  return true;
}

/* Splits a line at blanks. Returns the number of fields. */
static int split(const struct source* at, char* text, char** fields) {
  int count = 0;
  char* rest = NULL;
  if (strchr(text, '\n') == NULL) {
    fail(at, "the line is too long or not finished");
  }
  for (char* field = strtok_r(text, " \n", &rest); field != NULL;
       field = strtok_r(NULL, " \n", &rest)) {
    if (count == MAX_FIELDS) {
      fail(at, "more than %d conditions", MAX_CONDITIONS);
    }
    fields[count++] = field;
  }
  return count;
}

/* Writes the filter in libseccomp's text form if `out` ends in .pfc, else as a program. */
static void export_filter(scmp_filter_ctx filter, const char* out) {
  const int descriptor = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    fail(NULL, "%s: %s", out, strerror(errno));
  }
  const size_t length = strlen(out);
  if (length > 4 && strcmp(out + length - 4, ".pfc") == 0) {
    check(NULL, seccomp_export_pfc(filter, descriptor), "seccomp_export_pfc");
  } else {
    check(NULL, seccomp_export_bpf(filter, descriptor), "seccomp_export_bpf");
  }
  if (close(descriptor) != 0) {
    fail(NULL, "%s: %s", out, strerror(errno));
  }
}

static void dump_filter(const char* rules, const char* form, const char* out) {
  struct source at = {rules, 0};
  char text[LINE_LENGTH];
  scmp_filter_ctx filter = NULL;
  int architectures = 0;
  int rules_read = 0;
  const bool tree = strcmp(form, "tree") == 0;
  if (!tree && strcmp(form, "linear") != 0) {
    fail(NULL, "the form is linear or tree, not '%s'", form);
  }
  FILE* input = fopen(rules, "re");
  if (input == NULL) {
    fail(NULL, "%s: %s", rules, strerror(errno));
  }
  while (fgets(text, sizeof text, input) != NULL) {
    char* fields[MAX_FIELDS + 1];
    at.line++;
    const int count = split(&at, text, fields);
    if (count == 2 && filter == NULL && strcmp(fields[0], "default") == 0) {
      filter = seccomp_init((uint32_t)number(&at, fields[1], UINT32_MAX));
      if (filter == NULL) {
        fail(&at, "libseccomp refuses this default action");
      }
      check(&at, seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, tree ? 2 : 1),
            "setting the form");
    } else if (filter == NULL) {
      fail(&at, "the first line must be: default ACTION");
    } else if (count == 2 && rules_read == 0 && strcmp(fields[0], "arch") == 0) {
      add_architecture(&at, filter, fields[1], architectures++ == 0);
    } else if (count > 0 && architectures > 0 && strcmp(fields[0], "rule") == 0) {
      rules_read++;
      if (!add_rule(&at, filter, fields, count)) {
        printf("%s\n", fields[2]);
      }
    } else {
      fail(&at, "expected 'arch NAME' lines, then 'rule' lines");
    }
  }
  if (ferror(input) != 0 || filter == NULL) {
    fail(NULL, "%s: unreadable or empty", rules);
  }
  fclose(input);
  export_filter(filter, out);
  seccomp_release(filter);
}

static void list_syscalls(const char* arch, const char* limit) {
  const uint32_t token = architecture(NULL, arch);
  const int first = token == SCMP_ARCH_X32 ? 0x40000000 : 0;
  const int end = first + (int)number(NULL, limit, 1 << 16);
  for (int i = first; i < end; i++) {
    char* name = seccomp_syscall_resolve_num_arch(token, i);
    if (name != NULL) {
      printf("%d %s\n", i, name);
      free(name);
    }
  }
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "version") == 0) {
    const struct scmp_version* version = seccomp_version();
    printf("%u.%u.%u\n", version->major, version->minor, version->micro);
  } else if (argc == 4 && strcmp(argv[1], "syscalls") == 0) {
    list_syscalls(argv[2], argv[3]);
  } else if (argc == 5 && strcmp(argv[1], "filter") == 0) {
    dump_filter(argv[2], argv[3], argv[4]);
  } else {
    fprintf(stderr,
            "usage: dump version | dump syscalls ARCH LIMIT | dump filter RULES linear|tree OUT\n");
    return 2;
  }
  return 0;
}
