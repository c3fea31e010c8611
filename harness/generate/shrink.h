// Makes what fails small: programs and policies, under any predicate. Owns the reductions that are
// tried and their order. It must not know what the predicate asks.
#pragma once

#include <functional>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

struct ShrinkLimits {
  std::size_t calls = 100'000;  // of the predicate
};

enum class ShrinkEnd {
  kMinimal,  // no reduction of the result keeps the predicate
  kCalls,    // the limit was reached first
  kRefused,  // the predicate does not hold for what was given, which is returned as it was
};

struct ShrunkProgram {
  Program program;
  ShrinkEnd end = ShrinkEnd::kMinimal;
  std::size_t calls = 0;
};

// The smallest program found for which `still` holds. Every program that `still` is asked about is
// accepted by check(), and none is longer than `program`. Preconditions: check() accepts `program`
// (the length rule aside); `still` always answers the same about the same program.
ShrunkProgram shrink(const Program& program, const std::function<bool(ProgramView)>& still,
                     ShrinkLimits limits = {});

// Calls `visit` with each reduction of `program` that shrink() knows, one step each, until it
// returns true; whether it did. Each is simpler than `program`, so that reducing ends.
bool any_reduction(const Program& program, const std::function<bool(const Program&)>& visit);

struct ShrunkPolicy {
  Policy policy;
  ShrinkEnd end = ShrinkEnd::kMinimal;
  std::size_t calls = 0;
};

// The smallest policy found for which `still` holds. Every policy that `still` is asked about is
// what read_policy makes of write_policy's text, the first one too: rules are sorted and numbers
// that a matcher does not use are 0. `still` always answers the same about the same policy.
ShrunkPolicy shrink(const Policy& policy, const std::function<bool(const Policy&)>& still,
                    ShrinkLimits limits = {});

// As above, for policies.
bool any_reduction(const Policy& policy, const std::function<bool(const Policy&)>& visit);

}  // namespace secequiv
