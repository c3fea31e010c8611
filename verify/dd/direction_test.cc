// Compares the direction of a difference with the decisions for single inputs.
#include "verify/dd/direction.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::dd::direction_test {
namespace {

using Calls = std::vector<Direction::Call>;

Question question_about(ProgramView before, ProgramView after) {
  Question out;
  out.before = {before};
  out.after = {after};
  return out;
}

Direction direction_between(std::string_view before, std::string_view after) {
  const Program first = assemble(before);
  const Program second = assemble(after);
  const auto out = direction(question_about(first, second), Arch::kX86_64);
  EXPECT_TRUE(out) << out.error().text();
  return out ? *out : Direction();
}

Direction::Call call(Arch arch, std::string_view name, bool always) {
  return {arch, syscall_nr(arch, name).value(), always};
}

TEST(Direction, DividesCallsByKindOfChange) {
  // getpid (39) becomes allowed, exit (60) becomes stricter, read (0) changes its error number,
  // write (1) becomes looser but is still not allowed, and close (3) stays the same.
  const Direction out = direction_between(
      "ld [0]\njeq #39, no\njeq #60, yes\njeq #0, perm\njeq #1, kill\nno: ret #0x00050001\n"
      "yes: ret #0x7fff0000\nperm: ret #0x00050001\nkill: ret #0x80000000\n",
      "ld [0]\njeq #39, yes\njeq #60, no\njeq #0, other\njeq #1, no\nno: ret #0x00050001\n"
      "yes: ret #0x7fff0000\nother: ret #0x00050002\n");
  EXPECT_EQ(out.allowed.calls, (Calls{call(Arch::kX86_64, "getpid", true)}));
  EXPECT_EQ(out.stricter.calls, (Calls{call(Arch::kX86_64, "exit", true)}));
  EXPECT_EQ(out.changed.calls, (Calls{call(Arch::kX86_64, "read", true)}));
  EXPECT_EQ(out.looser.calls, (Calls{call(Arch::kX86_64, "write", true)}));
  for (const auto* part : {&out.allowed, &out.stricter, &out.changed, &out.looser})
    EXPECT_TRUE(part->unnamed.empty() && !part->unknown_arches);
  ASSERT_TRUE(out.example);
  EXPECT_EQ(out.example->data.nr(), 39u);
  EXPECT_EQ(out.example->after, 0x7fff0000u);
}

TEST(Direction, DividesLooserCallsByTheirActions) {
  // read (0): KILL_PROCESS became ERRNO(1); write (1): LOG became ALLOW; open (2): KILL_PROCESS
  // became ERRNO(2). Both changes from KILL_PROCESS to ERRNO are in one Direction::Step, although
  // the error numbers differ.
  const Direction out = direction_between(
      "ld [0]\njeq #0, kill\njeq #1, log\njeq #2, kill\nret #0\nkill: ret #0x80000000\n"
      "log: ret #0x7ffc0000\n",
      "ld [0]\njeq #0, one\njeq #1, yes\njeq #2, two\nret #0\none: ret #0x50001\n"
      "two: ret #0x50002\nyes: ret #0x7fff0000\n");
  ASSERT_EQ(out.looser_steps.size(), 2u);
  EXPECT_EQ(out.looser_steps[0].part.calls, (Calls{call(Arch::kX86_64, "write", true)}));
  EXPECT_EQ(out.looser_steps[0].after.value, 0x7fff0000u);
  const Calls errors = {call(Arch::kX86_64, "read", true), call(Arch::kX86_64, "open", true)};
  EXPECT_EQ(out.looser_steps[1].part.calls, errors);
  EXPECT_EQ(out.looser_steps[1].before.value, 0x80000000u);
  EXPECT_FALSE(out.looser_steps[1].after.value);
  EXPECT_EQ(out.looser_steps[1].after.action, 0x50000u);
  EXPECT_FALSE(out.fallback);
}

TEST(Direction, FindsAChangedDefaultAction) {
  // getpid (39) stays denied, exit (60) was killed, close (3) depends on its argument.
  const std::string_view text =
      "ld [0]\njeq #39, no\njeq #60, kill\njeq #3, arg\n%s\narg: ld [16]\njeq #7, no, "
      "other\nother: %s\nno: ret #0x50001\nkill: ret #0x80000000\n";
  const auto filled = [&](const std::string& leaf) {
    std::string out(text);
    for (std::size_t at = out.find("%s"); at != out.npos; at = out.find("%s"))
      out.replace(at, 2, leaf);
    return out;
  };
  const Direction out = direction_between(filled("ret #0x30000"), filled("ret #0x7fff0000"));
  ASSERT_TRUE(out.fallback);
  EXPECT_EQ(out.fallback->before.action, 0x30000u);
  EXPECT_EQ(out.fallback->after.value, 0x7fff0000u);
  for (const Direction::Call& one : out.fallback->part.calls)
    EXPECT_TRUE(one.always && one.nr != 39 && one.nr != 60 && one.nr != 3) << one.nr;
  EXPECT_EQ(out.fallback->part.calls.size() + 1, out.allowed.calls.size());
  EXPECT_EQ(out.fallback->part.unnamed, out.allowed.unnamed);
  EXPECT_FALSE(direction_between(filled("ret #0x7fff0000"), filled("ret #0x30000")).fallback);
}

TEST(Direction, ADefaultActionCanChangeOnAnotherArchitectureAlone) {
  const std::string text =
      "ld [4]\njeq #0x40000003, other, kill\nother: ld [0]\njeq #3, no, rest\nkill: ret #0\n"
      "no: ret #0x50001\nrest: ";
  const Direction out = direction_between(text + "ret #0x30000\n", text + "ret #0x7ffc0000\n");
  ASSERT_TRUE(out.fallback);
  EXPECT_EQ(out.fallback->part.unnamed, std::vector{Arch::kI386});
  EXPECT_EQ(out.fallback->part.calls.size(), arch_info(Arch::kI386).syscalls.size() - 1);
}

TEST(Direction, AChangedDefaultActionNeedNotDecideAboutNumbersOfX32) {
  const std::string text =
      "ld [4]\njeq #0xc000003e, own, kill\nown: ld [0]\njset #0x40000000, high, known\n"
      "high: jeq #0xffffffff, known, kill\nknown: jeq #39, no, other\nkill: ret #0\n"
      "no: ret #0x50001\nother: ";
  const Direction out = direction_between(text + "ret #0x30000\n", text + "ret #0x7fff0000\n");
  ASSERT_TRUE(out.fallback);
  EXPECT_EQ(out.fallback->part.unnamed, std::vector{Arch::kX86_64});
  EXPECT_EQ(out.allowed.unnamed, std::vector{Arch::kX86_64});
}

TEST(Direction, FindsFiltersForDifferentArchitectures) {
  const std::string_view x86 =
      "ld [4]\njeq #0xc000003e, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n";
  const std::string_view arm =
      "ld [4]\njeq #0xc00000b7, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n";
  const Direction out = direction_between(x86, arm);
  ASSERT_TRUE(out.arches);
  EXPECT_EQ(out.arches->before, (std::vector{Arch::kX86_64, Arch::kX32}));
  EXPECT_EQ(out.arches->after, std::vector{Arch::kAarch64});
  EXPECT_FALSE(direction_between(x86, "ret #0\n").arches);
  const Direction both = direction_between(
      x86,
      "ld [4]\njeq #0xc00000b7, yes\njeq #0xc000003e, yes, no\nyes: ret #0x7fff0000\nno: "
      "ret #0\n");
  EXPECT_FALSE(both.arches);
}

TEST(Direction, OneCallCanBeLooserForSomeArgumentsAndStricterForOthers) {
  const Direction out = direction_between(
      "ld [0]\njeq #41, s, n\ns: ld [16]\njeq #1, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n",
      "ld [0]\njeq #41, s, n\ns: ld [16]\njeq #2, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n");
  const Calls socket = {call(Arch::kX86_64, "socket", false)};
  EXPECT_EQ(out.allowed.calls, socket);
  EXPECT_EQ(out.stricter.calls, socket);
  ASSERT_TRUE(out.example);
  EXPECT_EQ(out.example->data.words[4], 2u);
}

TEST(Direction, ListsOnlyArchitecturesWhoseCallsChange) {
  const Direction out = direction_between(
      "ld [4]\njeq #0x40000003, in, n\nin: ld [0]\njeq #20, n, n\nn: ret #0\n",
      "ld [4]\njeq #0x40000003, in, n\nin: ld [0]\njeq #20, y, n\ny: ret #0x7fff0000\nn: ret #0\n");
  EXPECT_EQ(out.allowed.calls, (Calls{call(Arch::kI386, "getpid", true)}));
  EXPECT_TRUE(out.stricter.empty() && out.looser.empty() && out.changed.empty());
}

TEST(Direction, ReportsNumbersWithoutANameAndOtherArchitectures) {
  const Direction numbers = direction_between("ret #0\n",
                                              "ld [0]\njeq #5000, y, n\ny: ret "
                                              "#0x7fff0000\nn: ret #0\n");
  EXPECT_TRUE(numbers.allowed.calls.empty());
  EXPECT_FALSE(numbers.allowed.unnamed.empty());
  const Direction arches = direction_between(
      "ret #0\n", "ld [4]\njeq #0xc000003e, n, y\ny: ret #0x7fff0000\nn: ret #0\n");
  EXPECT_TRUE(arches.allowed.unknown_arches);
  for (const Direction::Call& one : arches.allowed.calls) EXPECT_NE(one.arch, Arch::kX86_64);
}

TEST(Direction, ReportsAnUnknownArchitecture) {
  const Direction out = direction_between(
      "ret #0\n", "ld [4]\njeq #0x12345678, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n");
  EXPECT_TRUE(out.allowed.unknown_arches);
  EXPECT_TRUE(out.allowed.calls.empty());
  ASSERT_TRUE(out.example);
  EXPECT_EQ(out.example->data.arch(), 0x12345678u);
}

TEST(Direction, TheExampleIsAnInputThatWasMostRestricted) {
  const Direction out = direction_between(
      "ld [0]\njeq #1, one, two\none: ret #0x80000000\ntwo: ret #0x50001\n", "ret #0x7fff0000\n");
  ASSERT_TRUE(out.example);
  EXPECT_EQ(out.example->before, 0x80000000u);
}

TEST(Direction, CallsOutsideTheAssumptionAreNotListed) {
  const Program before = assemble("ret #0\n");
  const Program after = assemble("ret #0x7fff0000\n");
  Question question = question_about(before, after);
  question.assumption = *parse_assumption("nr == getpid", Arch::kX86_64);
  const auto out = direction(question, Arch::kX86_64);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->allowed.calls, (Calls{call(Arch::kX86_64, "getpid", true)}));
  EXPECT_TRUE(out->allowed.unnamed.empty());
}

