// Tests that policies found in filters decide as the filters do, and are no longer than the
// policies from which the filters were made. lift() itself proves the first.
#include "analyze/lift.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/generate/program.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::lift_test {
namespace {

LiftJob job_for(std::vector<Program> programs) {
  LiftJob job;
  job.stack.name = "a filter";
  for (Program& program : programs)
    job.stack.filters.push_back({"a filter", std::move(program), {}});
  return job;
}

std::size_t tests_in(const Policy& policy) {
  std::size_t out = 0;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules) out += 1 + matcher_count(entry.rule);
  return out;
}

TEST(Lift, FindsRandomPoliciesAgain) {
  Random random(1);
  std::vector<double> lengths;
  const int cases = std::max(10, of_cases(1000));
  int refused = 0;
  for (int i = 0; i < cases; ++i) {
    const Policy policy = random_policy(random);
    const auto lifted = lift(job_for({compile(policy)}));
    if (!lifted) {  // beyond the limits, which few policies reach
      const ErrorCode code = lifted.error().code;
      ASSERT_TRUE(code == ErrorCode::kBudget || code == ErrorCode::kPolicy)
          << lifted.error().text() << "\n"
          << write_policy(policy);
      ++refused;
      continue;
    }
    lengths.push_back(static_cast<double>(tests_in(lifted->policy)) /
                      static_cast<double>(std::max<std::size_t>(1, tests_in(policy))));
  }
  EXPECT_LE(refused, 1 + cases / 100);
  std::ranges::sort(lengths);
  EXPECT_LE(lengths[lengths.size() / 2], 1.0) << "median";
}

