#include "analyze/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "harness/policy/compile.h"
#include "harness/seccomp/doors.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

struct PartPosition {
  PositionRef position;
  // The first `located` indices of the RulePart lead to the part that has the position.
  std::size_t located = 0;
};

// Returns the position of a part of a rule or, if it has none, of the innermost part around it that
// has one. If the rule itself has no position, because its alternatives are separate entries of a
// file, the result is the position of an alternative.
PartPosition position_of_part(const Rule& rule, const RulePart& part) {
  const Rule* at = &rule;
  PartPosition out{rule.position};
  for (std::size_t i = 0; i < part.size(); ++i) {
    at = &at->children[part[i]];
    if (at->position.at != nullptr) out = {at->position, rule.position.at == nullptr ? i + 1 : 0};
  }
  if (out.position.at == nullptr) out.position = first_position(*at);
  return out;
}

RulePlace place_of_rule(const Policy& policy, std::size_t set, const SyscallRule& rule,
                        const RulePart& part = {}) {
  auto [position, located] = position_of_part(rule.rule, part);
  return {set, policy.rule_sets[set].action, rule.arch, rule.nr, std::move(position), located};
}

// Returns the entries of a file that the rule stands for.
std::vector<Alternative> entries(const Rule& rule) {
  if (rule.kind != Rule::Kind::kAnyOf || first_position(rule).at == rule.position.at)
    return {{&rule, &rule.position}};
  std::vector<Alternative> out;
  out.reserve(rule.children.size());
  for (const Rule& child : rule.children) out.push_back({&child, &child.position});
  return out;
}

// Returns the lines of the parts of a rule, if each of them has a position of its own.
std::vector<std::size_t> lines_of(const Rule& rule, const std::vector<RulePart>& parts) {
  std::vector<std::size_t> out;
  for (const RulePart& part : parts) {
    const auto [position, located] = position_of_part(rule, part);
    if (position.at == nullptr || located != part.size()) return {};
    out.push_back(position.at->line);
  }
  return out;
}

// Returns whether every way to match the rule checks the field.
bool always_checks(const Rule& rule, std::size_t field) {
  const auto checks = [&](const Rule& child) { return always_checks(child, field); };
  if (rule.kind == Rule::Kind::kAnyOf) return std::ranges::all_of(rule.children, checks);
  if (rule.kind == Rule::Kind::kAllOf) return std::ranges::any_of(rule.children, checks);
  return rule.kind == Rule::Kind::kArgs && rule.fields[field].op != Matcher::Op::kAny;
}

Rule without_field(Rule rule, std::size_t field) {
  rule.fields[field] = {};
  for (Rule& child : rule.children) child = without_field(std::move(child), field);
  return rule;
}

struct Duplicate {
  RulePart part;
  std::vector<RulePart> originals;
};

// Finds parts of a rule that repeat an earlier part of it. An any_of that consists of duplicates is
// listed after them.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(const Rule& rule) {
    if (is_branching(rule)) apart(rule);
  }

  [[nodiscard]] const std::vector<Duplicate>& found() const { return found_; }

 private:
  struct Seen {
    const Rule* rule;
    RulePart part;
  };

  void apart(const Rule& rule) {
    std::vector<Seen> seen;
    walk(rule, seen);
  }

  // Adds the children of `rule` (the part at part_) to `seen`, except those that repeat an earlier
  // part. If all of them do, returns the parts that they repeat.
  std::vector<RulePart> walk(const Rule& rule, std::vector<Seen>& seen) {
    std::vector<RulePart> originals;
    bool is_new = false;
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part_.push_back(i);
      const std::vector<RulePart> repeated = walk_child(rule, rule.children[i], seen);
      is_new |= repeated.empty();
      originals.insert(originals.end(), repeated.begin(), repeated.end());
      part_.pop_back();
    }
    if (is_new) originals.clear();
    return originals;
  }

  std::vector<RulePart> walk_child(const Rule& rule, const Rule& child, std::vector<Seen>& seen) {
    std::vector<RulePart> originals;
    if (child.kind == rule.kind) {
      originals = walk(child, seen);
    } else {
      for (const Seen& one : seen)
        if (originals.empty() && *one.rule == child) originals = {one.part};
      if (originals.empty()) {
        seen.push_back({&child, part_});
        if (is_branching(child)) apart(child);
      }
    }
    if (!originals.empty()) found_.push_back({part_, originals});
    return originals;
  }

  RulePart part_;
  std::vector<Duplicate> found_;
};

