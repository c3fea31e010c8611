// Owns lower bounds for programs that find a number by comparing it with constants, one test after
// the other (jeq, jge, jgt). It must not know diagrams, loads or returns. README.md has the proofs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/clock.h"

namespace secequiv::bound {

// The numbers first..last have one decision.
struct DecidedRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t decision;  // no test is needed between ranges with the same decision
  bool by_number = true;   // false: the decision also depends on other words, here "arguments"
  bool allows = false;     // some inputs are allowed
};

struct WeightedNumber {
  std::uint32_t number;
  double weight;  // a whole number
};

// Returns a lower bound for a sum over the weighted numbers: the weight times the tests of the
// number that any such program executes until it knows the decision. For numbers that are not
// decided by_number, only allowed inputs count. The sum also contains the loads and tests of
// arguments that inputs decided by_number execute. Returns nothing if the search is not complete at
// the deadline or if the user interrupts it. Preconditions: the ranges are all 2^32 numbers in
// ascending order, and weighted numbers ascend.
std::optional<double> least_tests(std::span<const DecidedRange> ranges,
                                  std::span<const WeightedNumber> numbers,
                                  Clock::time_point deadline = Clock::time_point::max());

// Returns how many tests a program needs at least if, for each of these numbers n, some test must
// have different outcomes for n - 1 and n. Precondition: the numbers ascend.
std::size_t fewest_tests(std::span<const std::uint32_t> boundaries);

}  // namespace secequiv::bound
