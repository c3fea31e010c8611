// What the kernel answers from its cache, for one filter or for two that follow each other. Owns
// the job that makes the report.
#pragma once

#include <functional>
#include <span>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/kernel/bitmap.h"
#include "harness/report/cache.h"
#include "verify/dd/space.h"

namespace secequiv {

// Reads the running kernel's bitmaps for each stack: kernel::bitmaps, which needs libbpf.
using BitmapReader = std::function<Result<std::vector<std::vector<kernel::Bitmap>>>(
    std::span<const std::vector<ProgramView>> stacks)>;

struct CacheJob {
  std::vector<Stack> stacks;  // one, or before and after
  Arch host = Arch::kX86_64;
  bool allow_loss = false;
  dd::Limits limits = {};
  BitmapReader read_bitmaps = {};  // for comparison; host x86_64 only; may be empty
};

// Errors: kBudget if the limits are reached, and those of `read_bitmaps`.
Result<CacheReport> cache(const CacheJob& job);

}  // namespace secequiv
