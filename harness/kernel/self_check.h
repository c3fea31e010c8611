// Our model of the kernel, above all its checker and interpreter, put to the running kernel on
// random programs. Owns which programs those are and what a disagreement is. It must not print.
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
  std::size_t programs = 20000;  // legal ones and nearly legal ones, for acceptance
  std::size_t inputs = 64;       // for each of a quarter of those that are legal
  std::uint64_t seed = 1;
  // What is checked; a test puts a wrong one here.
  std::function<bool(ProgramView)> accepts;
  std::function<std::vector<std::uint32_t>(ProgramView, std::span<const SeccompData>)> evaluate;
  Evaluate kernel = kernel::evaluate;         // who says what is right; a test puts another here
  std::function<bool()> stop;                 // asked after each hundred programs or so
  std::function<void(std::size_t)> progress;  // programs so far
};

struct SelfCheckReport {
  std::string release;  // of the kernel
  std::uint64_t seed = 1;
  std::size_t programs = 0;
  std::size_t accepted = 0;   // by the kernel
  std::size_t evaluated = 0;  // programs
  std::size_t evaluations = 0;
  std::size_t no_room = 0;  // programs that have none for what makes answers readable
  std::size_t opcodes = 0;  // that programs which were evaluated contain, of
  std::size_t legal_opcodes = 0;
  bool interrupted = false;
  double seconds = 0;
  // The first program on which they disagree, and how: an input with the model's value and the
  // kernel's, or else only whether each accepts it.
  std::optional<Program> program;
  std::optional<bool> kernel_accepts;
  std::optional<Witness> witness;
};

// Stops at the first disagreement. Errors: those of accepts() and of evaluate().
Result<SelfCheckReport> self_check(const SelfCheckOptions& options);

}  // namespace secequiv::kernel
