// A filter in a report. Owns this value. It must not know any report.
#pragma once

#include <optional>
#include <string>

#include "harness/bpf/refusal.h"

namespace secequiv {

struct SideReport {
  std::string name;  // the origin of the program
  Program program;
  // Set if the kernel would refuse the program, for example for more than 4096 instructions.
  std::optional<Refusal> refusal;
  bool of_policy = false;  // whether we compiled it from a policy, without optimization

  // Returns the refusal to show to people. Nobody installs our own compilation, so its length is
  // not a finding.
  [[nodiscard]] const Refusal* finding() const {
    return refusal && !(of_policy && refusal->rule == RefusalRule::kLength) ? &*refusal : nullptr;
  }
};

}  // namespace secequiv
