#include "harness/bpf/native.h"

#include <sys/mman.h>

#include <cstring>
#include <initializer_list>
#include <vector>

namespace secequiv {
namespace {

// The compiler's sanitizers read bytes before a function that is called through a pointer.
constexpr std::size_t kBeforeEntry = 16;

// Writes x86-64 code for a function of two pointers: RDI to the words, RSI to the byte `met`. A is
// in EAX, X in ECX. M[] lies below the stack pointer, where the ABI reserves 128 bytes.
class Encoder {
 public:
  Encoder(ProgramView program, std::span<const std::uint8_t> watched)
      : program_(program), watched_(watched), starts_(program.size()) {
    code_.reserve(kBeforeEntry + 16 * program.size());
    code_.assign(kBeforeEntry, 0xcc);
    put({0xf3, 0x0f, 0x1e, 0xfa});  // ENDBR64
    put({0x31, 0xc0, 0x31, 0xc9});  // A = X = 0
  }

  const std::vector<std::uint8_t>& encode() {
    for (std::size_t pc = 0; pc < program_.size(); ++pc) {
      starts_[pc] = code_.size();
      instruction(pc, program_[pc]);
    }
    for (const Jump& jump : jumps_) {
      const auto distance = static_cast<std::uint32_t>(starts_[jump.to] - (jump.at + 4));
      std::memcpy(code_.data() + jump.at, &distance, 4);
    }
    return code_;
  }

 private:
  // A jump's distance, which is filled in at the end.
  struct Jump {
    std::size_t at;
    std::size_t to;
  };
  enum Condition : std::uint8_t { kNotBelow = 3, kEqual = 4, kNotEqual = 5, kAbove = 7 };

  void put(std::initializer_list<std::uint8_t> bytes) { code_.insert(code_.end(), bytes); }
  void put_k(std::initializer_list<std::uint8_t> bytes, std::uint32_t k) {
    put(bytes);
    for (unsigned shift = 0; shift < 32; shift += 8)
      code_.push_back(static_cast<std::uint8_t>(k >> shift));
  }
  void put_m(std::uint8_t move, std::uint8_t operands, std::uint32_t k) {
    put({move, operands, 0x24, static_cast<std::uint8_t>(4 * (k % kMemWords) - 64)});
  }
  void go(std::initializer_list<std::uint8_t> bytes, std::size_t to) {
    put_k(bytes, 0);
    jumps_.push_back({code_.size() - 4, to});
  }
  [[nodiscard]] bool watches(std::size_t pc, bool taken) const {
    return !watched_.empty() && watched_[2 * pc + (taken ? 1 : 0)] != 0;
  }
  void mark() { put({0xc6, 0x06, 0x01}); }  // met = 1

  void instruction(std::size_t pc, const Insn& in) {
    if (is_conditional(in)) {
      branch(pc, in);
    } else if (in.code == kJa) {
      go({0xe9}, jump_target(pc, in, true));
    } else if (in.code == kDivX) {
      put({0x85, 0xc9});  // the divisor
      put({0x75, static_cast<std::uint8_t>(watches(pc, true) ? 6 : 3)});
      if (watches(pc, true)) mark();
      put({0x31, 0xc0, 0xc3});  // return 0
      if (watches(pc, false)) mark();
      put({0x31, 0xd2, 0xf7, 0xf1});
    } else if ((in.code & 7) == 4) {  // BPF_ALU
      arithmetic(in);
    } else {
      move(in);
    }
  }

  void branch(std::size_t pc, const Insn& in) {
    compare(in);
    const Condition holds = condition(in.code);
    const std::size_t yes = jump_target(pc, in, true);
    if (watches(pc, true)) {
      put({static_cast<std::uint8_t>(0x70 | (holds ^ 1)), 8});  // over the mark and the jump
      mark();
      go({0xe9}, yes);
    } else {
      go({0x0f, static_cast<std::uint8_t>(0x80 | holds)}, yes);
    }
    if (watches(pc, false)) mark();
    if (in.jf != 0) go({0xe9}, jump_target(pc, in, false));
  }

