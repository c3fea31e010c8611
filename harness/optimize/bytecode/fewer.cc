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

// Sets of ranges are bit masks. The values of a range take the same path through the tests.
using Ranges = std::uint32_t;

constexpr std::size_t kMostRanges = 2 * kMostTests + 1;

// A tree of tests: by number, both sides are another test or an exit. The test is for one range, or
// for all values from its first one on.
struct Decision {
  std::size_t range = 0;
  bool equal = false;
  Ranges yes = 0;
  Ranges no = 0;
};

// Everything has a fixed size, because nearly all tests stay and the pass looks at all of them.
class Run {
 public:
  Run(ProgramView program, std::size_t pc, std::size_t size) : tests_(program.subspan(pc, size)) {
    for (const Insn& test : tests_) {
      if (test.code != kJgtK) add_bound(test.k);
      if (test.code != kJgeK) add_bound(test.k + 1);  // 0 after the last value
    }
    std::array<Ranges, kMostTests> meets = {all()};  // the ranges that reach each test
    const auto lead = [&](std::size_t to, Ranges ranges) {
      if (ranges == 0) return;
      if (to < pc + size)
        meets[to - pc] |= ranges;
      else
        add_exit(to, ranges);
    };
    deep_[0] = all();
    for (std::size_t i = 0; i < size; ++i) {
      const Ranges yes = yes_of(tests_[i]);
      lead(jump_target(pc + i, tests_[i], true), meets[i] & yes);
      lead(jump_target(pc + i, tests_[i], false), meets[i] & ~yes);
      for (std::size_t n = i + 1; n > 0; --n) deep_[n] |= deep_[n - 1] & meets[i];
    }
  }

  // Returns fewer tests, in order, such that no value of A meets more tests than before.
  std::optional<std::span<const Decision>> fewer() {
    for (std::size_t length = fewest(); length < tests_.size(); ++length) {
      chosen_count_ = 0;
      if (solve(all(), length, 0)) return std::span(chosen_.data(), chosen_count_);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return tests_.size(); }
  [[nodiscard]] std::size_t exit_of(Ranges set) const {
    std::size_t i = 0;
    while ((exits_[i].ranges & set) == 0) ++i;
    return exits_[i].to;
  }
  [[nodiscard]] bool one_exit(Ranges set) const { return exits(set) == 1; }
  // Keeps a JGT of the program.
  [[nodiscard]] Insn test_of(const Decision& decision) const {
    const std::uint32_t first = bounds_[decision.range];
    if (decision.equal) return {kJeqK, 0, 0, first};
    const bool above = std::ranges::any_of(
        tests_, [&](const Insn& test) { return test.code == kJgtK && test.k == first - 1; });
    return above ? Insn{kJgtK, 0, 0, first - 1} : Insn{kJgeK, 0, 0, first};
  }

 private:
  struct Exit {
    std::size_t to = 0;
    Ranges ranges = 0;
  };

  [[nodiscard]] Ranges all() const { return (Ranges{1} << count_) - 1; }

  // Keeps the bounds sorted.
  void add_bound(std::uint32_t bound) {
    std::size_t at = count_;
    while (bounds_[at - 1] > bound) --at;
    if (bounds_[at - 1] == bound) return;
    for (std::size_t i = count_++; i > at; --i) bounds_[i] = bounds_[i - 1];
    bounds_[at] = bound;
  }

  void add_exit(std::size_t to, Ranges ranges) {
    std::size_t i = 0;
    while (i < exit_count_ && exits_[i].to != to) ++i;
    if (i == exit_count_) exits_[exit_count_++].to = to;
    exits_[i].ranges |= ranges;
  }

  [[nodiscard]] Ranges yes_of(const Insn& test) const {
    const std::uint32_t first = test.code == kJgtK ? test.k + 1 : test.k;
    if (first < test.k) return 0;
    std::size_t i = 0;
    while (bounds_[i] != first) ++i;
    return test.code == kJeqK ? Ranges{1} << i : ~Ranges{0} << i;
  }

  [[nodiscard]] bool one_value(std::size_t range) const {
    return range + 1 < count_ ? bounds_[range + 1] - bounds_[range] == 1
                              : bounds_[range] == 0xffffffff;
  }

  // Returns the number of exits of the ranges.
  [[nodiscard]] std::size_t exits(Ranges set) const {
    std::size_t out = 0;
    for (std::size_t i = 0; i < exit_count_; ++i) out += (exits_[i].ranges & set) != 0 ? 1 : 0;
    return out;
  }

  // Returns a number of tests below which no tests can lead the ranges to their exits: n tests have
  // at most n + 1 exits, and each test separates two neighbours, or one value from both of its own.
  [[nodiscard]] std::size_t fewest() const {
    Ranges apart = all() & ~Ranges{1};  // from the range before
    for (std::size_t i = 0; i < exit_count_; ++i)
      apart &= ~(exits_[i].ranges & exits_[i].ranges << 1);
    std::size_t tests = 0;
    for (; apart != 0; ++tests) {
      const auto range = static_cast<std::size_t>(std::countr_zero(apart));
      apart &= ~((one_value(range) ? Ranges{3} : Ranges{1}) << range);
    }
    tests = std::max(exit_count_ - 1, tests);
    // If there are several tests, at most one exit is reached after a single test: that of the
    // first.
    const Ranges shallow = all() & ~deep_[2];
    return tests > 1 && exits(shallow) > 1 ? tests_.size() : tests;
  }

  // Returns false if at most `length` tests, after `depth` others, cannot lead each range of the
  // set to its exit without a value that meets more tests than before.
  [[nodiscard]] bool possible(Ranges set, std::size_t length, std::size_t depth) const {
    const std::size_t needed = exits(set) - 1;
    return needed <= length && (set & ~deep_[depth + (needed > 0 ? 1 : 0)]) == 0;
  }

  // Adds at most `length` tests that lead each range of the set to its exit. Precondition:
  // possible().
  bool solve(Ranges set, std::size_t length, std::size_t depth) {
    if (one_exit(set)) return true;
    for (std::size_t i = 0; i < count_; ++i)
      for (const bool equal : {true, false}) {
        if (equal && !one_value(i)) continue;
        const Ranges yes = set & (equal ? Ranges{1} << i : ~Ranges{0} << i);
        if (yes == 0 || yes == set) continue;
        const Ranges no = set & ~yes;
        for (std::size_t part = 0; part < length; ++part) {
          const std::size_t rest = length - 1 - part;
          if (!possible(no, part, depth + 1) || !possible(yes, rest, depth + 1)) continue;
          const std::size_t size = chosen_count_;
          chosen_[chosen_count_++] = {i, equal, yes, no};
          if (solve(no, part, depth + 1) && solve(yes, rest, depth + 1)) return true;
          chosen_count_ = size;
        }
      }
    return false;
  }

  ProgramView tests_;
  std::array<std::uint32_t, kMostRanges> bounds_ = {};  // the first value of each range
  std::size_t count_ = 1;                               // of ranges
  std::array<Exit, kMostTests + 1> exits_ = {};
  std::size_t exit_count_ = 0;
  std::array<Ranges, kMostTests + 1> deep_ = {};  // the ranges that meet at least so many tests
  std::array<Decision, kMostTests> chosen_ = {};
  std::size_t chosen_count_ = 0;
};

// Returns true for the most frequent tests, which are all needed: they search for values of which
// no two are neighbours, and a found value never leads to where the others lead.
bool plain_search(std::span<const Insn> tests) {
  const std::size_t others = tests.size() + tests.back().jf;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const Insn& test = tests[i];
    const std::size_t found = i + 1 + test.jt;
    if (test.code != kJeqK || found < tests.size() || found == others) return false;
    if (i + 1 < tests.size() && test.jf != 0) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (test.k - tests[j].k + 1 <= 2) return false;
  }
  return true;
}

