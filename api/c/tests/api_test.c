/* Calls every function of the C interface with valid and invalid arguments. Prints what failed. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/c/secequiv.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int failures = 0;

static void expect(int good, const char* what, int line) {
  if (good) return;
  failures++;
  fprintf(stderr, "%s:%d: expected %s\n", __FILE__, line, what);
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

/* Allows getpid on any architecture, and nothing else. */
static const struct sock_filter kBefore[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
};
/* Decides the same with swapped returns. */
static const struct sock_filter kSame[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
/* Kills on getpid. */
static const struct sock_filter kStricter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
/* The kernel refuses this program, because it does not end in a RET. */
static const struct sock_filter kRefused[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};

static int verdict_and_free(secequiv_result* result) {
  const int verdict = secequiv_result_verdict(result);
  EXPECT(secequiv_result_message(result)[0] != '\0');
  EXPECT(secequiv_result_holds(result) ==
         (verdict == SECEQUIV_EQUIVALENT || verdict == SECEQUIV_PASS));
  secequiv_result_free(result);
  return verdict;
}

static int contains(const secequiv_result* result, const char* text, const char* json) {
  const char* document = secequiv_result_json(result);
  return strstr(secequiv_result_message(result), text) != NULL && document != NULL &&
         strstr(document, json) != NULL;
}

static secequiv_result* prove(const struct sock_filter* after,
                              const struct secequiv_options* options) {
  return secequiv_prove(kBefore, COUNT(kBefore), after, COUNT(kSame), options);
}

static void test_versions(void) {
  EXPECT(secequiv_abi_version() == SECEQUIV_ABI_VERSION);
  EXPECT(strchr(secequiv_version(), '.') != NULL);
}

static void test_prove(void) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  struct seccomp_data data;
  uint32_t before = 0, after = 0;
  secequiv_result* result = prove(kSame, NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_EQUIVALENT);
  EXPECT(secequiv_result_holds(result));
  EXPECT(contains(result, "equivalent (", "\"secequiv.prove/2\""));
  EXPECT(!secequiv_result_witness(result, &data, &before, &after));
  EXPECT(!secequiv_result_value(result, NULL));
  EXPECT(secequiv_result_program(result, NULL) == NULL);
  secequiv_result_free(result);

  result = prove(kStricter, &options);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_DIFFERENT);
  EXPECT(contains(result, "witness: nr=39", "\"witness\""));
  memset(&data, 0xff, sizeof data);
  EXPECT(secequiv_result_witness(result, &data, &before, &after));
  EXPECT(data.nr == 39 && data.arch == 0xc000003e && data.instruction_pointer == 0 &&
         data.args[5] == 0);
  EXPECT(before == SECCOMP_RET_ALLOW && after == SECCOMP_RET_KILL_PROCESS);
  EXPECT(secequiv_result_witness(result, NULL, NULL, NULL));
  secequiv_result_free(result);

  options.refines = 1;
  EXPECT(verdict_and_free(prove(kStricter, &options)) == SECEQUIV_PASS);
  options.refines = 0;
  options.assume = "nr != 39";
  EXPECT(verdict_and_free(prove(kStricter, &options)) == SECEQUIV_EQUIVALENT);
  options.assume = "nr == getpid";
  options.arch = "aarch64";
  EXPECT(verdict_and_free(prove(kStricter, &options)) == SECEQUIV_EQUIVALENT);
  options.arch = NULL;
  options.engine = SECEQUIV_ENGINE_BOTH;
  EXPECT(verdict_and_free(prove(kStricter, &options)) == SECEQUIV_DIFFERENT);
  options.engine = SECEQUIV_ENGINE_Z3;
  options.timeout_seconds = 1e-9;
  EXPECT(verdict_and_free(prove(kSame, &options)) == SECEQUIV_UNKNOWN);

  result = secequiv_prove(kBefore, COUNT(kBefore), kRefused, COUNT(kRefused), NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_REJECTED);
  EXPECT(contains(result, "rejected: after: ", "\"rejected\""));
  secequiv_result_free(result);
}

