// Owns what a filter decides for each class of inputs that the kernel cannot tell apart
// (harness/seccomp/input_class.h). It must not know questions (compared.h).
#pragma once

#include "harness/seccomp/input_class.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

enum class Extreme : std::uint8_t { kMostPermissive, kLeastPermissive };

// Returns a function that is constant on each class: the class's most (or least) permissive action,
// with all data that its members return with it. `members` is the set of inputs that count; others
// do not contribute, and a class without members has the leaf no_member(). Precondition: the
// decisions are normalized (kBehaviour). Computed return values exhaust the space.
Decisions over_classes(Space& space, const Decisions& decisions, NodeId members, Extreme extreme);

NodeId no_member(Space& space);

// Returns the part of `function` for the class of `data`, as a function of the bits that the kernel
// ignores.
NodeId within_class(Space& space, NodeId function, const SeccompData& data);

}  // namespace secequiv::dd
