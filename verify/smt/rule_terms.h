// Owns the encoding of rewrites as terms of Z3: symbols, entry state and input are constants of the
// solver, and code runs through the same semantics as whole programs. It must not know queries
// (rules.h). It exposes Z3's types, so only .cc files of this folder include it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "verify/rules/rule.h"
#include "verify/smt/domain.h"

namespace secequiv::smt {

// The domain of expressions (verify/rules/expr.h), and of code with symbolic operands.
class RuleTerms : public Terms {
 public:
  RuleTerms();

  // rules::evaluate() uses these.
  using Value = Z3_ast;
  Value number(std::uint64_t n, int width);
  Value symbol(const std::string& name, int width);
  Value a() { return entry_.a; }
  Value x() { return entry_.x; }
  Value mem(Value index);
  Value load(Value offset);
  using Terms::load;
  Value apply(rules::Op op, int width, const std::vector<Value>& args);

  // Where code ends when it runs from its entry.
  struct Endings {
    std::vector<Bool> reaches;  // by exit
    std::vector<Machine<RuleTerms>> states;
    Bool returns;
    Word value;
  };
  Endings run(const rules::Side& side, const rules::Rewrite& rule);

  // Returns terms for everything that has a value in an assignment: symbols, then A, X, M[], the
  // input.
  std::vector<Z3_ast> variables(const rules::Instance& instance);
  static rules::Assignment assignment(const rules::Instance& instance,
                                      const std::vector<std::uint32_t>& values);

 private:
  // Returns the element of a table of 16 words whose index is the four bits of `word` from
  // `first_bit` up. Other bits are 0 in all values that count (RuleQuery::counts).
  Word pick(std::span<const Word> table, Word word, unsigned first_bit);
  Bool is_slot(Word word, unsigned first_bit, std::uint32_t slot);

  // Executes an instruction whose operand is a term.
  void step_operand(const Insn& in, Word operand, Machine<RuleTerms>& machine,
                    detail::SymbolicControl<RuleTerms>& control);

  std::map<std::string, Z3_ast> symbols_;
  Machine<RuleTerms> entry_;
  std::array<Word, 16> words_;  // words of the input
};
static_assert(SymbolicDomain<RuleTerms>);

}  // namespace secequiv::smt
