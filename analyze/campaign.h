// A fuzzing campaign on a pair: the prover's inputs and the stored ones first, then fuzzing, then
// the same account as `check`. Owns the order of these steps and what a folder of inputs gets. It
// must not know how fuzzing works (fuzz/pair) nor where the programs came from.
#pragma once

#include "analyze/check_pair.h"
#include "analyze/derived.h"
#include "fuzz/pair/fuzz.h"
#include "harness/base/clock.h"

namespace secequiv {

struct CampaignOptions {
  CheckOptions check;
  pair::FuzzOptions fuzz;                  // an empty corpus means a temporary folder
  bool minimize = false;                   // leave one input for each edge in the corpus
  Clock::time_point start = Clock::now();  // of seed_seconds and derived_seconds
};

// As check_pair, with the same verdicts; sets `fuzz` of the report. Calls `derive` when the
// prover's inputs have been run. Without a proof, kUnknown
// if fuzzing was interrupted. Errors: kIo, kUsage without libFuzzer, those of `derive`, kInternal
// also if inputs contradict what was proven.
Result<CheckReport> campaign(const SideReport& before, const SideReport& after, Sameness sameness,
                             const Derive& derive, const CampaignOptions& options);

}  // namespace secequiv
