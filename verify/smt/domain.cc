#include "verify/smt/domain.h"

#include <new>
#include <unordered_map>

namespace secequiv::smt {
namespace {

// The first error of each context. Z3 forgets an error when the next function is called, and its
// default handler ends the process. Callers read it through Terms::error().
thread_local std::unordered_map<Z3_context, Z3_error_code> first_errors;

void remember(Z3_context context, Z3_error_code code) { first_errors.try_emplace(context, code); }

}  // namespace

Terms::Terms(std::span<const Symbol> symbols) {
  load_z3();
  Z3_config config = Z3_mk_config();
  context_ = Z3_mk_context(config);
  Z3_del_config(config);
  if (context_ == nullptr) throw std::bad_alloc();  // memory ran out; operator new throws the same
  first_errors.erase(context_);
  Z3_set_error_handler(context_, remember);
  word_sort_ = Z3_mk_bv_sort(context_, 32);
  true_ = Z3_mk_true(context_);
  false_ = Z3_mk_false(context_);
  const auto add = [&](const std::string& name) {
    inputs_.push_back(
        Z3_mk_const(context_, Z3_mk_string_symbol(context_, name.c_str()), word_sort_));
  };
  for (std::uint32_t i = 0; i < Symbols::kFirstWord; ++i) add("word" + std::to_string(i));
  for (const Symbol& symbol : symbols) add("$" + symbol.name);
}

Terms::~Terms() {
  first_errors.erase(context_);
  Z3_del_context(context_);
}

bool Terms::gives_up(std::size_t more) {
  if (gave_up_.empty() && stop_())
    gave_up_ = "time limit reached";
  else if (gave_up_.empty() && !memory_fits(more))
    gave_up_ = "memory limit reached";
  return !gave_up_.empty();
}

std::string Terms::error() const {
  if (!gave_up_.empty()) return stop_wanted() ? stop_reason() : gave_up_;
  const auto first = first_errors.find(context_);
  return first == first_errors.end() ? std::string() : Z3_get_error_msg(context_, first->second);
}

Terms::Bool Terms::both(Bool a, Bool b) {
  if (a == true_ || b == false_) return b;
  if (b == true_ || a == false_) return a;
  Z3_ast args[] = {a, b};
  return Z3_mk_and(context_, 2, args);
}

Terms::Bool Terms::either(Bool a, Bool b) {
  if (a == false_ || b == true_) return b;
  if (b == false_ || a == true_) return a;
  Z3_ast args[] = {a, b};
  return Z3_mk_or(context_, 2, args);
}

Terms::Bool Terms::negate(Bool a) {
  if (a == true_) return false_;
  if (a == false_) return true_;
  return Z3_mk_not(context_, a);
}

Terms::Word Terms::choose(Bool condition, Word then, Word otherwise) {
  if (condition == true_ || then == otherwise) return then;
  if (condition == false_) return otherwise;
  return Z3_mk_ite(context_, condition, then, otherwise);
}

}  // namespace secequiv::smt
