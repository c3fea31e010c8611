#include "harness/import/import_seccompiler.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::import_import_seccompiler_test {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kTrap = SECCOMP_RET_TRAP;

Import imported(const std::string& text, const ImportOptions& options = {}) {
  auto result = import_seccompiler(text, "file", options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text() << "\n" << text;
  return {};
}

std::string refused(const std::string& text, const ImportOptions& options = {}) {
  auto result = import_seccompiler(text, "file", options);
  return result ? "nothing" : result.error().text();
}

// Returns a filter that allows the calls of its entries and traps all others.
std::string filter(const std::string& entries) {
  return R"j({"mismatch_action": "trap", "match_action": "allow", "filter": [)j" + entries + "]}";
}

// Returns a filter for read with one condition on its first argument.
std::string condition(const std::string& type, const std::string& op, const std::string& value) {
  return filter(R"j({"syscall": "read", "args": [{"index": 0, "type": ")j" + type +
                R"j(", "op": )j" + op + R"j(, "val": )j" + value + "}]}");
}

std::uint32_t decided(const Import& import, std::uint32_t nr,
                      std::initializer_list<std::uint64_t> args = {}) {
  return decide(import.policy, call(Arch::kX86_64, nr, args));
}

TEST(Seccompiler, ReadsASingleFilter) {
  const Import import = imported(filter(R"j({"syscall": "read", "comment": "why"})j"));
  EXPECT_EQ(decided(import, 0), kAllow);
  EXPECT_EQ(decided(import, 1), kTrap);
  EXPECT_EQ(decided(import, kX32Bit), kTrap) << "x32 numbers have no special meaning";
  EXPECT_EQ(decide(import.policy, call(Arch::kI386, 0)), SECCOMP_RET_KILL_PROCESS);
  EXPECT_TRUE(import.notes.empty());
}

TEST(Seccompiler, ReadsEveryAction) {
  const std::pair<const char*, std::uint32_t> cases[] = {
      {R"("allow")", kAllow},
      {R"("log")", SECCOMP_RET_LOG},
      {R"("trap")", kTrap},
      {R"("kill_thread")", SECCOMP_RET_KILL_THREAD},
      {R"("kill_process")", SECCOMP_RET_KILL_PROCESS},
      {R"({"errno": 13})", SECCOMP_RET_ERRNO | 13},
      {R"({"trace": 65535})", SECCOMP_RET_TRACE | 65535}};
  for (const auto& [text, action] : cases)
    for (const char* key : {"mismatch_action", "default_action"})
      EXPECT_EQ(imported(std::string(R"j({")j") + key + "\": " + text +
                         R"j(, "filter_action": {"errno": 1}, "filter": []})j")
                    .policy.default_action,
                action)
          << text;
  const Import cut =
      imported(R"j({"mismatch_action": "allow", "match_action": {"errno": 65537}, "filter": []})j");
  ASSERT_EQ(cut.notes.size(), 1u) << "seccompiler keeps 16 bits without a message";
  EXPECT_NE(cut.notes[0].find(" at line 1 (match_action.errno)"), std::string::npos)
      << cut.notes[0];
}

TEST(Seccompiler, ReadsEveryOperator) {
  struct Case {
    const char* op;
    std::function<bool(std::uint64_t)> holds;
  };
  constexpr std::uint64_t kValue = 0x100000005;
  const Case cases[] = {{R"("eq")", [](std::uint64_t v) { return v == kValue; }},
                        {R"("ne")", [](std::uint64_t v) { return v != kValue; }},
                        {R"("gt")", [](std::uint64_t v) { return v > kValue; }},
                        {R"("ge")", [](std::uint64_t v) { return v >= kValue; }},
                        {R"("lt")", [](std::uint64_t v) { return v < kValue; }},
                        {R"("le")", [](std::uint64_t v) { return v <= kValue; }},
                        // seccompiler masks both sides, so a value with bits outside the mask
                        // matches.
                        {R"({"masked_eq": 4294967300})",
                         [](std::uint64_t v) { return (v & 0x100000004) == 0x100000004; }},
                        {R"({"masked_eq": 6})", [](std::uint64_t v) { return (v & 6) == 4; }}};
  const std::uint64_t low = kValue & 0xffffffff;
  const std::function<bool(std::uint64_t)> of_dword[] = {
      [&](std::uint64_t v) { return v == low; },    [&](std::uint64_t v) { return v != low; },
      [&](std::uint64_t v) { return v > low; },     [&](std::uint64_t v) { return v >= low; },
      [&](std::uint64_t v) { return v < low; },     [&](std::uint64_t v) { return v <= low; },
      [](std::uint64_t v) { return (v & 4) == 4; }, [](std::uint64_t v) { return (v & 6) == 4; }};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const Import wide = imported(condition("qword", cases[i].op, std::to_string(kValue)));
    const Import narrow = imported(condition("dword", cases[i].op, std::to_string(kValue)));
    EXPECT_EQ(narrow.notes.size(), 1u) << "only the low half of a dword counts";
    for (const std::uint64_t high : {0ull, 1ull, 2ull, 0xffffffffull})
      for (const std::uint64_t part : {0ull, 1ull, 4ull, 5ull, 6ull, 7ull, 0xffffffffull}) {
        const std::uint64_t v = high << 32 | part;
        EXPECT_EQ(decided(wide, 0, {v}) == kAllow, cases[i].holds(v)) << cases[i].op << v;
        EXPECT_EQ(decided(narrow, 0, {v}) == kAllow, of_dword[i](part)) << cases[i].op << v;
      }
  }
}

