#include "harness/report/precompile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

std::string variable_line(const PrecompileReport::Variable& variable) {
  const auto& places = variable.places;
  return fmt::format("variable {} = {:#x}: {}\n", variable.name, variable.value,
                     places.empty() ? "the program does not contain it"
                                    : fmt::format("instruction{} {}", places.size() == 1 ? "" : "s",
                                                  fmt::join(places, ", ")));
}

std::string proof_lines(const PrecompileReport& report, const Proof& proof) {
  std::string out;
  if (proof.witness) {
    out += "with\n";
    for (std::size_t i = 0; i < report.variables.size(); ++i)
      out += fmt::format("  ${:<10} = {:#010x}\n", report.variables[i].name, proof.symbols[i]);
    const Pair pair{report.before, report.after, Sameness::kRaw};
    out += witness_text(Question(pair), *proof.witness);
  }
  if (!proof.detail.empty()) out += fmt::format("{}: {}\n", proof.engine, proof.detail);
  return out + fmt::format("{}{} ({}, encoded in {:.1f} ms, solved in {:.1f} ms)\n",
                           verdict_name(proof.verdict),
                           proof.verdict == Verdict::kEquivalent
                               ? " for all values of the variables"
                               : "; nothing was written",
                           proof.engine, proof.encode_seconds * 1e3, proof.solve_seconds * 1e3);
}

// The value of a variable for which policy and program differ.
struct WrongValue {
  std::string name;
  std::uint32_t value;
};
void describe(Fields<WrongValue>& wrong) {
  wrong("name", "Its name.", &WrongValue::name);
  wrong("value", "Its value.", &WrongValue::value, number32());
}

std::vector<WrongValue> wrong_values(const PrecompileReport& report) {
  std::vector<WrongValue> out;
  out.reserve(report.variables.size());
  for (std::size_t i = 0; i < report.variables.size(); ++i)
    out.push_back({report.variables[i].name, report.proof->symbols[i]});
  return out;
}

}  // namespace

std::string precompile_text(const PrecompileReport& report, const std::string& file) {
  std::string out = fmt::format("{}: {}\n", file, counted(report.instructions, "instruction"));
  for (const PrecompileReport::Variable& variable : report.variables)
    out += variable_line(variable);
  if (report.proof) out += proof_lines(report, *report.proof);
  return out;
}

void describe(Fields<PrecompileReport::Variable>& variable) {
  using Variable = PrecompileReport::Variable;
  variable("name", "The variable's name in the policy.", &Variable::name);
  variable("value", "The policy's own value.", &Variable::value, number32());
  variable("places",
           "The instructions whose k is the variable, counted from 0, ascending; empty if there "
           "are none. No instruction has two variables.",
           &Variable::places, set_of(between(0, 4095)));
}

void describe(Fields<PrecompileReport>& report) {
  using Report = PrecompileReport;
  report.document("precompile", 1, "secequiv precompile --json",
                  "The instructions of a compiled program that contain the variables of its "
                  "policy, and whether the program is correct for all their values.");
  report(
      "verdict",
      "Missing with --no-prove. Exit status: 0 for equivalent, 1 for different, 3 for unknown.",
      [](const Report& it) -> std::optional<std::string_view> {
        if (!it.proof) return std::nullopt;
        return verdict_name(it.proof->verdict);
      },
      words({"equivalent", "different", "unknown"}));
  report("policy", "The policy's name.", &Report::policy, any_text());
  report("instructions", "Length of the program.", &Report::instructions, between(1, 4096));
  report("variables", "The variables are in the order in which the policy declares them.",
         &Report::variables);
  report("written",
         "Whether the assembly was written. It is written if the proof succeeds, or with "
         "--no-prove.",
         &Report::may_be_written);
  report.only_if([](const Report& it) { return it.proof.has_value(); });
  report(
      "engine", "The engine that answered.", [](const Report& it) { return it.proof->engine; },
      constant("z3"));
  report("encode_seconds", "Seconds to encode the query for the engine.",
         [](const Report& it) { return it.proof->encode_seconds; });
  report("solve_seconds", "Seconds to solve it.",
         [](const Report& it) { return it.proof->solve_seconds; });
  report("detail", "If the verdict is 'unknown': the limit that was reached.",
         [](const Report& it) { return unless_empty(it.proof->detail); });
  report.only_if([](const Report& it) { return it.proof && it.proof->witness; });
  report("values",
         "If the verdict is 'different': values of the variables for which policy and program "
         "differ.",
         wrong_values);
  report("witness",
         "If the verdict is 'different': an input, the decision of the policy with these values "
         "(before) and of the program with these values (after).",
         [](const Report& it) { return it.proof->witness; });
  if (!report.for_schema()) return;
  report.rule(has({"verdict"}), has({"engine"}), all({lacks({"engine"}), is("written", true)}));
  report.always(together({"engine", "encode_seconds", "solve_seconds"}));
  const auto found = [](std::string_view verdict) {
    return all({has({"verdict"}), is("verdict", verdict)});
  };
  report.rule(found("different"), has({"values", "witness"}), lacks({"values", "witness"}));
  report.rule(found("unknown"), has({"detail"}), lacks({"detail"}));
  report.rule(any({found("different"), found("unknown")}), is("written", false),
              is("written", true));
}

std::string precompile_header(const PrecompileReport& report) {
  std::string out = fmt::format(
      "; {}: {}\n", printable(report.policy, false),
      report.variables.empty()
          ? "the policy has no variables"
          : "set the variables with 'secequiv asm --set NAME=VALUE'; the policy has these values:");
  for (const PrecompileReport::Variable& variable : report.variables)
    out += fmt::format(";   ${} = {:#x}\n", variable.name, variable.value);
  return out;
}

}  // namespace secequiv
