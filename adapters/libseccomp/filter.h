// Owns all calls of libseccomp, and a description of filters for them: actions, architectures, and
// rules with at most one comparison for each argument. It must not know policies (express.h),
// because their header uses names that the kernel's headers define as macros.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/serve/serve.h"

namespace adapter {

enum class Compare : std::uint8_t { kNe, kLt, kLe, kEq, kGe, kGt, kMaskedEq };

struct Condition {
  unsigned argument = 0;
  Compare op = Compare::kEq;
  std::uint64_t a = 0;
  std::uint64_t b = 0;  // kMaskedEq: the value; `a` is then the mask
};

struct FilterRule {
  std::uint32_t action = 0;
  std::uint32_t nr = 0;
  std::vector<Condition> conditions;  // all must hold
};

struct FilterArch {
  std::string name;  // the architecture's name in libseccomp
  std::vector<FilterRule> rules;
};

struct FilterSpec {
  std::uint32_t default_action = 0;
  std::uint32_t bad_arch_action = 0;
  bool tree = false;  // SCMP_FLTATR_CTL_OPTIMIZE 2
  bool big_endian = false;
  std::vector<FilterArch> arches;
};

// Returns the raw program. The status is unsupported if libseccomp refuses the filter: it checks a
// filter before it compiles, so a refusal is not a compiler bug.
Answer compile(const FilterSpec& spec);

}  // namespace adapter
