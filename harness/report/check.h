// The report of `check`, and of `fuzz` for a fixed pair. Owns the values of this report and its
// three forms: text, JSON and cases. It must not run or prove anything (analyze/check_pair.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/cache_change.h"
#include "harness/compare/direction.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/proof.h"
#include "harness/report/describe.h"
#include "harness/report/pair_notes.h"
#include "harness/report/reported.h"
#include "harness/report/side.h"

namespace secequiv {

// The result of fuzzing a pair, in addition to the check.
struct CampaignReport {
  double seconds = 0;
  unsigned jobs = 0;
  std::uint64_t runs = 0;         // runs of libFuzzer, each with several inputs
  std::uint64_t evaluations = 0;  // inputs run through both programs
  std::uint64_t seed = 1;
  bool interrupted = false;
  std::string not_run;  // the reason if there was no fuzzing; else empty

  std::size_t seeds = 0;         // inputs that the prover found
  std::size_t seeds_met = 0;     // obligations that these inputs cover together
  double seed_seconds = 0;       // from the start until all seeds were run
  double derived_seconds = 0;    // from the start until all derived and stored inputs were run
  double last_edge_seconds = 0;  // from the start of fuzzing to the last new edge; 0: none was new

  std::string corpus;               // the folder that the user gave, or empty
  std::size_t stored = 0;           // inputs read from it
  std::size_t added = 0;            // inputs that the run added to the folder
  std::optional<std::size_t> kept;  // inputs left after minimization
};

struct CheckReport {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  // one sentence: what decided the verdict
  Sameness sameness = Sameness::kRaw;
  SideReport before;
  SideReport after;

  std::uint64_t inputs = 0;       // derived inputs, distinct
  std::uint64_t dropped = 0;      // combinations that the derivation left out
  std::uint64_t evaluations = 0;  // inputs run through both programs, including the prover's
  std::uint64_t obligations = 0;  // the optimized program's instructions and outcomes
  std::uint64_t covered_by_inputs = 0;
  std::uint64_t covered_by_witnesses = 0;  // covered only by the prover's inputs
  std::vector<Obligation> infeasible;      // proven
  std::vector<Feasibility> open;           // undecided obligations; empty in a passing report
  std::string listing;                     // the optimized program with its final coverage

  std::vector<CacheChange> cache;   // empty if a program is refused
  bool cache_loss_allowed = false;  // whether losing cached calls is permitted

  std::vector<SeccompData> own_inputs;  // more inputs that ran: the prover's and stored ones
  std::optional<Witness> witness;       // preferably one that loosens the filter most
  std::optional<Direction> direction;   // set if there is a witness
  DecidingRules rules = {};             // the rules that decide the witness
  Arch host = Arch::kX86_64;            // for names
  std::optional<Proof> proof;
  std::optional<CampaignReport> fuzz;
  std::optional<OracleReport> oracle;  // programs: the unoptimized, then the optimized one

  double run_seconds = 0;
  double coverage_seconds = 0;  // spent on proofs about edges
  double proof_seconds = 0;

  PairNotes notes = {};
  bool all_traces = false;  // whether the text shows traces of two policies, too

  // Returns whether both sides are policies. Texts then do not call the second one optimized.
  [[nodiscard]] bool policies() const { return before.of_policy && after.of_policy; }
  [[nodiscard]] std::string_view before_role() const {
    return policies() ? "first policy" : "unoptimized program";
  }
  [[nodiscard]] std::string_view after_role() const {
    return policies() ? "second policy" : "optimized program";
  }

  // Returns how many obligations were not examined, because a difference was found first.
  [[nodiscard]] std::uint64_t not_examined() const {
    return obligations - covered_by_inputs - covered_by_witnesses - infeasible.size() - open.size();
  }
};

// Returns the text: both programs first, the verdict last. It ends with a newline.
std::string check_text(const CheckReport& report);
// Returns the text of check_text() for the HTML page: one line replaces both traces, because the
// page shows them elsewhere.
std::string check_summary(const CheckReport& report);

void describe(Fields<CacheChange>& change);
void describe(Fields<CampaignReport>& fuzz);
void describe(Fields<CheckReport>& report);

ReportedCases reported(const CheckReport& report, const std::string& command,
                       const SideFiles& files);

}  // namespace secequiv
