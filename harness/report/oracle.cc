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
      out += fmt::format("not asked: {}\n", program.not_asked);
    else if (program.refused)
      out += "refused, where our check accepts it; please report this\n";
    else if (const auto& found = program.disagreement)
      out +=
          fmt::format("{:#010x} for {}, where our interpreter says {:#010x}; please report this\n",
                      found->other, describe(found->data), found->model);
    else
      out += counted(program.inputs, "input") + ", as our interpreter says\n";
  }
  return out;
}

std::string doubt_text(const OracleReport& report) {
  return fmt::format("fail: our interpreter is in doubt: {} and it disagree about {}\n", report.who,
                     report.in_doubt()->name);
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

}  // namespace secequiv