// Replaces the duplicates in `rule` by neutral parts, so that all other parts keep their positions.
Rule without_duplicates(Rule rule, const std::vector<Duplicate>& duplicates) {
  for (const Duplicate& duplicate : duplicates) {
    Rule* parent = &rule;
    for (std::size_t k = 0; k + 1 < duplicate.part.size(); ++k)
      parent = &parent->children[duplicate.part[k]];
    Rule& at = parent->children[duplicate.part.back()];
    at = Rule{};
    if (parent->kind == Rule::Kind::kAllOf) continue;
    at.kind = Rule::Kind::kArgs;
    at.fields[0].op = Matcher::Op::kLt;  // no value is below 0, so this never matches
  }
  return rule;
}

// Returns an action that the policy does not use.
std::uint32_t unused_action(const Policy& policy) {
  std::set<std::uint32_t> used = {policy.default_action, policy.bad_arch_action,
                                  policy.x32_action.value_or(0)};
  for (const RuleSet& set : policy.rule_sets) used.insert(set.action);
  for (const DefaultRange& range : policy.default_ranges) used.insert(range.action);
  std::uint32_t out = SECCOMP_RET_TRACE;
  while (used.contains(out)) ++out;
  return out;
}

class Linter {
 public:
  Linter(const Policy& policy, const dd::Limits& limits)
      : policy_(policy), limits_(limits), marker_(unused_action(policy)), frame_(policy) {
    for (RuleSet& set : frame_.rule_sets) set.rules.clear();
  }

  Result<std::vector<RedundantRule>> redundant(std::span<const RuleSet> idle) {
    for (std::size_t set = 0; set < policy_.rule_sets.size(); ++set)
      for (const SyscallRule& rule : policy_.rule_sets[set].rules)
        RETURN_IF_ERROR(whole_rule(only(rule), set, rule));
    for (const RuleSet& set : idle)
      for (const SyscallRule& rule : set.rules) {
        Policy here = only(rule);
        here.rule_sets.push_back(set);
        RETURN_IF_ERROR(whole_rule(std::move(here), policy_.rule_sets.size(), rule));
      }
    std::multimap<std::pair<std::string, std::size_t>, RedundantRule> by_line;
    for (RedundantRule& each : found_) {
      const RulePosition* at = each.place.position.at.get();
      auto key =
          at != nullptr ? std::pair(at->file, at->line) : std::pair<std::string, std::size_t>();
      by_line.emplace(std::move(key), std::move(each));
    }
    found_.clear();
    for (auto& [key, each] : by_line) found_.push_back(std::move(each));
    return found_;
  }

  Result<std::vector<DoubtfulRule>> trivial(PolicyFormat format) {
    for (std::size_t set = 0; set < policy_.rule_sets.size(); ++set)
      for (const SyscallRule& rule : policy_.rule_sets[set].rules) {
        RulePart part;
        RETURN_IF_ERROR(conditions(format, set, rule, rule.rule, part));
        RETURN_IF_ERROR(together(format, set, rule, rule.rule, part, 0));
      }
    return doubtful_;
  }

 private:
  using Kind = RedundantRule::Kind;

  // The earlier rule that decides instead of another one.
  struct Shadowing {
    PositionRef position = {};
    bool repeats = false;  // the earlier rule is equal and has the same action
  };

  // Returns the policy with the rules for the same system call only, because each proof concerns
  // one call.
  [[nodiscard]] Policy only(const SyscallRule& rule) const {
    Policy out = frame_;
    for (std::size_t set = 0; set < out.rule_sets.size(); ++set)
      for (const SyscallRule& each : policy_.rule_sets[set].rules)
        if (each.nr == rule.nr && arch_info(each.arch).audit == arch_info(rule.arch).audit)
          out.rule_sets[set].rules.push_back(each);
    return out;
  }

  void add(Kind kind, const Policy& here, std::size_t set, const SyscallRule& rule,
           const RulePart& part, PositionRef original = {}) {
    found_.push_back({kind, place_of_rule(here, set, rule, part), part, {}, std::move(original)});
  }

  Result<bool> same(const Policy& a, const Policy& b) {
    dd::Limits left = limits_;
    left.seconds -= seconds_since(start_);
    if (left.seconds <= 0)
      return make_error(ErrorCode::kBudget, policy_.name, "the time limit is reached");
    ASSIGN_OR_RETURN(auto proof, dd::prove(Pair{compile(a), compile(b), Sameness::kRaw}, left));
    if (proof.verdict == Verdict::kUnknown)
      return make_error(ErrorCode::kBudget, policy_.name, proof.detail);
    return proof.verdict == Verdict::kEquivalent;
  }

