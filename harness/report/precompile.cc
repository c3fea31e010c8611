#include "harness/report/precompile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

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

}  // namespace

std::string precompile_text(const PrecompileReport& report, const std::string& file) {
  std::string out = fmt::format("{}: {}\n", file, counted(report.instructions, "instruction"));
  for (const PrecompileReport::Variable& variable : report.variables)
    out += variable_line(variable);
  if (report.proof) out += proof_lines(report, *report.proof);
  return out;
}

ordered_json to_json(const PrecompileReport& report) {
  ordered_json out{{"schema", "secequiv.precompile/1"}};
  if (report.proof) out["verdict"] = verdict_name(report.proof->verdict);
  out["policy"] = report.policy;
  out["instructions"] = report.instructions;
  out["variables"] = ordered_json::array();
  for (const PrecompileReport::Variable& v : report.variables)
    out["variables"].push_back({{"name", v.name}, {"value", v.value}, {"places", v.places}});
  out["written"] = report.may_be_written();
  if (!report.proof) return out;
  const Proof& proof = *report.proof;
  out["engine"] = proof.engine;
  out["encode_seconds"] = proof.encode_seconds;
  out["solve_seconds"] = proof.solve_seconds;
  if (!proof.detail.empty()) out["detail"] = proof.detail;
  if (!proof.witness) return out;
  out["values"] = ordered_json::array();
  for (std::size_t i = 0; i < report.variables.size(); ++i)
    out["values"].push_back({{"name", report.variables[i].name}, {"value", proof.symbols[i]}});
  out["witness"] = to_json(*proof.witness);
  return out;
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
