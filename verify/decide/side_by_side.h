// Runs all engines at the same time. Owns their threads. It must not know any other order.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/decide/decide.h"

namespace secequiv {

// Runs all engines and all of `engine.solvers` until the first one decides. Errors: those of
// ask_engine().
Result<Proof> side_by_side(const Question& question, const Engine& engine, const Budget& budget);

}  // namespace secequiv
