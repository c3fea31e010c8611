// What fuzzing an optimizer, compiler or evaluator found, as text, JSON and cases. Owns their
// wording.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/hunt_report.h"
#include "harness/report/reported.h"

namespace secequiv {

// Findings first, each with its reduced program and its answer, the verdict last. Ends with a
// newline.
std::string hunt_text(const HuntReport& report);

// Progress in one line.
std::string hunt_status(const HuntReport& report);

// Schema "secequiv.fuzz/1".
nlohmann::ordered_json to_json(const HuntReport& report);

// A case for each finding, and one for the fuzzing itself.
ReportedCases reported(const HuntReport& report);

}  // namespace secequiv
