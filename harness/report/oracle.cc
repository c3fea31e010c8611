#include "harness/report/oracle.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {

std::string oracle_text(const OracleReport& report) {
  std::string out;
  for (const AskedProgram& program : report.programs) {
    out += fmt::format("oracle    {} on {}: ", report.who, program.name);
    if (!program.not_asked.empty())
      out += fmt::format("the program was not run: {}\n", program.not_asked);
    else if (program.refused)
      out += "it refuses the program that our check accepts; please report this\n";
    else if (const auto& found = program.disagreement)
      out += fmt::format(
          "it returns {:#010x} for {}, but our interpreter returns {:#010x}; please report this\n",
          found->other, describe(found->data), found->model);
    else
      out += counted(program.inputs, "input") + ", the same results as our interpreter\n";
  }
  return out;
}

std::string disagreement_text(const OracleReport& report) {
  return fmt::format("{} and our interpreter disagree about {}", report.who,
                     report.in_doubt()->name);
}

std::string doubt_text(const OracleReport& report) {
  return fmt::format("fail: our interpreter may be wrong: {}\n", disagreement_text(report));
}

nlohmann::ordered_json to_json(const OracleReport& report) {
  nlohmann::ordered_json out{{"who", report.who},
                             {"seconds", report.seconds},
                             {"programs", nlohmann::ordered_json::array()}};
  for (const AskedProgram& program : report.programs) {
    nlohmann::ordered_json row{{"name", program.name}, {"inputs", program.inputs}};
    if (!program.not_asked.empty()) row["not_asked"] = program.not_asked;
    if (program.refused) row["refused"] = true;
    if (const auto& found = program.disagreement)
      row["disagreement"] = {{"data", to_json(found->data)},
                             {"model", value_json(found->model)},
                             {"oracle", value_json(found->other)}};
    out["programs"].push_back(std::move(row));
  }
  return out;
}

void add_oracle(ReportedCases& cases, const OracleReport& report) {
  ReportedCase one{"oracle", ReportedCase::State::kPass, report.who + " agrees"};
  one.seconds = report.seconds;
  for (const AskedProgram& program : report.programs)
    one.detail += program.not_asked.empty()
                      ? fmt::format("{}: {} run\n", program.name, counted(program.inputs, "input"))
                      : fmt::format("{}: not run: {}\n", program.name, program.not_asked);
  if (const AskedProgram* left = report.not_asked()) {
    // With exit status 0, there is no difference that the oracle would have to confirm.
    one.state =
        cases.exit_status == 0 ? ReportedCase::State::kSkipped : ReportedCase::State::kUnknown;
    one.message = fmt::format("{} did not run {}", report.who, left->name);
  }
  if (report.in_doubt() != nullptr) {
    one.state = ReportedCase::State::kFail;
    one.message = disagreement_text(report);
  }
  cases.cases.push_back(std::move(one));
}

}  // namespace secequiv
