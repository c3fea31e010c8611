// Writes comments for a program's listing: what is loaded, compared and returned. Owns the naming
// of system calls, architectures, argument halves and actions in listings. It must not change
// programs or check them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// Returns one comment per instruction, possibly empty: "A = nr", "nr == openat", "nr > 0x101
// (openat)", "return ERRNO(1 EPERM)". Names of system calls belong to the architecture that the
// path has tested. `assumed` is the architecture where no path has tested one. The comment shows a
// number if paths with different architectures meet, or if there is neither a tested nor an assumed
// one. If the kernel refuses the program, only loads and returns get comments.
std::vector<std::string> annotate(ProgramView program, std::optional<Arch> assumed = std::nullopt);

}  // namespace secequiv
