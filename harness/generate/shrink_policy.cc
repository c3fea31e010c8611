#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>

#include "harness/generate/reduction.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Op = Matcher::Op;

// Simpler first.
constexpr std::array kActions = {
    SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS,
    SECCOMP_RET_TRAP,  SECCOMP_RET_LOG,   SECCOMP_RET_TRACE,       SECCOMP_RET_USER_NOTIF};

std::uint64_t rank(std::uint32_t action) {
  const auto at = std::ranges::find(kActions, action_of(action));
  return static_cast<std::uint64_t>(at - kActions.begin());
}

// Fewer bits are simpler, then fewer ones. Small numbers count as they are.
std::uint64_t weight(std::uint64_t v) {
  if (v <= 64) return v;
  return 64 * static_cast<std::uint64_t>(std::bit_width(v)) +
         static_cast<std::uint64_t>(std::popcount(v));
}
std::uint64_t action_weight(std::uint32_t v) { return rank(v) * 0x10000 + data_of(v); }

// Fewer parts are simpler, then simpler parts. Every reduction lowers the cost, so shrinking ends.
struct PolicyCost {
  std::size_t parts = 0;
  std::uint64_t rest = 0;

  friend auto operator<=>(const PolicyCost&, const PolicyCost&) = default;
};

void add(PolicyCost& cost, const Rule& rule) {
  ++cost.parts;
  cost.rest += static_cast<std::uint64_t>(rule.kind);
  for (const Rule& child : rule.children) add(cost, child);
  for (std::size_t field = 0; field < rule.fields.size(); ++field) {
    const Matcher& m = rule.fields[field];
    if (m.op == Op::kAny) continue;
    ++cost.parts;
    cost.rest += field + weight(m.value) + weight(m.mask) + static_cast<std::uint64_t>(m.op) * 4 +
                 (m.low_half ? 1 : 0) + (m.variable.empty() ? 0 : 1);
  }
}

PolicyCost cost_of(const Policy& policy) {
  PolicyCost cost;
  cost.parts += policy.arches.size() + policy.hot.size() + policy.variables.size() +
                policy.rule_sets.size() + (policy.x32_action ? 1 : 0) +
                (policy.name.empty() ? 0 : 1) + (policy.description.empty() ? 0 : 1);
  for (const Arch arch : policy.arches) cost.rest += static_cast<std::uint64_t>(arch);
  for (const std::uint32_t action : {policy.default_action, policy.bad_arch_action,
                                     policy.x32_action.value_or(SECCOMP_RET_ALLOW)})
    cost.rest += action_weight(action);
  for (const auto& [name, value] : policy.variables) cost.rest += weight(value);
  for (const RuleSet& set : policy.rule_sets) {
    cost.rest += action_weight(set.action) + (set.vsyscall ? 1 : 0);
    for (const SyscallRule& entry : set.rules) {
      ++cost.parts;
      cost.rest += weight(entry.nr);
      add(cost, entry.rule);
    }
  }
  return cost;
}

struct PolicySubject {
  explicit PolicySubject(Policy of) : policy(std::move(of)), cost(cost_of(policy)) {}

  Policy policy;
  PolicyCost cost;
};

using PolicyVisit = detail::Visit<Policy>;
using PolicyReduction = detail::Reduction<PolicySubject, Policy>;

// `policy` as read_policy() reads it back, if that writes the same text.
std::optional<Policy> read_back(const Policy& policy) {
  const std::string text = write_policy(policy);
  auto back = read_policy(text, "reduced");
  if (!back || write_policy(*back) != text) return std::nullopt;
  return std::move(*back);
}

// Visits `policy`, read back, if it is simpler than `from`.
bool offer(const PolicySubject& from, Policy policy, const PolicyVisit& visit) {
  if (policy.arches.empty()) return false;
  for (RuleSet& set : policy.rule_sets) {
    const auto call = [](const SyscallRule& entry) { return std::pair(entry.arch, entry.nr); };
    std::ranges::sort(set.rules, {}, call);
    if (std::ranges::adjacent_find(set.rules, {}, call) != set.rules.end()) return false;
  }
  const auto back = read_back(policy);
  return back && cost_of(*back) < from.cost && visit(*back);
}

