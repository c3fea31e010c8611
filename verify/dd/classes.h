// Owns what a filter decides for each class of inputs that the kernel cannot tell apart
// (harness/seccomp/input_class.h). It must not know questions (compared.h).
#pragma once

#include <optional>

#include "harness/seccomp/data.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Returns a function that is constant on each class: the class's most permissive action, with all
// data that its members return with it. `members` is the set of inputs that count; others do not
// contribute, and a class without members has the leaf no_member(). Precondition: the decisions are
// normalized (kBehaviour). Computed return values exhaust the space.
Decisions over_classes(Space& space, const Decisions& decisions, NodeId members);

NodeId no_member(Space& space);

// Returns the levels of the bits that the kernel ignores in a call.
Diagrams::Levels ignored_levels(const Space& space, std::uint32_t audit, std::uint32_t nr);

// Returns the function with all bits set as in `data`, except the free ones. Precondition: there
// are no symbols.
NodeId around(Space& space, NodeId function, const SeccompData& data, const Diagrams::Levels& free);

// Returns the input of `set` that equals `data` but for the free bits, whose values are the
// smallest. Returns nothing if a limit is reached. Precondition: there is one.
std::optional<SeccompData> nearest_member(Space& space, NodeId set, const SeccompData& data,
                                          const Diagrams::Levels& free);

}  // namespace secequiv::dd
