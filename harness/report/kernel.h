// Reports about the running kernel as text and JSON. Owns these two shapes. It must not run
// anything (harness/kernel).
#pragma once

#include <string>

#include "harness/compare/question.h"
#include "harness/kernel/compare.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/self_check.h"
#include "harness/report/describe.h"

namespace secequiv {

std::string kernel_text(const kernel::KernelReport& report, const Question& question);
void describe(Fields<kernel::Fact>& fact);
void describe(Fields<kernel::AskedSide>& side);
void describe(Fields<kernel::KernelReport>& report);

std::string self_check_text(const kernel::SelfCheckReport& report);
void describe(Fields<kernel::SelfCheckReport>& report);
Verdict verdict_of(const kernel::SelfCheckReport& report);

}  // namespace secequiv