// Visits numbers that are simpler than v until `visit` returns true.
template <class TryNumber>
bool simpler_values(std::uint64_t v, const TryNumber& visit) {
  for (const std::uint64_t other :
       {std::uint64_t{0}, std::uint64_t{1}, v >> 32, v & 0xffffffff, v >> 16, v >> 1})
    if (weight(other) < weight(v) && visit(other)) return true;
  for (int bit = 63; bit >= 0; --bit)
    if ((v >> bit & 1) != 0 && visit(v & ~(std::uint64_t{1} << bit))) return true;
  return v > 1 && v <= 64 && visit(v - 1);
}

template <class TryNumber>
bool simpler_actions(std::uint32_t action, const TryNumber& visit) {
  for (const std::uint32_t other : kActions) {
    if (rank(other) >= rank(action)) break;
    if (visit(other) || visit(other | data_of(action))) return true;
  }
  return simpler_values(data_of(action), [&](std::uint64_t data) {
    return visit(action_of(action) | static_cast<std::uint32_t>(data));
  });
}

// Places.
std::size_t once(const PolicySubject& /*subject*/) { return 1; }
std::size_t each_arch(const PolicySubject& s) { return s.policy.arches.size(); }
std::size_t each_hot(const PolicySubject& s) { return s.policy.hot.size(); }
std::size_t each_variable(const PolicySubject& s) { return s.policy.variables.size(); }
std::size_t each_set(const PolicySubject& s) { return s.policy.rule_sets.size(); }

std::size_t rule_count(const Policy& policy) {
  std::size_t out = 0;
  for (const RuleSet& set : policy.rule_sets) out += set.rules.size();
  return out;
}
std::size_t each_rule(const PolicySubject& s) { return rule_count(s.policy); }
template <std::size_t length>
std::size_t rule_ranges(const PolicySubject& s) {
  return (rule_count(s.policy) + length - 1) / length;
}

// The rule with number `place` over all sets; it exists.
SyscallRule& rule_at(Policy& policy, std::size_t place) {
  std::size_t set = 0;
  while (place >= policy.rule_sets[set].rules.size()) place -= policy.rule_sets[set++].rules.size();
  return policy.rule_sets[set].rules[place];
}

template <class RuleType, class See>
void each_node_of(RuleType& rule, const See& see) {
  see(rule);
  for (auto& child : rule.children) each_node_of(child, see);
}
template <class PolicyType, class See>
void nodes(PolicyType& policy, const See& see) {
  for (auto& set : policy.rule_sets)
    for (auto& entry : set.rules) each_node_of(entry.rule, see);
}
std::size_t each_node(const PolicySubject& s) {
  std::size_t out = 0;
  nodes(s.policy, [&](const Rule&) { ++out; });
  return out;
}
std::size_t each_field(const PolicySubject& s) {
  return each_node(s) * std::tuple_size_v<decltype(Rule::fields)>;
}
Rule& node_at(Policy& policy, std::size_t place) {
  Rule* found = nullptr;
  nodes(policy, [&](Rule& rule) {
    if (place-- == 0) found = &rule;
  });
  return *found;
}

// Reductions.
bool clear_names(const PolicySubject& from, std::size_t /*place*/, const PolicyVisit& visit) {
  Policy policy = from.policy;
  policy.name.clear();
  policy.description.clear();
  return offer(from, policy, visit);
}

bool delete_all_hot(const PolicySubject& from, std::size_t /*place*/, const PolicyVisit& visit) {
  Policy policy = from.policy;
  policy.hot.clear();
  return offer(from, policy, visit);
}

bool delete_hot(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  policy.hot.erase(policy.hot.begin() + static_cast<std::ptrdiff_t>(place));
  return offer(from, policy, visit);
}

bool delete_set(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  policy.rule_sets.erase(policy.rule_sets.begin() + static_cast<std::ptrdiff_t>(place));
  return offer(from, policy, visit);
}

// The set's rules join the one before, under its action. Where both have a call, the first decides.
bool merge_sets(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  if (place == 0) return false;
  Policy policy = from.policy;
  RuleSet& first = policy.rule_sets[place - 1];
  for (SyscallRule& entry : policy.rule_sets[place].rules)
    if (from.policy.rule_sets[place - 1].find(entry.arch, entry.nr) == nullptr)
      first.rules.push_back(std::move(entry));
  policy.rule_sets.erase(policy.rule_sets.begin() + static_cast<std::ptrdiff_t>(place));
  return offer(from, std::move(policy), visit);
}

template <std::size_t length>
bool delete_rules(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  std::size_t index = 0;
  for (RuleSet& set : policy.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule&) { return index++ / length == place; });
  return offer(from, policy, visit);
}

