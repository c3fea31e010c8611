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

nlohmann::ordered_json find_rules_json(const FoundRules& found) {
  using nlohmann::ordered_json;
  ordered_json out{{"schema", "secequiv.find-rules/1"},
                   {"verdict", verdict_name(found.verdict())},
                   {"rules", ordered_json::array()},
                   {"programs", ordered_json::array()},
                   {"windows", found.windows},
                   {"known", found.known},
                   {"shapes", found.shapes},
                   {"candidates", found.candidates},
                   {"refuted", found.refuted},
                   {"undecided", found.undecided},
                   {"unfinished", found.unfinished},
                   {"stopped", found.stopped},
                   {"seconds", found.seconds}};
  for (const FoundRules::Rule& rule : found.rules)
    out["rules"].push_back({{"name", rule.name},
                            {"text", rule.text},
                            {"removes", rule.removes},
                            {"fires", rule.fires}});
  for (const FoundRules::Program& program : found.programs)
    out["programs"].push_back(
        {{"name", program.name}, {"before", program.before}, {"after", program.after}});
  return out;
}

}  // namespace secequiv
