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

// Returns one comment per instruction, possibly empty: "A = nr", "nr == openat", "return ERRNO(1
// EPERM)". System calls are named after the architecture that was tested on the path. If paths with
// different architectures meet, the comment shows the number. `assumed` is the architecture of
// calls where the program has not tested any; without it the comment shows the number. If the
// kernel refuses the program, only loads and returns get comments.
std::vector<std::string> annotate(ProgramView program, std::optional<Arch> assumed = std::nullopt);

}  // namespace secequiv
