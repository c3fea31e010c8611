// Reads profiles, which state how often each system call is made, for jobs that weigh costs. Owns
// which calls of a profile an architecture has. It must not know files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/seccomp/profile.h"

namespace secequiv {

struct Profile {
  std::vector<SyscallCount> counts;
  std::vector<std::string> unknown;  // names that the architecture does not have
};

Profile every_call_once(Arch arch);

// Reads `text` in any form of read_profile. Errors: those of read_profile; kPolicy if `arch` has
// none of the calls, or if no call was made.
Result<Profile> profile_for(Arch arch, std::string_view text, const std::string& name);

}  // namespace secequiv
