// What filters return for one input, as text and JSON. Owns the report value and both shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/oracle_report.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"
#include "harness/report/why.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct RunReport {
  struct Filter {
    std::string name;
    Program program;
    Trace trace;
  };
  SeccompData data;
  std::vector<Filter> filters;  // newest first
  std::uint32_t result = 0;     // the result of all filters together
  bool steps = false;           // show every instruction executed
  std::optional<OracleReport> oracle = {};
  // The arguments are not known, and the result depends on them: all that it may be. Then the
  // other values but `data` are empty.
  std::vector<WhyReport::Other> possible = {};

  [[nodiscard]] Verdict verdict() const {
    return oracle && oracle->in_doubt() ? Verdict::kFail : Verdict::kPass;
  }
};

std::string run_text(const RunReport& report);
nlohmann::ordered_json to_json(const RunReport& report);  // schema "secequiv.run/1"

}  // namespace secequiv
