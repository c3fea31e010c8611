// Optimizers, compilers and evaluators that are part of this program, behind the interfaces of
// other people's (harness/adapter). Owns their names. It must not know where requests come from.
//   secequiv     the reference optimizer; our interpreter
//   kernel       evaluators only: the running Linux (harness/kernel)
//   identity     changes nothing: of programs the same one, of policies the unoptimized compiler's
//   broken:NAME  wrong on purpose (broken/planted.h, broken/evaluators.h)
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/interfaces.h"

namespace secequiv {

enum class BuiltinKind : std::uint8_t { kOptimizer, kCompiler, kEvaluator };

// Every name that the function for this kind knows. What is broken in the rules or the layout is a
// compiler only; what is broken in the bytecode is both, as a compiler behind the unoptimized one.
std::vector<std::string> builtin_names(BuiltinKind kind);

// Null for an unknown name. A program that check() refuses (the length rule aside), or a policy
// that read_policy does, is answered with kRefused and why.
std::unique_ptr<Optimizer> builtin_optimizer(std::string_view name);
std::unique_ptr<Compiler> builtin_compiler(std::string_view name);
std::unique_ptr<Evaluator> builtin_evaluator(std::string_view name);

}  // namespace secequiv
