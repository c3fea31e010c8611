// Whole programs from a rule: code with values in place, between instructions that fill the
// registers from the input and some that return what is live. Owns that frame.
#pragma once

#include <utility>

#include "verify/rules/rule.h"

namespace secequiv::rules {

// `before` and `after` for these values, as programs the kernel takes (after, of a rule that is
// right): A, X and M[] are words of the input at the entry; what an exit returns depends on which
// it is and on everything that is live there and spoken of (two states may still return the same).
// Precondition: both sides are code, and the condition speaks of symbols alone.
std::pair<Program, Program> whole_programs(const Instance& instance, const Assignment& assignment);

// Can it? Empty, or why not.
std::string_view no_programs(const Instance& instance);

}  // namespace secequiv::rules
