// Lets Z3 search for values and an input on which a patched program and its policy differ. Owns the
// query, in which a patched constant is its variable. It must not know how answers are replayed
// (verify/decide/precompiled.h). Z3's own types stay in the .cc file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/verdict.h"
#include "harness/optimize/precompile.h"

namespace secequiv::smt {

struct PrecompiledAnswer {
  // A model of Z3, not yet replayed.
  struct Model {
    std::vector<std::uint32_t> values;  // of Precompiled::variables, in their order
    SeccompData data;
  };
  Verdict verdict = Verdict::kUnknown;  // or kEquivalent, kDifferent
  std::optional<Model> model;           // for kDifferent
  std::string detail;                   // for kUnknown: the limit that was reached
  double encode_seconds = 0;
  double solve_seconds = 0;
};

// Preconditions: find_fault finds nothing in `precompiled`, and it has all variables that matchers
// of `policy` name. `timeout_seconds` bounds the whole call.
PrecompiledAnswer prove(const Policy& policy, const Precompiled& precompiled,
                        double timeout_seconds, std::size_t memory_mib);

}  // namespace secequiv::smt
