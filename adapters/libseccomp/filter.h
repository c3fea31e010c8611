// What libseccomp is told, in words of its own: actions, architectures, rules of at most one
// comparison per argument. Owns all calls of libseccomp; must not know policies (express.h), whose
// header has names that the kernel's headers define as macros.
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
  std::uint64_t b = 0;  // the value of kMaskedEq
};

struct FilterRule {
  std::uint32_t action = 0;
  std::uint32_t nr = 0;
  std::string name;                   // of the system call, or empty
  std::vector<Condition> conditions;  // all hold
};

struct FilterArch {
  std::string name;  // as libseccomp knows it
  std::vector<FilterRule> rules;
};

struct FilterSpec {
  std::uint32_t default_action = 0;
  std::uint32_t bad_arch_action = 0;
  bool tree = false;  // SCMP_FLTATR_CTL_OPTIMIZE 2
  std::vector<FilterArch> arches;
};

// The program, raw; unsupported if libseccomp says no, since it checks before it compiles.
Answer compile(const FilterSpec& spec);

}  // namespace adapter