bool delete_arch(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  const Arch gone = policy.arches[place];
  policy.arches.erase(policy.arches.begin() + static_cast<std::ptrdiff_t>(place));
  for (RuleSet& set : policy.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& entry) { return entry.arch == gone; });
  if (!policy.has_arch(Arch::kX86_64)) policy.x32_action.reset();
  if (offer(from, policy, visit)) return true;
  policy.hot.clear();  // some names may exist on that architecture only
  return offer(from, policy, visit);
}

bool simpler_arch(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const Arch old = from.policy.arches[place];
  for (const ArchInfo& info : all_arches()) {
    if (info.arch >= old || from.policy.has_arch(info.arch)) continue;
    Policy policy = from.policy;
    policy.arches[place] = info.arch;
    for (RuleSet& set : policy.rule_sets)
      for (SyscallRule& entry : set.rules)
        if (entry.arch == old) entry.arch = info.arch;
    if (offer(from, std::move(policy), visit)) return true;
  }
  return false;
}

bool simpler_fixed_actions(const PolicySubject& from, std::size_t /*place*/,
                           const PolicyVisit& visit) {
  Policy policy = from.policy;
  for (std::uint32_t Policy::* const member : {&Policy::default_action, &Policy::bad_arch_action}) {
    const std::uint32_t old = policy.*member;
    if (simpler_actions(old, [&](std::uint32_t action) {
          policy.*member = action;
          return offer(from, policy, visit);
        }))
      return true;
    policy.*member = old;
  }
  if (!policy.x32_action) return false;
  policy.x32_action.reset();
  if (offer(from, policy, visit)) return true;
  return simpler_actions(*from.policy.x32_action, [&](std::uint32_t action) {
    policy.x32_action = action;
    return offer(from, policy, visit);
  });
}

bool simpler_set(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  RuleSet& set = policy.rule_sets[place];
  set.vsyscall = false;
  if (offer(from, policy, visit)) return true;
  set.vsyscall = from.policy.rule_sets[place].vsyscall;
  return simpler_actions(from.policy.rule_sets[place].action, [&](std::uint32_t action) {
    set.action = action;
    return offer(from, policy, visit);
  });
}

bool simpler_variable(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  const auto old = policy.variables[place];
  policy.variables.erase(policy.variables.begin() + static_cast<std::ptrdiff_t>(place));
  nodes(policy, [&](Rule& rule) {
    for (Matcher& m : rule.fields)
      if (m.variable == old.first) m.variable.clear();
  });
  if (offer(from, policy, visit)) return true;
  policy = from.policy;
  return simpler_values(old.second, [&](std::uint64_t smaller) {
    policy.variables[place].second = static_cast<std::uint32_t>(smaller);
    return offer(from, policy, visit);
  });
}

// Here, or for all calls with that number: the failure may need the same call in two sets.
bool smaller_call(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  const std::uint32_t old = rule_at(policy, place).nr;
  return simpler_values(old, [&](std::uint64_t smaller) {
    const auto nr = static_cast<std::uint32_t>(smaller);
    policy = from.policy;
    for (RuleSet& set : policy.rule_sets)
      for (SyscallRule& entry : set.rules)
        if (entry.nr == old) entry.nr = nr;
    if (offer(from, policy, visit)) return true;
    policy = from.policy;
    rule_at(policy, place).nr = nr;
    return offer(from, policy, visit);
  });
}

bool simpler_node(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Policy policy = from.policy;
  Rule& node = node_at(policy, place);
  const Rule old = node;
  if (old.kind == Rule::Kind::kMatchAll) return false;
  node = {};
  if (offer(from, policy, visit)) return true;
  for (const Rule& child : old.children) {
    node = child;
    if (offer(from, policy, visit)) return true;
  }
  for (std::size_t length = old.children.size() / 2; length > 0; length /= 2) {
    for (std::size_t i = 0; i < old.children.size(); i += length) {
      node = old;
      std::size_t index = 0;
      std::erase_if(node.children, [&](const Rule&) { return index++ / length == i / length; });
      if (!node.children.empty() && offer(from, policy, visit)) return true;
    }
  }
  if (old.kind != Rule::Kind::kAllOf) return false;
  node = old;
  node.kind = Rule::Kind::kAnyOf;
  return offer(from, policy, visit);
}

