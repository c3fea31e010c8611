#include "analyze/doors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/file.h"
#include "harness/base/random.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::analyze_doors_test {
namespace {

using Cause = DoorFinding::Cause;

// A policy for `arches` with one rule set; every other call gets the default action.
std::string policy_text(std::string_view arches, std::string_view fallback, std::string_view action,
                        std::string_view rules, std::string_view more = "") {
  return fmt::format(R"j({{"version": 1, "arches": [{}], "default_action": "{}", {}
      "bad_arch_action": "kill_process", "rule_sets": [{{"action": "{}", "rules": {{{}}}}}]}})j",
                     arches, fallback, more, action, rules);
}

constexpr std::string_view kX86_64 = R"("x86_64")";
constexpr std::string_view kNoX32 = R"("x32_action": "kill_process", )";

// Returns a filter of x86_64 that refuses these calls and allows all others, but none of x32.
Program refusing(std::string_view rules) {
  return compile(policy_from(policy_text(kX86_64, "allow", "errno(1)", rules, kNoX32)));
}
// Returns a filter of x86_64 that allows these calls and refuses all others.
Program allowing(std::string_view rules) {
  return compile(policy_from(policy_text(kX86_64, "errno(1)", "allow", rules, kNoX32)));
}

struct DoorsJob {
  Stack stack;
  Arch host = Arch::kX86_64;
  dd::Limits limits = {};
};

Result<std::vector<DoorFinding>> doors_by(const DoorsJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  return doors(space, space.decisions(programs, Sameness::kBehaviour), job.stack, job.host);
}

std::vector<DoorFinding> doors_of_stack(std::vector<Program> programs, Arch host = Arch::kX86_64) {
  DoorsJob job;
  job.stack.name = "test";
  for (Program& program : programs) {
    Source& source = job.stack.filters.emplace_back();
    source.program = std::move(program);
  }
  job.host = host;
  auto found = doors_by(job);
  if (found) return std::move(*found);
  ADD_FAILURE() << found.error().text();
  return {};
}
std::vector<DoorFinding> doors_of(Program program, Arch host = Arch::kX86_64) {
  return doors_of_stack({std::move(program)}, host);
}

// Returns "unshare -> clone3, unshare -> clone" for all doors.
std::string listed(const std::vector<DoorFinding>& findings) {
  std::string out;
  for (const DoorFinding& finding : findings)
    for (const OpenDoor& open : finding.open)
      out += fmt::format("{}{} -> {} {}{}", out.empty() ? "" : ", ", open.call,
                         arch_info(finding.arch).name, open.door, finding.certain ? "" : "?");
  return out;
}

std::string doors_text(const Program& program) { return listed(doors_of(program)); }

TEST(Doors, AListOfAllowedCallsHasNone) {
  EXPECT_EQ(doors_text(allowing(R"("read": true, "openat": true, "clone3": true)")), "");
}

TEST(Doors, AFilterThatRefusesNothingHasNone) {
  EXPECT_EQ(doors_text(Program{{kRetK, 0, 0, SECCOMP_RET_ALLOW}}), "");
  EXPECT_EQ(doors_text(Program{{kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS}}), "");
}

TEST(Doors, UnshareIsRefusedAndCloneDoesTheSame) {
  const auto found = doors_of(refusing(R"("unshare": true)"));
  EXPECT_EQ(listed(found), "unshare -> x86_64 clone, unshare -> x86_64 clone3");
  ASSERT_EQ(found.size(), 1u);
  const OpenDoor& clone = found[0].open[0];
  EXPECT_EQ(clone.allowed.field(0, Endian::kLittle),
            *constant_value(Arch::kX86_64, "CLONE_NEWUSER"));
}

std::string without_flags(std::string_view call, std::string_view flags) {
  return fmt::format(R"("{}": {{"args": {{"0": {{"masked_eq": {{"mask": "{}", "value": 0}}}}}}}})",
                     call, flags);
}

