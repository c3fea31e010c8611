// Reports which system calls the kernel answers from its cache without running a filter, as text
// and JSON. Owns the report value and both shapes. It must not know how the caches are found.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/report/pair_notes.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// All lists hold names of system calls.
struct CacheReport {
  // The running kernel's bitmap, compared with our model's.
  struct Bitmap {
    std::size_t numbers = 0;              // number of calls that the bitmap covers
    std::vector<std::string> unfiltered;  // the kernel never runs a filter for these
    std::vector<std::string> only_model;  // cached in our model, not in the kernel
    std::vector<std::string> only_kernel;

    [[nodiscard]] bool agrees() const { return only_model.empty() && only_kernel.empty(); }
  };
  struct Side {
    std::vector<std::string> cached;
    std::size_t constant = 0;      // number of calls whose action depends on their number alone
    std::optional<Bitmap> bitmap;  // empty if it was not read, or if the kernel has none
  };
  struct OneArch {
    Arch arch;
    std::size_t numbers = 0;  // number of calls that a bitmap covers
    Side before;
    Side after;  // if there are two filters
    std::vector<std::string> lost;
    std::vector<std::string> gained;
  };
  bool two = false;           // whether there are two filters, before and after
  bool loss_allowed = false;  // whether losing cached calls is permitted
  // Release of the kernel whose bitmaps were read; empty if none were read.
  std::string release;
  std::vector<OneArch> arches;
  ReadNotes notes = {};

  [[nodiscard]] bool loses() const;
  [[nodiscard]] bool agrees() const;  // whether the kernel agrees with our model
  [[nodiscard]] Verdict verdict() const;
};

// Returns the text. Its last line is the verdict, unless the report is about one filter and does
// not compare the kernel's bitmap.
std::string cache_text(const CacheReport& report);
nlohmann::ordered_json to_json(const CacheReport& report);  // schema "secequiv.cache/1"

}  // namespace secequiv
