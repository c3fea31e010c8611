// Reports which inputs reach each instruction and outcome, as text and JSON. Owns the report value
// and both shapes. It must not know how the inputs are found (verify/dd).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/coverage/coverage.h"
#include "harness/report/describe.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct ReachReport {
  struct Row {
    Obligation obligation;
    std::string outcome;      // "true", "divisor zero"; empty: the instruction itself
    std::string instruction;  // "jeq #0x27, 2, 3"
    std::string count;        // number of inputs that reach it, decimal
    std::string region_count;
    std::optional<SeccompData> smallest;  // the smallest such input; absent: no input reaches it
    std::vector<std::string> regions;     // at most the requested number
  };
  bool one = false;  // whether the report is about one instruction and lists its regions
  std::vector<Row> rows;
};

// Returns the text. `how` names the option that shows more regions, for the line that counts the
// omitted ones.
std::string reach_text(const ReachReport& report, std::string_view how = "");
void describe(Fields<ReachReport::Row>& row);
void describe(Fields<ReachReport>& report);

}  // namespace secequiv
