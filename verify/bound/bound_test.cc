// Compares bounds with the best of all decision trees for small decisions, with all short programs,
// and with optimized policies.
#include "verify/bound/bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "harness/base/random.h"
#include "harness/bpf/builder.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "verify/bound/search_tree.h"

namespace secequiv::bound::bound_test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | 1;

std::optional<LowerBound> bound_of(const Program& program,
                                   const std::vector<SyscallCount>& profile) {
  const ProgramView view = program;
  auto found = lower_bound(FilterStack(&view, 1), Arch::kX86_64, profile, {});
  if (!found) return std::nullopt;
  return *found;
}

// The call numbers 0, 1, ..., of which the last one stands for all greater numbers as well, with
// their decisions.
struct Line {
  std::vector<std::uint32_t> decisions;
  std::vector<double> weights;
};

// Finds the least sum of weight times tests for the numbers of `set`, by trying all trees.
class AllTrees {
 public:
  explicit AllTrees(const Line& line)
      : line_(line), known_(std::size_t{1} << line.decisions.size(), -1) {}

  double least(std::uint32_t set) {
    double& known = known_[set];
    if (known >= 0) return known;
    double weight = 0;
    std::uint32_t decisions = 0;
    for (std::size_t n = 0; n < line_.decisions.size(); ++n) {
      if ((set >> n & 1) == 0) continue;
      weight += line_.weights[n];
      decisions |= 1U << line_.decisions[n];
    }
    if (std::has_single_bit(decisions)) return known = 0;
    double best = kInfinite;
    for (std::size_t n = 0; n + 1 < line_.decisions.size(); ++n)
      for (const std::uint32_t yes : {1U << n, (2U << n) - 1})
        if ((set & yes) != 0 && (set & ~yes) != 0)
          best = std::min(best, least(set & yes) + least(set & ~yes));
    return known = weight + best;
  }

 private:
  const Line& line_;
  std::vector<double> known_;
};

double bound_of(const Line& line) {
  std::vector<DecidedRange> ranges;
  std::vector<WeightedNumber> numbers;
  for (std::uint32_t n = 0; n < line.decisions.size(); ++n) {
    if (!ranges.empty() && ranges.back().decision == line.decisions[n])
      ranges.back().last = n;
    else
      ranges.push_back({n, n, line.decisions[n], true, line.decisions[n] == 0});
    numbers.push_back({n, line.weights[n]});
  }
  ranges.back().last = 0xffffffff;
  return least_tests(ranges, numbers).value();
}

// Returns the sum of the bounds of `cases` random lines, divided by the sum for their best trees.
template <class Weight>
double reached(std::size_t length, int cases, const Weight& weight) {
  double bounds = 0;
  double trees = 0;
  for (int i = 0; i < cases; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    Line line;
    const std::uint32_t kinds = random.one_in(2) ? 2 : 4;
    for (std::size_t n = 0; n < length; ++n) {
      line.decisions.push_back(static_cast<std::uint32_t>(random.below(kinds)));
      line.weights.push_back(n + 1 == length ? 0 : weight(random));
    }
    const double bound = bound_of(line);
    const double best = AllTrees(line).least((1U << length) - 1);
    EXPECT_LE(bound, best + 1e-9) << i;
    bounds += bound;
    trees += best;
  }
  return bounds / trees;
}

TEST(LeastTests, IsReachedByTheBestTreeIfWeightsAreEqual) {
  EXPECT_EQ(reached(9, of_cases(400), [](Random&) { return 1.0; }), 1);
}

TEST(LeastTests, IsHardlyBelowTheBestTreeForOtherWeights) {
  EXPECT_GE(
      reached(9, of_cases(600),
              [](Random& random) { return random.one_in(3) ? 0.0 : std::exp2(random.below(8)); }),
      0.97);
  EXPECT_GE(reached(9, of_cases(600),
                    [](Random& random) { return static_cast<double>(random.below(4)); }),
            0.98);
}

