// Owns the list of named argument constants (arch.h looks up single names). It must not know which
// argument takes which constants (argument_names.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

struct Constant {
  std::string_view name;
  std::uint64_t value;  // 64-bit two's complement
};

// Returns the constants whose names start with `prefix`, with the values that they have on `arch`.
std::vector<Constant> constants(Arch arch, std::string_view prefix);

}  // namespace secequiv