constexpr std::string_view kNamespaces =
    "CLONE_NEWNS|CLONE_NEWUTS|CLONE_NEWIPC|CLONE_NEWUSER|CLONE_NEWPID|CLONE_NEWNET|CLONE_NEWCGROUP";

// Docker's way to refuse new namespaces.
TEST(Doors, CloneWithoutNamespacesNeedsClone3Refused) {
  const std::string clone = without_flags("clone", kNamespaces);
  EXPECT_EQ(doors_text(allowing(clone)), "");
  EXPECT_EQ(doors_text(allowing(clone + R"(, "clone3": true)")), "clone -> x86_64 clone3");
  EXPECT_EQ(doors_text(allowing(clone + R"(, "unshare": true)")), "clone -> x86_64 unshare");
  EXPECT_EQ(doors_text(allowing(clone + R"(, "unshare": {"args": {"0": {"eq": "CLONE_FILES"}}})")),
            "");
}

// All calls that can make a namespace, in a list of refused calls.
TEST(Doors, NamespacesThatNoCallMakes) {
  const Policy policy = policy_from(fmt::format(
      R"j({{"version": 1, "arches": ["x86_64"], "default_action": "allow", {}
          "bad_arch_action": "kill_process", "rule_sets": [{{"action": "allow", "rules": {{{}}}}},
          {{"action": "errno(1)", "rules": {{"unshare": true, "clone": true}}}},
          {{"action": "errno(ENOSYS)", "rules": {{"clone3": true}}}}]}})j",
      kNoX32, without_flags("clone", kNamespaces)));
  EXPECT_EQ(doors_text(compile(policy)), "");
}

// A filter that allows only threads has nothing to do with namespaces; unshare(CLONE_FILES) creates
// none.
TEST(Doors, OnlyTheFlagThatDecidesCounts) {
  const std::string_view threads =
      R"("clone": {"args": {"0": {"masked_eq": {"mask": "CLONE_THREAD", "value": "CLONE_THREAD"}}}})";
  EXPECT_EQ(doors_text(allowing(fmt::format(R"({}, "unshare": true)", threads))), "");
  EXPECT_EQ(doors_text(allowing(fmt::format(R"({}, "vfork": true)", threads))),
            "clone -> x86_64 vfork");
}

TEST(Doors, CallsWithArgumentsInMemoryAreRefusedForThat) {
  EXPECT_EQ(doors_text(refusing(R"("clone3": true)")), "") << "programs fall back to clone";
  EXPECT_EQ(doors_text(refusing(R"("openat2": true)")), "openat2 -> x86_64 io_uring_setup?");
}

TEST(Doors, OpenWithFlagsIsOpenAtAnotherPosition) {
  const std::string reading = R"({"args": {"1": {"masked_eq": {"mask": 3, "value": 0}}}})";
  const std::string reading_at = R"({"args": {"2": {"masked_eq": {"mask": 3, "value": 0}}}})";
  const std::string open = R"("open": )" + reading;
  EXPECT_EQ(doors_text(allowing(open + R"(, "openat": )" + reading_at)), "");
  EXPECT_EQ(doors_text(allowing(open + R"(, "openat2": true)")), "open -> x86_64 openat2");
  const auto found = doors_of(allowing(open + R"(, "openat": true)"));
  EXPECT_EQ(listed(found), "open -> x86_64 openat");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].open[0].refused.field(1, Endian::kLittle),
            found[0].open[0].allowed.field(2, Endian::kLittle));
  // creat opens for writing.
  EXPECT_EQ(doors_text(allowing(open + R"(, "creat": true)")), "open -> x86_64 creat");
  EXPECT_EQ(doors_text(allowing(
                R"("open": {"args": {"2": {"eq": 0}}}, "creat": {"args": {"1": {"eq": 0}}})")),
            "");
}

