// What the kernel answers from its cache without running a filter, as text and JSON. Owns the
// report value and both shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// System calls are given by name.
struct CacheReport {
  // The running kernel's own bitmap, compared with ours.
  struct Bitmap {
    std::size_t numbers = 0;              // that it has
    std::vector<std::string> unfiltered;  // the kernel never runs a filter for these
    std::vector<std::string> only_model;  // cached by our model alone
    std::vector<std::string> only_kernel;

    [[nodiscard]] bool agrees() const { return only_model.empty() && only_kernel.empty(); }
  };
  struct Side {
    std::vector<std::string> cached;
    std::size_t constant = 0;      // calls whose number alone decides their action
    std::optional<Bitmap> bitmap;  // nothing: not read, or the kernel has none
  };
  struct OneArch {
    Arch arch;
    std::size_t numbers = 0;  // that a bitmap has
    Side before;
    Side after;  // of two
    std::vector<std::string> lost;
    std::vector<std::string> gained;
  };
  bool two = false;           // filters, before and after
  bool loss_allowed = false;  // losing calls is no failure
  std::string release;        // of the kernel whose bitmaps were read; empty: none were
  std::vector<OneArch> arches;

  [[nodiscard]] bool loses() const;
  [[nodiscard]] bool agrees() const;  // the kernel with our model
  [[nodiscard]] Verdict verdict() const;
};

// The last line is the verdict, unless the report is about one filter and no kernel was read.
std::string cache_text(const CacheReport& report);
nlohmann::ordered_json to_json(const CacheReport& report);  // schema "secequiv.cache/1"

}  // namespace secequiv
