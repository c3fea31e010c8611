// Owns CaDiCaL: it gives the solver the clauses of the bits that a query depends on, and reads the
// input of a satisfying assignment. It must not know what bits mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "verify/sat/bit_graph.h"

namespace secequiv::sat {

enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

class CnfSolver {
 public:
  using Bool = BitGraph::Bool;
  enum class Effort : std::uint8_t {
    kManyQueries,  // starts quickly
    kOneQuery,     // simplifies first
  };

  // `stop` is called regularly; once it returns true, answers are kUnknown.
  CnfSolver(const BitGraph& graph, Effort effort, std::function<bool()> stop);
  ~CnfSolver();
  CnfSolver(const CnfSolver&) = delete;
  CnfSolver& operator=(const CnfSolver&) = delete;

  // States that two bits are equal.
  void merge(Bool a, Bool b);
  // Returns whether all these bits can be true at once, or kUnknown if this takes more than
  // `conflicts` conflicts (negative: no limit). `same` returns for each bit an equal one that
  // replaces it.
  Answer ask(std::span<const Bool> bits, int conflicts, const std::function<Bool(Bool)>& same);
  // After kYes: the number of each input bit (32 * word + bit) that is true.
  [[nodiscard]] std::vector<std::uint32_t> true_inputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace secequiv::sat
