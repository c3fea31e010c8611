// Owns windows: short pieces of programs with symbols in place of their constants, offsets and
// words of M[], and the text of a rule that replaces one. It must not know how replacements are
// found (shorter.h) or proven.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/rules/firing.h"

namespace secequiv::rules {

// A rule that was read from its text, with its only member.
struct ReadRule {
  std::vector<Rewrite> rules;
  std::vector<Instance> members;

  [[nodiscard]] const Instance& member() const { return members.front(); }
};
// Errors: those of parse_rules() and instances().
Result<ReadRule> read_rule(const std::string& text);

// What a rule claims about a window, apart from its code.
struct Claim {
  std::string name;
  std::string source;
  std::vector<std::string> facts;  // conditions on symbols
  std::vector<Live> live;          // by exit
};

struct Window {
  std::string before;                  // lines of code with symbols
  std::vector<std::string> exits;      // in the order of Rewrite::exits; the first is "next"
  std::vector<Live> live;              // what the program may still read at each exit
  std::vector<std::string> constants;  // names of symbols by role, in the order of their use
  std::vector<std::string> offsets;
  std::vector<std::string> slots;
  std::vector<std::string> facts;  // see state_facts()
  Assignment values;               // the symbols as in the program, in the order of their use
  std::vector<std::uint16_t> codes;
  std::size_t size = 0;

  // Fills `facts` with everything that we can state about the constants. Facts that rules
  // should avoid come first.
  void state_facts();
  // Returns the text of a rule that replaces the window by `after`.
  [[nodiscard]] std::string rule(const Claim& claim, const std::string& after) const;
  // Windows with the same key have the same replacements.
  [[nodiscard]] std::string key() const;
};

// Returns the window of `size` instructions at `pc`, without facts. Returns std::nullopt if it
// contains a RET or DIV|X, if control enters it elsewhere or never reaches a part of it, or if it
// has too many different operands. Precondition: pc + size < number of instructions.
std::optional<Window> window_at(const Scene& scene, std::size_t pc, std::size_t size);

// Returns an instruction of a rule: "jeq #($a | $b), yes, l1". `operand` is a symbol or an
// expression, and `targets` are the labels of a jump.
std::string rule_line(std::uint16_t code, const std::string& operand,
                      const std::vector<std::string>& targets);

}  // namespace secequiv::rules
