#include "harness/report/validate.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/rule.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::size_t rules_of(const Policy& policy) {
  std::size_t rules = 0;
  for (const RuleSet& set : policy.rule_sets) rules += set.rules.size();
  return rules;
}

}  // namespace

ordered_json to_json(const Validated& input) {
  ordered_json row{{"file", input.file},
                   {"kind", input.policy != nullptr ? "policy" : "program"},
                   {"instructions", input.program.size()},
                   {"accepted", !input.refusal}};
  if (input.refusal)
    row["refusal"] = {{"rule", rule_name(input.refusal->rule)},
                      {"instruction", input.refusal->pc},
                      {"detail", describe(*input.refusal, input.program)}};
  else if (input.policy != nullptr)
    row["rules"] = rules_of(*input.policy);
  for (const LoadFailure& failure : input.failures) row["not_loaded"].push_back(to_json(failure));
  return row;
}

std::string validated_text(const Validated& input) {
  const std::string name = printable(input.where.empty() ? input.file : input.where, false);
  if (input.refusal)
    return fmt::format("{}: rejected: {}\n", name, describe(*input.refusal, input.program));
  if (!input.failures.empty()) {
    std::string out;
    for (const LoadFailure& failure : input.failures)
      out += fmt::format("{}: fail: {}\n", printable(failure.position.text(), false),
                         printable(failure.problem(), false));
    return out;
  }
  if (input.policy != nullptr)
    return fmt::format("{}: policy, {} in {}, {} unoptimized\n", name,
                       counted(rules_of(*input.policy), "rule"),
                       counted(input.policy->rule_sets.size(), "rule set"),
                       counted(input.program.size(), "instruction"));
  return fmt::format("{}: accepted, {}\n", name, counted(input.program.size(), "instruction"));
}

ordered_json validate_document(ordered_json rows) {
  return {{"schema", "secequiv.validate/1"}, {"results", std::move(rows)}};
}

}  // namespace secequiv
