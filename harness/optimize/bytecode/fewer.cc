// The pass that replaces a few tests of A by fewer tests that find the same ranges.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>

#include "harness/bpf/flow.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/optimize/bytecode/passes.h"

namespace secequiv::detail {
namespace {

constexpr std::size_t kMostTests = 3;  // that are replaced together

bool tests_range(const Insn& in) {
  return in.code == kJeqK || in.code == kJgtK || in.code == kJgeK;
}

bool outcome_for(const Insn& test, std::uint32_t a) {
  return test.code == kJeqK ? a == test.k : test.code == kJgtK ? a > test.k : a >= test.k;
}

// The values of A between two neighbouring bounds of the tests. All of them take the same path.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t exit = 0;   // the instruction to which the tests lead
  std::size_t tests = 0;  // executed on the way
};

// Sets of ranges are bit masks.
using Ranges = std::uint32_t;

// A tree of tests: by number, both sides are another test or an exit.
struct Decision {
  Insn test;
  Ranges yes = 0;
  Ranges no = 0;
};

class Run {
 public:
  Run(ProgramView program, std::size_t pc, std::size_t size) : tests_(program.subspan(pc, size)) {
    std::vector<std::uint32_t> bounds = {0};
    for (const Insn& test : tests_) {
      if (test.code != kJgtK) bounds.push_back(test.k);
      if (test.code != kJgeK) bounds.push_back(test.k + 1);  // 0 after the last value
    }
    std::ranges::sort(bounds);
    bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      Range range{bounds[i], i + 1 < bounds.size() ? bounds[i + 1] - 1 : 0xffffffff, pc, 0};
      while (range.exit < pc + size) {
        const Insn& test = program[range.exit];
        range.exit = jump_target(range.exit, test, outcome_for(test, range.first));
        ++range.tests;
      }
      ranges_.push_back(range);
    }
  }