static void test_diff(void) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  struct seccomp_data data;
  uint32_t before = 0, after = 0;
  secequiv_result* result = secequiv_diff(kBefore, COUNT(kBefore), kStricter, COUNT(kStricter), 0);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_DIFFERENT);
  EXPECT(contains(result, "different: 2^480 of 2^512 inputs differ", "\"secequiv.diff/1\""));
  EXPECT(secequiv_result_witness(result, &data, &before, &after));
  EXPECT(data.nr == 39 && before == SECCOMP_RET_ALLOW && after == SECCOMP_RET_KILL_PROCESS);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_diff(kBefore, COUNT(kBefore), kSame, COUNT(kSame), &options)) ==
         SECEQUIV_EQUIVALENT);
  EXPECT(verdict_and_free(secequiv_diff(kBefore, COUNT(kBefore), kRefused, COUNT(kRefused), 0)) ==
         SECEQUIV_REJECTED);
  options.assume = "false";
  result = secequiv_diff(kBefore, COUNT(kBefore), kSame, COUNT(kSame), &options);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_ERROR);
  EXPECT(contains(result, "options.assume: no input satisfies", "\"secequiv.error/1\""));
  secequiv_result_free(result);
}

static void test_evaluate(void) {
  struct seccomp_data data;
  uint32_t value = 0;
  secequiv_result* result;
  memset(&data, 0, sizeof data);
  data.nr = 39;
  result = secequiv_evaluate(kBefore, COUNT(kBefore), &data, sizeof data, NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_PASS);
  EXPECT(secequiv_result_value(result, &value) && value == SECCOMP_RET_ALLOW);
  EXPECT(secequiv_result_value(result, NULL));
  EXPECT(contains(result, "0x7fff0000 ALLOW", "\"secequiv.run/1\""));
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_evaluate(kBefore, COUNT(kBefore), &data, 63, NULL)) ==
         SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_evaluate(kBefore, COUNT(kBefore), NULL, 64, NULL)) ==
         SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_evaluate(kRefused, COUNT(kRefused), &data, 64, NULL)) ==
         SECEQUIV_REJECTED);
}

static void test_validate(void) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  struct sock_filter* program = calloc(5000, sizeof *program);
  secequiv_result* result = secequiv_validate(kBefore, COUNT(kBefore), NULL);
  size_t i;
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_PASS);
  EXPECT(contains(result, "accepted, 4 instructions", "\"secequiv.validate/1\""));
  secequiv_result_free(result);
  result = secequiv_validate(kRefused, COUNT(kRefused), NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_REJECTED);
  EXPECT(contains(result, "rejected: ", "\"last_not_ret\""));
  secequiv_result_free(result);
  for (i = 0; i < 5000; i++) program[i] = kBefore[3];
  EXPECT(verdict_and_free(secequiv_validate(program, 5000, &options)) == SECEQUIV_REJECTED);
  options.any_length = 1;
  EXPECT(verdict_and_free(secequiv_validate(program, 5000, &options)) == SECEQUIV_PASS);
  free(program);
}