// The filter treats the host's architecture like an unknown one, but readers look for the host's
// calls.
TEST(Direction, TheHostsCallsAreAlwaysListed) {
  const Program before = assemble("ret #0x50001\n");
  const Program after = assemble(
      "ld [4]\njeq #0x40000003, no, next\nnext: ld [0]\njeq #59, yes, no\n"
      "yes: ret #0x7fff0000\nno: ret #0x50001\n");
  const auto out = direction(question_about(before, after), Arch::kX86_64);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->allowed.calls, (Calls{call(Arch::kX86_64, "execve", true)}));
  EXPECT_TRUE(out->allowed.unknown_arches);
  EXPECT_FALSE(out->by_number);
}

// Numbers with the x32 bit are other calls under the host's audit value.
TEST(Direction, X32IsListedAlthoughTheArchitectureDoesNotMatter) {
  const Direction out = direction_between(
      "ld [0]\njeq #0x40000200, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n",
      "ret #0x7fff0000\n");
  EXPECT_TRUE(out.by_number);
  EXPECT_EQ(out.allowed.calls, (Calls{call(Arch::kX32, "rt_sigaction", true)}));
  EXPECT_TRUE(out.allowed.unnamed.empty());
}

// x86_64 has no call with this number, and i386 has one.
TEST(Direction, NumbersNamedOnlyOnTheCompatArchitectureAreListed) {
  const Direction out = direction_between(
      "ret #0x50001\n", "ld [0]\njeq #384, yes, no\nyes: ret #0x7fff0000\nno: ret #0x50001\n");
  EXPECT_TRUE(out.by_number);
  EXPECT_EQ(out.allowed.calls, (Calls{call(Arch::kI386, "arch_prctl", true)}));
  EXPECT_FALSE(out.allowed.unnamed.empty());
}

