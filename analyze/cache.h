// Finds the system calls that the kernel answers from its cache, for one filter or before and after
// a change. Owns the job that makes the report. It must not know files.
#pragma once

#include <functional>
#include <span>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/kernel/bitmap.h"
#include "harness/report/cache.h"
#include "verify/dd/space.h"

namespace secequiv {

// Reads the running kernel's bitmaps for each stack. kernel::bitmaps does this, and needs libbpf.
using BitmapReader = std::function<Result<std::vector<std::vector<kernel::Bitmap>>>(
    std::span<const std::vector<ProgramView>> stacks)>;

struct CacheJob {
  std::vector<Stack> stacks;  // one stack, or the stacks before and after the change
  Arch host = Arch::kX86_64;
  bool allow_loss = false;
  dd::Limits limits = {};
  // Reads the bitmaps to compare with; only for host x86_64; may be empty.
  BitmapReader read_bitmaps = {};
  std::string release = {};  // of the kernel that has these bitmaps
};

// Returns the report. Errors: kBudget if the limits are reached, and those of `read_bitmaps`.
Result<CacheReport> cache(const CacheJob& job);

}  // namespace secequiv
