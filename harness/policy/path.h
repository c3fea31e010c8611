// The way one input takes through a program, and what the result would be from elsewhere. Owns what
// is remembered on the way. It must not know what is looked for (cases_path.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bpf/interpreter.h"
#include "harness/seccomp/data.h"

namespace secequiv::detail {

inline constexpr std::uint32_t kNoWord = 16;

// What A is on the path at hand: word & mask of the input, or something else (kNoWord).
struct Origin {
  std::uint32_t mask = 0;
  std::uint32_t word = kNoWord;
};

// An instruction about to run. Small, for there are many.
struct Visit {
  std::size_t pc;
  std::uint32_t a;
  std::uint32_t x;
  std::uint32_t memory;  // which one of the path's
  bool outcome;
  Origin origin;  // of A
};

class Path {
 public:
  // The program outlives the path. Precondition: check() accepts it (the length rule aside).
  explicit Path(ProgramView program);

  // Runs the program on `data`; everything below is about that run.
  void follow(const SeccompData& data);

  [[nodiscard]] const std::vector<Visit>& visits() const { return visits_; }
  [[nodiscard]] const Visit* find(std::size_t pc) const;
  [[nodiscard]] std::uint32_t result() const { return result_; }

  // The result if the program went on at `pc` with this in A, all else being as at `visit`. What
  // M[] holds where nothing was stored is 0.
  std::uint32_t result_from(std::size_t pc, std::uint32_t a, const Visit& visit);
  // What it would visit.
  std::vector<Visit> visits_from(std::size_t pc, std::uint32_t a, Origin origin,
                                 const Visit& visit);

  // Instructions run so far, for all inputs.
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  using Memory = std::array<std::uint32_t, kMemWords>;
  struct Tracer;
  // The result from an instruction on with these registers, of the run with this stamp.
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
  bool memory_used_ = false;  // it is read somewhere: then registers alone say too little
  SeccompData data_;
  std::vector<Visit> visits_;
  std::vector<Memory> memories_;
  std::uint32_t result_ = 0;
  std::size_t steps_ = 0;
  std::size_t stamp_ = 0;
  std::vector<Known> own_;    // by instruction, of the path itself
  std::vector<Known> other_;  // of the last other way through it
  std::vector<Passed> passed_;
};

}  // namespace secequiv::detail