  // Finds an earlier rule that alone decides everything that `rule` matches. `rule` is in rule set
  // `set`, and `marked` is the policy in which it has another action.
  Result<Shadowing> shadowing(const Policy& here, const Policy& marked, std::size_t set,
                              const SyscallRule& rule) {
    for (std::size_t i = 0; i < set; ++i)
      for (const SyscallRule& earlier : here.rule_sets[i].rules) {
        if (earlier.arch != rule.arch) continue;
        std::vector<Alternative> candidates = {{&earlier.rule, &earlier.rule.position}};
        if (earlier.rule.position.at == nullptr) candidates = alternatives(earlier.rule);
        for (const Alternative& one : candidates) {
          const auto lone = [&](Policy p) {
            for (std::size_t k = 0; k < p.rule_sets.size(); ++k)
              if (k != i && p.rule_sets[k].action != marker_) p.rule_sets[k].rules.clear();
            p.rule_sets[i].rules = {{earlier.arch, earlier.nr, *one.rule}};
            return p;
          };
          ASSIGN_OR_RETURN(auto shadowed, same(lone(here), lone(marked)));
          if (shadowed)
            return Shadowing{
                *one.position,
                here.rule_sets[i].action == here.rule_sets[set].action && *one.rule == rule.rule};
        }
      }
    return Shadowing{};
  }

  // Returns the position of another alternative that matches everything that the alternative `part`
  // matches, if there is one. Compares only alternatives with positions of their own.
  Result<PositionRef> covering(const Policy& here, std::size_t set, Arch arch, const Rule& whole,
                               const RulePart& part) {
    if (part.size() != 1 || whole.kind != Rule::Kind::kAnyOf || whole.position.at != nullptr)
      return PositionRef{};
    for (std::size_t i = 0; i < whole.children.size(); ++i) {
      if (i == part[0]) continue;
      const auto with = [&](const std::vector<Rule>& children) {
        Policy out = here;
        for (SyscallRule& entry : out.rule_sets[set].rules)
          if (entry.arch == arch) entry.rule.children = children;
        return out;
      };
      ASSIGN_OR_RETURN(auto covered, same(with({whole.children[i]}),
                                          with({whole.children[i], whole.children[part[0]]})));
      if (covered) return whole.children[i].position;
    }
    return PositionRef{};
  }

  // Returns the position of the default action if it decides instead of the rule.
  [[nodiscard]] PositionRef by_default(const Policy& here, std::size_t set, Arch arch,
                                       std::uint32_t nr) const {
    const DefaultRange* range = here.default_range(arch_info(arch).audit, nr);
    const auto action = range == nullptr ? here.default_action : range->action;
    if (here.rule_sets[set].action != action) return {};
    for (std::size_t i = set + 1; i < here.rule_sets.size(); ++i)
      if (std::ranges::find(here.rule_sets[i].rules, arch, &SyscallRule::arch) !=
          here.rule_sets[i].rules.end())
        return {};
    return range == nullptr ? here.default_position : range->position;
  }

  Status whole_rule(Policy here, std::size_t set, const SyscallRule& rule) {
    const DuplicateFinder duplicates(rule.rule);
    duplicates_ = duplicates.found();
    Rule* own_rule = nullptr;
    for (SyscallRule& entry : here.rule_sets[set].rules)
      if (entry.arch == rule.arch) own_rule = &entry.rule;
    *own_rule = without_duplicates(rule.rule, duplicates_);
    Policy without = here;
    std::erase_if(without.rule_sets[set].rules,
                  [&](const SyscallRule& r) { return r.arch == rule.arch; });
    Policy marked = without;
    const RuleSet& own = here.rule_sets[set];
    marked.rule_sets.insert(marked.rule_sets.begin() + static_cast<std::ptrdiff_t>(set),
                            RuleSet{marker_, own.vsyscall, {rule}});
    ASSIGN_OR_RETURN(auto shadowed, same(here, marked));
    if (shadowed) {
      const auto alone = [&](Policy p) {
        std::erase_if(p.rule_sets, [&](const RuleSet& s) { return s.action != marker_; });
        return p;
      };
      ASSIGN_OR_RETURN(auto unmatchable, same(alone(here), alone(marked)));
      ASSIGN_OR_RETURN(auto by, unmatchable ? Shadowing{} : shadowing(here, marked, set, rule));
      add(unmatchable ? Kind::kUnmatchable : Kind::kShadowed, here, set, rule, {},
          std::move(by.position));
      found_.back().repeats = by.repeats;
      return Ok{};
    }
    ASSIGN_OR_RETURN(auto redundant, same(here, without));
    if (redundant) {
      add(Kind::kRedundant, here, set, rule, {}, by_default(here, set, rule.arch, rule.nr));
      return Ok{};
    }
    RulePart part;
    return parts(here, set, rule, *own_rule, part);
  }