  static Condition condition(std::uint16_t code) {
    switch (code) {
      case kJeqK:
      case kJeqX:
        return kEqual;
      case kJgtK:
      case kJgtX:
        return kAbove;
      case kJgeK:
      case kJgeX:
        return kNotBelow;
      default:
        return kNotEqual;
    }
  }

  void compare(const Insn& in) {
    switch (in.code) {
      case kJsetK:
        return put_k({0xa9}, in.k);
      case kJsetX:
        return put({0x85, 0xc8});
      default:
        return operand_is_x(in) ? put({0x39, 0xc8}) : put_k({0x3d}, in.k);
    }
  }

  void arithmetic(const Insn& in) {
    switch (in.code) {
      case kAddK:
        return put_k({0x05}, in.k);
      case kAddX:
        return put({0x01, 0xc8});
      case kSubK:
        return put_k({0x2d}, in.k);
      case kSubX:
        return put({0x29, 0xc8});
      case kMulK:
        return put_k({0x69, 0xc0}, in.k);
      case kMulX:
        return put({0x0f, 0xaf, 0xc1});
      case kDivK:
        put_k({0x41, 0xb8}, in.k);
        return put({0x31, 0xd2, 0x41, 0xf7, 0xf0});
      case kAndK:
        return put_k({0x25}, in.k);
      case kAndX:
        return put({0x21, 0xc8});
      case kOrK:
        return put_k({0x0d}, in.k);
      case kOrX:
        return put({0x09, 0xc8});
      case kXorK:
        return put_k({0x35}, in.k);
      case kXorX:
        return put({0x31, 0xc8});
      case kLshK:
        return put({0xc1, 0xe0, static_cast<std::uint8_t>(in.k)});
      case kLshX:  // the processor takes the low five bits of CL
        return put({0xd3, 0xe0});
      case kRshK:
        return put({0xc1, 0xe8, static_cast<std::uint8_t>(in.k)});
      case kRshX:
        return put({0xd3, 0xe8});
      default:  // kNeg
        return put({0xf7, 0xd8});
    }
  }

  void move(const Insn& in) {
    switch (in.code) {
      case kLdWAbs:
        return put({0x8b, 0x47, static_cast<std::uint8_t>(in.k)});
      case kLdImm:
        return put_k({0xb8}, in.k);
      case kLdLen:
        return put_k({0xb8}, kSeccompDataSize);
      case kLdMem:
        return put_m(0x8b, 0x44, in.k);
      case kLdxImm:
        return put_k({0xb9}, in.k);
      case kLdxLen:
        return put_k({0xb9}, kSeccompDataSize);
      case kLdxMem:
        return put_m(0x8b, 0x4c, in.k);
      case kSt:
        return put_m(0x89, 0x44, in.k);
      case kStx:
        return put_m(0x89, 0x4c, in.k);
      case kTax:
        return put({0x89, 0xc1});
      case kTxa:
        return put({0x89, 0xc8});
      case kRetK:
        put_k({0xb8}, in.k);
        return put({0xc3});
      default:  // kRetA
        return put({0xc3});
    }
  }

  ProgramView program_;
  std::span<const std::uint8_t> watched_;
  std::vector<std::size_t> starts_;  // by instruction: where its code begins
  std::vector<Jump> jumps_;
  std::vector<std::uint8_t> code_;
};

#if defined(__x86_64__) && defined(__linux__)
constexpr bool kTranslates = true;
#else
constexpr bool kTranslates = false;
#endif

}  // namespace

std::optional<NativeProgram> NativeProgram::translate(ProgramView program,
                                                      std::span<const std::uint8_t> watched) {
  if (!kTranslates) return std::nullopt;
  Encoder encoder(program, watched);
  const auto& code = encoder.encode();
  void* const memory =
      mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  std::memcpy(memory, code.data(), code.size());
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, code.size());
    return std::nullopt;
  }
  const auto entry = reinterpret_cast<Entry>(static_cast<std::uint8_t*>(memory) + kBeforeEntry);
  return NativeProgram(memory, code.size(), entry);
}

NativeProgram::~NativeProgram() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

}  // namespace secequiv
