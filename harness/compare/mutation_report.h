// The counts of a mutation score. Owns the counts and the rule for the verdict, so that reports
// need neither engines nor inputs. It must not know how mutants are killed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/mutants.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

namespace secequiv {

// The counts for one operator, or for all.
struct MutationCounts {
  // Mutants that the kernel accepts. Each is counted in exactly one of the next five.
  std::size_t mutants = 0;
  std::size_t by_inputs = 0;   // killed by derived inputs
  std::size_t by_fuzzing = 0;  // killed by fuzzing, not by derived inputs
  std::size_t survived = 0;    // killed by neither, but proven different
  std::size_t equivalent = 0;  // proven equivalent
  std::size_t undecided = 0;   // killed by neither, and not proven equivalent or different
  std::size_t refused = 0;     // refused by the kernel's check; not part of `mutants`
  // Proofs that ran: for every mutant that no derived input kills, and for some or all of the
  // others.
  std::size_t proofs = 0;
  std::size_t proven_different = 0;  // proven different, with a replayed witness
  // A limit ran out; `proofs` is the sum of equivalent, proven_different and unproven
  std::size_t unproven = 0;

  [[nodiscard]] std::size_t different() const { return by_inputs + by_fuzzing + survived; }
  MutationCounts& operator+=(const MutationCounts& other);
};

// Inputs from one source. `killed` counts the mutants that these inputs kill and that no earlier
// source kills.
struct InputSetCounts {
  std::string name;
  std::size_t inputs = 0;
  std::size_t killed = 0;
};

// A mutant that derived inputs do not kill and that is not proven equivalent.
struct MissedMutant {
  Mutant mutant;
  // From the proof; `before` is the program's result, `after` the mutant's
  std::optional<Witness> witness;
  std::optional<Witness> fuzzed;  // the witness that fuzzing found
  std::string detail;             // why the proof did not decide
};

struct MutationReport {
  std::array<MutationCounts, kMutationOperators> operators = {};
  std::vector<InputSetCounts> inputs;
  std::vector<MissedMutant> missed;  // by pc
  Sameness sameness = Sameness::kRaw;
  bool listed = true;         // false: interrupted before all mutants were known; then none counts
  bool all_proven = false;    // proofs ran for all mutants
  std::size_t not_tried = 0;  // requested proofs that an interrupt prevented
  // The user or a limit of the command stopped the run; mutants may be undecided only for this
  // reason.
  bool interrupted = false;
  std::string stopped_by = "interrupted";  // or the limit of the command that was reached
  double fuzz_seconds = 0;                 // time limit for one mutant
  double input_seconds = 0;                // time spent
  double proof_seconds = 0;
  double fuzzing_seconds = 0;

  [[nodiscard]] MutationCounts total() const;
  // Returns kFail if a mutant survived. Otherwise returns kUnknown if not all mutants are known, if
  // a mutant is undecided, or if a requested proof did not decide or did not run; else kPass.
  [[nodiscard]] Verdict verdict() const;
};

}  // namespace secequiv