// Whoever lists values means them. A mask that differs may be a mistake.
TEST(Doors, ListedValuesAreMeant) {
  const auto both_calls = [](std::string_view open, std::string_view openat) {
    return doors_text(allowing(fmt::format(
        R"("open": {{"args": {{"1": {}}}}}, "openat": {{"args": {{"2": {}}}}})", open, openat)));
  };
  EXPECT_EQ(both_calls(R"({"eq": "O_RDONLY"})", R"({"eq": "O_RDWR"})"), "");
  EXPECT_EQ(both_calls(R"({"masked_eq": {"mask": 3, "value": 0}})",
                       R"({"masked_eq": {"mask": 1, "value": 0}})"),
            "open -> x86_64 openat");
}

// systemd's RestrictSUIDSGID forgot fchmodat2 until version 255.
TEST(Doors, FchmodatWithASetuidBitIsFchmodat2) {
  const std::string mode =
      R"({"args": {"2": {"masked_eq": {"mask": "S_ISUID", "value": "S_ISUID"}}}})";
  const std::string mode1 =
      R"({"args": {"1": {"masked_eq": {"mask": "S_ISUID", "value": "S_ISUID"}}}})";
  const std::string old =
      R"("fchmodat": )" + mode + R"(, "chmod": )" + mode1 + R"(, "fchmod": )" + mode1;
  EXPECT_EQ(doors_text(refusing(old)),
            "chmod -> x86_64 fchmodat2, fchmod -> x86_64 fchmodat2, fchmodat -> x86_64 fchmodat2");
  EXPECT_EQ(doors_text(refusing(old + R"(, "fchmodat2": )" + mode)), "");
}

TEST(Doors, MountIsRefusedAndTheNewerCallsAreNot) {
  const auto found = doors_of(refusing(R"("mount": true)"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].certain);
  EXPECT_EQ(found[0].open[0].door, "fsopen");
  EXPECT_FALSE(found[1].certain);
  EXPECT_EQ(found[1].open.size(), 4u);
  // Without move_mount, the others mount nothing.
  EXPECT_EQ(doors_text(refusing(R"("mount": true, "move_mount": true, "mount_setattr": true,
                                   "open_tree_attr": true, "fspick": true)")),
            "");
}

TEST(Doors, ExecutableMemory) {
  const std::string both = R"({"args": {"2": {"masked_eq": {"mask": 6, "value": 6}}}})";
  const std::string executable = R"({"args": {"2": {"masked_eq": {"mask": 4, "value": 4}}}})";
  const std::string mmap = R"("personality": true, "shmat": true, "mmap": )" + both;
  EXPECT_EQ(doors_text(refusing(mmap)), "mmap -> x86_64 mprotect");
  EXPECT_EQ(doors_text(refusing(mmap + R"(, "mprotect": )" + executable)),
            "mprotect -> x86_64 pkey_mprotect");
  EXPECT_EQ(doors_text(refusing(mmap + R"(, "mprotect": )" + executable + R"(, "pkey_mprotect": )" +
                                executable)),
            "");
}

TEST(Doors, PrctlThatRefusesOneOperation) {
  const std::string prctl = R"("prctl": {"args": {"0": {"eq": "PR_SET_SECCOMP"}}})";
  EXPECT_EQ(doors_text(refusing(prctl)), "prctl -> x86_64 seccomp");
  EXPECT_EQ(doors_text(refusing(prctl + R"(, "seccomp": true)")), "");
  // A list of operations refuses most others, too, and means nothing by it.
  EXPECT_EQ(
      doors_text(allowing(R"("prctl": {"args": {"0": {"eq": "PR_SET_NAME"}}}, "seccomp": true)")),
      "");
}

TEST(Doors, KillHasSiblings) {
  EXPECT_EQ(
      doors_text(refusing(R"("kill": true)")),
      "kill -> x86_64 rt_sigqueueinfo, kill -> x86_64 rt_tgsigqueueinfo, kill -> x86_64 tgkill, "
      "kill -> x86_64 tkill, kill -> x86_64 pidfd_send_signal?");
  EXPECT_EQ(doors_text(allowing(
                R"("kill": {"args": {"0": {"eq": 42}}}, "tgkill": {"args": {"0": {"eq": 42}}})")),
            "");
  EXPECT_EQ(doors_text(allowing(R"("kill": {"args": {"0": {"eq": 42}}}, "tgkill": true)")),
            "kill -> x86_64 tgkill");
}

TEST(Doors, IoUringNeedsBothCalls) {
  const std::string socket = R"("socket": {"args": {"0": {"eq": "AF_UNIX"}}})";
  const auto found =
      doors_of(allowing(socket + R"(, "io_uring_setup": true, "io_uring_enter": true)"));
  EXPECT_EQ(listed(found), "socket -> x86_64 io_uring_setup?");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, Cause::kIoUring);
  EXPECT_EQ(found[0].open[0].operation, "IORING_OP_SOCKET");
  EXPECT_EQ(doors_text(allowing(socket + R"(, "io_uring_setup": true)")), "");
}

