// Owns a second, independent evaluator, which is slow and simple. It splits opcodes into class,
// size, mode and operation as the kernel's headers define them, and computes with 64 bits. It must
// share no code with step<Domain> (harness/bpf/semantics.h) except struct sock_filter.
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
    int outcome;  // 1 if it jumps or divides by 0, else 0; -1 for instructions with one outcome
  };
  std::uint32_t value = 0;
  // Why the run ended, if an accepted program cannot end in this way; else null.
  const char* fault = nullptr;
  std::vector<Visit> path;
};

// Runs any program, legal or not.
NaiveRun run_naively(std::span<const Insn> program, const std::array<std::uint32_t, 16>& input);

}  // namespace secequiv::fuzz
