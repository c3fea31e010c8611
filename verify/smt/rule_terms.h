// Rules as terms of Z3: symbols, entry state and input are constants of the solver, code runs
// through the same semantics as whole programs. Owns the encoding. It must not know what is asked
// (rules.h). Shows Z3's types, so only .cc files of this folder include it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "verify/rules/rule.h"
#include "verify/smt/domain.h"

namespace secequiv::smt {

// The domain of expressions (verify/rules/expr.h) and of code with symbolic operands.
class RuleTerms : public Terms {
 public:
  RuleTerms();

  // Of expressions; `width` as there.
  using Value = Z3_ast;
  Value number(std::uint64_t n, int width);
  Value symbol(const std::string& name, int width);
  Value a() { return entry_.a; }
  Value x() { return entry_.x; }
  Value mem(Value index);
  Value load(Value offset);
  Value apply(rules::Op op, int width, const std::vector<Value>& args);

  // Of code: while an instruction with a symbolic operand is at work, the constant or the load it
  // asks for is that operand's.
  void at(std::size_t pc) { here_ = pc < operands_.size() ? operands_[pc] : nullptr; }
  Word constant(std::uint32_t k) { return here_ != nullptr ? here_ : Terms::constant(k); }
  Word load(std::uint32_t word) { return here_ != nullptr ? load(here_) : Terms::load(word); }
  bool executes(std::size_t pc, const Insn& in, Machine<RuleTerms>& machine);

  // Where code goes from the entry on; nothing for exits that no path of jumps leads to.
  struct Endings {
    std::vector<Bool> reaches;  // per exit
    std::vector<Machine<RuleTerms>> states;
    Bool returns;
    Word value;
  };
  Endings run(const rules::Side& side, const rules::Rule& rule);

  // Terms for everything that an assignment gives values to: symbols, then A, X, M[], the input.
  std::vector<Z3_ast> variables(const rules::Instance& instance);
  static rules::Assignment assignment(const rules::Instance& instance,
                                      const std::vector<std::uint32_t>& values);

 private:
  // A table of 16 words at the index that the four bits of `word` from `first_bit` on are. The
  // other bits are 0 where it counts (rule_query.h), so nothing looks at them.
  Word pick(std::span<const Word> table, Word word, unsigned first_bit);
  Bool is_slot(Word word, unsigned first_bit, std::uint32_t slot);

  std::map<std::string, Z3_ast> symbols_;
  Machine<RuleTerms> entry_;
  std::array<Word, 16> words_;  // of the input
  std::vector<Z3_ast> operands_;
  Z3_ast here_ = nullptr;
};
static_assert(SymbolicDomain<RuleTerms>);

}  // namespace secequiv::smt
