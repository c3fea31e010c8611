// Compares our model of the kernel (its checker and interpreter) with a kernel on random programs.
// Owns the choice of programs and what counts as a disagreement. It must not print.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/pair.h"
#include "harness/kernel/oracle.h"

namespace secequiv::kernel {

struct SelfCheckOptions {
  std::size_t programs = 20000;  // legal and nearly legal programs, to compare acceptance
  std::size_t inputs = 64;       // for each evaluated program
  std::size_t one_in = 4;        // one in this many legal programs is evaluated
  std::uint64_t seed = 1;
  // The model. Tests replace it by a wrong one.
  std::function<bool(ProgramView)> accepts;
  std::function<std::vector<std::uint32_t>(ProgramView, std::span<const SeccompData>)> evaluate;
  Kernel* kernel = &running();                // the reference
  std::function<bool()> stop;                 // called every few hundred programs
  std::function<void(std::size_t)> progress;  // gets the number of programs so far
};

struct SelfCheckReport {
  std::string release;    // the kernel's release
  std::string booted_as;  // Kernel::booted_as()
  std::uint64_t seed = 1;
  std::size_t programs = 0;
  std::size_t accepted = 0;   // programs that the kernel accepted
  std::size_t evaluated = 0;  // programs that were evaluated
  std::size_t evaluations = 0;
  std::size_t no_room = 0;  // programs without room for the instructions that make results readable
  std::size_t opcodes = 0;  // distinct opcodes in the evaluated programs
  std::size_t legal_opcodes = 0;  // all opcodes that seccomp accepts
  bool interrupted = false;
  double seconds = 0;
  // The first program on which the model and the kernel disagree, with either a witness or the
  // kernel's acceptance.
  std::optional<Program> program;
  std::optional<bool> kernel_accepts;
  std::optional<Witness> witness;
};

// Runs the comparison until the first disagreement. Errors: those of accepts() and of evaluate().
Result<SelfCheckReport> self_check(const SelfCheckOptions& options);

}  // namespace secequiv::kernel
