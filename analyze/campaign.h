// Runs a fuzzing campaign on a pair: first the inputs from the prover and from the corpus, then
// fuzzing, then the steps of `check`. Owns the order of these steps, and which inputs the corpus
// receives. It must not know how fuzzing works (fuzz/pair) nor where the programs came from.
#pragma once

#include "analyze/check_pair.h"
#include "analyze/derived.h"
#include "fuzz/pair/fuzz.h"
#include "harness/base/clock.h"

namespace secequiv {

struct CampaignOptions {
  CheckOptions check;
  pair::FuzzOptions fuzz;                  // an empty corpus means a temporary folder
  bool minimize = false;                   // keep only one input for each edge in the corpus
  Clock::time_point start = Clock::now();  // seed_seconds and derived_seconds count from here
};

// Returns the report of check_pair(), with the same verdicts and with `fuzz` set. Calls `derive`
// after running the prover's inputs. If the user interrupted fuzzing and there is no proof, the
// verdict is kUnknown. Errors: kIo; kUsage without libFuzzer; those of `derive`; kInternal, also if
// inputs contradict a proof.
Result<CheckReport> campaign(const SideReport& before, const SideReport& after, Sameness sameness,
                             const Derive& derive, const CampaignOptions& options);

}  // namespace secequiv
