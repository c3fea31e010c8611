#include "fuzz/hunt/prover.h"

#include <memory>

#include "verify/dd/prover.h"

namespace secequiv::hunt {

Prover diagram_prover(std::size_t steps) {
  // Copies of this function share one prover. That is safe, because its only state is a cache.
  return [steps, prover = std::make_shared<dd::Prover>()](const Question& question, bool thorough) {
    if (thorough) return dd::prove(question);
    std::size_t length = 0;
    for (const ProgramView program : question.before) length += program.size();
    for (const ProgramView program : question.after) length += program.size();
    return prover->prove(
        question, {.nodes = (std::size_t{1} << 14) + 16 * length, .steps = steps + 64 * length});
  };
}

}  // namespace secequiv::hunt