// Returns the rules of the only rule set of the lifted policy, as text.
std::string lifted_rule(const std::string& rule, const std::string& arch = "x86_64") {
  const Policy policy = policy_from(R"j({"version": 1, "arches": [")j" + arch + R"j("],
      "default_action": "errno(1)", "rule_sets": [{"action": "allow", "rules": {"read": )j" +
                                    rule + "}}]}");
  const auto lifted = lift(job_for({compile(policy)}));
  EXPECT_TRUE(lifted) << lifted.error().text();
  if (!lifted || lifted->policy.rule_sets.size() != 1) return "not one set";
  return write_rule(lifted->policy.rule_sets[0].rules.at(0).rule);
}

TEST(Lift, RulesReadAsPeopleWriteThem) {
  for (const char* rule :
       {R"j(true)j", R"j({"args":{"0":{"eq":5}}})j", R"j({"args":{"0":{"ne":5}}})j",
        R"j({"args":{"1":{"le":77}}})j", R"j({"args":{"1":{"ge":4294967301}}})j",
        R"j({"args":{"2":{"le":2147483647}}})j", R"j({"args":{"ip":{"ge":4096}}})j",
        R"j({"args":{"0":{"eq":5,"bits":32}}})j", R"j({"args":{"0":{"ge":5,"bits":32}}})j",
        R"j({"args":{"0":{"masked_eq":{"mask":4,"value":4}}}})j",
        R"j({"args":{"0":{"bits_allowlist":129}}})j", R"j({"args":{"0":{"eq":5},"3":{"ne":0}}})j",
        R"j({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"0":{"eq":7}}}]})j",
        R"j({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"1":{"eq":2}}}]})j",
        R"j({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"0":{"eq":2},"4":{"ge":9}}}]})j",
        R"j({"all_of":[{"args":{"0":{"ge":10}}},{"args":{"0":{"le":19}}}]})j"})
    for (const char* arch : {"x86_64", "s390x"}) EXPECT_EQ(lifted_rule(rule, arch), rule) << arch;
}

TEST(Lift, HalvesOfAFieldCanHaveConditionsOfTheirOwn) {
  const char* rule =
      R"j({"all_of":[{"args":{"0":{"le":25769803775}}},{"args":{"0":{"le":100,"bits":32}}}]})j";
  EXPECT_EQ(lifted_rule(rule), rule);
}

TEST(Lift, LongRulesAreFoundAgain) {
  // The search for each of the two rules stops and continues several times.
  std::string low;
  std::string high;
  for (int i = 0; i < 40; ++i) {
    low += fmt::format(R"j({}{{"args":{{"0":{{"eq":{}}}}}}})j", i == 0 ? "" : ",", 5 * i);
    high += fmt::format(
        R"j(,{{"args":{{"0":{{"eq":{}}},"1":{{"masked_eq":{{"mask":5,"value":1}}}}}}}})j",
        1000 + 7 * i);
  }
  const std::string listed = R"j({"any_of":[)j" + low + "]}";
  EXPECT_EQ(lifted_rule(listed), listed);
  const Policy policy =
      x86_64_policy(R"j({"action": "allow", "rules": {"read": {"any_of":[)j" + low + high + "]}}}");
  const auto lifted = lift(job_for({compile(policy)}));
  ASSERT_TRUE(lifted) << lifted.error().text();
  EXPECT_LE(tests_in(lifted->policy), tests_in(policy));
}

TEST(Lift, SimplifiesRules) {
  EXPECT_EQ(lifted_rule(R"j({"any_of":[{"args":{"0":{"lt":3}}},{"args":{"0":{"ge":2}}}]})j"),
            "true");
  EXPECT_EQ(
      lifted_rule(R"j({"args":{"0":{"masked_eq":{"mask":18446744073709551615,"value":6}}}})j"),
      R"j({"args":{"0":{"eq":6}}})j");
  EXPECT_EQ(lifted_rule(R"j({"any_of":[{"args":{"0":{"lt":5}}},{"args":{"0":{"gt":5}}}]})j"),
            R"j({"args":{"0":{"ne":5}}})j");
}

TEST(Lift, AStackIsOnePolicy) {
  const Policy reads = x86_64_policy(R"j({"action": "allow", "rules": {"read": true}})j");
  const Policy both = x86_64_policy(
      R"j({"action": "allow", "rules": {"read": {"args": {"0": {"eq": 3}}}, "write": true}})j");
  const auto lifted = lift(job_for({compile(reads), compile(both)}));
  ASSERT_TRUE(lifted);
  EXPECT_EQ(lifted->policy.default_action, both.default_action);
  ASSERT_EQ(lifted->policy.rule_sets.size(), 1u);
  ASSERT_EQ(lifted->policy.rule_sets[0].rules.size(), 1u);
  EXPECT_EQ(write_rule(lifted->policy.rule_sets[0].rules[0].rule), R"j({"args":{"0":{"eq":3}}})j");
}

TEST(Lift, RulesOfOneCallKeepTheirOrder) {
  // No action is the default for this call, so the last rule matches everything else.
  const Policy policy = x86_64_policy(R"j(
      {"action": "trap(1)", "rules": {"mmap": {"args": {"2": {"masked_eq": {"mask": 4, "value": 4}}}}}},
      {"action": "allow", "rules": {"mmap": true, "read": true, "write": true}})j");
  const auto lifted = lift(job_for({compile(policy)}));
  ASSERT_TRUE(lifted);
  EXPECT_LE(tests_in(lifted->policy), tests_in(policy));
}

// Compares with the policy that was compiled.
void expect_lifted_again(const char* text) {
  const Policy policy = policy_from(text);
  const auto lifted = lift(job_for({compile(policy)}));
  ASSERT_TRUE(lifted) << lifted.error().text();
  EXPECT_EQ(lifted->policy, policy) << write_policy(lifted->policy);
}

TEST(Lift, TheActionForX32CallsIsFound) {
  expect_lifted_again(R"j({"version": 1, "arches": ["x86_64", "i386"],
      "default_action": "errno(1)", "x32_action": "kill_thread", "rule_sets": [
      {"action": "allow", "rules": {"x86_64:read": true, "x86_64:4294967295": true, "i386:exit": true}}]})j");
}

TEST(Lift, DefaultRangesAreFound) {
  // A test `jge #0x40000000` that kills all x32 calls, and more.
  expect_lifted_again(R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow",
      "default_ranges": [{"arch": "x86_64", "first": 1073741824, "action": "kill_process"}], "rule_sets": [
      {"action": "errno(1)", "rules": {"x86_64:mount": true}}]})j");
  // Each architecture has its own default action, and other rules inside of that range.
  expect_lifted_again(R"j({"version": 1, "arches": ["x86_64", "i386"], "default_action": "errno(1)",
      "default_ranges": [{"arch": "i386", "action": "trap"}], "rule_sets": [
      {"action": "allow", "rules": {"x86_64:0": true, "i386:3": {"args": {"0": {"eq": 5}}}, "i386:9": true}}]})j");
  // Some x32 calls have rules, and the others have a default action of their own.
  expect_lifted_again(
      R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "errno(1)", "default_ranges": [
      {"arch": "x86_64", "first": 1073741825, "last": 2147483647, "action": "kill_thread"},
      {"arch": "x86_64", "first": 3221225472, "action": "kill_thread"}], "rule_sets": [
      {"action": "allow", "rules": {"x32:read": true}}]})j");
  // A list of denied calls, after which no range has the default action.
  expect_lifted_again(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "default_ranges": [
      {"arch": "x86_64", "first": 470, "last": 1073741823, "action": "errno(ENOSYS)"},
      {"arch": "x86_64", "first": 1073741824, "action": "kill_process"}], "rule_sets": [
      {"action": "kill_thread", "rules": {"x86_64:ptrace": true, "x86_64:mount": true}}]})j");
  // Numbers that the compiler does not know get ENOSYS.
  expect_lifted_again(R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
      "default_ranges": [{"arch": "x86_64", "first": 450, "action": "errno(ENOSYS)"}], "rule_sets": [
      {"action": "allow", "rules": {"x86_64:read": true, "x86_64:open": true}}]})j");
}