// Lists of allowed calls narrow these to what a program uses.
TEST(Doors, ReadsAndWritesOfSomeDescriptorsAreNoFinding) {
  EXPECT_EQ(doors_text(allowing(R"("write": {"args": {"0": {"eq": 2}}}, "writev": true)")), "");
  EXPECT_EQ(doors_text(refusing(R"("write": {"args": {"0": {"eq": 2}}})")).substr(0, 25),
            "write -> x86_64 pwritev2,");
}

TEST(Doors, HighHalvesOfArgumentsAreNotExamined) {
  const std::string chmod = R"("chmod": {"args": {"1": {"eq": 511}}}, )";
  EXPECT_EQ(
      doors_text(allowing(
          chmod +
          R"("fchmodat": {"args": {"2": {"masked_eq": {"mask": "0xffffffff", "value": 511}}}})")),
      "");
}

// The filter allows open for one place in the code. That is no condition on what it opens.
TEST(Doors, AConditionOnTheInstructionPointerIsNoRefusal) {
  const std::string open = R"("open": {"args": {"ip": {"eq": 4096}}}, )";
  EXPECT_EQ(doors_text(allowing(open + R"("openat2": true)")), "");
}

TEST(Doors, CallsThatAlwaysUseOtherValuesAreNoDoors) {
  EXPECT_EQ(doors_text(refusing(R"("unlink": true, "io_uring_enter": true)")),
            "unlink -> x86_64 unlinkat")
      << "rmdir removes no files";
}

// Nothing is allowed on x86_64, so the filter is for programs of i386.
TEST(Doors, AFilterOfI386Alone) {
  const Program program =
      compile(policy_from(policy_text(R"("i386")", "allow", "errno(1)", R"("swapon": true)")));
  EXPECT_EQ(doors_text(program), "");
}

TEST(Doors, NeitherTraceNorUserNotifIsAllowed) {
  const Policy policy =
      policy_from(R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
      "bad_arch_action": "kill_process", "x32_action": "kill_process", "rule_sets": [
      {"action": "allow", "rules": {"open": {"args": {"1": {"eq": 0}}}}},
      {"action": "trace(1)", "rules": {"openat": true}},
      {"action": "user_notif", "rules": {"openat2": true}}]})j");
  EXPECT_EQ(doors_text(compile(policy)), "");
}

TEST(Doors, ACallThatLooksMissingSendsProgramsToTheOlderOne) {
  const auto text = [](std::string_view action) {
    return doors_text(compile(
        policy_from(policy_text(kX86_64, "allow", action, R"("faccessat2": true)", kNoX32))));
  };
  EXPECT_EQ(text("errno(ENOSYS)"), "");
  EXPECT_EQ(text("errno(EPERM)"), "faccessat2 -> x86_64 access, faccessat2 -> x86_64 faccessat");
}

