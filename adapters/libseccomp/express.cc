#include "adapters/libseccomp/express.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace adapter {
namespace {

using secequiv::Arch;
using secequiv::Matcher;
using secequiv::Policy;
using secequiv::Result;
using secequiv::Rule;
// All conditions must hold, and each tests a different argument.
using Conjunction = std::vector<Condition>;

constexpr std::size_t kMaxAlternatives = 256;  // for one system call in one rule set

secequiv::Error cannot(std::string why) {
  return secequiv::make_error(secequiv::ErrorCode::kAdapter, {}, std::move(why));
}

Condition compare(std::size_t field, Compare op, std::uint64_t a, std::uint64_t b = 0) {
  return {static_cast<unsigned>(field), op, a, b};
}

// 32-bit ABIs have 32-bit registers, and libseccomp then tests only the low half of an argument.
bool low_halves(Arch arch) { return secequiv::arch_info(arch).bits == 32; }

Result<std::optional<Condition>> comparison(const Matcher& m, std::size_t field, Arch arch) {
  if (m.op == Matcher::Op::kAny) return std::optional<Condition>();
  if (field == secequiv::kIpField)
    return cannot("libseccomp cannot compare the instruction pointer");
  if (m.low_half != low_halves(arch))
    return cannot(fmt::format("libseccomp always compares {} of an argument on {}",
                              low_halves(arch) ? "the low half" : "all 64 bits",
                              secequiv::arch_info(arch).name));
  const std::uint64_t all = m.low_half ? 0xffffffff : ~std::uint64_t{0};
  switch (m.op) {
    case Matcher::Op::kAny:
      break;
    case Matcher::Op::kEq:
      return std::optional(compare(field, Compare::kEq, m.value));
    case Matcher::Op::kNe:
      return std::optional(compare(field, Compare::kNe, m.value));
    case Matcher::Op::kGt:
      return std::optional(compare(field, Compare::kGt, m.value));
    case Matcher::Op::kGe:
      return std::optional(compare(field, Compare::kGe, m.value));
    case Matcher::Op::kLt:
      return std::optional(compare(field, Compare::kLt, m.value));
    case Matcher::Op::kLe:
      return std::optional(compare(field, Compare::kLe, m.value));
    case Matcher::Op::kMaskedEq:
      return std::optional(compare(field, Compare::kMaskedEq, m.mask, m.value));
    case Matcher::Op::kBitsAllowlist:
      return std::optional(compare(field, Compare::kMaskedEq, all & ~m.mask, 0));
    case Matcher::Op::kNonNegativeFd:
      return std::optional(compare(field, Compare::kMaskedEq, all & ~std::uint64_t{0x7fffffff}, 0));
  }
  return std::optional<Condition>();
}

// Returns the rule as a list of alternatives, each a conjunction.
Result<std::vector<Conjunction>> alternatives(const Rule& rule, Arch arch);

Result<std::vector<Conjunction>> of_any(const Rule& rule, Arch arch) {
  std::vector<Conjunction> out;
  for (const Rule& child : rule.children) {
    auto more = alternatives(child, arch);
    if (!more) return more.error();
    out.insert(out.end(), more->begin(), more->end());
    if (out.size() > kMaxAlternatives) return cannot("the rule has too many alternatives");
  }
  return out;
}

Result<std::vector<Conjunction>> of_all(const Rule& rule, Arch arch) {
  std::vector<Conjunction> out = {Conjunction()};
  for (const Rule& child : rule.children) {
    auto more = alternatives(child, arch);
    if (!more) return more.error();
    std::vector<Conjunction> product;
    for (const Conjunction& left : out) {
      for (const Conjunction& right : *more) {
        product.push_back(left);
        product.back().insert(product.back().end(), right.begin(), right.end());
      }
    }
    if (product.size() > kMaxAlternatives) return cannot("the rule has too many alternatives");
    out = std::move(product);
  }
  return out;
}

Result<std::vector<Conjunction>> alternatives(const Rule& rule, Arch arch) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return std::vector<Conjunction>{Conjunction()};
    case Rule::Kind::kAnyOf:
      return of_any(rule, arch);
    case Rule::Kind::kAllOf:
      return of_all(rule, arch);
    case Rule::Kind::kArgs:
      break;
  }
  Conjunction out;
  for (std::size_t field = 0; field < rule.fields.size(); ++field) {
    auto one = comparison(rule.fields[field], field, arch);
    if (!one) return one.error();
    if (*one) out.push_back(**one);
  }
  return std::vector<Conjunction>{out};
}

bool same_argument_twice(const Conjunction& conditions) {
  unsigned seen = 0;
  for (const Condition& condition : conditions) {
    if ((seen >> condition.argument & 1) != 0) return true;
    seen |= 1U << condition.argument;
  }
  return false;
}

// Returns libseccomp's name for the architecture.
std::string libseccomp_name(Arch arch) {
  return arch == Arch::kI386 ? "x86" : std::string(secequiv::arch_info(arch).name);
}

// Refuses policies that contradict what libseccomp does in every filter.
secequiv::Status check_whole(const Policy& policy) {
  for (const Arch arch : policy.arches)
    if (secequiv::arch_info(arch).endian == secequiv::Endian::kBig)
      return cannot("libseccomp writes filters for big-endian machines in big-endian byte order");
  if (policy.has_arch(Arch::kX86_64) && !policy.has_arch(Arch::kX32) &&
      policy.x32_action != policy.bad_arch_action)
    return cannot("libseccomp gives x32 calls the action for other architectures");
  std::map<std::pair<Arch, std::uint32_t>, std::uint32_t> actions;
  for (const secequiv::RuleSet& set : policy.rule_sets) {
    if (set.vsyscall && !set.rules.empty())
      return cannot("libseccomp cannot compare the instruction pointer (vsyscall)");
    for (const secequiv::SyscallRule& entry : set.rules) {
      const auto [known, added] = actions.emplace(std::pair(entry.arch, entry.nr), set.action);
      if (!added && known->second != set.action)
        return cannot(fmt::format(
            "{}:{} has rules with different actions, and libseccomp does not keep their order",
            secequiv::arch_info(entry.arch).name, entry.nr));
    }
  }
  return secequiv::Ok{};
}

Result<std::vector<FilterRule>> rules_of(const Policy& policy, Arch arch) {
  std::vector<FilterRule> out;
  for (const secequiv::RuleSet& set : policy.rule_sets) {
    for (const secequiv::SyscallRule& entry : set.rules) {
      if (entry.arch != arch) continue;
      auto list = alternatives(entry.rule, arch);
      if (!list) return list.error();
      for (Conjunction& conditions : *list) {
        if (same_argument_twice(conditions))
          return cannot("libseccomp cannot compare an argument twice in one conjunction");
        if (set.action == policy.default_action) continue;
        out.push_back({set.action, entry.nr, std::string(secequiv::syscall_name(arch, entry.nr)),
                       std::move(conditions)});
      }
    }
  }
  return out;
}

}  // namespace

Result<FilterSpec> express(const Policy& policy) {
  if (auto status = check_whole(policy); !status) return status.error();
  FilterSpec out;
  out.default_action = policy.default_action;
  out.bad_arch_action = policy.bad_arch_action;
  for (const Arch arch : policy.arches) {
    auto rules = rules_of(policy, arch);
    if (!rules) return rules.error();
    out.arches.push_back({libseccomp_name(arch), std::move(*rules)});
  }
  return out;
}

}  // namespace adapter