// Returns 0, 1, ... with decisions of their own, of which the last one stands for all greater
// numbers.
std::vector<DecidedRange> all_different(std::uint32_t count) {
  std::vector<DecidedRange> out;
  out.reserve(count);
  for (std::uint32_t n = 0; n < count; ++n) out.push_back({n, n, n});
  out.back().last = 0xffffffff;
  return out;
}

TEST(LeastTests, IsCloseForManyDifferentDecisions) {
  std::vector<WeightedNumber> numbers;
  for (std::uint32_t n = 0; n < 512; ++n) numbers.push_back({n, 3});
  const auto bound = least_tests(all_different(512), numbers);
  ASSERT_TRUE(bound);
  EXPECT_NEAR(*bound, 512 * 3 * 9, 1e-6);
}

TEST(LeastTests, IsUnknownAtTheDeadline) {
  EXPECT_FALSE(least_tests(all_different(5), std::vector<WeightedNumber>{{1, 1}, {3, 1}},
                           Clock::time_point::min()));
}

TEST(FewestTests, CountsOneTestForBothSidesOfANumber) {
  EXPECT_EQ(fewest_tests({}), 0u);
  EXPECT_EQ(fewest_tests(std::vector<std::uint32_t>{5, 6, 9}), 2u);
  EXPECT_EQ(fewest_tests(std::vector<std::uint32_t>{5, 6, 7, 8, 9}), 3u);
}

// A decision about arch (x86_64 or another one), a number and an argument, with few values of each.
// The last value of the number and of the argument stands for all greater values as well.
constexpr std::size_t kArches = 2;
constexpr std::size_t kNumbers = 3;
constexpr std::size_t kValues = 2;
constexpr std::size_t kInputs = kArches * kNumbers * kValues;
constexpr std::array<const char*, kNumbers> kNames = {"read", "write", "open"};

struct Cell {
  std::size_t arch, number, value;
};
constexpr Cell cell(std::size_t at) {
  return {at / (kNumbers * kValues), at / kValues % kNumbers, at % kValues};
}

struct Decision {
  std::array<std::uint32_t, kInputs> values;
  std::array<double, kNumbers> calls;
};

// Returns a program that tests arch, the number and the argument one after the other.
Program program_of(const Decision& decision) {
  Builder code;
  for (std::size_t at = 0; at < kInputs; ++at) {
    const auto [arch, number, value] = cell(at);
    const Label other = code.label();
    const auto test = [&](std::uint32_t word, std::uint16_t op, std::uint32_t k) {
      const Label here = code.label();
      code.load(word);
      code.branch(op, k, here, other);
      code.bind(here);
    };
    if (arch == 0) test(kArchWord, kJeqK, AUDIT_ARCH_X86_64);
    test(kNrWord, number + 1 == kNumbers ? kJgeK : kJeqK, static_cast<std::uint32_t>(number));
    test(4, value + 1 == kValues ? kJgeK : kJeqK, static_cast<std::uint32_t>(value));
    code.ret(decision.values[at]);
    code.bind(other);
  }
  code.ret(0);
  return code.finish();
}

// Finds the least mean cost of all trees whose tests each divide the values of one word. A register
// holds the word that was loaded last.
class AllFilters {
 public:
  explicit AllFilters(const Decision& decision) : decision_(decision) {
    known_.fill(-1);
    for (std::size_t n = 0; n < kNumbers; ++n) {
      // Almost all inputs have the argument's last value.
      const bool rest = decision.values[n * kValues + kValues - 1] == kAllow;
      const bool none = decision.values[n * kValues] != kAllow;
      weights_[n * kValues + (rest || none ? kValues - 1 : 0)] = decision.calls[n];
    }
  }

  double least() { return least((1U << kInputs) - 1, 0); }

