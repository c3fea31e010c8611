#include "harness/import/capabilities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "harness/base/table.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

constexpr std::array<std::string_view, 41> kNames = {"CAP_CHOWN",
                                                     "CAP_DAC_OVERRIDE",
                                                     "CAP_DAC_READ_SEARCH",
                                                     "CAP_FOWNER",
                                                     "CAP_FSETID",
                                                     "CAP_KILL",
                                                     "CAP_SETGID",
                                                     "CAP_SETUID",
                                                     "CAP_SETPCAP",
                                                     "CAP_LINUX_IMMUTABLE",
                                                     "CAP_NET_BIND_SERVICE",
                                                     "CAP_NET_BROADCAST",
                                                     "CAP_NET_ADMIN",
                                                     "CAP_NET_RAW",
                                                     "CAP_IPC_LOCK",
                                                     "CAP_IPC_OWNER",
                                                     "CAP_SYS_MODULE",
                                                     "CAP_SYS_RAWIO",
                                                     "CAP_SYS_CHROOT",
                                                     "CAP_SYS_PTRACE",
                                                     "CAP_SYS_PACCT",
                                                     "CAP_SYS_ADMIN",
                                                     "CAP_SYS_BOOT",
                                                     "CAP_SYS_NICE",
                                                     "CAP_SYS_RESOURCE",
                                                     "CAP_SYS_TIME",
                                                     "CAP_SYS_TTY_CONFIG",
                                                     "CAP_MKNOD",
                                                     "CAP_LEASE",
                                                     "CAP_AUDIT_WRITE",
                                                     "CAP_AUDIT_CONTROL",
                                                     "CAP_SETFCAP",
                                                     "CAP_MAC_OVERRIDE",
                                                     "CAP_MAC_ADMIN",
                                                     "CAP_SYSLOG",
                                                     "CAP_WAKE_ALARM",
                                                     "CAP_BLOCK_SUSPEND",
                                                     "CAP_AUDIT_READ",
                                                     "CAP_PERFMON",
                                                     "CAP_BPF",
                                                     "CAP_CHECKPOINT_RESTORE"};

// oci/caps/defaults.go in moby
constexpr std::array<std::string_view, 14> kDocker = {
    "CAP_CHOWN",   "CAP_DAC_OVERRIDE", "CAP_FSETID",           "CAP_FOWNER",
    "CAP_MKNOD",   "CAP_NET_RAW",      "CAP_SETGID",           "CAP_SETUID",
    "CAP_SETFCAP", "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
    "CAP_KILL",    "CAP_AUDIT_WRITE"};

struct Set {
  std::string_view name;
  std::span<const std::string_view> members;
  std::string_view text;
};
constexpr std::array kSets = {Set{"CAP_ALL", kNames, "all capabilities"},
                              Set{"CAP_DOCKER", kDocker, "Docker's default capabilities"}};

// Returns the members of a set, or nothing if no set has this name.
std::span<const std::string_view> members(std::string_view name) {
  const auto* const set = entry_of(kSets, name, &Set::name);
  return set == nullptr ? std::span<const std::string_view>() : set->members;
}

}  // namespace

std::span<const std::string_view> capability_names() { return kNames; }

bool is_capability(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end();
}

std::string capability_name(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out.empty() || out.starts_with("CAP_") ? out : "CAP_" + out;
}

std::string capability_problem(std::string_view name) {
  if (is_capability(name) || !members(name).empty()) return {};
  auto similar = similar_names(name, kSets | std::views::transform(&Set::name));
  if (similar.empty()) similar = similar_names(name, kNames);
  return fmt::format("expected a capability's name (CAP_...), ALL or DOCKER, found '{}'{}", name,
                     did_you_mean(similar));
}

std::string capabilities_text(std::span<const std::string> granted) {
  if (granted.empty()) return "no capabilities";
  for (const Set& set : kSets)
    if (std::ranges::is_permutation(granted, set.members)) return std::string(set.text);
  return fmt::format("{}", fmt::join(granted, " "));
}

std::vector<std::string> granted_capabilities(std::span<const std::string> names) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(out, name) == out.end()) out.emplace_back(name);
  };
  for (const std::string& name : names) {
    if (is_capability(name)) add(name);
    for (const std::string_view member : members(name)) add(member);
  }
  return out;
}

}  // namespace secequiv
