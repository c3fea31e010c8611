// Which system calls the kernel answers from its cache, without running a filter (seccomp/cache.h),
// and what a change of the filter does to that. It must not know how filters were made.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/seccomp/cache.h"

namespace secequiv {

// Numbers on one architecture, ascending.
struct CacheChange {
  Arch arch;
  std::vector<std::uint32_t> before;  // what the kernel answers from its cache
  std::vector<std::uint32_t> after;
  std::vector<std::uint32_t> lost;    // of `before`, not of `after`
  std::vector<std::uint32_t> gained;  // the other way round
};

// The architectures that a kernel for `host` has bitmaps for: its own, and that of its 32-bit
// programs (SECCOMP_ARCH_COMPAT), if any.
std::vector<Arch> cached_arches(Arch host);

// Both sides are stacks, not empty; one side given twice has neither lost nor gained. An element
// for each of cached_arches(host).
std::vector<CacheChange> cache_changes(std::span<const ProgramView> before,
                                       std::span<const ProgramView> after, Arch host);

// Whether any architecture has lost any.
bool loses(std::span<const CacheChange> changes);

// Where a kernel's bitmap is not what we say, ascending.
struct BitmapDifference {
  std::vector<std::uint32_t> only_model;   // cached, we say, and the kernel does not
  std::vector<std::uint32_t> only_kernel;  // the other way round
};

// `bits`: the kernel's for `filters` stacked on each other, all that it has. `unfiltered`: numbers
// that it lets pass whatever filters say; none of them is a difference.
BitmapDifference bitmap_difference(std::span<const ProgramView> filters, Arch arch,
                                   const std::vector<bool>& bits,
                                   std::span<const std::uint32_t> unfiltered);

// "2 system calls from its cache: read, write (x86_64)": how many are lost, and some of them.
std::string lost_text(std::span<const CacheChange> changes);

// At most `most` of `numbers`: "read, write and 3 more"; "none" of none.
std::string shown_calls(Arch arch, std::span<const std::uint32_t> numbers, std::size_t most = 4);

// "read", or "syscall 999" of a number without a name.
std::string shown_call(Arch arch, std::uint32_t nr);

}  // namespace secequiv
