#include "verify/smt/rule_terms.h"

#include <fmt/format.h>

#include <algorithm>

namespace secequiv::smt {
namespace {

using rules::Op;

Z3_ast named(Z3_context c, const std::string& name, Z3_sort sort) {
  return Z3_mk_const(c, Z3_mk_string_symbol(c, name.c_str()), sort);
}

// Returns the number of set bits, by adding pairs of bits, then pairs of sums, and so on.
Z3_ast popcount(Z3_context c, Z3_ast word) {
  Z3_sort sort = Z3_get_sort(c, word);
  const auto number = [&](std::uint32_t n) { return Z3_mk_unsigned_int64(c, n, sort); };
  constexpr std::array<std::uint32_t, 5> kMasks = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
                                                   0x0000ffff};
  for (std::uint32_t i = 0; i < kMasks.size(); ++i) {
    Z3_ast mask = number(kMasks[i]);
    word = Z3_mk_bvadd(c, Z3_mk_bvand(c, word, mask),
                       Z3_mk_bvand(c, Z3_mk_bvlshr(c, word, number(1u << i)), mask));
  }
  return word;
}

}  // namespace

RuleTerms::RuleTerms() : entry_{} {
  Z3_sort word = Z3_mk_bv_sort(context(), 32);
  entry_.a = named(context(), "A", word);
  entry_.x = named(context(), "X", word);
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    entry_.m[k] = named(context(), fmt::format("M{}", k), word);
  for (std::uint32_t i = 0; i < words_.size(); ++i) words_[i] = input(i);
}

RuleTerms::Value RuleTerms::number(std::uint64_t n, int width) {
  if (width == rules::kTruth) return truth(n != 0);
  return Z3_mk_unsigned_int64(context(), n, Z3_mk_bv_sort(context(), static_cast<unsigned>(width)));
}

RuleTerms::Value RuleTerms::symbol(const std::string& name, int width) {
  const auto known = symbols_.find(name);
  if (known != symbols_.end()) return known->second;
  Z3_sort sort = width == rules::kTruth ? Z3_mk_bool_sort(context()) : Z3_mk_bv_sort(context(), 32);
  return symbols_.emplace(name, named(context(), "$" + name, sort)).first->second;
}

RuleTerms::Bool RuleTerms::is_slot(Word word, unsigned first_bit, std::uint32_t slot) {
  Z3_context c = context();
  return Z3_mk_eq(c, Z3_mk_extract(c, first_bit + 3, first_bit, word),
                  Z3_mk_unsigned_int64(c, slot, Z3_mk_bv_sort(c, 4)));
}

RuleTerms::Word RuleTerms::pick(std::span<const Word> table, Word word, unsigned first_bit) {
  Word out = table[0];
  for (std::uint32_t slot = 1; slot < table.size(); ++slot)
    out = choose(is_slot(word, first_bit, slot), table[slot], out);
  return out;
}

RuleTerms::Value RuleTerms::mem(Value index) { return pick(entry_.m, index, 0); }

RuleTerms::Value RuleTerms::load(Value offset) { return pick(words_, offset, 2); }

RuleTerms::Value RuleTerms::apply(Op op, int width, const std::vector<Value>& args) {
  Z3_context c = context();
  Value a = args.empty() ? nullptr : args[0];
  Value b = args.size() < 2 ? nullptr : args[1];
  switch (op) {
    case Op::kNot:
      return negate(a);
    case Op::kAnd:
    case Op::kOr: {
      Value out = truth(op == Op::kAnd);
      for (Value arg : args) out = op == Op::kAnd ? both(out, arg) : either(out, arg);
      return out;
    }
    case Op::kImplies:
      return either(negate(a), b);
    case Op::kIff:
    case Op::kEq:
      return Z3_mk_eq(c, a, b);
    case Op::kUlt:
      return Z3_mk_bvult(c, a, b);
    case Op::kUle:
      return Z3_mk_bvule(c, a, b);
    case Op::kSlt:
      return Z3_mk_bvslt(c, a, b);
    case Op::kSle:
      return Z3_mk_bvsle(c, a, b);
    case Op::kBitOr:
      return Z3_mk_bvor(c, a, b);
    case Op::kBitXor:
      return Z3_mk_bvxor(c, a, b);
    case Op::kBitAnd:
      return Z3_mk_bvand(c, a, b);
    case Op::kShl:
      return Z3_mk_bvshl(c, a, b);
    case Op::kShr:
      return Z3_mk_bvlshr(c, a, b);
    case Op::kAdd:
      return Z3_mk_bvadd(c, a, b);
    case Op::kSub:
      return Z3_mk_bvsub(c, a, b);
    case Op::kMul:
      return Z3_mk_bvmul(c, a, b);
    case Op::kDiv:
      return Z3_mk_bvudiv(c, a, b);
    case Op::kNeg:
      return Z3_mk_bvneg(c, a);
    case Op::kInvert:
      return Z3_mk_bvnot(c, a);
    case Op::kPopcount:
      return popcount(c, a);
    case Op::kWide:
      return Z3_mk_concat(c, a, b);
    case Op::kIf:
      return Z3_mk_ite(c, a, b, args[2]);
    default:
      return number(0, width);  // not reached: evaluate() handles leaves by other functions
  }
}