 private:
  // `loaded`: 0: no word, otherwise the word's number + 1.
  double least(std::uint32_t set, std::size_t loaded) {
    double& known = known_[set * 4 + loaded];
    if (known >= 0) return known;
    double weight = 0;
    std::uint32_t values = 0;
    for (std::size_t at = 0; at < kInputs; ++at) {
      if ((set >> at & 1) == 0) continue;
      weight += weights_[at];
      values |= decision_.values[at] == kAllow ? 1U : 2U;
    }
    if (std::has_single_bit(values)) return known = weight;
    double best = kInfinite;
    const auto test = [&](std::size_t word, const auto& yes) {
      std::uint32_t yes_set = 0;
      for (std::size_t at = 0; at < kInputs; ++at)
        if ((set >> at & 1) != 0 && yes(cell(at))) yes_set |= 1U << at;
      if (yes_set == 0 || yes_set == set) return;
      best = std::min(best, weight * (loaded == word ? 1 : 2) + least(yes_set, word) +
                                least(set & ~yes_set, word));
    };
    test(1, [](const Cell& c) { return c.arch == 0; });
    for (std::size_t n = 0; n + 1 < kNumbers; ++n) {
      test(2, [&](const Cell& c) { return c.number == n; });
      test(2, [&](const Cell& c) { return c.number <= n; });
    }
    for (std::size_t v = 0; v + 1 < kValues; ++v)
      test(3, [&](const Cell& c) { return c.value == v; });
    return known = best;
  }

  const Decision& decision_;
  std::array<double, kInputs> weights_{};
  std::array<double, 4 << kInputs> known_{};
};

TEST(LowerBound, IsAtMostTheMeanOfTheBestFilter) {
  double bounds = 0;
  double filters = 0;
  for (int i = 0; i < of_cases(400); ++i) {
    Random random(static_cast<std::uint64_t>(i));
    Decision decision{};
    const std::size_t often = random.below(5);
    for (std::uint32_t& value : decision.values) value = random.below(5) < often ? kAllow : kDeny;
    for (std::size_t at = kInputs / 2; at < kInputs; ++at)  // other architectures: often denied
      if (!random.one_in(4)) decision.values[at] = kDeny;
    std::vector<SyscallCount> profile;
    double calls = 0;
    for (std::size_t n = 0; n < kNumbers; ++n) {
      const std::uint64_t count = std::uint64_t{1} << random.below(6);
      decision.calls[n] = static_cast<double>(count);
      calls += decision.calls[n];
      profile.push_back({kNames[n], count});
    }
    const Program program = program_of(decision);
    const auto bound = bound_of(program, profile);
    ASSERT_TRUE(bound);
    const double best = AllFilters(decision).least() / calls;
    EXPECT_LE(bound->comparing.mean_uncached, best + 1e-6) << i << "\n" << asm_text(program);
    EXPECT_LE(bound->any.mean_uncached, bound->comparing.mean_uncached);
    EXPECT_LE(bound->comparing.mean, bound->comparing.mean_uncached);
    bounds += bound->comparing.mean_uncached;
    filters += best;
  }
  EXPECT_GE(bounds / filters, 0.8);
}

// All programs with at most `length` instructions from a few. Numbers from 3 on are decided as 2 or
// 3 are, whichever has the same lowest bit.
class AllPrograms {
 public:
  struct Best {
    Program program;  // one that decides so
    std::size_t instructions = 99;
    double mean = kInfinite;
    std::size_t comparing_instructions = 99;
    double comparing_mean = kInfinite;
  };
  using Decided = std::array<std::uint32_t, 8>;

  explicit AllPrograms(std::size_t length) {
    for (std::size_t n = 1; n <= length; ++n) {
      program_.resize(n);
      fill(0);
    }
  }
  std::map<Decided, Best> best;

 private:
  void fill(std::size_t pc) {
    if (pc == program_.size()) return finished();
    const auto put = [&](const Insn& in) {
      program_[pc] = in;
      fill(pc + 1);
    };
    put({kRetK, 0, 0, kAllow});
    put({kRetK, 0, 0, kDeny});
    if (pc + 1 == program_.size()) return;
    put({kLdWAbs, 0, 0, 4 * kNrWord});
    put({kLdWAbs, 0, 0, 4 * kArchWord});
    put({kAndK, 0, 0, 1});
    const auto last = static_cast<std::uint8_t>(program_.size() - pc - 2);
    for (std::uint8_t yes = 0; yes <= last; ++yes)
      for (std::uint8_t no = 0; no <= last; ++no) {
        if (yes == no) continue;
        put({kJeqK, yes, no, 1});
        put({kJgeK, yes, no, 2});
        put({kJsetK, yes, no, 1});
        put({kJeqK, yes, no, AUDIT_ARCH_X86_64});
      }
  }

