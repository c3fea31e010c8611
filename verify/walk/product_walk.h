// The product walk: two programs side by side, for all inputs. Optimizers mostly keep the order of
// tests, so this decides such pairs without a diagram. Owns the states of this walk. It knows terms
// but neither numbers nor sets of inputs, so it never finds a difference.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/seccomp/action.h"
#include "verify/walk/facts.h"
#include "verify/walk/runner.h"

namespace secequiv::walk {

// A state is an instruction of either program and what the registers hold there. Each program runs
// until it makes an open test or returns; the outcome of a test then leads to the next state of
// both. Where paths meet, registers that differ become unknown terms, and facts are joined. The
// programs are the same if they return the same term, or constants that decide the same, on every
// path.
//
// Why that is a proof: an input takes one path through the states. Along it the registers have the
// values of their terms (an unknown being what its own path brought), and all facts hold.
class ProductWalk {
 public:
  // True: both return the same for every input. False: this is not known; the walk gives up after
  // some ten states for each instruction. Precondition: check() accepts both (the length rule
  // aside).
  [[nodiscard]] bool same(ProgramView before, ProgramView after, Sameness sameness);
  // How many states the last walk visited or looked at to find them.
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  struct State {
    std::uint32_t before = 0;  // instruction
    std::uint32_t after = 0;
    std::uint32_t next = 0;       // state with the same instruction before and a later one after
    std::uint32_t registers = 0;  // index into registers_
    Facts facts;
  };
  // Registers with different terms on two paths that meet.
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

  // Optimizers also compare masked words with bounds; so facts are about masked words.
  Terms terms_{false};
  Side before_;
  Side after_;
  std::uint32_t memory_ = 0;          // M[] words in use: those below
  std::vector<std::uint32_t> first_;  // for each instruction before: its states, by the one after
  std::vector<State> states_;
  std::vector<Term> registers_;  // of the states: A, X and M[] of either program
  std::vector<Term> arriving_;   // likewise
  std::vector<Replaced> replaced_;
  std::size_t work_ = 0;
};

}  // namespace secequiv::walk
