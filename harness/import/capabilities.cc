#include "harness/import/capabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  if (is_capability(name)) return {};
  return fmt::format("expected a capability's name (CAP_...), found '{}'{}", name,
                     did_you_mean(similar_names(name, kNames)));
}

}  // namespace secequiv
