#include "harness/import/import_oci.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/import/import.h"
#include "harness/import/oci_testing.h"
#include "harness/policy/compile.h"

namespace secequiv::import_import_oci_test {
namespace {

using namespace oci_testing;  // NOLINT(google-build-using-namespace)

// Returns the failures, although perhaps no runtime loads the profile.
std::vector<LoadFailure> failures_of(const std::string& text) {
  const auto read = import_oci(text, "oci", {});
  return read ? read->failures : std::vector<LoadFailure>();
}

// Returns the names of the runtimes that do not load a profile.
std::string runtimes_that_refuse(const std::string& text) {
  RuntimeSet out;
  for (std::size_t i = 0; i < kRuntimeNames.size(); ++i) {
    OciOptions options;
    options.runtimes = RuntimeSet().set(i);
    const auto read = import_oci(text, "oci", options);
    if (!read) EXPECT_EQ(read.error().code, ErrorCode::kRejected) << read.error().text();
    out[i] = !read;
  }
  return runtimes_text(out);
}

TEST(Oci, ReadsNamesAndDefaults) {
  const OciImport import = imported(profile(
      R"j({"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"}, {"name": "close", "action": "SCMP_ACT_LOG"})j"));
  EXPECT_EQ(decided(import, 0), kAllow);
  EXPECT_EQ(decided(import, 1), kAllow);
  EXPECT_EQ(decided(import, 3), SECCOMP_RET_LOG);
  EXPECT_EQ(decided(import, 2), kEperm) << "EPERM applies without defaultErrnoRet";
  EXPECT_EQ(import.policy.bad_arch_action, SECCOMP_RET_KILL_THREAD) << "libseccomp's default";
  EXPECT_EQ(import.policy.x32_action, SECCOMP_RET_KILL_THREAD)
      << "x32 is a bad architecture unless listed";
  EXPECT_TRUE(import.skipped.empty());
}

TEST(Oci, ReadsEveryAction) {
  const std::pair<const char*, std::uint32_t> cases[] = {
      {"SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD},
      {"SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD},
      {"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS},
      {"SCMP_ACT_TRAP", SECCOMP_RET_TRAP},
      {"SCMP_ACT_ERRNO", kEperm},
      {"SCMP_ACT_TRACE", SECCOMP_RET_TRACE | 1},
      {"SCMP_ACT_ALLOW", kAllow},
      {"SCMP_ACT_LOG", SECCOMP_RET_LOG},
      {"SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF}};
  for (const auto& [name, value] : cases)
    EXPECT_EQ(
        imported(std::string(R"j({"defaultAction": ")j") + name + "\"}").policy.default_action,
        value)
        << name;
}

TEST(Oci, ReadsErrnoRet) {
  const OciImport import =
      imported(R"j({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "syscalls": [
    {"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13}, {"names": ["write"], "action": "SCMP_ACT_ERRNO"},
    {"names": ["open"], "action": "SCMP_ACT_TRACE", "errnoRet": 7}, {"names": ["close"], "action": "SCMP_ACT_ALLOW", "errnoRet": 5},
    {"names": ["stat"], "action": "SCMP_ACT_ERRNO", "errnoRet": null}]})j");
  EXPECT_EQ(import.policy.default_action, SECCOMP_RET_ERRNO | 38);
  EXPECT_EQ(decided(import, 0), SECCOMP_RET_ERRNO | 13);
  EXPECT_EQ(decided(import, 1), kEperm) << "defaultErrnoRet does not apply to entries";
  EXPECT_EQ(decided(import, 2), SECCOMP_RET_TRACE | 7);
  EXPECT_EQ(decided(import, 3), kAllow) << "an action without an errno ignores errnoRet";
  EXPECT_EQ(decided(import, 4), kEperm);
  EXPECT_EQ(decided(import, 5), SECCOMP_RET_ERRNO | 38);
}

// libseccomp compares numbers with the first one of x32, and does not test the bit.
TEST(Oci, HighNumbersAreOfAWrongArchitectureUnlessTheProfileListsX32) {
  const auto killed = [](const std::string& arches, std::uint32_t nr) {
    const OciImport import =
        imported(R"j({"defaultAction": "SCMP_ACT_ERRNO", "architectures": [)j" + arches + "]}");
    return decided(import, nr) == SECCOMP_RET_KILL_THREAD;
  };
  for (const std::uint32_t nr : {0x40000000U, 0x7fffffffU, 0x80000000U, 0xbfffffffU, 0xfffffffeU})
    for (const char* arch : {R"("SCMP_ARCH_X86_64")", R"("SCMP_ARCH_X86")", ""}) {
      EXPECT_TRUE(killed(arch, nr)) << nr;
      EXPECT_FALSE(killed(R"("SCMP_ARCH_X32")", nr)) << nr;
    }
  EXPECT_FALSE(killed("", 0xffffffff));
  EXPECT_FALSE(killed("", 0x3fffffff));
}

// Podman prefers the name over the number, and other runtimes ignore the name.
TEST(Oci, NotesErrnoNamesThatPodmanReadsDifferently) {
  const auto notes = [](const std::string& keys, Arch arch = Arch::kX86_64) {
    OciOptions options;
    options.arch = arch;
    const OciImport import = imported(
        R"j({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ERRNO", )j" +
            keys + "}]}",
        options);
    EXPECT_TRUE(import.skipped.empty());
    return import.unclear;
  };
  for (const char* keys : {R"("errno": "EPERM")", R"("errno": "ENOSYS", "errnoRet": 38)",
                           R"("errno": "1")", R"("errno": "", "errnoRet": 38)", R"("errno": null)",
                           R"("errno": "ENOSYS", "excludes": {"arches": ["amd64"]})"})
    EXPECT_TRUE(notes(keys).empty()) << keys;
  const auto note = [](const std::string& podman, int number) {
    return std::vector{"the errno at line 1 (syscalls[0].errno): Podman " + podman +
                       ", but Docker and runc return " + std::to_string(number) +
                       ", which this import uses"};
  };
  EXPECT_EQ(notes(R"("errno": "ENOSYS")"), note("returns 38", 1));
  EXPECT_EQ(notes(R"("errno": "ENOSYS")", Arch::kMips64), note("returns 89", 1));
  EXPECT_EQ(notes(R"("errno": "ENOSYS", "errnoRet": 13)"), note("returns 38", 13));
  EXPECT_EQ(notes(R"("errno": "007")"), note("returns 7", 1));
  for (const char* keys : {R"("errno": "eperm")", R"("errno": "EPOLLIN")", R"("errno": "O_EXCL")",
                           R"("errno": "0x1")", R"("errno": "4294967297")", R"("errno": 1)"})
    EXPECT_EQ(
        failures_of(
            R"j({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ERRNO", )j" +
            std::string(keys) + "}]}")
            .size(),
        1u)
        << keys;
  EXPECT_EQ(imported(R"j({"defaultAction": "SCMP_ACT_TRACE", "defaultErrno": "EIO"})j").unclear,
            (std::vector<std::string>{"the errno at line 1 (defaultErrno): Podman returns 5, but "
                                      "Docker and runc return 1, which this import uses"}));
}

TEST(Oci, NotesFlagsAndActionsThatDecideNothing) {
  const auto with_flags = [](const std::string& flags) {
    return import_oci(R"j({"defaultAction": "SCMP_ACT_ALLOW", "flags": )j" + flags + "}", "oci",
                      OciOptions{});
  };
  const auto known = with_flags(R"j(["SECCOMP_FILTER_FLAG_LOG"])j");
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->unknown.empty());
  EXPECT_EQ(known->skipped,
            (std::vector<std::string>{"the flags at line 1 (flags): they change how the filter is "
                                      "installed, not what it decides"}));
  EXPECT_FALSE(with_flags("[1]"));
  EXPECT_FALSE(with_flags(R"("SECCOMP_FILTER_FLAG_LOG")"));
  EXPECT_TRUE(with_flags("[]")->skipped.empty());
}

TEST(Oci, ListsTheRuntimesThatDoNotLoadAProfile) {
  const auto default_action = [](const std::string& rest) {
    return R"j({"defaultAction": )j" + rest + "}";
  };
  const auto entry = [&](const std::string& rest) {
    return default_action(R"j("SCMP_ACT_TRAP", "syscalls": [{"names": )j" + rest + "}]");
  };
  const auto arches = [&](const std::string& list) {
    return default_action(R"j("SCMP_ACT_TRAP", "architectures": )j" + list);
  };
  const auto flags = [&](const std::string& list) {
    return default_action(R"j("SCMP_ACT_TRAP", "flags": )j" + list);
  };
  const std::pair<std::string, std::string> cases[] = {
      {default_action(R"j("SCMP_ACT_ERRNO", "defaultErrnoRet": 4094)j"), ""},
      {default_action(R"j("SCMP_ACT_ERRNO", "defaultErrnoRet": 4095)j"),
       "runc, crun, youki and podman"},
      {default_action(R"j("SCMP_ACT_TRACE", "defaultErrnoRet": 65535)j"), ""},
      {default_action(R"j("SCMP_ACT_ALLOW", "defaultErrnoRet": 1)j"), "crun and podman"},
      {default_action(R"j("SCMP_ACT_ALLOW", "defaultErrno": "EPERM")j"), "podman"},
      {default_action(R"j("SCMP_ACT_NOTIFY")j"), "runc and youki"},
      {entry(R"j(["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 4094)j"), ""},
      {entry(R"j(["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 4095)j"),
       "runc, crun, youki and podman"},
      {entry(R"j(["not_invented_yet"], "action": "SCMP_ACT_ERRNO", "errnoRet": 4095)j"), ""},
      {entry(R"j(["read"], "action": "SCMP_ACT_KILL", "errnoRet": 4095)j"), "crun and podman"},
      {entry(R"j(["read"], "action": "SCMP_ACT_KILL", "errnoRet": null)j"), ""},
      {entry(R"j([], "action": "SCMP_ACT_KILL", "errnoRet": 1)j"), ""},
      {entry(
           R"j(["read"], "action": "SCMP_ACT_KILL", "errnoRet": 1, "includes": {"caps": ["CAP_KILL"]})j"),
       ""},
      {entry(R"j(["read", "write"], "action": "SCMP_ACT_NOTIFY")j"), "runc and youki"},
      {entry(R"j(["read"], "action": "SCMP_ACT_NOTIFY")j"), ""},
      {entry(R"j([""], "action": "SCMP_ACT_ALLOW")j"), "runc"},
      {arches(R"j(["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_AARCH64"])j"), ""},
      {arches(R"j(["SCMP_ARCH_NATIVE"])j"), "runc, crun and podman"},
      {arches(R"j(["x86_64"])j"), "runc and youki"},
      {arches(R"j(["SCMP_ARCH_LOONGARCH64"])j"), "youki"},
      {arches(R"j(["SCMP_ARCH_X86_46"])j"), "runc, crun, youki and podman"},
      {arches(R"j(["SCMP_ARCH_S390X"])j"), "runc, crun, youki and podman"},
      {arches(R"j(["SCMP_ARCH_S390"])j"), "runc, crun, youki and podman"},
      {arches(R"j(["SCMP_ARCH_MIPSEL"])j"), ""},
      {flags(R"j(["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"])j"), "runc and youki"},
      {flags(R"j(["SECCOMP_FILTER_FLAG_LGO"])j"), "runc, crun, youki and podman"},
  };
  for (const auto& [text, runtimes] : cases)
    EXPECT_EQ(runtimes_that_refuse(text), runtimes) << text;
}

TEST(Oci, RefusesAProfileThatNoChosenRuntimeLoads) {
  const std::string text =
      R"j({"defaultAction": "SCMP_ACT_NOTIFY", "architectures": ["SCMP_ARCH_NATIVE"]})j";
  const auto all = import_oci(text, "oci", {});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::kRejected);
  EXPECT_EQ(all.error().text(),
            "oci:1: runc and youki do not load this profile: the default action is "
            "SCMP_ACT_NOTIFY; crun and podman do not load this profile: unknown architecture "
            "'SCMP_ARCH_NATIVE' (line 1 (architectures[0]))");
  OciOptions crun;
  crun.runtimes = runtimes_named(std::vector<std::string>{"crun"});
  EXPECT_FALSE(import_oci(text, "oci", crun));
  EXPECT_TRUE(imported(R"j({"defaultAction": "SCMP_ACT_NOTIFY"})j", crun).failures.empty());
}

TEST(Oci, SuggestsNamesThatRuntimesKnow) {
  const auto refusal = import_oci(
      R"j({"defaultAction": "SCMP_ACT_ALLOW", "flags": ["SECCOMP_FILTER_FLAG_LGO"]})j", "oci", {});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().text(),
            "oci:1: runc, crun, youki and podman do not load this profile: unknown flag "
            "'SECCOMP_FILTER_FLAG_LGO'; did you mean SECCOMP_FILTER_FLAG_LOG?");
}

TEST(Oci, ALoneX32IsAnError) {
  ImportOptions options;
  options.oci.arch = Arch::kX32;
  const auto lone =
      import_policy(R"j({"defaultAction": "SCMP_ACT_ALLOW"})j", "oci", PolicyFormat::kOci, options);
  ASSERT_FALSE(lone);
  EXPECT_EQ(lone.error().text().substr(0, 29), "oci: x32 needs x86_64 beside ");
}

TEST(Oci, ReadsEveryOperator) {
  const std::pair<const char*, std::function<bool(std::uint64_t)>> cases[] = {
      {"SCMP_CMP_NE", [](std::uint64_t v) { return v != 5; }},
      {"SCMP_CMP_LT", [](std::uint64_t v) { return v < 5; }},
      {"SCMP_CMP_LE", [](std::uint64_t v) { return v <= 5; }},
      {"SCMP_CMP_EQ", [](std::uint64_t v) { return v == 5; }},
      {"SCMP_CMP_GE", [](std::uint64_t v) { return v >= 5; }},
      {"SCMP_CMP_GT", [](std::uint64_t v) { return v > 5; }},
      // `value` is the mask, `valueTwo` the expected result.
      {"SCMP_CMP_MASKED_EQ", [](std::uint64_t v) { return (v & 5) == 4; }}};
  for (const auto& [op, expected] : cases) {
    const OciImport import =
        imported(profile(std::string(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args":
      [{"index": 1, "value": 5, "valueTwo": 4, "op": ")j") +
                         op + "\"}]}"));
    for (const std::uint64_t v :
         {0ull, 1ull, 4ull, 5ull, 6ull, 7ull, 12ull, 0x100000004ull, 0x100000005ull, ~0ull})
      EXPECT_EQ(decided(import, 0, {0, v}) == kAllow, expected(v)) << op << " " << v;
  }
  const OciImport no_second = imported(profile(
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 6, "op": "SCMP_CMP_MASKED_EQ"}]})j"));
  EXPECT_EQ(decided(no_second, 0, {9}), kAllow);
  EXPECT_EQ(decided(no_second, 0, {2}), kEperm);
  const OciImport outside = imported(profile(
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 15, "valueTwo": 18, "op": "SCMP_CMP_MASKED_EQ"}]})j"));
  EXPECT_EQ(decided(outside, 0, {2}), kAllow) << "libseccomp also masks the expected value";
  EXPECT_EQ(decided(outside, 0, {18}), kAllow);
  EXPECT_EQ(decided(outside, 0, {3}), kEperm);
}

