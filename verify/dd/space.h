// Owns functions and sets of inputs: what a program or a stack of programs decides for all 2^512
// inputs, where two of them differ, and the smallest input of a set. It must not know assumptions
// (verify/symbolic/assume.h).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/interrupt.h"
#include "harness/base/result.h"
#include "harness/compare/difference.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"
#include "verify/dd/smallest.h"
#include "verify/dd/words.h"

namespace secequiv::dd {

// Returns why a space is exhausted.
inline std::string exhausted_text() {
  return stop_wanted() ? stop_reason() : "the diagrams reached their limit of nodes, steps or time";
}

// Returns the error of an analysis whose space is exhausted. `where` names the filter.
inline Error limits_reached(std::string where = "") {
  return make_error(ErrorCode::kBudget, std::move(where), exhausted_text());
}

struct Limits {
  std::size_t nodes = std::size_t{1} << 21;
  std::size_t steps = std::size_t{1} << 23;  // steps of diagram operations; each takes 50 to 200 ns
  double seconds = kNoTimeLimit;
};
// An upper estimate of the memory for a node: the node, its share of the table (at most eight
// entries for each node), and room for a vector that doubles. Words and caches need less.
inline constexpr std::size_t kBytesPerNode = 96;

// What a program decides, as a diagram. Leaves are return values, or symbols for values that depend
// on the input (RET A of a computed value).
struct Decisions {
  NodeId root = 0;
  bool computed = false;  // some leaves are symbols
};

class Space {
 public:
  // Chooses an order of the input bits that suits `programs`. Precondition: at most
  // Order::kMostSymbols symbols.
  Space(std::span<const ProgramView> programs, const Limits& limits, const Symbols& symbols = {});
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  [[nodiscard]] Words& words() { return words_; }
  [[nodiscard]] Diagrams& diagrams() { return diagrams_; }
  [[nodiscard]] const Diagrams& diagrams() const { return diagrams_; }
  [[nodiscard]] const Order& order() const { return order_; }
  // Returns whether a limit is reached; results since then are meaningless.
  [[nodiscard]] bool exhausted() const { return diagrams_.exhausted(); }

  // Returns what the program decides. Precondition: the kernel accepts it, except that it may be
  // too long.
  Decisions decisions(ProgramView program, Sameness sameness);
  // Returns what one filter, or a stack of filters with the newest first, decides.
  Decisions decisions(std::span<const ProgramView> filters, Sameness sameness);
  // Returns what each of these filters decides by itself.
  std::vector<Decisions> each(std::span<const ProgramView> filters);
  // Returns what a stack of filters with the newest first decides (run_stack in
  // harness/seccomp/action.h). Preconditions: the stack is not empty, and each function was made
  // with kRaw.
  Decisions stack(std::span<const Decisions> filters);
  // Returns the result with the most permissive action (compare_actions in
  // harness/compare/question.h) of several filters; of equally permissive ones, the first filter's.
  // Preconditions: those of stack().
  Decisions loosest(std::span<const Decisions> filters);
  Decisions normalized(const Decisions& decisions, Sameness sameness);

  // Returns the leaf for several decisions with the same action and different data, which are all
  // possible. Precondition: `values` ascend.
  NodeId several(const std::vector<std::uint32_t>& values);
  // Returns the decisions that are possible at a leaf. Precondition: it is no computed value.
  [[nodiscard]] std::vector<std::uint32_t> possible(NodeId leaf) const;
  // Returns one of them. They all have the same action.
  [[nodiscard]] std::uint32_t one_possible(NodeId leaf) const;

  // Returns the set of inputs for which the functions differ. The functions are equal if and only
  // if it is Diagrams::kZero.
  NodeId differing(const Decisions& f, const Decisions& g);

  // Returns the set of inputs for which the action of `f` is more permissive than that of `g`
  // (compare_actions in harness/compare/question.h).
  NodeId more_permissive(const Decisions& f, const Decisions& g);

  // Returns the levels of these bits of words.
  [[nodiscard]] Diagrams::Levels levels(const std::array<std::uint32_t, 16>& bits) const;

  // Returns the function with a whole word set to `value`.
  NodeId fix(NodeId id, std::uint32_t word, std::uint32_t value);

  // Returns the result for one input.
  std::uint32_t evaluate(const Decisions& decisions, const SeccompData& data);

  // Returns the result as a word that may depend on the input and on symbols.
  Word value(const Decisions& decisions);

  // Returns the bits of the result that are known at a leaf.
  ReturnValue known(NodeId leaf);

  // Returns the smallest value of the symbol `word` in `set`. Precondition: `set` is not empty.
  std::uint32_t least(NodeId set, std::uint32_t word);

  // Returns the input in `set` with the fewest non-zero words, then the smallest values from nr on;
  // std::nullopt if a limit is reached. Precondition: `set` is not empty and tests no symbols.
  std::optional<SeccompData> smallest(NodeId set) { return smallest_.of(set); }

 private:
  // Returns the decisions of a leaf that stands for several ones, or null.
  [[nodiscard]] const std::vector<std::uint32_t>* several_at(NodeId leaf) const;
  NodeId leaf_for(const Word& value);
  NodeId leaf_at(NodeId id, const SeccompData& data);
  // Returns `next` where `wins(next, kept)` holds for both results as words, otherwise `kept`.
  template <class Wins>
  Decisions contest(const Decisions& kept, const Decisions& next, const Wins& wins);

  Symbols symbols_;
  Order order_;
  Diagrams diagrams_;
  Words words_;
  Smallest smallest_;
  std::vector<Word> computed_;  // the values of symbol leaves
  std::vector<std::vector<std::uint32_t>> several_;
};

}  // namespace secequiv::dd
