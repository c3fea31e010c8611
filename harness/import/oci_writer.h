// Writes policies as seccomp profiles of containers: the OCI runtime-spec "seccomp" object. Owns
// the choice of entries, and the errors about policies that such a profile cannot express. It must
// not know how profiles are read (import_oci.h).
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Returns a profile for runtimes on a host with one of the policy's architectures. The text omits
// what does not affect decisions: names, positions, hot system calls. An entry applies to all
// architectures, and this function does not find all rules that differ between them, so callers
// must prove that import_oci() reads the same decisions. Errors: kPolicy, with the region and the
// reason.
Result<std::string> write_oci(const Policy& policy, const std::string& name);

}  // namespace secequiv
