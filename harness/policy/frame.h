// What every program made of a policy has around its rules, however these are rendered: the choice
// by architecture, and the test for the vsyscall page. It must not know rules.
#pragma once

#include <functional>

#include "harness/bpf/builder.h"
#include "harness/seccomp/data.h"

namespace secequiv::detail {

// The whole program. For each element of `arches`, whose AUDIT_ARCH_* value is `audit(element)`,
// `emit(element)` writes what decides its calls and does not run out at its end.
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

// Goes on if bit 63 of the instruction pointer is set, else to `outside`.
inline void require_vsyscall(Builder& code, Endian endian, Label outside) {
  const Label inside = code.label();
  code.load(half_word(kIpField, true, endian));
  code.branch(kJsetK, 0x80000000, inside, outside);
  code.bind(inside);
}

}  // namespace secequiv::detail
