// Owns SAT sweeping: decides whether a bit of a graph can be true. Simulation separates bits that
// differ; the solver then proves others equal, from the inputs up, so that each query is small.
// It must not know programs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify/sat/cnf_solver.h"

namespace secequiv::sat {

using Inputs = std::vector<std::uint32_t>;  // the value of each input word

class Sweep {
 public:
  using Bool = BitGraph::Bool;

  // Simulation starts from `likely` inputs, and varies them with `constants`; neither is empty.
  // `stop` is called regularly; once it returns true, answers are kUnknown. The graph must not
  // change. A quick search gives up early, after the same number of conflicts on every machine.
  Sweep(const BitGraph& graph, std::span<const Inputs> likely,
        std::span<const std::uint32_t> constants, std::function<bool()> stop, bool quick = false);

  // Returns whether the bit is true for some input.
  Answer possible(Bool goal);
  // After kYes: an input for which the bit is true.
  [[nodiscard]] const Inputs& example() const { return example_; }
  // Makes these bits false in the example where that is possible; earlier bits have precedence.
  // Returns false if one of them takes more than `conflicts` conflicts, or if `stop` ends the call
  // early. Precondition: the goal is true for the example.
  bool minimize(Bool goal, std::span<const Bool> bits, Inputs example, int conflicts);
  // Finds equal bits below the goal; each query takes at most `conflicts` conflicts.
  void merge_below(Bool goal, int conflicts);

 private:
  [[nodiscard]] Bool same(Bool bit) const;
  [[nodiscard]] std::uint64_t value(Bool bit) const;
  std::uint64_t random();
  Inputs varied(Inputs input);
  void simulate(std::span<const Inputs> inputs);
  void hash_values();
  void learn(const CnfSolver& solver);
  Inputs satisfying(const CnfSolver& solver) const;
  bool simulated(Bool goal);
  Answer solve(Bool goal, int conflicts);
  Answer differ(Bool a, Bool b, int conflicts);
  [[nodiscard]] std::vector<std::size_t> below(Bool goal) const;
  void place(std::size_t bit, int conflicts);

  const BitGraph& graph_;
  std::vector<std::uint32_t> constants_;
  std::function<bool()> stop_;
  std::size_t efforts_;  // how many rounds of merging and solving a query gets
  CnfSolver solver_;
  std::vector<std::vector<Inputs>> first_;  // the inputs of the first simulations
  std::vector<std::uint64_t> values_;  // by bit: its values for the 64 most recent simulated inputs
  std::vector<std::uint64_t> keys_;    // by bit: a hash of its values, the same for its inverse
  std::vector<bool> inverted_;         // by bit: whether it is true for the first input
  std::vector<Bool> same_;             // by bit: an equal earlier bit, or itself
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> classes_;  // by key
  std::vector<std::size_t> placed_;                                      // bits in classes_
  Inputs example_;
  std::uint64_t random_ = 0x2545f4914f6cdd1d;
};

}  // namespace secequiv::sat
