#include "adapters/broken/evaluators.h"

#include <algorithm>
#include <array>

namespace secequiv::broken {
namespace {

using M = Machine<Concrete>;
using Control = secequiv::detail::RunControl<Silent>;

bool write_a(M& m, Control& control, std::uint32_t value) {
  m.a = value;
  control.next();
  return true;
}

bool shift_past_the_word_is_zero(const Insn& in, M& m, Control& control) {
  if ((in.code != kLshX && in.code != kRshX) || m.x < 32) return false;
  return write_a(m, control, 0);
}

bool right_shift_keeps_the_sign(const Insn& in, M& m, Control& control) {
  if (in.code != kRshK && in.code != kRshX) return false;
  const std::uint32_t by = in.code == kRshK ? in.k : m.x & 31;
  return write_a(m, control, static_cast<std::uint32_t>(static_cast<std::int32_t>(m.a) >> by));
}

bool compares_signed(const Insn& in, M& m, Control& control) {
  const auto a = static_cast<std::int32_t>(m.a);
  const auto b = static_cast<std::int32_t>(operand_is_x(in) ? m.x : in.k);
  switch (in.code) {
    case kJgtK:
    case kJgtX:
      control.branch(a > b, in.jt, in.jf);
      return true;
    case kJgeK:
    case kJgeX:
      control.branch(a >= b, in.jt, in.jf);
      return true;
    default:
      return false;
  }
}

bool divides_by_zero(const Insn& in, M& m, Control& control) {
  if (in.code != kDivX || m.x != 0) return false;
  return write_a(m, control, 0);
}

bool nothing(const Insn&, M&, Control&) { return false; }

bool length_is_zero(const Insn& in, M& m, Control& control) {
  if (in.code != kLdLen && in.code != kLdxLen) return false;
  (in.code == kLdLen ? m.a : m.x) = 0;
  control.next();
  return true;
}

bool jset_is_inverted(const Insn& in, M& m, Control& control) {
  if (in.code != kJsetK && in.code != kJsetX) return false;
  control.branch((m.a & (in.code == kJsetX ? m.x : in.k)) == 0, in.jt, in.jf);
  return true;
}

// Uses one word for M[0] and M[1], one for M[2] and M[3], and so on.
bool scratch_words_too_few(const Insn& in, M& m, Control& control) {
  auto& word = m.m[in.k % kMemWords / 2];
  switch (in.code) {
    case kSt:
      word = m.a;
      break;
    case kStx:
      word = m.x;
      break;
    case kLdMem:
      m.a = word;
      break;
    case kLdxMem:
      m.x = word;
      break;
    default:
      return false;
  }
  control.next();
  return true;
}

bool neg_is_complement(const Insn& in, M& m, Control& control) {
  return in.code == kNeg && write_a(m, control, ~m.a);
}

constexpr std::array kEvaluators = {
    PlantedEvaluator{"eval-shift-past-word-is-zero",
                     "a shift by X of 32 or more gives 0 instead of using the low bits of X",
                     shift_past_the_word_is_zero},
    PlantedEvaluator{"eval-right-shift-keeps-sign", "a shift to the right copies the sign bit",
                     right_shift_keeps_the_sign},
    PlantedEvaluator{"eval-signed-comparison", "JGT and JGE compare as signed numbers",
                     compares_signed},
    PlantedEvaluator{"eval-division-by-zero-goes-on",
                     "division by X = 0 gives 0 and the program goes on", divides_by_zero},
    PlantedEvaluator{"eval-x-not-cleared", "X is not cleared at entry", nothing, true},
    PlantedEvaluator{"eval-length-is-zero", "the length of the input is 0", length_is_zero},
    PlantedEvaluator{"eval-jset-inverted", "JSET jumps if no bit is set", jset_is_inverted},
    PlantedEvaluator{"eval-scratch-words-too-few",
                     "each pair of neighbouring words of M[] shares one value",
                     scratch_words_too_few},
    PlantedEvaluator{"eval-neg-is-complement", "NEG complements and does not add 1",
                     neg_is_complement},
};

}  // namespace

std::span<const PlantedEvaluator> planted_evaluators() { return kEvaluators; }

const PlantedEvaluator* find_planted_evaluator(std::string_view name) {
  const auto* const found = std::ranges::find(kEvaluators, name, &PlantedEvaluator::name);
  return found == kEvaluators.end() ? nullptr : found;
}

std::vector<std::uint32_t> evaluate_with(const PlantedEvaluator& planted, ProgramView program,
                                         std::span<const SeccompData> inputs) {
  std::vector<std::uint32_t> out;
  out.reserve(inputs.size());
  std::uint32_t x = 0;
  Silent silent;
  for (const SeccompData& input : inputs) {
    Concrete domain{input.words.data()};
    M machine{};
    machine.x = x;
    Control control{program.data(), silent};
    while (!control.done)
      if (const Insn& in = *control.pc; !planted.quirk(in, machine, control))
        step(domain, in, machine, control);
    if (planted.keeps_x) x = machine.x;
    out.push_back(control.result);
  }
  return out;
}

}  // namespace secequiv::broken
