#include "fuzz/targets/votes.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/targets/naive_evaluator.h"
#include "harness/coverage/coverage.h"
#include "harness/seccomp/data.h"
#include "verify/dd/space.h"

namespace secequiv::fuzz {
namespace {

std::string against(std::string_view who, std::uint32_t value, std::uint32_t naive,
                    const SeccompData& input) {
  return fmt::format("{} returns {:#010x} and the naive evaluator {:#010x} for {}", who, value,
                     naive, describe(input));
}

// Returns what the visits cover, as harness/coverage/coverage.h defines it.
CoverageMap covered_by(ProgramView program, std::span<const NaiveRun> runs) {
  CoverageMap map(program);
  for (const NaiveRun& run : runs) {
    for (const auto& [pc, outcome] : run.path) {
      map.mark({pc, Obligation::Kind::kLine});
      if (outcome == 1) map.mark({pc, Obligation::Kind::kTrue});
      if (outcome == 0) map.mark({pc, Obligation::Kind::kFalse});
    }
  }
  return map;
}

std::string coverage_disagreement(ProgramView program, std::span<const SeccompData> inputs,
                                  std::span<const NaiveRun> runs) {
  CoverageMap ours(program);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const std::uint32_t value = ours.run(inputs[i]); value != runs[i].value)
      return against("a run with coverage", value, runs[i].value, inputs[i]);
  const CoverageMap theirs = covered_by(program, runs);
  for (const Obligation& one : ours.obligations())
    if (ours.covered(one) != theirs.covered(one))
      return fmt::format("our coverage reports {} as {}, and the naive evaluator disagrees",
                         describe(one, program), ours.covered(one) ? "covered" : "not covered");
  return {};
}

std::string diagram_disagreement(ProgramView program, std::span<const SeccompData> inputs,
                                 std::span<const NaiveRun> runs, std::uint64_t& diagrams) {
  const std::size_t size = program.size();
  dd::Space space(std::span(&program, 1), {.nodes = (std::size_t{1} << 14) + 16 * size,
                                           .steps = (std::size_t{1} << 12) + 64 * size});
  const dd::Decisions decisions = space.decisions(program, Sameness::kRaw);
  if (space.exhausted()) return {};
  ++diagrams;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const std::uint32_t value = space.evaluate(decisions, inputs[i]);
        value != runs[i].value && !space.exhausted())
      return against("the diagram", value, runs[i].value, inputs[i]);
  return {};
}

}  // namespace

std::string disagreement(Evaluator& evaluator, ProgramView program,
                         std::span<const SeccompData> inputs, std::uint64_t& diagrams) {
  std::vector<NaiveRun> naive;
  for (const SeccompData& input : inputs) {
    naive.push_back(run_naively(program, input.words));
    if (naive.back().fault != nullptr)
      return fmt::format("the naive evaluator reports a fault: {}", naive.back().fault);
  }
  const auto answer = evaluator.evaluate(program, inputs);
  if (!answer.ok() || answer.value.size() != inputs.size())
    return fmt::format("no answer: {}", answer.detail);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (answer.value[i] != naive[i].value)
      return against("the evaluator", answer.value[i], naive[i].value, inputs[i]);
  std::string out = coverage_disagreement(program, inputs, naive);
  if (out.empty()) out = diagram_disagreement(program, inputs, naive, diagrams);
  return out;
}

}  // namespace secequiv::fuzz
