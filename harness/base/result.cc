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

std::string Error::text() const {
  std::string out = printable(where, false);
  if (pc >= 0) out += (out.empty() ? "" : ": ") + std::string("instruction ") + std::to_string(pc);
  if (!out.empty()) out += ": ";
  // Of what quotes megabytes, the beginning and the end.
  constexpr std::size_t kMost = 4000;
  if (detail.size() <= kMost) return out + printable(detail, true);
  const std::string_view all = detail;
  return out + printable(all.substr(0, kMost - 500), true) + " ... " +
         printable(all.substr(all.size() - 500), true);
}

}  // namespace secequiv
