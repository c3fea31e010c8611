// Compares which system calls the kernel answers from its cache, without running a filter
// (seccomp/cache.h), before and after a change of the filter. Owns these comparisons and their
// text. It must not know how filters were made.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/seccomp/cache.h"

namespace secequiv {

// All numbers belong to one architecture and are ascending.
struct CacheChange {
  Arch arch;
  // Calls that the kernel answered from its cache before the change.
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
  std::vector<std::uint32_t> lost;    // in `before` and not in `after`
  std::vector<std::uint32_t> gained;  // in `after` and not in `before`
};

// Returns the architectures for which a kernel for `host` has bitmaps: `host` and, if the kernel
// runs them, the architecture of 32-bit programs (SECCOMP_ARCH_COMPAT).
std::vector<Arch> cached_arches(Arch host);

// Returns one element for each of cached_arches(host). `before` and `after` are stacks of filters.
// Precondition: neither is empty.
std::vector<CacheChange> cache_changes(std::span<const ProgramView> before,
                                       std::span<const ProgramView> after, Arch host);

// Returns whether any architecture has lost a cached call.
bool loses(std::span<const CacheChange> changes);

// The calls for which the kernel's bitmap differs from our model's, ascending.
struct BitmapDifference {
  std::vector<std::uint32_t> only_model;   // cached in the model, not in the kernel
  std::vector<std::uint32_t> only_kernel;  // cached in the kernel, not in the model
};

// Compares `bits`, the kernel's complete bitmap for a stack of `filters`, with the model.
// `unfiltered` lists the numbers that this kernel never filters; it always caches them.
BitmapDifference bitmap_difference(std::span<const ProgramView> filters, Arch arch,
                                   const std::vector<bool>& bits,
                                   std::span<const std::uint32_t> unfiltered);

// Returns "2 system calls from its cache: read, write (x86_64)": the number of lost calls and a few
// of them.
std::string lost_text(std::span<const CacheChange> changes);

// Returns at most `most` of `numbers`: "read, write and 3 more", or "none" if there are none.
std::string shown_calls(Arch arch, std::span<const std::uint32_t> numbers, std::size_t most = 4);

// Returns "read", or "syscall 999" for a number without a name.
std::string shown_call(Arch arch, std::uint32_t nr);

// Returns "socket(0x26, 0x5)": the call and its arguments, without trailing zeros behind the first
// `least` arguments.
std::string shown_call(const SeccompData& data, int least = 0);

}  // namespace secequiv