static void test_analyses(void) {
  static const char kPolicy[] =
      "{\"version\": 1, \"arches\": [\"x86_64\"], \"default_action\": \"errno(1)\","
      " \"rule_sets\": [{\"action\": \"errno(1)\", \"rules\": {\"read\": true}}]}";
  struct seccomp_data data;
  secequiv_result* result;
  memset(&data, 0, sizeof data);
  data.nr = 39;
  result = secequiv_why(kBefore, COUNT(kBefore), &data, sizeof data, NULL);
  EXPECT(secequiv_result_holds(result) && contains(result, "because nr == ", "\"secequiv.why/1\""));
  secequiv_result_free(result);
  result = secequiv_actions(kBefore, COUNT(kBefore), NULL);
  EXPECT(secequiv_result_holds(result) && contains(result, "getpid", "\"secequiv.actions/1\""));
  secequiv_result_free(result);
  result = secequiv_reach(kBefore, COUNT(kBefore), SECEQUIV_ALL_INSTRUCTIONS, NULL);
  EXPECT(secequiv_result_holds(result) &&
         contains(result, "for example nr=39", "\"secequiv.reach/1\""));
  secequiv_result_free(result);
  result = secequiv_reach(kBefore, COUNT(kBefore), 2, NULL);
  EXPECT(contains(result, "nr == 39", "\"secequiv.reach/1\""));
  secequiv_result_free(result);
  result = secequiv_reach(kBefore, COUNT(kBefore), 4, NULL);
  EXPECT(contains(result, "expected an instruction from 0 to 3, found 4", "\"usage\""));
  secequiv_result_free(result);
  result = secequiv_cost(kBefore, COUNT(kBefore), kSame, COUNT(kSame), "getpid 5\nread 1\n", NULL);
  EXPECT(secequiv_result_holds(result) && contains(result, "ratio: ", "\"secequiv.cost/2\""));
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_cost(kBefore, COUNT(kBefore), NULL, 0, NULL, NULL)) ==
         SECEQUIV_PASS);
  EXPECT(verdict_and_free(secequiv_cost(kBefore, COUNT(kBefore), NULL, 0, "?", NULL)) ==
         SECEQUIV_ERROR);
  result = secequiv_cache(kBefore, COUNT(kBefore), kStricter, COUNT(kStricter), NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_FAIL);
  EXPECT(contains(result, "getpid", "\"secequiv.cache/1\""));
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_cache(kBefore, COUNT(kBefore), NULL, 0, NULL)) == SECEQUIV_PASS);
  result = secequiv_lint(kPolicy, sizeof kPolicy - 1, NULL, 0, NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_FAIL);
  EXPECT(contains(result, "fail: 1 redundant rule", "\"secequiv.lint/1\""));
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_lint("{", 1, "p.json", 1, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_actions(kRefused, COUNT(kRefused), NULL)) == SECEQUIV_REJECTED);
  EXPECT(verdict_and_free(secequiv_why(kBefore, COUNT(kBefore), &data, 63, NULL)) ==
         SECEQUIV_ERROR);
}

static void test_properties(void) {
  static const char kAllowed[] = "refused: ptrace\nallowed: getpid";
  secequiv_result* result = secequiv_prove_property(kBefore, COUNT(kBefore), kAllowed, NULL);
  EXPECT(contains(result, "allowed: getpid", "\"secequiv.prove-property/1\""));
  EXPECT(secequiv_result_holds(result));
  secequiv_result_free(result);
  result = secequiv_prove_property(kBefore, COUNT(kBefore), "killed: getpid", NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_FAIL);
  EXPECT(contains(result, "violated: killed: getpid\nwitness: nr=39", "\"returned\""));
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_prove_property(kRefused, COUNT(kRefused), "no-ptrace", NULL)) ==
         SECEQUIV_REJECTED);
  EXPECT(verdict_and_free(secequiv_prove_property(kBefore, COUNT(kBefore), "no-ptrase", NULL)) ==
         SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_prove_property(kBefore, COUNT(kBefore), NULL, NULL)) ==
         SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_prove_property_parsed(NULL, kAllowed, NULL)) == SECEQUIV_ERROR);
}

static secequiv_result* parse(const char* text, const struct secequiv_options* options) {
  return secequiv_parse(text, strlen(text), "filter.txt", options);
}

