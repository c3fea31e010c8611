// Decides whether one answer of an optimizer or compiler under test is right. Owns the order of the
// tests and the sentence for each failure. It must not know where programs come from, nor repeat a
// request.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/base/result.h"
#include "harness/bpf/refusal.h"
#include "harness/compare/hunt_report.h"
#include "harness/compare/proof.h"

namespace secequiv::hunt {

// Decides equivalence within the prover's own limits. With `thorough`, the limits are those for a
// program that the user named. Otherwise they are narrow, so that the prover decides thousands of
// programs each second.
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
  std::string cause = {};                // as in Answer
  std::optional<RefusalRule> rule = {};  // if the kernel would refuse the answer
};

struct Assessment {
  std::optional<Problem> problem;  // the worst problem
  bool grew = false;
  bool proven = false;
  std::uint64_t evaluations = 0;
};

// Assesses an answer. It runs both programs on `inputs` before it proves anything. Preconditions:
// the kernel accepts `before`, except that it may be too long, and the answer is not kUnsupported.
// Errors: the prover's kInternal.
Result<Assessment> assess(ProgramView before, const Answer<Program>& answer,
                          std::span<const SeccompData> inputs, const AssessOptions& options);

// Returns the kind of finding for a request without a usable answer.
FindingKind finding_of(Outcome outcome);

// Returns the system calls that the kernel allows without running the stack `before`, but for which
// it must run `after`, for example "read, write and 3 more (x86_64)", or "" if there are none. It
// considers x86_64 and, if a program names them, i386 and aarch64. Precondition: `before` is not
// empty.
std::string lost_calls(std::span<const ProgramView> before, ProgramView after);

}  // namespace secequiv::hunt
