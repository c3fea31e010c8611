// Owns whole programs made from a rewrite: code with values in place of symbols, after instructions
// that fill the registers from the input and before instructions that return the live state. It
// must not know provers.
#pragma once

#include <utility>

#include "verify/rules/rule.h"

namespace secequiv::rules {

// Returns `before` and `after` for these values, as programs that the kernel accepts (it accepts
// `after` if the rule is right). At the entry, A, X and M[] are words of the input. What an exit
// returns depends on the exit and on all live state that the code mentions; two states may still
// give the same value. Precondition: no_programs(instance) is empty.
std::pair<Program, Program> whole_programs(const Instance& instance, const Assignment& assignment);

// Returns why no such programs exist, or "" if they do.
std::string_view no_programs(const Instance& instance);

}  // namespace secequiv::rules