Program on_x86_64(Program program) {
  program.insert(program.begin(), {{kLdWAbs, 0, 0, 4},
                                   {kJeqK, 1, 0, AUDIT_ARCH_X86_64},
                                   {kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS}});
  return program;
}

TEST(Lift, AnyProgramIsLiftedOrRefused) {
  Random random(2);
  std::map<ErrorCode, int> errors;
  int lifted = 0;
  for (int i = 0; i < std::max(50, of_cases(2000)); ++i) {
    // Most programs do not test the architecture, so a test is put before some of them.
    Program program = generate_program(random);
    if (i % 2 == 0) program = on_x86_64(std::move(program));
    if (refusal_of(program)) continue;
    LiftJob job = job_for({program});
    job.limits.steps = 1 << 16;
    const auto result = lift(job);
    if (result)
      ++lifted;
    else
      ++errors[result.error().code];
  }
  EXPECT_GT(lifted, 0);
  EXPECT_GT(errors[ErrorCode::kPolicy], 0);
  errors.erase(ErrorCode::kPolicy);
  errors.erase(ErrorCode::kBudget);
  EXPECT_TRUE(errors.empty());
}

// Returns the policy that approximates a program.
Policy approximated(const char* text, Approximation approximation) {
  LiftJob job = job_for({assemble(text)});
  job.approximate = approximation;
  const auto lifted = lift(job);
  EXPECT_TRUE(lifted) << lifted.error().text();
  if (!lifted) return {};
  EXPECT_FALSE(lifted->differences.empty()) << text;
  return lifted->policy;
}

