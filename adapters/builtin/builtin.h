// Owns the optimizers, compilers and evaluators that are part of this program, behind the
// interfaces of harness/adapter, and their names. It must not know where requests come from.
//   secequiv     the reference optimizer; our interpreter
//   kernel       evaluators only: the running Linux (harness/kernel)
//   identity     returns a program unchanged, and a policy's unoptimized program
//   broken:NAME  wrong on purpose (broken/planted.h, broken/evaluators.h)
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/interfaces.h"

namespace secequiv {

enum class BuiltinKind : std::uint8_t { kOptimizer, kCompiler, kEvaluator };

// Returns all names of one kind. A bug planted in rules or layout gives only a compiler. A bug
// planted in bytecode passes gives an optimizer, and also a compiler that runs this optimizer on
// the unoptimized program.
std::vector<std::string> builtin_names(BuiltinKind kind);

// Return null for an unknown name. The answer is kRefused, with the reason, if the kernel refuses
// the program for a reason other than its length.
std::unique_ptr<Optimizer> builtin_optimizer(std::string_view name);
std::unique_ptr<Compiler> builtin_compiler(std::string_view name);
std::unique_ptr<Evaluator> builtin_evaluator(std::string_view name);

}  // namespace secequiv
