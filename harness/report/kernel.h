// Reports about the running kernel as text and JSON. Owns these two shapes. It must not run
// anything (harness/kernel).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/question.h"
#include "harness/kernel/compare.h"
#include "harness/kernel/self_check.h"

namespace secequiv {

std::string kernel_text(const kernel::KernelReport& report, const Question& question);
nlohmann::ordered_json to_json(const kernel::KernelReport& report);  // schema "secequiv.kernel/1"

std::string self_check_text(const kernel::SelfCheckReport& report);
nlohmann::ordered_json to_json(const kernel::SelfCheckReport& report);  // "secequiv.kernel-check/1"
Verdict verdict_of(const kernel::SelfCheckReport& report);

}  // namespace secequiv
