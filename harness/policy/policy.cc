#include "harness/policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace secequiv {

bool Matcher::matches(std::uint64_t field) const {
  if (low_half) field &= 0xffffffff;
  switch (op) {
    case Op::kAny:
      return true;
    case Op::kEq:
      return field == value;
    case Op::kNe:
      return field != value;
    case Op::kGt:
      return field > value;
    case Op::kGe:
      return field >= value;
    case Op::kLt:
      return field < value;
    case Op::kLe:
      return field <= value;
    case Op::kMaskedEq:
      return (field & mask) == value;
    case Op::kBitsAllowlist:
      return (field & ~mask) == 0;
    case Op::kNonNegativeFd:
      return field <= 0x7fffffff;
  }
  return false;
}

bool Rule::matches(const SeccompData& data, Endian endian) const {
  const auto child = [&](const Rule& rule) { return rule.matches(data, endian); };
  switch (kind) {
    case Kind::kMatchAll:
      return true;
    case Kind::kAnyOf:
      return std::ranges::any_of(children, child);
    case Kind::kAllOf:
      return std::ranges::all_of(children, child);
    case Kind::kArgs:
      for (int field = 0; field <= kIpField; ++field)
        if (!fields[static_cast<std::size_t>(field)].matches(data.field(field, endian)))
          return false;
      return true;
  }
  return false;
}

std::string RulePosition::text() const {
  const std::string_view comma = path.empty() || condition.empty() ? "" : ", ";
  const std::string inside = fmt::format("{}{}{}", path, comma, condition);
  return fmt::format("{}:{}{}", file, line, inside.empty() ? "" : fmt::format(" ({})", inside));
}

namespace {

void collect(const Rule& rule, const PositionRef& outer, std::vector<Alternative>& out) {
  const PositionRef& position = rule.position.at != nullptr ? rule.position : outer;
  if (rule.kind != Rule::Kind::kAnyOf) {
    out.push_back({&rule, &position});
    return;
  }
  for (const Rule& child : rule.children) collect(child, position, out);
}

}  // namespace

std::vector<Alternative> alternatives(const Rule& rule) {
  std::vector<Alternative> out;
  collect(rule, rule.position, out);
  return out;
}

Alternative matching_alternative(const Rule& rule, const SeccompData& data) {
  const Endian endian = endian_of(data.arch());
  const auto all = alternatives(rule);
  return *std::ranges::find_if(
      all, [&](const Alternative& one) { return one.rule->matches(data, endian); });
}

PositionRef first_position(const Rule& rule) {
  PositionRef out = rule.position;
  for (std::size_t i = 0; out.at == nullptr && i < rule.children.size(); ++i)
    out = first_position(rule.children[i]);
  return out;
}

Rule positioned(Rule rule, PositionRef position) {
  rule.position = std::move(position);
  return rule;
}

Rule positioned(Rule rule, RulePosition position) {
  return positioned(std::move(rule),
                    PositionRef{std::make_shared<const RulePosition>(std::move(position))});
}

std::size_t matcher_count(const Rule& rule) {
  std::size_t out = 0;
  for (const Rule& child : rule.children) out += matcher_count(child);
  if (rule.kind == Rule::Kind::kArgs)
    out += static_cast<std::size_t>(std::ranges::count_if(
        rule.fields, [](const Matcher& m) { return m.op != Matcher::Op::kAny; }));
  return out;
}

const Rule* RuleSet::find(Arch arch, std::uint32_t nr) const {
  const auto key = std::pair(arch, nr);
  const auto found = std::ranges::lower_bound(
      rules, key, {}, [](const SyscallRule& r) { return std::pair(r.arch, r.nr); });
  return found != rules.end() && found->arch == arch && found->nr == nr ? &found->rule : nullptr;
}

std::vector<std::uint32_t> Policy::audit_values() const {
  std::vector<std::uint32_t> out;
  for (const Arch arch : arches)
    if (std::ranges::find(out, arch_info(arch).audit) == out.end())
      out.push_back(arch_info(arch).audit);
  return out;
}

