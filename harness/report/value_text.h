// Values of arguments as text, with the names of constants. Owns this wording, which regions and
// rules share. It must not know either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/seccomp/arch.h"

namespace secequiv {

// The system call that the user asked about. Lists begin with it, and its constants have names even
// in regions that do not name the call.
struct AskedCall {
  Arch arch;
  std::uint32_t nr;
};

std::string hex_text(std::uint64_t value);

// Names the values of one argument of a call, if both are known.
struct ArgumentValues {
  std::optional<AskedCall> call;
  int argument;

  std::string operator()(std::uint64_t value) const;
  // Names bits that a mask selects: flags only, because an argument's value can have other bits.
  [[nodiscard]] std::string flags(std::uint64_t bits) const;
};

// Returns "FIELD & MASK == VALUE", or with `negated` "FIELD & MASK != VALUE".
std::string mask_text(const std::string& field, std::uint64_t mask, bool negated,
                      std::uint64_t value, const ArgumentValues& names);

}  // namespace secequiv
