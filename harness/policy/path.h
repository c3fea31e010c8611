// The path of one input through a program, and the result that other register values would give.
// Owns the memory of visited states. It must not know what callers search for
// (harness/inputs/cases_path.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bpf/interpreter.h"
#include "harness/seccomp/data.h"

namespace secequiv::detail {

inline constexpr std::uint32_t kNoWord = 16;

// The content of A on the current path: word & mask of the input, or something else (kNoWord).
struct Origin {
  std::uint32_t mask = 0;
  std::uint32_t word = kNoWord;
};

// The state before an instruction runs. It is small because there are many.
struct Visit {
  std::size_t pc;
  std::uint32_t a;
  std::uint32_t x;
  std::uint32_t memory;  // index of the path's copy of M[]
  bool outcome;
  Origin origin;  // origin of A
};

class Path {
 public:
  // The program must outlive the path. Precondition: the kernel accepts it, except for its length.
  explicit Path(ProgramView program);

  // Runs the program on `data`. All other functions refer to that run.
  void follow(const SeccompData& data);

  [[nodiscard]] const std::vector<Visit>& visits() const { return visits_; }
  [[nodiscard]] const Visit* find(std::size_t pc) const;
  [[nodiscard]] std::uint32_t result() const { return result_; }

  // Returns the result if the program continued at `pc` with `a` in A and all else as at `visit`.
  // Words of M[] without a store are 0.
  std::uint32_t result_from(std::size_t pc, std::uint32_t a, const Visit& visit);
  // Returns the instructions that this continuation would visit.
  std::vector<Visit> visits_from(std::size_t pc, std::uint32_t a, Origin origin,
                                 const Visit& visit);

  // Returns the number of instructions run so far, for all inputs.
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  using Memory = std::array<std::uint32_t, kMemWords>;
  struct Tracer;
  // The result of continuing at an instruction with these registers. It is valid only for the run
  // with this stamp.
  struct Known {
    std::size_t stamp = 0;
    std::uint32_t a = 0;
    std::uint32_t x = 0;
    std::uint32_t result = 0;
  };
  struct Passed {
    std::size_t pc;
    std::uint32_t a;
    std::uint32_t x;
  };

  [[nodiscard]] Machine<Concrete> machine(std::uint32_t a, const Visit& visit) const;

  ProgramView program_;
  // Whether an instruction reads M[]; then the registers alone do not determine the result
  bool memory_used_ = false;
  SeccompData data_;
  std::vector<Visit> visits_;
  std::vector<Memory> memories_;
  std::uint32_t result_ = 0;
  std::size_t steps_ = 0;
  std::size_t stamp_ = 0;
  std::vector<Known> own_;    // by instruction: the results on the path itself
  std::vector<Known> other_;  // by instruction: the result of the last continuation through it
  std::vector<Passed> passed_;
};

}  // namespace secequiv::detail