namespace {

// Removes the numbers first..last.
std::vector<DefaultRange> without(const std::vector<DefaultRange>& ranges, std::uint32_t first,
                                  std::uint32_t last) {
  std::vector<DefaultRange> out;
  for (const DefaultRange& range : ranges) {
    DefaultRange below = range;
    DefaultRange above = range;
    if (first > 0) below.last = std::min(range.last, first - 1);
    if (last < ~std::uint32_t{0}) above.first = std::max(range.first, last + 1);
    if (first > 0 && below.first <= below.last) out.push_back(below);
    if (last < ~std::uint32_t{0} && above.first <= above.last) out.push_back(above);
  }
  return out;
}

}  // namespace

std::vector<DefaultRange> parts_without(const DefaultRange& range,
                                        const std::set<std::uint32_t>& numbers) {
  std::vector<DefaultRange> out;
  DefaultRange part = range;
  for (auto at = numbers.lower_bound(range.first); at != numbers.end() && *at <= range.last; ++at) {
    part.last = *at - 1;
    if (part.first < *at) out.push_back(part);
    if (*at == range.last) return out;
    part.first = *at + 1;
  }
  part.last = range.last;
  out.push_back(part);
  return out;
}

std::vector<DefaultRange> Policy::default_ranges_of(std::uint32_t audit) const {
  std::vector<DefaultRange> out;
  std::ranges::copy_if(default_ranges, std::back_inserter(out), [&](const DefaultRange& range) {
    return arch_info(range.arch).audit == audit;
  });
  if (!has_x32_action(audit)) return out;
  for (const auto& [first, last] : kX32Numbers) out = without(out, first, last);
  return out;
}

bool Policy::has_x32_action(std::uint32_t audit) const {
  return audit == AUDIT_ARCH_X86_64 && x32_action && !has_arch(Arch::kX32);
}

bool Policy::x32_action_decides(std::uint32_t audit, std::uint32_t nr) const {
  return has_x32_action(audit) && arch_from_data(audit, nr) == Arch::kX32;
}

const DefaultRange* Policy::default_range(std::uint32_t audit, std::uint32_t nr) const {
  const auto found = std::ranges::find_if(default_ranges, [&](const DefaultRange& range) {
    return arch_info(range.arch).audit == audit && range.first <= nr && nr <= range.last;
  });
  return found == default_ranges.end() ? nullptr : &*found;
}

bool Policy::has_arch(Arch arch) const { return std::ranges::find(arches, arch) != arches.end(); }

Origin origin(const Policy& policy, const SeccompData& data) {
  const auto audits = policy.audit_values();
  if (std::ranges::find(audits, data.arch()) == audits.end())
    return Origin{.kind = Origin::Kind::kBadArch, .action = policy.bad_arch_action};
  if (policy.x32_action_decides(data.arch(), data.nr()))
    return Origin{.kind = Origin::Kind::kX32, .action = *policy.x32_action};
  const Endian endian = endian_of(data.arch());
  for (std::size_t i = 0; i < policy.rule_sets.size(); ++i) {
    const RuleSet& set = policy.rule_sets[i];
    if (set.vsyscall && (data.field(kIpField, endian) >> 63) == 0) continue;
    for (const Arch arch : policy.arches) {
      if (arch_info(arch).audit != data.arch()) continue;
      const Rule* rule = set.find(arch, data.nr());
      if (rule != nullptr && rule->matches(data, endian))
        return {Origin::Kind::kRule, set.action, nullptr, i, arch, rule};
    }
  }
  const DefaultRange* range = policy.default_range(data.arch(), data.nr());
  return Origin{.kind = Origin::Kind::kDefault,
                .action = range == nullptr ? policy.default_action : range->action,
                .range = range};
}

std::uint32_t decide(const Policy& policy, const SeccompData& data) {
  return origin(policy, data).action;
}

}  // namespace secequiv