  void finished() {
    Decided decided{};
    std::size_t sum = 0;
    for (std::uint32_t at = 0; at < decided.size(); ++at) {
      SeccompData data;
      data.set_nr(at % 4);
      data.set_arch(at < 4 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_I386);
      decided[at] = run(program_, data);
      if (at < 4) sum += executed(program_, data);
    }
    Best& found = best[decided];
    const double mean = static_cast<double>(sum) / 4;
    const bool compares = std::ranges::none_of(
        program_, [](const Insn& in) { return in.code == kAndK || in.code == kJsetK; });
    if (found.program.empty()) found.program = program_;
    found.instructions = std::min(found.instructions, program_.size());
    found.mean = std::min(found.mean, mean);
    if (!compares) return;
    found.comparing_instructions = std::min(found.comparing_instructions, program_.size());
    found.comparing_mean = std::min(found.comparing_mean, mean);
  }

  Program program_;
};

TEST(LowerBound, IsAtMostWhatTheBestShortProgramReaches) {
  const AllPrograms all(kShare == 1 ? 5 : 4);
  const std::vector<SyscallCount> profile = {{"read", 1}, {"write", 1}, {"open", 1}, {"close", 1}};
  int exact = 0;
  int comparing = 0;
  for (const auto& [decided, best] : all.best) {
    const auto bound = bound_of(best.program, profile);
    if (!bound) continue;  // it depends on the lowest bit of arch or nr
    EXPECT_LE(bound->any.instructions, best.instructions) << asm_text(best.program);
    EXPECT_LE(bound->any.mean_uncached, best.mean) << asm_text(best.program);
    if (best.comparing_mean == kInfinite) continue;
    ++comparing;
    EXPECT_LE(bound->comparing.instructions, best.comparing_instructions) << asm_text(best.program);
    EXPECT_LE(bound->comparing.mean_uncached, best.comparing_mean) << asm_text(best.program);
    exact += bound->comparing.instructions == best.comparing_instructions &&
                     bound->comparing.mean_uncached > best.comparing_mean - 1e-6
                 ? 1
                 : 0;
  }
  EXPECT_GE(comparing, kShare == 1 ? 8 : 4);
  EXPECT_GE(exact, comparing / 2) << "of " << comparing;
}

TEST(LowerBound, CachedCallsCostNothing) {
  const Program program = assemble(
      "ld [0]\njeq #0, allow, n\nn: jeq #1, allow, deny\nallow: ret #0x7fff0000\n"
      "deny: ret #0x50001");
  const auto bound = bound_of(program, {{"read", 3}, {"write", 3}, {"open", 2}});
  ASSERT_TRUE(bound);
  EXPECT_NEAR(bound->comparing.mean, 3 * 2. / 8, 1e-9);
  EXPECT_NEAR(bound->comparing.mean_uncached, 3, 1e-9) << "jge #2 decides all";
  EXPECT_EQ(bound->comparing.instructions, 4u);
  EXPECT_EQ(bound->by_number, 8u);
}

TEST(LowerBound, ArithmeticReachesTheBoundForAllFilters) {
  const auto bound =
      bound_of(assemble("ld [0]\njge #0x80000000, y, n\ny: ret #1\nn: ret #0"), {{"read", 1}});
  ASSERT_TRUE(bound);
  const Program shorter = assemble("ld [0]\nrsh #31\nret a");
  EXPECT_EQ(bound->any.instructions, shorter.size());
  EXPECT_NEAR(bound->any.mean, static_cast<double>(executed(shorter, SeccompData{})), 1e-9);
}

TEST(LowerBound, IsUnknownForComputedValues) {
  EXPECT_FALSE(bound_of(assemble("ld [0]\nret a"), {}));
  EXPECT_FALSE(bound_of(assemble("ld [16]\ntax\nld [0]\njeq x, y, n\ny: ret #0\nn: ret #1"), {}));
}

}  // namespace
}  // namespace secequiv::bound::bound_test
