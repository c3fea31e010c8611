// Measures the memory of this process. Owns how the system reports it. It must not know limits.
#pragma once

#include <cstddef>

namespace secequiv {

// Returns the bytes of this process that are in use and not parts of files; 0 if the system does
// not report them.
std::size_t memory_in_use();

// Returns freed memory to the system where the C library can do so.
void return_freed_memory();

}  // namespace secequiv
