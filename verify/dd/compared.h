// Owns both sides of a question as functions in one space, and which inputs count. With
// Sameness::kEffect, the functions give the most permissive decisions of each class of inputs
// (harness/seccomp/input_class.h). It must not know verdicts (engine.h).
#pragma once

#include <optional>

#include "harness/compare/question.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

class Compared {
 public:
  // Precondition: the space was made for the question's programs and symbols. With kEffect, a
  // computed return value exhausts the space.
  Compared(Space& space, const Question& question);

  // Functions from inputs to decisions. With kEffect, they are constant on each class.
  [[nodiscard]] const Decisions& before() const { return before_; }
  [[nodiscard]] const Decisions& after() const { return after_; }
  // The set of inputs that the question does not ignore; with kEffect, whole classes.
  [[nodiscard]] NodeId counts() const { return counts_; }

  [[nodiscard]] NodeId differing() { return counting(space_.differing(before_, after_)); }
  // Returns the inputs for which `after` is more permissive, and those for which `before` is.
  [[nodiscard]] NodeId looser() { return counting(space_.more_permissive(after_, before_)); }
  [[nodiscard]] NodeId stricter() { return counting(space_.more_permissive(before_, after_)); }

  // Returns an input that shows the difference when both sides run: with kEffect, the member of the
  // class of `data` for which one side makes a decision that the other side makes for no member.
  // Otherwise this is `data` itself. Returns nothing if a limit is reached. Precondition: `data` is
  // in a set above.
  std::optional<SeccompData> shown(const SeccompData& data);

 private:
  NodeId counting(NodeId set) { return space_.diagrams().both(counts_, set); }

  Space& space_;
  const Question& question_;
  Decisions before_;
  Decisions after_;
  NodeId counts_ = Diagrams::kZero;
  // For kEffect: the inputs that count, and the decisions for them, before classes were formed.
  NodeId members_ = Diagrams::kZero;
  NodeId before_members_ = Diagrams::kZero;
  NodeId after_members_ = Diagrams::kZero;
};

}  // namespace secequiv::dd
