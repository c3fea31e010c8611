#include "verify/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/policy/compile.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

// The policy's rules for one system call; for all others both sides of every question below agree.
Policy only(const Policy& policy, Arch arch, std::uint32_t nr) {
  Policy out = policy;
  for (RuleSet& set : out.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& rule) {
      return rule.nr != nr || arch_info(rule.arch).audit != arch_info(arch).audit;
    });
  return out;
}

// An action that occurs nowhere in the policy.
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

  Result<std::vector<IdleRule>> run() {
    for (std::size_t set = 0; set < policy_.rule_sets.size(); ++set)
      for (const SyscallRule& rule : policy_.rule_sets[set].rules)
        if (auto s = whole_rule(set, rule); !s) return s.error();
    return found_;
  }

 private:
  Result<bool> same(const Policy& a, const Policy& b) {
    auto proof = dd::prove(Pair{compile(a), compile(b), Sameness::kRaw}, limits_);
    if (!proof) return proof.error();
    if (proof->verdict == Verdict::kUnknown)
      return make_error(ErrorCode::kBudget, policy_.name, proof->detail);
    return proof->verdict == Verdict::kEquivalent;
  }

  Status whole_rule(std::size_t set, const SyscallRule& rule) {
    const Policy here = only(policy_, rule.arch, rule.nr);
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
      found_.push_back({*unmatchable ? IdleRule::Kind::kUnmatchable : IdleRule::Kind::kShadowed,
                        set,
                        rule.arch,
                        rule.nr,
                        {}});
      return Ok{};
    }
    auto redundant = same(here, without);
    if (!redundant) return redundant.error();
    if (*redundant) {
      found_.push_back({IdleRule::Kind::kRedundant, set, rule.arch, rule.nr, {}});
      return Ok{};
    }
    std::vector<std::size_t> path;
    return parts(here, set, rule, rule.rule, path);
  }

  // Children of any_of and all_of that could be left out.
  Status parts(const Policy& here, std::size_t set, const SyscallRule& whole, const Rule& rule,
               std::vector<std::size_t>& path) {
    if (rule.children.size() < 2) {
      if (rule.children.empty()) return Ok{};
      path.push_back(0);
      auto s = parts(here, set, whole, rule.children[0], path);
      path.pop_back();
      return s;
    }
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      path.push_back(i);
      Policy without = here;
      Rule* at = nullptr;
      for (SyscallRule& entry : without.rule_sets[set].rules)
        if (entry.arch == whole.arch) at = &entry.rule;
      for (std::size_t k = 0; k + 1 < path.size(); ++k) at = &at->children[path[k]];
      at->children.erase(at->children.begin() + static_cast<std::ptrdiff_t>(i));
      auto idle = same(here, without);
      if (!idle) return idle.error();
      if (*idle) {
        found_.push_back({IdleRule::Kind::kRedundant, set, whole.arch, whole.nr, path});
      } else if (auto s = parts(here, set, whole, rule.children[i], path); !s) {
        return s;
      }
      path.pop_back();
    }
    return Ok{};
  }

  const Policy& policy_;
  dd::Limits limits_;
  std::uint32_t marker_;
  std::vector<IdleRule> found_;
};

}  // namespace

Result<std::vector<IdleRule>> idle_rules(const Policy& policy, const dd::Limits& limits) {
  return Linter(policy, limits).run();
}

}  // namespace secequiv
