// Importer for seccomp profiles as containers ship them: the OCI runtime-spec "seccomp" object and
// the richer file format of Docker, Podman and containerd (archMap, includes / excludes). Owns that
// format's meaning, which is runc's: entries whose action equals the default are dropped;
// conditions of one entry must all hold, except that an entry naming one argument twice means any
// of its conditions; several entries for one call and action mean any of them, and one without
// conditions is all that counts of a call, the first if there are more; on 32-bit
// ABIs (i386, arm, x32) only the low half of an argument is compared. An errno's name counts to
// Podman alone: where it is not the number that Docker and runc read, that is said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

struct OciOptions {
  Arch arch = Arch::kX86_64;  // the host's architecture; sub-architectures come from the profile
  std::vector<std::string>
      capabilities;  // "CAP_SYS_ADMIN", ...: what the container is granted (includes/excludes)
  std::string kernel = "6.1";  // host kernel, for includes.minKernel
};

struct OciImport {
  Policy policy;
  std::vector<std::string>
      skipped;  // what has no effect, or is not known here, with why; for people
  std::vector<std::string> unclear;  // what the format leaves open
};

// "6.1", "6.1.2-rc1": does OciOptions::kernel take it?
bool is_kernel_version(std::string_view text);
// What is wrong with one; empty if nothing is.
std::string kernel_version_problem(std::string_view text);

// Errors: kParse, kPolicy with a JSON pointer.
Result<OciImport> import_oci(std::string_view text, const std::string& name,
                             const OciOptions& options);

}  // namespace secequiv
