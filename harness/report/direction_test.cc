#include "harness/report/direction.h"

#include <gtest/gtest.h>

namespace secequiv::report_direction_test {
namespace {

Direction::Call call(Arch arch, std::string_view name, bool always = true) {
  return {arch, syscall_nr(arch, name).value(), always};
}

TEST(DirectionLine, NamesEveryNewlyAllowedCallInAlphabeticalOrder) {
  Direction direction;
  direction.allowed.calls = {
      call(Arch::kX86_64, "shmat"),        call(Arch::kX86_64, "socket", false),
      call(Arch::kX86_64, "memfd_create"), call(Arch::kX86_64, "bpf"),
      call(Arch::kX86_64, "ptrace"),       call(Arch::kX86_64, "mount")};
  direction.stricter.calls = {call(Arch::kX86_64, "read"), call(Arch::kX86_64, "write"),
                              call(Arch::kX86_64, "open"), call(Arch::kX86_64, "close"),
                              call(Arch::kX86_64, "stat")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: bpf, memfd_create, mount, ptrace, shmat, socket (some arguments) newly "
            "allowed; stricter: 5 calls");
}

TEST(DirectionLine, ReportsThatNothingLoosens) {
  Direction direction;
  direction.stricter.calls = {call(Arch::kX86_64, "write"), call(Arch::kX86_64, "read")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64), "only stricter: read, write");
  direction.stricter.calls.clear();
  direction.changed.calls = {call(Arch::kX86_64, "read")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64), "only the data of actions changed: read");
  EXPECT_EQ(direction_line(Direction(), Arch::kX86_64), "");
}

TEST(DirectionLine, NamesArchitecturesUnlessOnlyTheHostsCallsDiffer) {
  Direction direction;
  direction.allowed.calls = {call(Arch::kX86_64, "shmat"), call(Arch::kI386, "getpid"),
                             call(Arch::kX86_64, "getpid")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: shmat on x86_64; getpid on i386, x86_64 newly allowed");
  direction.allowed.unnamed = {Arch::kX86_64};
  direction.allowed.unknown_arches = true;
  direction.allowed.calls.resize(1);
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: shmat on x86_64; numbers without a name; calls on other architectures newly "
            "allowed");
}

TEST(DirectionLine, SeparatesCallsThatDifferForSomeArguments) {
  Direction direction;
  direction.allowed.calls = {call(Arch::kI386, "mount"), call(Arch::kX86_64, "mount")};
  direction.allowed.calls[0].always = true;
  direction.allowed.calls[1].always = false;
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: mount (some arguments) on x86_64; mount on i386 newly allowed");
}

TEST(DirectionLine, NamesTheOtherCallOfANumberIfTheArchitectureDoesNotMatter) {
  Direction direction;
  direction.by_number = true;
  direction.allowed.calls = {call(Arch::kX86_64, "munmap")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: munmap newly allowed (on every architecture, by number: on i386, 11 is "
            "execve)");
}

TEST(DirectionLine, DoesNotClaimEveryCallOfOtherArchitectures) {
  Direction direction;
  for (const SyscallEntry& entry : arch_info(Arch::kX86_64).syscalls)
    direction.allowed.calls.push_back({Arch::kX86_64, entry.nr, true});
  direction.allowed.unnamed = {Arch::kX86_64};
  direction.allowed.unknown_arches = true;
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on x86_64; numbers without a name; calls on other "
            "architectures newly allowed");
}

TEST(DirectionLine, NamesCallsThatOnlyTheOtherArchitectureHas) {
  Direction direction;
  direction.by_number = true;
  direction.allowed.calls = {call(Arch::kI386, "arch_prctl")};
  direction.allowed.unnamed = {Arch::kX86_64};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: numbers without a name newly allowed (on every architecture, by number: on "
            "i386, 384 is arch_prctl)");
  direction.allowed.calls = {call(Arch::kX32, "rt_sigaction")};
  direction.allowed.unnamed.clear();
  EXPECT_EQ(direction_line(direction, Arch::kX86_64), "LOOSER: rt_sigaction on x32 newly allowed");
}

