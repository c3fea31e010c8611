// Compares the wrong answers of two findings that have the same pattern. Owns the guess at how the
// code under test changes one instruction wrongly. It must not know how requests are sent.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "harness/compare/hunt_report.h"
#include "harness/compare/mutants.h"

namespace secequiv::hunt {

// Returns whether the code under test treats one fixed subject exactly as if it were this program.
using ActsLike = std::function<bool(ProgramView)>;

// A change of any instruction with one opcode: the operator, both opcodes, and how the operands
// change.
using Mistake = std::tuple<MutationOperator, std::uint16_t, std::uint16_t, std::uint64_t>;
// Changes of single instructions that turn the subject into a program for which ActsLike is true.
struct Mistakes {
  std::set<Mistake> exact;  // those that turn the subject into the answer itself
  std::set<Mistake> all;
  bool confirmed = false;  // the same program with other values also has one of `all`
  bool refuted = false;    // a changed copy of the subject fails in another way

  [[nodiscard]] bool certain() const { return !refuted && (confirmed || !exact.empty()); }
  [[nodiscard]] const std::set<Mistake>& best() const { return exact.empty() ? all : exact; }
};
// Returns the mistakes that may have led to the finding's answer, and none if its program is long.
Mistakes mistakes_in(const Finding& finding, const ActsLike& acts_like);

// Returns whether one of the mistakes, in one place or in several, turns `program` into one for
// which `acts_like` is true. Returns nothing if there are too many places.
std::optional<bool> predict(const Mistakes& mistakes, ProgramView program,
                            const ActsLike& acts_like);

// Returns whether a mistake of `one` and a mistake of `two` together, in one place or in several,
// turn `program` into one for which `acts_like` is true.
bool predict_both(const Mistakes& one, const Mistakes& two, ProgramView program,
                  const ActsLike& acts_like);

// Returns programs with the same instructions and other values. A reduced program often has few
// values, so that different mistakes have the same effect.
std::vector<Program> with_other_values(ProgramView program);
// Keeps the mistakes that `other` also has, if there are any.
void keep_common(Mistakes& mistakes, const Mistakes& other);

// Returns whether both findings have subjects of the same shape and the same wrong answer to them.
bool same_answer(const Finding& one, const Finding& two);

enum class Agreement : std::uint8_t { kSame, kOther, kOpen };

// Returns whether the wrong answer is the one that the known finding predicts. kOpen: no mistake
// explains the known finding, or several mistakes do and not all of them explain this one.
Agreement agreement(const Finding& known, const Mistakes& of_known, const Finding& finding,
                    const Mistakes& of_finding, const ActsLike& acts_like);

}  // namespace secequiv::hunt
