// Finds where a rewrite that improves code fires in a program, and applies it there. Owns when a
// place of a program is an instance of a rewrite: its constants, its jumps, what is live behind it,
// and that no jump enters its middle. It must not know how rewrites are found or proven.
#pragma once

#include <optional>
#include <vector>

#include "harness/bpf/flow.h"
#include "verify/rules/rule.h"

namespace secequiv::rules {

// Converts a set of registers of harness/bpf/liveness.h.
Live live_of(std::uint32_t registers);

// What rewrites need to know about a whole program. Precondition: the kernel accepts the program,
// except for its length. The program must outlive this object.
class Scene {
 public:
  explicit Scene(ProgramView program);

  [[nodiscard]] ProgramView program() const { return program_; }
  // Returns what the program may still read when it continues at `pc`.
  [[nodiscard]] Live live(std::size_t pc) const;
  // Returns whether control enters the instructions first..first+size-1 only at the first.
  [[nodiscard]] bool single_entry(std::size_t first, std::size_t size) const;
  // Returns whether a program may continue at either place: they are the same, or equal returns.
  [[nodiscard]] bool same_place(std::size_t a, std::size_t b) const;
  // Returns whether A is the input's word at this offset whenever control reaches `pc`.
  [[nodiscard]] bool holds_word(std::size_t pc, std::uint64_t offset) const;

 private:
  ProgramView program_;
  std::vector<std::uint32_t> live_;
  std::vector<std::size_t>
      first_jump_;  // the first jump to each instruction, or the program's size
  std::vector<Accumulator> flow_;
};

// Returns whether both sides are code and the second is shorter, or as long with fewer conditional
// jumps.
bool improves(const Instance& instance);

struct Firing {
  std::size_t pc = 0;
  std::vector<std::uint32_t> symbols;  // in the order of Instance::symbols
  // By exit: all places where control leaves through it. For an exit that no instruction of
  // `before` uses it is empty.
  std::vector<std::vector<std::size_t>> exits;
};

// Returns how the rewrite fires at `pc`, if it does. A condition on the state at the entry counts
// as true only if it is `A == [offset]` and every path to `pc` loads that word. Precondition:
// improves(instance).
std::optional<Firing> fires_at(const Instance& instance, const Scene& scene, std::size_t pc);

// Returns the program after the rewrite. Returns std::nullopt if a jump cannot reach its target, or
// if the kernel would refuse the result.
std::optional<Program> apply(const Instance& instance, const Firing& firing, ProgramView program);

// Applies the first rewrite that fires, from the first instruction on, until none fires or the user
// wants to stop. Returns the program and how often each fired.
struct Rewritten {
  Program program;
  std::vector<std::size_t> fired;  // by instance
};
Rewritten rewrite(ProgramView program, const std::vector<Instance>& instances);

}  // namespace secequiv::rules
