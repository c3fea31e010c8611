// Comments for a program's listing: what is loaded, compared and returned, in the field's words.
// Owns the naming of system calls, architectures, argument halves and actions in listings. It must
// not change or judge programs.
#pragma once

#include <string>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// One comment per instruction, possibly empty: "A = nr", "nr == openat (x86_64)", "return ERRNO(1
// EPERM)". System calls are named after the architecture tested on the way; where several lead to
// one place, nothing is claimed. Works on any program; one that check() refuses gets comments for
// loads and returns only.
std::vector<std::string> annotate(ProgramView program);

}  // namespace secequiv