// Replaces the tests at `pc` in `out` by fewer tests, if these can reach the exits. Marks the
// instructions that are left over.
bool replace_tests(Program& out, std::size_t pc, const Run& run, std::span<const Decision> fewer,
                   Marks& dead) {
  Program code = fewer.empty() ? Program{{kJa, 0, 0, 0}} : Program{};
  for (const Decision& decision : fewer) code.push_back(run.test_of(decision));
  // The new tests take the places of the last old ones, so that jumps stay short.
  const std::size_t first = pc + run.size() - code.size();
  const auto lead = [&](std::size_t at, Ranges set,
                        std::size_t number) -> std::optional<std::size_t> {
    if (run.one_exit(set)) return run.exit_of(set) - at - 1;
    for (std::size_t i = number + 1; i < fewer.size(); ++i)
      if ((fewer[i].yes | fewer[i].no) == set) return i - number - 1;
    return std::nullopt;
  };
  for (std::size_t i = 0; i < fewer.size(); ++i) {
    const auto yes = lead(first + i, fewer[i].yes, i);
    const auto no = lead(first + i, fewer[i].no, i);
    if (!yes || !no || *yes > kJumpReach || *no > kJumpReach) return false;
    code[i].jt = static_cast<std::uint8_t>(*yes);
    code[i].jf = static_cast<std::uint8_t>(*no);
  }
  if (fewer.empty()) code[0].k = static_cast<std::uint32_t>(run.exit_of(1) - first - 1);
  if (dead.empty()) dead.resize(out.size());
  for (std::size_t i = pc; i < first; ++i) {
    dead[i] = 1;
    out[i] = {kJa, 0, 0, 0};
  }
  std::ranges::copy(code, out.begin() + static_cast<std::ptrdiff_t>(first));
  return true;
}

// Returns the first jump to each instruction: jumps into the middle of a run come from before it.
std::vector<std::size_t> first_jumps(ProgramView program) {
  std::vector<std::size_t> out(program.size(), program.size());
  for (std::size_t pc = program.size(); pc-- > 0;)
    if (is_jump(program[pc]))
      for (const bool taken : {true, false}) out[jump_target(pc, program[pc], taken)] = pc;
  return out;
}

}  // namespace

Program fewer_tests(ProgramView program) {
  Program out(program.begin(), program.end());
  std::vector<std::size_t> entered;
  Marks dead;
  for (std::size_t pc = 0; pc < program.size();) {
    std::size_t size = 0;
    while (size < kMostTests && tests_range(out[pc + size])) ++size;
    if (size == 0 || plain_search(std::span(out).subspan(pc, size))) {
      ++pc;
      continue;
    }
    std::size_t replaced = 0;
    // If there are no fewer tests for all of these tests, there are none for the first of them.
    for (; size > 0 && replaced == 0; --size) {
      Run run(out, pc, size);
      const auto fewer = run.fewer();
      if (!fewer) break;
      if (entered.empty()) entered = first_jumps(program);
      const auto inside = std::span(entered).subspan(pc + 1, size - 1);
      if (std::ranges::any_of(inside, [&](std::size_t from) { return from < pc; })) continue;
      if (replace_tests(out, pc, run, *fewer, dead)) replaced = size;
    }
    pc += std::max<std::size_t>(replaced, 1);
  }
  if (dead.empty()) return out;
  return detail::erase(out, dead);
}

}  // namespace secequiv::detail
