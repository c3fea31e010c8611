#include "harness/kernel/compare.h"

#include "harness/base/clock.h"
#include "harness/bpf/check.h"

namespace secequiv::kernel {
namespace {

using Answers = std::vector<std::optional<std::uint32_t>>;

Result<Answers> answers_to(ProgramView program, std::span<const InputWords> inputs,
                           std::optional<Entry> entry) {
  if (entry) return evaluate_direct(program, inputs, *entry);
  const auto values = evaluate(program, inputs);
  if (!values) return values.error();
  return Answers(values->begin(), values->end());
}

// The smallest input on which the programs differ by the model, if the model is right about
// `found`.
Witness smaller(const Pair& pair, const Witness& found) {
  const auto replayed = replay(pair, found.data);
  if (!replayed || replayed->before != found.before || replayed->after != found.after) return found;
  return minimize(pair, found);
}

}  // namespace

Result<KernelReport> ask(const std::vector<std::pair<std::string, Program>>& programs,
                         std::vector<InputWords> inputs, const AskOptions& options) {
  KernelReport out;
  out.release = release();
  out.entry = options.entry;
  if (options.entry)
    for (InputWords& input : inputs) input = presented(input, *options.entry);
  std::vector<Answers> answers;
  for (const auto& [name, program] : programs) {
    AskedSide side;
    side.name = name;
    side.instructions = program.size();
    const auto start = Clock::now();
    auto said = answers_to(program, inputs, options.entry);
    side.seconds = seconds_since(start);
    if (!said) {
      Error error = said.error();
      error.where = name;
      return error;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!(*said)[i]) {
        ++side.skipped;
        continue;
      }
      ++side.asked;
      const std::uint32_t model = run(program, inputs[i]);
      if (model != *(*said)[i] && !side.disagreement)
        side.disagreement = Witness{SeccompData{inputs[i]}, model, *(*said)[i]};
    }
    if (side.disagreement) out.verdict = Verdict::kDifferent;
    answers.push_back(std::move(*said));
    out.sides.push_back(std::move(side));
  }
  if (programs.size() != 2) return out;
  const Pair pair{programs[0].second, programs[1].second, options.sameness};
  for (std::size_t i = 0; i < inputs.size() && !out.witness; ++i) {
    const auto before = answers[0][i];
    const auto after = answers[1][i];
    if (!before || !after || same_decision(*before, *after, options.sameness)) continue;
    out.witness = Witness{SeccompData{inputs[i]}, *before, *after};
    // A smaller one may be no call of this entry any more.
    if (!options.entry) out.witness = smaller(pair, *out.witness);
    out.verdict = Verdict::kDifferent;
  }
  return out;
}

Result<OracleReport> second_opinion(std::span<const NamedProgram> programs,
                                    std::span<const InputWords> inputs) {
  if (auto s = available(); !s) return s.error();
  OracleReport out;
  out.who = "Linux " + release();
  for (const NamedProgram& named : programs) {
    AskedProgram row;
    row.name = named.first;
    const auto refusal = check(named.second);
    row.installable = !refusal;
    if (refusal) {
      row.not_asked = describe(*refusal, named.second);
    } else if (inputs.empty()) {
      row.not_asked = "there is no input to ask about";
    } else {
      const auto answer = ask({named}, {inputs.begin(), inputs.end()}, {});
      if (!answer && answer.error().code != ErrorCode::kRejected) return answer.error();
      if (answer) {
        const AskedSide& side = answer->sides.front();
        row.inputs = side.asked;
        out.seconds += side.seconds;
        if (const auto& found = side.disagreement)
          row.disagreement = Disagreement{found->data, found->before, found->after};
      } else {
        row.not_asked = answer.error().detail;
      }
    }
    out.programs.push_back(std::move(row));
  }
  return out;
}

}  // namespace secequiv::kernel
