// Emits the code around the rules that every compiled policy has: the choice by architecture, and
// the test for the vsyscall page. Owns that frame. It must not know rules.
#pragma once

#include <functional>

#include "harness/bpf/builder.h"
#include "harness/seccomp/data.h"

namespace secequiv::detail {

// Builds the whole program. `audit(element)` is the AUDIT_ARCH_* value of an element of `arches`.
// `emit(element)` emits the code for its calls, which must not fall through at its end.
template <class Arches, class Audit, class Emit>
Program choose_by_arch(Builder& code, const Arches& arches, const Audit& audit,
                       std::uint32_t bad_arch_action, const Emit& emit) {
  code.load(kArchWord);
  for (const auto& arch : arches) {
    const Label mine = code.label();
    const Label other = code.label();
    code.branch(kJeqK, std::invoke(audit, arch), mine, other);
    code.bind(mine);
    emit(arch);
    code.bind(other);
  }
  code.jump(code.returning(bad_arch_action));
  return code.finish();
}

// Emits code that continues if bit 63 of the instruction pointer is set, else jumps to `outside`.
inline void require_vsyscall(Builder& code, Endian endian, Label outside) {
  const Label inside = code.label();
  code.load(half_word(kIpField, true, endian));
  code.branch(kJsetK, 0x80000000, inside, outside);
  code.bind(inside);
}

}  // namespace secequiv::detail
