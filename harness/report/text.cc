#include "harness/report/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/report/oracle.h"
#include "harness/seccomp/annotate.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

constexpr std::size_t kTraceHead =
    24;  // steps shown from the start of a trace, and as many from its end

std::string_view outcome_text(const Insn& in, const TraceStep& step) {
  if (!step.outcome) return "";
  if (in.code == kDivX) return *step.outcome ? " -> X is 0: returns 0" : "";
  return *step.outcome ? " -> true" : " -> false";
}

// One line per executed instruction; a long trace is cut in the middle, where the cut is said.
std::vector<std::string> trace_lines(ProgramView program, const SeccompData& input) {
  const Trace run = trace(program, input);
  const auto comments = annotate(program);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (run.steps.size() > 2 * kTraceHead && i == kTraceHead) {
      out.push_back(fmt::format("... {} instructions more ...", run.steps.size() - 2 * kTraceHead));
      i = run.steps.size() - kTraceHead;
    }
    const TraceStep& step = run.steps[i];
    std::string line =
        fmt::format("{:>5}: A={:#x} {}", step.pc, step.a, insn_text(program, step.pc));
    line += outcome_text(program[step.pc], step);
    out.push_back(std::move(line));
  }
  out.push_back(fmt::format("= {}", describe_action(run.result)));
  return out;
}

// One trace after the other.
std::vector<std::string> stack_lines(std::span<const ProgramView> filters,
                                     const SeccompData& input) {
  if (filters.size() == 1) return trace_lines(filters.front(), input);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    out.push_back(fmt::format("filter {} of {}", i + 1, filters.size()));
    const auto lines = trace_lines(filters[i], input);
    out.insert(out.end(), lines.begin(), lines.end());
  }
  return out;
}

std::string_view relation_text(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "as strict as before: only the data of actions differ";
    case Relation::kStricter:
      return "stricter: never more permissive than before";
    case Relation::kLooser:
      return "looser: never stricter than before";
    case Relation::kIncomparable:
      return "stricter for some inputs and looser for others";
  }
  return "";
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

}  // namespace

