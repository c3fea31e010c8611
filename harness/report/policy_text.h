// A policy as a page for people. Owns its layout: it groups system calls by action, lists calls
// with the same rule together, and names constants. No command reads this text. It must not know
// where the policy came from.
#pragma once

#include <string>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns the condition of a rule, as alternatives of which one must hold: "arg0 == AF_UNIX &&
// arg2 != 0x1". A rule that always matches has no alternatives. `arch` and `nr` give the names of
// constants. Without `halves`, "arg0" also stands for its low half.
std::vector<std::string> rule_conditions(const Rule& rule, Arch arch, std::uint32_t nr,
                                         bool halves = true);

// Returns the architectures, the rules, and the actions for all other calls.
std::string policy_text(const Policy& policy);

}  // namespace secequiv
