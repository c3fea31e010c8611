// Checks a pair of programs: it runs the inputs, compares the results, accounts for every edge of
// the optimized program, and proves equivalence. Owns the order of these steps and the rule for the
// verdict. It must not know where the programs came from.
#pragma once

#include <optional>
#include <span>

#include "harness/base/result.h"
#include "harness/report/check.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct CheckOptions {
  Engine engine = Engine::kDd;
  Budget budget = {};  // one time limit for the equivalence proof, and again for all edges together
  bool require_installable = true;  // the kernel must accept `after`, including its length
  bool prove = true;                // otherwise inputs and edges alone decide
  Arch host = Arch::kX86_64;        // the kernel whose cache must not lose calls
  bool allow_cache_loss = false;    // lost calls are not failures
  Oracle oracle = {};               // also runs every input; may be empty
  // Results of an earlier step with the same engine, which are not decided again.
  std::optional<Proof> proof = {};
  std::span<const Obligation> infeasible = {};
  std::string_view inputs_name = "the derived inputs";  // how the reason names `inputs`
};

// Returns the report. `before` may be longer than 4096 instructions, as optimizers' inputs often
// are; `after` may not, unless options.require_installable is off. The verdict is the first of
// these that applies:
// - kRejected: the kernel refuses a program;
// - kFail: the oracle contradicts our interpreter, so no other result counts;
// - kDifferent: a replayed witness exists;
// - kFail: a cached call is lost;
// - kUnknown: a limit was reached, or the oracle has no room for a program that the kernel accepts;
// - kPass: nothing differs, every obligation is covered or proven infeasible, and equivalence is
//   proven if options.prove is on.
// Errors: kInternal, and those of the oracle.
Result<CheckReport> check_pair(const SideReport& before, const SideReport& after, Sameness sameness,
                               std::span<const SeccompData> inputs, const CheckOptions& options);

}  // namespace secequiv
