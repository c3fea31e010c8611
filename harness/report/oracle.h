// What a second opinion on programs was, as text and as JSON. Owns these two shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/oracle_report.h"

namespace secequiv {

// A line for each program; each ends with a newline.
std::string oracle_text(const OracleReport& report);

// "fail: our interpreter is in doubt ...", a line. Precondition: it is in doubt.
std::string doubt_text(const OracleReport& report);

// "oracle" in documents of the commands that take --oracle.
nlohmann::ordered_json to_json(const OracleReport& report);

}  // namespace secequiv
