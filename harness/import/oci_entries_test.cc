#include "harness/import/oci_entries.h"

#include "harness/import/oci_testing.h"

namespace secequiv::import_oci_entries_test {
namespace {

using namespace oci_testing;  // NOLINT(google-build-using-namespace)

TEST(OciEntries, EntriesOfOneCallAreAlternatives) {
  const std::string one =
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]})j";
  const std::string two =
      R"j({"names": ["read", "write"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]})j";
  OciImport import = imported(profile(one + "," + two));
  EXPECT_EQ(import.policy.rule_sets.size(), 1u);
  EXPECT_EQ(decided(import, 0, {1}), kAllow);
  EXPECT_EQ(decided(import, 0, {2}), kAllow);
  EXPECT_EQ(decided(import, 0, {3}), kEperm);
  EXPECT_EQ(decided(import, 1, {1}), kEperm);
  import = imported(
      profile(one + R"j(, {"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": null})j"));
  EXPECT_EQ(decided(import, 0, {3}), kAllow) << "an entry without conditions matches everything";
}

// cli/tests compare this behaviour with the output of libseccomp.
TEST(OciEntries, EntryWithoutConditionsReplacesAllOthersOfTheCall) {
  const std::string some =
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]})j";
  const std::string log = R"j({"names": ["read", "write"], "action": "SCMP_ACT_LOG", "args": []})j";
  const std::string trap = R"j({"names": ["read"], "action": "SCMP_ACT_TRAP"})j";
  for (const std::string& entries : {some + "," + log, log + "," + some, log + "," + trap,
                                     some + "," + log + "," + trap + "," + some}) {
    const OciImport import = imported(profile(entries));
    EXPECT_EQ(decided(import, 0, {1}), SECCOMP_RET_LOG) << entries;
    EXPECT_EQ(decided(import, 0, {3}), SECCOMP_RET_LOG) << entries;
    EXPECT_EQ(decided(import, 1), SECCOMP_RET_LOG) << entries;
    ASSERT_FALSE(import.skipped.empty());
    EXPECT_NE(import.skipped[0].find("read at line 1 (syscalls["), std::string::npos)
        << import.skipped[0];
    EXPECT_TRUE(import.unclear.empty());
  }
}

TEST(OciEntries, ListsTheEntriesOfCallsWithDifferentActions) {
  const auto entry = [](const std::string& name, const std::string& action, int value) {
    return R"j({"names": [")j" + name + R"j("], "action": ")j" + action +
           R"j(", "args": [{"index": 0, "value": )j" + std::to_string(value) +
           R"j(, "op": "SCMP_CMP_EQ"}]})j";
  };
  const OciImport import = imported(
      profile(entry("read", "SCMP_ACT_ALLOW", 1) + ",\n" + entry("write", "SCMP_ACT_ALLOW", 1) +
              ",\n" + entry("read", "SCMP_ACT_LOG", 2) + ",\n" +
              entry("read", "SCMP_ACT_ALLOW", 3) + ",\n" + entry("write", "SCMP_ACT_ALLOW", 2)));
  ASSERT_EQ(import.mixed.size(), 1u);
  MixedCall mixed = import.mixed[0];
  ASSERT_EQ(mixed.entries.size(), 3u);
  EXPECT_EQ(mixed.entries[1].action, SECCOMP_RET_LOG);
  EXPECT_EQ(mixed.matching().size(), 3u);
  mixed.input = call(Arch::kX86_64, 0, {2});
  ASSERT_EQ(mixed.matching().size(), 1u);
  EXPECT_EQ(mixed.matching()[0].line, 3u);
  EXPECT_NE(mixed.text().find("read on x86_64: libseccomp chooses one"), std::string::npos);
  // An entry that always holds decides alone.
  EXPECT_TRUE(imported(profile(entry("read", "SCMP_ACT_LOG", 1) +
                               R"j(, {"names": ["read"], "action": "SCMP_ACT_ALLOW"})j"))
                  .mixed.empty());
}

// Returns the action for socketcall on i386. `entries` are for a list of allowed calls.
std::uint32_t socketcall(const std::string& entries, std::initializer_list<std::uint64_t> args,
                         const std::string& arch = "SCMP_ARCH_X86") {
  const OciImport import =
      imported(R"j({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", ")j" +
               arch + R"j("], "syscalls": [)j" + entries + "]}");
  EXPECT_TRUE(import.unclear.empty());
  EXPECT_TRUE(import.idle.empty() || entries.find("socketcall") != std::string::npos);
  return decide(import.policy, call(Arch::kI386, *syscall_nr(Arch::kI386, "socketcall"), args));
}

TEST(OciEntries, SocketsAreAlsoOperationsOfSocketcall) {
  const std::string socket =
      R"j({"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [
          {"index": 0, "value": 38, "op": "SCMP_CMP_LT"}, {"index": 2, "value": 5, "op": "SCMP_CMP_EQ"}]})j";
  // The operation replaces the test of the first argument.
  EXPECT_EQ(socketcall(socket, {1, 0, 5}), kAllow);
  EXPECT_EQ(socketcall(socket, {1, 0, 6}), kEperm);
  EXPECT_EQ(socketcall(socket, {2, 0, 5}), kEperm);
  const std::string either =
      R"j({"names": ["bind"], "action": "SCMP_ACT_ALLOW", "args": [
          {"index": 1, "value": 7, "op": "SCMP_CMP_EQ"}, {"index": 1, "value": 8, "op": "SCMP_CMP_EQ"}]})j";
  EXPECT_EQ(socketcall(either, {2, 8}), kAllow);
  EXPECT_EQ(socketcall(either, {2, 9}), kEperm);
  // i386 has no call recv.
  EXPECT_EQ(socketcall(R"j({"names": ["recv"], "action": "SCMP_ACT_ALLOW"})j", {10}), kAllow);
  EXPECT_EQ(socketcall(R"j({"names": ["shmat"], "action": "SCMP_ACT_ALLOW"})j", {21}), kEperm);
}

