#include "harness/policy/canonical.h"

#include <algorithm>

#include "harness/base/text.h"

namespace secequiv {
namespace {

constexpr std::size_t kMostNested = 400;  // parse_json's limit, in rules; each takes two levels

class Canonical {
 public:
  explicit Canonical(Policy& policy) : policy_(policy) {}

  // False if it cannot be said.
  bool all() {
    if (!arches() || !std::ranges::all_of(policy_.hot, [&](const auto& h) { return call(h); }))
      return false;
    const auto name = [](const auto& variable) { return variable.first; };
    std::ranges::sort(policy_.variables, {}, name);
    if (std::ranges::adjacent_find(policy_.variables, {}, name) != policy_.variables.end())
      return false;
    return std::ranges::all_of(policy_.rule_sets, [&](RuleSet& set) { return rules(set.rules); });
  }

 private:
  [[nodiscard]] bool arches() const {
    std::vector<Arch> sorted = policy_.arches;
    std::ranges::sort(sorted);
    if (sorted.empty() || std::ranges::adjacent_find(sorted) != sorted.end()) return false;
    return !policy_.x32_action ||
           (policy_.has_arch(Arch::kX86_64) && !policy_.has_arch(Arch::kX32));
  }

  // A name, a number, or one of them behind an architecture: does it stand for a call?
  [[nodiscard]] bool call(std::string_view name) const {
    std::span<const Arch> among = policy_.arches;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
      const auto arch = arch_from_name(name.substr(0, colon));
      const auto at = arch ? std::ranges::find(among, *arch) : among.end();
      if (at == among.end()) return false;
      among = among.subspan(static_cast<std::size_t>(at - among.begin()), 1);
      name.remove_prefix(colon + 1);
    }
    if (const auto number = parse_unsigned(name)) return *number <= 0xffffffff && among.size() == 1;
    return std::ranges::any_of(among,
                               [&](Arch arch) { return syscall_nr(arch, name).has_value(); });
  }

  bool rules(std::vector<SyscallRule>& rules) {
    const auto which = [](const SyscallRule& entry) { return std::pair(entry.arch, entry.nr); };
    std::ranges::sort(rules, {}, which);
    if (std::ranges::adjacent_find(rules, {}, which) != rules.end()) return false;
    return std::ranges::all_of(rules, [&](SyscallRule& entry) {
      return policy_.has_arch(entry.arch) && rule(entry.rule, 0);
    });
  }

  bool rule(Rule& at, std::size_t depth) {
    if (at.kind != Rule::Kind::kArgs) at.fields = {};
    if (!is_branching(at)) at.children.clear();
    if (at.kind == Rule::Kind::kArgs)
      return std::ranges::all_of(at.fields, [&](Matcher& m) { return matcher(m); });
    if (!is_branching(at)) return true;
    return depth < kMostNested && !at.children.empty() &&
           std::ranges::all_of(at.children, [&](Rule& child) { return rule(child, depth + 1); });
  }

  [[nodiscard]] bool matcher(Matcher& m) const {
    using Op = Matcher::Op;
    if (m.op == Op::kAny) {
      m = {};
      return true;
    }
    if (m.op != Op::kMaskedEq && m.op != Op::kBitsAllowlist) m.mask = 0;
    if (m.op == Op::kBitsAllowlist || m.op == Op::kNonNegativeFd) {
      m.value = 0;
      m.variable.clear();
    }
    if (!m.variable.empty()) {
      const auto found = std::ranges::find(policy_.variables, m.variable,
                                           [](const auto& variable) { return variable.first; });
      if (found == policy_.variables.end()) return false;
      m.value = found->second;
    }
    return !m.low_half || (m.value <= 0xffffffff && m.mask <= 0xffffffff);
  }

  Policy& policy_;
};

}  // namespace

std::optional<Policy> canonical(Policy policy) {
  if (!Canonical(policy).all()) return std::nullopt;
  return policy;
}

}  // namespace secequiv
