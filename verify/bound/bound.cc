#include "verify/bound/bound.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "harness/base/clock.h"
#include "harness/seccomp/cache.h"
#include "verify/bound/search_tree.h"
#include "verify/dd/actions.h"
#include "verify/dd/ranges.h"
#include "verify/dd/regions.h"

namespace secequiv::bound {
namespace {

using dd::Diagrams;
using dd::NodeId;
using Ranges = std::vector<dd::WordRange>;

constexpr std::size_t kMostRanges = 1024;  // of numbers, for one architecture
// Means are sums of rounded numbers.
constexpr double kRounded = 1 - 1e-12;

Error no_bound(const std::string& reason) { return make_error(ErrorCode::kBudget, "", reason); }

// How many words other than arch and nr the inputs of one call must at least load and test, on
// average over the inputs that the mean covers.
struct Arguments {
  double loads = 0;  // words whose change alone changes the decision
  double tests = 0;  // the same, but at least 1 if the decision depends on any of them
  NodeId covered = Diagrams::kOne;
};

class Bounding {
 public:
  Bounding(FilterStack stack, Arch arch, const dd::Limits& limits)
      : arch_(arch),
        deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(std::min(dd::kNoTimeLimit, limits.seconds)))),
        space_(stack, limits),
        regions_(space_) {
    decisions_ = space_.decisions(stack, Sameness::kRaw);
  }

  Result<LowerBound> run(std::span<const SyscallCount> profile) {
    if (space_.exhausted()) return dd::limits_reached();
    if (decisions_.computed) return no_bound("the filter returns values that it computes");
    find_words();
    RETURN_IF_ERROR(divide());
    std::map<std::uint32_t, double> calls;
    LowerBound out;
    for (const SyscallCount& call : profile)
      if (const auto nr = profile_nr(arch_, call.name)) {
        calls[*nr] += static_cast<double>(call.calls);
        out.calls += call.calls;
        if (is_constant(function(*nr))) out.by_number += call.calls;
      }
    const bool complete = add_means(calls, false, out) && add_means(calls, true, out);
    add_instructions(out);
    if (space_.exhausted()) return dd::limits_reached();
    if (!complete)
      return no_bound(stop_wanted() ? stop_reason()
                                    : "the search for the best comparisons of nr reached its limit "
                                      "of time");
    return out;
  }

 private:
  [[nodiscard]] Diagrams& diagrams() { return space_.diagrams(); }
  [[nodiscard]] bool is_constant(NodeId id) { return diagrams().is_leaf(id); }
  [[nodiscard]] std::uint32_t value(NodeId leaf) { return diagrams().node(leaf).pattern; }
  [[nodiscard]] bool allows(NodeId leaf) {
    return (value(leaf) & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
  }

  // Adds the words on which the function depends to `words`, and its leaves to `leaves`.
  void collect(NodeId id, std::uint32_t& words, std::set<NodeId>& leaves) {
    std::vector<NodeId> open{id};
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      if (is_constant(at)) {
        leaves.insert(at);
        continue;
      }
      const dd::Node node = diagrams().node(at);
      for (std::uint32_t bit = 0; bit < node.length; ++bit)
        words |= 1U << space_.order().word(node.level + bit);
      open.push_back(node.hit);
      open.push_back(node.miss);
    }
  }

  void find_words() { collect(decisions_.root, words_, values_); }

  // Divides arch and the numbers of each architecture.
  Status divide() {
    auto arches = dd::ranges(space_, decisions_.root, kArchWord, kMostRanges);
    if (!arches) return undivided();
    arches_ = std::move(*arches);
    const std::uint32_t audit = arch_info(arch_).audit;
    std::set<NodeId> functions;
    for (const dd::WordRange& range : arches_) {
      const bool own = range.first <= audit && audit <= range.last;
      if (!functions.insert(range.then).second && !own) continue;
      auto numbers = dd::ranges(space_, range.then, kNrWord, kMostRanges);
      if (!numbers) return undivided();
      for (const dd::WordRange& one : *numbers)
        if (one.first != 0) boundaries_.insert(one.first);
      if (own) {
        numbers_ = std::move(*numbers);
        own_ = range.then;
      }
    }
    functions.erase(own_);
    elsewhere_.assign(functions.begin(), functions.end());
    std::set<NodeId> constants;
    for (const dd::WordRange& range : numbers_)
      if (is_constant(range.then)) constants.insert(range.then);
    number_needed_ = constants.size() > 1;
    return Ok{};
  }

  [[nodiscard]] Error undivided() const {
    if (space_.exhausted()) return dd::limits_reached();
    return no_bound(
        "the filter divides the values of arch or nr into more than 1024 ranges, or compares them "
        "with other words");
  }

  // Returns the function of the words that are neither arch nor nr.
  NodeId function(std::uint32_t nr) {
    return std::prev(std::ranges::upper_bound(numbers_, nr, {}, &dd::WordRange::first))->then;
  }

  // Returns the fraction of `whole` that is in `set`.
  double part(NodeId set, NodeId whole) {
    if (set == Diagrams::kZero) return 0;
    const NodeId common = diagrams().both(set, whole);
    if (common == whole) return 1;
    if (space_.exhausted()) return 0;
    return dd::value_of(dd::quotient(regions_.count(common), regions_.count(whole)));
  }

