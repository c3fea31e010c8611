// A second acceptance check, rule by rule over the whole program, for cross-checks. Owns nothing
// else. It shares no code with harness/bpf/check.h but struct sock_filter, and must not.
//
// Source: bpf_check_basics_ok, chk_code_allowed, bpf_check_classic, check_load_and_stores
// (net/core/filter.c) and seccomp_check_filter (kernel/seccomp.c).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

struct NaiveRefusal {
  std::string_view rule;  // "length", "unknown_code", ...: the words of the vector files
  std::size_t pc;
};

// The kernel's first refusal. `without` names a rule that is left out, so that tests can see that
// its absence is noticed.
std::optional<NaiveRefusal> check_naively(std::span<const Insn> program,
                                          std::string_view without = {});

}  // namespace secequiv::fuzz
