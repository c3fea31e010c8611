#include "fuzz/targets/naive_evaluator.h"

namespace secequiv::fuzz {
namespace {

constexpr std::uint64_t kWord = 0xffffffff;

class Evaluation {
 public:
  Evaluation(std::span<const Insn> program, const std::array<std::uint32_t, 16>& input)
      : program_(program), input_(input) {}

  NaiveRun run() {
    while (!ended_) {
      if (pc_ >= program_.size()) {
        fault("it ran past its end");
        break;
      }
      out_.path.push_back({pc_, -1});
      const Insn& in = program_[pc_];
      ++pc_;
      if (in.code > 0xff)
        fault("a code above 0xff");
      else
        execute(in);
    }
    return std::move(out_);
  }

 private:
  void execute(const Insn& in) {
    switch (in.code & 0x07) {  // BPF_CLASS
      case 0x00:               // BPF_LD
        return load(a_, in, in.code & 0xf8, true);
      case 0x01:  // BPF_LDX
        return load(x_, in, in.code & 0xf8, false);
      case 0x02:  // BPF_ST
        return store(a_, in);
      case 0x03:  // BPF_STX
        return store(x_, in);
      case 0x04:  // BPF_ALU
        return compute(in.code & 0xf0, (in.code & 0x08) != 0, in.k);
      case 0x05:  // BPF_JMP
        return jump(in);
      case 0x06:  // BPF_RET
        if (in.code == 0x06) return end(in.k);
        if (in.code == 0x16) return end(a_);
        return fault("a return of something other than K or A");
      default:  // BPF_MISC
        if (in.code == 0x07) {
          x_ = a_;
        } else if (in.code == 0x87) {
          a_ = x_;
        } else {
          fault("an unknown move between registers");
        }
    }
  }

  // `how` combines BPF_MODE and BPF_SIZE. The only valid size is BPF_W.
  void load(std::uint64_t& to, const Insn& in, unsigned how, bool into_a) {
    if (how == 0x00) {  // BPF_IMM
      to = in.k;
    } else if (how == 0x20 && into_a) {  // BPF_ABS
      if (in.k >= 64 || in.k % 4 != 0) return fault("a load from outside of seccomp_data");
      to = input_[in.k / 4];
    } else if (how == 0x60) {  // BPF_MEM
      if (in.k >= 16 || (written_ >> in.k & 1) == 0)
        return fault("a load from a word of M[] that is not set");
      to = memory_[in.k];
    } else if (how == 0x80) {  // BPF_LEN
      to = 64;
    } else {
      fault("a load that seccomp does not know");
    }
  }

  void store(std::uint64_t from, const Insn& in) {
    if (in.code > 0x03 || in.k >= 16) return fault("a store outside of M[]");
    memory_[in.k] = from;
    written_ |= 1u << in.k;
  }

  void compute(unsigned operation, bool by_x, std::uint32_t k) {
    const std::uint64_t by = by_x ? x_ : k;
    switch (operation) {
      case 0x00:  // BPF_ADD
        a_ = (a_ + by) & kWord;
        return;
      case 0x10:  // BPF_SUB
        a_ = (a_ + (kWord + 1) - by) & kWord;
        return;
      case 0x20:  // BPF_MUL
        a_ = (a_ * by) & kWord;
        return;
      case 0x30:  // BPF_DIV
        if (by_x) out_.path.back().outcome = by == 0 ? 1 : 0;
        if (by == 0) return by_x ? end(0) : fault("a division by the constant 0");
        a_ = a_ / by;
        return;
      case 0x40:  // BPF_OR
        a_ = a_ | by;
        return;
      case 0x50:  // BPF_AND
        a_ = a_ & by;
        return;
      case 0x60:  // BPF_LSH
      case 0x70:  // BPF_RSH
        if (!by_x && by > 31) return fault("a shift by a constant above 31");
        a_ = operation == 0x60 ? (a_ << by % 32) & kWord : a_ >> by % 32;
        return;
      case 0x80:  // BPF_NEG
        if (by_x) return fault("a negation of X");
        a_ = ((~a_ & kWord) + 1) & kWord;
        return;
      case 0xa0:  // BPF_XOR
        a_ = (a_ | by) - (a_ & by);
        return;
      default:  // seccomp refuses BPF_MOD
        return fault("arithmetic that seccomp does not know");
    }
  }

  void jump(const Insn& in) {
    const std::uint64_t by = (in.code & 0x08) != 0 ? x_ : in.k;
    bool holds = false;
    switch (in.code & 0xf0) {
      case 0x00:  // BPF_JA
        if (in.code != 0x05) return fault("a jump by X");
        pc_ += in.k;
        return;
      case 0x10:  // BPF_JEQ
        holds = a_ == by;
        break;
      case 0x20:  // BPF_JGT
        holds = a_ > by;
        break;
      case 0x30:  // BPF_JGE
        holds = !(a_ < by);
        break;
      case 0x40:  // BPF_JSET
        holds = (a_ & by) != 0;
        break;
      default:
        return fault("an unknown jump");
    }
    out_.path.back().outcome = holds ? 1 : 0;
    pc_ += holds ? in.jt : in.jf;
  }

  void end(std::uint64_t value) {
    out_.value = static_cast<std::uint32_t>(value);
    ended_ = true;
  }
  void fault(const char* what) {
    out_.fault = what;
    ended_ = true;
  }

  std::span<const Insn> program_;
  const std::array<std::uint32_t, 16>& input_;
  std::size_t pc_ = 0;
  std::uint64_t a_ = 0;
  std::uint64_t x_ = 0;
  std::array<std::uint64_t, 16> memory_{};
  std::uint32_t written_ = 0;  // bit k: M[k]
  bool ended_ = false;
  NaiveRun out_;
};

}  // namespace

NaiveRun run_naively(std::span<const Insn> program, const std::array<std::uint32_t, 16>& input) {
  return Evaluation(program, input).run();
}

}  // namespace secequiv::fuzz
