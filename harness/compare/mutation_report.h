// What a mutation score is made of. Owns the counts and the rule for the verdict, so that reports
// need neither engines nor inputs to show them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/mutants.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

namespace secequiv {

// Of the mutants of one operator, or of all.
struct MutationCounts {
  std::size_t mutants = 0;     // that the kernel accepts; each is in exactly one of the next five
  std::size_t by_inputs = 0;   // killed by derived inputs
  std::size_t by_fuzzing = 0;  // killed by fuzzing, not by derived inputs
  std::size_t survived = 0;    // killed by neither, but proven different
  std::size_t equivalent = 0;  // proven
  std::size_t undecided = 0;   // killed by neither, and no proof
  std::size_t refused = 0;     // by the kernel's check; not among `mutants`
  // Proofs asked: for every mutant that no derived input kills, and for some or all of the others.
  std::size_t proofs = 0;
  std::size_t proven_different = 0;  // with a witness that was run
  std::size_t unproven = 0;          // a limit ran out; `proofs` is these three

  [[nodiscard]] std::size_t different() const { return by_inputs + by_fuzzing + survived; }
  MutationCounts& operator+=(const MutationCounts& other);
};

// Inputs of one origin, and the mutants killed by them and by none before them.
struct InputSetCounts {
  std::string name;
  std::size_t inputs = 0;
  std::size_t killed = 0;
};

// A mutant that derived inputs do not kill and that is not proven equivalent.
struct MissedMutant {
  Mutant mutant;
  std::optional<Witness> witness;  // of the proof; before: the program, after: the mutant
  std::optional<Witness> fuzzed;   // what fuzzing found
  std::string detail;              // of the proof, if it was not decided
};

struct MutationReport {
  std::array<MutationCounts, kMutationOperators> operators = {};
  std::vector<InputSetCounts> inputs;
  std::vector<MissedMutant> missed;  // by pc
  Sameness sameness = Sameness::kRaw;
  bool all_proven = false;   // proofs were asked for all mutants
  double fuzz_seconds = 0;   // at most, for one mutant
  double input_seconds = 0;  // spent
  double proof_seconds = 0;
  double fuzzing_seconds = 0;

  [[nodiscard]] MutationCounts total() const;
  // kFail if a mutant survived; kUnknown if one is undecided, or a proof was not decided; else
  // kPass.
  [[nodiscard]] Verdict verdict() const;
};

}  // namespace secequiv