static void test_parse(void) {
  static const char kPolicy[] =
      "{\"version\": 1, \"arches\": [\"x86_64\"], \"default_action\": \"errno(1)\","
      " \"rule_sets\": []}";
  static const char kProfile[] =
      "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\":"
      " [{\"names\": [\"no_such_call\"], \"action\": \"SCMP_ACT_ALLOW\"}]}";
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  const struct sock_filter* program;
  size_t length = 99;
  secequiv_result* result = parse("ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x7fff0000\n", 0);
  program = secequiv_result_program(result, &length);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_PASS);
  EXPECT(program != NULL && length == 4 && program[3].k == SECCOMP_RET_ALLOW);
  EXPECT(secequiv_result_program(result, NULL) == program);
  EXPECT(!secequiv_result_is_policy(result));
  EXPECT(secequiv_result_json(result) == NULL);
  EXPECT(verdict_and_free(secequiv_prove(kBefore, COUNT(kBefore), program, length, NULL)) ==
         SECEQUIV_EQUIVALENT);
  secequiv_result_free(result);

  result = secequiv_parse(kBefore, sizeof kBefore, NULL, NULL);
  program = secequiv_result_program(result, &length);
  EXPECT(program != NULL && length == 4 && memcmp(program, kBefore, sizeof kBefore) == 0);
  secequiv_result_free(result);

  result = parse(kPolicy, NULL);
  EXPECT(secequiv_result_program(result, &length) != NULL && length > 0);
  EXPECT(secequiv_result_is_policy(result));
  secequiv_result_free(result);
  result = parse(kProfile, NULL);
  EXPECT(strstr(secequiv_result_message(result), "no_such_call") != NULL);
  EXPECT(strncmp(secequiv_result_notes(result), "warning: ", 9) == 0);
  secequiv_result_free(result);

  result = parse("ld [0]\nnonsense\n", NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_ERROR);
  EXPECT(contains(result, "filter.txt:2", "\"secequiv.error/1\""));
  EXPECT(secequiv_result_program(result, &length) == NULL && length == 0);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(parse("", NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(parse("ret #$name\n", NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(parse("{\"version\":", NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_parse(NULL, 3, NULL, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_parse(NULL, 0, NULL, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_parse(kPolicy, SIZE_MAX, NULL, NULL)) == SECEQUIV_ERROR);
  options.form = "ddd";
  EXPECT(verdict_and_free(parse("1\n6 0 0 0\n", &options)) == SECEQUIV_PASS);
  EXPECT(verdict_and_free(parse(kPolicy, &options)) == SECEQUIV_ERROR);
  options.form = "punched cards";
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_ERROR);
  options.form = NULL;
  options.kernel = "latest";
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_ERROR);
  options.kernel = "6.6";
  options.capabilities = "CAP_BPF,CAP_CHOWN";
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_PASS);
  options.capabilities = "CAP_BPF,,";
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_ERROR);
}

/* The time limit holds for every analysis. */
static void test_time_limit(void) {
  static const char kPolicy[] =
      "{\"version\": 1, \"arches\": [\"x86_64\"], \"default_action\": \"errno(1)\","
      " \"rule_sets\": [{\"action\": \"allow\", \"rules\": {\"read\": true}}]}";
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  struct seccomp_data data;
  secequiv_result* parsed = secequiv_parse(kBefore, sizeof kBefore, NULL, NULL);
  memset(&data, 0, sizeof data);
  options.timeout_seconds = 1e-9;
#define UNKNOWN(call) EXPECT(verdict_and_free(call) == SECEQUIV_UNKNOWN)
  UNKNOWN(secequiv_diff(kBefore, COUNT(kBefore), kStricter, COUNT(kStricter), &options));
  UNKNOWN(secequiv_diff_page(parsed, parsed, &options));
  UNKNOWN(secequiv_why(kBefore, COUNT(kBefore), &data, sizeof data, &options));
  UNKNOWN(secequiv_actions(kBefore, COUNT(kBefore), &options));
  UNKNOWN(secequiv_reach(kBefore, COUNT(kBefore), SECEQUIV_ALL_INSTRUCTIONS, &options));
  UNKNOWN(secequiv_cache(kBefore, COUNT(kBefore), NULL, 0, &options));
  UNKNOWN(secequiv_lint(kPolicy, sizeof kPolicy - 1, NULL, 0, &options));
  UNKNOWN(secequiv_lift(parsed, NULL, &options));
  UNKNOWN(secequiv_optimize(parsed, &options));
  secequiv_result_free(parsed);
}

/* libseccomp keeps no order among entries for one call, so only the notes and the verdict tell that
 * a text has one of several meanings. */
static void test_choices(void) {
  static const char kProfile[] =
      "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"architectures\": [\"SCMP_ARCH_X86_64\"],"
      " \"syscalls\": [{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\","
      " \"args\": [{\"index\": 0, \"value\": 1, \"op\": \"SCMP_CMP_GT\"}]},"
      " {\"names\": [\"read\"], \"action\": \"SCMP_ACT_KILL\","
      " \"args\": [{\"index\": 1, \"value\": 1, \"op\": \"SCMP_CMP_EQ\"}]}]}";
  secequiv_result* parsed = secequiv_parse(kProfile, sizeof kProfile - 1, NULL, NULL);
  EXPECT(strstr(secequiv_result_notes(parsed), "libseccomp chooses") != NULL);
  UNKNOWN(secequiv_lift(parsed, NULL, NULL));
  UNKNOWN(secequiv_optimize(parsed, NULL));
  secequiv_result_free(parsed);
}

static secequiv_result* parse_as(const char* name, const char* text) {
  return secequiv_parse(text, strlen(text), name, NULL);
}

static void test_parsed(void) {
  static const char kOld[] =
      "{\"version\": 1, \"arches\": [\"x86_64\"],\n\"default_action\": \"errno(1)\",\n"
      "\"rule_sets\": [{\"action\": \"allow\", \"rules\": {\n\"write\": true}}]}";
  static const char kNew[] =
      "{\"version\": 1, \"arches\": [\"x86_64\"],\n\"default_action\": \"errno(1)\",\n"
      "\"rule_sets\": [{\"action\": \"allow\", \"rules\": {\n\"write\": true,\n\"read\": true}}]}";
  static const char kGuarded[] =
      "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\":\n"
      " [{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\","
      " \"includes\": {\"caps\": [\"CAP_BPF\"]}}]}";
  static const char kUnguarded[] = "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": []}";
  struct seccomp_data data = {0, 0xc000003e, 0, {0, 0, 0, 0, 0, 0}};
  secequiv_result *before = parse_as("old.json", kOld), *after = parse_as("new.json", kNew);
  secequiv_result* result = secequiv_prove_parsed(before, after, NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_DIFFERENT);
  EXPECT(strncmp(secequiv_result_message(result), "LOOSER: read newly allowed", 26) == 0);
  EXPECT(contains(result, "old.json:2 (default_action)", "\"new.json (compiled"));
  EXPECT(contains(result, "new.json:5 (rule_sets[0].rules.read)", "\"secequiv.prove/2\""));
  EXPECT(secequiv_result_witness(result, NULL, NULL, NULL));
  EXPECT(secequiv_result_notes(result)[0] == '\0');
  secequiv_result_free(result);
  result = secequiv_diff_parsed(before, after, NULL);
  EXPECT(contains(result, "new.json:5 (rule_sets[0].rules.read)", "\"secequiv.diff/1\""));
  EXPECT(verdict_and_free(result) == SECEQUIV_DIFFERENT);
  result = secequiv_why_parsed(after, &data, sizeof data, NULL);
  EXPECT(contains(result, "new.json:5 (rule_sets[0].rules.read)", "\"secequiv.why/1\""));
  EXPECT(verdict_and_free(result) == SECEQUIV_PASS);

  /* A result without a program is an error, which names the side. */
  result = secequiv_prove_parsed(before, NULL, NULL);
  EXPECT(contains(result, "after: expected a result of secequiv_parse", "\"secequiv.error/1\""));
  EXPECT(verdict_and_free(result) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_why_parsed(NULL, &data, sizeof data, NULL)) == SECEQUIV_ERROR);
  secequiv_result_free(before);
  secequiv_result_free(after);

  /* Parts of profiles that are not compared are never omitted silently. */
  before = parse_as(NULL, kUnguarded);
  after = parse_as("guarded.json", kGuarded);
  result = secequiv_prove_parsed(before, after, NULL);
  EXPECT(contains(result, "(1 entry was not compared)", "\"not_compared\""));
  EXPECT(strstr(secequiv_result_message(result), "holds for x86_64, Linux 6.1") != NULL);
  EXPECT(strstr(secequiv_result_message(result), "--") == NULL);
  secequiv_result* property = secequiv_prove_property_parsed(after, "refused: reboot", NULL);
  EXPECT(contains(property, "holds for x86_64, Linux 6.1", "\"secequiv.prove-property/1\""));
  EXPECT(verdict_and_free(property) == SECEQUIV_PASS);
  EXPECT(strstr(secequiv_result_notes(result), "which were not compared") != NULL);
  EXPECT(verdict_and_free(result) == SECEQUIV_EQUIVALENT);
  secequiv_result_free(before);
  secequiv_result_free(after);

  /* The kernel refuses the second program. */
  before = parse_as(NULL, "ret #0\n");
  after = parse_as("after.asm", "ld [0]\n");
  result = secequiv_diff_parsed(before, after, NULL);
  EXPECT(contains(result, "after.asm:1", "\"secequiv.error/1\""));
  EXPECT(verdict_and_free(result) == SECEQUIV_REJECTED);
  EXPECT(verdict_and_free(secequiv_prove_parsed(before, before, NULL)) == SECEQUIV_EQUIVALENT);
  secequiv_result_free(before);
  secequiv_result_free(after);
}