  // Returns the inputs for which a change of `word` alone changes the decision.
  NodeId sensitive(NodeId id, std::uint32_t word) {
    const NodeId both = diagrams().symbol(0);  // two values of the word lead to different decisions
    for (std::uint32_t bit = 32; bit-- > 0 && !space_.exhausted();) {
      const std::uint32_t level = space_.order().level(word, bit);
      id = diagrams().merge(diagrams().restrict(id, level, false),
                            diagrams().restrict(id, level, true),
                            [&](NodeId a, NodeId b) { return a == b ? a : both; });
    }
    return diagrams().substitute(
        id, [&](NodeId leaf) { return leaf == both ? Diagrams::kOne : Diagrams::kZero; });
  }

  const Arguments& arguments(NodeId id) {
    const auto [at, added] = arguments_.try_emplace(id);
    Arguments& out = at->second;
    if (!added || is_constant(id)) return out;
    const NodeId allowed = diagrams().substitute(
        id, [&](NodeId leaf) { return allows(leaf) ? Diagrams::kOne : Diagrams::kZero; });
    if (allowed != Diagrams::kZero) out.covered = allowed;
    std::uint32_t words = 0;
    std::set<NodeId> values;
    collect(id, words, values);
    NodeId some = Diagrams::kZero;
    for (std::uint32_t rest = words; rest != 0; rest &= rest - 1) {
      const NodeId set = sensitive(id, static_cast<std::uint32_t>(std::countr_zero(rest)));
      out.loads += part(set, out.covered);
      some = diagrams().either(some, set);
    }
    out.tests = out.loads + 1 - part(some, out.covered);
    return out;
  }

  // Returns the fraction of a call's inputs whose decision differs on some other architecture.
  double needs_arch(std::uint32_t nr) {
    const NodeId own = function(nr);
    NodeId differs = Diagrams::kZero;
    for (const NodeId other : elsewhere_)
      differs = diagrams().either(
          differs, space_.differing({own, false}, {space_.fix(other, kNrWord, nr), false}));
    return part(differs, arguments(own).covered);
  }

  bool can_be_cached(std::uint32_t nr) {
    const NodeId id = function(nr);
    return nr < cached_numbers(arch_) && is_constant(id) && value(id) == SECCOMP_RET_ALLOW;
  }

  // Returns whether the means are complete.
  bool add_means(const std::map<std::uint32_t, double>& calls, bool cache, LowerBound& out) {
    double any = 0;
    double comparing = 0;
    double all = 0;
    std::vector<WeightedNumber> counted;
    for (const auto& [nr, count] : calls) {
      all += count;
      if (cache && can_be_cached(nr)) continue;
      const double arch = needs_arch(nr);
      const double number = number_needed_ ? 1 : 0;
      const Arguments& needed = arguments(function(nr));
      const double test = is_constant(decisions_.root) ? 0 : 1;
      any += count * (arch + number + needed.loads + test + 1);
      comparing += count * (2 * arch + number + 2 * needed.tests + 1);
      counted.push_back({nr, count});
    }
    const auto tests = least_tests(decided(), counted, deadline_);
    if (!tests) return false;
    comparing += *tests;
    const double calls_made = std::max(all, 1.0);
    any = any / calls_made * kRounded;
    comparing = std::max(any, comparing / calls_made * kRounded);
    (cache ? out.any.mean : out.any.mean_uncached) = any;
    (cache ? out.comparing.mean : out.comparing.mean_uncached) = comparing;
    return true;
  }

  std::vector<DecidedRange> decided() {
    std::vector<DecidedRange> out;
    for (const dd::WordRange& range : numbers_) {
      std::uint32_t words = 0;
      std::set<NodeId> leaves;
      collect(range.then, words, leaves);
      out.push_back({range.first, range.last, range.then, is_constant(range.then),
                     std::ranges::any_of(leaves, [&](NodeId leaf) { return allows(leaf); })});
    }
    return out;
  }

  void add_instructions(LowerBound& out) {
    const auto loads = static_cast<std::size_t>(std::popcount(words_));
    out.any.instructions = loads == 0 ? 1 : loads + 2;
    const std::uint32_t others = words_ & ~(1U << kArchWord | 1U << kNrWord);
    std::vector<std::uint32_t> of_arch;
    for (const dd::WordRange& range : arches_)
      if (range.first != 0) of_arch.push_back(range.first);
    const std::vector<std::uint32_t> of_numbers(boundaries_.begin(), boundaries_.end());
    const std::size_t tests = fewest_tests(of_arch) + fewest_tests(of_numbers) +
                              static_cast<std::size_t>(std::popcount(others));
    out.comparing.instructions = std::max(out.any.instructions, loads + tests + values_.size());
  }

  Arch arch_;
  Clock::time_point deadline_;
  dd::Space space_;
  dd::Regions regions_;
  dd::Decisions decisions_;
  std::uint32_t words_ = 0;             // on which the decision depends
  std::set<NodeId> values_;             // leaves
  Ranges arches_;                       // of arch
  Ranges numbers_;                      // of nr, on `arch_`
  NodeId own_ = 0;                      // the function of `arch_`
  std::vector<NodeId> elsewhere_;       // the functions of other architectures
  std::set<std::uint32_t> boundaries_;  // of the ranges of nr, on all architectures
  // Whether numbers with different decisions exist that depend on no argument. Then all inputs
  // of this architecture must read and test nr.
  bool number_needed_ = false;
  std::unordered_map<NodeId, Arguments> arguments_;
};

}  // namespace

Result<LowerBound> lower_bound(FilterStack stack, Arch arch, std::span<const SyscallCount> profile,
                               const dd::Limits& limits) {
  return Bounding(stack, arch, limits).run(profile);
}

}  // namespace secequiv::bound