TEST(OciEntries, OnlyAnEntryWithAnotherActionThanTheDefaultReplacesTheseRules) {
  const std::string socket = R"j({"names": ["socket"], "action": "SCMP_ACT_ALLOW"})j";
  for (const bool first : {false, true}) {
    const auto with = [&](const std::string& entry) {
      return socketcall(first ? entry + "," + socket : socket + "," + entry, {1});
    };
    EXPECT_EQ(with(R"j({"names": ["socketcall"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1})j"),
              kAllow);
    EXPECT_EQ(with(R"j({"names": ["socketcall"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})j"),
              SECCOMP_RET_ERRNO | 38);
  }
}

TEST(OciEntries, OperationsAreComparedAsAWholeOn64Bits) {
  OciOptions options;
  options.arch = Arch::kS390x;
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["shmat"], "action": "SCMP_ACT_ALLOW"}]})j",
      options);
  const auto ipc = [&](std::uint64_t operation) {
    return decide(import.policy, call(Arch::kS390x, *syscall_nr(Arch::kS390x, "ipc"), {operation}));
  };
  EXPECT_EQ(ipc(21), kAllow);
  EXPECT_EQ(ipc(22), kEperm);
  EXPECT_EQ(ipc(0x100000015), kEperm);
}

// libseccomp compares the low half of an argument on 32-bit ABIs, and both halves on others.
TEST(OciEntries, ComparesLowHalvesOn32BitAbis) {
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
    "syscalls": [{"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 4294967295, "op": "SCMP_CMP_EQ"}]}]})j");
  const auto on = [&](Arch arch, std::uint64_t value) {
    return decide(import.policy, call(arch, *syscall_nr(arch, "personality"), {value})) == kAllow;
  };
  for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kX32}) {
    EXPECT_TRUE(on(arch, 0xffffffff));
    EXPECT_EQ(on(arch, 0xffffffffffffffff), arch != Arch::kX86_64);
    EXPECT_FALSE(on(arch, 0xfffffffe));
  }
}

TEST(OciEntries, NotesArchitecturesThatOurTablesLack) {
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_MIPSEL"],
    "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]})j");
  EXPECT_EQ(import.skipped,
            std::vector<std::string>{"architecture SCMP_ARCH_MIPSEL: secequiv does not know it"});
  EXPECT_TRUE(import.unknown.empty());
  EXPECT_EQ(decided(import, 0), kAllow);
}

TEST(OciEntries, ReportsNamesThatNoArchitectureHas) {
  const OciImport import = imported(profile(
      R"j({"names": ["read", "keyctll",
           "riscv_hwprobe", "s390_sthyi", "riscv_hwprobe"], "action": "SCMP_ACT_ALLOW"},
          {"names": ["not_yet_invented"], "action": "SCMP_ACT_ALLOW"})j"));
  ASSERT_EQ(import.unknown.size(), 2u);
  EXPECT_EQ(import.unknown[0].text(),
            "oci:1 (syscalls[0]): no architecture has a system call 'keyctll'; did you mean "
            "keyctl?");
  EXPECT_EQ(import.unknown[1].text(),
            "oci:3 (syscalls[1]): no architecture has a system call 'not_yet_invented'");
  EXPECT_EQ(
      import.skipped,
      std::vector<std::string>{"2 system calls of other architectures: riscv_hwprobe, s390_sthyi"})
      << "one line lists all names once";
}

// A misspelled name is a mistake on every host and in every container.
TEST(OciEntries, ReportsUnknownNamesInPartsThatAreLeftOut) {
  const OciImport import = imported(
      R"j({"defaultAction": "SCMP_ACT_ERRNO",
    "archMap": [{"architecture": "SCMP_ARCH_X86_46", "subArchitectures": ["SCMP_ARCH_X33"]},
                {"architecture": "SCMP_ARCH_PARISC", "subArchitectures": []}],
    "syscalls": [{"names": ["keyctll", "read"], "action": "SCMP_ACT_ALLOW",
                  "includes": {"caps": ["CAP_SYS_ADMIN"]}},
                 {"names": ["mountt"], "action": "SCMP_ACT_ERRNO"}]})j");
  EXPECT_EQ(texts(import.unknown),
            (std::vector<std::string>{
                "oci:2 (archMap[0].architecture): unknown architecture 'SCMP_ARCH_X86_46'; did you "
                "mean SCMP_ARCH_X86_64?",
                "oci:2 (archMap[0].subArchitectures[0]): unknown architecture 'SCMP_ARCH_X33'; did "
                "you mean SCMP_ARCH_X32 or SCMP_ARCH_X86?",
                "oci:4 (syscalls[0], includes CAP_SYS_ADMIN): no architecture has a system call "
                "'keyctll'; did you mean keyctl?",
                "oci:6 (syscalls[1]): no architecture has a system call 'mountt'; did you mean "
                "mount or umount2?"}));
  EXPECT_EQ(decided(import, 0), kEperm);
}

}  // namespace
}  // namespace secequiv::import_oci_entries_test