void add_every(Direction::Part& part, Arch arch) {
  for (const SyscallEntry& entry : arch_info(arch).syscalls)
    part.calls.push_back({arch, entry.nr, true});
}

TEST(DirectionLine, ClaimsEveryCallByNumberOnlyIfX32AndTheOtherArchitectureHaveIt) {
  Direction direction;
  direction.by_number = true;
  direction.allowed.unnamed = {Arch::kX86_64};
  add_every(direction.allowed, Arch::kX86_64);
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on x86_64; numbers without a name newly allowed (on every "
            "architecture, by number)");
  add_every(direction.allowed, Arch::kX32);
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on x86_64, x32 newly allowed (on every architecture, by "
            "number)");
  for (const SyscallEntry& entry : arch_info(Arch::kI386).syscalls)
    if (!has_name(Arch::kX86_64, entry.nr))
      direction.allowed.calls.push_back({Arch::kI386, entry.nr, true});
  EXPECT_EQ(direction_line(direction, Arch::kX86_64), "LOOSER: every system call newly allowed");
}

TEST(DirectionLine, ShortensOnlyArchitecturesWhoseCallsAreAllAffected) {
  Direction direction;
  direction.allowed.unnamed = {Arch::kI386, Arch::kX86_64};
  add_every(direction.allowed, Arch::kI386);
  direction.allowed.calls.push_back(call(Arch::kX86_64, "read"));
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on i386; read on x86_64; numbers without a name newly "
            "allowed");
  direction.stricter.calls = {call(Arch::kI386, "read"), call(Arch::kI386, "write"),
                              call(Arch::kI386, "open"), call(Arch::kI386, "close"),
                              call(Arch::kI386, "getpid")};
  EXPECT_TRUE(direction_line(direction, Arch::kX86_64).ends_with("; stricter: 5 calls on i386"));
}

TEST(DirectionLine, NamesTheHostIfAnotherPartConcernsOtherArchitectures) {
  Direction direction;
  direction.allowed.calls = {call(Arch::kX86_64, "execve")};
  direction.stricter.unknown_arches = true;
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: execve on x86_64 newly allowed; stricter: calls on other architectures");
  direction.allowed.unnamed = {Arch::kX86_64};
  direction.allowed.calls.clear();
  add_every(direction.allowed, Arch::kX86_64);
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on x86_64; numbers without a name newly allowed; stricter: "
            "calls on other architectures");
}

// The filters decide differently for calls of i386, which run on the same machine.
TEST(DirectionLine, NamesTheHostIfAllOfItsCallsAreAffected) {
  Direction direction;
  for (const SyscallEntry& entry : arch_info(Arch::kX86_64).syscalls)
    direction.allowed.calls.push_back({Arch::kX86_64, entry.nr, true});
  direction.allowed.unnamed = {Arch::kX86_64};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on x86_64; numbers without a name newly allowed");
  direction.allowed.calls.pop_back();
  EXPECT_EQ(direction_line(direction, Arch::kX86_64).find("every system call"), std::string::npos);
}

TEST(DirectionLine, DoesNotClaimMoreThanTheInputsShow) {
  Direction direction;
  direction.complete = false;
  direction.stricter.calls = {call(Arch::kX86_64, "read")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "stricter: read (for the inputs that were run; other inputs are undecided)");
}

ReturnValue value(std::uint32_t number) { return {number, action_of(number)}; }

Direction::Step step(std::uint32_t before, std::uint32_t after, const Direction::Part& part) {
  return {value(before), value(after), part};
}

TEST(DirectionLine, NamesTheActionsOfCallsThatAreLooserButNotAllowed) {
  Direction direction;
  direction.looser.calls = {call(Arch::kX86_64, "read"), call(Arch::kX86_64, "write")};
  direction.looser_steps = {
      step(0, 0x50001, {{direction.looser.calls[0]}, {}, false}),
      step(SECCOMP_RET_LOG, SECCOMP_RET_ALLOW, {{direction.looser.calls[1]}, {}, false})};
  largest_first(direction.looser_steps);
  direction.allowed.calls = {call(Arch::kX86_64, "bpf")};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: bpf newly allowed; write: LOG -> ALLOW; read: KILL_THREAD -> ERRNO(1 EPERM)");
}

