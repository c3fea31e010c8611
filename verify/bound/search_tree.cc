#include "verify/bound/search_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "harness/base/interrupt.h"

namespace secequiv::bound {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostHoles = 12;
constexpr double kMostWork = 1e7;  // steps of the search; about 0.3 s
// Sums of whole numbers are exact below this.
constexpr double kExact = 0x1p52;

enum class Which : std::uint8_t { kAll, kByNumber };  // numbers whose tests are counted

// One range with its weights.
struct Run {
  DecidedRange range;
  std::vector<double> weights;  // positive ones, largest first
  double sum = 0;
  double allowed = 0;      // the weights of numbers that arguments decide and may allow
  std::uint64_t size = 0;  // how many numbers it has
};

std::vector<Run> runs_of(std::span<const DecidedRange> ranges,
                         std::span<const WeightedNumber> numbers) {
  std::vector<Run> out;
  auto next = numbers.begin();
  for (const DecidedRange& range : ranges) {
    Run& run = out.emplace_back(Run{range, {}});
    run.size = std::uint64_t{range.last} - range.first + 1;
    for (; next != numbers.end() && next->number <= range.last; ++next) {
      if (next->weight <= 0) continue;
      run.weights.push_back(next->weight);
      run.sum += next->weight;
    }
    if (!range.by_number && range.allows) run.allowed = run.sum;
    std::ranges::sort(run.weights, std::greater<>());
  }
  return out;
}

// Finds the bound for every stretch of runs from which some numbers ("holes") were removed by
// tests for equality. A state has only the count of its holes. Its value holds for the best choice
// of them, so it is a lower bound for every choice.
class Search {
 public:
  // `after_arguments` bounds the tests after the first test of an argument; nullptr: there is none.
  Search(const std::vector<Run>& runs, Which which, Search* after_arguments,
         Clock::time_point deadline)
      : runs_(runs),
        which_(which),
        after_arguments_(after_arguments),
        deadline_(deadline),
        count_(runs.size()) {
    std::size_t weighted = 0;
    sums_.resize(count_ + 1);
    allowed_.resize(count_ + 1);
    counts_.resize(count_ + 1);
    for (std::size_t i = 0; i < count_; ++i) {
      const bool counted = counts(runs_[i]);
      const std::size_t positive = counted ? runs_[i].weights.size() : 0;
      sums_[i + 1] = sums_[i] + (counted ? runs_[i].sum : 0);
      allowed_[i + 1] = allowed_[i] + runs_[i].allowed;
      counts_[i + 1] = counts_[i] + positive;
      weighted += positive;
      if (positive != 0) lightest_ = std::min(lightest_, runs_[i].weights.back());
    }
    slack_ = sums_.back() > kExact ? sums_.back() * 1e-12 : 0;
    const auto k = static_cast<double>(count_);
    const double holes = std::sqrt(kMostWork * 12 / (k * k * k));
    holes_ = std::min({kMostHoles, weighted, static_cast<std::size_t>(std::min(holes, 1e6))});
    find_kinds();
    find_heaviest();
    known_.assign(count_ * count_ * (holes_ + 1) * 2, -1);
  }

  // Returns nothing if the search stopped before its end.
  std::optional<double> least() {
    const double out = value({0, count_ - 1}, 0, false);
    if (stopped_ || (after_arguments_ != nullptr && after_arguments_->stopped_))
      return std::nullopt;
    return out;
  }

  // Returns the bound for a stretch without its best holes, of which there are at most `most`.
  double with_holes(std::size_t first, std::size_t last, std::size_t most) {
    const Stretch at{first, last};
    double best = kNever;
    for (std::size_t h = 0; h <= std::min({most, holes_, positive(at)}); ++h)
      best = std::min(best, value(at, h, false));
    if (most > holes_ && positive(at) > holes_) return 0;  // no value is known
    return best;
  }
  [[nodiscard]] double weight_left(std::size_t first, std::size_t last, std::size_t holes) const {
    return left({first, last}, std::min(holes, holes_ + 1), holes > holes_ + 1);
  }

 private:
  // The runs first..last.
  struct Stretch {
    std::size_t first;
    std::size_t last;
  };

  [[nodiscard]] bool counts(const Run& run) const {
    return which_ == Which::kAll || run.range.by_number;
  }
  [[nodiscard]] double sum(Stretch at) const { return sums_[at.last + 1] - sums_[at.first]; }
  // Returns how many numbers of the stretch have a weight.
  [[nodiscard]] std::size_t positive(Stretch at) const {
    return counts_[at.last + 1] - counts_[at.first];
  }
  // Returns the sum of the `holes` largest weights. Precondition: at most holes_ + 1.
  [[nodiscard]] double heaviest(Stretch at, std::size_t holes) const {
    return heaviest_[(at.first * count_ + at.last) * (holes_ + 2) + holes];
  }
  [[nodiscard]] double left(Stretch at, std::size_t holes, bool more = false) const {
    return more ? 0 : std::max(0.0, sum(at) - heaviest(at, holes));
  }