  [[nodiscard]] const Duplicate* duplicate(const RulePart& part) const {
    const auto found = std::ranges::find(duplicates_, part, &Duplicate::part);
    return found != duplicates_.end() ? &*found : nullptr;
  }

  // Lists the children of any_of and all_of that could be removed.
  Status parts(const Policy& here, std::size_t set, const SyscallRule& whole, const Rule& rule,
               RulePart& part) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part.push_back(i);
      count += duplicate(part) == nullptr;
      part.pop_back();
    }
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part.push_back(i);
      if (const Duplicate* repeated = duplicate(part)) {
        add(Kind::kDuplicate, here, set, whole, part,
            position_of_part(whole.rule, repeated->originals.front()).position);
        found_.back().originals = repeated->originals;
      } else {
        ASSIGN_OR_RETURN(auto redundant, count > 1
                                             ? same(here, without_part(here, set, whole.arch, part))
                                             : Result<bool>(false));
        if (redundant) {
          ASSIGN_OR_RETURN(auto by, covering(here, set, whole.arch, whole.rule, part));
          add(Kind::kRedundant, here, set, whole, part, std::move(by));
        } else if (auto s = parts(here, set, whole, rule.children[i], part); !s) {
          return s;
        }
      }
      part.pop_back();
    }
    return Ok{};
  }

  static Policy without_part(const Policy& here, std::size_t set, Arch arch, const RulePart& part) {
    Policy out = here;
    Rule* at = nullptr;
    for (SyscallRule& entry : out.rule_sets[set].rules)
      if (entry.arch == arch) at = &entry.rule;
    for (std::size_t k = 0; k + 1 < part.size(); ++k) at = &at->children[part[k]];
    at->children.erase(at->children.begin() + static_cast<std::ptrdiff_t>(part.back()));
    return out;
  }

  Status conditions(PolicyFormat format, std::size_t set, const SyscallRule& whole,
                    const Rule& rule, RulePart& part) {
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part.push_back(i);
      RETURN_IF_ERROR(conditions(format, set, whole, rule.children[i], part));
      part.pop_back();
    }
    if (rule.kind != Rule::Kind::kArgs) return Ok{};
    for (int field = 0; field <= kIpField; ++field) {
      const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
      if (m.op == Matcher::Op::kAny || is_meant(format, m)) continue;
      ASSIGN_OR_RETURN(auto kind, trivial_kind(whole, field, m));
      if (kind)
        doubtful_.push_back({*kind,
                             place_of_rule(policy_, set, whole, part),
                             field,
                             {},
                             {},
                             {},
                             part,
                             m.op == Matcher::Op::kMaskedEq && m.mask == 0});
    }
    return Ok{};
  }

  // Returns whether the condition is `ge 0`, by which authors state that any value is meant.
  static bool is_meant(PolicyFormat format, const Matcher& m) {
    return format == PolicyFormat::kOwn && m.op == Matcher::Op::kGe && m.value == 0;
  }

  // Warns about alternatives whose conditions on one field together admit every value. `known` has
  // the fields for which an any_of around `rule` got this warning.
  Status together(PolicyFormat format, std::size_t set, const SyscallRule& whole, const Rule& rule,
                  RulePart& part, std::uint32_t known) {
    for (int field = 0; rule.kind == Rule::Kind::kAnyOf && field <= kIpField; ++field) {
      const std::uint32_t bit = 1U << field;
      if ((known & bit) != 0) continue;
      ASSIGN_OR_RETURN(auto found, admits_all(format, whole, rule, field));
      if (!found) continue;
      known |= bit;
      std::vector<RulePart> alternatives;
      for (std::size_t i = 0; i < rule.children.size(); ++i) {
        alternatives.push_back(part);
        alternatives.back().push_back(i);
      }
      doubtful_.push_back({DoubtfulRule::Kind::kTogetherTrue,
                           place_of_rule(policy_, set, whole, part),
                           field,
                           {},
                           {},
                           lines_of(whole.rule, alternatives),
                           part});
    }
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part.push_back(i);
      RETURN_IF_ERROR(together(format, set, whole, rule.children[i], part, known));
      part.pop_back();
    }
    return Ok{};
  }

  // Returns whether the conditions of an any_of on the field restrict nothing, although each of
  // them alone does.
  Result<bool> admits_all(PolicyFormat format, const SyscallRule& whole, const Rule& rule,
                          int field) {
    const auto at = static_cast<std::size_t>(field);
    if (!always_checks(rule, at)) return false;
    auto restricts = all_restrict(format, whole, rule, field);
    if (!restricts || !*restricts) return restricts;
    const Policy test = only_rule(whole, rule);
    auto admits = same(test, only_rule(whole, without_field(rule, at)));
    if (!admits || !*admits) return admits;
    auto never = same(test, nothing());
    if (!never) return never;
    return !*never;
  }

  // Returns whether each condition of the rule on the field excludes some value. A condition on a
  // variable counts as excluding none, because the variable has no fixed value.
  Result<bool> all_restrict(PolicyFormat format, const SyscallRule& whole, const Rule& rule,
                            int field) {
    for (const Rule& child : rule.children) {
      auto restricts = all_restrict(format, whole, child, field);
      if (!restricts || !*restricts) return restricts;
    }
    const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
    if (rule.kind != Rule::Kind::kArgs || m.op == Matcher::Op::kAny) return true;
    if (is_meant(format, m) || !m.variable.empty()) return false;
    ASSIGN_OR_RETURN(auto kind, trivial_kind(whole, field, m));
    return kind != DoubtfulRule::Kind::kAlwaysTrue;
  }

  // Returns the policy with only this rule for the call.
  [[nodiscard]] Policy only_rule(const SyscallRule& whole, const Rule& rule) const {
    Policy out = frame_;
    out.rule_sets = {{marker_, false, {{whole.arch, whole.nr, rule}}}};
    return out;
  }

  [[nodiscard]] Policy nothing() const {
    Policy out = frame_;
    out.rule_sets.clear();
    return out;
  }

  Result<std::optional<DoubtfulRule::Kind>> trivial_kind(const SyscallRule& whole, int field,
                                                         const Matcher& m) {
    const auto key = std::tuple(m.op, m.value, m.mask, m.low_half);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    Rule tested;
    tested.kind = Rule::Kind::kArgs;
    tested.fields[static_cast<std::size_t>(field)] = m;
    const Policy test = only_rule(whole, tested);
    std::optional<DoubtfulRule::Kind> out;
    ASSIGN_OR_RETURN(auto always, same(test, only_rule(whole, {})));
    if (always) out = DoubtfulRule::Kind::kAlwaysTrue;
    ASSIGN_OR_RETURN(auto never, same(test, nothing()));
    if (never) out = DoubtfulRule::Kind::kNeverTrue;
    known_.emplace(key, out);
    return out;
  }

  const Policy& policy_;
  dd::Limits limits_;
  Clock::time_point start_ = Clock::now();
  std::uint32_t marker_;
  Policy frame_;                       // the policy without rules
  std::vector<Duplicate> duplicates_;  // the duplicates of the current rule
  std::vector<RedundantRule> found_;
  std::vector<DoubtfulRule> doubtful_;
  std::map<std::tuple<Matcher::Op, std::uint64_t, std::uint64_t, bool>,
           std::optional<DoubtfulRule::Kind>>
      known_;  // the conditions examined so far
};