TEST(Oci, ConditionsOfOneEntryMustAllHold) {
  const OciImport import =
      imported(profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args":
    [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 5, "value": 2, "op": "SCMP_CMP_EQ"}]})j"));
  EXPECT_EQ(decided(import, 0, {1, 0, 0, 0, 0, 2}), kAllow);
  EXPECT_EQ(decided(import, 0, {1}), kEperm);
  EXPECT_EQ(decided(import, 0, {0, 0, 0, 0, 0, 2}), kEperm);
}

// libseccomp accepts only one condition per argument. Therefore runc turns an entry with two
// conditions on one argument into two rules.
TEST(Oci, ConditionsOnTheSameArgumentAreAlternatives) {
  const OciImport import =
      imported(profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args":
    [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}, {"index": 1, "value": 9, "op": "SCMP_CMP_EQ"}]})j"));
  EXPECT_EQ(decided(import, 0, {1}), kAllow);
  EXPECT_EQ(decided(import, 0, {2}), kAllow);
  EXPECT_EQ(decided(import, 0, {0, 9}), kAllow);
  EXPECT_EQ(decided(import, 0, {0}), kEperm);
}

TEST(Oci, NotesEntriesWithoutNames) {
  const OciImport import = imported(profile(
      R"j({"names": [], "action": "SCMP_ACT_ALLOW"}, {"name": "", "action": "SCMP_ACT_ALLOW"},
      {"name": "", "names": ["read"], "action": "SCMP_ACT_ALLOW"})j"));
  EXPECT_EQ(decided(import, 0), kAllow);
  EXPECT_EQ(import.skipped, (std::vector<std::string>{
                                "the entry at line 1 (syscalls[0]): it names no system call",
                                "the entry at line 1 (syscalls[1]): it names no system call"}));
}

TEST(Oci, FindsProfilesWithinOtherObjects) {
  const std::string inner = profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW"})j");
  EXPECT_EQ(decided(imported(R"j({"linux": {"seccomp": )j" + inner + "}}"), 0), kAllow);
  EXPECT_EQ(decided(imported(R"j({"kind": "SeccompProfile", "spec": )j" + inner + "}"), 0), kAllow);
  const std::pair<const char*, const char*> cases[] = {
      {R"j({"linux": {}})j", "oci:1#/: expected a seccomp profile at /linux/seccomp, found none"},
      {R"j({"linux": 1})j", "expected a seccomp profile at /linux/seccomp, found none"},
      {R"j({"linux": {"seccomp": null}})j", "oci:1#/linux/seccomp: expected a seccomp profile"},
      {R"j({"spec": {"baseProfileName": "runc", "defaultAction": "SCMP_ACT_ALLOW"}})j",
       "oci:1#/spec/baseProfileName: expected a complete profile"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"], "archMap": [{}]})j",
       "oci:1#/archMap: expected only one of 'architectures' and 'archMap'"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"name": "read", "names": ["write"], "action": "SCMP_ACT_LOG"}]})j",
       "oci:1#/syscalls/0: expected only one of 'name' and 'names'"}};
  for (const auto& [text, message] : cases) {
    const auto result = import_oci(text, "oci", {});
    ASSERT_FALSE(result) << text;
    EXPECT_NE(result.error().text().find(message), std::string::npos) << result.error().text();
  }
}

