#include "harness/report/mutate.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

// Returns a percentage, rounded down, so that 100 means all.
std::string share(std::size_t part, std::size_t whole) {
  if (whole == 0) return "none";
  const std::size_t hundredths = part * 10000 / whole;
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
}

std::string_view fate(const MissedMutant& missed) {
  return missed.fuzzed ? "fuzzed" : missed.witness ? "survived" : "undecided";
}

std::string row(std::string_view name, const MutationCounts& c) {
  return fmt::format("{:<9}{:>9}{:>9}{:>11}{:>10}{:>11}{:>9}{:>11}{:>9}{:>8}{:>9}\n", name,
                     c.mutants, c.refused, c.equivalent, c.by_inputs, c.by_fuzzing, c.survived,
                     c.undecided, c.proofs, c.proven_different, c.unproven);
}

std::string missed_text(const MissedMutant& missed, ProgramView program) {
  const std::string out = fmt::format("{}: instruction {}: {}\n", fate(missed), missed.mutant.pc,
                                      describe(missed.mutant, program));
  if (missed.witness)
    return out + fmt::format("  {}: {} became {}\n", describe(missed.witness->data),
                             describe_action(missed.witness->before),
                             describe_action(missed.witness->after));
  return out + fmt::format("  {}\n", missed.detail);
}

std::string stop_text(const MutationReport& report) {
  return (report.stopped_by == "interrupted" ? "the run was " : "") + report.stopped_by;
}

std::string verdict_text(const MutationReport& report, const MutationCounts& sum) {
  switch (report.verdict()) {
    case Verdict::kFail:
      return counted(sum.survived, "mutant") + " survived";
    case Verdict::kUnknown:
      if (!report.listed) return report.stopped_by + " before all mutants were listed";
      if (sum.undecided + sum.unproven == 0)
        return fmt::format("{} before {} of the requested proofs", report.stopped_by,
                           report.not_tried);
      return fmt::format("{} and {} undecided", counted(sum.undecided, "mutant"),
                         counted(sum.unproven, "proof"));
    default:
      return fmt::format("every mutant is killed{} or proven equivalent",
                         sum.by_fuzzing > 0 ? ", some by fuzzing alone," : " by derived inputs");
  }
}

ordered_json to_json(const MutationCounts& c) {
  return {{"mutants", c.mutants},
          {"refused", c.refused},
          {"equivalent", c.equivalent},
          {"killed_by_inputs", c.by_inputs},
          {"killed_by_fuzzing", c.by_fuzzing},
          {"survived", c.survived},
          {"undecided", c.undecided},
          {"proofs", c.proofs},
          {"proven_different", c.proven_different},
          {"unproven", c.unproven}};
}

}  // namespace

ordered_json to_json(const MutationReport& report, ProgramView program) {
  ordered_json out{{"schema", "secequiv.mutate/1"},
                   {"verdict", verdict_name(report.verdict())},
                   {"same", sameness_name(report.sameness)},
                   {"instructions", program.size()},
                   {"total", to_json(report.total())},
                   {"operators", ordered_json::object()},
                   {"inputs", ordered_json::array()},
                   {"fuzz_seconds", report.fuzz_seconds},
                   {"all_proven", report.all_proven},
                   {"not_tried", report.not_tried},
                   {"seconds",
                    {{"inputs", report.input_seconds},
                     {"fuzzing", report.fuzzing_seconds},
                     {"proofs", report.proof_seconds}}},
                   {"missed_by_inputs", ordered_json::array()}};
  for (std::size_t op = 0; op < kMutationOperators; ++op)
    out["operators"][std::string(operator_name(static_cast<MutationOperator>(op)))] =
        to_json(report.operators[op]);
  for (const InputSetCounts& set : report.inputs)
    out["inputs"].push_back({{"name", set.name}, {"inputs", set.inputs}, {"killed", set.killed}});
  for (const MissedMutant& missed : report.missed) {
    ordered_json entry{{"instruction", missed.mutant.pc},
                       {"operator", operator_name(missed.mutant.op)},
                       {"change", describe(missed.mutant, program)},
                       {"fate", fate(missed)}};
    if (missed.witness) entry["witness"] = to_json(*missed.witness);
    if (missed.fuzzed) entry["fuzzed"] = to_json(*missed.fuzzed);
    if (!missed.detail.empty()) entry["detail"] = missed.detail;
    out["missed_by_inputs"].push_back(std::move(entry));
  }
  return out;
}

std::string mutation_text(const MutationReport& report, ProgramView program) {
  std::string out;
  // After an interrupt, thousands can be undecided; the table counts them.
  for (const MissedMutant& missed : report.missed)
    if (!missed.fuzzed && (missed.witness || !report.interrupted))
      out += missed_text(missed, program);
  out += fmt::format("{:<9}{:>9}{:>9}{:>11}{:>10}{:>11}{:>9}{:>11}{:>9}{:>8}{:>9}\n", "operator",
                     "mutants", "refused", "equivalent", "by inputs", "by fuzzing", "survived",
                     "undecided", "proofs", "differ", "unproven");
  for (std::size_t op = 0; op < kMutationOperators; ++op)
    out += row(operator_name(static_cast<MutationOperator>(op)), report.operators[op]);
  const MutationCounts sum = report.total();
  out += row("total", sum);
  for (const InputSetCounts& set : report.inputs)
    out += fmt::format("inputs    {}: {}; killed {}\n", set.name, set.inputs, set.killed);
  if (!report.listed)
    return out +
           fmt::format("score     unknown: {} while the mutants were listed\n", stop_text(report)) +
           fmt::format("{}: {}\n", verdict_name(report.verdict()), verdict_text(report, sum));
  if (report.interrupted && sum.undecided > 0)
    return out +
           fmt::format("score     unknown: {} after {} of {} mutants were decided\n",
                       stop_text(report), sum.mutants - sum.undecided, sum.mutants) +
           fmt::format("{}: {}\n", verdict_name(report.verdict()), verdict_text(report, sum));
  out += fmt::format("score     derived inputs kill {} of the mutants that differ ({:.1f} s)\n",
                     share(sum.by_inputs, sum.different()), report.input_seconds);
  out += fmt::format(
      "          derived inputs and fuzzing kill {}, with at most {} s for each mutant ({:.1f} "
      "s)\n",
      share(sum.by_inputs + sum.by_fuzzing, sum.different()), report.fuzz_seconds,
      report.fuzzing_seconds);
  out += fmt::format(
      "          proofs find {} of the {} tried mutants that are not equivalent ({:.1f} s{})\n",
      share(sum.proven_different, sum.proven_different + sum.unproven),
      sum.proven_different + sum.unproven, report.proof_seconds,
      report.all_proven ? "; all mutants were tried"
      : report.not_tried > 0
          ? fmt::format("; {} before {} more", report.stopped_by, report.not_tried)
          : "; only a sample of the killed mutants was tried");
  return out + fmt::format("{}: {}\n", verdict_name(report.verdict()), verdict_text(report, sum));
}

}  // namespace secequiv
