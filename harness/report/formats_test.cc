#include "harness/report/formats.h"

#include <gtest/gtest.h>

namespace secequiv::report_formats_test {
namespace {

TEST(ReportFormats, EachFormRecognizesItsReportsAlone) {
  const ReportedCases report{
      "check", "a",           Verdict::kDifferent,
      1,       "they differ", {{"decision", ReportedCase::State::kFail, "ALLOW became KILL"}}};
  for (const ReportFormat& written : report_formats()) {
    const std::string text = written.render(report, "1.2.3");
    for (const ReportFormat& form : report_formats())
      EXPECT_EQ(form.begins(std::string_view(text).substr(0, 4096)), form.name == written.name)
          << form.name << ":\n"
          << text;
  }
  for (const ReportFormat& form : report_formats())
    for (const char* other : {"", "<?xml version=\"1.0\"?>", "{}", "# secequiv"})
      EXPECT_FALSE(form.begins(other)) << form.name << ": " << other;
}

}  // namespace
}  // namespace secequiv::report_formats_test
