// Classes of inputs (Sameness::kEffect): folding against all inputs one by one, and the diagrams
// against Z3.
#include "verify/dd/classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/input_class.h"
#include "verify/dd/engine.h"
#include "verify/smt/classes.h"

namespace secequiv::dd::classes_test {
namespace {

Program program(std::string_view text) {
  auto read = read_program(text, "test");
  EXPECT_TRUE(read) << read.error().text();
  return *read;
}

Question effect(const Program& before, const Program& after) {
  Question out;
  out.before = {before};
  out.after = {after};
  out.sameness = Sameness::kEffect;
  return out;
}

Proof proven(const Question& question) {
  auto out = prove(question);
  EXPECT_TRUE(out) << out.error().text();
  return *out;
}

// socket(AF_ALG, ...) is refused. The kernel reads its first argument as an int.
constexpr std::string_view kLowHalf =
    "ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, l\n"
    "s: ld [16]\njeq #38, k, l\nl: ret #0x7fff0000\nk: ret #0x50001\n";
constexpr std::string_view kBothHalves =
    "ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, l\n"
    "s: ld [16]\njeq #38, h, l\nh: ld [20]\njeq #0, k, l\nl: ret #0x7fff0000\nk: ret #0x50001\n";
// Refuses AF_ALG, and everything with a high half.
constexpr std::string_view kStrict =
    "ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, l\n"
    "s: ld [20]\njeq #0, t, k\nt: ld [16]\njeq #38, k, l\nl: ret #0x7fff0000\nk: ret #0x50001\n";

TEST(Classes, AChanceToPassBySettingIgnoredBitsIsADifference) {
  const Program low = program(kLowHalf);
  const Program both = program(kBothHalves);
  const Question question = effect(low, both);
  const Proof proof = proven(question);
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.relation, Relation::kLooser);
  ASSERT_TRUE(proof.witness);
  EXPECT_EQ(proof.witness->before, 0x50001u);
  EXPECT_EQ(proof.witness->after, 0x7fff0000u);
  EXPECT_EQ(proof.witness->data.words[4], 38u);
  EXPECT_EQ(proof.witness->data.words[5], 1u) << "the smallest high half that passes";
  // The second filter refuses more single inputs, and still refuses no effect.
  EXPECT_EQ(proven(effect(both, low)).relation, Relation::kStricter);
}

// The filter returns another error number for most members of the class and allows the others.
TEST(Classes, TheExampleOfALooserClassIsAMoreLenientMember) {
  const Program low = program(kLowHalf);
  const Program looser = program(
      "ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, l\ns: ld [16]\njeq #38, h, l\n"
      "h: ld [20]\njeq #7, l, e\ne: ret #0x50002\nl: ret #0x7fff0000\nk: ret #0x50001\n");
  Question question = effect(low, looser);
  question.goal = Question::Goal::kRefines;
  const auto proof = prove(question);
  ASSERT_TRUE(proof) << proof.error().text();
  ASSERT_EQ(proof->verdict, Verdict::kDifferent);
  EXPECT_EQ(proof->witness->before, 0x50001u);
  EXPECT_EQ(proof->witness->after, 0x7fff0000u);
  EXPECT_EQ(proof->witness->data.words[5], 7u);
}

TEST(Classes, DroppingATestOfIgnoredBitsIsNoDifference) {
  const Program strict = program(kStrict);
  const Program low = program(kLowHalf);
  EXPECT_EQ(proven(effect(strict, low)).verdict, Verdict::kEquivalent);
  Question raw = effect(strict, low);
  raw.sameness = Sameness::kBehaviour;
  EXPECT_EQ(proven(raw).verdict, Verdict::kDifferent);
}

TEST(Classes, AnAssumptionRestrictsTheMembersOfClasses) {
  const Program low = program(kLowHalf);
  const Program both = program(kBothHalves);
  Question question = effect(low, both);
  question.assumption = *parse_assumption("arg0.hi == 0", Arch::kX86_64);
  EXPECT_EQ(proven(question).verdict, Verdict::kEquivalent);
  question.assumption = *parse_assumption("arg0.hi == 0x500", Arch::kX86_64);
  const Proof proof = proven(question);
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data.words[5], 0x500u);
}

TEST(Classes, OtherDataOfTheMostPermissiveActionIsADifference) {
  const auto with = [](std::string_view high) {
    return program(std::string("ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, k\n"
                               "s: ld [20]\njeq #7, v, w\nv: ret #") +
                   std::string(high) + "\nw: ret #0x50002\nk: ret #0\n");
  };
  const Program one = with("0x50001");
  const Program three = with("0x50003");
  const Program same = with("0x50002");
  EXPECT_EQ(proven(effect(one, three)).verdict, Verdict::kDifferent);
  EXPECT_EQ(proven(effect(one, three)).relation, Relation::kEqual);
  // ERRNO(1) is possible for the first filter only.
  const Proof fewer = proven(effect(one, same));
  ASSERT_EQ(fewer.verdict, Verdict::kDifferent);
  EXPECT_EQ(fewer.witness->before, 0x50001u);
  EXPECT_EQ(proven(effect(one, with("0"))).verdict, Verdict::kDifferent);
  EXPECT_EQ(proven(effect(same, with("0"))).verdict, Verdict::kEquivalent)
      << "a killed member does not matter if another one only gets an error";
}