  // Numbers the decisions.
  void find_kinds() {
    std::map<std::uint32_t, std::size_t> kinds;
    for (const Run& run : runs_)
      kinds_.push_back(kinds.try_emplace(run.range.decision, kinds.size()).first->second);
    shares_.resize(kinds.size());
  }

  // Returns whether the search has to stop. It looks at the clock for few of its states.
  bool stopped() {
    constexpr std::size_t kStates = 64;
    if (!stopped_ && ++states_ % kStates == 1) stopped_ = stop_wanted() || Clock::now() > deadline_;
    return stopped_;
  }

  void find_heaviest() {
    const std::size_t width = holes_ + 2;
    heaviest_.assign(count_ * count_ * width, 0);
    std::vector<double> most;
    std::vector<double> merged;
    for (std::size_t i = 0; i < count_; ++i) {
      most.clear();
      for (std::size_t j = i; j < count_; ++j) {
        if (counts(runs_[j]) && !runs_[j].weights.empty()) {
          merged.clear();
          std::ranges::merge(most, runs_[j].weights, std::back_inserter(merged), std::greater<>());
          merged.resize(std::min(merged.size(), width - 1));
          most.swap(merged);
        }
        double* const row = &heaviest_[(i * count_ + j) * width];
        for (std::size_t h = 1; h < width; ++h)
          row[h] = row[h - 1] + (h <= most.size() ? most[h - 1] : 0);
      }
    }
  }

  // Returns the bound for a stretch without the best `holes` of its numbers. `after_equality`: the
  // previous test made the last hole, and not all further tests are for equality. Precondition:
  // holes <= min(holes_, positive(at)).
  double value(Stretch at, std::size_t holes, bool after_equality) {
    const double weight = left(at, holes);
    if (weight <= 0) return 0;
    double& known = known_[((at.first * count_ + at.last) * (holes_ + 1) + holes) * 2 +
                           (after_equality ? 1 : 0)];
    if (known >= 0) return known;
    if (stopped()) return 0;
    double best = kNever;
    if (!after_equality && decided(at)) best = 0;
    best = std::min(best, divided(at, holes, after_equality, best));
    if (positive(at) > holes) {
      const double rest = holes < holes_ ? value(at, holes + 1, true) : left(at, holes + 1);
      best = std::min(best, weight + rest);
    }
    if (after_arguments_ != nullptr) best = std::min(best, by_arguments(at, holes));
    if (!after_equality) best = std::min(best, equalities(at, holes, best));
    return known = best;
  }

  // Returns whether all runs have one decision.
  [[nodiscard]] bool decided(Stretch at) const {
    std::optional<std::uint32_t> decision;
    for (std::size_t i = at.first; i <= at.last; ++i) {
      if (!counts(runs_[i])) continue;
      if (decision && *decision != runs_[i].range.decision) return false;
      decision = runs_[i].range.decision;
    }
    return true;
  }

  // Returns the bound if the next test compares with a threshold. `best` is the best value so far.
  double divided(Stretch at, std::size_t holes, bool after_equality, double best) {
    const double weight = left(at, holes);
    for (std::size_t cut = at.first; cut < at.last && weight < best; ++cut) {
      const Stretch below{at.first, cut};
      const Stretch above{cut + 1, at.last};
      const std::size_t few = holes - std::min(holes, positive(above));
      for (std::size_t h = few; h <= std::min(holes, positive(below)); ++h) {
        if (after_equality && !pays(below, h, above, holes - h) &&
            !pays(above, holes - h, below, h))
          continue;
        const double first = weight + value(below, h, false);
        if (first < best) best = std::min(best, first + value(above, holes - h, false));
      }
    }
    return best;
  }

  // Returns whether a number of `side` may be heavier than all of the other side. Otherwise, the
  // test for this number is no worse after the threshold.
  [[nodiscard]] bool pays(Stretch side, std::size_t holes, Stretch other,
                          std::size_t other_holes) const {
    return holes > 0 && left(other, other_holes) < heaviest(side, 1) + slack_;
  }

  // Returns the bound if the next test is one of an argument.
  double by_arguments(Stretch at, std::size_t holes) {
    double out = 2 * after_arguments_->weight_left(at.first, at.last, holes) +
                 after_arguments_->with_holes(at.first, at.last, holes);
    const bool refused = std::ranges::any_of(
        runs_.begin() + static_cast<std::ptrdiff_t>(at.first),
        runs_.begin() + static_cast<std::ptrdiff_t>(at.last + 1), [&](const Run& run) {
          return run.range.by_number && !run.range.allows && run.size > holes;
        });
    if (refused)
      out += std::max(0.0, allowed_[at.last + 1] - allowed_[at.first] - heaviest(at, holes));
    return out;
  }

  // Returns the bound if all further tests are for equality: one for each number without the
  // decision that remains.
  double equalities(Stretch at, std::size_t holes, double best) {
    Share all;
    present_.clear();
    for (std::size_t i = at.first; i <= at.last; ++i) {
      const Run& run = runs_[i];
      if (!counts(run)) continue;
      Share& share = shares_[kinds_[i]];
      if (share.size == 0) present_.push_back(i);
      share.add(run);
      all.add(run);
    }
    for (const std::size_t i : present_) {
      const Share& share = shares_[kinds_[i]];
      best = std::min(best, equalities(at, holes, runs_[i].range.decision, share,
                                       all.size - share.size, all.tested - share.tested, best));
    }
    for (const std::size_t i : present_) shares_[kinds_[i]] = {};
    return best;
  }

