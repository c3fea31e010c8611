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

void describe(Fields<Disagreement>& found) {
  found("data", "", &Disagreement::data);
  found("model", "", [](const Disagreement& it) { return ShownValue{it.model}; });
  found("oracle", "", [](const Disagreement& it) { return ShownValue{it.other}; });
}

void describe(Fields<AskedProgram>& program) {
  program.is("asked_program", "One program.");
  program("name", "Where it came from.", &AskedProgram::name);
  program("inputs", "How many inputs were run.", &AskedProgram::inputs);
  program("not_asked", "Why the evaluator did not run the program.",
          [](const AskedProgram& it) { return unless_empty(it.not_asked); });
  program(
      "refused", "The oracle refuses it, though our check accepts it.",
      [](const AskedProgram& it) { return if_true(it.refused); }, only_true());
  program("disagreement", "The first input on which our interpreter and the oracle disagree.",
          &AskedProgram::disagreement);
  if (!program.for_schema()) return;
  program.rule(has({"not_asked"}), all({is("inputs", 0), lacks({"disagreement"})}),
               inside("inputs", {{"minimum", 1}}));
}

void describe(Fields<OracleReport>& report) {
  report.is("oracle", "With --oracle: results of another evaluator on inputs that were run.");
  report("who", "The evaluator: Linux, and its release as uname gives it.", &OracleReport::who);
  report("seconds", "Seconds that these runs took.", &OracleReport::seconds);
  report("programs", "The programs, in the order given.", &OracleReport::programs,
         list_of<AskedProgram>(1));
}

Json is_in_doubt() {
  return all({has({"oracle"}), inside("oracle", some_in("programs", has({"disagreement"})))});
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
