// Is one answer of an optimizer or compiler under test right? Owns the order of the tests and what
// is said of each failure. It must not know where programs come from nor ask the one under test
// again.
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

// Decides a question within limits of its own: narrow ones, since there are thousands of them a
// second, or, if `thorough`, ones for a program that a user gave.
using Prover = std::function<Result<Proof>(const Question&, bool thorough)>;

struct AssessOptions {
  Sameness sameness = Sameness::kRaw;
  Prover prover;          // none: inputs alone decide
  bool thorough = false;  // what the prover is told
  bool cache = true;      // look at the kernel's bitmap, too
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

// `before` is a program that the kernel accepts but perhaps for its length; `inputs` are run
// through both programs before anything is proven. The answer must not be kUnsupported.
// Errors: kInternal, of the prover.
Result<Assessment> assess(ProgramView before, const Answer<Program>& answer,
                          std::span<const InputWords> inputs, const AssessOptions& options);

// "ALLOW became ERRNO(1 EPERM) for nr=..., ...".
std::string became_text(const Witness& witness);

// What an answer that is none is called.
FindingKind finding_of(Outcome outcome);

// System calls that the kernel allows without running `before` but not without running `after`, on
// x86_64 and i386 and on aarch64 where either program names it; "read, write and 3 more (x86_64)".
// Empty if there are none.
std::string lost_calls(ProgramView before, ProgramView after);

}  // namespace secequiv::hunt
