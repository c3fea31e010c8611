(* Prints the theorems with all definitions that their meaning depends on, and the axioms they rest on. tests/theorems.txt holds the
   expected text. `check`, `check_cnf`, `formula`, `guarded`, `accept` and `legal` need no reader: whatever they
   compute, the theorems hold. *)

Require Import NArith.
From Proved Require Import Filter Condition Known Check Sound Gates Lrat Encode Cnf.
Set Printing Width 140.

Check check_raw.
Check check_behaviour.
Check check_returns.
Check check_stack.
Check check_cnf_raw.
Check check_cnf_behaviour.
Check check_cnf_returns.
Check unsatisfiable_equal.
Check guarded_same.
Check guarded_same_behaviour.
Check accepted_returns.
Check accepted_is_legal.
Print Assumptions check_raw.
Print Assumptions check_behaviour.
Print Assumptions check_returns.
Print Assumptions check_stack.
Print Assumptions check_cnf_raw.
Print Assumptions check_cnf_behaviour.
Print Assumptions check_cnf_returns.
Print Assumptions unsatisfiable_equal.
Print Assumptions guarded_same.
Print Assumptions guarded_same_behaviour.
Print Assumptions accepted_returns.
Print Assumptions accepted_is_legal.

Print sock_filter.
Print program.
Print data.
Print result.
Print behaviour.
Print observed.
Print run_stack.
Print run_stack_from.
Print precedence.
Print run.
Print SECCOMP_RET_ALLOW.
Print start.
Print exec.
Print step.
Print value_of.
Print load.
Print alu.
Print u32.
Print all_bits.
Print compare.
Print read.
Print setA.
Print setX.
Print setM.
Print machine.
Print next.
Print insn.
Print operand.
Print alu_op.
Print jump_op.
Print decode_all.
Print decode.
Print seen.
Print sameness.
Print satisfies.
Print clause.
Print value.
Print model.
