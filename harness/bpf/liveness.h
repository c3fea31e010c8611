// Computes which registers each instruction reads and writes, and which registers later
// instructions may still read. Owns that analysis. It must not know values.
#pragma once

#include <array>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// Sets of registers are bit masks. Bits 0..15 are M[0..15].
inline constexpr std::uint32_t kLiveA = 1u << 16;
inline constexpr std::uint32_t kLiveX = 1u << 17;

struct Access {
  std::uint32_t reads;
  std::uint32_t writes;
};

namespace detail {

// In the result, M[0] stands for the scratch word that the instruction names.
constexpr Access access_of_code(std::uint16_t code) {
  constexpr std::uint32_t slot = 1;
  switch (code) {
    case kLdWAbs:
    case kLdImm:
    case kLdLen:
      return {0, kLiveA};
    case kLdMem:
      return {slot, kLiveA};
    case kLdxImm:
    case kLdxLen:
      return {0, kLiveX};
    case kLdxMem:
      return {slot, kLiveX};
    case kSt:
      return {kLiveA, slot};
    case kStx:
      return {kLiveX, slot};
    case kTax:
      return {kLiveA, kLiveX};
    case kTxa:
      return {kLiveX, kLiveA};
    case kJeqX:
    case kJgtX:
    case kJgeX:
    case kJsetX:
      return {kLiveA | kLiveX, 0};
    case kJeqK:
    case kJgtK:
    case kJgeK:
    case kJsetK:
    case kRetA:
      return {kLiveA, 0};
    case kJa:
    case kRetK:
      return {0, 0};
    case kAddX:
    case kSubX:
    case kMulX:
    case kDivX:
    case kAndX:
    case kOrX:
    case kXorX:
    case kLshX:
    case kRshX:
      return {kLiveA | kLiveX, kLiveA};
    default:
      return {kLiveA, kLiveA};
  }
}

inline constexpr std::array<Access, 256> kAccess = [] {
  std::array<Access, 256> out{};
  for (std::uint16_t code = 0; code < 256; ++code) out[code] = access_of_code(code);
  return out;
}();

}  // namespace detail

inline Access access_of(const Insn& in) {
  const Access& access = detail::kAccess[in.code & 0xff];
  if (((access.reads | access.writes) & 1) == 0) return access;
  const std::uint32_t slot = in.k % kMemWords;
  const auto named = [&](std::uint32_t mask) { return (mask & ~1u) | (mask & 1) << slot; };
  return {named(access.reads), named(access.writes)};
}

// Returns, for each instruction, the registers whose values may matter from there on. Operands do
// not matter if nothing reads the result; the divisor of DIV|X always matters. Operands of a
// conditional jump with equal targets matter only if `every_outcome` is set. Precondition: the
// kernel accepts the program, except for its length.
std::vector<std::uint32_t> live_registers(ProgramView program, bool every_outcome);

}  // namespace secequiv
