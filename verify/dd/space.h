// All 2^512 inputs, and functions and sets of them. Owns what the questions (engine.h and others)
// are asked of: the decision function of a program or a stack of programs, where two functions
// differ, how many inputs a set has, its smallest one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"
#include "verify/dd/smallest.h"
#include "verify/dd/words.h"

namespace secequiv::dd {

struct Limits {
  std::size_t nodes = std::size_t{1} << 21;
  std::size_t steps = std::size_t{1} << 23;  // of diagram operations; some 50 to 200 ns each
  double seconds = kNoTimeLimit;
};
// A node, its entries in the table, which is at most eight times as long, and in a vector that
// doubles; words of bits and the caches come to less.
inline constexpr std::size_t kBytesPerNode = 96;

// What a program decides, as a diagram. Leaves are return values, or symbols: values that depend on
// the input still (a RET A of something computed).
struct Decisions {
  NodeId root = 0;
  bool computed = false;  // there are symbols
};

class Space {
 public:
  // The programs that functions will be made of; the order of the input bits is chosen for them.
  // Of the symbols there are at most Order::kMostSymbols.
  Space(std::span<const ProgramView> programs, const Limits& limits, const Symbols& symbols = {});
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  [[nodiscard]] Words& words() { return words_; }
  [[nodiscard]] Diagrams& diagrams() { return diagrams_; }
  [[nodiscard]] const Diagrams& diagrams() const { return diagrams_; }
  [[nodiscard]] const Order& order() const { return order_; }
  // The limits are reached: whatever was computed since is meaningless.
  [[nodiscard]] bool exhausted() const { return diagrams_.exhausted(); }

  // Precondition: check() accepts the program (the length rule aside).
  Decisions decisions(ProgramView program, Sameness sameness);
  // What one filter decides, or several stacked on each other, newest first.
  Decisions decisions(std::span<const ProgramView> filters, Sameness sameness);
  // What filters stacked on each other decide (run_stack in harness/seccomp/action.h), newest
  // first; not empty. Their `sameness` must have been kRaw.
  Decisions stack(std::span<const Decisions> filters);
  Decisions normalized(const Decisions& decisions, Sameness sameness);

  // The set of inputs for which the functions differ. The functions are the same exactly if this is
  // empty (Diagrams::kZero).
  NodeId differing(const Decisions& f, const Decisions& g);

  // The set of inputs for which the action of `f` is more permissive than that of `g`
  // (compare_actions in harness/compare/question.h).
  NodeId more_permissive(const Decisions& f, const Decisions& g);

  // The function with a whole word set to `value`.
  NodeId fix(NodeId id, std::uint32_t word, std::uint32_t value);

  // The result for one input.
  std::uint32_t evaluate(const Decisions& decisions, const SeccompData& data);

  // The result as a word, symbols and all.
  Word value(const Decisions& decisions);

  // What is known of the result at a leaf.
  ReturnValue known(NodeId leaf);

  // The smallest value of a symbol, given as its word, in `set`, which is not empty.
  std::uint32_t least(NodeId set, std::uint32_t word);

  // The input in `set` with the fewest non-zero words, then the smallest values from nr on. The set
  // is not empty and about no symbols. Nothing if the limits are reached.
  std::optional<SeccompData> smallest(NodeId set) { return smallest_.of(set); }

 private:
  NodeId leaf_for(const Word& value);
  NodeId leaf_at(NodeId id, const SeccompData& data);

  Symbols symbols_;
  Order order_;
  Diagrams diagrams_;
  Words words_;
  Smallest smallest_;
  std::vector<Word> computed_;  // what the leaves that are no numbers stand for
};

}  // namespace secequiv::dd
