// A second evaluator, slow and obvious, for cross-checks: it takes opcodes apart into class, size,
// mode and operation as the kernel's headers put them together, and computes with 64 bits. Owns
// nothing else. It shares no code with step<Domain> (harness/bpf/semantics.h) but struct
// sock_filter, and must not.
//
// Source: bpf_convert_filter (net/core/filter.c), ___bpf_prog_run (kernel/bpf/core.c) and
// seccomp_check_filter (kernel/seccomp.c).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

struct NaiveRun {
  struct Visit {
    std::size_t pc;
    int outcome;  // of what has two: 1 jumps or divides by zero, 0 does not; -1 of what has one
  };
  std::uint32_t value = 0;
  // What no accepted program does, where it happened: the run ended there. Null if nothing did.
  const char* fault = nullptr;
  std::vector<Visit> path;
};

// Any program may be run.
NaiveRun run_naively(std::span<const Insn> program, const std::array<std::uint32_t, 16>& input);

}  // namespace secequiv::fuzz
