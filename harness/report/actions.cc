#include "harness/report/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/json.h"
#include "harness/report/names.h"
#include "harness/report/regions.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using OneArch = ActionsReport::OneArch;

bool permits(const ReturnValue& value) { return !value.action || lets_run(*value.action); }

std::vector<std::string> names_of(const OneArch& arch) {
  std::vector<std::string> out;
  out.reserve(arch.others.size());
  for (const ActionsReport::Conditional& call : arch.others) out.push_back(call.name);
  return out;
}

// Returns the calls whose action differs from that of numbers without a call.
std::vector<ActionsReport::Calls> special(const OneArch& arch) {
  std::vector<ActionsReport::Calls> out = arch.constant;
  std::erase_if(out, [&](const auto& calls) { return calls.value == arch.otherwise; });
  return out;
}

// Returns whether both architectures look the same in the text. Ignores the order of calls, because
// it follows their numbers, which differ between architectures.
bool same_text(const OneArch& a, const OneArch& b) {
  return a.otherwise == b.otherwise &&
         std::ranges::equal(special(a), special(b),
                            [](const auto& left, const auto& right) {
                              return left.value == right.value &&
                                     std::ranges::is_permutation(left.names, right.names);
                            }) &&
         std::ranges::is_permutation(a.others, b.others);
}

// Formats a call as "socket: ALLOW if arg0 != 0x28, else ERRNO(1 EPERM)".
std::string choices_text(const ActionsReport::Conditional& call) {
  std::string out = fmt::format("    {}:", call.name);
  if (call.choices.empty()) return out + " undecided, because a limit is reached\n";
  for (std::size_t i = 0; i < call.choices.size(); ++i) {
    const ActionsReport::Choice& choice = call.choices[i];
    const std::string action = action_text(choice.value);
    out +=
        i + 1 == call.choices.size() && i > 0
            ? fmt::format(" else {}", action)
            : fmt::format(" {} if {},", action,
                          short_condition(choice.named.empty() ? choice.condition : choice.named));
  }
  if (out.ends_with(',')) out.pop_back();
  return out + "\n";
}

std::string arch_text(const OneArch& arch, bool allowed) {
  std::string out;
  for (const ActionsReport::Calls& calls : allowed ? arch.constant : special(arch)) {
    if (allowed && !permits({calls.value, action_of(calls.value)})) continue;
    out += names_paragraph(describe_action(calls.value), calls.names);
  }
  const auto shown = [&](const ActionsReport::Conditional& call) {
    return !allowed || call.choices.empty() ||
           std::ranges::any_of(call.choices,
                               [](const auto& choice) { return permits(choice.value); });
  };
  std::vector<std::string> names;
  std::string conditions;
  for (const ActionsReport::Conditional& call : arch.others) {
    if (!shown(call)) continue;
    names.push_back(call.name);
    conditions += choices_text(call);
  }
  if (!names.empty()) out += names_paragraph("conditional", names) + conditions;
  if (allowed) return out.empty() ? "  none\n" : out;
  if (!arch.otherwise) return out;
  return out + fmt::format("  {:<20}       all others\n", describe_action(*arch.otherwise));
}

}  // namespace

std::string actions_text(const ActionsReport& report, bool allowed) {
  std::string out;
  std::vector<bool> shown(report.arches.size());
  for (std::size_t i = 0; i < report.arches.size(); ++i) {
    if (shown[i]) continue;
    std::string names(arch_info(report.arches[i].arch).name);
    for (std::size_t k = i + 1; k < report.arches.size(); ++k) {
      if (!same_text(report.arches[i], report.arches[k])) continue;
      shown[k] = true;
      names += fmt::format(", {}", arch_info(report.arches[k].arch).name);
    }
    out += names + "\n" + arch_text(report.arches[i], allowed);
  }
  if (report.others_by_number)
    out +=
        "every other architecture\n  decided by number, even if the number means another call "
        "there\n";
  return out;
}

nlohmann::ordered_json to_json(const ActionsReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.actions/1"},
                             {"arches", nlohmann::ordered_json::array()}};
  for (const OneArch& arch : report.arches) {
    nlohmann::ordered_json row{{"arch", arch_info(arch.arch).name},
                               {"constant", nlohmann::ordered_json::array()}};
    for (const ActionsReport::Calls& calls : arch.constant) {
      auto part = value_json(calls.value);
      part["syscalls"] = calls.names;
      row["constant"].push_back(std::move(part));
    }
    row["others"] = names_of(arch);
    row["conditions"] = nlohmann::ordered_json::array();
    for (const ActionsReport::Conditional& call : arch.others) {
      nlohmann::ordered_json choices = nlohmann::ordered_json::array();
      for (const ActionsReport::Choice& choice : call.choices)
        choices.push_back({{"action", action_text(choice.value)}, {"condition", choice.condition}});
      row["conditions"].push_back({{"syscall", call.name}, {"choices", std::move(choices)}});
    }
    if (arch.otherwise) row["otherwise"] = value_json(*arch.otherwise);
    out["arches"].push_back(std::move(row));
  }
  out["others_by_number"] = report.others_by_number;
  return out;
}

}  // namespace secequiv
