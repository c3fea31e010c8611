#include "harness/report/formats.h"

#include <array>

#include "harness/report/junit.h"
#include "harness/report/markdown.h"
#include "harness/report/sarif.h"

namespace secequiv {
namespace {

bool mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

constexpr std::array kReportFormats = {
    ReportFormat{"junit", "JUnit XML, for CI systems",
                 [](const ReportedCases& report, std::string_view) { return junit(report); },
                 [](std::string_view beginning) {
                   return beginning.starts_with("<?xml") &&
                          mentions(beginning, "<testsuites name=\"secequiv\"");
                 }},
    ReportFormat{"sarif", "SARIF 2.1.0, for code review", sarif,
                 [](std::string_view beginning) {
                   return mentions(beginning, "sarif-2.1.0.json") &&
                          mentions(beginning, "\"name\": \"secequiv\"");
                 }},
    ReportFormat{"markdown", "Markdown, for pull-request comments",
                 [](const ReportedCases& report, std::string_view) { return markdown(report); },
                 [](std::string_view beginning) { return beginning.starts_with(kMarkdownMark); }},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kReportFormats; }

}  // namespace secequiv
