// Computes everything that a pair's HTML page shows besides the report of the check: why edges are
// infeasible, the complete difference, costs, inputs to step through. Owns how much work goes into
// each part. It must not know HTML.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/source.h"
#include "harness/report/check.h"
#include "harness/report/page.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct PageJob {
  const CheckReport& report;
  const Source& before;
  const Source& after;
  std::span<const SeccompData> inputs;  // inputs derived for the pair
  Engine engine = Engine::kDd;
  Budget budget = {};
  dd::Limits limits = {};  // for proofs by diagrams alone
  double seconds = 60;     // for each of the page's parts
  Arch host = Arch::kX86_64;
  std::string version;
  std::vector<PageFact> provenance;
};

// Returns the page, which shows the limits that ran out. Errors: kInternal.
Result<Page> page(const PageJob& job);

}  // namespace secequiv