// The fields that the alternatives of a rule check. Bit i stands for field i. The alternatives are
// not listed one by one, because an all_of has the product of its children's alternatives.
struct Checks {
  std::uint32_t always = 0;     // checked by every alternative
  std::uint32_t sometimes = 0;  // checked by at least one alternative
  std::vector<Checks> children;

  [[nodiscard]] bool nothing() const { return sometimes == 0; }
};

Checks checks_of(const Rule& rule) {
  Checks out;
  for (std::size_t i = 0; i < rule.fields.size(); ++i)
    if (rule.kind == Rule::Kind::kArgs && rule.fields[i].op != Matcher::Op::kAny)
      out.always |= 1U << i;
  out.sometimes = out.always;
  const bool any_of = rule.kind == Rule::Kind::kAnyOf;
  bool first = true;
  for (const Rule& child : rule.children) {
    Checks of_child = checks_of(child);
    out.sometimes |= of_child.sometimes;
    if (any_of && !first && !of_child.nothing()) {
      out.always &= of_child.always;
    } else {
      out.always |= of_child.always;
    }
    first = first && of_child.nothing();
    out.children.push_back(std::move(of_child));
  }
  return out;
}

// Finds doubtful parts of one rule.
class Doubts {
 public:
  Doubts(const Policy& policy, std::size_t set, const SyscallRule& rule,
         std::vector<DoubtfulRule>& out)
      : place_(place_of_rule(policy, set, rule)),
        rule_(rule),
        checks_(checks_of(rule.rule)),
        out_(out) {}