bool simpler_form(const PolicySubject& from, Policy& policy, Rule& node, std::size_t field,
                  const PolicyVisit& visit) {
  Matcher& m = node.fields[field];
  const Matcher old = m;
  const auto changed = [&](const Matcher& to) {
    m = to;
    return offer(from, policy, visit);
  };
  if (changed({})) return true;
  for (std::size_t i = 0; i < field; ++i) {
    if (node.fields[i].op != Op::kAny) continue;
    node.fields[i] = old;
    if (changed({})) return true;
    node.fields[i] = {};
  }
  for (auto op = static_cast<int>(Op::kEq); op < static_cast<int>(old.op); ++op) {
    Matcher to = old;
    to.op = static_cast<Op>(op);
    if (changed(to)) return true;
  }
  Matcher to = old;
  to.low_half = false;
  if (old.low_half && changed(to)) return true;
  to = old;
  to.variable.clear();
  if (!old.variable.empty() && changed(to)) return true;
  m = old;
  return false;
}

// Numbers of one matcher, or of all matchers that have the same one.
bool smaller_values(const PolicySubject& from, Policy& policy, Rule& node, std::size_t field,
                    const PolicyVisit& visit) {
  Matcher& m = node.fields[field];
  const Matcher old = m;
  for (std::uint64_t Matcher::* const member : {&Matcher::value, &Matcher::mask}) {
    if (simpler_values(old.*member, [&](std::uint64_t smaller) {
          Policy all = from.policy;
          nodes(all, [&](Rule& rule) {
            for (Matcher& other : rule.fields)
              if (other.*member == old.*member) other.*member = smaller;
          });
          if (offer(from, std::move(all), visit)) return true;
          m.*member = smaller;
          const bool done = offer(from, policy, visit);
          m = old;
          return done;
        }))
      return true;
  }
  // Together: the value has no bits outside of the mask.
  return simpler_values(old.mask, [&](std::uint64_t smaller) {
    m.mask = smaller;
    m.value = old.value & smaller;
    const bool done = offer(from, policy, visit);
    m = old;
    return done;
  });
}

bool simpler_matcher(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  constexpr std::size_t kFields = std::tuple_size_v<decltype(Rule::fields)>;
  Policy policy = from.policy;
  Rule& node = node_at(policy, place / kFields);
  const std::size_t field = place % kFields;
  if (node.fields[field].op == Op::kAny) return false;
  return simpler_form(from, policy, node, field, visit) ||
         smaller_values(from, policy, node, field, visit);
}

constexpr std::array kPolicyReductions = {
    PolicyReduction{once, clear_names},
    PolicyReduction{once, delete_all_hot},
    PolicyReduction{each_set, delete_set},
    PolicyReduction{each_arch, delete_arch},
    PolicyReduction{rule_ranges<256>, delete_rules<256>},
    PolicyReduction{rule_ranges<64>, delete_rules<64>},
    PolicyReduction{rule_ranges<16>, delete_rules<16>},
    PolicyReduction{rule_ranges<4>, delete_rules<4>},
    PolicyReduction{rule_ranges<1>, delete_rules<1>},
    PolicyReduction{each_set, merge_sets},
    PolicyReduction{each_hot, delete_hot},
    PolicyReduction{each_node, simpler_node},
    PolicyReduction{each_variable, simpler_variable},
    PolicyReduction{each_field, simpler_matcher},
    PolicyReduction{each_arch, simpler_arch},
    PolicyReduction{each_rule, smaller_call},
    PolicyReduction{each_set, simpler_set},
    PolicyReduction{once, simpler_fixed_actions},
};

}  // namespace

ShrunkPolicy shrink(const Policy& policy, const std::function<bool(const Policy&)>& still,
                    ShrinkLimits limits) {
  ShrunkPolicy out{policy, ShrinkEnd::kRefused, 0};
  if (limits.calls == 0) return {policy, ShrinkEnd::kCalls, 0};
  auto first = read_back(policy);
  if (!first) return out;
  ++out.calls;
  if (!still(*first)) return out;
  std::unordered_set<std::string> asked;
  const auto keeps = [&](const Policy& candidate) {
    if (!asked.insert(write_policy(candidate)).second) return false;
    ++out.calls;
    return still(candidate);
  };
  PolicySubject subject(std::move(*first));
  out.end = detail::reduce(std::span<const PolicyReduction>(kPolicyReductions), subject, keeps,
                           out.calls, limits);
  out.policy = std::move(subject.policy);
  return out;
}

bool any_reduction(const Policy& policy, const std::function<bool(const Policy&)>& visit) {
  return detail::any_of(std::span<const PolicyReduction>(kPolicyReductions), PolicySubject(policy),
                        visit);
}

}  // namespace secequiv
