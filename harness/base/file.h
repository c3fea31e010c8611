// Reads and writes whole files. Owns the limit on input size and the rule that an output appears
// completely or not at all. It must not know what the files contain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace secequiv {

// The largest accepted input, in bytes. The largest sensible input (a raw program of some 100,000
// instructions, or a policy) is far smaller. A larger file gets a clear error instead of filling
// the memory.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

// What messages call an input: its path, or "<stdin>" for "-".
std::string shown_name(const std::string& path);

// The bytes of `path`, or of standard input when `path` is "-". Errors: kIo (cannot open or read,
// is a directory, larger than `limit` bytes); `where` is the path. For a missing file
// the error suggests similar names in its folder.
Result<std::string> read_file(const std::string& path, std::size_t limit = kMaxInputBytes);

// Writes `bytes` to a temporary file beside what `path` names (links are followed, not replaced),
// flushes it to the disk and renames it; on failure the old file stays and the temporary one is
// removed. "-" writes to standard output, flushed and checked. Two kinds are written in place:
// files that are not regular (a pipe, /dev/stdout), and writable files in a folder that accepts no
// new files. Without `flush` the file is complete too, but a power cut may undo it: for output that
// can be made again.
Status write_file(const std::string& path, std::string_view bytes, bool flush = true);

}  // namespace secequiv