  void find() {
    if (place_.action == SECCOMP_RET_ERRNO)
      for (const Alternative& each : entries(rule_.rule)) {
        out_.push_back(doubt(DoubtfulRule::Kind::kErrnoZero, 0));
        out_.back().place.position = *each.position;
      }
    DoubtfulRule match_all = doubt(DoubtfulRule::Kind::kMatchAll, 0);
    empty_alternatives(rule_.rule, checks_, match_all.unchecked);
    if (!match_all.unchecked.empty()) out_.push_back(std::move(match_all));
    for (int field = 0; field <= kIpField; ++field) {
      const std::uint32_t bit = 1U << field;
      if ((checks_.sometimes & ~checks_.always & bit) == 0) continue;
      DoubtfulRule found = doubt(DoubtfulRule::Kind::kInconsistent, field);
      alternatives(rule_.rule, checks_, bit, found);
      std::vector<RulePart> parts = found.unchecked;
      parts.insert(parts.begin(), found.checked);
      found.lines = lines_of(rule_.rule, parts);
      out_.push_back(std::move(found));
    }
  }

 private:
  [[nodiscard]] DoubtfulRule doubt(DoubtfulRule::Kind kind, int field) const {
    return {kind, place_, field, {}, {}};
  }

  // Collects the alternatives of any_of that check nothing although others check something.
  void empty_alternatives(const Rule& rule, const Checks& checks, std::vector<RulePart>& out) {
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      part_.push_back(i);
      const bool empty = checks.children[i].nothing();
      if (empty && rule.kind == Rule::Kind::kAnyOf && !checks.nothing()) out.push_back(part_);
      if (!empty) empty_alternatives(rule.children[i], checks.children[i], out);
      part_.pop_back();
    }
  }

  // Divides alternatives into those that check the field `bit` and those that do not. Precondition:
  // `rule` has both kinds.
  void alternatives(const Rule& rule, const Checks& checks, std::uint32_t bit,
                    DoubtfulRule& found) {
    const bool any_of = rule.kind == Rule::Kind::kAnyOf;
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      const Checks& child = checks.children[i];
      part_.push_back(i);
      if ((child.sometimes & ~child.always & bit) != 0) {
        alternatives(rule.children[i], child, bit, found);
      } else if (any_of && (child.always & bit) != 0) {
        if (found.checked.empty()) found.checked = part_;
      } else if (any_of && !child.nothing()) {
        found.unchecked.push_back(part_);
      }
      part_.pop_back();
    }
  }

  RulePlace place_;
  const SyscallRule& rule_;
  Checks checks_;
  RulePart part_;
  std::vector<DoubtfulRule>& out_;
};

// Warns about entries of a container profile that test an argument several times. The importer
// makes all tests of such an entry alternatives, as runtimes do.
void repeated_arguments(const Policy& policy, std::vector<DoubtfulRule>& out) {
  for (std::size_t set = 0; set < policy.rule_sets.size(); ++set)
    for (const SyscallRule& rule : policy.rule_sets[set].rules)
      for (const Alternative& entry : entries(rule.rule)) {
        if (entry.rule->kind != Rule::Kind::kAnyOf) continue;
        RulePlace place = place_of_rule(policy, set, rule);
        place.position = *entry.position;
        for (int field = 0; field < kArgCount; ++field)
          if (std::ranges::count_if(entry.rule->children, [&](const Rule& test) {
                return test.fields[static_cast<std::size_t>(field)].op != Matcher::Op::kAny;
              }) > 1)
            out.push_back({DoubtfulRule::Kind::kRepeatedArgument, place, field, {}, {}});
      }
}

// Returns whether an unknown name probably leaves open what the author refused.
bool opens(const UnknownName& name, const Policy& policy) {
  if (name.kind == UnknownName::Kind::kCall) return lets_run(policy.default_action);
  return name.kind == UnknownName::Kind::kKey &&
         (!name.suggestion.empty() || policy.rule_sets.empty());
}

