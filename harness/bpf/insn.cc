#include "harness/bpf/insn.h"

#include <array>

namespace secequiv {
namespace {

constexpr std::array kTable = {
#define SECEQUIV_INSN(name, code, mnemonic, operand, seccomp) \
  InsnInfo{code, #name, mnemonic, Operand::operand, (seccomp) != 0},
#include "harness/bpf/insn.def"
#undef SECEQUIV_INSN
};

// Maps a code to its row number + 1, and unknown codes to 0.
constexpr std::array<std::uint8_t, 256> kIndex = [] {
  std::array<std::uint8_t, 256> index{};
  for (std::size_t i = 0; i < kTable.size(); ++i)
    index[kTable[i].code] = static_cast<std::uint8_t>(i + 1);
  return index;
}();

}  // namespace

std::span<const InsnInfo> insn_table() { return kTable; }

const InsnInfo* insn_info(std::uint16_t code) {
  if (code >= kIndex.size() || kIndex[code] == 0) return nullptr;
  return &kTable[kIndex[code] - 1];
}

}  // namespace secequiv