  // Numbers of a stretch.
  struct Share {
    std::uint64_t size = 0;
    std::size_t tested = 0;  // those with a weight
    double sum = 0;          // of the weights

    void add(const Run& run) {
      size += run.size;
      tested += run.weights.size();
      sum += run.sum;
    }
  };

  // `share` are the numbers with the decision. There are `others` with other decisions, of which
  // `tested` have a weight.
  double equalities(Stretch at, std::size_t holes, std::uint32_t decision, const Share& share,
                    std::uint64_t others, std::size_t tested, double best) {
    const double kept = share.sum;
    const double gone = heaviest(at, holes);
    const double least_tested = static_cast<double>(tested - std::min(tested, holes));
    const double least_others =
        static_cast<double>(others - std::min<std::uint64_t>(others, holes));
    const double least = std::max(0.0, kept - gone) * least_others +
                         lightest_ * least_tested * (least_tested + 1) / 2;
    if (least >= best) return best;
    const auto [of_others, of_decision] = weights(at, decision);
    for (std::size_t a = 0; a <= std::min(holes, of_others.size()); ++a) {
      if (holes - a > of_decision.size()) continue;
      double rest = kept;
      for (std::size_t b = 0; b < holes - a; ++b) rest -= of_decision[b];
      double now = std::max(0.0, rest) * static_cast<double>(others - a);
      for (std::size_t i = a; i < of_others.size(); ++i)
        now += static_cast<double>(i - a + 1) * of_others[i];
      best = std::min(best, now);
    }
    return best;
  }

  struct Weights {
    std::vector<double> others;
    std::vector<double> decision;
  };
  // Returns the weights of the stretch, largest first.
  [[nodiscard]] Weights weights(Stretch at, std::uint32_t decision) const {
    Weights out;
    for (std::size_t i = at.first; i <= at.last; ++i) {
      if (!counts(runs_[i])) continue;
      auto& to = runs_[i].range.decision == decision ? out.decision : out.others;
      to.insert(to.end(), runs_[i].weights.begin(), runs_[i].weights.end());
    }
    std::ranges::sort(out.others, std::greater<>());
    std::ranges::sort(out.decision, std::greater<>());
    return out;
  }

  const std::vector<Run>& runs_;
  Which which_;
  Search* after_arguments_;
  Clock::time_point deadline_;
  bool stopped_ = false;  // values since then are meaningless
  std::size_t states_ = 0;
  std::size_t count_;
  std::size_t holes_ = 0;  // states have at most this many
  double lightest_ = kNever;
  double slack_ = 0;
  std::vector<double> sums_;          // of the weights of the runs before each run
  std::vector<double> allowed_;       // the same for Run::allowed
  std::vector<std::size_t> counts_;   // the same for the numbers with a weight
  std::vector<std::size_t> kinds_;    // the number of each run's decision
  std::vector<Share> shares_;         // of each decision; empty between calls of equalities()
  std::vector<std::size_t> present_;  // the first run of each decision, in equalities()
  std::vector<double> heaviest_;
  std::vector<double> known_;  // -1: not yet
};

// Returns the entropy of the decisions that depend on the number alone, times the sum of their
// weights. It is close for numbers with many different decisions, for which a Search has no holes.
double entropy(std::span<const Run> runs) {
  std::map<std::uint32_t, double> by_decision;
  double all = 0;
  for (const Run& run : runs) {
    if (!run.range.by_number) continue;
    by_decision[run.range.decision] += run.sum;
    all += run.sum;
  }
  double out = 0;
  for (const auto& [decision, sum] : by_decision)
    if (sum > 0) out += sum * std::log2(all / sum);
  return out;
}

// Returns the larger bound, if the search was complete.
std::optional<double> larger(const std::optional<double>& found, double other) {
  return found ? std::optional(std::max(*found, other)) : std::nullopt;
}

}  // namespace

std::optional<double> least_tests(std::span<const DecidedRange> ranges,
                                  std::span<const WeightedNumber> numbers,
                                  Clock::time_point deadline) {
  const std::vector<Run> runs = runs_of(ranges, numbers);
  Search after_arguments(runs, Which::kByNumber, nullptr, deadline);
  const bool arguments =
      std::ranges::any_of(ranges, [](const DecidedRange& range) { return !range.by_number; });
  if (!arguments) return larger(after_arguments.least(), entropy(runs));
  return larger(Search(runs, Which::kAll, &after_arguments, deadline).least(), entropy(runs));
}

std::size_t fewest_tests(std::span<const std::uint32_t> boundaries) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < boundaries.size(); ++i, ++out)
    if (i + 1 < boundaries.size() && boundaries[i + 1] == boundaries[i] + 1) ++i;
  return out;
}

}  // namespace secequiv::bound
