// Classes of inputs that a filter splits: the search against all inputs run one by one.
#include "verify/dd/holes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/input_class.h"
#include "harness/seccomp/seen_bits.h"

namespace secequiv::dd::holes_test {
namespace {

std::vector<SplitClass> found_in(const Program& program, Arch host = Arch::kX86_64) {
  const ProgramView view = program;
  Space space({&view, 1}, {});
  const Decisions decisions = space.decisions(view, Sameness::kBehaviour);
  EXPECT_FALSE(decisions.computed);
  auto out = split_classes(space, decisions, host);
  EXPECT_FALSE(space.exhausted());
  return out;
}

// The values of one group of bits of an argument. The filters below compare a group only with the
// first two, so another value stands for all others. Bit 31 and the value of 32 ones make
// sign-extended numbers.
struct Group {
  std::size_t argument;
  std::uint64_t mask;
  std::vector<std::uint64_t> values;
};
constexpr std::uint64_t kHigh = 0xffffffff00000000;
constexpr std::uint64_t kOne = 0x100000000;
const Group kGroups[] = {
    {0, 1, {0, 1}},
    {0, kOne >> 1, {0, kOne >> 1}},
    {0, kHigh, {0, kOne, kHigh, 2 * kOne}},
    {1, kOne >> 1, {0, kOne >> 1}},
    {1, kHigh, {0, kHigh, kOne}},
    {2, kOne >> 1, {0, kOne >> 1}},
    {2, kHigh, {0, kHigh, kOne}},
    {3, 8, {0, 8}},
};
constexpr std::uint32_t kCalls[] = {41, 16, 0};  // socket, ioctl, read
constexpr std::uint32_t kActions[] = {0x7fff0000, 0x7ffc0000, 0x50001,    0x50002,
                                      0x30005,    0x80000000, 0x7ff00001, 0x7fff0000};

Rule random_rule(Random& random, int depth) {
  Rule out;
  if (depth == 0 || random.one_in(3)) {
    out.kind = Rule::Kind::kArgs;
    const std::size_t tests = 1 + random.below(2);
    for (std::size_t i = 0; i < tests; ++i) {
      const Group& group = kGroups[random.below(std::size(kGroups))];
      Matcher& test = out.fields[group.argument];
      test.op = Matcher::Op::kMaskedEq;
      // Two groups of one argument make one test.
      test.mask |= group.mask;
      test.value = (test.value & ~group.mask) | group.values[random.below(2)];
    }
    return out;
  }
  out.kind = random.one_in(2) ? Rule::Kind::kAnyOf : Rule::Kind::kAllOf;
  const std::size_t children = 2 + random.below(2);
  for (std::size_t i = 0; i < children; ++i) out.children.push_back(random_rule(random, depth - 1));
  return out;
}

Policy policy_of_few_bits(Random& random) {
  Policy out;
  out.arches = {Arch::kX86_64};
  out.default_action = random.pick(kActions);
  out.bad_arch_action = 0x80000000;
  const std::size_t sets = 1 + random.below(3);
  for (std::size_t i = 0; i < sets; ++i) {
    RuleSet& set = out.rule_sets.emplace_back();
    set.action = random.pick(kActions);
    std::vector<std::uint32_t> calls(std::begin(kCalls), std::end(kCalls));
    std::ranges::sort(calls);
    for (const std::uint32_t nr : calls)
      if (!random.one_in(3)) set.rules.push_back({Arch::kX86_64, nr, random_rule(random, 2)});
  }
  return out;
}

// Runs all inputs of a call whose arguments are made of the groups' values.
class OneByOne {
 public:
  OneByOne(const Program& program, std::uint32_t nr)
      : seen_(seen_arguments(AUDIT_ARCH_X86_64, nr)) {
    const ProgramView view = program;
    SeccompData data;
    data.set_nr(nr);
    data.set_arch(AUDIT_ARCH_X86_64);
    add(view, data, 0);
  }

