#include <algorithm>
#include <array>

#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/policy/canonical.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Op = Matcher::Op;

class PolicyMutator {
 public:
  PolicyMutator(Random& random, Policy policy) : random_(random), policy_(std::move(policy)) {}

  // One change. The result may be illegal.
  void change() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return change_matcher();
      case 3:
        return change_node();
      case 4:
        return change_call();
      case 5:
        return change_action();
      case 6:
        return change_sets();
      case 7:
        return graft();
      case 8:
        return change_arches();
      case 9:
        return repeat_rule();
      case 10:
        return drop_rule();
      default:
        return change_variable();
    }
  }

  [[nodiscard]] Policy policy() && { return std::move(policy_); }

 private:
  RuleSet* set() {
    if (policy_.rule_sets.empty()) return nullptr;
    return &policy_.rule_sets[random_.below(policy_.rule_sets.size())];
  }
  SyscallRule* entry() {
    RuleSet* const from = set();
    if (from == nullptr || from->rules.empty()) return nullptr;
    return &from->rules[random_.below(from->rules.size())];
  }
  // A random node of a random rule.
  Rule* node() {
    SyscallRule* const from = entry();
    if (from == nullptr) return nullptr;
    Rule* at = &from->rule;
    while (!at->children.empty() && !random_.one_in(4))
      at = &at->children[random_.below(at->children.size())];
    return at;
  }

  std::uint64_t near(std::uint64_t v) {
    switch (random_.below(5)) {
      case 0:
        return v + 1;
      case 1:
        return v - 1;
      case 2:
        return v ^ std::uint64_t{1} << random_.below(64);
      case 3:
        return v << 32 | v >> 32;
      default:
        return random_.one_in(2) ? 0 : ~v;
    }
  }

  void change_matcher() {
    Rule* const rule = node();
    if (rule == nullptr || rule->kind != Rule::Kind::kArgs) return;
    const std::size_t field = random_.below(rule->fields.size());
    Matcher& m = rule->fields[field];
    switch (random_.below(7)) {
      case 0:
        m.op = static_cast<Op>(random_.below(10));
        break;
      case 1:
        m.mask = near(m.mask);
        break;
      case 2:
        m.low_half = !m.low_half;
        break;
      case 3:
        std::swap(m, rule->fields[random_.below(rule->fields.size())]);
        break;
      case 4:
        if (!policy_.variables.empty()) m.variable = random_.pick(policy_.variables).first;
        break;
      default:
        m.value = near(m.value);
        m.variable.clear();
    }
    if (!m.low_half) return;
    m.value &= 0xffffffff;
    m.mask &= 0xffffffff;
  }

  void change_node() {
    Rule* const rule = node();
    if (rule == nullptr) return;
    if (rule->children.empty() || random_.one_in(4)) {
      // One more alternative or condition, much like it.
      Rule copy = *rule;
      rule->children = {copy, std::move(copy)};
      rule->fields = {};
      rule->kind = random_.one_in(2) ? Rule::Kind::kAnyOf : Rule::Kind::kAllOf;
      return;
    }
    switch (random_.below(3)) {
      case 0:
        rule->kind = rule->kind == Rule::Kind::kAnyOf ? Rule::Kind::kAllOf : Rule::Kind::kAnyOf;
        break;
      case 1:
        rule->children.push_back(random_.pick(rule->children));
        break;
      default:
        rule->children.erase(rule->children.begin() +
                             static_cast<std::ptrdiff_t>(random_.below(rule->children.size())));
    }
  }

  void change_call() {
    if (SyscallRule* const at = entry())
      at->nr = random_.one_in(3) ? at->nr ^ 1u << random_.below(32)
                                 : at->nr - 1 + 2 * static_cast<std::uint32_t>(random_.below(2));
  }

  void change_action() {
    std::uint32_t* at = random_.one_in(2) ? &policy_.default_action : &policy_.bad_arch_action;
    if (RuleSet* const of = set(); of != nullptr && random_.one_in(2)) at = &of->action;
    *at = random_.one_in(2) ? *at ^ 1u << random_.below(16) : policy_.default_action;
    if (random_.one_in(4)) *at = SECCOMP_RET_ALLOW;
  }

  void change_sets() {
    if (policy_.rule_sets.empty()) return policy_.rule_sets.push_back({});
    RuleSet& one = *set();
    switch (random_.below(5)) {
      case 0:
        return std::swap(one, *set());
      case 1:
        one.vsyscall = !one.vsyscall;
        return;
      case 2:
        one.rules.clear();
        return;
      case 3: {
        RuleSet copy = one;
        return policy_.rule_sets.push_back(std::move(copy));
      }
      default:
        policy_.rule_sets.erase(
            policy_.rule_sets.begin() +
            static_cast<std::ptrdiff_t>(random_.below(policy_.rule_sets.size())));
    }
  }

  // Takes a rule from a generated policy.
  void graft() {
    const Policy donor = generate_policy(random_);
    Rule* const at = node();
    if (at == nullptr || donor.rule_sets.empty()) return;
    const RuleSet from = random_.pick(donor.rule_sets);
    if (from.rules.empty()) return;
    *at = random_.pick(from.rules).rule;
    forget_variables(*at);
  }
  static void forget_variables(Rule& rule) {
    for (Rule& child : rule.children) forget_variables(child);
    for (Matcher& m : rule.fields) m.variable.clear();
  }

  void change_arches() {
    const Arch arch = random_.pick(all_arches()).arch;
    if (policy_.has_arch(arch)) {
      std::erase(policy_.arches, arch);
      for (RuleSet& of : policy_.rule_sets)
        std::erase_if(of.rules, [arch](const SyscallRule& at) { return at.arch == arch; });
    } else {
      policy_.arches.push_back(arch);
      if (SyscallRule* const at = entry(); at != nullptr && random_.one_in(2)) at->arch = arch;
    }
    policy_.hot.clear();
    const bool wanted =
        random_.one_in(2) && policy_.has_arch(Arch::kX86_64) && !policy_.has_arch(Arch::kX32);
    policy_.x32_action = wanted ? std::optional(SECCOMP_RET_ERRNO | 9) : std::nullopt;
  }

  // The same call in another set, or the same rule for the next call.
  void repeat_rule() {
    const SyscallRule* const from = entry();
    if (from == nullptr) return;
    SyscallRule copy = *from;
    if (random_.one_in(2)) ++copy.nr;
    set()->rules.push_back(std::move(copy));
  }

  void drop_rule() {
    RuleSet* const from = set();
    if (from == nullptr || from->rules.empty()) return;
    from->rules.erase(from->rules.begin() +
                      static_cast<std::ptrdiff_t>(random_.below(from->rules.size())));
  }

  void change_variable() {
    if (policy_.variables.empty()) return change_matcher();
    std::uint32_t& v = policy_.variables[random_.below(policy_.variables.size())].second;
    v = static_cast<std::uint32_t>(near(v));
  }

  Random& random_;
  Policy policy_;
};

}  // namespace

Policy mutate_policy(Random& random, const Policy& policy) {
  Policy out = canonical(policy).value_or(policy);
  std::size_t wanted = random.between(1, 3);
  for (int tries = 0; wanted > 0 && tries < 32; ++tries) {
    PolicyMutator mutator(random, out);
    mutator.change();
    auto changed = canonical(std::move(mutator).policy());
    if (!changed || *changed == out) continue;
    out = std::move(*changed);
    --wanted;
  }
  return out;
}

}  // namespace secequiv
