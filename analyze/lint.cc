#include "analyze/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/policy/compile.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

// Returns the policy with the rules for one system call only, because each proof below concerns one
// call.
Policy only(const Policy& policy, Arch arch, std::uint32_t nr) {
  Policy out = policy;
  for (RuleSet& set : out.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& rule) {
      return rule.nr != nr || arch_info(rule.arch).audit != arch_info(arch).audit;
    });
  return out;
}

// Returns the position of a part of a rule, or of the part that contains it.
PositionRef position_of_part(const Rule& rule, const RulePart& part) {
  const Rule* at = &rule;
  PositionRef out = rule.position;
  for (const std::size_t child : part) {
    at = &at->children[child];
    if (at->position.at != nullptr) out = at->position;
  }
  return out.at != nullptr ? out : first_position(*at);
}

RulePlace place_of_rule(const Policy& policy, std::size_t set, const SyscallRule& rule,
                        const RulePart& part = {}) {
  return {set, policy.rule_sets[set].action, rule.arch, rule.nr, position_of_part(rule.rule, part)};
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

  // Adds the new children of `rule`, the part at part_, to `seen`. If there are none, returns the
  // parts that it repeats.
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
  std::uint32_t out = SECCOMP_RET_TRACE;
  while (used.contains(out)) ++out;
  return out;
}

class Linter {
 public:
  Linter(const Policy& policy, const dd::Limits& limits)
      : policy_(policy), limits_(limits), marker_(unused_action(policy)) {}

  Result<std::vector<RedundantRule>> run() {
    for (std::size_t set = 0; set < policy_.rule_sets.size(); ++set)
      for (const SyscallRule& rule : policy_.rule_sets[set].rules)
        if (auto s = whole_rule(set, rule); !s) return s.error();
    return found_;
  }

 private:
  using Kind = RedundantRule::Kind;

  void add(Kind kind, std::size_t set, const SyscallRule& rule, const RulePart& part,
           std::vector<RulePart> originals = {}) {
    RedundantRule& found = found_.emplace_back(
        RedundantRule{kind, place_of_rule(policy_, set, rule, part), part, std::move(originals)});
    if (!found.originals.empty())
      found.original = position_of_part(rule.rule, found.originals.front());
  }

  Result<bool> same(const Policy& a, const Policy& b) {
    dd::Limits left = limits_;
    left.seconds -= seconds_since(start_);
    if (left.seconds <= 0)
      return make_error(ErrorCode::kBudget, policy_.name, "the time limit is reached");
    auto proof = dd::prove(Pair{compile(a), compile(b), Sameness::kRaw}, left);
    if (!proof) return proof.error();
    if (proof->verdict == Verdict::kUnknown)
      return make_error(ErrorCode::kBudget, policy_.name, proof->detail);
    return proof->verdict == Verdict::kEquivalent;
  }

  Status whole_rule(std::size_t set, const SyscallRule& rule) {
    const DuplicateFinder duplicates(rule.rule);
    duplicates_ = duplicates.found();
    Policy here = only(policy_, rule.arch, rule.nr);
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
    auto shadowed = same(here, marked);
    if (!shadowed) return shadowed.error();
    if (*shadowed) {
      const auto alone = [&](Policy p) {
        std::erase_if(p.rule_sets, [&](const RuleSet& s) { return s.action != marker_; });
        return p;
      };
      auto unmatchable = same(alone(here), alone(marked));
      if (!unmatchable) return unmatchable.error();
      add(*unmatchable ? Kind::kUnmatchable : Kind::kShadowed, set, rule, {});
      return Ok{};
    }
    auto redundant = same(here, without);
    if (!redundant) return redundant.error();
    if (*redundant) {
      add(Kind::kRedundant, set, rule, {});
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
        add(Kind::kDuplicate, set, whole, part, repeated->originals);
      } else {
        auto redundant =
            count > 1 ? same(here, without_part(here, set, whole.arch, part)) : Result<bool>(false);
        if (!redundant) return redundant.error();
        if (*redundant) {
          add(Kind::kRedundant, set, whole, part);
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

  const Policy& policy_;
  dd::Limits limits_;
  Clock::time_point start_ = Clock::now();
  std::uint32_t marker_;
  std::vector<Duplicate> duplicates_;  // the duplicates of the current rule
  std::vector<RedundantRule> found_;
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
    DoubtfulRule match_all = doubt(DoubtfulRule::Kind::kMatchAll, 0);
    empty_alternatives(rule_.rule, checks_, match_all.unchecked);
    if (!match_all.unchecked.empty()) out_.push_back(std::move(match_all));
    for (int field = 0; field <= kIpField; ++field) {
      const std::uint32_t bit = 1U << field;
      if ((checks_.sometimes & ~checks_.always & bit) == 0) continue;
      DoubtfulRule found = doubt(DoubtfulRule::Kind::kInconsistent, field);
      alternatives(rule_.rule, checks_, bit, found);
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

}  // namespace

Result<LintReport> lint(const LintJob& job) {
  auto redundant = redundant_rules(job.policy, job.limits);
  if (!redundant) return redundant.error();
  return LintReport{
      job.name,   job.file, job.strict, std::move(*redundant), doubtful_rules(job.policy),
      job.unknown};
}

Result<std::vector<RedundantRule>> redundant_rules(const Policy& policy, const dd::Limits& limits) {
  return Linter(policy, limits).run();
}

std::vector<DoubtfulRule> doubtful_rules(const Policy& policy) {
  std::vector<DoubtfulRule> out;
  for (std::size_t set = 0; set < policy.rule_sets.size(); ++set)
    for (const SyscallRule& rule : policy.rule_sets[set].rules)
      Doubts(policy, set, rule, out).find();
  return out;
}

}  // namespace secequiv
