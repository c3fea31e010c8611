// Measures how well inputs, fuzzing and proofs find small mistakes. Owns running, proving and
// fuzzing each single-point mutant of a program against the program itself. It must not know where
// inputs come from or which mutants exist (compare/mutants.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/mutation_report.h"
#include "harness/seccomp/data.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct InputSet {
  std::string name;
  std::vector<SeccompData> inputs;
};

struct MutationOptions {
  Sameness sameness = Sameness::kRaw;
  double fuzz_seconds = 1;  // limit for one mutant; 0: no fuzzing
  std::uint64_t seed = 1;   // for fuzzing and for choosing mutants to prove
  bool prove_all = false;   // otherwise: unkilled mutants, and `sample` killed ones
  std::size_t sample = 1000;
  Engine engine = Engine::kDd;
  Budget budget = {};  // for one proof
  // Size limit for the lists of inputs that reach each instruction. If the inputs need longer
  // lists, they run in several portions.
  std::size_t list_entries = std::size_t{1} << 25;
  // Called often, with the current step and its progress.
  std::function<void(std::string_view step, std::size_t done, std::size_t total)> progress = {};
};

// Runs all input sets in order, then proves. It fuzzes the mutants that no input kills and that are
// not proven equivalent. Fuzzing knows the two programs and the inputs, but not the place of the
// change. Precondition: the kernel accepts the program, except that it may be too long. Errors:
// kInternal if a proof contradicts a run, or a witness does not replay.
Result<MutationReport> score_mutants(ProgramView program, std::span<const InputSet> inputs,
                                     const MutationOptions& options);

}  // namespace secequiv
