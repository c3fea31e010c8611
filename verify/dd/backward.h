// Owns the pass that builds the function from inputs to results, from the last instruction of a
// program to its first. It must not know registers (forward.h).
#pragma once

#include "harness/seccomp/action.h"
#include "verify/dd/forward.h"
#include "verify/dd/path_bounds.h"

namespace secequiv::dd {

// The diagram of an instruction describes "the program from here on" for inputs that satisfy the
// facts known there. No facts are known before the first instruction, so the root holds for all
// inputs. Using the facts keeps the inner diagrams small: within the code for one system call, the
// rules for other calls do not appear.
//
// A linear search or a search tree is a run of tests of one word: each test except the first is
// reached only from another test of the run. The whole run becomes one division of the word's
// values into pieces.
class Backward {
 public:
  Backward(Words& words, const Forward& forward, ProgramView program);

  // Returns the program's diagram. Its leaves are normalized constant return values.
  // `returned(word)` makes the diagram of a computed return value.
  template <class Computed>
  NodeId build(Sameness sameness, const Computed& returned) {
    for (std::size_t pc = program_.size(); pc-- > 0 && !words_.diagrams().exhausted();) {
      if (inside_[pc] != 0 || !forward_.reached(pc)) continue;
      const Insn& in = program_[pc];
      if (!is_ret(in)) {
        value_[pc] = continued(pc, sameness);
      } else if (const auto computed = forward_.returned(pc)) {
        value_[pc] = returned(*computed);
      } else {
        value_[pc] = words_.diagrams().leaf(normalize(in.k, sameness));
      }
    }
    return value_[0];
  }

 private:
  static constexpr std::uint8_t kNoWord = 0xff;
  // Values low..high of the word lead to `to`. A point (low = high) has precedence over a longer
  // stretch.
  struct Stretch {
    std::uint32_t low;
    std::uint32_t high;
    std::size_t to;
    std::uint32_t rank;  // for points: the order of their tests
    NodeId value;        // the diagram of `to`
  };

  void look_ahead();
  NodeId continued(std::size_t pc, Sameness sameness);
  NodeId narrowed(NodeId id, std::size_t pc) const;
  NodeId divided(std::size_t pc);
  NodeId one_by_one(std::uint32_t position);
  void find_pieces();
  void sort_points();
  void collect(const Stretch& start);
  void collect_point(std::uint32_t k, std::size_t to);
  [[nodiscard]] std::size_t skip(std::size_t pc) const;

  Words& words_;
  const Forward& forward_;
  ProgramView program_;
  PathBounds path_bounds_;
  std::vector<std::uint8_t> inside_;  // whether the instruction continues the run of an earlier one
  std::vector<NodeId> value_;
  std::vector<Stretch> open_;
  std::vector<Stretch> stretches_;
  std::vector<Stretch> points_;
  std::vector<Piece> pieces_;
};

}  // namespace secequiv::dd