TEST(Oci, EntriesWithTheDefaultActionAreSkipped) {
  const OciImport import = imported(profile(
      R"j({"names": ["read"], "action": "SCMP_ACT_ERRNO"}, {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
    {"names": ["open"], "action": "SCMP_ACT_ERRNO", "errnoRet": 2})j"));
  EXPECT_EQ(decided(import, 0), kAllow) << "runc ignores an entry with the default action";
  EXPECT_EQ(decided(import, 1), kAllow);
  EXPECT_EQ(decided(import, 2), SECCOMP_RET_ERRNO | 2) << "another errno is another action";
}

TEST(Oci, FiltersEntriesByArchitecture) {
  const std::string entries =
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["amd64", "x32"]}},
    {"names": ["write"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["s390x"]}},
    {"names": ["open"], "action": "SCMP_ACT_ALLOW", "excludes": {"arches": ["amd64"]}},
    {"names": ["close"], "action": "SCMP_ACT_ALLOW", "excludes": {"arches": ["s390x"]}, "includes": {}},
    {"names": ["stat"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": null}, "excludes": null})j";
  const OciImport import = imported(profile(entries));
  EXPECT_EQ(decided(import, 0), kAllow);
  EXPECT_EQ(decided(import, 1), kEperm);
  EXPECT_EQ(decided(import, 2), kEperm);
  EXPECT_EQ(decided(import, 3), kAllow);
  EXPECT_EQ(decided(import, 4), kAllow);
}

// Docker and Podman compare the exact names. No runtime calls an architecture "386" or "x86_64".
TEST(Oci, UsesTheRuntimesArchitectureNames) {
  const std::pair<Arch, const char*> cases[] = {
      {Arch::kX86_64, "amd64"},    {Arch::kI386, "x86"},     {Arch::kAarch64, "arm64"},
      {Arch::kArm, "arm"},         {Arch::kS390x, "s390x"},  {Arch::kRiscv64, "riscv64"},
      {Arch::kPpc64le, "ppc64le"}, {Arch::kMips64, "mips64"}};
  for (const auto& [arch, known] : cases) {
    OciOptions options;
    options.arch = arch;
    for (const std::string name :
         {known, "x86_64", "386", "i386", "i686", "aarch64", "AMD64", "ppc64el", "SCMP_ARCH_X86_64",
          "SCMP_ARCH_X86", "SCMP_ARCH_AARCH64", "x32", "loong64", "mipsel64"}) {
      const OciImport import = imported(
          R"j({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"],
            "action": "SCMP_ACT_ALLOW", "includes": {"arches": [")j" +
              name + R"j("]}}, {"names": ["write"], "action": "SCMP_ACT_ALLOW",
            "excludes": {"arches": [")j" +
              name + "\"]}}]}",
          options);
      const auto allows = [&](const char* nr) {
        return decide(import.policy, call(arch, *syscall_nr(arch, nr))) == kAllow;
      };
      EXPECT_EQ(allows("read"), name == known) << name;
      EXPECT_EQ(allows("write"), name != known) << name;
    }
  }
  const OciImport import = imported(profile(
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["x86_64", "amd64"]}},
    {"names": ["write"], "action": "SCMP_ACT_ALLOW", "excludes": {"arches": ["riscv6"]}})j"));
  EXPECT_EQ(texts(import.unknown),
            (std::vector<std::string>{
                "oci:1 (syscalls[0].includes.arches[0]): unknown architecture 'x86_64'; runtimes "
                "expect the name amd64 here",
                "oci:2 (syscalls[1].excludes.arches[0]): unknown architecture 'riscv6'; did you "
                "mean riscv64?"}));
}

TEST(Oci, FiltersEntriesByCapability) {
  const std::string text = profile(
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_A", "CAP_B"]}},
    {"names": ["write"], "action": "SCMP_ACT_ALLOW", "excludes": {"caps": ["CAP_A", "CAP_B"]}})j");
  const auto with = [&](std::vector<std::string> caps) {
    OciOptions options;
    options.capabilities = std::move(caps);
    const OciImport import = imported(text, options);
    return std::pair(decided(import, 0) == kAllow, decided(import, 1) == kAllow);
  };
  EXPECT_EQ(with({}), std::pair(false, true));
  EXPECT_EQ(with({"CAP_A"}), std::pair(false, false))
      << "includes needs all capabilities, excludes one";
  EXPECT_EQ(with({"CAP_B", "CAP_C", "CAP_A"}), std::pair(true, false));
}

TEST(Oci, FiltersEntriesByKernelVersion) {
  const std::string text =
      profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "4.8"}},
    {"names": ["write"], "action": "SCMP_ACT_ALLOW", "excludes": {"minKernel": "4.8"}},
    {"names": ["open"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": ""}})j");
  const auto on = [&](const char* kernel) {
    OciOptions options;
    options.kernel = kernel;
    const OciImport import = imported(text, options);
    EXPECT_EQ(decided(import, 2), kAllow);
    return std::pair(decided(import, 0) == kAllow, decided(import, 1) == kAllow);
  };
  EXPECT_EQ(on("4.8"), std::pair(true, false));
  EXPECT_EQ(on("4.7.99"), std::pair(false, true));
  EXPECT_EQ(on("4.10"), std::pair(true, false)) << "versions are compared as numbers";
  EXPECT_EQ(on("3.18"), std::pair(false, true));
  EXPECT_EQ(on("6.1.0-13-amd64"), std::pair(true, false));
}

