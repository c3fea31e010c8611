#include "adapters/libseccomp/express.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace adapter {
namespace {

using Reason = std::optional<std::string>;

constexpr std::size_t kMaxAlternatives = 256;  // for one system call
constexpr std::uint32_t kX86_64 = 0xc000003e;
constexpr std::uint32_t kX32Bit = 0x40000000;
constexpr std::uint32_t k64BitArch = 0x80000000;  // __AUDIT_ARCH_64BIT

std::span<const secequiv_rule> rules_of(const secequiv_policy& policy) {
  return {policy.rules, policy.rule_count};
}

// An architecture of libseccomp. libseccomp treats x32 as an architecture of its own.
struct Abi {
  std::string name;
  std::uint32_t audit = 0;
  bool low_halves = false;  // libseccomp compares only the low halves of arguments
};

bool is_of(const Abi& abi, const secequiv_rule& rule) {
  if (rule.audit != abi.audit) return false;
  return abi.audit != kX86_64 || (abi.name == "x32") == ((rule.nr & kX32Bit) != 0);
}

// Returns libseccomp's name for the value of `arch`, or an empty string.
std::string libseccomp_name(std::uint32_t audit) {
  static const std::map<std::uint32_t, std::string> kNames = {
      {kX86_64, "x86_64"},   {0x40000003, "x86"},     {0xc00000b7, "aarch64"},
      {0x40000028, "arm"},   {0xc00000f3, "riscv64"}, {0xc0000015, "ppc64le"},
      {0x80000016, "s390x"}, {0x80000008, "mips64"},
  };
  const auto found = kNames.find(audit);
  return found == kNames.end() ? "" : found->second;
}

// A libseccomp filter for x86_64 without x32 gives x32 calls the action for other architectures.
// With x32 added, the rules decide these calls.
Reason abis_of(const secequiv_policy& policy, std::vector<Abi>& out) {
  for (const secequiv_arch& arch : std::span(policy.arches, policy.arch_count)) {
    if (arch.big_endian != policy.arches[0].big_endian)
      return "a filter of libseccomp is for machines of one byte order";
    const std::string name = libseccomp_name(arch.audit);
    if (name.empty()) return "libseccomp does not know the architecture";
    out.push_back({name, arch.audit, (arch.audit & k64BitArch) == 0});
    if (arch.audit == kX86_64 && policy.range_count == 0) out.push_back({"x32", kX86_64, true});
  }
  const bool x32_is_bad =
      policy.range_count == 2 && policy.ranges[0].first == kX32Bit &&
      policy.ranges[0].last == 0x7fffffff && policy.ranges[1].first == 0xc0000000 &&
      std::ranges::all_of(std::span(policy.ranges, 2), [&](const secequiv_range& range) {
        return range.audit == kX86_64 && range.action == policy.bad_arch_action;
      });
  if (policy.range_count > 0 && !x32_is_bad)
    return "libseccomp gives x32 calls the action for other architectures";
  return std::nullopt;
}

Reason check_actions(const secequiv_policy& policy) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> actions;
  for (const secequiv_rule& rule : rules_of(policy)) {
    const auto [known, added] = actions.emplace(std::pair(rule.audit, rule.nr), rule.action);
    if (!added && known->second != rule.action)
      return "call " + std::to_string(rule.nr) +
             " has rules with different actions, and libseccomp does not keep their order";
  }
  return std::nullopt;
}

Compare operator_of(secequiv_op op) {
  constexpr Compare kOperators[] = {Compare::kEq, Compare::kNe, Compare::kGt,      Compare::kGe,
                                    Compare::kLt, Compare::kLe, Compare::kMaskedEq};
  return kOperators[op];
}

Reason conditions_of(const Abi& abi, const secequiv_conjunction& all_of,
                     std::vector<Condition>& out) {
  unsigned seen = 0;
  for (const secequiv_condition& c : std::span(all_of.conditions, all_of.count)) {
    if (c.field == SECEQUIV_INSTRUCTION_POINTER)
      return "libseccomp cannot compare the instruction pointer";
    if ((c.bits == 32) != abi.low_halves)
      return std::string("libseccomp always compares ") +
             (abi.low_halves ? "the low half" : "all 64 bits") + " of an argument on " + abi.name;
    if ((seen >> c.field & 1) != 0)
      return "libseccomp cannot compare an argument twice in one conjunction";
    seen |= 1U << c.field;
    const bool masked = c.op == SECEQUIV_MASKED_EQ;
    out.push_back({static_cast<unsigned>(c.field), operator_of(c.op), masked ? c.mask : c.value,
                   masked ? c.value : 0});
  }
  return std::nullopt;
}

Reason add_rules(const secequiv_policy& policy, const Abi& abi, std::vector<FilterRule>& out) {
  for (const secequiv_rule& rule : rules_of(policy)) {
    if (!is_of(abi, rule)) continue;
    if (rule.count > kMaxAlternatives) return "the rule has too many alternatives";
    for (const secequiv_conjunction& all_of : std::span(rule.any_of, rule.count)) {
      FilterRule one = {rule.action, rule.nr, {}};
      if (Reason reason = conditions_of(abi, all_of, one.conditions)) return reason;
      if (rule.action != policy.default_action) out.push_back(std::move(one));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> express(const secequiv_policy& policy, FilterSpec& spec) {
  std::vector<Abi> abis;
  if (Reason reason = abis_of(policy, abis)) return reason;
  if (Reason reason = check_actions(policy)) return reason;
  spec.default_action = policy.default_action;
  spec.bad_arch_action = policy.bad_arch_action;
  spec.big_endian = policy.arches[0].big_endian != 0;
  for (const Abi& abi : abis) {
    FilterArch& arch = spec.arches.emplace_back(FilterArch{abi.name, {}});
    if (Reason reason = add_rules(policy, abi, arch.rules)) return reason;
  }
  return std::nullopt;
}

}  // namespace adapter