TEST(Lift, TakesTheNearestPolicyInOneDirection) {
  constexpr auto kStricter = Approximation::kStricter;
  constexpr auto kLooser = Approximation::kLooser;
  const char* computed = "ld [0]\nret a\n";
  EXPECT_EQ(approximated(computed, kStricter).default_action, SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(approximated(computed, kLooser).default_action, SECCOMP_RET_ALLOW);

  // Only x86_64 is listed, because all numbers get the same action elsewhere.
  const char* odd_numbers =
      "ld [4]\njeq #0xc000003e, on, n\non: ld [0]\njset #1, y, n\ny: ret #0x7fff0000\nn: ret #0\n";
  Policy policy = approximated(odd_numbers, kStricter);
  EXPECT_EQ(policy.default_action, SECCOMP_RET_KILL_THREAD);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 2)), SECCOMP_RET_KILL_THREAD);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1'000'001)), SECCOMP_RET_KILL_THREAD);
  policy = approximated(odd_numbers, kLooser);
  EXPECT_EQ(policy.default_action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 2)), SECCOMP_RET_KILL_THREAD);

  // A rule for one call becomes a constant; other calls keep their rules.
  const char* two_fields =
      "ld [4]\njeq #0xc000003e, on, n\non: ld [0]\njeq #3, c, r\nr: jeq #0, first, n\n"
      "first: ld [40]\njeq #7, y, n\nc: ld [16]\ntax\nld [24]\njeq x, y, n\n"
      "y: ret #0x7fff0000\nn: ret #0\n";
  for (const auto approximation : {kStricter, kLooser}) {
    policy = approximated(two_fields, approximation);
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 3, {1, 1})),
              approximation == kLooser ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_THREAD);
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {0, 0, 0, 7})), SECCOMP_RET_ALLOW);
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {0, 0, 0, 8})), SECCOMP_RET_KILL_THREAD);
  }

  // An architecture that policies do not know gets the action of the others.
  const char* unknown = "ld [4]\njeq #7, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n";
  EXPECT_EQ(approximated(unknown, kStricter).bad_arch_action, SECCOMP_RET_ERRNO | 1);
  EXPECT_EQ(approximated(unknown, kLooser).bad_arch_action, SECCOMP_RET_ALLOW);
}

TEST(Lift, AnyProgramIsApproximated) {
  Random random(3);
  int exact = 0;
  int approximate = 0;
  for (int i = 0; i < std::max(10, of_cases(30)); ++i) {
    // The policies for programs without a test of the architecture are long.
    Program program = generate_program(random);
    if (i % 8 != 0) program = on_x86_64(std::move(program));
    if (refusal_of(program)) continue;
    LiftJob job = job_for({program});
    job.limits.steps = 1 << 16;
    job.approximate = i % 2 == 0 ? Approximation::kStricter : Approximation::kLooser;
    const auto result = lift(job);
    if (result) ++(result->differences.empty() ? exact : approximate);
    if (!result) EXPECT_EQ(result.error().code, ErrorCode::kBudget) << result.error().text();
  }
  EXPECT_GT(approximate, of_cases(5)) << exact;
}

std::string refusal(const char* text) {
  const auto lifted = lift(job_for({assemble(text)}));
  return lifted ? "" : lifted.error().text();
}

TEST(Lift, NamesWhatNoPolicyCanExpress) {
  const std::string no = "a filter: no policy can express this filter: ";
  EXPECT_EQ(refusal("ld [0]\nret a\n"),
            no + "it returns a value that it computes from the input; inputs: all");
  EXPECT_EQ(refusal("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0\n"),
            no + "it does not test the architecture; inputs: nr == 39");
  EXPECT_EQ(refusal("ld [4]\njeq #7, y, n\ny: ret #0x7fff0000\nn: ret #0\n"),
            no + "it tests an architecture that policies do not know; inputs: arch == 0x7");
  EXPECT_EQ(refusal("ld [4]\njeq #0xc000003e, on, n\non: ld [0]\njset #1, y, n\n"
                    "y: ret #0x7fff0000\nn: ret #0\n"),
            no + "it compares the system call's number in a way that lists of calls cannot "
                 "describe; inputs: arch == x86_64");
  EXPECT_EQ(refusal("ld [4]\njeq #0xc000003e, on, n\non: ld [16]\njeq #5, y, n\n"
                    "y: ret #0x7fff0000\nn: ret #0\n"),
            no + "its action for numbers without a system call depends on other fields; inputs: "
                 "arch == x86_64");
  EXPECT_EQ(refusal("ld [4]\njeq #0xc000003e, on, n\non: ld [0]\njeq #3, c, n\n"
                    "c: ld [16]\ntax\nld [24]\njeq x, y, n\ny: ret #0x7fff0000\nn: ret #0\n"),
            no +
                "it computes with fields, or compares them with each other; inputs: arch == x86_64 "
                "&& nr == close");
}

