#include "harness/base/result.h"

#include "harness/base/text.h"

namespace secequiv {

std::string_view error_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kPolicy:
      return "policy";
    case ErrorCode::kRejected:
      return "rejected";
    case ErrorCode::kBudget:
      return "budget";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kAdapter:
      return "adapter";
    case ErrorCode::kInternal:
      return "internal";
  }
  return {};
}

std::string_view subject_name(Subject subject) {
  switch (subject) {
    case Subject::kNone:
      break;
    case Subject::kArch:
      return "architecture";
    case Subject::kAssumption:
      return "assumption";
    case Subject::kCertificate:
      return "certificate";
    case Subject::kFilter:
      return "filter";
    case Subject::kKernelVersion:
      return "kernel version";
    case Subject::kLastPass:
      return "last pass";
    case Subject::kPasses:
      return "passes";
    case Subject::kProfile:
      return "profile";
    case Subject::kRealCalls:
      return "real calls";
    case Subject::kRule:
      return "rule";
  }
  return {};
}

std::string Error::text() const {
  std::string out = printable(where, false);
  if (pc >= 0) out += (out.empty() ? "" : ": ") + std::string("instruction ") + std::to_string(pc);
  if (!out.empty()) out += ": ";
  // A detail that quotes megabytes of input is shortened to its beginning and its end.
  constexpr std::size_t kMost = 4000;
  if (detail.size() <= kMost) return out + printable(detail, true);
  const std::string_view all = detail;
  return out + printable(all.substr(0, kMost - 500), true) + " ... " +
         printable(all.substr(all.size() - 500), true);
}

}  // namespace secequiv