TEST(Classes, AComputedReturnValueIsUndecided) {
  const Program computed = program("ld [16]\nand #0xff\nor #0x50000\nret a\n");
  const Program other = program("ret #0x50001\n");
  EXPECT_EQ(proven(effect(computed, other)).verdict, Verdict::kUnknown);
}

// Filters that test a few bits, so that all inputs can be run.
constexpr std::uint32_t kNumbers[] = {41, 16, 999};  // socket, ioctl, unknown: ignores nothing
struct FreeBit {
  std::uint32_t word;
  std::uint32_t bit;
};
constexpr FreeBit kBits[] = {{4, 0}, {5, 0}, {5, 31}, {7, 0}, {8, 0}, {9, 0}, {10, 3}};
constexpr std::uint32_t kReturns[] = {0x7fff0000, 0x7ffc0000, 0x50001,   0x50002,
                                      0x30005,    0x80000000, 0x7ff00001};

class RandomFilters {
 public:
  explicit RandomFilters(std::uint32_t seed) : random_(seed) {}

  Program next() {
    Program out = {{0x20, 0, 0, 0}};  // ld [0]
    const std::size_t tests = 2 + random_() % 8;
    out.push_back(test(0x15, kNumbers[random_() % 2]));
    for (std::size_t i = 0; i < tests; ++i) {
      const FreeBit bit = kBits[random_() % std::size(kBits)];
      out.push_back({0x20, 0, 0, bit.word * 4});
      out.push_back(random_() % 2 == 0 ? test(0x45, 1U << bit.bit) : test(0x15, 1U << bit.bit));
    }
    const std::size_t returns = 2 + random_() % 4;
    for (std::size_t i = 0; i < returns; ++i)
      out.push_back({0x06, 0, 0, kReturns[random_() % std::size(kReturns)]});
    // A jump goes to a load or to a return value.
    for (std::size_t pc = 0; pc < out.size(); ++pc) {
      if (out[pc].code != 0x15 && out[pc].code != 0x45) continue;
      for (std::uint8_t* jump : {&out[pc].jt, &out[pc].jf}) {
        std::size_t to = pc + 1 + random_() % (out.size() - pc - 1);
        while (out[to].code == 0x15 || out[to].code == 0x45) ++to;
        *jump = static_cast<std::uint8_t>(to - pc - 1);
      }
    }
    return out;
  }

  // Returns the filter with one immediate or jump changed.
  Program changed(Program program) {
    for (;;) {
      Insn& in = program[random_() % program.size()];
      if (in.code == 0x06) {
        in.k = kReturns[random_() % std::size(kReturns)];
        return program;
      }
      if (in.code == 0x15 || in.code == 0x45) {
        std::swap(in.jt, in.jf);
        return program;
      }
    }
  }

  std::uint32_t pick() { return static_cast<std::uint32_t>(random_()); }

 private:
  static Insn test(std::uint16_t code, std::uint32_t k) { return {code, 0, 0, k}; }
  std::mt19937 random_;
};

