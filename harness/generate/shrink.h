// Minimizes programs and policies under a predicate. Owns the reductions and their order. It must
// not know what the predicate tests.
#pragma once

#include <functional>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

struct ShrinkLimits {
  std::size_t calls = 100'000;  // calls of the predicate
  // Called before each call of the predicate. If it returns true, the search ends with kCalls.
  std::function<bool()> stop = {};
};

enum class ShrinkEnd {
  kMinimal,  // every further reduction makes the predicate false
  kCalls,    // the limit was reached first
  kRefused,  // the predicate is false for the input; the result is the input
};

template <class Thing>
struct Shrunk {
  Thing result;
  ShrinkEnd end = ShrinkEnd::kMinimal;
  std::size_t calls = 0;
};
using ShrunkProgram = Shrunk<Program>;
using ShrunkPolicy = Shrunk<Policy>;

// Returns the smallest program found for which `still` is true. `still` only receives programs that
// the kernel accepts, except for their length, and that are no longer than `program`.
// Preconditions: the kernel accepts `program`, except for its length; `still` is deterministic.
ShrunkProgram shrink(const Program& program, const std::function<bool(ProgramView)>& still,
                     ShrinkLimits limits = {});

// Calls `visit` with each one-step reduction of `program` until `visit` returns true. Returns
// whether `visit` returned true. Each reduction is simpler than `program`, so that shrinking ends.
bool any_reduction(const Program& program, const std::function<bool(const Program&)>& visit);

// Returns the simplest opcode by which a reduction may replace `code`, or `code` if it is the
// simplest one.
std::uint16_t simplest_like(std::uint16_t code);

// Returns the smallest policy found for which `still` is true. `still` only receives policies,
// including the first, in the form that read_policy() returns for write_policy()'s text: rules are
// sorted, and numbers that a matcher does not use are 0. Precondition: `still` is deterministic.
ShrunkPolicy shrink(const Policy& policy, const std::function<bool(const Policy&)>& still,
                    ShrinkLimits limits = {});

// Like any_reduction for programs.
bool any_reduction(const Policy& policy, const std::function<bool(const Policy&)>& visit);

}  // namespace secequiv