static uint32_t decision(const secequiv_result* policy, uint64_t first_argument) {
  struct seccomp_data data = {0, 0xc000003e /* x86_64 */, 0, {first_argument, 0, 0, 0, 0, 0}};
  size_t length = 0;
  const struct sock_filter* program = secequiv_result_program(policy, &length);
  secequiv_result* result = secequiv_evaluate(program, length, &data, sizeof data, NULL);
  uint32_t value = 0;
  EXPECT(secequiv_result_value(result, &value));
  secequiv_result_free(result);
  return value;
}

/* Allows getpid on x86_64, and nothing else. */
static const struct sock_filter kX86[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xc000003e, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
};

static void test_rewrites(void) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  secequiv_result* before = secequiv_parse(kX86, sizeof kX86, "before", NULL);
  secequiv_result* after = secequiv_parse(kStricter, sizeof kStricter, "after", NULL);
  secequiv_result* broken = secequiv_parse(kRefused, sizeof kRefused, "broken", NULL);
  secequiv_result *result, *again;
  size_t length = 0;
  options.arch = "x86_64";

  result = secequiv_disassemble(before, NULL, &options);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_PASS);
  EXPECT(strstr(secequiv_result_message(result), "getpid") != NULL);
  EXPECT(secequiv_result_json(result) == NULL);
  secequiv_result_free(result);
  result = secequiv_disassemble(after, NULL, NULL);
  EXPECT(strstr(secequiv_result_message(result), "getpid") == NULL);
  secequiv_result_free(result);
  result = secequiv_disassemble(broken, "c", NULL);
  EXPECT(strstr(secequiv_result_message(result), "{ 0x20") != NULL);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_disassemble(before, "raw", NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_disassemble(NULL, NULL, NULL)) == SECEQUIV_ERROR);

  result = secequiv_lift(before, NULL, NULL);
  EXPECT(strstr(secequiv_result_notes(result), "6 instructions became") != NULL);
  again = secequiv_parse(secequiv_result_message(result), strlen(secequiv_result_message(result)),
                         "lifted.json", NULL);
  EXPECT(secequiv_result_is_policy(again));
  EXPECT(verdict_and_free(secequiv_prove_parsed(before, again, NULL)) == SECEQUIV_EQUIVALENT);
  secequiv_result_free(again);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_lift(before, "yaml", NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_lift(after, NULL, NULL)) ==
         SECEQUIV_ERROR); /* no architecture */
  EXPECT(verdict_and_free(secequiv_lift(broken, NULL, NULL)) == SECEQUIV_REJECTED);

  result = secequiv_optimize(before, NULL);
  EXPECT(secequiv_result_program(result, &length) != NULL && length == 6);
  EXPECT(strstr(secequiv_result_notes(result), "6 -> 6 instructions") != NULL);
  EXPECT(verdict_and_free(secequiv_prove_parsed(before, result, NULL)) == SECEQUIV_EQUIVALENT);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_optimize(broken, NULL)) == SECEQUIV_REJECTED);

  result = secequiv_diff_page(before, after, NULL);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_DIFFERENT);
  EXPECT(strstr(secequiv_result_message(result), "</html>") != NULL);
  secequiv_result_free(result);
  EXPECT(verdict_and_free(secequiv_diff_page(before, NULL, NULL)) == SECEQUIV_ERROR);

  secequiv_result_free(before);
  secequiv_result_free(after);
  secequiv_result_free(broken);
}

