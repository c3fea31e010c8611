#include "harness/base/result.h"

#include <array>

#include "harness/base/text.h"

namespace secequiv {

namespace {

// The names are in the order of the enumerators.
constexpr std::array<std::string_view, 9> kErrorNames = {
    "usage", "io", "parse", "policy", "rejected", "budget", "unavailable", "adapter", "internal"};
static_assert(kErrorNames.size() == static_cast<std::size_t>(ErrorCode::kInternal) + 1);
constexpr std::array kSubjectNames =
    std::to_array<std::string_view>({"",
                                     "architecture",
                                     "assumption",
                                     "record of the audit log",
                                     "architecture of the call",
                                     "argument of the call",
                                     "number of the call",
                                     "instruction pointer of the call",
                                     "words of the call",
                                     "certificate",
                                     "filter",
                                     "kernel version",
                                     "last pass",
                                     "values of names",
                                     "program",
                                     "passes",
                                     "policies",
                                     "profile",
                                     "programs",
                                     "real calls",
                                     "rule",
                                     "stack"});
static_assert(kSubjectNames.size() == static_cast<std::size_t>(Subject::kStack) + 1);

}  // namespace

std::string_view error_name(ErrorCode code) {
  const auto at = static_cast<std::size_t>(code);
  return at < kErrorNames.size() ? kErrorNames[at] : std::string_view();
}

std::string_view subject_name(Subject subject) {
  return kSubjectNames[static_cast<std::size_t>(subject)];
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
