// The named argument constants as a list (arch.h looks single names up).
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

// The constants whose names start with `prefix`, with the values that they have on `arch`.
std::vector<Constant> constants(Arch arch, std::string_view prefix);

}  // namespace secequiv
