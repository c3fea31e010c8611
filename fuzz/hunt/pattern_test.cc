// Tests where the pattern of a finding occurs, and how it is taken out of programs and policies.
#include "fuzz/hunt/pattern.h"

#include <gtest/gtest.h>

#include <optional>

#include "fuzz/hunt/testing.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::hunt::pattern_test {
namespace {

HuntSubject subject(Program program) { return {"a test", {}, std::move(program)}; }

std::optional<HuntSubject> taken_out_of(const Pattern& pattern, const HuntSubject& subject) {
  Stripped out(subject);
  return out.take_out(pattern) ? std::optional(out.subject()) : std::nullopt;
}

TEST(Pattern, OccursInOrderWithEqualNames) {
  const Pattern pattern(
      subject({{kLdWAbs, 0, 0, 0}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto in = [&](Program program) {
    return pattern.in(parts_of(subject(std::move(program))));
  };
  EXPECT_TRUE(in({{kLdWAbs, 0, 0, 8},
                  {kNeg, 0, 0, 0},
                  {kTxa, 0, 0, 0},
                  {kLdWAbs, 0, 0, 8},
                  {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(in({{kLdWAbs, 0, 0, 8}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 4}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(in({{kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 8}, {kLdWAbs, 0, 0, 8}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(Pattern(subject({{kRetK, 0, 0, 0}})).in(parts_of(subject({{kRetK, 0, 0, 0}}))));
}

TEST(Pattern, OccursAtAnyDistanceWithAnyInstructionsBetween) {
  // The first store is into another word, and LDX takes the place of LD.
  Program program = {
      {kLdImm, 0, 0, 1}, {kNeg, 0, 0, 0}, {kSt, 0, 0, 0}, {kSt, 0, 0, 1}, {kTax, 0, 0, 0}};
  program.insert(program.end(), 600, Insn{kNeg, 0, 0, 0});
  program.insert(program.end(), {{kLdxMem, 0, 0, 1}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  const Pattern reduced(subject({{kLdImm, 0, 0, 1},
                                 {kNeg, 0, 0, 0},
                                 {kSt, 0, 0, 3},
                                 {kNeg, 0, 0, 0},
                                 {kLdxMem, 0, 0, 3},
                                 {kRetA, 0, 0, 0}}));
  EXPECT_TRUE(reduced.in(parts_of(subject(program))));
  program[3].k = 2;
  EXPECT_FALSE(reduced.in(parts_of(subject(program))));
}

TEST(Pattern, RegistersMustMatchIfValuesMust) {
  const HuntSubject loads_x =
      subject({{kLdImm, 0, 0, 1}, {kSt, 0, 0, 3}, {kLdxMem, 0, 0, 3}, {kRetA, 0, 0, 0}});
  const Parts loads_a =
      parts_of(subject({{kLdImm, 0, 0, 1}, {kSt, 0, 0, 3}, {kLdMem, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(Pattern(loads_x).in(loads_a));
  EXPECT_TRUE(Pattern(loads_x, false).in(loads_a));
}

TEST(Pattern, TheSimplestInstructionOfAKindMatchesTheWholeKind) {
  const Pattern adds(subject({{kAddK, 0, 0, 1}, {kRetA, 0, 0, 0}}));
  const Pattern shifts(subject({{kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const Parts xors = parts_of(subject({{kXorK, 0, 0, 9}, {kRetA, 0, 0, 0}}));
  EXPECT_TRUE(adds.in(xors));
  EXPECT_FALSE(shifts.in(xors));
  EXPECT_TRUE(adds.same_as(Pattern(subject({{kMulX, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
  EXPECT_FALSE(shifts.same_as(Pattern(subject({{kRshX, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Pattern, IsTakenOutAtItsRarestPart) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const HuntSubject given =
      subject({{kNeg, 0, 0, 0}, {kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  const auto without = taken_out_of(pattern, given);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->before[2], (Insn{kLdImm, 0, 0, 0}));
  EXPECT_EQ(without->before[1], given.before[1]);
  EXPECT_FALSE(taken_out_of(pattern, *without));
  // The store stays, because a load needs its word. The load is replaced instead.
  const Pattern stored(subject({{kSt, 0, 0, 0}, {kLdMem, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto kept =
      taken_out_of(stored, subject({{kSt, 0, 0, 3}, {kLdMem, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->before[0].code, kSt);
  EXPECT_EQ(kept->before[1].code, kLdImm);
}

TEST(Pattern, EqualWordsAndSlotsBecomeDifferentOnes) {
  const Pattern loads(
      subject({{kLdWAbs, 0, 0, 0}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto without = taken_out_of(loads, subject({{kLdWAbs, 0, 0, 8},
                                                    {kTxa, 0, 0, 0},
                                                    {kLdWAbs, 0, 0, 8},
                                                    {kLdWAbs, 0, 0, 0},
                                                    {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->before[0], (Insn{kLdWAbs, 0, 0, 8}));
  EXPECT_EQ(without->before[1].code, kTxa);
  EXPECT_EQ(without->before[2], (Insn{kLdWAbs, 0, 0, 4})) << "no other instruction has this word";
  const Pattern stores(subject({{kSt, 0, 0, 0}, {kSt, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto stored = taken_out_of(
      stores, subject({{kSt, 0, 0, 3}, {kNeg, 0, 0, 0}, {kSt, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->before[2], (Insn{kSt, 0, 0, 0}));
  // If every word is in use, a simpler instruction takes the place of the rarest one.
  Program all = {{kLdWAbs, 0, 0, 8}, {kTxa, 0, 0, 0}};
  for (std::uint32_t word = 0; word < 64; word += 4) all.push_back({kLdWAbs, 0, 0, word});
  all.push_back({kRetA, 0, 0, 0});
  const auto simpler = taken_out_of(loads, subject(all));
  ASSERT_TRUE(simpler);
  EXPECT_EQ(simpler->before[1].code, kLdImm);
}

TEST(Pattern, JumpsToTheNextInstructionAreParts) {
  const Insn null_jump = {kJa, 0, 0, 0};
  const Pattern pattern(subject({{kLdImm, 0, 0, 1}, null_jump, {kRetA, 0, 0, 0}}));
  const Program given = {{kLdWAbs, 0, 0, 0}, {kJa, 0, 0, 1}, {kRetA, 0, 0, 0}, null_jump,
                         {kNeg, 0, 0, 0},    null_jump,      {kRetK, 0, 0, 7}};
  ASSERT_TRUE(pattern.in(parts_of(subject(given))));
  Stripped without(subject(given));
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 2u);
  EXPECT_EQ(without.subject().before[1], given[1]) << "it jumps over an instruction";
  EXPECT_EQ(without.subject().before[3], (Insn{kLdImm, 0, 0, 0}));
  EXPECT_EQ(without.subject().before[5], (Insn{kRetK, 0, 0, 7})) << "the return is its target";
  // Other jumps count only if the pattern has no other parts.
  const Program jumps = {{kJa, 0, 0, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  Program negates = jumps;
  negates.insert(negates.begin(), Insn{kNeg, 0, 0, 0});
  EXPECT_TRUE(Pattern(subject(negates)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
  EXPECT_TRUE(Pattern(subject(jumps)).in(parts_of(subject(negates))));
  EXPECT_FALSE(Pattern(subject(jumps)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Pattern, AnyNumberOfJumpsBesideOtherPartsIsIgnored) {
  Program reduced(40, Insn{kJa, 0, 0, 1});
  reduced.insert(reduced.end(), {{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}});
  EXPECT_TRUE(Pattern(subject(reduced)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Stripped, TakesOutAllOccurrencesUpToALimit) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  Program given(300, Insn{kNeg, 0, 0, 0});
  given.push_back({kRetA, 0, 0, 0});
  Stripped without(subject(given));
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 256u);
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 44u);
  EXPECT_FALSE(without.take_out(pattern));
  EXPECT_FALSE(has(without.subject().before, kNeg));
}

TEST(Stripped, EachWayChangesAnotherPart) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const HuntSubject given = subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  for (const std::size_t way : {0u, 1u}) {
    Stripped without(given);
    ASSERT_TRUE(without.take_out(pattern, way));
    EXPECT_NE(without.subject().before[way], given.before[way]);
    EXPECT_EQ(without.subject().before[1 - way], given.before[1 - way]);
  }
  EXPECT_FALSE(Stripped(given).take_out(pattern, 2));
}

TEST(Pattern, IsTakenOutOfAPolicy) {
  const HuntSubject reduced = subject_of(
      "reduced",
      x86_64_policy(R"j({"action": "allow", "rules": {"read": {"args": {"0": {"lt": 5}}}}})j"));
  const HuntSubject given =
      subject_of("given", x86_64_policy(R"j({"action": "allow", "rules": {"mmap": {"any_of": [
          {"args": {"0": {"lt": 9}, "1": {"eq": 7}}}, {"args": {"2": {"ge": 3}}}]}}})j"));
  const Pattern pattern(reduced);
  ASSERT_TRUE(pattern.in(parts_of(given)));
  const auto without = taken_out_of(pattern, given);
  ASSERT_TRUE(without);
  EXPECT_FALSE(pattern.in(parts_of(*without))) << without->policy;
  EXPECT_NE(without->before, given.before);
  EXPECT_NE(without->policy.find("\"ge\""), std::string::npos) << without->policy;
}

TEST(Pattern, ActionsThatDifferOnlyInTheirDataAreAPart) {
  const Policy reduced = x86_64_policy(R"j({"action": "errno(2)", "rules": {"read": true}})j");
  ASSERT_EQ(reduced.default_action, SECCOMP_RET_ERRNO | 1);
  const Pattern pattern(subject_of("reduced", reduced));
  const auto other = x86_64_policy(R"j({"action": "trap(2)", "rules": {"read": true}})j");
  EXPECT_FALSE(pattern.in(parts_of(subject_of("other", other))));
  Policy given = reduced;
  given.bad_arch_action = SECCOMP_RET_ERRNO | 3;
  given.rule_sets[0].action = SECCOMP_RET_ERRNO | 3;
  given.rule_sets.push_back({SECCOMP_RET_ALLOW, false, {}});
  Stripped without(subject_of("given", given));
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 1u) << "both values are replaced in one step";
  const auto left = read_policy(without.subject().policy, "left");
  ASSERT_TRUE(left);
  EXPECT_EQ(left->default_action, SECCOMP_RET_ERRNO | 1);
  EXPECT_EQ(left->bad_arch_action, SECCOMP_RET_KILL_THREAD) << "ALLOW and ERRNO are in use";
  EXPECT_EQ(left->rule_sets[0].action, SECCOMP_RET_KILL_THREAD);
}

TEST(Pattern, ATestOf64BitsMatchesTheSameTestOf32Bits) {
  const auto with = [](const char* test) {
    return subject_of("a test", x86_64_policy(std::string(
                                                  R"j({"action": "allow", "rules": {"read": {"args":
                          {"0": )j") + test + "}}}}"));
  };
  const HuntSubject wide = with(R"j({"lt": 5})j");
  const HuntSubject low = with(R"j({"lt": 5, "bits": 32})j");
  EXPECT_TRUE(Pattern(wide).in(parts_of(low)));
  EXPECT_FALSE(Pattern(low).in(parts_of(wide))) << "the failure needs 32 bits";
  const auto without = taken_out_of(Pattern(wide), low);
  ASSERT_TRUE(without);
  EXPECT_NE(without->policy.find("\"bits\""), std::string::npos) << without->policy;
}

TEST(Stripped, APolicyStaysLegal) {
  // The action for x32 calls needs x86_64, so it goes with this architecture.
  const auto read = [](std::string_view text) {
    const auto policy = read_policy(text, "a test");
    EXPECT_TRUE(policy);
    return subject_of("a test", *policy);
  };
  const Pattern pattern(read(R"j({"version": 1, "arches": ["aarch64", "riscv64"],
                                  "default_action": "allow", "rule_sets": []})j"));
  Stripped without(
      read(R"j({"version": 1, "arches": ["aarch64", "x86_64"], "x32_action": "errno(1)",
                             "default_action": "allow", "rule_sets": []})j"));
  ASSERT_TRUE(without.take_out(pattern));
  const auto left = read_policy(without.subject().policy, "left");
  ASSERT_TRUE(left) << without.subject().policy;
  EXPECT_EQ(left->arches, std::vector<Arch>{Arch::kAarch64});
  // A hot call needs an architecture that has it, so x86_64 cannot be taken out.
  Stripped hot(read(R"j({"version": 1, "arches": ["aarch64", "x86_64"], "hot": ["open"],
                         "default_action": "allow", "rule_sets": []})j"));
  EXPECT_FALSE(hot.take_out(pattern));
  EXPECT_TRUE(read_policy(hot.subject().policy, "hot")) << hot.subject().policy;
}

}  // namespace
}  // namespace secequiv::hunt::pattern_test
