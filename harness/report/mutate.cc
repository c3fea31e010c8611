#include "harness/report/mutate.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

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

Shape operators() { return names_of(operator_name, MutationOperator::kSwap); }

struct ShownMissed {
  const MissedMutant& missed;
  ProgramView program;
};

void describe(Fields<ShownMissed>& mutant) {
  using Shown = ShownMissed;
  mutant.is("missed_mutant", "One mutant.");
  mutant("instruction", "Index of the instruction, from 0.",
         [](const Shown& it) { return it.missed.mutant.pc; });
  mutant(
      "operator", "The kind of change.",
      [](const Shown& it) { return operator_name(it.missed.mutant.op); }, operators());
  mutant("change", "The change in words.",
         [](const Shown& it) { return describe(it.missed.mutant, it.program); });
  mutant(
      "fate",
      "fuzzed: fuzzing kills it. survived: no input kills it, although it is proven different. "
      "undecided: no input kills it, and no proof decided it.",
      [](const Shown& it) { return fate(it.missed); }, words({"fuzzed", "survived", "undecided"}));
  mutant("witness", "The witness of the proof. before: the program; after: the mutant.",
         [](const Shown& it) { return it.missed.witness; });
  mutant("fuzzed", "The input that fuzzing found.",
         [](const Shown& it) { return it.missed.fuzzed; });
  mutant("detail", "If a proof is undecided: the limit that was reached.",
         [](const Shown& it) { return unless_empty(it.missed.detail); });
  if (!mutant.for_schema()) return;
  mutant.rule(is("fate", "fuzzed"), has({"fuzzed"}), lacks({"fuzzed"}));
  mutant.rule(is("fate", "survived"), has({"witness"}));
  mutant.rule(is("fate", "undecided"), lacks({"witness"}));
  mutant.rule(has({"witness"}), lacks({"detail"}), has({"detail"}));
}

void describe_operators(Fields<ShownScore>& operators) {
  const auto add = [&](MutationOperator op, std::string_view meaning) {
    operators(operator_name(op), meaning, [op](const ShownScore& it) {
      return it.report.operators[static_cast<std::size_t>(op)];
    });
  };
  add(MutationOperator::kConstant,
      "An immediate of a test, of arithmetic or of a load: each bit flipped, one less, one more.");
  add(MutationOperator::kOpcode,
      "Another opcode of the same group: another comparison, another arithmetic operation, X in "
      "place of the constant or the reverse, the other register.");
  add(MutationOperator::kTarget,
      "A jump target one instruction nearer or further away; the two targets of a jump exchanged.");
  add(MutationOperator::kLoad, "Another word of the input, or of M[].");
  add(MutationOperator::kReturn,
      "The return value: each bit flipped, one less, one more, and the other return values of the "
      "program.");
  add(MutationOperator::kDelete, "An instruction left out.");
  add(MutationOperator::kSwap, "An instruction exchanged with the next one.");
}

}  // namespace

void describe(Fields<MutationCounts>& counts) {
  using Counts = MutationCounts;
  counts.is("counts",
            "Counts of the mutants of one operator, or of all operators. Each mutant is in exactly "
            "one of equivalent, killed_by_inputs, killed_by_fuzzing, survived and undecided.");
  counts("mutants", "Distinct programs that the kernel would accept.", &Counts::mutants);
  counts("refused", "Changed programs that the kernel would refuse; they do not count as mutants.",
         &Counts::refused);
  counts("equivalent", "Proven to make the same decisions.", &Counts::equivalent);
  counts("killed_by_inputs", "Mutants that a derived input kills.", &Counts::by_inputs);
  counts("killed_by_fuzzing", "Mutants that only fuzzing kills.", &Counts::by_fuzzing);
  counts("survived", "Mutants that are proven different, but that no input killed.",
         &Counts::survived);
  counts("undecided", "Mutants for which no difference was found and whose proof reached a limit.",
         &Counts::undecided);
  counts(
      "proofs",
      "Mutants for which a proof was attempted: all that no derived input kills, and some or all "
      "of the others.",
      &Counts::proofs);
  counts("proven_different", "Proofs that found a witness, which was run through both programs.",
         &Counts::proven_different);
  counts("unproven",
         "Undecided proofs. The report never counts their mutants as killed by a proof.",
         &Counts::unproven);
}