// CVE-2009-0835 was the same mistake in the kernel's first seccomp mode.
TEST(Doors, AFilterOfX86_64ThatForgetsOtherNumbers) {
  const std::string rules =
      R"("ptrace": true, "process_vm_readv": true, "process_vm_writev": true, "pidfd_getfd": true)";
  const auto open = [&](std::string_view arch_action, std::string_view x32) {
    return doors_of(compile(policy_from(fmt::format(
        R"j({{"version": 1, "arches": ["x86_64"], "default_action": "allow", {}
            "bad_arch_action": "{}", "rule_sets": [{{"action": "errno(1)", "rules": {{{}}}}}]}})j",
        x32, arch_action, rules))));
  };
  EXPECT_EQ(listed(open("kill_process", kNoX32)), "");
  const auto x32 = open("kill_process", "");
  ASSERT_EQ(x32.size(), 1u);
  EXPECT_EQ(x32[0].cause, Cause::kOpenArch);
  EXPECT_EQ(x32[0].arch, Arch::kX32);
  EXPECT_EQ(x32[0].open.size(), 4u);
  EXPECT_EQ(x32[0].open[0].needs, "CONFIG_X86_X32_ABI");
  const auto i386 = open("allow", kNoX32);
  ASSERT_EQ(i386.size(), 1u);
  EXPECT_EQ(i386[0].cause, Cause::kOpenArch);
  EXPECT_EQ(i386[0].arch, Arch::kI386);
  EXPECT_EQ(i386[0].open[0].allowed.nr(), 26u);
}

// A list of allowed calls is not closed if i386 is open, whatever it lists.
TEST(Doors, AListWithAnotherArchitectureOpen) {
  const auto found = doors_of(compile(policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "x32_action": "kill_process",
          "bad_arch_action": "allow", "rule_sets": [{"action": "allow", "rules": {"read": true}}]})j")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, Cause::kOpenArch);
  EXPECT_GT(found[0].open.size(), 300u);
}

TEST(Doors, AFilterThatDoesNotTestTheArchitecture) {
  // Allows read, write and munmap of x86_64: munmap has the number of execve on i386.
  const Program program{{kLdWAbs, 0, 0, 0},
                        {kJeqK, 2, 0, 0},
                        {kJeqK, 1, 0, 11},
                        {kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS},
                        {kRetK, 0, 0, SECCOMP_RET_ALLOW}};
  const auto found = doors_of(program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, Cause::kUncheckedArch);
  EXPECT_EQ(listed(found), "execve -> i386 execve, restart_syscall -> i386 restart_syscall");
}

constexpr std::string_view kBoth = R"("x86_64", "i386")";

Program both(std::string_view fallback, std::string_view action, std::string_view rules) {
  return compile(policy_from(policy_text(kBoth, fallback, action, rules, kNoX32)));
}

// moby/moby#52494.
TEST(Doors, SocketsAndSocketcall) {
  const std::string socket = R"("socket": {"args": {"0": {"ne": "AF_ALG"}}})";
  EXPECT_EQ(doors_text(both("errno(1)", "allow", socket)), "");
  const auto found = doors_of(both("errno(1)", "allow", socket + R"(, "i386:socketcall": true)"));
  EXPECT_EQ(listed(found), "socket -> i386 socketcall");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, Cause::kMultiplexer);
  EXPECT_EQ(found[0].open[0].refused.arch(), AUDIT_ARCH_X86_64);
  EXPECT_EQ(found[0].open[0].allowed.field(0, Endian::kLittle), 1u);
  // socketcall for other operations only
  EXPECT_EQ(doors_text(both("errno(1)", "allow",
                            socket + R"(, "i386:socketcall": {"args": {"0": {"ne": 1}}})")),
            "");
}

