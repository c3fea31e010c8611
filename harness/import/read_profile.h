// Reads system call profiles (seccomp/profile.h). Owns the text forms of their counts: the tables
// of `strace -c`, lines with a name and a number, and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// Reads the counts in `text` and returns them most frequent first, then by name. The counts of a
// call that occurs several times are added, so tables of several ABIs become one profile. The
// content selects the form:
//   - the output of `strace -c`: one or more tables, in any locale, with any columns (-U) that
//     include calls and syscall; strace's own messages ("strace: ...") are skipped;
//   - lines `name calls`; both forms may have blank lines and lines that start with '#';
//   - JSON: an object {"futex": 870063}, or a list [{"name": "futex", "calls": 870063}].
// Names need not be those of known system calls. Errors: kParse with file:line (JSON: those of
// parse_json_lines and JsonCursor), also for a truncated table, a sum above 2^64-1, and a text
// without counts.
Result<std::vector<SyscallCount>> read_profile(std::string_view text, const std::string& name);

}  // namespace secequiv
