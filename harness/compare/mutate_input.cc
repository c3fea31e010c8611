#include "harness/compare/mutate_input.h"

#include <algorithm>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

// Remembers one conditional of a run, each with the same chance.
struct PathSampler {
  const Insn* base;
  const std::vector<Accumulator>& flow;
  std::minstd_rand& random;
  std::size_t seen = 0;
  std::size_t pc = 0;
  bool outcome_there = false;

  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* insn, bool taken) {
    const auto here = static_cast<std::size_t>(insn - base);
    if (flow[here].kind != Accumulator::Kind::kWord || random() % ++seen != 0) return;
    pc = here;
    outcome_there = taken;
  }
};

// Sends `words` the other way at some conditional on its path, by giving the word tested there a
// value that does.
void turn_off_path(ProgramView program, const std::vector<Accumulator>& flow, InputWords& words,
                   std::minstd_rand& random) {
  PathSampler sampler{program.data(), flow, random};
  run_observed(program, words, sampler);
  if (sampler.seen == 0) return;
  const Insn& in = program[sampler.pc];
  const Accumulator& a = flow[sampler.pc];
  std::uint32_t& word = words[a.word];
  const std::uint32_t bit = 1u << random() % 32;
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
                 : word | (in.k & bit) | (random() % 2 == 0 ? in.k & (0u - in.k) : 0);
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

}  // namespace

InputMutator::InputMutator(const std::vector<ProgramView>& programs) {
  for (const ProgramView program : programs) {
    subjects_.push_back(Subject{program, accumulator_flow(program)});
    add_constants(program, subjects_.back().flow, constants_);
  }
  constants_[kArchWord].push_back(AUDIT_ARCH_X86_64);
  for (auto& values : constants_) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
  }
}

void InputMutator::mutate(InputWords& words, std::minstd_rand& random) const {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (std::size_t turns = below(2) == 0 ? 0 : 1 + below(8); turns > 0; --turns) {
    const Subject& subject = subjects_[below(subjects_.size())];
    turn_off_path(subject.program, subject.flow, words, random);
  }
  for (std::size_t changes = below(4); changes > 0; --changes) {
    // The number decides which rules are reached, so it is changed most often.
    const std::size_t word = below(4) == 0 ? kNrWord : below(16);
    const auto& known = constants_[word];
    switch (below(8)) {
      case 0:
        words[word] ^= 1u << below(32);
        break;
      case 1:
        words[word] = below(2) == 0 ? 0 : 0xffffffff;
        break;
      case 2:
        words[word] = words[below(16)];
        break;
      case 3:
        words[word] += below(2) == 0 ? 1u : 0xffffffffu;
        break;
      default:
        if (!known.empty()) words[word] = known[below(known.size())];
        break;
    }
  }
}

}  // namespace secequiv