bool is_added(const PositionRef& position) { return position.at != nullptr && position.at->added; }

// Returns whether entries for the call have different actions. libseccomp does not keep their
// order, so that each condition may count.
bool has_other_action(const Policy& policy, const RulePlace& place) {
  return std::ranges::any_of(policy.rule_sets, [&](const RuleSet& set) {
    return set.action != place.action && set.find(place.arch, place.nr) != nullptr;
  });
}

// Returns whether the condition is one of several in an entry that repeats an argument. Such an
// entry means something else without one of them.
bool is_alternative(const Policy& policy, const DoubtfulRule& one) {
  const Rule* at = policy.rule_sets[one.place.rule_set].find(one.place.arch, one.place.nr);
  for (std::size_t i = 0; i < one.part.size(); ++i) {
    if (i >= one.place.located && at->kind == Rule::Kind::kAnyOf) return true;
    at = &at->children[one.part[i]];
  }
  return false;
}

// Keeps the findings about a container profile that its author can follow, even all together: a
// name leaves its entry for all architectures, and libseccomp adds rules for some calls.
class Removable {
 public:
  Removable(const Import& profile, const dd::Limits& limits) : profile_(profile), limits_(limits) {}

  Status keep(std::vector<RedundantRule>& found) {
    // An entry that repeats an argument means something else without one of its tests.
    std::erase_if(found,
                  [](const RedundantRule& one) { return one.part.size() > one.place.located; });
    if (found.empty()) return Ok{};
    ASSIGN_OR_RETURN(before_, profile_.without({}));
    program_ = compile(before_.policy);
    std::vector<char> kept(found.size());
    for (std::size_t i = 0; i < found.size();) {
      std::vector<std::size_t> entry;
      const std::string& path = found[i].place.position.at->path;
      while (i < found.size() && found[i].place.position.at->path == path) entry.push_back(i++);
      RETURN_IF_ERROR(try_findings(found, entry, kept));
    }
    std::size_t i = 0;
    std::erase_if(found, [&](const RedundantRule&) { return kept[i++] == 0; });
    return Ok{};
  }

 private:
  // Tries the findings about one entry together and, if that fails, those about each name.
  Status try_findings(const std::vector<RedundantRule>& found, const std::vector<std::size_t>& some,
                      std::vector<char>& kept) {
    std::map<std::string, std::vector<std::size_t>> names;
    std::vector<OciName> less = without_;
    for (const std::size_t i : some) {
      const RulePlace& place = found[i].place;
      names[std::string(syscall_name(place.arch, place.nr))].push_back(i);
    }
    for (const auto& [name, here] : names) {
      // An entry may repeat a name.
      std::map<Arch, std::size_t> times;
      for (const std::size_t i : here) ++times[found[i].place.arch];
      less.insert(less.end(), std::ranges::max(times | std::views::values),
                  {found[here.front()].place.position.at->path, name});
    }
    ASSIGN_OR_RETURN(auto same, is_same(less));
    if (same) {
      without_ = std::move(less);
      for (const std::size_t i : some) kept[i] = 1;
    } else if (names.size() > 1) {
      for (const auto& [name, here] : names) RETURN_IF_ERROR(try_findings(found, here, kept));
    }
    return Ok{};
  }

  [[nodiscard]] Result<bool> is_same(const std::vector<OciName>& names) const {
    const auto after = profile_.without(names);
    if (!after) return false;
    if (!std::ranges::equal(before_.mixed, after->mixed, {}, &MixedCall::entries,
                            &MixedCall::entries))
      return false;
    dd::Limits left = limits_;
    left.seconds -= seconds_since(start_);
    ASSIGN_OR_RETURN(auto proof,
                     dd::prove(Pair{program_, compile(after->policy), Sameness::kRaw}, left));
    if (proof.verdict == Verdict::kUnknown)
      return make_error(ErrorCode::kBudget, before_.policy.name, proof.detail);
    return proof.verdict == Verdict::kEquivalent;
  }

  const Import& profile_;
  dd::Limits limits_;
  Clock::time_point start_ = Clock::now();
  Import before_;
  Program program_;
  std::vector<OciName> without_;  // what all findings that are kept so far remove
};

