// The forms in which the report of a command can go to a file. Owns the list, from which the
// command line makes its options. It must not know any command (reported.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/report/reported.h"

namespace secequiv {

struct ReportFormat {
  const char* name;     // "junit"
  const char* purpose;  // completes "Also report to this file as"
  std::string (*render)(const ReportedCases& report, std::string_view version);
  // Returns whether a file with this beginning is a report of this tool in this form.
  bool (*begins)(std::string_view beginning);
};

std::span<const ReportFormat> report_formats();

}  // namespace secequiv