// read becomes allowed on every architecture. Number 1 changes only on i386, so numbers alone do
// not describe the difference.
TEST(Direction, AChangeOnAllArchitecturesCoversUnknownOnes) {
  const Direction out = direction_between(
      "ld [0]\njeq #0, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n",
      "ld [4]\njeq #0x40000003, in, yes\nin: ld [0]\njeq #1, no, yes\nyes: ret #0x7fff0000\n"
      "no: ret #0x50001\n");
  EXPECT_FALSE(out.by_number);
  EXPECT_TRUE(out.allowed.unknown_arches);
  EXPECT_FALSE(out.stricter.unknown_arches);
}

TEST(Direction, AnUnknownArchitectureIsNotEveryArchitecture) {
  const Direction out = direction_between(
      "ret #0x50001\n",
      "ld [4]\njeq #0x12345678, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n");
  EXPECT_FALSE(out.by_number);
  EXPECT_TRUE(out.allowed.unknown_arches);
}

TEST(Direction, AnExceededLimitIsAnError) {
  const Program before = assemble("ret #0\n");
  const Program after = assemble("ret #0x7fff0000\n");
  Limits limits;
  limits.nodes = 3;
  const auto out = direction(question_about(before, after), Arch::kX86_64, limits);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::kBudget);
}

TEST(Direction, ContainsTheDifferencesOfRandomInputs) {
  Random random(7);
  int differing = 0;
  for (int i = 0; i < 60; ++i) {
    const Program before = random_program(random, 12);
    const Program after = random_program(random, 12);
    const Question question = question_about(before, after);
    const auto all = direction(question, Arch::kX86_64);
    if (!all) continue;
    for (int k = 0; k < 60; ++k) {
      SeccompData data;
      data.set_nr(static_cast<std::uint32_t>(random.below(300)));
      data.set_arch(arch_info(Arch::kX86_64).audit);
      const auto witness = replay(question, data);
      if (!witness) continue;
      ++differing;
      const Direction one = direction_of({&*witness, 1});
      for (const auto part :
           {&Direction::allowed, &Direction::looser, &Direction::stricter, &Direction::changed})
        for (const Direction::Call& shown : (one.*part).calls)
          EXPECT_TRUE(std::ranges::any_of((*all.*part).calls, [&](const Direction::Call& found) {
            return found.arch == shown.arch && found.nr == shown.nr;
          })) << describe(data);
    }
  }
  EXPECT_GT(differing, 100);
}

}  // namespace
}  // namespace secequiv::dd::direction_test
