// Owns what the conditions of a container profile's entry mean to libseccomp on one architecture.
// It must not know profiles (import_oci.h).
#pragma once

#include "harness/policy/policy.h"

namespace secequiv {

// Returns the rule as libseccomp compares on `arch`: on 32-bit ABIs only low halves of arguments.
Rule oci_rule_on(Arch arch, Rule rule);

// Returns whether the rule tests no bit, as a masked comparison with an empty mask does. libseccomp
// treats it as a rule without conditions.
bool always_holds(const Rule& rule);

// Returns whether the rules require different values of the same argument.
bool exclude_each_other(const Rule& a, const Rule& b);

}  // namespace secequiv
