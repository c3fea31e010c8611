#include "harness/kernel/compare.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "harness/base/clock.h"
#include "harness/bpf/refusal.h"

namespace secequiv::kernel {
namespace {

using Answers = std::vector<std::optional<std::uint32_t>>;

Result<Answers> answers_to(ProgramView program, std::span<const SeccompData> inputs,
                           const AskOptions& options) {
  if (options.entry) return evaluate_direct(program, inputs, *options.entry, *options.kernel);
  ASSIGN_OR_RETURN(const auto values, evaluate(program, inputs, *options.kernel));
  return Answers(values.begin(), values.end());
}

// Minimizes `found` by running the model, if the model and the kernel agree on it.
Witness smaller(const Pair& pair, const Witness& found) {
  const auto replayed = replay(pair, found.data);
  if (!replayed || replayed->before != found.before || replayed->after != found.after) return found;
  return minimize(pair, found);
}

// Runs one program on `inputs`. Returns no answers if the kernel refuses the program.
Result<Answers> ask_side(AskedSide& side, ProgramView program, std::span<const SeccompData> inputs,
                         const AskOptions& options) {
  const auto start = Clock::now();
  auto results = answers_to(program, inputs, options);
  side.seconds += seconds_since(start);
  if (!results && results.error().code == ErrorCode::kRejected) {
    side.refused = true;
    return Answers();
  }
  if (!results) return results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(*results)[i]) {
      ++side.skipped;
      continue;
    }
    ++side.asked;
    const std::uint32_t model = run(program, inputs[i]);
    if (model != *(*results)[i] && !side.disagreement)
      side.disagreement = Witness{inputs[i], model, *(*results)[i]};
  }
  return results;
}

// Returns the first input on which the answers differ.
std::optional<Witness> difference(const Answers& before, const Answers& after,
                                  std::span<const SeccompData> inputs, Sameness sameness) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (before[i] && after[i] && !same_decision(*before[i], *after[i], sameness))
      return Witness{inputs[i], *before[i], *after[i]};
  return std::nullopt;
}

Verdict verdict_of(const KernelReport& report) {
  if (report.witness) return Verdict::kDifferent;
  Verdict out = report.interrupted ? Verdict::kUnknown : Verdict::kPass;
  for (const AskedSide& side : report.sides) {
    if (side.refused || side.disagreement) return Verdict::kDifferent;
    if (side.asked == 0) out = Verdict::kUnknown;
  }
  return out;
}

InputBlocks all_at_once(std::span<const SeccompData> inputs) {
  return [inputs, done = false]() mutable -> std::vector<SeccompData> {
    if (std::exchange(done, true)) return {};
    return {inputs.begin(), inputs.end()};
  };
}

Error with_name(Error error, const std::string& name) {
  error.where = name;
  return error;
}

}  // namespace

Result<KernelReport> ask(const std::vector<NamedProgram>& programs, const InputBlocks& next,
                         const AskOptions& options) {
  KernelReport out;
  Kernel& kernel = *options.kernel;
  out.release = kernel.release();
  out.booted_as = kernel.booted_as();
  out.entry = options.entry;
  out.compared = programs.size() == 2;
  for (const auto& [name, program] : programs) {
    if (auto s = askable(program); !s) return with_name(s.error(), name);
    AskedSide side;
    side.name = name;
    side.instructions = program.size();
    out.sides.push_back(std::move(side));
  }
  RETURN_IF_ERROR(available(kernel));
  std::uint64_t instruction_pointer = 0;
  if (options.entry) {
    ASSIGN_OR_RETURN(const auto found, kernel.instruction_pointer(*options.entry));
    instruction_pointer = found;
  }
  std::size_t asked = 0;
  bool refused = false;
  for (auto inputs = next(); !inputs.empty() && !refused; inputs = next()) {
    if (options.stop && options.stop()) {
      out.interrupted = true;
      break;
    }
    if (options.entry)
      for (SeccompData& input : inputs)
        input = presented(input, *options.entry, instruction_pointer);
    std::vector<Answers> answers;
    const std::vector<AskedSide> before = out.sides;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      auto results = ask_side(out.sides[p], programs[p].second, inputs, options);
      out.interrupted = !results && results.error().code == ErrorCode::kBudget;
      if (out.interrupted) break;
      if (!results) return with_name(results.error(), programs[p].first);
      refused = refused || out.sides[p].refused;
      answers.push_back(std::move(*results));
    }
    if (out.interrupted) {  // not all programs ran this block
      for (std::size_t p = 0; p < programs.size(); ++p)
        std::tie(out.sides[p].asked, out.sides[p].skipped) =
            std::pair(before[p].asked, before[p].skipped);
      break;
    }
    if (out.compared && !refused && !out.witness)
      out.witness = difference(answers[0], answers[1], inputs, options.sameness);
    asked += inputs.size();
    if (options.progress) options.progress(asked);
  }
  // With real calls, a smaller input may no longer be a call that this entry can make.
  if (out.witness && !options.entry)
    out.witness = smaller({programs[0].second, programs[1].second, options.sameness}, *out.witness);
  out.verdict = verdict_of(out);
  return out;
}

void append(KernelReport& out, KernelReport more) {
  out.interrupted = out.interrupted || more.interrupted;
  std::ranges::move(more.sides, std::back_inserter(out.sides));
  out.verdict = verdict_of(out);
}

Result<OracleReport> second_opinion(std::span<const NamedProgram> programs,
                                    std::span<const SeccompData> inputs, Kernel& kernel) {
  RETURN_IF_ERROR(available(kernel));
  AskOptions asking;
  asking.kernel = &kernel;
  OracleReport out;
  out.who = "Linux " + kernel.release();
  for (const NamedProgram& named : programs) {
    AskedProgram row;
    row.name = named.first;
    row.installable = !refusal_of(named.second);
    if (const auto s = askable(named.second); !s) {
      row.not_asked = s.error().detail;
    } else if (inputs.empty()) {
      row.not_asked = "there is no input to run";
    } else {
      ASSIGN_OR_RETURN(const auto answer, ask({named}, all_at_once(inputs), asking));
      const AskedSide& side = answer.sides.front();
      row.inputs = side.asked;
      if (answer.interrupted && !side.disagreement) row.not_asked = "interrupted";
      row.refused = side.refused;
      out.seconds += side.seconds;
      if (const auto& found = side.disagreement)
        row.disagreement = Disagreement{found->data, found->before, found->after};
    }
    out.programs.push_back(std::move(row));
  }
  return out;
}

}  // namespace secequiv::kernel
