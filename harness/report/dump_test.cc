// Tests how dumped filters are written as text.
#include "harness/report/dump.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::report_dump_test {
namespace {

const DumpedFilter kFilter{"process 7, filter 1 of 1\n", {{kRetK, 0, 0, 0x7fff0000}}};

TEST(DumpReport, AssemblyHasATitleAndComments) {
  EXPECT_TRUE(dumped_text(kFilter, Form::kAsm, false)
                  .starts_with("; process 7, filter 1 of 1\\x0a: 1 instruction\n"));
  EXPECT_NE(dumped_text(kFilter, Form::kAsm, false).find("; return ALLOW"), std::string::npos);
}

TEST(DumpReport, PlainAndOtherFormsHaveNoTitle) {
  EXPECT_EQ(dumped_text(kFilter, Form::kAsm, true), write_program(kFilter.program, Form::kAsm));
  EXPECT_EQ(dumped_text(kFilter, Form::kRaw, false), write_program(kFilter.program, Form::kRaw));
}

}  // namespace
}  // namespace secequiv::report_dump_test
