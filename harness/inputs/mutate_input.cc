#include "harness/inputs/mutate_input.h"

#include <algorithm>

#include "harness/base/interrupt.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

// Picks one of the conditional jumps of a run that test an input word. Each has the same chance.
struct PathSampler {
  const Insn* base;
  const std::vector<Accumulator>& flow;
  Random& random;
  std::size_t seen = 0;
  std::size_t pc = 0;
  bool outcome_there = false;

  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* insn, bool taken) {
    const auto here = static_cast<std::size_t>(insn - base);
    if (flow[here].kind != Accumulator::Kind::kWord || random.below(++seen) != 0) return;
    pc = here;
    outcome_there = taken;
  }
};

// Turns the outcome of some conditional jump on the path of `data`, by changing the word that it
// tests.
void turn_off_path(ProgramView program, const std::vector<Accumulator>& flow, SeccompData& data,
                   Random& random) {
  PathSampler sampler{program.data(), flow, random};
  run_observed(program, data, sampler);
  if (sampler.seen == 0) return;
  const Insn& in = program[sampler.pc];
  const Accumulator& a = flow[sampler.pc];
  std::uint32_t& word = data.words[a.word];
  const std::uint32_t bit = 1u << random.below(32);
  switch (in.code) {
    case kJeqK:
      word = sampler.outcome_there ? word ^ bit : (word & ~a.mask) | in.k;
      break;
    case kJgtK:
      word = in.k + (sampler.outcome_there ? 0 : 1);
      break;
    case kJgeK:
      word = in.k - (sampler.outcome_there ? 1 : 0);
      break;
    case kJsetK:
      word = sampler.outcome_there
                 ? word & ~in.k
                 : word | (in.k & bit) | (random.one_in(2) ? in.k & (0u - in.k) : 0);
      break;
    default:
      word ^= bit;
      break;
  }
}

void add_constants(ProgramView program, const std::vector<Accumulator>& flow,
                   std::array<std::vector<std::uint32_t>, 16>& constants) {
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_conditional(program[pc]) || flow[pc].kind != Accumulator::Kind::kWord) continue;
    const std::uint32_t k = program[pc].k;
    for (const std::uint32_t v : {k, k - 1, k + 1}) constants[flow[pc].word].push_back(v);
  }
}

void sort_out(std::vector<std::uint32_t>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

}  // namespace

InputMutator::InputMutator(const std::vector<ProgramView>& programs) {
  for (const ProgramView program : programs) {
    subjects_.push_back(Subject{program, accumulator_flow(program)});
    add_constants(program, subjects_.back().flow, constants_);
  }
  constants_[kArchWord].push_back(AUDIT_ARCH_X86_64);
  for (auto& values : constants_) {
    if (values.empty()) values.push_back(0);
    sort_out(values);
  }
}

void InputMutator::add_values(std::span<const SeccompData> known) {
  constexpr std::size_t kMost = 4096;
  // Sorting the words of a million inputs takes a second.
  for (std::size_t word = 0; word < constants_.size() && !stop_wanted(); ++word) {
    std::vector<std::uint32_t> values;
    values.reserve(known.size());
    for (const SeccompData& data : known) values.push_back(data.words[word]);
    sort_out(values);
    // Keeps some values from the whole range if there are too many.
    const std::size_t every = values.size() / kMost + 1;
    for (std::size_t i = 0; i < values.size(); i += every) constants_[word].push_back(values[i]);
    sort_out(constants_[word]);
  }
}

void InputMutator::mutate(SeccompData& data, Random& random) const {
  for (std::size_t turns = random.one_in(2) ? 0 : 1 + random.below(8); turns > 0; --turns) {
    const Subject& subject = subjects_[random.below(subjects_.size())];
    turn_off_path(subject.program, subject.flow, data, random);
    // One time in three, nothing changes except the turned tests.
    if (turns == 1 && random.one_in(3)) return;
  }
  vary(data, random);
}

}  // namespace secequiv
