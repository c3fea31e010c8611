// A filter as reports name it. Owns that value alone.
#pragma once

#include <optional>
#include <string>

#include "harness/bpf/refusal.h"

namespace secequiv {

struct SideReport {
  std::string name;  // where the program came from
  Program program;
  std::optional<Refusal>
      refusal;             // by the kernel's rules, including its limit of 4096 instructions
  bool of_policy = false;  // compiled from one
};

}  // namespace secequiv