TEST(Oci, AddsSubArchitecturesOfTheHost) {
  const std::string text = R"j({"defaultAction": "SCMP_ACT_ERRNO", "archMap": [
    {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
    {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
    {"architecture": "SCMP_ARCH_S390X", "subArchitectures": null}, {"architecture": "SCMP_ARCH_PPC64LE"}],
    "syscalls": [{"names": ["read", "open"], "action": "SCMP_ACT_ALLOW"}]})j";
  const OciImport here = imported(text);
  EXPECT_EQ(here.policy.arches, (std::vector{Arch::kX86_64, Arch::kI386, Arch::kX32}));
  EXPECT_EQ(here.policy.x32_action, std::nullopt);
  EXPECT_EQ(decide(here.policy, call(Arch::kX86_64, 0)), kAllow);
  EXPECT_EQ(decide(here.policy, call(Arch::kI386, 3)), kAllow);
  EXPECT_EQ(decide(here.policy, call(Arch::kX32, kX32Bit)), kAllow);
  EXPECT_EQ(decide(here.policy, call(Arch::kArm, 3)), SECCOMP_RET_KILL_THREAD);
  OciOptions arm;
  arm.arch = Arch::kAarch64;
  const OciImport there = imported(text, arm);
  EXPECT_EQ(there.policy.arches, (std::vector{Arch::kAarch64, Arch::kArm}));
  EXPECT_EQ(there.policy.x32_action, std::nullopt);
  EXPECT_EQ(decide(there.policy, call(Arch::kAarch64, 63)), kAllow);
  EXPECT_EQ(decide(there.policy, call(Arch::kArm, 5)), kAllow) << "aarch64 itself has no open";
  EXPECT_TRUE(there.skipped.empty());
  OciOptions s390x;
  s390x.arch = Arch::kS390x;
  EXPECT_EQ(imported(text, s390x).policy.arches, (std::vector{Arch::kS390x}));
}

