// Turns a filter, or several filters, into a policy. Owns the search for the rules. It must not
// know files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/approximation.h"
#include "analyze/source.h"
#include "harness/base/result.h"
#include "verify/dd/space.h"

namespace secequiv {

// How the results of several filters become one.
enum class Combination : std::uint8_t {
  kStack,  // as in the kernel: the strictest action wins; of equal ones, the newest filter's value
  // The most permissive action wins; of equal ones, the first filter's value. Actions that the
  // kernel does not know count as KILL_PROCESS.
  kLoosest,
};

struct LiftJob {
  Stack stack;
  Arch host = Arch::kX86_64;  // the architecture of the policy if the filters test none
  dd::Limits limits = {};
  Combination combination = Combination::kStack;
  // With kStack only: where no policy can express the filters, take the nearest action that one
  // can. Without it, such filters are errors.
  std::optional<Approximation> approximate = {};
  // Gives the policy that was found its name, description and hot calls. May be empty.
  std::function<void(Policy&)> label = {};
};

struct Lifted {
  Policy policy;
  std::vector<std::string> differences = {};  // from the filters, in words; only if approximated
  std::size_t instructions = 0;               // of all filters
  std::size_t calls = 0;                      // entries of the policy's rule sets
  std::size_t tests = 0;                      // of fields, in all entries
};

// Returns "330 instructions became 81 rules for 1 architecture, with 72 conditions".
std::string summary(const Lifted& lifted);

// Returns a policy that is proven to make the same decisions as the combined filters on all inputs,
// including the data of actions. With `approximate`, it is proven to be never more permissive, or
// never stricter. Errors: kPolicy if no policy can make these decisions, with the inputs that
// prevent it; kBudget if the limits of the diagrams or of the search for rules are reached;
// kInternal if the proof fails.
Result<Lifted> lift(const LiftJob& job);

}  // namespace secequiv