void describe(Fields<InputSetCounts>& set) {
  set("name", "The source of the inputs.", &InputSetCounts::name, words({"policy", "program"}));
  set("inputs", "Number of inputs.", &InputSetCounts::inputs);
  set("killed", "Mutants that these inputs kill and no earlier set killed.",
      &InputSetCounts::killed);
}

void describe(Fields<ShownScore>& score) {
  using Shown = ShownScore;
  score.document("mutate", 1, "secequiv mutate --json",
                 "How many single-point changes of a program are found by derived inputs, by "
                 "fuzzing and by proofs.");
  score(
      "verdict",
      "fail: a mutant survived. unknown: a mutant or a proof is undecided, or the run was "
      "interrupted before all mutants were listed; the report then has no mutants. Exit status: 0 "
      "for pass, 1 for fail, 3 for unknown.",
      [](const Shown& it) { return verdict_name(it.report.verdict()); },
      words({"pass", "fail", "unknown"}));
  score(
      "same", "The meaning of 'same decision' (--same).",
      [](const Shown& it) { return sameness_name(it.report.sameness); },
      words({"raw", "behaviour"}));
  score(
      "instructions", "Length of the program.", [](const Shown& it) { return it.program.size(); },
      at_least(1));
  score("total", "Sums over all operators.", [](const Shown& it) { return it.report.total(); });
  score.object("operators", "Counts for each kind of change.", describe_operators);
  score(
      "inputs", "The sets are in the order in which they were run.",
      [](const Shown& it) { return it.report.inputs; }, list_of<InputSetCounts>(1));
  score("fuzz_seconds", "Time limit for fuzzing one mutant.",
        [](const Shown& it) { return it.report.fuzz_seconds; });
  score("all_proven", "Whether proofs were attempted for all mutants.",
        [](const Shown& it) { return it.report.all_proven; });
  score("not_tried", "Requested proofs that an interrupt prevented.",
        [](const Shown& it) { return it.report.not_tried; });
  score.object("seconds", "Elapsed time in seconds.", [](Fields<Shown>& seconds) {
    seconds("inputs", "Seconds for running derived inputs.",
            [](const Shown& it) { return it.report.input_seconds; });
    seconds("fuzzing", "Seconds for fuzzing.",
            [](const Shown& it) { return it.report.fuzzing_seconds; });
    seconds("proofs", "Seconds for proofs.",
            [](const Shown& it) { return it.report.proof_seconds; });
  });
  score("missed_by_inputs",
        "Mutants that no derived input kills and that are not proven equivalent, by instruction.",
        [](const Shown& it) {
          std::vector<ShownMissed> out;
          out.reserve(it.report.missed.size());
          for (const MissedMutant& one : it.report.missed) out.push_back({one, it.program});
          return out;
        });
  if (!score.for_schema()) return;
  const auto some = [](std::string_view count) { return inside(count, {{"minimum", 1}}); };
  const auto of_total = [](std::vector<Json> conditions) {
    return inside("total", all(std::move(conditions)));
  };
  score.rule(is("verdict", "pass"),
             all({of_total({is("survived", 0), is("undecided", 0), is("unproven", 0)}),
                  is("not_tried", 0)}));
  score.rule(is("verdict", "fail"), of_total({some("survived")}), of_total({is("survived", 0)}));
  score.rule(is("verdict", "unknown"),
             any({of_total({any({is("mutants", 0), some("undecided"), some("unproven")})}),
                  some("not_tried")}));
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
