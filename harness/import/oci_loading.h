// Container runtimes, and what makes them refuse to load a profile. Owns the runtimes' names and
// their checks (README.md names the sources). It must not know what a profile means (import_oci.h).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

class JsonCursor;

enum class Runtime : std::uint8_t { kRunc, kCrun, kYouki, kPodman };
// In the order of Runtime.
inline constexpr std::array<std::string_view, 4> kRuntimeNames = {"runc", "crun", "youki",
                                                                  "podman"};
using RuntimeSet = std::bitset<kRuntimeNames.size()>;

inline RuntimeSet every_runtime() { return RuntimeSet().set(); }
// Returns the runtimes with these names; every runtime if there are none.
RuntimeSet runtimes_named(std::span<const std::string> names);
// Returns "runc, crun and podman".
std::string runtimes_text(RuntimeSet runtimes);

// Some runtimes refuse to load the profile.
struct LoadFailure {
  RuntimeSet runtimes;
  std::string reason;
  RulePosition position;

  // Returns "profile.json:2 (syscalls[0]): crun does not load this profile: ..."
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string problem() const;  // the same text without the position
};

// Collects why runtimes refuse a profile, in the order of the profile.
class LoadChecks {
 public:
  // `unclear` receives notes for people about parts whose meaning depends on the runtime.
  LoadChecks(Arch host, std::vector<std::string>& unclear) : host_(host), unclear_(unclear) {}

  void check_default(const JsonCursor& profile, std::uint32_t action);
  void check_flag(const JsonCursor& at, const std::string& name);
  void check_arch(const JsonCursor& at, const std::string& name);
  void check_entry(const JsonCursor& entry, const std::vector<std::string>& names,
                   std::uint32_t action);
  // Notes that `call` has an entry with the conditions of an earlier one and another action.
  void refuse_repeated(const std::string& call, const std::string& earlier,
                       const RulePosition& position);
  // Returns the failures of these runtimes. Errors: kRejected if none of them loads the profile.
  Result<std::vector<LoadFailure>> failures(RuntimeSet runtimes) &&;

 private:
  void refuse(RuntimeSet runtimes, std::string reason, const JsonCursor& at);
  void check_errno(const JsonCursor& holder, const std::string& key, const JsonCursor& action_at,
                   std::uint32_t action, bool is_used);
  void check_errno_name(const JsonCursor& holder, const std::string& key, std::uint32_t action);

  Arch host_;
  std::vector<std::string>& unclear_;
  std::vector<LoadFailure> failures_;
};

}  // namespace secequiv
