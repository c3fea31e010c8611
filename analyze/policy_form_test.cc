// Tests that written OCI profiles mean what the policy means. write_policy_as() itself proves this,
// so these tests show that the writer finds a profile wherever there is one.
#include "analyze/policy_form.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/file.h"
#include "harness/base/random.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/import/import.h"
#include "harness/import/oci_names.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::policy_form_test {
namespace {

namespace fs = std::filesystem;

Result<std::string> oci(const Policy& policy, Arch host = Arch::kX86_64) {
  return write_policy_as(PolicyForm::kOci, policy, "p", host, {});
}

// Gives the policy the actions that container runtimes leave to libseccomp.
Policy for_containers(Policy policy) {
  policy.bad_arch_action = kOciBadArchAction;
  const bool has_x32_calls = policy.has_arch(Arch::kX86_64) && !policy.has_arch(Arch::kX32);
  policy.x32_action = has_x32_calls ? std::optional(kOciBadArchAction) : std::nullopt;
  return policy;
}

TEST(PolicyForm, RandomPoliciesBecomeProfilesOrAreRefusedForAReason) {
  Random random(1);
  int written = 0;
  int all = 0;
  for (const PolicyShape shape :
       {PolicyShape::kMatchers, PolicyShape::kRanges, PolicyShape::kProducts, PolicyShape::kCommon})
    for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kS390x})
      for (int i = 0; i < of_cases(20); ++i) {
        const Policy policy = for_containers(generate_policy(random, shape, {{arch}}));
        const auto text = oci(policy, arch);
        ++all;
        if (text) {
          ++written;
          continue;
        }
        // With one architecture, every profile that is written means what the policy means.
        EXPECT_EQ(text.error().code, ErrorCode::kPolicy) << text.error().text();
        EXPECT_EQ(text.error().text().find("applies to all"), std::string::npos)
            << text.error().text() << "\n"
            << write_policy(policy);
      }
  EXPECT_GT(written, all / 8) << all;
}

TEST(PolicyForm, ProfilesOfRuntimesAreWrittenAgain) {
  const fs::path corpus = fs::path(SECEQUIV_SOURCE_DIR) / "corpus";
  for (const char* file : {"policies/oci/docker-default.json", "policies/oci/podman-default.json"})
    for (const Arch arch : {Arch::kX86_64, Arch::kAarch64}) {
      const auto text = read_file((corpus / file).string());
      ASSERT_TRUE(text);
      ImportOptions options;
      options.oci.arch = arch;
      const auto read = import_policy(*text, file, std::nullopt, options);
      ASSERT_TRUE(read);
      const auto again = oci(read->policy, arch);
      if (again) continue;
      // libseccomp does not compile all of Podman's entries for socket as they stand there.
      EXPECT_NE(again.error().text().find("may merge them wrongly"), std::string::npos)
          << file << ": " << again.error().text();
      EXPECT_STREQ(file, "policies/oci/podman-default.json");
    }
}

// Whatever the corpus contains becomes a profile or an error with a reason.
TEST(PolicyForm, TheCorpusIsWrittenOrRefused) {
  const fs::path corpus = fs::path(SECEQUIV_SOURCE_DIR) / "corpus";
  int written = 0;
  for (const char* folder : {"policies", "imports"})
    for (const auto& entry : fs::recursive_directory_iterator(corpus / folder)) {
      const std::string path = entry.path().string();
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || extension == ".bpf" || extension == ".md") continue;
      const auto text = read_file(path);
      ASSERT_TRUE(text);
      const auto read = import_policy(*text, path, std::nullopt, {});
      if (!read) continue;  // such as one file with several filters
      const Policy policy = for_containers(read->policy);
      const auto profile = oci(policy);
      if (profile) ++written;
      if (!profile) EXPECT_EQ(profile.error().code, ErrorCode::kPolicy) << profile.error().text();
      if (!profile && policy.arches.size() == 1)
        EXPECT_EQ(profile.error().text().find("applies to all"), std::string::npos)
            << profile.error().text();
    }
  EXPECT_GE(written, 10);
}

// Returns the reason why this policy has no profile, or "" if it has one.
std::string refusal(const Policy& policy) {
  const auto text = oci(policy);
  return text ? "" : text.error().text();
}

TEST(PolicyForm, EntriesApplyToAllArchitectures) {
  const auto policy = [](const std::string& rules) {
    return policy_from(
        R"j({"version": 1, "arches": ["x86_64", "i386"], "default_action": "errno(1)",
        "bad_arch_action": "kill_thread", "x32_action": "kill_thread",
        "rule_sets": [{"action": "allow", "rules": {)j" +
        rules + "}}]}");
  };
  EXPECT_EQ(refusal(policy(R"j("read": true, "x86_64:write": {"args": {"0": {"eq": 5}}},
                               "i386:write": {"args": {"0": {"eq": 5, "bits": 32}}})j")),
            "");
  EXPECT_EQ(refusal(policy(R"j("x86_64:read": true)j")),
            "p: no OCI profile can express this policy: read: it has a rule on x86_64, but none on "
            "i386; an entry applies to all architectures that have its call");
  EXPECT_EQ(refusal(policy(R"j("x86_64:write": {"args": {"0": {"eq": 5}}},
                               "i386:write": {"args": {"0": {"eq": 6, "bits": 32}}})j")),
            "p: no OCI profile can express this policy, because an entry applies to all "
            "architectures, and on some of them also to socketcall or ipc: i386 write: newly "
            "allowed (was ERRNO(1 EPERM)) if arg0.lo == 0x5");
}

TEST(PolicyForm, WhatRuntimesReadDifferentlyIsRefused) {
  Policy policy =
      for_containers(x86_64_policy(R"j({"action": "allow", "rules": {"read": true}})j"));
  EXPECT_EQ(refusal(policy), "");
  policy.default_action = SECCOMP_RET_USER_NOTIF;
  EXPECT_NE(refusal(policy).find("runc and youki do not load this profile"), std::string::npos)
      << refusal(policy);
  // libseccomp adds a rule for socketcall.
  policy = for_containers(policy_from(
      R"j({"version": 1, "arches": ["i386"], "default_action": "errno(1)", "rule_sets": [
          {"action": "allow", "rules": {"socket": true}}]})j"));
  EXPECT_NE(refusal(policy).find("i386 socketcall: newly allowed"), std::string::npos)
      << refusal(policy);
}

TEST(PolicyForm, HasANameForEachForm) {
  for (const std::string& name : policy_form_names())
    EXPECT_TRUE(policy_form_from_name(name)) << name;
  EXPECT_FALSE(policy_form_from_name("asm"));
}

}  // namespace
}  // namespace secequiv::policy_form_test