// Each unknown key may be meant as a condition. Without it, the entry matches more calls.
TEST(Oci, ReportsUnknownKeys) {
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO", "architecturez": [], "$comment": 1, "archMap":
      [{"architecture": "SCMP_ARCH_X86_64", "subArchitecture": null}], "syscalls": [
      {"names": ["write"], "action": "SCMP_ACT_ERRNO"},
      {"names": ["read"], "action": "SCMP_ACT_ALLOW", "arg": [], "include": {},
       "includes": {"cap": ["CAP_KILL"]}, "excludes": {"caps": ["CAP_SYS_ADMN", "CAP_BPF"]},
       "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ", "value2": 1}]}]})j");
  EXPECT_TRUE(import.skipped.empty());
  EXPECT_EQ(
      texts(import.unknown),
      (std::vector<std::string>{
          "oci:1 ($comment): unknown key '$comment', which runtimes ignore; did you mean comment?",
          "oci:1 (architecturez): unknown key 'architecturez', which runtimes ignore; did you mean "
          "architectures?",
          "oci:2 (archMap[0].subArchitecture): unknown key 'subArchitecture', which runtimes "
          "ignore; did you mean subArchitectures?",
          "oci:4 (syscalls[1].arg): unknown key 'arg', which runtimes ignore; did you mean args?",
          "oci:4 (syscalls[1].include): unknown key 'include', which runtimes ignore; did you mean "
          "includes?",
          "oci:5 (syscalls[1].excludes.caps[0]): unknown capability 'CAP_SYS_ADMN'; did you mean "
          "CAP_SYS_ADMIN?",
          "oci:5 (syscalls[1].includes.cap): unknown key 'cap', which runtimes ignore; did you "
          "mean caps?",
          "oci:6 (syscalls[1].args[0].value2): unknown key 'value2', which runtimes ignore; did "
          "you mean value?"}));
}

