// When do two findings have the same cause? Owns that guess: a reduced program with its constants
// replaced by their order of appearance and the pass to blame, or what a crash said with its
// numbers taken out.
#pragma once

#include <string>

#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// "ld w0; jeq k0 +0 +1; ret r0; ret r1": equal for programs that differ in words loaded, constants
// and return values only.
std::string shape_of(ProgramView program);

// What a crash said, without its numbers and addresses, at most 160 bytes: how it ended, and of its
// standard error the line with a panic, or the last one.
std::string signature_of(std::string_view detail);

// Does the group of a finding depend on the shape of its program? Otherwise it is known before
// anything is reduced.
bool groups_by_shape(const Finding& finding);

// The finding's group: its kind, and its pass and shape or its signature. "different in
// merge-returns: ld w0; ...".
std::string group_of(const Finding& finding);

}  // namespace secequiv::hunt