TEST(Doors, IpcShowsItsArguments) {
  const std::string shmat =
      R"("shmat": {"args": {"2": {"masked_eq": {"mask": "SHM_EXEC", "value": 0}}}})";
  EXPECT_EQ(doors_text(both("errno(1)", "allow", shmat + R"(, "i386:ipc": true)")),
            "shmat -> i386 ipc");
  EXPECT_EQ(
      doors_text(both(
          "errno(1)", "allow",
          shmat +
              R"(, "i386:ipc": {"args": {"0": {"eq": 21}, "2": {"masked_eq": {"mask": "SHM_EXEC", "value": 0}}}})")),
      "");
}

TEST(Doors, ARuleForOneArchitectureOnly) {
  EXPECT_EQ(doors_text(both("allow", "errno(1)", R"("swapon": true)")), "");
  const auto found = doors_of(both("allow", "errno(1)", R"("x86_64:swapon": true)"));
  EXPECT_EQ(listed(found), "swapon -> i386 swapon");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, Cause::kOpenArch);
  const auto one = doors_of(both("allow", "errno(1)", R"("x86_64:swapon": true, "acct": true)"));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].cause, Cause::kSameCall);
  EXPECT_EQ(listed(one), "swapon -> i386 swapon");
}

TEST(Doors, CallsThatOnlyA32BitArchitectureHas) {
  EXPECT_EQ(doors_text(both("allow", "errno(1)", R"("setfsuid": true)")),
            "setfsuid -> i386 setfsuid32");
  EXPECT_EQ(doors_text(both("allow", "errno(1)", R"("setfsuid": true, "i386:setfsuid32": true)")),
            "");
  // The arguments of i386's mmap are in memory, so filters refuse the whole call.
  const std::string both_bits = R"({"args": {"2": {"masked_eq": {"mask": 6, "value": 6}}}})";
  const std::string others =
      R"("personality": true, "shmat": true, "mprotect": true, "pkey_mprotect": true, "i386:ipc": true)";
  EXPECT_EQ(
      doors_text(both("allow", "errno(1)",
                      fmt::format(R"({}, "x86_64:mmap": {}, "i386:mmap2": {}, "i386:mmap": true)",
                                  others, both_bits, both_bits))),
      "");
  EXPECT_EQ(doors_text(both("allow", "errno(1)",
                            fmt::format(R"({}, "x86_64:mmap": {}, "i386:mmap2": {})", others,
                                        both_bits, both_bits))),
            "mmap -> i386 mmap");
}

TEST(Doors, StacksAreOneFilter) {
  const Program host = refusing(R"("swapon": true)");
  Program open = compile(policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "x32_action": "kill_process",
          "bad_arch_action": "allow", "rule_sets": [{"action": "errno(1)", "rules": {"swapon": true}}]})j"));
  EXPECT_EQ(listed(doors_of(open)), "swapon -> i386 swapon");
  EXPECT_EQ(listed(doors_of_stack({host, open})), "");
}

// doors() runs every input that it reports.
TEST(Doors, RandomPoliciesReplay) {
  Random random(11);
  int found = 0;
  for (const PolicyShape shape :
       {PolicyShape::kMatchers, PolicyShape::kRanges, PolicyShape::kProducts, PolicyShape::kCommon})
    for (int i = 0; i < of_cases(20); ++i) {
      Policy policy = generate_policy(random, shape, {{Arch::kX86_64, Arch::kI386}});
      if (i % 2 == 0) policy.default_action = SECCOMP_RET_ALLOW;
      found += doors_of(compile(policy)).empty() ? 0 : 1;
    }
  EXPECT_GT(found, 0);
}

