// Whole programs from a rewrite: code with values in place of symbols, between instructions that
// fill the registers from the input and instructions that return the live state. Owns this frame.
#pragma once

#include <utility>

#include "verify/rules/rule.h"

namespace secequiv::rules {

// `before` and `after` for these values, as programs the kernel takes (after, of a rule that is
// right): A, X and M[] are words of the input at the entry; what an exit returns depends on which
// it is and on everything that is live there and spoken of (two states may still return the same).
// Precondition: both sides are code, and the condition speaks of symbols alone.
std::pair<Program, Program> whole_programs(const Instance& instance, const Assignment& assignment);

// Why no such programs exist; empty if they do.
std::string_view no_programs(const Instance& instance);

}  // namespace secequiv::rules
