// Owns running a foreign SMT-LIB 2 solver as a command: the queries, and how its answers become a
// proof. It must not know how the command's name reached it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv {
class Confinement;
}

namespace secequiv::smt {

struct ForeignSolver {
  // A command for /bin/sh. It reads the query from standard input, or from the file {}.
  std::string command;
  std::shared_ptr<const Confinement> confinement = {};  // empty: not confined
};

// Returns the solver's name in reports: "smt:" and the command.
std::string name_of(const ForeignSolver& solver);

// Answers the question; the limits are those of prove() in solver.h. `unsat` is trusted, but a
// model counts only if it replays. Any other answer is kUnknown with its reason in `detail`. The
// witness is small, but not minimal. Error: kUsage if no input meets the assumption.
Result<Proof> prove_by(const ForeignSolver& solver, const Question& question,
                       double timeout_seconds, std::size_t memory_mib = 4096,
                       double spent_seconds = 0);

// An answer to (check-sat), and to (get-value) if that followed it.
struct ForeignAnswer {
  enum class Kind : std::uint8_t { kUnsat, kSat, kUnknown };
  Kind kind = Kind::kUnknown;
  std::vector<std::uint32_t> values;  // one for each name
  std::string problem;                // for kUnknown
};

// Reads the output of a solver. If `names` is not empty, the answer `sat` must be followed by the
// values of these 32-bit constants, in any order.
ForeignAnswer read_foreign(std::string_view output, std::span<const std::string> names);

}  // namespace secequiv::smt
