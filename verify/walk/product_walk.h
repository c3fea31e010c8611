// The product walk runs two programs side by side for all inputs. It proves most optimized programs
// without diagrams, because optimizers mostly keep the order of tests. Owns the states of this
// walk. It must not know concrete inputs or sets of them, so it never finds a difference.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/seccomp/action.h"
#include "verify/walk/facts.h"
#include "verify/walk/runner.h"

namespace secequiv::walk {

// A state is one instruction of each program and the terms in the registers there. Each program
// runs until it returns or reaches a test that the facts do not decide. The outcome of a test leads
// to the next state. Where paths meet, registers that differ become unknown terms, and facts are
// joined. The programs are equivalent if every path ends with both returning the same term, or
// constants that mean the same decision.
//
// Why this is a proof: each input takes one path through the states. Along this path the registers
// hold the values of their terms (an unknown term has the value that this path brought), and all
// facts hold.
class ProductWalk {
 public:
  // Returns true if both programs return the same for every input. Returns false if the walk cannot
  // show this; it gives up after about ten states, or 64 executions, for each instruction. Its time
  // and memory are therefore bounded (about 0.2 s and 150 MiB for the longest programs).
  // Precondition: the kernel accepts both programs, except that they may be too long.
  [[nodiscard]] bool same(ProgramView before, ProgramView after, Sameness sameness);
  // Returns how many states the last walk visited or examined while looking for one.
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  struct State {
    std::uint32_t before = 0;  // instruction
    std::uint32_t after = 0;
    std::uint32_t next = 0;       // next state with the same `before`, in order of `after`
    std::uint32_t registers = 0;  // index into registers_
    Facts facts;
  };
  // A register that holds different terms on two paths that meet.
  struct Replaced {
    Term there;
    Term arriving;
    Term unknown;
  };

  void start(ProgramView before, ProgramView after);
  [[nodiscard]] bool advance(const Facts& facts, Sameness sameness);
  [[nodiscard]] bool leave(std::uint32_t state, Sameness sameness);
  [[nodiscard]] bool same_result(const Facts& facts, Sameness sameness) const;
  void run_both(const Facts& facts);
  void arrive(const Facts& facts);
  void join(State& there, const Facts& facts);
  void write_registers();
  void read_registers(std::uint32_t from);

  // Optimizers also compare masked words with bounds, so facts are about masked words.
  Terms terms_{false};
  Side before_;
  Side after_;
  std::uint32_t memory_ = 0;          // only M[] words below this index are in use
  std::vector<std::uint32_t> first_;  // by instruction of before: its first state
  std::vector<State> states_;
  std::vector<Term> registers_;  // by state: A, X and M[] of each program
  std::vector<Term> arriving_;   // the registers of the state at which the walk arrives
  std::vector<Replaced> replaced_;
  std::size_t work_ = 0;
  std::size_t executed_ = 0;  // instructions
};

}  // namespace secequiv::walk
