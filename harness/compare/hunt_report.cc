#include "harness/compare/hunt_report.h"

#include <fmt/format.h>

#include <array>

namespace secequiv {
namespace {

// FNV-1a, 32 bits.
std::uint32_t short_hash(std::string_view text) {
  std::uint32_t out = 2166136261u;
  for (const char c : text) out = (out ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return out;
}

}  // namespace

std::string_view finding_name(FindingKind kind) {
  static constexpr std::array<std::string_view, kFindingKinds> kNames = {
      "different", "rejected", "crashed",    "hung", "exhausted",        "garbage",
      "refused",   "slow",     "cache-loss", "grew", "nondeterministic", "not-idempotent"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_failure(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrew:
    case FindingKind::kNondeterministic:
    case FindingKind::kNotIdempotent:
      return false;
    default:
      return true;
  }
}

std::string short_name(const Finding& finding) {
  return fmt::format("{}-{:08x}", finding_name(finding.kind), short_hash(finding.group));
}

}  // namespace secequiv
