// Owns both sides of a question as words of a symbolic domain, and the conditions on them that an
// engine decides. It must not know how they are decided.
#pragma once

#include "verify/symbolic/assume.h"

namespace secequiv {

template <SymbolicDomain D>
class Sides {
 public:
  using Bool = typename D::Bool;
  using Word = typename D::Word;

  Sides(D& domain, const Question& question)
      : domain_(domain),
        question_(question),
        before_(side(question.before)),
        after_(side(question.after)) {}

  Bool counts() { return counting(domain_, question_); }
  Bool differ() { return domain_.negate(domain_.eq(before_, after_)); }
  Bool looser() { return more_permissive_symbolic(domain_, after_, before_); }
  Bool stricter() { return more_permissive_symbolic(domain_, before_, after_); }
  // Returns a condition that some input meets if and only if the requested property does not hold.
  Bool wrong() { return question_.goal == Question::Goal::kRefines ? looser() : differ(); }

 private:
  Word side(std::span<const ProgramView> filters) {
    return normalize_symbolic(domain_, run_stack_symbolic(domain_, filters, question_.symbols),
                              question_.sameness);
  }

  D& domain_;
  const Question& question_;
  Word before_;
  Word after_;
};

}  // namespace secequiv
