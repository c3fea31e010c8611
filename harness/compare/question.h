// What is asked of a proof engine: do two filters, or stacks of filters, decide the same, or is the
// second never more permissive, on the inputs that an assumption leaves? Owns the question and what
// an input answers to it. It must not prove anything (verify/).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/bpf/symbols.h"
#include "harness/compare/pair.h"
#include "harness/seccomp/assumption.h"

namespace secequiv {

// How one decision, or everything a filter decides, compares with another in the kernel's order of
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

  // Not empty; of several the newest first. The programs outlive the question.
  std::vector<ProgramView> before;
  std::vector<ProgramView> after;
  Sameness sameness = Sameness::kRaw;
  Goal goal = Goal::kSame;
  Assumption assumption;            // inputs for which it is false do not count
  Endian endian = Endian::kLittle;  // of the assumption's 64-bit fields
  // Of the programs: the question is about all of their values that the kernel takes.
  Symbols symbols;

  Question() = default;
  explicit Question(const Pair& pair)
      : before{pair.before}, after{pair.after}, sameness(pair.sameness) {}

  // All programs of both sides.
  [[nodiscard]] std::vector<ProgramView> programs() const {
    std::vector<ProgramView> out = before;
    out.insert(out.end(), after.begin(), after.end());
    return out;
  }
};

// From whether a more and whether a less permissive action occurs.
Relation relation_of(bool looser, bool stricter);

// How the action of `after` compares with that of `before`: kEqual, kStricter or kLooser. Unknown
// actions are KILL_PROCESS.
Relation compare_actions(std::uint32_t before, std::uint32_t after);

// A question about filters with names, asked of the filters that certain values make. The question
// is about `programs`, so it is not copied.
struct Instance {
  std::vector<Program> programs;
  Question question;

  // `values` has one for each symbol.
  Instance(const Question& asked, std::span<const std::uint32_t> values);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
};

// Runs both sides on `data`, whose filters have no names left; a witness if it counts and answers
// the question with no: the decisions differ, or, where the question is whether `after` refines
// `before`, `after` is more permissive.
std::optional<Witness> replay(const Question& question, const SeccompData& data);

// The same with values for the filters' names.
std::optional<Witness> replay(const Question& question, std::span<const std::uint32_t> values,
                              const SeccompData& data);

// A smaller witness of the same, found by running only; see minimize in pair.h.
Witness minimize(const Question& question, const Witness& witness);

// What an engine says that finds the assumption false for every input: nothing would be proven.
Error vacuous(const Question& question);

}  // namespace secequiv