// Notes which findings do not hold on all architectures that have the call, or not in the rule that
// libseccomp adds without the test of the first argument.
void note_in_part(const std::vector<Arch>& arches, std::vector<DoubtfulRule>& found) {
  const auto alike = [](const DoubtfulRule& a, const DoubtfulRule& b) {
    return a.kind == b.kind && a.field == b.field &&
           a.place.position.at->path == b.place.position.at->path &&
           syscall_name(a.place.arch, a.place.nr) == syscall_name(b.place.arch, b.place.nr);
  };
  for (DoubtfulRule& one : found) {
    const std::string_view name = syscall_name(one.place.arch, one.place.nr);
    const auto operation = multiplexed(name);
    const bool is_dropped =
        operation && one.field == 0 && one.kind == DoubtfulRule::Kind::kNeverTrue;
    one.in_part = std::ranges::any_of(arches, [&](Arch arch) {
      if (is_dropped && syscall_nr(arch, operation->call)) return true;
      return syscall_nr(arch, name) && std::ranges::none_of(found, [&](const DoubtfulRule& other) {
               return other.place.arch == arch && alike(one, other);
             });
    });
  }
}

// Returns the policy without the rules that libseccomp adds. No advice is about them, because an
// author can change only their entry.
Policy as_written(Policy policy) {
  for (RuleSet& set : policy.rule_sets) {
    for (SyscallRule& rule : set.rules)
      std::erase_if(rule.rule.children, [](const Rule& one) { return is_added(one.position); });
    std::erase_if(set.rules, [](const SyscallRule& rule) {
      return is_added(rule.rule.position) ||
             (is_branching(rule.rule) && rule.rule.children.empty());
    });
  }
  return policy;
}

// Returns how many entries are for other hosts or containers.
std::size_t not_examined(const Import& imported) {
  std::set<std::string> positions;
  for (const ProfilePart& part : imported.parts)
    if (!part.applies && !part.guard.always()) positions.insert(part.position.text());
  return positions.size();
}

}  // namespace

Result<LintReport> lint(const LintJob& job) {
  const Policy& policy = job.imported.policy;
  const Clock::time_point start = Clock::now();
  ASSIGN_OR_RETURN(auto redundant, redundant_rules(policy, job.limits, job.imported.idle));
  const bool is_profile = job.imported.format == PolicyFormat::kOci;
  std::erase_if(redundant, [&](const RedundantRule& one) { return is_added(one.place.position); });
  dd::Limits left = job.limits;
  left.seconds -= seconds_since(start);
  if (is_profile) RETURN_IF_ERROR(Removable(job.imported, left).keep(redundant));
  left.seconds = job.limits.seconds - seconds_since(start);
  const Policy written = as_written(policy);
  ASSIGN_OR_RETURN(auto trivial, trivial_conditions(written, job.imported.format, left));
  if (is_profile) {
    std::erase_if(trivial, [&](const DoubtfulRule& one) {
      return is_alternative(written, one) || has_other_action(policy, one.place);
    });
    note_in_part(policy.arches, trivial);
  }
  auto doubtful = doubtful_rules(written);
  std::ranges::move(trivial, std::back_inserter(doubtful));
  if (policy.default_action == SECCOMP_RET_ERRNO)
    for (const Arch arch : policy.arches)
      doubtful.push_back({DoubtfulRule::Kind::kErrnoZero,
                          {policy.rule_sets.size(), policy.default_action, arch, kUnlisted,
                           policy.default_position},
                          0,
                          {},
                          {}});
  if (is_profile) repeated_arguments(written, doubtful);
  std::vector<UnknownName> errors;
  std::vector<UnknownName> unknown;
  for (const UnknownName& name : job.imported.unknown)
    (opens(name, policy) ? errors : unknown).push_back(name);
  return LintReport{job.name,
                    job.file,
                    job.strict,
                    std::move(redundant),
                    std::move(doubtful),
                    std::move(unknown),
                    job.read_for,
                    not_examined(job.imported),
                    std::move(errors),
                    job.imported.failures,
                    is_profile};
}

Result<std::vector<RedundantRule>> redundant_rules(const Policy& policy, const dd::Limits& limits,
                                                   std::span<const RuleSet> idle) {
  return Linter(policy, limits).redundant(idle);
}

Result<std::vector<DoubtfulRule>> trivial_conditions(const Policy& policy, PolicyFormat format,
                                                     const dd::Limits& limits) {
  return Linter(policy, limits).trivial(format);
}

std::vector<DoubtfulRule> doubtful_rules(const Policy& policy) {
  std::vector<DoubtfulRule> out;
  for (std::size_t set = 0; set < policy.rule_sets.size(); ++set)
    for (const SyscallRule& rule : policy.rule_sets[set].rules)
      Doubts(policy, set, rule, out).find();
  return out;
}

}  // namespace secequiv
