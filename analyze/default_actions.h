// Chooses the default actions of a lifted policy. Owns this choice: of the default action, of the
// default ranges, and of the action of x32 calls. It must not know rules (lift.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "harness/policy/policy.h"
#include "verify/dd/ranges.h"

namespace secequiv {

// Numbers with one function of the other fields.
using Numbers = dd::WordRange;
inline constexpr std::uint32_t kMostListed = 1024;  // numbers of a range that rules name
// Returns whether the range is too long for rules, which name single numbers. If it has one action,
// this is the policy's default action, a default range or the action of x32 calls.
bool is_long(const Numbers& numbers);
std::size_t length(const Numbers& numbers);

// An architecture (x86_64 also stands for x32) with its ranges of numbers in ascending order.
struct Calls {
  const ArchInfo* arch;
  std::vector<Numbers> numbers;
};

// Precondition: all numbers have the x32 bit, or none.
Arch arch_of(const ArchInfo& info, const Numbers& numbers);

// Returns the action, if a function of the other fields has only one.
using ConstantAction = std::function<std::optional<std::uint32_t>(dd::NodeId)>;

// Sets the three members of `out`, so that few rules remain. Divides the shorter ranges of x86_64,
// so that all numbers of one range have the x32 bit, or none. Preconditions: `calls` are the
// architectures of `out`, and each long range has one action.
void choose_default_actions(std::vector<Calls>& calls, const ConstantAction& constant, Policy& out);

}  // namespace secequiv