// Go's encoding/json, and so runc, accepts these keys.
TEST(Oci, RefusesKeysInAnotherCase) {
  const std::pair<std::string, const char*> cases[] = {
      {R"j({"defaultAction": "SCMP_ACT_ERRNO", "Syscalls": []})j", "oci:1#/Syscalls"},
      {R"j({"DEFAULTACTION": "SCMP_ACT_ERRNO"})j", "oci:1#/DEFAULTACTION"},
      {"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"\u017fyscalls\": []}", "the key 'syscalls'"},
      {profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "Args": []})j"),
       "oci:1#/syscalls/0/Args: expected the key 'args' in this spelling; runtimes ignore the case "
       "of keys"},
      {profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "Includes": {}})j"),
       "oci:1#/syscalls/0/Includes"},
      {profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "excludes": {"Caps": []}})j"),
       "oci:1#/syscalls/0/excludes/Caps"},
      {profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW",
        "args": [{"index": 0, "value": 1, "valuetwo": 1, "op": "SCMP_CMP_EQ"}]})j"),
       "oci:2#/syscalls/0/args/0/valuetwo"},
      {R"j({"defaultAction": "SCMP_ACT_ERRNO", "archMap": [{"Architecture": "SCMP_ARCH_X86_64"}]})j",
       "oci:1#/archMap/0/Architecture"},
      {R"j({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ERRNO"}, "Seccomp": {}}})j",
       "oci:1#/linux/Seccomp"}};
  for (const auto& [text, message] : cases) {
    const auto result = import_oci(text, "oci", {});
    ASSERT_FALSE(result) << text;
    EXPECT_NE(result.error().text().find(message), std::string::npos) << result.error().text();
  }
}