  // The sets of arguments for which an example must exist: first holes, then the others.
  std::set<std::pair<std::uint8_t, bool>> expected() const {
    std::set<std::pair<std::uint8_t, bool>> out;
    std::uint8_t any = 0;
    for (int i = 0; i < kArgCount; ++i)
      if (seen_[index(i)].bits != ~0ULL && is_tested(i)) any |= static_cast<std::uint8_t>(1U << i);
    for (const bool hole : {true, false}) {
      std::set<SeccompData> known;
      for (int i = 0; i < kArgCount; ++i)
        if ((any >> i & 1) != 0 && splits(1U << i, hole, known))
          out.emplace(static_cast<std::uint8_t>(1U << i), hole);
      if (std::popcount(any) < 2) continue;
      for (const auto& [unused, members] : classes_)
        if (std::ranges::any_of(members, [&](const Run& run) {
              return plain(run.data) && lets_run(run.value) == hole;
            }))
          for (const Run& run : members) known.insert(run.data);
      if (splits(any, hole, known)) out.emplace(any, hole);
    }
    return out;
  }

  [[nodiscard]] bool plain(const SeccompData& data) const {
    for (int i = 0; i < kArgCount; ++i)
      if (!plain(data, i)) return false;
    return true;
  }

 private:
  struct Run {
    SeccompData data;
    std::uint32_t value;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  // Returns whether the decision depends on the argument for some input.
  [[nodiscard]] bool is_tested(int argument) const {
    std::map<SeccompData, std::uint32_t> values;  // by the input without the argument
    for (const auto& [unused, members] : classes_)
      for (const Run& run : members) {
        SeccompData rest = run.data;
        rest.set_field(argument, 0, Endian::kLittle);
        if (values.emplace(rest, run.value).first->second != run.value) return true;
      }
    return false;
  }

  void add(ProgramView view, const SeccompData& data, std::size_t group) {
    if (group == std::size(kGroups)) {
      classes_[class_of(data)].push_back({data, run_stack({&view, 1}, data)});
      return;
    }
    const Group& now = kGroups[group];
    for (const std::uint64_t value : now.values) {
      SeccompData next = data;
      const int argument = static_cast<int>(now.argument);
      next.set_field(argument, data.field(argument, Endian::kLittle) | value, Endian::kLittle);
      add(view, next, group + 1);
    }
  }

  [[nodiscard]] bool plain(const SeccompData& data, int argument) const {
    const SeenArgument& seen = seen_[index(argument)];
    const std::uint64_t value = data.field(argument, Endian::kLittle) & ~seen.bits;
    if (value == 0) return true;
    const bool negative = (data.field(argument, Endian::kLittle) & seen.bits) > seen.bits / 2;
    return seen.is_signed && negative && value == ~seen.bits;
  }

  // Adds the plain inputs that have a counterpart to `known`; returns whether there is a new one.
  bool splits(unsigned arguments, bool hole, std::set<SeccompData>& known) const {
    const auto refused = [](std::uint32_t value) { return !lets_run(value); };
    const auto is_counterpart = [&](const SeccompData& data, const SeccompData& other) {
      for (int i = 0; i < kArgCount; ++i)
        if ((arguments >> i & 1) == 0 &&
            data.field(i, Endian::kLittle) != other.field(i, Endian::kLittle))
          return false;
      return !plain(other);
    };
    std::set<SeccompData> found;
    for (const auto& [unused, members] : classes_) {
      for (const Run& run : members) {
        if (!plain(run.data) || known.contains(run.data) ||
            !(hole ? refused(run.value) : lets_run(run.value)))
          continue;
        if (std::ranges::any_of(members, [&](const Run& other) {
              return (hole ? lets_run(other.value) : refused(other.value)) &&
                     is_counterpart(run.data, other.data);
            }))
          found.insert(run.data);
      }
    }
    known.insert(found.begin(), found.end());
    return !found.empty();
  }

