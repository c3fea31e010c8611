// Which inputs of each system call a filter allows and refuses, as sets. Owns when a refusal counts
// as intended. It must not know which calls have the same effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv {

// The words of the six arguments.
inline constexpr std::uint32_t kAllArgumentWords = 0xfff0;

// What happens to one call, as sets of arguments and instruction pointers. High halves of arguments
// are 0. A call that a tracer or a supervisor has to allow counts as refused, as for holes
// (verify/dd/holes.h).
struct CallSets {
  std::uint32_t nr = 0;
  dd::NodeId allowed = dd::Diagrams::kZero;    // ALLOW, LOG
  dd::NodeId refused = dd::Diagrams::kZero;    // everything else
  dd::NodeId forbidden = dd::Diagrams::kZero;  // refused, and not by pretending that it is missing
};

// Returns the inputs for which the function returns ALLOW or LOG.
dd::NodeId allowed_inputs(dd::Space& space, dd::NodeId function);

// The calls of one architecture.
class ArchCalls {
 public:
  // Precondition: the space outlives this object.
  ArchCalls(dd::Space& space, const dd::Decisions& decisions, Arch arch);

  [[nodiscard]] Arch arch() const { return info_.arch; }
  [[nodiscard]] const ArchInfo& info() const { return info_; }
  // Returns what the filter decides for this AUDIT_ARCH value.
  [[nodiscard]] dd::NodeId function() const { return function_; }
  // Returns whether unlisted calls are allowed.
  [[nodiscard]] bool allows_unlisted() const { return allows_unlisted_; }

  // Returns whether no call is refused.
  bool allows_all();
  // Returns whether every call is refused for all arguments.
  bool allows_none();
  // Returns whether some calls are allowed and some are refused.
  bool restricts();
  // Returns whether the filter refuses this call by intention: because it allows unlisted calls, or
  // because the decision depends on arguments.
  bool refuses_explicitly(const CallSets& call);

  const CallSets& of(std::uint32_t nr);
  // Returns nothing if the architecture has no such call.
  const CallSets* of(std::string_view name);
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view name) const;

  [[nodiscard]] std::uint32_t low_word(int argument) const {
    return half_word(argument, false, info_.endian);
  }

 private:
  bool allows(std::uint32_t nr) { return of(nr).allowed == dd::Diagrams::kOne; }
  CallSets make(std::uint32_t nr);

  dd::Space& space_;
  const ArchInfo& info_;
  dd::NodeId function_;
  bool allows_unlisted_ = false;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, CallSets> sets_;
};

}  // namespace secequiv
