// Rewrites rules as the entries of OCI profiles, which nest no conditions and have no order: each
// entry has at most one test of each argument, and all its tests must hold. Owns this rewriting. It
// must not know profiles (oci_writer.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A longer list of entries for one call and one action is an error, because nobody could read it.
inline constexpr std::size_t kMostOciAlternatives = 64;

// Returns rules that together match the inputs that `rule` matches and none of `earlier` does, on
// this architecture. Each is kMatchAll, or has kind kArgs, operators of OCI profiles only, and
// whole arguments. libseccomp reads them as oci_rule_on() does. The list is empty if there are no
// such inputs. Errors: kPolicy without `where`, with the reason why entries cannot express this.
Result<std::vector<Rule>> oci_alternatives(Arch arch, const Rule& rule,
                                           std::span<const Rule> earlier);

}  // namespace secequiv
