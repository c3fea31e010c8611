// Owns a second, independent acceptance check, which applies each rule to the whole program. It
// must share no code with harness/bpf/refusal.h except struct sock_filter.
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
  std::string_view rule;  // "length", "unknown_code", ...: the names in vector files
  std::size_t pc;
};

// Returns the kernel's first refusal. It skips the rule `without`: tests use this to check that a
// comparison detects a missing rule.
std::optional<NaiveRefusal> check_naively(std::span<const Insn> program,
                                          std::string_view without = {});

}  // namespace secequiv::fuzz
