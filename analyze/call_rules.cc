#include "analyze/call_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "analyze/field_rule.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

using dd::Diagrams;
using dd::NodeId;

constexpr std::size_t kMostTests = 100'000;  // of fields, in all rules while they are made
constexpr std::size_t kMostCubes = 16384;    // of values, for one field
constexpr std::size_t kFirstEffort = 32;     // to read a rule, when the search begins

// Returns the field and the value of the rule's first test, by which people sort alternatives.
std::pair<std::size_t, std::uint64_t> first_test(const Rule& rule) {
  if (is_branching(rule)) return first_test(rule.children.front());
  for (std::size_t i = 0; i < rule.fields.size(); ++i)
    if (rule.fields[i].op != Matcher::Op::kAny) return {i, rule.fields[i].value};
  return {};
}

// Returns the error for a set that rules cannot describe.
Error no_rule(std::string reason) { return make_error(ErrorCode::kPolicy, "", std::move(reason)); }

// Returns the error for rules that may exist, but are too long for this search.
Error too_long(std::string limit) { return make_error(ErrorCode::kBudget, "", std::move(limit)); }

}  // namespace

class CallRules::Search {
 public:
  Search(dd::Space& space, dd::Regions& regions) : space_(space), regions_(regions) {}

  Result<const Choices*> choices(NodeId function, Endian endian, std::uint32_t rest_action) {
    const auto key = std::tuple(function, endian, rest_action);
    if (const auto known = choices_.find(key); known != choices_.end()) return &known->second;
    std::vector<NodeId> leaves;
    (void)diagrams().substitute(function, [&](NodeId leaf) {
      if (std::ranges::find(leaves, leaf) == leaves.end()) leaves.push_back(leaf);
      return leaf;
    });
    if (leaves.empty()) return dd::limits_reached();
    std::vector<NodeId> sets;
    sets.reserve(leaves.size());
    for (const NodeId leaf : leaves)
      sets.push_back(diagrams().substitute(
          function, [&](NodeId at) { return at == leaf ? Diagrams::kOne : Diagrams::kZero; }));
    // One of the rules is not needed, in most cases the longest one. So all grow in turn.
    std::vector<Exact> exact;
    exact.reserve(leaves.size());
    std::optional<std::size_t> best;
    for (std::size_t most = kFirstEffort;; most = most < kMostTests ? 4 * most : SIZE_MAX) {
      exact.clear();
      for (std::size_t i = 0; i < leaves.size(); ++i)
        exact.push_back({value(leaves[i]), rule_of(sets[i], endian, most)});
      std::ranges::sort(exact, {},
                        [](const Exact& one) { return std::pair(one.effort(), one.action); });
      const Rest rest = best_rest(exact, rest_action, most);
      best = rest.index;
      if (rest.certain) break;
    }
    if (best) {
      Choices out;
      out.reserve(exact.size());
      for (std::size_t i = 0; i < exact.size(); ++i)
        if (i != *best) out.emplace_back(exact[i].action, (*exact[i].rule)->rule);
      if (exact[*best].action != rest_action) out.emplace_back(exact[*best].action, Rule());
      return &choices_.emplace(key, std::move(out)).first->second;
    }
    // All but one of the rules are necessary, so one limit decides unless two rules cannot exist.
    const auto is_beyond = [](const Exact& one) {
      return !one.rule && one.rule.error().code == ErrorCode::kBudget;
    };
    const auto limited = std::ranges::find_if(exact, is_beyond);
    const auto impossible = std::ranges::count_if(
        exact, [&](const Exact& one) { return !one.rule && !is_beyond(one); });
    if (limited != exact.end() && impossible < 2) return limited->rule.error();
    return std::ranges::find_if(exact,
                                [&](const Exact& one) { return !one.rule && !is_beyond(one); })
        ->rule.error();
  }

 private:
  [[nodiscard]] Diagrams& diagrams() { return space_.diagrams(); }
  [[nodiscard]] std::uint32_t value(NodeId leaf) { return diagrams().node(leaf).pattern; }

  // A rule that holds for a set.
  struct Measured {
    Rule rule;
    std::size_t effort = effort_to_read(rule);
  };

  // One action's rule; nullptr if it needs more effort than wanted.
  struct Exact {
    std::uint32_t action;
    Result<const Measured*> rule;

