#include "harness/report/find_rules.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace secequiv {

Verdict FoundRules::verdict() const {
  return undecided + unfinished == 0 && !stopped ? Verdict::kPass : Verdict::kUnknown;
}

std::string find_rules_text(const FoundRules& found) {
  std::string out;
  for (const FoundRules::Rule& rule : found.rules) {
    out += rule.text;
    for (std::size_t i = 0; i < rule.fires.size(); ++i)
      if (rule.fires[i] > 0)
        out += fmt::format("  ; fires {} in {}\n", counted(rule.fires[i], "time"),
                           found.programs[i].name);
    out += "\n";
  }
  for (const FoundRules::Program& program : found.programs)
    if (program.after != program.before)
      out += fmt::format("; {}: {} became {}\n", program.name,
                         counted(program.before, "instruction"), program.after);
  out += fmt::format(
      "; {}, {} where a rule already fires; {} searched, {}: {} refuted, {} undecided\n",
      counted(found.windows, "window"), found.known, counted(found.shapes, "shape"),
      counted(found.candidates, "candidate"), found.refuted, found.undecided);
  if (found.unfinished > 0)
    out +=
        fmt::format("; the search of {} reached its limit\n", counted(found.unfinished, "shape"));
  if (found.stopped) out += "; an interrupt ended the search\n";
  return out + fmt::format("; {}: {} found\n", verdict_name(found.verdict()),
                           counted(found.rules.size(), "rule"));
}

void describe(Fields<FoundRules::Rule>& rule) {
  rule("name", "", &FoundRules::Rule::name, any_text());
  rule("text", "The rule, as prove-rule reads it.", &FoundRules::Rule::text, any_text());
  rule("removes", "How many instructions it removes each time.", &FoundRules::Rule::removes,
       at_least(1));
  rule("fires",
       "By program: how often the rule fires if all found rules are applied until none fires.",
       &FoundRules::Rule::fires);
}

void describe(Fields<FoundRules::Program>& program) {
  program("name", "", &FoundRules::Program::name, any_text());
  program("before", "Instructions.", &FoundRules::Program::before, at_least(1));
  program("after", "Instructions after all found rules.", &FoundRules::Program::after, at_least(1));
}

void describe(Fields<FoundRules>& found) {
  found.document("find-rules", 1, "secequiv find-rules --json",
                 "Proven rewrites that shorten the given programs.");
  found(
      "verdict",
      "pass: the search is complete. unknown: a limit was reached, so rules may be missing. Exit "
      "status: 0 for pass, 3 for unknown.",
      [](const FoundRules& it) { return verdict_name(it.verdict()); }, words({"pass", "unknown"}));
  found("rules", "", &FoundRules::rules);
  found("programs", "", &FoundRules::programs);
  found("windows", "Places of all sizes, in the programs and in their shorter forms.",
        &FoundRules::windows);
  found("known", "Windows in which a known or found rule fires.", &FoundRules::known);
  found("shapes", "Different windows that were searched.", &FoundRules::shapes);
  found("candidates", "Replacements that were right for all test points.", &FoundRules::candidates);
  found("refuted", "Candidates that a proof refuted.", &FoundRules::refuted);
  found("undecided", "Candidates whose proof reached a limit.", &FoundRules::undecided);
  found("unfinished", "Shapes whose search reached a limit.", &FoundRules::unfinished);
  found("stopped", "Whether the user stopped the search.", &FoundRules::stopped);
  found("seconds", "", &FoundRules::seconds);
}

}  // namespace secequiv