void RuleTerms::step_operand(const Insn& in, Word operand, Machine<RuleTerms>& machine,
                             detail::SymbolicControl<RuleTerms>& control) {
  switch (in.code) {
    case kLdWAbs:
      machine.a = load(operand);
      return control.next();
    case kLdMem:
      machine.a = pick(machine.m, operand, 0);
      return control.next();
    case kLdxMem:
      machine.x = pick(machine.m, operand, 0);
      return control.next();
    case kSt:
    case kStx:
      for (std::uint32_t k = 0; k < kMemWords; ++k)
        machine.m[k] =
            choose(is_slot(operand, 0, k), in.code == kSt ? machine.a : machine.x, machine.m[k]);
      return control.next();
    default:
      return step_with(*this, operand, in, machine, control);
  }
}

RuleTerms::Endings RuleTerms::run(const rules::Side& side, const rules::Rewrite& rule) {
  Endings out{std::vector<Bool>(rule.exits.size(), truth(false)),
              std::vector<Machine<RuleTerms>>(rule.exits.size(), entry_), truth(false),
              constant(0)};
  if (const auto* condition = std::get_if<rules::Expr>(&side)) {
    Bool holds = rules::evaluate(*this, *condition);
    for (std::size_t exit = 0; exit < rule.exits.size(); ++exit) {
      if (rule.exits[exit] == "yes") out.reaches[exit] = holds;
      if (rule.exits[exit] == "no") out.reaches[exit] = negate(holds);
    }
    return out;
  }
  const auto& fragment = std::get<rules::Fragment>(side);
  std::vector<Z3_ast> operands;
  operands.reserve(fragment.operands.size());
  for (const auto& operand : fragment.operands)
    operands.push_back(operand ? rules::evaluate(*this, *operand) : nullptr);
  using Place = SymbolicPlace<RuleTerms>;
  walk_symbolic(
      *this, fragment.program, Place{truth(true), entry_, 0xffff},
      [&](std::size_t pc, const Place& place) {
        if (pc < fragment.size) return true;
        out.reaches[pc - fragment.size] = *place.reach;
        out.states[pc - fragment.size] = *place.machine;
        return false;
      },
      [&](std::size_t pc, Machine<RuleTerms>& machine,
          detail::SymbolicControl<RuleTerms>& control) {
        if (operands[pc] != nullptr)
          step_operand(fragment.program[pc], operands[pc], machine, control);
        else
          step(*this, fragment.program[pc], machine, control);
      },
      [&](std::size_t, const Place& place, const detail::SymbolicControl<RuleTerms>& control) {
        const bool is_return = control.value.has_value();
        if (!is_return && (control.kind == detail::SymbolicControl<RuleTerms>::Kind::kBranch ||
                           !control.condition))
          return;
        // A division by zero returns 0.
        Bool ends = is_return ? *place.reach : both(*place.reach, *control.condition);
        out.returns = either(out.returns, ends);
        out.value = choose(ends, is_return ? *control.value : constant(0), out.value);
      });
  return out;
}

std::vector<Z3_ast> RuleTerms::variables(const rules::Instance& instance) {
  std::vector<Z3_ast> out;
  for (const rules::Symbol& s : instance.symbols) {
    Value term = symbol(s.name, s.width);
    out.push_back(s.width == rules::kTruth ? Z3_mk_ite(context(), term, constant(1), constant(0))
                                           : term);
  }
  out.push_back(entry_.a);
  out.push_back(entry_.x);
  out.insert(out.end(), entry_.m.begin(), entry_.m.end());
  for (std::uint32_t word = 0; word < kSeccompDataSize / 4; ++word) out.push_back(input(word));
  return out;
}

rules::Assignment RuleTerms::assignment(const rules::Instance& instance,
                                        const std::vector<std::uint32_t>& values) {
  rules::Assignment out;
  const auto symbols = static_cast<std::ptrdiff_t>(instance.symbols.size());
  auto at = values.begin() + symbols;
  out.symbols.assign(values.begin(), at);
  out.entry.a = *at++;
  out.entry.x = *at++;
  std::copy_n(at, kMemWords, out.entry.m.begin());
  at += kMemWords;
  std::copy_n(at, SeccompData::kWords, out.input.words.begin());
  return out;
}

}  // namespace secequiv::smt