    [[nodiscard]] bool longer() const { return rule && *rule == nullptr; }
    [[nodiscard]] std::size_t effort() const {
      return rule && *rule != nullptr ? (*rule)->effort : SIZE_MAX;
    }
  };

  // The value that needs no conditions: the default action, or the value of the last rule. Readers
  // expect the default action, unless the rules without it are much shorter.
  struct Rest {
    std::optional<std::size_t> index;
    bool certain;  // whatever the rules are that need more effort than wanted
  };
  static Rest best_rest(std::span<const Exact> exact, std::uint32_t rest_action, std::size_t most) {
    Rest out{};
    std::size_t least = SIZE_MAX;
    std::size_t possible = SIZE_MAX;  // least effort of those that need a longer rule
    for (std::size_t rest = 0; rest < exact.size(); ++rest) {
      const bool is_default = exact[rest].action == rest_action;
      std::size_t effort = is_default ? 0 : 1;
      bool exists = true;
      bool known = true;
      for (std::size_t i = 0; i < exact.size() && exists; ++i) {
        if (i == rest) continue;
        exists = static_cast<bool>(exact[i].rule);
        known = known && !exact[i].longer();
        effort += 1 + (exact[i].longer() ? most + 1 : exists ? exact[i].effort() : 0);
      }
      effort *= is_default ? 1 : 2;
      if (!exists) continue;
      if (!known) possible = std::min(possible, effort);
      if (!known || effort >= least) continue;
      least = effort;
      out.index = rest;
    }
    out.certain = possible == SIZE_MAX || least < possible;
    return out;
  }

  // Returns a rule that holds for the inputs of `set`, or nullptr if it needs more effort than
  // `most`. The lifter owns it. Precondition: `set` is not empty. Errors: no_rule(); too_long().
  Result<const Measured*> rule_of(NodeId set, Endian endian, std::size_t most) {
    const auto key = std::pair(set, endian);
    auto known = rules_.find(key);
    if (known == rules_.end()) {
      // Few different limits, so that no set is searched often.
      const std::size_t limit = most <= kFirstEffort ? kFirstEffort
                                : most <= kMostTests ? std::bit_ceil(most)
                                                     : SIZE_MAX;
      if (const auto tried = tried_.find(key); tried != tried_.end() && limit <= tried->second)
        return nullptr;
      auto found = new_rule(set, endian, limit);
      if (!found) {
        tried_[key] = limit;
        return nullptr;
      }
      searches_.erase(key);
      known = rules_
                  .emplace(key, *found ? Result<Measured>(Measured{std::move(**found)})
                                       : Result<Measured>(found->error()))
                  .first;
    }
    if (!known->second) return known->second.error();
    return known->second->effort <= most ? &*known->second : nullptr;
  }

  // Returns nothing if the rule needs more effort than `most`.
  using Found = std::optional<Result<Rule>>;

  Found new_rule(NodeId set, Endian endian, std::size_t most) {
    if (set == Diagrams::kOne) return Rule();
    auto& [whole, half] = searches_[{set, endian}];
    if (!whole) whole = Progress{divide(set, endian, true)};
    auto out = continued(*whole, endian, most);
    if (whole->field && !whole->field->both_halves) return out;
    const bool found = out && *out;
    if (found && matcher_count(**out) <= 2) return out;
    // Conditions on both halves of a field can be shorter than those on the whole field.
    if (!half) half = Progress{divide(set, endian, false)};
    auto halves = continued(*half, endian, found ? effort_to_read(**out) - 1 : most);
    const bool undecided = !halves && out && !*out;
    return undecided || (halves && *halves) ? halves : out;
  }

  // The values of the field that a set tests first, by what then remains of the set.
  struct Field {
    std::size_t index;
    std::vector<std::pair<NodeId, std::vector<FieldCube>>> values = {};
    bool both_halves = false;  // some values are divided by both halves
  };

  // The search for the rule of a set, which can stop and continue. The effort of the rule is the
  // sum of the efforts of its parts.
  struct Progress {
    Result<Field> field;
    std::size_t next = 0;  // among the field's values
    std::size_t effort = 0;
    std::vector<Rule> alternatives = {};
  };

