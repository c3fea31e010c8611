#include "harness/policy/rule_hash.h"

#include <functional>

namespace secequiv {
namespace {

void add(std::size_t& hash, std::size_t part) {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
}

}  // namespace

std::size_t hash_of(const Matcher& matcher) {
  std::size_t out = static_cast<std::size_t>(matcher.op) * 2 + (matcher.low_half ? 1 : 0);
  add(out, matcher.value);
  add(out, matcher.mask);
  if (!matcher.variable.empty()) add(out, std::hash<std::string>{}(matcher.variable.text()));
  return out;
}

std::size_t hash_of(const Rule& rule) {
  std::size_t out = static_cast<std::size_t>(rule.kind);
  for (const Rule& child : rule.children) add(out, hash_of(child));
  if (rule.kind == Rule::Kind::kArgs)
    for (const Matcher& matcher : rule.fields) add(out, hash_of(matcher));
  return out;
}

}  // namespace secequiv