// The most permissive action of each class and its data, by running all inputs.
struct Outcome {
  std::int32_t action = 0;
  std::set<std::uint32_t> values;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
using Outcomes = std::map<SeccompData, Outcome>;

Outcomes by_runs(const Program& program) {
  Outcomes out;
  const ProgramView view = program;
  for (const std::uint32_t nr : kNumbers) {
    for (std::uint32_t mask = 0; mask < 1U << std::size(kBits); ++mask) {
      SeccompData data;
      data.set_nr(nr);
      data.set_arch(AUDIT_ARCH_X86_64);
      for (std::size_t i = 0; i < std::size(kBits); ++i)
        if ((mask >> i & 1) != 0) data.words[kBits[i].word] |= 1U << kBits[i].bit;
      const std::uint32_t value = behaviour_of(run_stack({&view, 1}, data));
      Outcome& outcome = out[class_of(data)];
      if (outcome.values.empty() || precedence(value) > outcome.action)
        outcome = {precedence(value), {}};
      if (precedence(value) == outcome.action) outcome.values.insert(value);
    }
  }
  return out;
}

// Restricts a question to the inputs that by_runs() runs.
Question restricted(const Program& before, const Program& after) {
  Question out = effect(before, after);
  std::string text = "arch == x86_64 && nr in {16, 41, 999}";
  std::map<std::uint32_t, std::uint32_t> masks;
  for (std::uint32_t word = kArgsWord; word < SeccompData::kWords; ++word) masks[word] = 0;
  for (const FreeBit& bit : kBits) masks[bit.word] |= 1U << bit.bit;
  for (const auto& [word, mask] : masks)
    text += " && arg" + std::to_string((word - kArgsWord) / 2) + (word % 2 == 0 ? ".lo" : ".hi") +
            " & " + std::to_string(~mask) + " == 0";
  out.assumption = *parse_assumption(text, Arch::kX86_64);
  return out;
}

Relation relation_by_runs(const Outcomes& before, const Outcomes& after) {
  bool looser = false;
  bool stricter = false;
  for (const auto& [data, outcome] : before) {
    looser = looser || after.at(data).action > outcome.action;
    stricter = stricter || after.at(data).action < outcome.action;
  }
  return relation_of(looser, stricter);
}

// Checks one pair; returns the engine's verdict.
template <class Engine>
Verdict agrees(const Program& before, const Program& after, const Engine& engine) {
  const Outcomes old_outcomes = by_runs(before);
  const Outcomes new_outcomes = by_runs(after);
  const Question question = restricted(before, after);
  const auto proof = engine(question);
  EXPECT_TRUE(proof) << proof.error().text();
  EXPECT_EQ(proof->verdict,
            old_outcomes == new_outcomes ? Verdict::kEquivalent : Verdict::kDifferent);
  EXPECT_EQ(proof->relation, relation_by_runs(old_outcomes, new_outcomes));
  if (proof->witness) {
    const SeccompData one = class_of(proof->witness->data);
    EXPECT_NE(old_outcomes.at(one), new_outcomes.at(one)) << "the witness shows no difference";
  }
  return proof->verdict;
}

TEST(Classes, RandomFiltersAgreeWithAllInputsRunOneByOne) {
  RandomFilters random(1);
  std::map<Verdict, int> verdicts;
  const int cases = 500 + of_cases(4500);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const Program before = random.next();
    const Program after = random.changed(before);
    ASSERT_FALSE(refusal_of(before)) << describe(*refusal_of(before), before);
    ++verdicts[agrees(before, after, [](const Question& question) { return prove(question); })];
  }
  EXPECT_GT(verdicts[Verdict::kEquivalent], cases / 10);
  EXPECT_GT(verdicts[Verdict::kDifferent], cases / 10);
}

TEST(Classes, Z3AgreesWithAllInputsRunOneByOne) {
  RandomFilters random(2);
  std::map<Verdict, int> verdicts;
  const int cases = 20 + of_cases(40);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const Program before = random.next();
    const Program after = random.changed(before);
    ++verdicts[agrees(before, after,
                      [](const Question& question) { return smt::prove_classes(question, 600); })];
  }
  EXPECT_GT(verdicts[Verdict::kEquivalent], cases / 10);
  EXPECT_GT(verdicts[Verdict::kDifferent], cases / 10);
}

// Returns the least permissive decision of each class of a call, with any of its data.
NodeId least_permissive(Space& space, NodeId function, std::uint32_t nr) {
  const auto key = [&](NodeId leaf) {
    return std::pair(precedence(space.one_possible(leaf)), leaf);
  };
  return space.diagrams().fold(
      function, ignored_levels(space, AUDIT_ARCH_X86_64, nr), [&](NodeId a, NodeId b) {
        return std::min(a, b, [&](NodeId x, NodeId y) { return key(x) < key(y); });
      });
}

TEST(Classes, TheDecisionsOfClassesAreTheExtremesOfTheirMembers) {
  RandomFilters random(3);
  for (int i = 0; i < 200; ++i) {
    const Program filter = random.next();
    const ProgramView view = filter;
    Space space({&view, 1}, {});
    const Decisions single = space.decisions(view, Sameness::kBehaviour);
    const Decisions most = over_classes(space, single, Diagrams::kOne);
    ASSERT_FALSE(space.exhausted());
    EXPECT_EQ(space.more_permissive(single, most), Diagrams::kZero);
    const NodeId here = space.fix(single.root, kArchWord, AUDIT_ARCH_X86_64);
    const NodeId most_here = space.fix(most.root, kArchWord, AUDIT_ARCH_X86_64);
    for (const std::uint32_t nr : kNumbers) {
      const NodeId members = space.fix(here, kNrWord, nr);
      const Decisions least = {least_permissive(space, members, nr), false};
      EXPECT_EQ(space.more_permissive(least, {members, false}), Diagrams::kZero);
      const NodeId folded = space.fix(most_here, kNrWord, nr);
      EXPECT_EQ(least_permissive(space, folded, nr), folded) << "constant on each class";
    }
  }
}

}  // namespace
}  // namespace secequiv::dd::classes_test