  SeenArguments seen_;
  std::map<SeccompData, std::vector<Run>> classes_;
};

// Checks an example: the filter decides as claimed, the kernel cannot tell the inputs apart, and
// only the named arguments differ.
void check_example(const Program& program, const SplitClass& found, const OneByOne& all) {
  const ProgramView view = program;
  EXPECT_FALSE(lets_run(run_stack({&view, 1}, found.refused)));
  EXPECT_TRUE(lets_run(run_stack({&view, 1}, found.allowed)));
  EXPECT_EQ(class_of(found.refused), class_of(found.allowed));
  EXPECT_EQ(all.plain(found.refused), found.hole);
  EXPECT_EQ(all.plain(found.allowed), !found.hole);
  for (int i = 0; i < kArgCount; ++i) {
    const bool differs =
        found.refused.field(i, Endian::kLittle) != found.allowed.field(i, Endian::kLittle);
    if (differs) EXPECT_NE(found.arguments >> i & 1, 0) << "argument " << i;
    if (found.arguments == 1U << i) EXPECT_TRUE(differs) << "argument " << i;
  }
}

TEST(Holes, RandomFiltersAgreeWithAllInputsRunOneByOne) {
  Random random(1);
  std::map<std::tuple<std::uint32_t, bool, bool>, int> seen;  // call, several arguments, hole
  const int cases = 100 + of_cases(900);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const Program program = compile(policy_of_few_bits(random));
    std::map<std::uint32_t, std::vector<SplitClass>> by_call;
    for (const SplitClass& found : found_in(program)) by_call[found.nr].push_back(found);
    for (const std::uint32_t nr : kCalls) {
      const OneByOne all(program, nr);
      std::set<std::pair<std::uint8_t, bool>> found;
      for (const SplitClass& one : by_call[nr]) {
        // Both forms of a negative number have tests of their own.
        if (all.plain(one.refused) && all.plain(one.allowed)) continue;
        EXPECT_TRUE(found.emplace(one.arguments, one.hole).second);
        check_example(program, one, all);
        ++seen[{nr, std::popcount(one.arguments) > 1, one.hole}];
      }
      EXPECT_EQ(found, all.expected()) << "filter " << i << ", call " << nr;
      by_call.erase(nr);
    }
    EXPECT_TRUE(by_call.empty());
  }
  EXPECT_GT((seen[{41, false, true}]), cases / 5);
  EXPECT_GT((seen[{41, false, false}]), cases / 5);
  EXPECT_GT((seen[{41, true, true}]), cases / 50);
  EXPECT_GT((seen[{41, true, false}]), cases / 50);
  EXPECT_GT((seen[{16, false, true}]), cases / 10);
}

// Refuses the call with this value of the argument, compared with all 64 bits.
Policy refusing(Arch arch, std::string_view call, std::size_t argument, std::uint64_t value) {
  Policy out;
  out.arches = {arch};
  out.default_action = 0x7fff0000;
  out.bad_arch_action = 0x80000000;
  Rule rule;
  rule.kind = Rule::Kind::kArgs;
  rule.fields[argument].op = Matcher::Op::kEq;
  rule.fields[argument].value = value;
  out.rule_sets = {{.action = 0x50001, .vsyscall = false, .rules = {}}};
  out.rule_sets[0].rules = {{arch, *syscall_nr(arch, call), rule}};
  return out;
}

TEST(Holes, TheSmallestExampleOfAHole) {
  const Policy ioctl = refusing(Arch::kX86_64, "ioctl", 1, 0x5412);
  const auto found = found_in(compile(ioctl));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].hole);
  EXPECT_EQ(found[0].arguments, 2);
  EXPECT_EQ(found[0].refused.field(1, Endian::kLittle), 0x5412u);
  EXPECT_EQ(found[0].allowed.field(1, Endian::kLittle), 0x100005412u);
  Policy low = ioctl;
  low.rule_sets[0].rules[0].rule.fields[1].low_half = true;
  EXPECT_TRUE(found_in(compile(low)).empty());
}