TEST(Oci, AMisspeltDefaultActionIsStillAProfile) {
  const auto result = import_policy(R"j({"defaultActio": "SCMP_ACT_ERRNO", "syscalls": []})j",
                                    "oci", std::nullopt, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().text(),
      "oci:1#/: the key 'defaultAction' is missing; found an unknown key 'defaultActio', which "
      "runtimes ignore; did you mean defaultAction?");
}

TEST(Oci, NullIsAbsent) {
  EXPECT_TRUE(imported(R"j({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": null})j")
                  .policy.rule_sets.empty());
  const OciImport import = imported(profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW",
    "args": [{"index": 0, "value": 6, "valueTwo": null, "op": "SCMP_CMP_MASKED_EQ"}]})j"));
  EXPECT_EQ(decided(import, 0, {9}), kAllow);
  EXPECT_EQ(decided(import, 0, {2}), kEperm);
}

TEST(Oci, KnowsEveryKeyOfTheSpecification) {
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "defaultErrno": "ENOSYS",
      "architectures": null, "archMap": null, "flags": ["SECCOMP_FILTER_FLAG_LOG"], "comment": "c",
      "listenerPath": "/run/x", "listenerMetadata": "m", "syscalls": [
      {"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "errno": "EPERM", "args": null,
       "comment": "c", "includes": null, "excludes": {"arches": null, "minKernel": "4.8"}}]})j");
  EXPECT_TRUE(import.unknown.empty());
}

TEST(Oci, FindsTheProfileInConfigJson) {
  const std::string inner = profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW"})j");
  const OciImport import =
      imported(R"j({"ociVersion": "1.0.2", "process": {"args": ["sh"]}, "linux": {"seccomp": )j" +
               inner + "}}");
  EXPECT_EQ(decided(import, 0), kAllow);
  const auto bad =
      import_oci(R"j({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_PERMIT"}}})j", "oci", {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where, "oci:1#/linux/seccomp/defaultAction");
}

