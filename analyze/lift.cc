#include "analyze/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analyze/approximation.h"
#include "analyze/call_rules.h"
#include "analyze/default_actions.h"
#include "analyze/proven.h"
#include "harness/base/text.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/regions.h"
#include "harness/seccomp/data.h"
#include "verify/dd/actions.h"
#include "verify/dd/regions.h"

namespace secequiv {
namespace {

using dd::Diagrams;
using dd::NodeId;

constexpr std::uint32_t kAllOnes = 0xffffffff;
constexpr std::size_t kMostRanges = 8192;      // of numbers, for one architecture
constexpr double kMostListable = 1 << 20;      // of numbers: no policy has as many entries
constexpr std::size_t kMostEntries = 100'000;  // rules and tests of the policy
constexpr std::size_t kMostDifferences = 8;    // of an approximation, for people

class Lifter {
 public:
  Lifter(const LiftJob& job, std::span<const ProgramView> programs)
      : job_(job),
        space_(programs, job.limits),
        decisions_(job.combination == Combination::kStack
                       ? space_.decisions(programs, Sameness::kRaw)
                       : space_.loosest(space_.each(programs))),
        approximator_(space_, job.approximate.value_or(Approximation::kStricter)) {}

  Result<Policy> policy() {
    find_constants();
    if (job_.approximate) approximate_architectures();
    if (decisions_.computed)
      return inexpressible(computed(), "it returns a value that it computes from the input");
    RETURN_IF_ERROR(choose_arches());
    for (const ArchInfo& info : all_arches()) {
      if (!out_.has_arch(info.arch)) continue;
      auto numbers = split(info);
      if (!numbers && !may_approximate(numbers.error())) return numbers.error();
      if (!numbers) numbers = named_numbers(info);
      calls_.push_back({&info, std::move(*numbers)});
    }
    if (job_.approximate) approximate_long_ranges();
    divide_ranges_with_rules();
    RETURN_IF_ERROR(choose_defaults());
    for (const Calls& calls : calls_)
      for (const Numbers& numbers : calls.numbers) RETURN_IF_ERROR(add(*calls.arch, numbers));
    if (space_.exhausted()) return dd::limits_reached(job_.stack.name);
    if (std::ranges::find(listed_, Arch::kX32, &Listed::arch) != listed_.end())
      out_.arches.push_back(Arch::kX32);
    arrange();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Diagrams& diagrams() { return space_.diagrams(); }
  [[nodiscard]] bool is_constant(NodeId id) { return diagrams().is_leaf(id); }
  [[nodiscard]] std::uint32_t value(NodeId leaf) { return diagrams().node(leaf).pattern; }

  // Returns the error for some of the inputs of `set`, which it names.
  Error inexpressible(NodeId set, const std::string& reason) {
    return about(set, make_error(ErrorCode::kPolicy, "", reason));
  }

  // Completes an error of CallRules or beyond() about the inputs of `set`.
  Error about(NodeId set, const Error& error) {
    if (space_.exhausted()) return dd::limits_reached(job_.stack.name);
    const auto where = regions_.list(set, 1).regions;
    if (space_.exhausted() || where.empty()) return dd::limits_reached(job_.stack.name);
    const std::string inputs =
        short_condition(condition_text(where.front(), job_.host, Values::kNamed));
    const std::string problem = error.code != ErrorCode::kPolicy ? "a limit was reached"
                                : job_.stack.filters.size() == 1
                                    ? "no policy can express this filter"
                                    : "no policy can express this combination of filters";
    return make_error(error.code, job_.stack.name,
                      fmt::format("{}: {}; inputs: {}", problem, error.detail,
                                  inputs == "true" ? "all" : inputs));
  }

  // Returns the error for a policy that may exist, but is too long for this search.
  static Error beyond(std::string limit) {
    return make_error(ErrorCode::kBudget, "", std::move(limit));
  }

  [[nodiscard]] bool may_approximate(const Error& error) const {
    return job_.approximate && error.code == ErrorCode::kPolicy;
  }

  // Replaces computed values that are the same for all inputs that lead to them.
  void find_constants() {
    if (!decisions_.computed) return;
    std::vector<NodeId> leaves;
    (void)diagrams().substitute(decisions_.root, [&](NodeId leaf) {
      if (diagrams().is_symbol(leaf)) leaves.push_back(leaf);
      return leaf;
    });
    decisions_.computed = false;
    for (const NodeId computed : leaves) {
      const NodeId set = diagrams().substitute(decisions_.root, [&](NodeId leaf) {
        return leaf == computed ? Diagrams::kOne : Diagrams::kZero;
      });
      const dd::Bits bits = space_.words().bits(space_.value({computed, true}));
      bool constant = true;
      std::uint32_t value = 0;
      for (std::uint32_t bit = 0; bit < 32 && constant; ++bit) {
        const NodeId ones = diagrams().both(set, bits[bit]);
        constant = ones == Diagrams::kZero || ones == set;
        value |= ones == Diagrams::kZero ? 0 : std::uint32_t{1} << bit;
      }
      decisions_.computed = decisions_.computed || !constant;
      if (constant)
        decisions_.root = diagrams().substitute(decisions_.root, [&](NodeId leaf) {
          return leaf == computed ? diagrams().leaf(value) : leaf;
        });
    }
  }

  // Gives constant values, and one action to all architectures that policies do not know.
  void approximate_architectures() {
    decisions_ = {approximator_.constant_values(decisions_), false};
    NodeId others = Diagrams::kOne;
    for (const ArchInfo& info : all_arches())
      others = diagrams().both(others, diagrams().negate(equal(kArchWord, info.audit)));
    const NodeId action = approximator_.one_value(decisions_.root, others);
    decisions_.root = diagrams().choose(others, action, decisions_.root);
  }

  // Divides an architecture whose numbers form no ranges: one action for all numbers without a
  // call.
  std::vector<Numbers> named_numbers(const ArchInfo& info) {
    NodeId others = Diagrams::kOne;
    for (const ArchInfo& each : all_arches())
      for (const SyscallEntry& call : each.syscalls)
        if (each.audit == info.audit)
          others = diagrams().both(others, diagrams().negate(equal(kNrWord, call.nr)));
    const NodeId action = approximator_.one_value(on(info), others);
    return calls_apart(info, {0, kAllOnes, action});
  }

  // Divides a range: numbers with a call keep their function, and the others get that of the range.
  std::vector<Numbers> calls_apart(const ArchInfo& info, const Numbers& range) {
    std::vector<Numbers> out;
    const NodeId function = on(info);
    std::uint64_t from = range.first;
    for (const ArchInfo& each : all_arches()) {  // x32 follows x86_64, as its numbers do
      if (each.audit != info.audit) continue;
      for (const SyscallEntry& call : each.syscalls) {
        if (call.nr < range.first || call.nr > range.last) continue;
        if (from < call.nr)
          out.push_back({static_cast<std::uint32_t>(from), call.nr - 1, range.then});
        out.push_back({call.nr, call.nr, space_.fix(function, kNrWord, call.nr)});
        from = std::uint64_t{call.nr} + 1;
      }
    }
    if (from <= range.last)
      out.push_back({static_cast<std::uint32_t>(from), range.last, range.then});
    return out;
  }

  // Returns whether not even the shortest rules for each of the numbers fit into a policy.
  bool needs_too_many_rules(const Numbers& numbers) {
    return length(numbers) > kMostEntries && !is_constant(numbers.then);
  }

  // Divides long ranges that need rules, because each rule names a single number.
  void divide_ranges_with_rules() {
    for (Calls& calls : calls_) {
      std::vector<Numbers> divided;
      for (Numbers left : calls.numbers) {
        while (is_long(left) && !is_constant(left.then) && !needs_too_many_rules(left)) {
          divided.push_back({left.first, left.first + kMostListed - 1, left.then});
          left.first += kMostListed;
        }
        divided.push_back(left);
      }
      calls.numbers = std::move(divided);
    }
  }

  // Gives one action to each range that would need too many rules.
  void approximate_long_ranges() {
    for (Calls& calls : calls_) {
      std::vector<Numbers> divided;
      for (const Numbers& numbers : calls.numbers)
        if (!needs_too_many_rules(numbers))
          divided.push_back(numbers);
        else
          std::ranges::copy(calls_apart(*calls.arch, {numbers.first, numbers.last,
                                                      approximator_.one_value(numbers.then)}),
                            std::back_inserter(divided));
      calls.numbers = joined(divided);
    }
  }

  // Joins neighbours with the same function, except that all numbers of one range have the x32 bit,
  // or none.
  static std::vector<Numbers> joined(const std::vector<Numbers>& all) {
    std::vector<Numbers> out;
    for (const Numbers& one : all) {
      if (!out.empty() && out.back().then == one.then &&
          (one.first & kX32Bit) == (out.back().last & kX32Bit))
        out.back().last = one.last;
      else
        out.push_back(one);
    }
    return out;
  }

  NodeId computed() {
    return diagrams().substitute(decisions_.root, [&](NodeId leaf) {
      return diagrams().is_symbol(leaf) ? Diagrams::kOne : Diagrams::kZero;
    });
  }

  NodeId equal(std::uint32_t word, std::uint32_t value) {
    auto& words = space_.words();
    return words.set(words.eq(words.load(word), words.constant(value)));
  }

  NodeId on(const ArchInfo& info) { return space_.fix(decisions_.root, kArchWord, info.audit); }

  // Returns the inputs of the architecture with one of these numbers.
  NodeId set_of(const ArchInfo& info, const Numbers& numbers) {
    auto& words = space_.words();
    const auto nr = words.load(kNrWord);
    const auto within = words.both(words.uge(nr, words.constant(numbers.first)),
                                   words.negate(words.ugt(nr, words.constant(numbers.last))));
    return diagrams().both(equal(kArchWord, info.audit), words.set(within));
  }

  // Lists the architectures that the filters treat in a special way. All others need one action.
  Result<Ok> choose_arches() {
    const NodeId other = space_.fix(decisions_.root, kArchWord, dd::kUnknownAudit);
    NodeId others = Diagrams::kOne;  // inputs of the architectures that the policy does not list
    for (const ArchInfo& info : all_arches()) {
      if (info.arch == Arch::kX32 || on(info) == other) continue;  // x32 has the value of x86_64
      out_.arches.push_back(info.arch);
      others = diagrams().both(others, diagrams().negate(equal(kArchWord, info.audit)));
    }
    if (!is_constant(other))
      return inexpressible(
          diagrams().both(others, space_.differing({other, false}, {some_leaf(other), false})),
          out_.arches.empty() ? "it does not test the architecture"
                              : "its action for all other architectures depends on the call");
    if (out_.arches.empty()) out_.arches.push_back(job_.host);
    out_.bad_arch_action = value(other);
    const NodeId odd = diagrams().both(others, space_.differing(decisions_, {other, false}));
    if (odd != Diagrams::kZero)
      return inexpressible(odd, "it tests an architecture that policies do not know");
    return Ok{};
  }

  NodeId some_leaf(NodeId id) {
    while (!diagrams().is_leaf(id)) id = diagrams().node(id).miss;
    return id;
  }

  // Divides the numbers of an architecture's calls.
  Result<std::vector<Numbers>> split(const ArchInfo& info) {
    auto out = dd::ranges(space_, on(info), kNrWord, kMostRanges);
    if (out) return std::move(*out);
    const NodeId all = equal(kArchWord, info.audit);
    const auto count = dd::range_count(space_, on(info), kNrWord);
    if (space_.exhausted()) return dd::limits_reached(job_.stack.name);
    if (count && *count <= kMostListable)
      return about(all, beyond(fmt::format("lift divides the numbers of the system calls into at "
                                           "most {} ranges",
                                           kMostRanges)));
    return inexpressible(all,
                         "it compares the system call's number in a way that lists of calls "
                         "cannot describe");
  }

  // Chooses the default action, the default ranges and the action of x32 calls.
  Result<Ok> choose_defaults() {
    for (const Calls& calls : calls_)
      for (const Numbers& numbers : calls.numbers)
        if (is_long(numbers) && !is_constant(numbers.then))
          return inexpressible(
              set_of(*calls.arch, numbers),
              "its action for numbers without a system call depends on other fields");
    choose_default_actions(
        calls_,
        [&](NodeId id) { return is_constant(id) ? std::optional(value(id)) : std::nullopt; }, out_);
    return Ok{};
  }

  // Returns the default action of these numbers.
  std::uint32_t default_of(const ArchInfo& info, const Numbers& numbers) const {
    const DefaultRange* range = out_.default_range(info.audit, numbers.first);
    return range == nullptr ? out_.default_action : range->action;
  }

  // Adds the rules for these numbers, unless the policy's default or x32 action decides them.
  Result<Ok> add(const ArchInfo& info, const Numbers& numbers) {
    const Arch arch = arch_of(info, numbers);
    if (arch == Arch::kX32 && out_.x32_action) return Ok{};
    const std::uint32_t rest = default_of(info, numbers);
    if (is_constant(numbers.then) && value(numbers.then) == rest) return Ok{};
    const auto found = rules_.choices(numbers.then, info.endian, rest);
    if (!found && may_approximate(found.error()))
      return add(info, {numbers.first, numbers.last, approximator_.one_value(numbers.then)});
    if (!found) return about(set_of(info, numbers), found.error());
    const CallRules::Choices* choices = *found;
    const std::size_t tests =
        std::transform_reduce(choices->begin(), choices->end(), choices->size(), std::plus<>(),
                              [](const auto& choice) { return matcher_count(choice.second); });
    entries_ += tests * length(numbers);
    if (entries_ > kMostEntries)
      return about(
          set_of(info, numbers),
          beyond(fmt::format("lift writes at most {} rules and conditions", kMostEntries)));
    for (std::uint32_t nr = numbers.first;; ++nr) {
      listed_.push_back({arch, nr, choices});
      if (nr == numbers.last) return Ok{};
    }
  }

  // Distributes the listed rules over rule sets. A call's rules keep their order.
  void arrange() {
    std::map<std::uint32_t, std::size_t> entries;  // by action
    for (const Listed& one : listed_)
      for (const auto& [action, rule] : *one.choices) ++entries[action];
    std::vector<std::uint32_t> actions;
    actions.reserve(entries.size());
    for (const auto& [action, count] : entries) actions.push_back(action);
    std::ranges::sort(actions, std::greater<>(),
                      [&](std::uint32_t action) { return std::pair(entries[action], action); });
    out_.rule_sets.reserve(actions.size());
    for (const std::uint32_t action : actions) out_.rule_sets.push_back({action, false, {}});
    for (const Listed& one : listed_) {
      std::size_t from = 0;  // earlier sets would decide before this call's earlier rules
      for (const auto& [action, rule] : *one.choices) {
        while (from < out_.rule_sets.size() && out_.rule_sets[from].action != action) ++from;
        if (from == out_.rule_sets.size()) out_.rule_sets.push_back({action, false, {}});
        out_.rule_sets[from++].rules.push_back({one.arch, one.nr, rule});
      }
    }
    std::erase_if(out_.rule_sets, [](const RuleSet& set) { return set.rules.empty(); });
    for (RuleSet& set : out_.rule_sets)
      std::ranges::sort(set.rules, {},
                        [](const SyscallRule& entry) { return std::pair(entry.arch, entry.nr); });
  }

  struct Listed {
    Arch arch;
    std::uint32_t nr;
    const CallRules::Choices* choices;
  };

  const LiftJob& job_;
  dd::Space space_;
  dd::Regions regions_{space_};
  CallRules rules_{space_, regions_};
  dd::Decisions decisions_;
  Approximator approximator_;
  Policy out_;
  std::vector<Calls> calls_;
  std::vector<Listed> listed_;
  std::size_t entries_ = 0;  // tests and rules of the policy
};

}  // namespace

std::string summary(const Lifted& lifted) {
  return fmt::format("{} became {} for {}, with {}", counted(lifted.instructions, "instruction"),
                     counted(lifted.calls, "rule"),
                     counted(lifted.policy.arches.size(), "architecture"),
                     counted(lifted.tests, "condition"));
}

Result<Lifted> lift(const LiftJob& job) {
  const auto programs = views(job.stack.filters);
  ASSIGN_OR_RETURN(auto policy, Lifter(job, programs).policy());
  if (job.label) job.label(policy);
  // The text is what users get, so the proof is about what it says.
  auto read = read_policy(write_policy(policy), job.stack.name);
  if (!read) return make_error(ErrorCode::kInternal, "lift", read.error().text());
  const Program program = compile(*read);
  std::vector<std::string> differences;
  if (job.approximate) {
    ASSIGN_OR_RETURN(differences,
                     approximated_decisions(programs, program, *job.approximate, job.stack.name,
                                            job.host, kMostDifferences, job.limits));
  } else {
    const auto expect = job.combination == Combination::kStack ? expect_same : expect_loosest;
    RETURN_IF_ERROR(expect(programs, program, job.stack.name, "lift", job.limits));
  }
  Lifted out{std::move(*read), std::move(differences)};
  out.instructions = instructions(job.stack);
  for (const RuleSet& set : out.policy.rule_sets) {
    out.calls += set.rules.size();
    for (const SyscallRule& entry : set.rules) out.tests += matcher_count(entry.rule);
  }
  return out;
}

}  // namespace secequiv
