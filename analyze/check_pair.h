// The main job on a pair of programs: run the inputs, compare, account for every edge of the
// optimized program, prove. Owns the order of these steps and the rule for the verdict. It must not
// know where the programs came from.
#pragma once

#include <span>

#include "harness/base/result.h"
#include "harness/report/check.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct CheckOptions {
  Engine engine = Engine::kDd;
  Budget budget = {};  // the time for the equivalence proof, and again for all edges together
  bool require_installable = true;  // the kernel must accept the optimized program, length included
  bool prove = true;                // without, inputs and edges alone decide
  Arch host = Arch::kX86_64;        // whose kernel's cache the optimized program may not lose
  bool allow_cache_loss = false;    // or may it
  Oracle oracle = {};               // is also asked about every input run; or nothing
  std::string_view inputs_name = "the derived inputs";  // what a difference is found by
};

// `before` may be longer than 4096 instructions (it is an optimizer's input); `after` may not,
// unless options.require_installable is off. Verdicts, the first that fits: kRejected; kFail
// (the oracle says that our interpreter is wrong, and nothing above that counts); kDifferent (with
// a replayed witness); kFail (a cached call is lost, which is certain whatever ran out); kUnknown
// (a limit ran out, or the oracle cannot be asked about a program that the kernel would take);
// kPass (nothing differs, every obligation covered or proven infeasible, equivalence proven if
// asked for). Errors: kInternal, and those of the oracle.
Result<CheckReport> check_pair(const SideReport& before, const SideReport& after, Sameness sameness,
                               std::span<const SeccompData> inputs, const CheckOptions& options);

}  // namespace secequiv
