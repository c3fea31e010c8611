// Runs two programs on the same inputs. Owns running a pair of programs, and minimizing an input on
// which they differ. It must not prove anything (verify/) nor print (report/).
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

// An input on which a pair differs, with both results. Only `replay` creates witnesses, so the two
// results always differ.
struct Witness {
  SeccompData data;
  std::uint32_t before;
  std::uint32_t after;
};

// Runs both programs on `data`. Returns a witness if they differ, else nothing.
std::optional<Witness> replay(const Pair& pair, const SeccompData& data);

struct PairRun {
  std::uint64_t evaluations = 0;   // inputs run through both programs
  std::optional<Witness> witness;  // the first difference; the run stops there
  bool interrupted = false;        // the run stopped early (base/interrupt.h)
};

// Runs `inputs` through both programs and adds the coverage of `after` to `coverage`, a map of
// pair.after.
PairRun run_pair(const Pair& pair, std::span<const SeccompData> inputs, CoverageMap& coverage);

// Returns a smaller input on which the pair still differs. The search runs the programs: it clears
// whole words, then single bits from the top, until it can clear no further bit. It tries nr last,
// and changes arch only if the architecture is unknown. It is deterministic and usually needs about
// 500 runs.
Witness minimize(const Pair& pair, const Witness& witness);
// Minimizes in the same way for any kind of difference: `witness_of` returns a witness if an input
// shows it, else nothing.
Witness minimize(const Witness& witness,
                 const std::function<std::optional<Witness>(const SeccompData&)>& witness_of);

// One executed instruction.
struct TraceStep {
  std::size_t pc;
  std::uint32_t a;  // registers before the instruction runs
  std::uint32_t x;
  std::optional<bool> outcome;  // the outcome of a conditional jump or DIV|X
};

struct Trace {
  std::vector<TraceStep> steps;
  std::uint32_t result;
};

Trace trace(ProgramView program, const SeccompData& input);

}  // namespace secequiv
