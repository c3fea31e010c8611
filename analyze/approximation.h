// Replaces decisions by stricter or looser ones, for policies that cannot express a filter. Owns
// the choice of the action, and the proof that a policy is an approximation. It must not know which
// decisions policies cannot express (lift.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv {

// Compared in the kernel's order of actions (compare_actions in harness/compare/question.h).
enum class Approximation : std::uint8_t { kStricter, kLooser };
// The names are "stricter" and "looser".
std::string_view approximation_name(Approximation approximation);
std::optional<Approximation> approximation_from_name(std::string_view name);

class Approximator {
 public:
  Approximator(dd::Space& space, Approximation approximation)
      : space_(space), approximation_(approximation) {}

  // Returns the function with constants in place of computed values.
  dd::NodeId constant_values(const dd::Decisions& decisions);
  // Returns the strictest or loosest value of the function in a set, as a leaf. Preconditions: the
  // set is not empty, and no value is computed.
  dd::NodeId one_value(dd::NodeId function, dd::NodeId set = dd::Diagrams::kOne);

 private:
  [[nodiscard]] bool wants(std::uint32_t value, std::uint32_t other) const;

  dd::Space& space_;
  Approximation approximation_;
};

// Proves that the policy's program is never more permissive (kStricter) or never stricter (kLooser)
// than the filters. Returns at most `most` of its differences in words, and a last line if there
// are more. Errors: kBudget about `name`; kInternal if the program is no such approximation.
Result<std::vector<std::string>> approximated_decisions(std::span<const ProgramView> filters,
                                                        ProgramView policy,
                                                        Approximation approximation,
                                                        const std::string& name, Arch host,
                                                        std::size_t most, const dd::Limits& limits);

}  // namespace secequiv
