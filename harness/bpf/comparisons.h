// Emits comparisons of 64-bit fields, or of one word, with constants: the high halves first,
// because a word of BPF has 32 bits. Owns their code. It must not know policies.
#pragma once

#include <cstdint>

#include "harness/bpf/builder.h"

namespace secequiv::detail {

// The words of a field. A field that is not wide has only the low word.
struct FieldWords {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  bool wide = false;
};

// Emits a jump to `yes` if (field & mask) == value, else to `no`.
inline void emit_masked_equal(Builder& code, const FieldWords& field, std::uint64_t mask,
                              std::uint64_t value, Label yes, Label no) {
  const auto half = [&](std::uint32_t word, std::uint64_t half_mask, std::uint64_t half_value,
                        Label then) {
    code.load(word);
    if (static_cast<std::uint32_t>(half_mask) != 0xffffffff)
      code.mask(static_cast<std::uint32_t>(half_mask));
    code.branch(kJeqK, static_cast<std::uint32_t>(half_value), then, no);
  };
  if (field.wide) {
    const Label low = code.label();
    half(field.high, mask >> 32, value >> 32, low);
    code.bind(low);
  }
  half(field.low, mask, value, yes);
}

// Emits a jump to `yes` if field > value (`low_code` is kJgtK) or field >= value (kJgeK), else to
// `no`. The high halves decide unless they are equal.
inline void emit_above(Builder& code, const FieldWords& field, std::uint16_t low_code,
                       std::uint64_t value, Label yes, Label no) {
  if (field.wide) {
    const auto high_value = static_cast<std::uint32_t>(value >> 32);
    const Label not_above = code.label();
    const Label low = code.label();
    code.load(field.high);
    code.branch(kJgtK, high_value, yes, not_above);
    code.bind(not_above);
    code.branch(kJeqK, high_value, low, no);
    code.bind(low);
  }
  code.load(field.low);
  code.branch(low_code, static_cast<std::uint32_t>(value), yes, no);
}

}  // namespace secequiv::detail
