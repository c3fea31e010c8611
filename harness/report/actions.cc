#include "harness/report/actions.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/names.h"
#include "harness/seccomp/action.h"

namespace secequiv {

std::string actions_text(const ActionsReport& report) {
  std::string out;
  for (const ActionsReport::OneArch& arch : report.arches) {
    out += fmt::format("{}\n", arch_info(arch.arch).name);
    for (const ActionsReport::Calls& calls : arch.constant)
      out += names_paragraph(describe_action(calls.value), calls.names);
    if (!arch.others.empty()) out += names_paragraph("depends on more", arch.others);
  }
  return out;
}

nlohmann::ordered_json to_json(const ActionsReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.actions/1"},
                             {"arches", nlohmann::ordered_json::array()}};
  for (const ActionsReport::OneArch& arch : report.arches) {
    nlohmann::ordered_json row{{"arch", arch_info(arch.arch).name},
                               {"constant", nlohmann::ordered_json::array()}};
    for (const ActionsReport::Calls& calls : arch.constant) {
      auto part = value_json(calls.value);
      part["syscalls"] = calls.names;
      row["constant"].push_back(std::move(part));
    }
    row["others"] = arch.others;
    out["arches"].push_back(std::move(row));
  }
  return out;
}

}  // namespace secequiv