// What real filters refuse in one way and allow in another.
TEST(Doors, RealFilters) {
  const auto load = [](const std::string& name) {
    const auto bytes = read_file(fmt::format("{}/corpus/{}.bpf", SECEQUIV_SOURCE_DIR, name));
    const auto program = bytes ? read_program(*bytes, name) : Result<Program>(bytes.error());
    EXPECT_TRUE(program) << name;
    return program ? *program : Program{};
  };
  for (const char* name :
       {"dumped/chromium-1", "dumped/chromium-2", "dumped/chronyd", "dumped/sshd", "dumped/tor",
        "dumped/firejail-personality", "imports/seccompiler/vmm.vmm.x86_64",
        "imports/pfc/x86_64-all.tree", "programs/libseccomp/allow306.tree",
        "programs/gvisor/kvm.after", "programs/gvisor/kvm-hostnet.before"})
    EXPECT_EQ(doors_text(load(name)), "") << name;
  for (const char* name : {"programs/libseccomp/docker-x86_64.tree",
                           "programs/libseccomp/podman-x86_64.linear", "imports/oci/odd"})
    EXPECT_EQ(doors_text(load(name)), "socket -> i386 socketcall") << name;
  EXPECT_EQ(doors_text(load("dumped/man-1")), "shmctl -> i386 ipc");
  // The filter for i386 closes what this one leaves open, but it has a shorter list.
  const Program firejail = load("dumped/firejail-default");
  EXPECT_EQ(doors_of(firejail)[0].cause, Cause::kOpenArch);
  const auto stack = doors_of_stack({load("dumped/firejail-i386"), firejail});
  EXPECT_EQ(stack[0].cause, Cause::kSameCall);
  EXPECT_EQ(stack[0].open.size(), 21u);
}

TEST(Doors, OtherHosts) {
  const auto compiled = [](std::string_view arch, std::string_view rules) {
    return compile(policy_from(policy_text(arch, "allow", "errno(1)", rules)));
  };
  EXPECT_EQ(listed(doors_of(compiled(R"("s390x")", R"("listen": true)"), Arch::kS390x)),
            "listen -> s390x socketcall, listen -> s390x io_uring_setup?");
  // The flags are argument 1 there.
  const std::string clone =
      R"("clone": {"args": {"1": {"masked_eq": {"mask": "CLONE_NEWUSER", "value": "CLONE_NEWUSER"}}}})";
  const auto found = doors_of(compiled(R"("s390x")", clone), Arch::kS390x);
  EXPECT_EQ(listed(found), "clone -> s390x clone3, clone -> s390x unshare");
  EXPECT_EQ(listed(doors_of(compiled(R"("aarch64")", R"("swapon": true)"), Arch::kAarch64)), "");
}

// Whatever the limit, the answer is complete or an error.
TEST(Doors, StopsAtLimits) {
  const Program program = refusing(
      R"("chmod": {"args": {"1": {"masked_eq": {"mask": "S_ISUID", "value": "S_ISUID"}}}})");
  const std::string all = doors_text(program);
  EXPECT_NE(all, "");
  int stopped = 0;
  int finished = 0;
  for (std::size_t limit = 2; limit < 3000; limit += 1 + limit / 8)
    for (const bool nodes : {true, false}) {
      DoorsJob job;
      job.stack.name = "test";
      job.stack.filters.emplace_back().program = program;
      (nodes ? job.limits.nodes : job.limits.steps) = limit;
      const auto found = doors_by(job);
      if (found) {
        EXPECT_EQ(listed(*found), all);
        ++finished;
      } else {
        EXPECT_EQ(found.error().code, ErrorCode::kBudget);
        ++stopped;
      }
    }
  EXPECT_GE(stopped, 5);
  EXPECT_GE(finished, 5);
}

TEST(Doors, RulesAreNamed) {
  DoorsJob job;
  job.stack.name = "test";
  Source& source = job.stack.filters.emplace_back();
  source.policy = policy_from(
      policy_text(kX86_64, "allow", "errno(1)", R"("swapon": true, "kexec_load": true)", kNoX32));
  source.program = compile(*source.policy);
  const auto found = doors_by(job);
  ASSERT_TRUE(found);
  ASSERT_EQ(listed(*found), "kexec_load -> x86_64 kexec_file_load");
  EXPECT_NE((*found)[0].open[0].rule.text.find("kexec_load"), std::string::npos);
}

}  // namespace
}  // namespace secequiv::analyze_doors_test
