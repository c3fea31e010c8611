#include "verify/smt/domain.h"

namespace secequiv::smt {
namespace {

// Z3 reports errors through this; the default handler ends the process. Callers look at error().
void keep_going(Z3_context, Z3_error_code) {}

}  // namespace

Terms::Terms() {
  Z3_config config = Z3_mk_config();
  context_ = Z3_mk_context(config);
  Z3_del_config(config);
  Z3_set_error_handler(context_, keep_going);
  word_sort_ = Z3_mk_bv_sort(context_, 32);
  true_ = Z3_mk_true(context_);
  false_ = Z3_mk_false(context_);
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    const std::string name = "word" + std::to_string(i);
    inputs_[i] = Z3_mk_const(context_, Z3_mk_string_symbol(context_, name.c_str()), word_sort_);
  }
}

Terms::~Terms() { Z3_del_context(context_); }

std::string Terms::error() const {
  const Z3_error_code code = Z3_get_error_code(context_);
  return code == Z3_OK ? std::string() : std::string(Z3_get_error_msg(context_, code));
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