TEST(Seccompiler, EntriesAreAlternativesAndConditionsMustAllHold) {
  const Import import = imported(filter(R"j(
    {"syscall": "read", "args": [{"index": 0, "type": "dword", "op": "gt", "val": 3},
                                 {"index": 0, "type": "dword", "op": "lt", "val": 6},
                                 {"index": 5, "type": "qword", "op": "eq", "val": 1}]},
    {"syscall": "read", "args": [{"index": 1, "type": "qword", "op": "eq", "val": 9}]})j"));
  EXPECT_EQ(decided(import, 0, {4, 0, 0, 0, 0, 1}), kAllow);
  EXPECT_EQ(decided(import, 0, {4}), kTrap);
  EXPECT_EQ(decided(import, 0, {6, 0, 0, 0, 0, 1}), kTrap);
  EXPECT_EQ(decided(import, 0, {6, 9}), kAllow);
}

TEST(Seccompiler, IgnoresEntriesWithoutConditionsIfOthersHaveSome) {
  const std::string plain = R"j({"syscall": "read"}, {"syscall": "read", "args": null})j";
  const std::string test =
      R"j({"syscall": "read", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 1}]})j";
  EXPECT_EQ(decided(imported(filter(plain)), 0, {2}), kAllow);
  for (const std::string& entries : {plain + "," + test, test + "," + plain}) {
    const Import import = imported(filter(entries));
    EXPECT_EQ(decided(import, 0, {1}), kAllow);
    EXPECT_EQ(decided(import, 0, {2}), kTrap);
    ASSERT_EQ(import.notes.size(), 1u);
    EXPECT_NE(import.notes[0].find(" at line 1 (filter["), std::string::npos) << import.notes[0];
  }
}

TEST(Seccompiler, SelectsAFilterByName) {
  const std::string one = filter(R"j({"syscall": "read"})j");
  const std::string two = R"j({"vmm": )j" + one + R"j(, "vcpu": )j" + filter("") + "}";
  EXPECT_EQ(decided(imported(R"j({"vmm": )j" + one + "}"), 0), kAllow);
  ImportOptions options;
  options.filter = "vmm";
  EXPECT_EQ(decided(imported(two, options), 0), kAllow);
  options.filter = "vcpu";
  EXPECT_EQ(decided(imported(two, options), 0), kTrap);
  options.filter = "vmn";
  EXPECT_EQ(refused(two, options),
            "file:1#/: expected one of the filters vcpu, vmm, found 'vmn'; did you mean vmm?");
  EXPECT_EQ(
      refused(one, options),
      "file:1#/: there is no filter 'vmn', because the file has only one filter without a name");
  EXPECT_EQ(refused(two), "filter: file has 2 filters, expected the name of one: vcpu, vmm");
}

TEST(Seccompiler, ExpectsNumbersInPlaceOfNames) {
  const auto with = [](const char* value) {
    return refused(filter(
        std::string(
            R"j({"syscall": "ioctl", "args": [{"index": 1, "type": "dword", "op": "eq", "val": )j") +
        value + "}]}"));
  };
  const std::string expected =
      "expected a number, because seccompiler accepts no names of constants, found ";
  EXPECT_NE(with("\"TIOCGWINSZ\"").find(expected + "\"TIOCGWINSZ\"; write 21523"),
            std::string::npos)
      << with("\"TIOCGWINSZ\"");
  EXPECT_NE(with("\"NO_SUCH_NAME\"").find(expected + "\"NO_SUCH_NAME\"; secequiv does not know"),
            std::string::npos);
}

TEST(Seccompiler, AcceptsOnlySeccompilersArchitectures) {
  ImportOptions options;
  options.oci.arch = Arch::kAarch64;
  const Import import = imported(filter(R"j({"syscall": "read"})j"), options);
  EXPECT_EQ(decide(import.policy, call(Arch::kAarch64, 63)), kAllow);
  EXPECT_EQ(decide(import.policy, call(Arch::kX86_64, 0)), SECCOMP_RET_KILL_PROCESS);
  EXPECT_NE(refused(filter(R"j({"syscall": "open"})j"), options).find("on aarch64"),
            std::string::npos);
  options.oci.arch = Arch::kArm;
  EXPECT_NE(refused(filter(""), options)
                .find("expected x86_64, aarch64 or riscv64, which seccompiler supports, found arm"),
            std::string::npos);
}

TEST(Seccompiler, ErrorsNameThePosition) {
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "file:1#/: expected an object of filters by name, or one filter, found []"},
      {"{}", "expected an object of filters"},
      {"{\n \"a\": ", "file:2:"},
      {R"j({"vmm": 1})j", "file:1#/vmm: expected an object, found 1"},
      {R"j({"match_action": "allow", "filter": []})j",
       "the key 'mismatch_action' (or 'default_action') is missing"},
      {R"j({"mismatch_action": "trap", "filter": []})j", "'match_action' (or 'filter_action')"},
      {R"j({"mismatch_action": "trap", "match_action": "allow"})j", "'filter' is missing"},
      {R"j({"mismatch_action": "trap", "default_action": "trap", "match_action": "allow", "filter": []})j",
       "which mean the same"},
      {R"j({"mismatch_action": "allow", "match_action": "allow", "filter": []})j",
       "expected two different actions, because seccompiler refuses equal ones, found ALLOW twice"},
      {R"j({"mismatch_action": "kill", "match_action": "allow", "filter": []})j",
       "file:1#/mismatch_action: expected an action: allow"},
      {R"j({"mismatch_action": "errno", "match_action": "allow", "filter": []})j",
       "expected an action"},
      {R"j({"mismatch_action": {"allow": 1}, "match_action": "allow", "filter": []})j",
       "expected an action"},
      {R"j({"mismatch_action": {"errno": -1}, "match_action": "allow", "filter": []})j",
       "file:1#/mismatch_action/errno: expected a number"},
      {R"j({"mismatch_action": {"errno": 4294967296}, "match_action": "allow", "filter": []})j",
       "file:1#/mismatch_action/errno: expected a number"},
      {filter("1"), "file:1#/filter/0: expected an object, found 1"},
      {filter("{}"), "the key 'syscall' is missing"},
      {filter(R"j({"syscall": "reed"})j"),
       "file:1#/filter/0/syscall: unknown system call 'reed' on x86_64; did you mean read"},
      {filter(R"j({"syscall": 0})j"), "expected a system call's name, found 0"},
      {filter(R"j({"syscall": "read", "arg": []})j"), "unknown key 'arg'"},
      {filter(R"j({"syscall": "read", "comment": 1})j"), "expected a string, found 1"},
      {filter(R"j({"syscall": "read", "args": []})j"),
       "expected at least one condition, because seccompiler refuses an empty list"},
      {filter(R"j({"syscall": "read", "args": [{}]})j"), "the key 'index' is missing"},
      {filter(
           R"j({"syscall": "read", "args": [{"index": 6, "type": "dword", "op": "eq", "val": 0}]})j"),
       "file:1#/filter/0/args/0/index: expected an argument index from 0 to 5, found 6"},
      {condition("word", R"("eq")", "0"), "expected \"dword\" or \"qword\""},
      {condition("dword", R"("eq")", "-1"), "expected a number from 0 to 2^64-1, found -1"},
      {condition("dword", R"("eq")", "1.0"), "expected a number"},
      {condition("dword", R"("equal")", "1"), "expected an operator"},
      {condition("dword", R"({"masked_eq": "1"})", "1"), "/op/masked_eq: expected a number"},
      {condition("dword", R"({"masked_eq": 1, "eq": 2})", "1"), "expected an operator"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(refused(text).find(message), std::string::npos) << refused(text) << "\n" << text;
}

}  // namespace
}  // namespace secequiv::import_import_seccompiler_test
