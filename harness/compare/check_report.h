// Everything `secequiv check` finds out about a pair, as data. Owns the shape of the report;
// report/ renders it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bpf/check.h"
#include "harness/compare/cache_change.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/proof.h"

namespace secequiv {

// One side of the pair.
struct SideReport {
  std::string name;  // where the program came from
  Program program;
  std::optional<Refusal> refusal;  // by the kernel's rules, length included
};

// What `secequiv fuzz` did with a pair besides checking it.
struct PairFuzzReport {
  double seconds = 0;
  unsigned jobs = 0;
  std::uint64_t runs = 0;         // of libFuzzer, each of several inputs
  std::uint64_t evaluations = 0;  // inputs run through both programs
  std::uint64_t seed = 1;
  bool interrupted = false;
  std::string not_run;  // why there was no fuzzing at all, if there was none

  std::size_t seeds = 0;         // inputs that the prover found, together meeting `seeds_met`
  std::size_t seeds_met = 0;     // obligations
  double seed_seconds = 0;       // from the start until all of them were run
  double derived_seconds = 0;    // until all derived and stored inputs were run
  double last_edge_seconds = 0;  // into the fuzzing, when an edge was met that no input had

  std::string corpus;               // folder, empty if none was given
  std::size_t stored = 0;           // inputs read from it
  std::size_t added = 0;            // inputs in it now that were not
  std::optional<std::size_t> kept;  // after minimization
};

struct CheckReport {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  // one sentence: what decided the verdict
  Sameness sameness = Sameness::kRaw;
  SideReport before;
  SideReport after;

  std::uint64_t inputs = 0;       // derived inputs, distinct
  std::uint64_t dropped = 0;      // combinations left out of the derivation
  std::uint64_t evaluations = 0;  // inputs run through both programs, edge witnesses included
  std::uint64_t obligations = 0;  // of the optimized program: instructions and outcomes
  std::uint64_t covered_by_inputs = 0;
  std::uint64_t covered_by_witnesses = 0;  // met by the prover's inputs only
  std::vector<Obligation> infeasible;      // proven
  std::vector<Feasibility> open;           // neither covered nor proven: never in a passing report
  std::string listing;                     // of the optimized program, with the final coverage

  std::vector<CacheChange> cache;   // from before to after; empty of a refused program
  bool cache_loss_allowed = false;  // calls lost from the cache do not count against the pair

  std::vector<SeccompData> own_inputs;  // run besides those given: the prover's, stored ones
  std::optional<Witness> witness;
  std::optional<Proof> proof;
  std::optional<PairFuzzReport> fuzz;
  std::optional<OracleReport> oracle;  // of the unoptimized program, then of the optimized one

  double run_seconds = 0;
  double coverage_seconds = 0;  // proving edges
  double proof_seconds = 0;

  // Obligations that nobody looked at, as a difference was found before.
  [[nodiscard]] std::uint64_t not_looked_at() const {
    return obligations - covered_by_inputs - covered_by_witnesses - infeasible.size() - open.size();
  }
};

}  // namespace secequiv
