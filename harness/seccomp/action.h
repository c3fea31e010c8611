// Defines what a filter's 32-bit return value means to the kernel. Owns action names, data bits,
// the precedence among stacked filters, and the two notions of "same decision". It must not know
// what a filter computes. Source: __seccomp_filter and seccomp_run_filters (kernel/seccomp.c),
// include/uapi/linux/seccomp.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/bpf/interpreter.h"

namespace secequiv {

inline constexpr std::uint32_t SECCOMP_RET_KILL_PROCESS = 0x80000000;
inline constexpr std::uint32_t SECCOMP_RET_KILL_THREAD = 0x00000000;
inline constexpr std::uint32_t SECCOMP_RET_TRAP = 0x00030000;
inline constexpr std::uint32_t SECCOMP_RET_ERRNO = 0x00050000;
inline constexpr std::uint32_t SECCOMP_RET_USER_NOTIF = 0x7fc00000;
inline constexpr std::uint32_t SECCOMP_RET_TRACE = 0x7ff00000;
inline constexpr std::uint32_t SECCOMP_RET_LOG = 0x7ffc0000;
inline constexpr std::uint32_t SECCOMP_RET_ALLOW = 0x7fff0000;

inline constexpr std::uint32_t SECCOMP_RET_ACTION_FULL = 0xffff0000;
inline constexpr std::uint32_t SECCOMP_RET_DATA = 0x0000ffff;
inline constexpr std::uint32_t kMaxErrno = 4095;  // MAX_ERRNO: the kernel clamps larger ERRNO data

// Selects how two return values are compared.
enum class Sameness : std::uint8_t {
  kRaw,        // all 32 bits
  kBehaviour,  // what a process can observe
  // What a process can make the kernel do. Inputs that differ only in bits that the kernel ignores
  // (input_class.h) form a class; the most permissive decisions of each class are compared.
  kEffect,
};

constexpr std::uint32_t action_of(std::uint32_t value) { return value & SECCOMP_RET_ACTION_FULL; }
constexpr std::uint32_t data_of(std::uint32_t value) { return value & SECCOMP_RET_DATA; }

// Returns one value for all return values with the same observable behaviour. It drops the data
// bits of ALLOW, LOG, KILL and USER_NOTIF, clamps ERRNO data to 4095, and turns an unknown action
// into KILL_PROCESS.
constexpr std::uint32_t behaviour_of(std::uint32_t value) {
  switch (action_of(value)) {
    case SECCOMP_RET_TRAP:
    case SECCOMP_RET_TRACE:
      return value;
    case SECCOMP_RET_ERRNO:
      return SECCOMP_RET_ERRNO | (data_of(value) > kMaxErrno ? kMaxErrno : data_of(value));
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_ALLOW:
      return action_of(value);
    default:
      return SECCOMP_RET_KILL_PROCESS;
  }
}

// For kEffect, this normalizes one return value only; classes need a proof engine.
constexpr std::uint32_t normalize(std::uint32_t value, Sameness sameness) {
  return sameness == Sameness::kRaw ? value : behaviour_of(value);
}

constexpr bool same_decision(std::uint32_t a, std::uint32_t b, Sameness sameness) {
  return normalize(a, sameness) == normalize(b, sameness);
}

// Returns the key that orders the results of stacked filters: the action as a signed number
// (ACTION_ONLY). The lowest key wins.
constexpr std::int32_t precedence(std::uint32_t value) {
  return static_cast<std::int32_t>(action_of(value));
}

// Returns whether the kernel runs the call without asking a tracer or a supervisor: ALLOW or LOG.
constexpr bool lets_run(std::uint32_t value) {
  return action_of(value) == SECCOMP_RET_ALLOW || action_of(value) == SECCOMP_RET_LOG;
}

// Returns the result of stacked filters, newest first; on a tie the newest wins. As in
// seccomp_run_filters, the search starts from ALLOW with data 0, so a stack never returns ALLOW
// with other data. A single filter's value is returned unchanged. Precondition: `filters` is not
// empty.
std::uint32_t run_stack(std::span<const ProgramView> filters, const SeccompData& input);

// Returns the name of the action without data: "ALLOW", "ERRNO", "0x00070000" for an unknown one.
std::string action_name(std::uint32_t value);

// Returns "ALLOW", "ERRNO(1 EPERM)", "TRAP(5)", "KILL_THREAD", "0x00070000 (unknown action:
// KILL_PROCESS)", ...
std::string describe_action(std::uint32_t value);

// Reads "allow", "log", "kill_process", "kill_thread", "kill" (= kill_thread), "trap", "trace" and
// "user_notif", each also with data ("trap(N)"), "errno(N)" and "errno(EPERM)", all in any case, or
// a number (0x7fff0000). N is 0..65535. Returns nothing for any other text.
std::optional<std::uint32_t> parse_action(std::string_view text);

}  // namespace secequiv