static void refused(const char* text, const struct secequiv_options* options, const char* message) {
  secequiv_result* result = parse(text, options);
  EXPECT(secequiv_result_verdict(result) == SECEQUIV_ERROR);
  EXPECT(contains(result, message, "\"secequiv.error/1\""));
  EXPECT(strstr(secequiv_result_message(result), "--") == NULL); /* names no option */
  secequiv_result_free(result);
}

static void test_policy_formats(void) {
  static const char kFilters[] =
      "{\"vcpu\": {\"mismatch_action\": \"trap\", \"match_action\": \"allow\", \"filter\": []},"
      " \"vmm\": {\"mismatch_action\": \"log\", \"match_action\": \"allow\", \"filter\": []}}";
  static const char kMinijail[] = "read: arg0 == 1; return 5\n";
  static const struct {
    const char* format;
    uint32_t one, other;
  } kReadings[] = {
      {NULL, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | 5},
      {"minijail", SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | 5},
      {"minijail-compiler", SECCOMP_RET_ERRNO | 5, SECCOMP_RET_KILL_THREAD},
  };
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  secequiv_result* result;
  size_t i;
  refused(kFilters, &options, "has 2 filters, expected the name of one: vcpu, vmm");
  options.filter = "vmm";
  result = parse(kFilters, &options);
  EXPECT(secequiv_result_is_policy(result) && decision(result, 0) == SECCOMP_RET_LOG);
  secequiv_result_free(result);
  options.filter = "vmn";
  refused(kFilters, &options,
          "expected one of the filters vcpu, vmm, found 'vmn'; did you mean vmm?");
  refused(kMinijail, &options, "options.filter: filter.txt is not in seccompiler's format");
  refused("ret #0\n", &options, "options.filter: filter.txt is not in seccompiler's format");
  options.filter = NULL;
  options.arch = "arm";
  options.policy_format = "seccompiler";
  refused(kFilters, &options, "options.arch: expected x86_64, aarch64 or riscv64");
  options.arch = NULL;
  for (i = 0; i < COUNT(kReadings); i++) {
    options.policy_format = kReadings[i].format;
    result = parse(kMinijail, &options);
    EXPECT(decision(result, 1) == kReadings[i].one);
    EXPECT(decision(result, 2) == kReadings[i].other);
    EXPECT(strstr(secequiv_result_message(result), "--") == NULL);
    secequiv_result_free(result);
  }
  options.policy_format = "minijail";
  refused("@default trap\nread: 1\n", &options, "(format 'minijail-compiler')");
  options.policy_format = "oci";
  refused(kMinijail, &options, "filter.txt");
  refused("ret #0\n", &options, "filter.txt");
  options.policy_format = "minjail";
  refused(kMinijail, &options,
          "options.policy_format: expected one of policy, oci, seccompiler, minijail, "
          "minijail-compiler, pfc, found 'minjail'; did you mean minijail?");
  options.policy_format = "policy";
  options.form = "asm";
  refused("ret #0\n", &options, "options.policy_format: expected no options.form");
}

