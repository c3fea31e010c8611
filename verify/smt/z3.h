// Owns the functions of Z3 that this folder calls. The library is loaded when the first context is
// made, because loading it takes longer than most proofs by diagrams. It must not know queries.
#pragma once

#include <z3.h>

namespace secequiv::smt {

// clang-format off
#define SECEQUIV_Z3_FUNCTIONS(F) \
  F(Z3_del_config) F(Z3_del_context) F(Z3_get_error_msg) F(Z3_get_numeral_uint64) F(Z3_get_sort) \
  F(Z3_interrupt) F(Z3_mk_and) F(Z3_mk_atmost) F(Z3_mk_bool_sort) F(Z3_mk_bv_sort) \
  F(Z3_mk_bvadd) F(Z3_mk_bvand) F(Z3_mk_bvlshr) F(Z3_mk_bvmul) F(Z3_mk_bvneg) F(Z3_mk_bvnot) \
  F(Z3_mk_bvor) F(Z3_mk_bvshl) F(Z3_mk_bvsle) F(Z3_mk_bvslt) F(Z3_mk_bvsub) F(Z3_mk_bvudiv) \
  F(Z3_mk_bvuge) F(Z3_mk_bvugt) F(Z3_mk_bvule) F(Z3_mk_bvult) F(Z3_mk_bvxor) F(Z3_mk_concat) \
  F(Z3_mk_config) F(Z3_mk_const) F(Z3_mk_context) F(Z3_mk_eq) F(Z3_mk_extract) F(Z3_mk_false) \
  F(Z3_mk_ite) F(Z3_mk_not) F(Z3_mk_or) F(Z3_mk_params) F(Z3_mk_simple_solver) \
  F(Z3_mk_solver_for_logic) F(Z3_mk_string_symbol) F(Z3_mk_true) F(Z3_mk_unsigned_int64) \
  F(Z3_model_dec_ref) F(Z3_model_eval) F(Z3_model_inc_ref) F(Z3_params_dec_ref) \
  F(Z3_params_inc_ref) F(Z3_params_set_bool) F(Z3_params_set_uint) F(Z3_set_error_handler) \
  F(Z3_solver_assert) F(Z3_solver_check) F(Z3_solver_dec_ref) F(Z3_solver_get_model) \
  F(Z3_solver_get_reason_unknown) F(Z3_solver_inc_ref) F(Z3_solver_pop) F(Z3_solver_push) \
  F(Z3_solver_set_params) F(Z3_solver_to_string) F(Z3_substitute)
// clang-format on

// In this namespace, these pointers have the names of the functions. load_z3() sets them.
// NOLINTNEXTLINE(bugprone-macro-parentheses): names of functions
#define SECEQUIV_Z3_POINTER(name) inline decltype(&::name) name = nullptr;
SECEQUIV_Z3_FUNCTIONS(SECEQUIV_Z3_POINTER)
#undef SECEQUIV_Z3_POINTER

// Loads the Z3 of the system, or the one of PyPI's package z3-solver beside ours. Throws
// NotInstalled if there is none.
void load_z3();

}  // namespace secequiv::smt
