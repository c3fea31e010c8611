// Reads and writes whole files. Owns the limit on input size, and ensures that an output appears
// completely or not at all. It must not know what the files contain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace secequiv {

// The largest accepted input, in bytes. Real inputs (a raw program with 100,000 instructions, or a
// policy) are far smaller. The limit keeps an endless input from filling the memory.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

// Returns the name that reports and messages use for an input: its path after printable(), or
// "<stdin>" for "-".
std::string shown_name(const std::string& path);

// Returns the bytes of `path`, or of standard input if `path` is "-". Errors: kIo if it cannot be
// opened or read, is a directory, or is larger than `limit` bytes; `where` is the path. For a
// missing file the error suggests similar names in its folder. The error is kBudget if the user
// interrupts before the input is complete.
Result<std::string> read_file(const std::string& path, std::size_t limit = kMaxInputBytes);

// Returns whether a second read_file() finds the same. A FIFO or another process's pipe is empty
// once it has been read: a second read would find nothing, or would wait.
bool can_be_read_again(const std::string& path);

// Writes `bytes` to a temporary file beside the target of `path`, flushes it to the disk and
// renames it. It follows symbolic links and does not replace them. On failure it removes the
// temporary file, and the old file stays. "-" writes to standard output. It writes in place to
// files that are not regular (a pipe, /dev/stdout), and to writable files in a folder that accepts
// no new files. Without `flush`, a power failure may lose the file; this suits output that can be
// made again.
Status write_file(const std::string& path, std::string_view bytes, bool flush = true);

}  // namespace secequiv
