#include "harness/import/oci_rule.h"

#include <algorithm>
#include <utility>

namespace secequiv {
namespace {

Rule low_halves(Rule rule) {
  for (Rule& child : rule.children) child = low_halves(std::move(child));
  for (Matcher& m : rule.fields) {
    if (m.op == Matcher::Op::kAny) continue;
    m.low_half = true;
    m.value &= 0xffffffff;
    m.mask &= 0xffffffff;
  }
  return rule;
}

}  // namespace

Rule oci_rule_on(Arch arch, Rule rule) {
  return arch_info(arch).bits == 32 ? low_halves(std::move(rule)) : rule;
}

bool always_holds(const Rule& rule) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return true;
    case Rule::Kind::kAllOf:
      return std::ranges::all_of(rule.children, always_holds);
    case Rule::Kind::kAnyOf:
      return std::ranges::any_of(rule.children, always_holds);
    case Rule::Kind::kArgs:
      break;
  }
  return std::ranges::all_of(rule.fields, [](const Matcher& m) {
    return m.op == Matcher::Op::kAny || (m.op == Matcher::Op::kMaskedEq && m.mask == 0);
  });
}

RequiredValues required_values(const Rule& rule) {
  RequiredValues out;
  const auto take = [&](const Rule& one) {
    for (std::size_t i = 0; i < one.fields.size(); ++i)
      if (one.fields[i].op == Matcher::Op::kEq) out[i] = one.fields[i].value;
  };
  if (rule.kind == Rule::Kind::kArgs) take(rule);
  if (rule.kind == Rule::Kind::kAllOf) std::ranges::for_each(rule.children, take);
  return out;
}

bool exclude_each_other(const RequiredValues& a, const RequiredValues& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] && b[i] && *a[i] != *b[i]) return true;
  return false;
}

}  // namespace secequiv
