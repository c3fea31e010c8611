// Two programs on the same inputs. Owns running a pair, and making a differing input small. It must
// not prove anything (verify/) nor print (report/).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "harness/coverage/coverage.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// The unoptimized and the optimized filter, and how their results are compared.
struct Pair {
  Program before;
  Program after;
  Sameness sameness = Sameness::kRaw;
};

// An input on which a pair differs, with both results. Always made by `replay`, so always true.
struct Witness {
  SeccompData data;
  std::uint32_t before;
  std::uint32_t after;
};

// Runs both programs on `data`; a witness if they differ, nothing if not.
std::optional<Witness> replay(const Pair& pair, const SeccompData& data);

struct PairRun {
  std::uint64_t evaluations = 0;   // inputs run through both programs
  std::optional<Witness> witness;  // the first difference, at which the run stops
};

// Runs `inputs` through both programs, adding the coverage of `after` to `coverage` (a map of
// pair.after).
PairRun run_pair(const Pair& pair, std::span<const SeccompData> inputs, CoverageMap& coverage);

// A smaller input on which the pair still differs, found by running only: words cleared one by one,
// then every word's bits from the top, until no bit can be cleared alone. nr is kept as long as
// possible, arch if it is one. Deterministic; some 500 runs as a rule.
Witness minimize(const Pair& pair, const Witness& witness);
// The same for what `witness_of` takes for a witness.
Witness minimize(const Witness& witness,
                 const std::function<std::optional<Witness>(const SeccompData&)>& witness_of);

// One executed instruction.
struct TraceStep {
  std::size_t pc;
  std::uint32_t a;  // registers before it runs
  std::uint32_t x;
  std::optional<bool> outcome;  // of a two-way instruction
};

struct Trace {
  std::vector<TraceStep> steps;
  std::uint32_t result;
};

Trace trace(ProgramView program, const SeccompData& input);

}  // namespace secequiv