TEST(Holes, ASignExtendedNumberIsPlain) {
  // socket(-1): programs may pass it with or without the high bits, so one of both is refused.
  const Policy policy = refusing(Arch::kX86_64, "socket", 0, ~std::uint64_t{0});
  const auto found = found_in(compile(policy));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].refused.field(0, Endian::kLittle), ~std::uint64_t{0});
  const std::uint64_t allowed = found[0].allowed.field(0, Endian::kLittle);
  EXPECT_EQ(allowed & 0xffffffff, 0xffffffffu);
  EXPECT_NE(allowed >> 32, 0u) << "0xffffffff is plain, too";
}

// Returns a policy for kill's first argument. The first rule that matches decides.
Policy about_kill(std::uint32_t otherwise, std::vector<std::pair<std::uint32_t, Matcher>> tests) {
  Policy out = refusing(Arch::kX86_64, "kill", 0, 0);
  out.default_action = otherwise;
  const SyscallRule rule = out.rule_sets[0].rules[0];
  out.rule_sets.clear();
  for (auto& [action, test] : tests) {
    RuleSet& set = out.rule_sets.emplace_back();
    set.action = action;
    set.rules = {rule};
    set.rules[0].rule.fields[0] = std::move(test);
  }
  return out;
}

Matcher matcher(Matcher::Op op, std::uint64_t value) {
  Matcher out;
  out.op = op;
  out.value = value;
  return out;
}

TEST(Holes, ANegativeNumberThatPassesInOneOfItsFormsOnly) {
  using Op = Matcher::Op;
  const std::uint64_t sign_extended = ~std::uint64_t{0};
  // The filter refuses -1 on purpose: it allows other numbers. 0xffffffff does the same.
  const Policy refused = about_kill(0x7fff0000, {{0x50001, matcher(Op::kGt, 0xffffffff)}});
  const auto found = found_in(compile(refused));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].hole);
  EXPECT_EQ(found[0].refused.field(0, Endian::kLittle) >> 31, sign_extended >> 31);
  EXPECT_EQ(found[0].allowed.field(0, Endian::kLittle),
            found[0].refused.field(0, Endian::kLittle) & 0xffffffff);
  EXPECT_FALSE(found[1].hole);
  // The filter allows -1 on purpose: it refuses all other numbers.
  const Policy allowed = about_kill(0x50001, {{0x7fff0000, matcher(Op::kEq, sign_extended)}});
  for (const SplitClass& one : found_in(compile(allowed))) EXPECT_FALSE(one.hole);
}

TEST(Holes, HalvesHaveTheArchitecturesByteOrder) {
  const Policy policy = refusing(Arch::kS390x, "ioctl", 1, 0x5412);
  const auto found = found_in(compile(policy));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].arch, Arch::kS390x);
  EXPECT_EQ(found[0].allowed.field(1, Endian::kBig), 0x100005412u);
}

TEST(Holes, AFilterWithoutATestOfTheArchitectureIsSearchedForTheHost) {
  // ld [0]; jeq #16; ld [24]; jeq #0x5412; ld [28]; jeq #0
  const Program program = {{0x20, 0, 0, 0},       {0x15, 0, 5, 16},        {0x20, 0, 0, 24},
                           {0x15, 0, 3, 0x5412},  {0x20, 0, 0, 28},        {0x15, 0, 1, 0},
                           {0x06, 0, 0, 0x50001}, {0x06, 0, 0, 0x7fff0000}};
  const auto found = found_in(program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].arch, Arch::kX86_64);
  // On aarch64, 16 is the number of fremovexattr, which looks at pointers as a whole.
  EXPECT_TRUE(found_in(program, Arch::kAarch64).empty());
}

}  // namespace
}  // namespace secequiv::dd::holes_test
