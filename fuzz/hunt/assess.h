// Owns deciding whether one answer of an optimizer or compiler under test is right: the order of
// the tests and the sentence for each failure. It must not know where programs come from, and it
// must not repeat a request.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/base/result.h"
#include "harness/compare/hunt_report.h"
#include "harness/compare/proof.h"

namespace secequiv::hunt {

// Decides equivalence within its own limits. If `thorough`, these are the limits for a user's own
// program; otherwise they are narrow, so that thousands of programs are proven each second.
using Prover = std::function<Result<Proof>(const Question&, bool thorough)>;

struct AssessOptions {
  Sameness sameness = Sameness::kRaw;
  Prover prover;          // if empty, only inputs decide
  bool thorough = false;  // passed to the prover
  bool cache = true;      // also compare the system calls in the kernel's bitmaps
};

struct Problem {
  FindingKind kind = FindingKind::kDifferent;
  std::string detail;
  std::string found_by;
  std::optional<Witness> witness;
};

struct Assessment {
  std::optional<Problem> problem;  // the worst problem
  bool grew = false;
  bool proven = false;
  std::uint64_t evaluations = 0;
};

// Runs both programs on `inputs` before it proves anything. Preconditions: the kernel accepts
// `before`, except that it may be too long, and the answer is not kUnsupported. Errors: the
// prover's kInternal.
Result<Assessment> assess(ProgramView before, const Answer<Program>& answer,
                          std::span<const SeccompData> inputs, const AssessOptions& options);

// Returns the kind of finding for a request without a usable answer.
FindingKind finding_of(Outcome outcome);

// Returns the system calls that the kernel allows without running `before`, but for which it must
// run `after`, for example "read, write and 3 more (x86_64)", or "" if there are none. Considers
// x86_64, and i386 and aarch64 if a program names them.
std::string lost_calls(ProgramView before, ProgramView after);

}  // namespace secequiv::hunt
