#include "harness/compare/pair.h"

#include "harness/base/interrupt.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

std::optional<Witness> replay(const Pair& pair, const SeccompData& data) {
  const std::uint32_t before = run(pair.before, data);
  const std::uint32_t after = run(pair.after, data);
  if (same_decision(before, after, pair.sameness)) return std::nullopt;
  return Witness{data, before, after};
}

PairRun run_pair(const Pair& pair, std::span<const SeccompData> inputs, CoverageMap& coverage) {
  PairRun out;
  // Most inputs run a small part of a program. After an interrupt, as many run as usually cover all
  // edges, so that a known proof still gives a verdict.
  constexpr std::size_t kPart = 64;
  const std::size_t between = between_looks((pair.before.size() + pair.after.size()) / kPart);
  for (const SeccompData& data : inputs) {
    if (out.evaluations != 0 && out.evaluations % between == 0 && stop_wanted()) {
      out.interrupted = true;
      break;
    }
    ++out.evaluations;
    const std::uint32_t before = run(pair.before, data);
    const std::uint32_t after = coverage.run(data);
    if (same_decision(before, after, pair.sameness)) continue;
    out.witness = Witness{data, before, after};
    break;
  }
  return out;
}

Witness minimize(const Pair& pair, const Witness& witness) {
  return minimize(witness, [&](const SeccompData& data) { return replay(pair, data); });
}

Witness minimize(const Witness& witness,
                 const std::function<std::optional<Witness>(const SeccompData&)>& witness_of) {
  Witness best = witness;
  const auto attempt = [&](std::size_t word, std::uint32_t value) {
    if (best.data.words[word] == value) return;
    SeccompData candidate = best.data;
    candidate.words[word] = value;
    if (const auto smaller = witness_of(candidate)) best = *smaller;
  };
  // Later words are tried first, because a witness is easiest to read with a real number and
  // architecture.
  for (std::size_t word = best.data.words.size(); word-- > 0;)
    if (word != kArchWord) attempt(word, 0);
  // Clearing one bit may allow clearing another that was tried before.
  for (bool smaller = true; smaller;) {
    const SeccompData before = best.data;
    for (std::size_t word = best.data.words.size(); word-- > 0;)
      if (word != kArchWord)
        for (int bit = 31; bit >= 0; --bit)
          if ((best.data.words[word] >> bit & 1) != 0)
            attempt(word, best.data.words[word] & ~(1u << bit));
    smaller = best.data != before;
  }
  // An unknown architecture means nothing to the reader, so it is replaced if possible.
  for (const std::uint32_t arch : {AUDIT_ARCH_X86_64, std::uint32_t{0}})
    if (!arch_from_data(best.data.arch(), best.data.nr())) attempt(kArchWord, arch);
  return best;
}

Trace trace(ProgramView program, const SeccompData& input) {
  struct Recorder {
    const Insn* base;
    Trace& trace;
    void at(const Insn* pc, const Machine<Concrete>& machine) {
      trace.steps.push_back(
          TraceStep{static_cast<std::size_t>(pc - base), machine.a, machine.x, std::nullopt});
    }
    void outcome(const Insn*, bool taken) { trace.steps.back().outcome = taken; }
  };
  Trace out{};
  Recorder recorder{program.data(), out};
  out.result = run_observed(program, input, recorder);
  return out;
}

}  // namespace secequiv
