// The question for a proof engine: do two filters, or stacks of filters, make the same decisions on
// all inputs that satisfy an assumption, or is the second never more permissive? Owns this
// question, and its replay on one input. It must not prove anything (verify/).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/symbols.h"
#include "harness/compare/pair.h"
#include "harness/seccomp/assumption.h"

namespace secequiv {

// How one decision (or all decisions of a filter) compares with another in the kernel's order of
// actions (KILL_PROCESS < KILL_THREAD < TRAP < ERRNO < USER_NOTIF < TRACE < LOG < ALLOW).
enum class Relation : std::uint8_t {
  kEqual,         // always the same action; its data may differ
  kStricter,      // sometimes a lower action, never a higher one
  kLooser,        // sometimes a higher action, never a lower one
  kIncomparable,  // both occur
};
std::string_view relation_name(Relation relation);

struct Question {
  enum class Goal : std::uint8_t { kSame, kRefines };

  // Not empty; the newest filter is first. The programs must outlive the question.
  std::vector<ProgramView> before;
  std::vector<ProgramView> after;
  Sameness sameness = Sameness::kRaw;
  Goal goal = Goal::kSame;
  Assumption assumption;            // the question ignores inputs for which it is false
  std::string assumed = {};         // the assumption as the user wrote it; may be empty
  Endian endian = Endian::kLittle;  // byte order of the assumption's 64-bit fields
  // The question covers all values of these names that the kernel accepts. Their places must be
  // instructions of `before` and `after` themselves, not of copies; see check_symbols.
  Symbols symbols;

  // Returns the assumption for people.
  [[nodiscard]] std::string assumption_text() const {
    return assumed.empty() ? describe(assumption) : assumed;
  }

  Question() = default;
  explicit Question(const Pair& pair)
      : before{pair.before}, after{pair.after}, sameness(pair.sameness) {}
  explicit Question(Pair&&) = delete;  // its programs would not outlive the question

  // Returns all programs of both sides.
  [[nodiscard]] std::vector<ProgramView> programs() const {
    std::vector<ProgramView> out = before;
    out.insert(out.end(), after.begin(), after.end());
    return out;
  }
};

// Checks the places of the symbols; every engine calls it first. Error: kInternal if a place lies
// in none of the question's programs, because the engine would then prove something about the
// placeholder.
Status check_symbols(const Question& question);

// Returns the relation if `after` has a more permissive action for some input (`looser`), or a less
// permissive one (`stricter`).
Relation relation_of(bool looser, bool stricter);

// Compares the action of `after` with that of `before`: kEqual, kStricter or kLooser. Unknown
// actions are treated as KILL_PROCESS.
Relation compare_actions(std::uint32_t before, std::uint32_t after);

// A question about filters with symbols, after filling in values for them. It refers to its own
// `programs`, so it cannot be copied.
struct Instance {
  std::vector<Program> programs;
  Question question;

  // `values` has one element per symbol.
  Instance(const Question& asked, std::span<const std::uint32_t> values);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
};

// Runs both sides on `data`. Returns a witness if the assumption holds and the goal is violated:
// for kSame the decisions differ, for kRefines `after` is more permissive. Precondition: no
// symbols.
std::optional<Witness> replay(const Question& question, const SeccompData& data);

// Replays with values for the filters' symbols.
std::optional<Witness> replay(const Question& question, std::span<const std::uint32_t> values,
                              const SeccompData& data);

// Returns a smaller witness, found by runs alone; see minimize in pair.h.
Witness minimize(const Question& question, const Witness& witness);

// Returns the error for an assumption that is false for every input, under which a proof would mean
// nothing.
Error vacuous(const Question& question);
// Returns whether the error is that of vacuous().
bool is_vacuous(const Error& error);

}  // namespace secequiv