  // Returns fewer tests, in order, such that no value of A meets more tests than before.
  std::optional<std::vector<Decision>> fewer() {
    for (std::size_t length = fewest(); length < tests_.size(); ++length) {
      chosen_.clear();
      if (solve((Ranges{1} << ranges_.size()) - 1, length, 0)) return chosen_;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t exit_of(Ranges set) const {
    return ranges_[static_cast<std::size_t>(std::countr_zero(set))].exit;
  }
  [[nodiscard]] bool one_exit(Ranges set) const {
    return all_of(set, [&](const Range& range) { return range.exit == exit_of(set); });
  }

 private:
  // Returns a number of tests below which no tests can lead the ranges to their exits: n tests have
  // at most n + 1 exits, and each test separates at most two pairs of neighbours.
  [[nodiscard]] std::size_t fewest() const {
    std::size_t separated = 0;
    std::size_t exits = 1;
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      const std::span<const Range> earlier(ranges_.data(), i);
      if (ranges_[i].exit == ranges_[i - 1].exit) continue;
      ++separated;
      if (std::ranges::find(earlier, ranges_[i].exit, &Range::exit) == earlier.end()) ++exits;
    }
    return std::max(exits - 1, (separated + 1) / 2);
  }

  template <class Predicate>
  [[nodiscard]] bool all_of(Ranges set, const Predicate& predicate) const {
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if ((set >> i & 1) != 0 && !predicate(ranges_[i])) return false;
    return true;
  }

  // Adds at most `length` tests that lead each range of the set to its exit.
  bool solve(Ranges set, std::size_t length, std::size_t depth) {
    if (one_exit(set)) return all_of(set, [&](const Range& range) { return depth <= range.tests; });
    if (length == 0) return false;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      for (const bool equal : {true, false}) {
        if (equal && ranges_[i].first != ranges_[i].last) continue;
        const Ranges yes = set & (equal ? Ranges{1} << i : ~Ranges{0} << i);
        if (yes == 0 || yes == set) continue;
        for (std::size_t part = 0; part < length; ++part) {
          const std::size_t size = chosen_.size();
          chosen_.push_back({test_of(i, equal), yes, set & ~yes});
          if (solve(set & ~yes, part, depth + 1) && solve(yes, length - 1 - part, depth + 1))
            return true;
          chosen_.resize(size);
        }
      }
    return false;
  }
  // Returns the test for the range, or for all values from its first one on. Keeps a JGT of the
  // program.
  [[nodiscard]] Insn test_of(std::size_t range, bool equal) const {
    const std::uint32_t first = ranges_[range].first;
    if (equal) return {kJeqK, 0, 0, first};
    const bool above = std::ranges::any_of(
        tests_, [&](const Insn& test) { return test.code == kJgtK && test.k == first - 1; });
    return above ? Insn{kJgtK, 0, 0, first - 1} : Insn{kJgeK, 0, 0, first};
  }

  ProgramView tests_;
  std::vector<Range> ranges_;
  std::vector<Decision> chosen_;
};

// Replaces the tests at `pc` in `out`, if fewer tests can reach their targets. Marks the
// instructions that are left over.
bool replace_tests(Program& out, std::size_t pc, std::size_t size, Marks& dead) {
  // One test is needed if it has two outcomes that lead to different instructions. A comparison
  // with the smallest or the largest value may have only one.
  const Insn& test = out[pc];
  if (size == 1 && test.jt != test.jf && test.k != 0 && test.k != 0xffffffff) return false;
  Run run(out, pc, size);
  const auto fewer = run.fewer();
  if (!fewer) return false;
  Program code = fewer->empty() ? Program{{kJa, 0, 0, 0}} : Program{};
  for (const Decision& decision : *fewer) code.push_back(decision.test);
  // The new tests take the places of the last old ones, so that jumps stay short.
  const std::size_t first = pc + size - code.size();
  const auto lead = [&](std::size_t at, Ranges set,
                        std::size_t number) -> std::optional<std::size_t> {
    if (run.one_exit(set)) return run.exit_of(set) - at - 1;
    for (std::size_t i = number + 1; i < fewer->size(); ++i)
      if (((*fewer)[i].yes | (*fewer)[i].no) == set) return i - number - 1;
    return std::nullopt;
  };
  for (std::size_t i = 0; i < fewer->size(); ++i) {
    const auto yes = lead(first + i, (*fewer)[i].yes, i);
    const auto no = lead(first + i, (*fewer)[i].no, i);
    if (!yes || !no || *yes > kJumpReach || *no > kJumpReach) return false;
    code[i].jt = static_cast<std::uint8_t>(*yes);
    code[i].jf = static_cast<std::uint8_t>(*no);
  }
  if (fewer->empty()) code[0].k = static_cast<std::uint32_t>(run.exit_of(1) - first - 1);
  if (dead.empty()) dead.resize(out.size());
  for (std::size_t i = pc; i < first; ++i) {
    dead[i] = 1;
    out[i] = {kJa, 0, 0, 0};
  }
  std::ranges::copy(code, out.begin() + static_cast<std::ptrdiff_t>(first));
  return true;
}

}  // namespace

Program fewer_tests(ProgramView program) {
  Program out(program.begin(), program.end());
  // The first jump to each instruction: jumps into the middle of a run come from before it.
  std::vector<std::size_t> entered(program.size(), program.size());
  for (std::size_t pc = program.size(); pc-- > 0;)
    if (is_jump(program[pc]))
      for (const bool taken : {true, false}) entered[jump_target(pc, program[pc], taken)] = pc;
  Marks dead;
  for (std::size_t pc = 0; pc < program.size();) {
    std::size_t size = 0;
    while (size < kMostTests && tests_range(out[pc + size]) &&
           (size == 0 || entered[pc + size] >= pc))
      ++size;
    while (size > 0 && !replace_tests(out, pc, size, dead)) --size;
    pc += std::max<std::size_t>(size, 1);
  }
  if (dead.empty()) return out;
  return detail::erase(out, dead);
}

}  // namespace secequiv::detail