TEST(DirectionLine, CountsTheCallsOfAChangedDefaultAction) {
  Direction direction;
  direction.allowed.unnamed = {Arch::kX86_64};
  const auto& calls = arch_info(Arch::kX86_64).syscalls;
  for (std::size_t i = 0; i < 100; ++i)
    direction.allowed.calls.push_back({Arch::kX86_64, calls[i].nr, true});
  direction.fallback = step(0x50001, SECCOMP_RET_ALLOW, direction.allowed);
  direction.allowed.calls.push_back(call(Arch::kX86_64, "socket", false));
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: default action ERRNO(1 EPERM) -> ALLOW (every call without a rule, 100 "
            "calls); socket (some arguments) newly allowed");
  const std::string all = fallback_calls(direction, Arch::kX86_64);
  for (std::size_t i = 0; i < 100; ++i) {
    const std::string_view name = calls[i].name;
    EXPECT_NE(all.find(name), std::string::npos) << name;
  }
  direction.fallback->part.calls.resize(40);
  EXPECT_EQ(direction_line(direction, Arch::kX86_64).find("default"), std::string::npos);
  EXPECT_EQ(fallback_calls(direction, Arch::kX86_64), "");
}

TEST(DirectionLine, ReportsFiltersForDifferentArchitectures) {
  Direction direction;
  for (const char* name : {"read", "write", "mount", "bpf", "ptrace"})
    direction.allowed.calls.push_back(call(Arch::kAarch64, name));
  direction.arches = {{Arch::kX86_64, Arch::kX32}, {Arch::kAarch64}};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: the filters are for different architectures, x86_64 before and aarch64 after "
            "(see --arch); 5 calls on aarch64 newly allowed");
}

TEST(DirectionJson, HasEveryCall) {
  Direction direction;
  direction.looser.calls = {call(Arch::kX86_64, "read", false)};
  direction.looser_steps = {step(SECCOMP_RET_KILL_PROCESS, 0x50001, direction.looser)};
  const auto json = to_json(ShownDirection{direction, Arch::kX86_64});
  EXPECT_EQ(json["summary"], "LOOSER: read (some arguments): KILL_PROCESS -> ERRNO(1 EPERM)");
  EXPECT_EQ(json["looser"]["calls"][0].dump(),
            R"({"arch":"x86_64","name":"read","nr":0,"always":false})");
}

// The numbers of another architecture are not part of "every system call".
TEST(DirectionLine, NumbersWithoutANameAreNeverHidden) {
  Direction direction;
  for (const SyscallEntry& entry : arch_info(Arch::kI386).syscalls)
    direction.allowed.calls.push_back({Arch::kI386, entry.nr, true});
  direction.allowed.unnamed = {Arch::kX86_64, Arch::kI386};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on i386; numbers without a name newly allowed");
  direction.allowed.unnamed = {Arch::kI386};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64),
            "LOOSER: every system call on i386 newly allowed");
  const Direction::Part* const parts[] = {&direction.allowed};
  EXPECT_NE(count_calls(direction, Arch::kX86_64, parts).calls, "every");
}

// If one number is allowed for some arguments only, "every system call" would be false.
TEST(DirectionLine, EveryCallByNumberMeansAllArguments) {
  Direction direction;
  direction.by_number = true;
  for (const Arch arch : {Arch::kX86_64, Arch::kX32})
    for (const SyscallEntry& entry : arch_info(arch).syscalls)
      direction.allowed.calls.push_back({arch, entry.nr, true});
  for (const SyscallEntry& entry : arch_info(Arch::kI386).syscalls)
    if (!has_name(Arch::kX86_64, entry.nr))
      direction.allowed.calls.push_back({Arch::kI386, entry.nr, true});
  direction.allowed.unnamed = {Arch::kX86_64, Arch::kX32};
  EXPECT_EQ(direction_line(direction, Arch::kX86_64), "LOOSER: every system call newly allowed");
  direction.allowed.calls.back().always = false;
  EXPECT_NE(direction_line(direction, Arch::kX86_64), "LOOSER: every system call newly allowed");
}

}  // namespace
}  // namespace secequiv::report_direction_test
