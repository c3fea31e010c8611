// What a container runtime asks of libseccomp for a profile. Owns these requests, as runc makes
// them, and their text, which another process reads. It must not know libseccomp itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

struct LibraryRequest {
  // One rule: the call's name and tests that all must hold.
  struct Call {
    std::uint32_t action = 0;
    std::string name;
    std::vector<Rule> tests;  // each of kind kArgs, with one test
  };
  std::uint32_t default_action = 0;
  std::vector<Arch> arches;  // the host's first
  std::vector<Call> calls;   // in the order of the profile

  // Adds an entry for the call. `conditions` is the entry's meaning before oci_rule_on():
  // libseccomp gets one rule if all tests must hold, and a rule for each test if one is enough.
  void add(std::uint32_t action, const std::string& name, const Rule& conditions);
};

// Returns the request as text, with an item in each line:
//   default ACTION                      a number
//   arch NAME                           libseccomp's name, such as x86_64
//   rule ACTION SYSCALL [INDEX OP A B]...
// OP is ne, lt, le, eq, ge, gt or masked_eq; for masked_eq, A is the mask and B the value.
std::string to_text(const LibraryRequest& request);

}  // namespace secequiv