TEST(Oci, ErrorsNameTheJsonPointer) {
  const auto entry = [](const std::string& rest) {
    return profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", )j" + rest + "}");
  };
  const auto arg = [&](const std::string& text) { return entry("\"args\": [" + text + "]"); };
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "oci:1#/: expected a seccomp profile (an object), found []"},
      {"{}", "oci:1#/: the key 'defaultAction' is missing"},
      {R"j({"defaultAction": 5})j",
       "oci:1#/defaultAction: expected an action (SCMP_ACT_...), found 5"},
      {R"j({"defaultAction": "allow"})j",
       "oci:1#/defaultAction: expected an action (SCMP_ACT_...), found \"allow\""},
      {R"j({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 4294967296})j",
       "oci:1#/defaultErrnoRet: expected an errno below 2^32, found 4294967296"},
      {R"j({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": "EPERM"})j",
       "oci:1#/defaultErrnoRet: expected an errno below 2^32, found \"EPERM\""},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "architectures": [1]})j",
       "oci:1#/architectures/0: expected an architecture (SCMP_ARCH_...), found 1"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "archMap": {}})j",
       "oci:1#/archMap: expected an array of architecture entries, found {}"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "archMap": [{}]})j",
       "oci:1#/archMap/0: the key 'architecture' is missing"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": {}})j",
       "oci:1#/syscalls: expected an array of system call entries, found {}"},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "architectures": "SCMP_ARCH_X86"})j",
       "oci:1#/architectures: expected an array of architectures, found \"SCMP_ARCH_X86\""},
      {R"j({"defaultAction": "SCMP_ACT_ALLOW", "archMap": [1]})j",
       "oci:1#/archMap/0: expected an architecture entry (an object), found 1"},
      {entry(R"j("includes": ["CAP_KILL"])j"),
       "oci:1#/syscalls/0/includes: expected an object of arches, caps, minKernel, found "
       "[\"CAP_KILL\"]"},
      {entry(R"j("args": {})j"),
       "oci:1#/syscalls/0/args: expected an array of conditions, found {}"},
      {arg("1"), "oci:1#/syscalls/0/args/0: expected a condition (an object), found 1"},
      {profile("1"), "oci:1#/syscalls/0: expected a system call entry (an object), found 1"},
      {profile(R"j({"action": "SCMP_ACT_ALLOW"})j"),
       "oci:1#/syscalls/0: the entry names no system call"},
      {profile(R"j({"names": ["read"]})j"), "oci:1#/syscalls/0: the key 'action' is missing"},
      {profile(R"j({"names": "read", "action": "SCMP_ACT_ALLOW"})j"),
       "oci:1#/syscalls/0/names: expected an array of strings, found \"read\""},
      {profile(R"j({"names": [1], "action": "SCMP_ACT_ALLOW"})j"),
       "oci:1#/syscalls/0/names/0: expected a string, found 1"},
      {entry(R"j("includes": {"minKernel": "new"})j"),
       "oci:1#/syscalls/0/includes/minKernel: expected a kernel version like \"4.8\", found "
       "\"new\""},
      {entry(R"j("excludes": {"caps": "CAP_A"})j"),
       "oci:1#/syscalls/0/excludes/caps: expected an array of strings, found \"CAP_A\""},
      {entry(R"j("args": {"index": 0})j"),
       "oci:1#/syscalls/0/args: expected an array of conditions, found {\"index\":0}"},
      {arg(R"j({"value": 0, "op": "SCMP_CMP_EQ"})j"),
       "oci:1#/syscalls/0/args/0: the key 'index' is missing"},
      {arg(R"j({"index": 6, "value": 0, "op": "SCMP_CMP_EQ"})j"),
       "oci:1#/syscalls/0/args/0/index: expected an argument index from 0 to 5, found 6"},
      {arg(R"j({"index": 0, "value": -1, "op": "SCMP_CMP_EQ"})j"),
       "oci:1#/syscalls/0/args/0/value: expected a number from 0 to 2^64-1, found -1"},
      {arg(R"j({"index": 0, "value": 1, "valueTwo": 0.5, "op": "SCMP_CMP_EQ"})j"),
       "oci:1#/syscalls/0/args/0/valueTwo: expected a number from 0 to 2^64-1, found 0.5"},
      {arg(R"j({"index": 0, "value": 1, "op": "=="})j"),
       "oci:1#/syscalls/0/args/0/op: expected an operator (SCMP_CMP_...), found \"==\""},
      {profile(R"j({"names": ["read"], "action": "SCMP_ACT_ALOW"})j"),
       "oci:1#/syscalls/0/action: expected an action (SCMP_ACT_...), found \"SCMP_ACT_ALOW\"; did "
       "you mean SCMP_ACT_ALLOW or SCMP_ACT_LOG?"},
  };
  for (const auto& [text, expected] : cases) {
    const auto result = import_oci(text, "oci", {});
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kPolicy);
    EXPECT_EQ(result.error().text(), expected) << text;
  }
  const auto syntax = import_oci("{", "oci", {});
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.error().code, ErrorCode::kParse);
  OciOptions options;
  options.kernel = "new";
  const auto usage = import_oci(entry(R"j("includes": {"minKernel": "4.8"})j"), "oci", options);
  ASSERT_FALSE(usage);
  EXPECT_EQ(usage.error().code, ErrorCode::kUsage);
}

// The imported corpus profiles must be valid policies: they can be written, read back and compiled.
TEST(Oci, ImportedCorpusProfilesReadBackAndCompile) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(SECEQUIV_SOURCE_DIR) / "corpus" / "policies" / "oci";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path());
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text) << text.error().text();
    const OciImport import = imported(*text);
    for (const std::string& note : import.skipped)
      EXPECT_TRUE(note.find("of other architectures: ") != std::string::npos ||
                  note.starts_with("architecture ") || note.ends_with("has no conditions"))
          << note;
    const Policy& policy = import.policy;
    EXPECT_GE(policy.arches.size(), 1u);
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0)), kAllow) << "every container may read";
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0x3fffffff)), policy.default_action);
    const auto back = read_policy(write_policy(policy), "written");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(compile(policy), compile(*back));
    EXPECT_FALSE(refusal_of(compile(policy), LengthRule::kUnlimited));
  }
}

}  // namespace
}  // namespace secequiv::import_import_oci_test
