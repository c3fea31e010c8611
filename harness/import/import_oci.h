// Importer for seccomp profiles of containers: the OCI runtime-spec "seccomp" object and the richer
// file format of Docker, Podman and containerd (archMap, includes / excludes). Owns that format's
// meaning, which is runc's (README.md).
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
  std::vector<std::string> skipped;  // for people: what has no effect or is unknown, and why
  std::vector<std::string> unclear;  // for people: what depends on the runtime
};

// Is `text` a version that OciOptions::kernel accepts: "6.1", "6.1.2-rc1"?
bool is_kernel_version(std::string_view text);
// Why a version is not accepted; empty if it is.
std::string kernel_version_problem(std::string_view text);

// Errors: kParse, kPolicy with a JSON pointer.
Result<OciImport> import_oci(std::string_view text, const std::string& name,
                             const OciOptions& options);

}  // namespace secequiv
