#include "harness/import/import_minijail.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::import_import_minijail_test {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_THREAD;
constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | 1;

Import imported(const std::string& text, std::optional<MinijailTool> tool = {},
                const ImportOptions& options = {}) {
  auto result = import_minijail(text, "file", tool, options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text() << "\n" << text;
  return {};
}

std::string refused(const std::string& text, std::optional<MinijailTool> tool = {},
                    const ImportOptions& options = {}) {
  auto result = import_minijail(text, "file", tool, options);
  return result ? "nothing" : result.error().text();
}

std::uint32_t decided(const Import& import, std::uint32_t nr,
                      std::initializer_list<std::uint64_t> args = {}) {
  return decide(import.policy, call(Arch::kX86_64, nr, args));
}

TEST(Minijail, ReadsLinesAndComments) {
  const Import import = imported(
      "# comment\n\nread: 1 # why\r\n\twrite :allow\nclose: return EPERM\n"
      "open: return \\\n  2\n");
  EXPECT_EQ(decided(import, 0), kAllow);
  EXPECT_EQ(decided(import, 1), kAllow);
  EXPECT_EQ(decided(import, 3), kEperm);
  EXPECT_EQ(decided(import, 2), SECCOMP_RET_ERRNO | 2);
  EXPECT_EQ(decided(import, 4), kKill);
  EXPECT_EQ(decided(import, kX32Bit), kKill) << "no line names an x32 number";
  EXPECT_EQ(decide(import.policy, call(Arch::kI386, 0)), kKill);
  EXPECT_TRUE(import.notes.empty());
}

TEST(Minijail, ReadsEveryOperator) {
  struct Case {
    const char* text;
    std::function<bool(std::uint64_t)> holds;
  };
  const Case cases[] = {
      {"arg1 == 5", [](std::uint64_t v) { return v == 5; }},
      {"arg1 != 0x100000005", [](std::uint64_t v) { return v != 0x100000005; }},
      {"arg1 < 5", [](std::uint64_t v) { return v < 5; }},
      {"arg1 <= 5", [](std::uint64_t v) { return v <= 5; }},
      {"arg1 > 0x100000000", [](std::uint64_t v) { return v > 0x100000000; }},
      {"arg1 >= -1", [](std::uint64_t v) { return v == ~0ull; }},
      {"arg1 & 5", [](std::uint64_t v) { return (v & 5) != 0; }},
      {"arg1 & 4", [](std::uint64_t v) { return (v & 4) != 0; }},
      {"arg1 & 0", [](std::uint64_t) { return false; }},
      {"arg1 & ~3", [](std::uint64_t v) { return v > 3; }},
      {"arg1 & ~0", [](std::uint64_t v) { return v != 0; }},
      {"arg1 & 0x500000001", [](std::uint64_t v) { return (v & 0x500000001) != 0; }},
      {"arg1 in 5", [](std::uint64_t v) { return (v & ~5ull) == 0; }},
      {"arg1 in ~1", [](std::uint64_t v) { return (v & 1) == 0; }},
      {"arg1 in ~(1|4)", [](std::uint64_t v) { return (v & 5) == 0; }},
      {"arg1 in 1|(2|(4))", [](std::uint64_t v) { return v <= 7; }},
      {"arg1 == 010", [](std::uint64_t v) { return v == 8; }},
      {"arg1 == 0", [](std::uint64_t v) { return v == 0; }},
      {"arg1 == 0X8", [](std::uint64_t v) { return v == 8; }},
      {"arg1 >= -01", [](std::uint64_t v) { return v == ~0ull; }},
      {"arg1 >= -0x1", [](std::uint64_t v) { return v == ~0ull; }},
      {"arg1 == PROT_READ|PROT_EXEC", [](std::uint64_t v) { return v == 5; }},
      {"arg1 == 4 || arg1 >= 6 && arg1 <= 7",
       [](std::uint64_t v) { return v == 4 || v == 6 || v == 7; }}};
  for (const auto& [text, holds] : cases) {
    const Import import = imported("read: " + std::string(text));
    for (const std::uint64_t high : {0ull, 1ull, 4ull, 5ull, 0xffffffffull})
      for (const std::uint64_t low : {0ull, 1ull, 3ull, 4ull, 5ull, 6ull, 8ull, 0xffffffffull}) {
        const std::uint64_t v = high << 32 | low;
        EXPECT_EQ(decided(import, 0, {0, v}), holds(v) ? kAllow : kKill) << text << " " << v;
      }
  }
}

// minijail0 and minijail's policy compiler read this text in opposite ways.
TEST(Minijail, ReturnAfterAnExpressionDependsOnTheTool) {
  const std::string text = "read: arg0 == 1; return EPERM\n";
  const Import loader = imported(text);
  EXPECT_EQ(decided(loader, 0, {1}), kAllow);
  EXPECT_EQ(decided(loader, 0, {2}), kEperm);
  EXPECT_EQ(loader.notes.size(), 1u) << "a note mentions the other reading";
  const Import compiler = imported(text, MinijailTool::kCompiler);
  EXPECT_EQ(decided(compiler, 0, {1}), kEperm);
  EXPECT_EQ(decided(compiler, 0, {2}), kKill);
  EXPECT_TRUE(compiler.notes.empty());
  const Import by_compiler = imported(text + "@default trap\n");
  EXPECT_EQ(decided(by_compiler, 0, {1}), kEperm) << "only the compiler reads @default";
  EXPECT_EQ(decided(by_compiler, 0, {2}), SECCOMP_RET_TRAP);
}

TEST(Minijail, ReadsTheSyntaxOfMinijailsPolicyCompiler) {
  const Import import = imported(
      "@default kill-process\n{read, write}: arg0 == 1\nread: arg0 == 2; log\nread: trap\n"
      "close: { arg0 == 1 && arg1 == 2; return 5, arg0 == 1; user-notify }\n"
      "kill: kill\nopen[arch=x86_64]: trace\nfork[arch=arm64]: allow\n@frequency ./freq\n");
  EXPECT_EQ(decided(import, 0, {1}), kAllow);
  EXPECT_EQ(decided(import, 0, {2}), SECCOMP_RET_LOG);
  EXPECT_EQ(decided(import, 0, {3}), SECCOMP_RET_TRAP);
  EXPECT_EQ(decided(import, 1, {1}), kAllow);
  EXPECT_EQ(decided(import, 1, {2}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(decided(import, 3, {1, 2}), SECCOMP_RET_ERRNO | 5);
  EXPECT_EQ(decided(import, 3, {1, 3}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(decided(import, 62), kKill);
  EXPECT_EQ(decided(import, 2), SECCOMP_RET_TRACE);
  EXPECT_EQ(decided(import, 57), SECCOMP_RET_KILL_PROCESS);
  ASSERT_EQ(import.notes.size(), 1u);
  EXPECT_NE(import.notes[0].find("@frequency"), std::string::npos);
}

TEST(Minijail, KnowsTheCompilersArchitectures) {
  const std::pair<const char*, Arch> cases[] = {
      {"x86", Arch::kI386},      {"x86_64", Arch::kX86_64},   {"arm", Arch::kArm},
      {"arm64", Arch::kAarch64}, {"riscv64", Arch::kRiscv64}, {"s390x", Arch::kS390x},
      {"ppc64", Arch::kPpc64le}, {"mips64", Arch::kMips64}};
  for (const auto& [name, arch] : cases) {
    ImportOptions options;
    options.oci.arch = arch;
    const auto of = [&](std::string_view other) {
      return imported(fmt::format("write: 1\nread[arch={}]: 1\n", other), {}, options)
          .policy.rule_sets[0]
          .rules.size();
    };
    EXPECT_EQ(of(name), 2) << name;
    EXPECT_EQ(of(fmt::format("loong64,{}", name)), 2) << name;
    EXPECT_EQ(of(fmt::format("{},loong64", name)), 2) << name;
    EXPECT_EQ(of("loong64"), 1) << name;
  }
}

TEST(Minijail, ComparesLowHalvesOn32BitAbis) {
  ImportOptions options;
  options.oci.arch = Arch::kArm;
  const Import import = imported("read: arg0 == -1\nwrite: arg0 & ~1", {}, options);
  EXPECT_EQ(decide(import.policy, call(Arch::kArm, 3, {0xffffffff})), kAllow);
  EXPECT_EQ(decide(import.policy, call(Arch::kArm, 3, {0x1ffffffff})), kAllow);
  EXPECT_EQ(decide(import.policy, call(Arch::kArm, 4, {0x100000001})), kKill);
  EXPECT_NE(refused("read: arg0 == 0x100000000", {}, options).find("32 bits"), std::string::npos);
}

TEST(Minijail, FollowsIncludesBelowThePolicysFolder) {
  std::map<std::string, std::string> files = {{"./a.policy", "read: 1\n@include ./sub/b.policy\n"},
                                              {"./sub/b.policy", "write: 1\n"},
                                              {"./loop", "@include ./loop\n"},
                                              {"./bad", "read: 1\nwrite: yes\n"}};
  std::string wide = "read: 1\n";
  for (int i = 0; i < 101; ++i) wide += "@include ./empty\n";
  ImportOptions options;
  options.read_file = [&](const std::string& path) -> Result<std::string> {
    if (path == "./empty") return std::string();
    if (!files.contains(path)) return make_error(ErrorCode::kIo, path, "no such file");
    return files[path];
  };
  const Import import = imported("@include ./a.policy\nclose: 1\n", {}, options);
  for (const std::uint32_t nr : {0u, 1u, 3u}) EXPECT_EQ(decided(import, nr), kAllow);
  const std::pair<std::string, const char*> cases[] = {
      {"@include ./c", "file:1:1: cannot include ./c: no such file"},
      {"@include ./loop", "nested deeper than 10 files"},
      {"@include ./bad", "./bad:2:8: expected an expression"},
      {"@include /etc/passwd", "file:1:10: expected a path that starts with ./"},
      {"@include ./../x", "expected a path that starts with ./"},
      {"@include ./a/../../x", "expected a path that starts with ./"},
      {"@include ../x", "expected a path that starts with ./"},
      {"@include", "expected a path"},
      {"@include ./sub/b.policy\nwrite: 1", "write already has a line, at ./sub/b.policy:1"},
      {"@include ./a.policy\nread: 1", "read already has an action for all arguments"},
      {wide, "more than 100 files"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(refused(text, {}, options).find(message), std::string::npos)
        << refused(text, {}, options);
  EXPECT_NE(refused("@include ./a.policy").find("expected a policy in a file"), std::string::npos);
}

TEST(Minijail, NestedIncludesSelectTheCompiler) {
  std::map<std::string, std::string> files = {{"./outer", "@include ./inner\n"},
                                              {"./inner", "read: arg0 == 1; return EPERM\n"}};
  ImportOptions options;
  options.read_file = [&](const std::string& path) -> Result<std::string> { return files[path]; };
  const Import once = imported("@include ./inner\n", {}, options);
  EXPECT_EQ(decided(once, 0, {1}), kAllow);
  EXPECT_EQ(decided(once, 0, {2}), kEperm);
  ASSERT_EQ(once.notes.size(), 2u);
  EXPECT_NE(once.notes[0].find("minijail0 resolves them relative to its working directory"),
            std::string::npos);
  const Import twice = imported("@include ./outer\n", {}, options);
  EXPECT_EQ(decided(twice, 0, {1}), kEperm);
  EXPECT_EQ(decided(twice, 0, {2}), kKill);
  EXPECT_TRUE(twice.notes.empty());
  EXPECT_NE(refused("@include ./outer\n", MinijailTool::kMinijail0, options)
                .find("./outer:1:1: @include in an included file: only compile_seccomp_policy.py"),
            std::string::npos);
}

// A test counts once for each system call of its line. The limit applies to all files together.
TEST(Minijail, LimitsTheNumberOfTests) {
  std::string calls = "{read";
  for (int i = 1; i < 512; ++i) calls += ", read";
  std::string tests = "arg0 == 1";
  for (int i = 1; i < 512; ++i) tests += "||arg0 == 1";
  const std::string full = calls + "}: " + tests + "\n";
  EXPECT_NE(refused(full + "write: arg0 == 1\n").find("file:2:8: expected at most 262144 tests"),
            std::string::npos);
  ImportOptions options;
  options.read_file = [](const std::string&) -> Result<std::string> {
    return std::string("write: arg0 == 1\n");
  };
  EXPECT_NE(refused(full + "@include ./more", {}, options)
                .find("./more:1:8: expected at most 262144 tests"),
            std::string::npos)
      << refused(full + "@include ./more", {}, options);
}

TEST(Minijail, ErrorsNameThePosition) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "file: expected 'SYSTEM_CALL: ACTION'"},
      {"# nothing\n", "found no line"},
      {"read", "file:1:5: expected ':', found the end of the line"},
      {"read: 1\n\nwrite 1\n", "file:3:7: expected ':', found '1'"},
      {"reed: 1", "file:1:1: unknown system call 'reed' on x86_64; did you mean read"},
      {"read: 1 1", "file:1:9: expected the end of the line, found '1'"},
      {"read: 2", "file:1:7: expected an expression"},
      {"read:", "expected an action or an expression, found the end"},
      {"read: yes", "file:1:7: expected an expression (argN ...)"},
      {"read: return", "expected an errno"},
      {"read: return 65536", "expected an errno from 0 to 65535"},
      {"read: return ENOSUCH", "expected a number or the name of a known constant"},
      {"read: return Eperm", "expected a number or the name of a known constant"},
      {"read: arg6 == 1", "file:1:7: expected an argument, arg0 to arg5"},
      {"read: arg0", "expected an operator"},
      {"read: arg0 = 1", "file:1:12: expected an operator"},
      {"read: arg0 == ", "expected a constant"},
      {"read: arg0 == X_Y_Z", "file:1:15: expected a number or the name of a known constant"},
      {"read: arg0 == 1 &&", "expected an argument"},
      {"read: arg0 == 1 ||| arg1 == 2", "expected an argument"},
      {"read: arg0 == (1", "expected ')' or '|'"},
      {"read: arg0 == 08", "expected a number of 64 bits"},
      {"read: arg0 == 12x", "expected a number of 64 bits"},
      {"read: arg0 == 0x10000000000000000", "expected a number of 64 bits"},
      {"read: arg0 == 0x", "expected a number of 64 bits"},
      {"read: arg0 == -0x8000000000000001", "expected a number of 64 bits"},
      {"read: arg0 == -01000000000000000000001", "expected a number of 64 bits"},
      {"read: arg0 == ~~1", "expected a constant, found '~'"},
      {"read: arg0 == " + std::string(100, '(') + "1", "at most 64 parentheses"},
      {"read: arg0 == 1; log", "nothing"},
      {"read: $1", "file:1:7: unexpected '$'"},
      {"read: 1\nread: arg0 == 1", "file:2:1: read already has a line, at file:1"},
      {"{read, : 1", "expected a system call, found ':'"},
      {"{read write}: 1", "expected ',' or '}'"},
      {"{read: 1", "expected ',' or '}'"},
      {"io@libc: 1", "file:1:1: expected a system call, found the group 'io@libc'"},
      {"read[cpu=x]: 1", "expected 'arch'"},
      {"read[arch=x86_64: 1", "expected ',' or ']'"},
      {"read[arch=amd64]: 1", "file:1:11: expected an architecture as minijail names it"},
      {"read[arch=x86,aarch64]: 1", "file:1:15: expected an architecture as minijail names it"},
      {"read[arch=SCMP_ARCH_X86]: 1", "expected an architecture as minijail names it"},
      {"read: 1\n# why \\\nwrite: 1", "file:2:1: expected a comment that does not end in '\\'"},
      {"read: 1 # why\\\r\nwrite: 1", "file:1:9: expected a comment that does not end in '\\'"},
      {"read: {arg0 == 1, arg1 == 2", "expected ',' or '}'"},
      {"@default allow", "file:1:10: expected kill"},
      {"@denylist\nread: return 1", "file:1:1: expected a list of allowed calls"},
      {"{read, write}: 1\nread: arg0 == 1",
       "file:2:7: read already has an action for all arguments"},
      {"read: { arg0 == 1; return EPERM, allow }",
       "file:1:9: compile_seccomp_policy.py ignores this filter"},
      {"@frequency", "expected a path"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(refused(text).find(message), std::string::npos) << refused(text) << "\n" << text;
  EXPECT_NE(refused("read: 1\n@default trap", MinijailTool::kMinijail0)
                .find("file:2:1: @default: only compile_seccomp_policy.py"),
            std::string::npos);
}

}  // namespace
}  // namespace secequiv::import_import_minijail_test
