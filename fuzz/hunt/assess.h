// Decides whether one answer of an optimizer or compiler under test is right. Owns the order of the
// tests and the sentence for each failure. It must not know where programs come from nor repeat a
// request.
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

// Decides equivalence within limits of its own: narrow ones, for thousands of programs a second,
// or, if `thorough`, those for a program that a user gave.
using Prover = std::function<Result<Proof>(const Question&, bool thorough)>;

struct AssessOptions {
  Sameness sameness = Sameness::kRaw;
  Prover prover;          // empty: only inputs decide
  bool thorough = false;  // passed to the prover
  bool cache = true;      // also compare the kernel's bitmaps
};

struct Problem {
  FindingKind kind = FindingKind::kDifferent;
  std::string detail;
  std::string found_by;
  std::optional<Witness> witness;
};

struct Assessment {
  std::optional<Problem> problem;  // the worst one
  bool grew = false;
  bool proven = false;
  std::uint64_t evaluations = 0;
};

// Preconditions: the kernel accepts `before` (the length rule aside); the answer is not
// kUnsupported. Runs both programs on `inputs` before it proves anything. Errors: the prover's
// kInternal.
Result<Assessment> assess(ProgramView before, const Answer<Program>& answer,
                          std::span<const SeccompData> inputs, const AssessOptions& options);

// "ALLOW became ERRNO(1 EPERM) for nr=..., ...".
std::string became_text(const Witness& witness);

// The kind of finding for a request without a usable answer.
FindingKind finding_of(Outcome outcome);

// System calls that the kernel allows without running `before` but not without running `after`:
// "read, write and 3 more (x86_64)". Looks at x86_64, and at i386 and aarch64 if a program names
// them. Empty if there are none.
std::string lost_calls(ProgramView before, ProgramView after);

}  // namespace secequiv::hunt
