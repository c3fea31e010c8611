// Optimizers, compilers and evaluators that are part of this program, behind the interfaces of
// harness/adapter. Owns their names. It must not know where requests come from.
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

// All names of one kind. A bug in the rules or the layout makes a compiler only; a bug in the
// bytecode makes an optimizer, and a compiler that runs it on the unoptimized program.
std::vector<std::string> builtin_names(BuiltinKind kind);

// Null for an unknown name. A program that check() refuses (the length rule aside), or a policy
// that read_policy() refuses, gets kRefused with the reason.
std::unique_ptr<Optimizer> builtin_optimizer(std::string_view name);
std::unique_ptr<Compiler> builtin_compiler(std::string_view name);
std::unique_ptr<Evaluator> builtin_evaluator(std::string_view name);

}  // namespace secequiv
