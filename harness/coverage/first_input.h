// Finds the first input that meets each obligation of a program. Owns that search. It must not know
// where inputs come from.
#pragma once

#include <span>
#include <vector>

#include "harness/coverage/coverage.h"

namespace secequiv {

class FirstInputs {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // `feasible` is the number of feasible obligations, if it is known. After that many are met,
  // run() runs no further input. The program must outlive this object.
  explicit FirstInputs(ProgramView program, std::size_t feasible = SIZE_MAX)
      : program_(program), first_(program.size() * 3, kNone), missing_(feasible) {}

  // Runs these inputs after those of earlier calls. run() ends early after an interrupt
  // (base/interrupt.h).
  void run(std::span<const SeccompData> inputs);
  [[nodiscard]] bool complete() const { return missing_ == 0; }

  // Returns the number of the first input that meets the obligation, counted over all calls of
  // run() from 0, or kNone.
  [[nodiscard]] std::uint32_t of(const Obligation& obligation) const {
    return first_[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)];
  }
  // Returns the numbers of all inputs that are the first to meet an obligation, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> all() const;

 private:
  struct Marker;

  ProgramView program_;
  std::vector<std::uint32_t> first_;  // three per instruction: line, true, false
  std::size_t missing_;
  std::uint32_t next_ = 0;
};

}  // namespace secequiv
