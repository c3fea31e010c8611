// Reads the options of the C interface. Owns the checks of struct secequiv_options, whose size may
// differ from ours, and its defaults. It must not know any function of the interface.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "api/c/secequiv.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"
#include "harness/import/import.h"
#include "harness/seccomp/action.h"
#include "verify/decide/decide.h"

namespace secequiv::api {

struct Options {
  Sameness sameness = Sameness::kRaw;
  bool refines = false;
  Engine engine = Engine::kDd;
  bool any_length = false;
  double seconds = 60;
  std::size_t mib = 1024;
  std::size_t regions = 20;
  std::string assume;
  std::optional<Form> form;
  OciOptions oci;  // includes the host's architecture
  std::string filter;
  std::optional<PolicyFormat> policy_format;
};

// Reads the options. `given` may be NULL. Errors: kUsage with the member's name in `where`.
Result<Options> read_options(const secequiv_options* given);

}  // namespace secequiv::api