std::string witness_text(const Question& question, const Witness& witness) {
  const Endian endian = endian_of(witness.data.arch());
  std::string out = fmt::format("witness: {}\n", describe(witness.data));
  for (std::uint32_t word = 0; word < 16; ++word)
    if (witness.data.words[word] != 0)
      out +=
          fmt::format("  {:<11} = {:#010x}\n", word_name(word, endian), witness.data.words[word]);
  out +=
      fmt::format("  before: {:#010x} {}\n  after:  {:#010x} {}\n", witness.before,
                  describe_action(witness.before), witness.after, describe_action(witness.after));
  auto left = stack_lines(question.before, witness.data);
  auto right = stack_lines(question.after, witness.data);
  const std::size_t rows = std::max(left.size(), right.size());
  left.resize(rows);
  right.resize(rows);
  constexpr std::size_t kWidth = 52;
  out += fmt::format("  {:<{}} | {}\n", "before", kWidth, "after");
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string row = fmt::format("  {:<{}} | {}", left[i], kWidth, right[i]);
    out += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string trace_text(ProgramView program, const Trace& trace) {
  std::string out;
  for (const TraceStep& step : trace.steps) {
    out += fmt::format("{:>6}: A={:#010x} X={:#010x}  {}", step.pc, step.a, step.x,
                       insn_text(program, step.pc));
    out += outcome_text(program[step.pc], step);
    out += "\n";
  }
  return out;
}

std::string assuming_text(const Question& question) {
  return question.assumption.nodes.empty()
             ? ""
             : fmt::format("assuming {}\n", describe(question.assumption));
}

std::string symbols_text(const Question& question) {
  if (question.symbols.empty()) return "";
  std::string out;
  bool restricted = false;
  for (const Symbol& symbol : question.symbols.all()) {
    out += fmt::format("{} ${}", out.empty() ? "for all values of" : ",", symbol.name);
    if (symbol.low != 0) out += fmt::format(" from {}", symbol.low);
    if (symbol.high != 0xffffffff) out += fmt::format(" up to {}", symbol.high);
    restricted = restricted || symbol.is_restricted();
  }
  return out + (restricted ? " (the kernel refuses the others)\n" : "\n");
}

std::string proof_text(const Question& question, const Proof& proof) {
  std::string out = symbols_text(question) + assuming_text(question);
  if (proof.witness && proof.symbols.empty()) {
    out += witness_text(question, *proof.witness);
    out += proof.minimal ? "  (fewest non-zero words, then smallest values)\n"
                         : "  (not proven smallest)\n";
  } else if (proof.witness) {
    out += "symbols:";
    for (std::size_t i = 0; i < proof.symbols.size(); ++i)
      out += fmt::format(" ${}={:#x}", question.symbols.all()[i].name, proof.symbols[i]);
    out += "\n" + witness_text(Instance(question, proof.symbols).question, *proof.witness);
    out += proof.minimal ? "  (smallest symbols in turn, then fewest non-zero words, then smallest "
                           "values)\n"
                         : "  (not proven smallest)\n";
  }
  if (!proof.detail.empty()) out += fmt::format("{}: {}\n", proof.engine, proof.detail);
  if (proof.relation && proof.verdict != Verdict::kEquivalent)
    out += fmt::format("after is {}\n", relation_text(*proof.relation));
  out += fmt::format("{} ({}, encoded in {}, solved in {})\n", verdict_name(proof.verdict),
                     proof.engine, milliseconds(proof.encode_seconds),
                     milliseconds(proof.solve_seconds));
  return out;
}

namespace {

std::string fuzz_text(const PairFuzzReport& fuzz, std::size_t obligations) {
  std::string out = fmt::format(
      "seeds     {} of the prover's inputs met {} of {} obligations {} after the start\n",
      fuzz.seeds, fuzz.seeds_met, obligations, milliseconds(fuzz.seed_seconds));
  if (!fuzz.not_run.empty()) {
    out += fmt::format("fuzzing   not started: {}\n", fuzz.not_run);
  } else {
    out += fmt::format(
        "fuzzing   {} inputs in {:.2f} s ({:.2f} M/s, {}, seed {}), last new edge {}{}\n",
        fuzz.evaluations, fuzz.seconds,
        static_cast<double>(fuzz.evaluations) / 1e6 / std::max(fuzz.seconds, 1e-9),
        counted(fuzz.jobs, "job"), fuzz.seed,
        fuzz.last_edge_seconds > 0 ? fmt::format("after {:.2f} s", fuzz.last_edge_seconds)
                                   : std::string("from the seeds"),
        fuzz.interrupted ? "; interrupted" : "");
  }
  if (!fuzz.corpus.empty())
    out += fmt::format("corpus    {}: {} read, {} added{}\n", fuzz.corpus,
                       counted(fuzz.stored, "input"), fuzz.added,
                       fuzz.kept ? fmt::format(", {} left", *fuzz.kept) : std::string());
  return out;
}

// Architectures whose cache is the same as before are left out.
std::string cache_text(const std::vector<CacheChange>& changes) {
  std::string out;
  for (const CacheChange& change : changes)
    if (!change.lost.empty() || !change.gained.empty())
      out += fmt::format("cache     {}: {} cached before, {} after; lost: {}; gained: {}\n",
                         arch_info(change.arch).name, counted(change.before.size(), "call"),
                         change.after.size(), shown_calls(change.arch, change.lost),
                         shown_calls(change.arch, change.gained));
  return out;
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string out;
  for (const auto& [role, side] :
       {std::pair("before", &report.before), std::pair("after", &report.after)}) {
    out +=
        fmt::format("{:<9} {}: {}", role, side->name, counted(side->program.size(), "instruction"));
    if (side->refusal)
      out += fmt::format(" (not installable: {})", describe(*side->refusal, side->program));
    out += "\n";
  }
  if (report.evaluations != 0) {
    out += fmt::format("inputs    {} derived, {} run through both in {}", report.inputs,
                       report.evaluations, milliseconds(report.run_seconds));
    if (report.dropped != 0)
      out += report.dropped < 1000000 ? fmt::format("; {} combinations left out", report.dropped)
                                      : fmt::format("; {:.1e} combinations left out",
                                                    static_cast<double>(report.dropped));
    out += "\n";
  }
  if (!report.listing.empty()) {
    out += fmt::format(
        "coverage  {} of the optimized program: {} covered by derived inputs, {} by the prover's, "
        "{} infeasible, {} open{} ({})\n",
        counted(report.obligations, "obligation"), report.covered_by_inputs,
        report.covered_by_witnesses, report.infeasible.size(), report.open.size(),
        report.not_looked_at() == 0 ? ""
                                    : fmt::format(", {} not looked at", report.not_looked_at()),
        milliseconds(report.coverage_seconds));
    for (const Feasibility& open : report.open)
      out += fmt::format("  open: {}: {}\n", describe(open.obligation, report.after.program),
                         open.detail);
  }
  if (report.fuzz) out += fuzz_text(*report.fuzz, report.obligations);
  if (report.proof)
    out += fmt::format("proof     {} by {} in {}\n", verdict_name(report.proof->verdict),
                       report.proof->engine, milliseconds(report.proof_seconds));
  out += cache_text(report.cache);
  if (report.oracle) out += oracle_text(*report.oracle);
  if (report.witness)
    out +=
        witness_text(Question(Pair{report.before.program, report.after.program, report.sameness}),
                     *report.witness);
  out += fmt::format("verdict   {}: {}\n", verdict_name(report.verdict), report.reason);
  return out;
}

}  // namespace secequiv
