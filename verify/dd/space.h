// All 2^512 inputs, and functions and sets of them. Owns the decision function of a program or a
// stack of programs, the set of inputs where two functions differ, and the smallest input of a set.
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
  std::size_t steps = std::size_t{1} << 23;  // of diagram operations; about 50 to 200 ns each
  double seconds = kNoTimeLimit;
};
// A node with its share of the table (at most eight times as long) and of a vector that doubles;
// words of bits and the caches take less.
inline constexpr std::size_t kBytesPerNode = 96;

// What a program decides, as a diagram. Leaves are return values, or symbols for values that still
// depend on the input (RET A of a computed value).
struct Decisions {
  NodeId root = 0;
  bool computed = false;  // there are symbols
};

class Space {
 public:
  // Chooses an order of the input bits that suits `programs`. There may be at most
  // Order::kMostSymbols symbols.
  Space(std::span<const ProgramView> programs, const Limits& limits, const Symbols& symbols = {});
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  [[nodiscard]] Words& words() { return words_; }
  [[nodiscard]] Diagrams& diagrams() { return diagrams_; }
  [[nodiscard]] const Diagrams& diagrams() const { return diagrams_; }
  [[nodiscard]] const Order& order() const { return order_; }
  // Whether the limits are reached; results since then are meaningless.
  [[nodiscard]] bool exhausted() const { return diagrams_.exhausted(); }

  // Precondition: check() accepts the program (the length rule aside).
  Decisions decisions(ProgramView program, Sameness sameness);
  // What one filter or a stack of filters decides, newest first.
  Decisions decisions(std::span<const ProgramView> filters, Sameness sameness);
  // What a stack of filters decides (run_stack in harness/seccomp/action.h), newest first.
  // Preconditions: the stack is not empty, and each function was made with kRaw.
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

  // The input in `set` with the fewest non-zero words, then the smallest values from nr on; nothing
  // if the limits are reached. Precondition: the set is not empty and tests no symbols.
  std::optional<SeccompData> smallest(NodeId set) { return smallest_.of(set); }

 private:
  NodeId leaf_for(const Word& value);
  NodeId leaf_at(NodeId id, const SeccompData& data);

  Symbols symbols_;
  Order order_;
  Diagrams diagrams_;
  Words words_;
  Smallest smallest_;
  std::vector<Word> computed_;  // the values of symbol leaves
};

}  // namespace secequiv::dd
