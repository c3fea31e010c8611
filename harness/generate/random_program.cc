#include "harness/generate/random_program.h"

#include <algorithm>
#include <array>

namespace secequiv {
namespace {

constexpr std::array<std::uint32_t, 12> kPlainConstants = {
    0,          1,          2,          39,         0x80,       0xffff,
    0x7fffffff, 0x80000000, 0x80000001, 0xc000003e, 0xfffffffe, 0xffffffff};

const std::vector<std::uint16_t>& legal_codes() {
  static const std::vector<std::uint16_t> kCodes = [] {
    std::vector<std::uint16_t> out;
    for (const InsnInfo& info : insn_table())
      if (info.seccomp) out.push_back(info.code);
    return out;
  }();
  return kCodes;
}

class PlainGenerator {
 public:
  PlainGenerator(Random& random, std::size_t length, const detail::Palette& palette)
      : random_(random), length_(length), palette_(palette), masks_(length, 0xffff) {}

  Program generate() {
    while (program_.size() < length_) {
      const std::size_t pc = program_.size();
      stored_ &= masks_[pc];
      Insn in = pc + 1 == length_ ? ret() : choose();
      if (random_.one_in(24)) fill_unused(in);
      follow(pc, in);
      program_.push_back(in);
    }
    return std::move(program_);
  }

 private:
  Insn ret() {
    if (random_.one_in(5)) return Insn{kRetA, 0, 0, 0};
    return Insn{kRetK, 0, 0, random_.pick(palette_.returns)};
  }

  Insn choose() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return Insn{kLdWAbs, 0, 0, random_.pick(palette_.words) * 4};
      case 2:
      case 3:
      case 4:
        return conditional(
            random_.pick(std::array<std::uint16_t, 5>{kJeqK, kJgtK, kJgeK, kJsetK, kJeqX}));
      case 5:
        return random_.one_in(3) ? ret() : jump();
      default:
        return any(random_.pick(legal_codes()));
    }
  }

  Insn any(std::uint16_t code) {
    const Insn in{code, 0, 0, constant()};
    if (is_conditional(in)) return conditional(code);
    switch (code) {
      case kJa:
        return jump();
      case kRetK:
      case kRetA:
        return ret();
      case kLdWAbs:
        return Insn{code, 0, 0, random_.pick(palette_.words) * 4};
      case kSt:
      case kStx:
        return Insn{code, 0, 0, scratch_word()};
      case kLdMem:
      case kLdxMem: {
        const std::uint32_t k = scratch_word();
        // The kernel's check refuses a load of a word that may be unset, so such a word gets a
        // store.
        if ((stored_ >> k & 1) == 0) return Insn{kSt, 0, 0, k};
        return Insn{code, 0, 0, k};
      }
      case kLshK:
      case kRshK:
        return Insn{code, 0, 0, static_cast<std::uint32_t>(random_.below(32))};
      case kDivK:
        return Insn{code, 0, 0, std::max(in.k, std::uint32_t{1})};
      case kLdImm:
      case kLdxImm:
        return in;
      default:
        return uses_k(code) ? in : Insn{code, 0, 0, 0};
    }
  }

  static bool uses_k(std::uint16_t code) { return insn_info(code)->operand == Operand::Imm; }

  // Uses few scratch words, so that stores and loads meet. Sometimes uses the last one.
  std::uint32_t scratch_word() {
    return random_.one_in(8) ? 15 : static_cast<std::uint32_t>(random_.below(3));
  }
  std::uint32_t constant() {
    return random_.one_in(4) ? random_.word() : random_.pick(palette_.constants);
  }

  // Returns the offset of a jump to a later instruction inside the program. The offset is at most
  // `limit`.
  std::size_t offset(std::size_t limit) {
    const std::size_t most = std::min(limit, length_ - 2 - program_.size());
    switch (random_.below(4)) {
      case 0:
        return 0;
      case 1:
      case 2:
        return random_.below(std::min(most, std::size_t{6}) + 1);
      default:
        return random_.below(most + 1);
    }
  }

  Insn jump() { return Insn{kJa, 0, 0, static_cast<std::uint32_t>(offset(length_))}; }

  Insn conditional(std::uint16_t code) {
    Insn in{code, 0, 0, 0};
    if (insn_info(code)->operand == Operand::CondImm) in.k = constant();
    in.jt = static_cast<std::uint8_t>(offset(255));
    in.jf = random_.one_in(8) ? in.jt : static_cast<std::uint8_t>(offset(255));
    return in;
  }

  void fill_unused(Insn& in) {
    if (is_conditional(in)) {
      if (insn_info(in.code)->operand == Operand::CondReg) in.k = random_.word();
      return;
    }
    in.jt = static_cast<std::uint8_t>(random_.below(256));
    in.jf = static_cast<std::uint8_t>(random_.below(256));
    const Operand operand = insn_info(in.code)->operand;
    if (operand == Operand::None || operand == Operand::Reg || operand == Operand::Acc ||
        operand == Operand::Len)
      in.k = random_.word();
  }

  // Tracks which words of M[] check_load_and_stores treats as set after `in`.
  void follow(std::size_t pc, const Insn& in) {
    if (in.code == kSt || in.code == kStx) stored_ |= static_cast<std::uint16_t>(1u << in.k);
    if (!is_jump(in)) return;
    masks_[jump_target(pc, in, true)] &= stored_;
    masks_[jump_target(pc, in, false)] &= stored_;
    stored_ = 0xffff;
  }

  Random& random_;
  std::size_t length_;
  const detail::Palette& palette_;
  std::vector<std::uint16_t> masks_;
  std::uint16_t stored_ = 0;
  Program program_;
};

}  // namespace

Program detail::program_from(Random& random, std::size_t length, const Palette& palette) {
  return PlainGenerator(random, length, palette).generate();
}

Program random_program(Random& random, std::size_t length) {
  std::array<std::uint32_t, 3> returns{};
  for (auto& value : returns)
    value =
        random.one_in(4) ? random.word() : 0x7fff0000 - static_cast<std::uint32_t>(random.below(3));
  std::array<std::uint32_t, 3> words{};
  for (auto& word : words) word = static_cast<std::uint32_t>(random.below(16));
  return detail::program_from(random, length, {words, kPlainConstants, returns});
}

std::vector<SeccompData> random_inputs(Random& random, ProgramView program, std::size_t count) {
  std::vector<std::uint32_t> interesting(kPlainConstants.begin(), kPlainConstants.end());
  for (const Insn& in : program) {
    if (insn_info(in.code) == nullptr) continue;
    const Operand operand = insn_info(in.code)->operand;
    if (operand != Operand::Imm && operand != Operand::CondImm) continue;
    for (const std::uint32_t k : {in.k - 1, in.k, in.k + 1}) interesting.push_back(k);
  }
  std::vector<SeccompData> inputs(count);
  for (SeccompData& input : inputs)
    for (std::uint32_t& word : input.words)
      word = random.one_in(4) ? random.word() : random.pick(interesting);
  return inputs;
}

}  // namespace secequiv
