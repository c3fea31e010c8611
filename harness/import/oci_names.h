// libseccomp's names of actions and operators, as OCI profiles contain them. Owns these names,
// which the reader and the writer share. It must not know entries (import_oci.h).
#pragma once

#include <array>
#include <string_view>

#include "harness/policy/policy.h"
#include "harness/seccomp/action.h"

namespace secequiv {

struct OciAction {
  std::string_view name;
  std::uint32_t action;
  bool takes_errno;  // "errnoRet" gives the data of the action
};
// If an action has two names, the writer uses the first.
inline constexpr std::array<OciAction, 9> kOciActions = {{
    {"SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD, false},
    {"SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD, false},
    {"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, false},
    {"SCMP_ACT_TRAP", SECCOMP_RET_TRAP, false},
    {"SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO, true},
    {"SCMP_ACT_TRACE", SECCOMP_RET_TRACE, true},
    {"SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW, false},
    {"SCMP_ACT_LOG", SECCOMP_RET_LOG, false},
    {"SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF, false},
}};

struct OciOperator {
  std::string_view name;
  Matcher::Op op;
};
inline constexpr std::array<OciOperator, 7> kOciOperators = {{
    {"SCMP_CMP_NE", Matcher::Op::kNe},
    {"SCMP_CMP_LT", Matcher::Op::kLt},
    {"SCMP_CMP_LE", Matcher::Op::kLe},
    {"SCMP_CMP_EQ", Matcher::Op::kEq},
    {"SCMP_CMP_GE", Matcher::Op::kGe},
    {"SCMP_CMP_GT", Matcher::Op::kGt},
    {"SCMP_CMP_MASKED_EQ", Matcher::Op::kMaskedEq},
}};

// The action for wrong architectures, which runtimes leave at libseccomp's default
// (SCMP_FLTATR_ACT_BADARCH).
inline constexpr std::uint32_t kOciBadArchAction = SECCOMP_RET_KILL_THREAD;

}  // namespace secequiv
