// Reading whole files and writing whole files. Owns the limits on input size and the rule that an
// output appears complete or not at all. It must not know what is inside the files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace secequiv {

// Largest input file accepted, in bytes. The largest sensible input (a raw program of some 100,000
// instructions, or a policy) is well below this; anything larger is refused with a clear error
// instead of filling memory.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

// What messages call an input: its path, or "<stdin>" for "-".
std::string shown_name(const std::string& path);

// The bytes of `path`, or of standard input when `path` is "-". Errors: kIo (cannot open or read,
// is a directory, larger than `limit` bytes); `where` is the path. Of a file that
// does not exist the error names those in its folder that may have been meant.
Result<std::string> read_file(const std::string& path, std::size_t limit = kMaxInputBytes);

// Writes `bytes` to a temporary file beside what `path` names (links are followed, not replaced),
// flushes it to the disk and renames it; on failure the old file is untouched and the temporary one
// removed. "-" writes to standard output, flushed and checked. Written in place: what is not a
// regular file (a pipe, /dev/stdout), there being nothing to keep, and a writable file whose folder
// takes no new files. Without `flush`, for what can be made again: whole still, but a power cut may
// undo it.
Status write_file(const std::string& path, std::string_view bytes, bool flush = true);

}  // namespace secequiv
