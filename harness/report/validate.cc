#include "harness/report/validate.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/rule.h"

namespace secequiv {
namespace {

std::size_t rules_of(const Policy& policy) {
  std::size_t rules = 0;
  for (const RuleSet& set : policy.rule_sets) rules += set.rules.size();
  return rules;
}

}  // namespace

void describe(Fields<Validated>& input) {
  input.is("row", "A program or policy that could be read.");
  input("file", "The file, as the command line names it.", &Validated::file);
  input(
      "kind", "The kind of input.",
      [](const Validated& it) { return it.policy != nullptr ? "policy" : "program"; },
      words({"program", "policy"}));
  input("instructions",
        "The program's length; for a policy, the length of its unoptimized program.",
        [](const Validated& it) { return it.program.size(); });
  input("accepted", "Whether the kernel would accept it; the length of a policy is not limited.",
        [](const Validated& it) { return !it.refusal; });
  input("refusal", "Why the kernel would refuse it.",
        [](const Validated& it) -> std::optional<ShownRefusal> {
          if (!it.refusal) return std::nullopt;
          return ShownRefusal{*it.refusal, it.program};
        });
  input("rules", "For a policy: the number of rules in all rule sets.",
        [](const Validated& it) -> std::optional<std::size_t> {
          if (it.refusal || it.policy == nullptr) return std::nullopt;
          return rules_of(*it.policy);
        });
  input(
      "not_loaded", "For a container profile. Each is a failure.",
      [](const Validated& it) { return unless_empty(it.failures); }, list_of<LoadFailure>(1));
  if (!input.for_schema()) return;
  input.rule(is("accepted", false), has({"refusal"}), lacks({"refusal"}));
  input.rule(is("kind", "program"), lacks({"rules"}));
}

void describe(Fields<Unreadable>& input) {
  input.is("unreadable", "A file in error.");
  input.include(&Unreadable::error);
  input("file", "The file, as the command line names it.", &Unreadable::file);
}

void describe(Fields<ValidateReport>& report) {
  report.document("validate", 1, "secequiv validate --json",
                  "One row for every given file, in the given order. Exit status 2 if a file has "
                  "an error, else 4 if the kernel would refuse one or no chosen container runtime "
                  "loads it, else 1 if some of them do not, else 0.");
  report("results", "The files.", &ValidateReport::results,
         list_of(one_of({shapes::shape_of<Validated>(), shapes::shape_of<Unreadable>()}), 1));
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

}  // namespace secequiv
