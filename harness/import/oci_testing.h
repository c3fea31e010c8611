// Owns container profiles for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/import/import_oci.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::oci_testing {

inline constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
inline constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | 1;

inline OciImport imported(const std::string& text, const OciOptions& options = {}) {
  auto result = import_oci(text, "oci", options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text() << "\n" << text;
  return {};
}

inline std::vector<std::string> texts(const std::vector<UnknownName>& names) {
  std::vector<std::string> out;
  for (const UnknownName& name : names) out.push_back(name.text());
  return out;
}

// Returns a profile for x86_64 that returns EPERM for all calls without an entry.
inline std::string profile(const std::string& entries) {
  return R"j({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [)j" +
         entries + "]}";
}

inline std::uint32_t decided(const OciImport& import, std::uint32_t nr,
                             std::initializer_list<std::uint64_t> args = {}) {
  return decide(import.policy, call(Arch::kX86_64, nr, args));
}

}  // namespace secequiv::oci_testing
