// Helpers for tests that handle policies: they read JSON that must be valid, and build inputs. Owns
// these helpers, which need GoogleTest. It must not know BPF.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "harness/policy/json.h"

namespace secequiv {

// Reads the policy `text`. Malformed text fails the test and gives an empty policy.
inline Policy policy_from(std::string_view text) {
  auto policy = read_policy(text, "test");
  if (policy) return std::move(*policy);
  ADD_FAILURE() << policy.error().text() << "\n" << text;
  return {};
}

// Returns a policy for x86_64 with these rule sets; all other calls get errno(1).
inline Policy x86_64_policy(const std::string& rule_sets) {
  return policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": [)j" +
      rule_sets + "]}");
}

// Returns a system call on `arch` with these arguments.
inline SeccompData call(Arch arch, std::uint32_t nr, std::initializer_list<std::uint64_t> args = {},
                        std::uint64_t ip = 0) {
  const ArchInfo& info = arch_info(arch);
  SeccompData data;
  data.set_arch(info.audit);
  data.set_nr(nr);
  int field = 0;
  for (const std::uint64_t arg : args) data.set_field(field++, arg, info.endian);
  data.set_field(kIpField, ip, info.endian);
  return data;
}

}  // namespace secequiv
