// The verdicts of this project with their exit codes. Owns that table. It must not know who reaches
// a verdict.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/base/result.h"

namespace secequiv {

enum class Verdict : std::uint8_t {
  kPass,        // every obligation met
  kEquivalent,  // proven equivalent
  kFail,        // an obligation is violated, and the report shows it
  kDifferent,   // a concrete, replayed witness exists
  kUnknown,     // a limit was reached or a permission is missing; never a pass
  kRejected,    // the kernel would refuse one side
  kCrashed,     // a command under test crashed, hung or gave an invalid answer
};

constexpr std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kFail:
      return "fail";
    case Verdict::kDifferent:
      return "different";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kRejected:
      return "rejected";
    case Verdict::kCrashed:
      return "crashed";
  }
  return "";
}

constexpr int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
    case Verdict::kEquivalent:
      return 0;
    case Verdict::kFail:
    case Verdict::kDifferent:
      return 1;
    case Verdict::kUnknown:
      return 3;
    case Verdict::kRejected:
      return 4;
    case Verdict::kCrashed:
      return 5;
  }
  return 2;
}

constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRejected:
      return 4;
    case ErrorCode::kBudget:
    case ErrorCode::kUnavailable:
      return 3;
    case ErrorCode::kAdapter:
      return 5;
    default:
      return 2;
  }
}

}  // namespace secequiv