/* A caller may be built with the header of the first version. The library must not read beyond the
 * structure of that version. */
static void test_first_options(void) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  options.size = offsetof(struct secequiv_options, filter);
  options.filter = options.policy_format = "nobody's";
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_PASS);
  options.size = offsetof(struct secequiv_options, policy_format);
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_ERROR);
  options.filter = NULL;
  EXPECT(verdict_and_free(parse("ret #0\n", &options)) == SECEQUIV_PASS);
}

static int with(const struct secequiv_options* options) {
  return verdict_and_free(prove(kSame, options));
}

static void test_options(void) {
  const struct secequiv_options usual = SECEQUIV_OPTIONS_INIT;
  struct secequiv_options options = usual;
  struct {
    struct secequiv_options known;
    uint64_t newer;
  } grown = {SECEQUIV_OPTIONS_INIT, 0};
  size_t* only_size = malloc(sizeof *only_size);
  EXPECT(with(&options) == SECEQUIV_EQUIVALENT);
  options.size = 0;
  EXPECT(with(&options) == SECEQUIV_ERROR);
  options.size = SIZE_MAX;
  EXPECT(with(&options) == SECEQUIV_ERROR);
  *only_size = sizeof *only_size; /* the library must not read beyond it */
  EXPECT(with((const struct secequiv_options*)only_size) == SECEQUIV_ERROR);
  free(only_size);
  grown.known.size = sizeof grown;
  EXPECT(with(&grown.known) == SECEQUIV_EQUIVALENT);
  grown.newer = 1;
  EXPECT(with(&grown.known) == SECEQUIV_ERROR);
#define REFUSED(member, value) \
  options = usual;             \
  options.member = (value);    \
  EXPECT(with(&options) == SECEQUIV_ERROR)
  REFUSED(same, 3);
  REFUSED(refines, 2);
  REFUSED(engine, 4);
  REFUSED(any_length, 2);
  REFUSED(timeout_seconds, -1);
  REFUSED(timeout_seconds, 1e300 * 1e300);
  REFUSED(max_memory_mib, UINT64_MAX);
  REFUSED(max_regions, UINT64_MAX);
  REFUSED(assume, "nr ==");
  REFUSED(arch, "pdp11");
}

