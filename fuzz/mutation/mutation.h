// How good are inputs, fuzzing and proofs at finding small slips? Each single-point mutant of a
// program is run, fuzzed and proven against the program itself. Owns the order of these steps. It
// must not know where inputs come from, nor which mutants there are (compare/mutants.h).
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
  double fuzz_seconds = 1;  // at most, for one mutant; 0: no fuzzing
  std::uint64_t seed = 1;   // of fuzzing, and of the choice of proofs
  bool prove_all = false;   // else proofs for what no input kills, and for `sample` others
  std::size_t sample = 1000;
  Engine engine = Engine::kDd;
  Budget budget = {};  // for one proof
  // Of the list of which inputs reach which instruction; with more, inputs come in portions.
  std::size_t list_entries = std::size_t{1} << 25;
  // Is told often what is done, and how much of it.
  std::function<void(std::string_view step, std::size_t done, std::size_t total)> progress = {};
};

// Runs all input sets, one after the other; asks for proofs; fuzzes what no input kills and what is
// not proven equivalent, knowing the two programs and the inputs but not what was changed.
// Precondition: check() accepts the program (the length rule aside). Errors: kInternal if a proof
// contradicts a run, or a witness does not replay.
Result<MutationReport> score_mutants(ProgramView program, std::span<const InputSet> inputs,
                                     const MutationOptions& options);

}  // namespace secequiv