// Returns the program that allows calls on x86_64 for which `tests` jumps to y, and none if it
// jumps to n.
std::string allowing(const std::string& tests) {
  return "ld [4]\njeq #0xc000003e, on, off\noff: jmp n\non: ld [0]\n" + tests +
         "y: ret #0x7fff0000\nn: ret #0x50001\n";
}

// Returns a test that jumps to `then` if an odd number of these bits is set, otherwise to n: the
// lowest `bits` ones of the words first..last of the input.
std::string odd(int first, int last, int bits, const std::string& then) {
  std::string out = fmt::format("jmp even{}_0\n", first);
  int at = 0;
  for (int word = first; word <= last; ++word)
    for (int bit = 0; bit < bits; ++bit, ++at)
      out += fmt::format(
          "even{0}_{1}: ld [{3}]\njset #{4}, odd{0}_{2}, even{0}_{2}\n"
          "odd{0}_{1}: ld [{3}]\njset #{4}, even{0}_{2}, odd{0}_{2}\n",
          first, at, at + 1, 4 * word, 1 << bit);
  return out + fmt::format("odd{0}_{1}: jmp {2}\neven{0}_{1}: jmp n\n", first, at, then);
}

TEST(Lift, ItsOwnLimitsLeaveTheAnswerUnknown) {
  const std::string read = "jeq #0, t, other\nother: jmp n\nt: ";
  const std::string no = "a filter: a limit was reached: lift ";
  const std::string inputs = "; inputs: arch == x86_64";
  for (const auto& [tests, text] : std::vector<std::pair<std::string, std::string>>{
           {"jge #20000, n, t\nt: jset #1, y, n\n",
            "divides the numbers of the system calls into at most 8192 ranges" + inputs},
           {"jge #60000, n, t\nt: ld [16]\njeq #1, y, n\n",
            "writes at most 100000 rules and conditions" + inputs + " && nr in {0xc000..0xc3ff}"},
           {read + odd(15, 15, 16, "y"),
            "divides the values of a field into at most 16384 parts" + inputs + " && nr == read"},
           {read + odd(4, 15, 6, "y"),
            "tries at most 100000 conditions" + inputs + " && nr == read"}}) {
    LiftJob job = job_for({assemble(allowing(tests))});
    for (const auto approximate :
         {std::optional<Approximation>(), std::optional(Approximation::kStricter)}) {
      job.approximate = approximate;
      const auto lifted = lift(job);
      ASSERT_FALSE(lifted) << text;
      EXPECT_EQ(lifted.error().code, ErrorCode::kBudget);
      EXPECT_EQ(lifted.error().text(), no + text);
    }
  }
}

TEST(Lift, ALongRangeOfNumbersMayNeedRules) {
  const auto lifted =
      lift(job_for({assemble(allowing("jge #2000, n, t\nt: ld [16]\njeq #1, y, n\n"))}));
  ASSERT_TRUE(lifted) << lifted.error().text();
  EXPECT_EQ(lifted->calls, 2000u);
}

TEST(Lift, HalvesMayBeShortEnoughIfTheWholeFieldIsNot) {
  const std::string tests =
      "jeq #0, t, n\nt: " + odd(4, 4, 8, "high") + "high: " + odd(5, 5, 8, "y");
  const auto lifted = lift(job_for({assemble(allowing(tests))}));
  EXPECT_TRUE(lifted) << lifted.error().text();
}

}  // namespace
}  // namespace secequiv::lift_test