  Found continued(Progress& search, Endian endian, std::size_t most) {
    if (!search.field) return search.field.error();
    const Field& field = *search.field;
    for (; search.next < field.values.size(); ++search.next) {
      const auto& [child, inside] = field.values[search.next];
      if (child == Diagrams::kZero) continue;
      if (search.effort > most) return std::nullopt;
      ASSIGN_OR_RETURN(const auto rest, rule_of(child, endian, most - search.effort));
      if (rest == nullptr) return std::nullopt;
      // The field may have any value for which the rest implies that the input is in the set.
      std::vector<FieldCube> outside;
      for (const auto& [other, cubes] : field.values)
        if (diagrams().both(child, diagrams().negate(other)) != Diagrams::kZero)
          outside.insert(outside.end(), cubes.begin(), cubes.end());
      std::vector<Rule> both;
      both.reserve(2);
      if (!outside.empty()) both.push_back(field_rule(field.index, inside, outside));
      both.push_back(rest->rule);
      search.alternatives.push_back(compact_all_of(std::move(both)));
      search.effort += effort_to_read(search.alternatives.back());
    }
    if (search.effort > most) return std::nullopt;
    std::ranges::sort(search.alternatives, {}, first_test);
    Rule out = compact_any_of(std::move(search.alternatives));
    tests_ += matcher_count(out);
    if (tests_ <= kMostTests) return out;
    return too_long(fmt::format("lift tries at most {} conditions", kMostTests));
  }

  // Divides by the whole field that `set` tests first or, unless `whole`, only by the half of it
  // that `set` tests first.
  Result<Field> divide(NodeId set, Endian endian, bool whole) {
    const std::uint32_t word = space_.order().word(diagrams().level(set));
    for (int index = 0; index <= kIpField; ++index) {
      std::array<std::uint32_t, 2> halves = {half_word(index, false, endian),
                                             half_word(index, true, endian)};
      if (word != halves[0] && word != halves[1]) continue;
      if (!space_.order().whole(halves[0]) || !space_.order().whole(halves[1])) break;
      const auto position = [&](std::uint32_t half) { return space_.order().position(half); };
      std::ranges::sort(halves, {}, position);
      const auto shift = [&](std::uint32_t half) {
        return half == half_word(index, true, endian) ? 32 : 0;
      };
      const auto cube = [&](std::uint32_t half, const WordSet::Cube& of_half) {
        return FieldCube{std::uint64_t{of_half.mask} << shift(half),
                         std::uint64_t{of_half.value} << shift(half)};
      };
      Field out{static_cast<std::size_t>(index)};
      std::size_t left = kMostCubes;
      auto firsts = regions_.paths(set, halves[0], left);
      const auto too_many = [] {
        return too_long(
            fmt::format("lift divides the values of a field into at most {} parts", kMostCubes));
      };
      if (!firsts) return too_many();
      for (const auto& [then, of_first] : *firsts) {
        const FieldCube first = cube(halves[0], of_first);
        std::optional<std::vector<dd::Regions::Path>> seconds{{{then, {0, 0}}}};
        if (whole || first.mask == 0) seconds = regions_.paths(then, halves[1], left);
        if (!seconds || seconds->size() > left) return too_many();
        left -= seconds->size();
        for (const auto& [child, of_second] : *seconds) {
          const FieldCube second = cube(halves[1], of_second);
          out.both_halves = out.both_halves || (first.mask != 0 && second.mask != 0);
          auto at = std::ranges::find(out.values, child, [](auto& pair) { return pair.first; });
          if (at == out.values.end()) at = out.values.insert(at, {child, {}});
          at->second.push_back({first.mask | second.mask, first.value | second.value});
        }
      }
      return out;
    }
    return no_rule("it computes with fields, or compares them with each other");
  }

  dd::Space& space_;
  dd::Regions& regions_;
  std::map<std::tuple<NodeId, Endian, std::uint32_t>, Choices> choices_;
  std::map<std::pair<NodeId, Endian>, Result<Measured>> rules_;
  // For each set that has no rule yet: the search by whole fields, and the search by halves.
  std::map<std::pair<NodeId, Endian>, std::array<std::optional<Progress>, 2>> searches_;
  std::map<std::pair<NodeId, Endian>, std::size_t> tried_;  // the rule needs more effort than this
  std::size_t tests_ = 0;                                   // of all rules that were made
};

CallRules::CallRules(dd::Space& space, dd::Regions& regions)
    : search_(std::make_unique<Search>(space, regions)) {}
CallRules::~CallRules() = default;

Result<const CallRules::Choices*> CallRules::choices(dd::NodeId function, Endian endian,
                                                     std::uint32_t rest_action) {
  return search_->choices(function, endian, rest_action);
}

}  // namespace secequiv
