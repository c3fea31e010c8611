// Owns the guess of whether two findings have the same cause. Two wrong answers count as one cause
// if the same pass made them and their reduced programs differ only in values. Two crashes count as
// one cause if their messages differ only in numbers. It must not know how findings are reduced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fuzz/hunt/assess.h"
#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// Returns text like "ld w0; jeq k0 +0 +1; ret r0; ret r1". It is equal for programs that differ
// only in loaded words, constants and return values.
std::string shape_of(ProgramView program);

// Returns the cause of a failure, or its detail if it has no cause, without numbers and addresses,
// at most 160 bytes.
std::string signature_of(std::string_view detail, std::string_view cause);

// Returns what two findings of one kind share if they can have the same cause: the signature of a
// crash, or the kernel's rule that an answer breaks.
std::string manner_of(FindingKind kind, std::string_view detail, std::string_view cause,
                      std::optional<RefusalRule> rule);

// Returns manner_of() for the finding, together with the finding's pass.
std::string manner_with_pass(const Finding& finding);

// Returns whether the problem can have the cause of the finding. A crash in another place, or an
// answer that breaks another rule of the kernel, is a different finding.
bool same_manner(const Problem& problem, const Finding& finding);

// Returns whether the wrong decision has a value that no reachable return of the program has, and
// no division by 0 gives. A wrong path or word seldom leads to such a value.
bool has_foreign_value(ProgramView program, const std::optional<Witness>& witness,
                       Sameness sameness);

// Returns whether a finding's group depends on the shape of its reduced program. Otherwise the
// group is known before the reduction.
bool groups_by_shape(const Finding& finding);

// Returns the finding's group: its kind, then its pass and shape, or its signature. Example:
// "different in merge-returns: ld w0; ...".
std::string group_of(const Finding& finding);

}  // namespace secequiv::hunt
