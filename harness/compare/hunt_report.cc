#include "harness/compare/hunt_report.h"

#include <array>

namespace secequiv {

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

}  // namespace secequiv
