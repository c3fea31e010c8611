// Searches for code that does the same as a window with fewer instructions. Owns the enumeration,
// modulo equivalence on a set of test points: a candidate is right for them, and only a proof shows
// that it is right for all values. It must not know provers.
//
// Each candidate is a tree: plain instructions and tests whose two sides do not join again. Their
// operands are symbols of the window, a few numbers, and combinations of two symbols.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "verify/rules/window.h"

namespace secequiv::rules {

class Shorter {
 public:
  // The search stops after trying `max_tries` instructions.
  Shorter(const Window& window, std::size_t max_tries);

  // Adds values for which a candidate was wrong, so that the search does not find it again.
  void learn(const Assignment& counterexample);

  // Returns the code of the first shortest candidate that is right at all points, as lines of a
  // rule; std::nullopt if there is none, or if exhausted().
  std::optional<std::string> find();
  [[nodiscard]] bool exhausted() const { return tries_ > max_tries_; }
  [[nodiscard]] std::size_t tries() const { return tries_; }

 private:
  struct Term {
    std::string text;
    Expr value;
  };
  // An instruction with an operand from the pool.
  struct Choice {
    std::uint16_t code;
    std::optional<std::size_t> operand;
  };
  // A state to start from, with values of the symbols, and how the window ends from there.
  struct Point {
    Machine<Concrete> state;
    std::size_t number;  // of its start
  };
  struct Start {
    std::size_t valuation;
    SeccompData input;
    Ending wanted;
  };
  struct Node;
  using Points = std::vector<Point>;

  // Returns whether the window contains an instruction with one of these codes.
  [[nodiscard]] bool uses(std::initializer_list<std::uint16_t> codes) const;
  std::size_t add_operand(std::string text);
  void add_operands();
  void add_choices();
  void add_points(const Assignment& values, bool many);
  void keep_distinct();
  [[nodiscard]] std::uint32_t operand_at(const Choice& choice, std::size_t valuation) const;

  [[nodiscard]] std::optional<std::size_t> done(const Points& points) const;
  // Returns whether the instruction is legal at all points. Changes their states; `taken` receives
  // the outcomes of a test.
  bool run(const Choice& choice, Points& points, std::vector<std::uint8_t>* taken);
  // Returns at most `length` instructions that end as wanted from all points. `falls`: control
  // falls into them, so that an exit needs a jump, unless they are `last` and the exit is "next".
  std::unique_ptr<Node> solve(const Points& points, std::size_t length, bool last, bool falls);
  std::unique_ptr<Node> solve_test(const Points& points, std::size_t length, bool last);
  std::unique_ptr<Node> solve_plain(const Points& points, std::size_t length, bool last);
  void write(const Node& node, std::string label, int& labels, std::string& out) const;

  const Window& window_;
  std::size_t max_tries_;
  std::size_t tries_ = 0;
  ReadRule read_;
  std::vector<Term> pool_;
  std::size_t simple_ = 0;  // so many operands at the beginning of the pool have at most one symbol
  std::vector<std::uint8_t> distinct_;  // whether no earlier operand has the same values
  std::vector<Choice> tests_;
  std::vector<Choice> plain_;
  std::vector<std::vector<std::uint32_t>> valuations_;  // by number: the values of the pool
  std::vector<Start> starts_;
  Points points_;
  std::unordered_set<std::uint64_t> failed_;
};

}  // namespace secequiv::rules