static void test_bad_programs(void) {
  EXPECT(verdict_and_free(secequiv_prove(NULL, 4, kSame, 4, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_prove(kSame, 4, NULL, 4, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_prove(kSame, 4, NULL, 0, NULL)) == SECEQUIV_REJECTED);
  EXPECT(verdict_and_free(secequiv_prove(kSame, 4, kSame, SIZE_MAX, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_prove(kSame, 4, kSame, SIZE_MAX / 8, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_diff(NULL, 4, kSame, 4, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_validate(NULL, 1, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_validate(NULL, 0, NULL)) == SECEQUIV_REJECTED);
  EXPECT(verdict_and_free(secequiv_evaluate(NULL, 1, "", 64, NULL)) == SECEQUIV_ERROR);
  EXPECT(verdict_and_free(secequiv_evaluate(kSame, SIZE_MAX, "", 64, NULL)) == SECEQUIV_ERROR);
}

static void test_no_result(void) {
  size_t length = 1;
  EXPECT(secequiv_result_verdict(NULL) == SECEQUIV_ERROR);
  EXPECT(!secequiv_result_holds(NULL));
  EXPECT(secequiv_result_message(NULL)[0] != '\0');
  EXPECT(secequiv_result_json(NULL) == NULL);
  EXPECT(!secequiv_result_witness(NULL, NULL, NULL, NULL));
  EXPECT(!secequiv_result_value(NULL, NULL));
  EXPECT(secequiv_result_program(NULL, &length) == NULL && length == 0);
  EXPECT(secequiv_result_program(NULL, NULL) == NULL);
  EXPECT(!secequiv_result_is_policy(NULL));
  secequiv_result_free(NULL);
}

/* A caller's program may be at an address that is not aligned for instructions. */
static void test_unaligned(void) {
  unsigned char bytes[sizeof kBefore + 1];
  memcpy(bytes + 1, kBefore, sizeof kBefore);
  EXPECT(verdict_and_free(prove((const struct sock_filter*)(void*)(bytes + 1), NULL)) ==
         SECEQUIV_EQUIVALENT);
}

static void* in_a_thread(void* wrong) {
  struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
  int i;
  options.engine = SECEQUIV_ENGINE_BOTH;
  for (i = 0; i < 5; i++) {
    secequiv_result *same = prove(kSame, &options), *other = prove(kStricter, &options);
    *(int*)wrong += secequiv_result_verdict(same) != SECEQUIV_EQUIVALENT;
    *(int*)wrong += secequiv_result_verdict(other) != SECEQUIV_DIFFERENT;
    secequiv_result_free(same);
    secequiv_result_free(other);
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  int wrong[4] = {0, 0, 0, 0};
  size_t i;
  for (i = 0; i < COUNT(threads); i++)
    EXPECT(pthread_create(&threads[i], NULL, in_a_thread, &wrong[i]) == 0);
  for (i = 0; i < COUNT(threads); i++) {
    pthread_join(threads[i], NULL);
    EXPECT(wrong[i] == 0);
  }
}

int main(void) {
  test_versions();
  test_prove();
  test_diff();
  test_evaluate();
  test_validate();
  test_analyses();
  test_properties();
  test_parse();
  test_time_limit();
  test_choices();
  test_parsed();
  test_rewrites();
  test_policy_formats();
  test_first_options();
  test_options();
  test_bad_programs();
  test_no_result();
  test_unaligned();
  test_threads();
  return failures != 0;
}
