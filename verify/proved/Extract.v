(* Writes the functions as OCaml. Numbers stay Coq's binary numbers: no directive replaces them by machine integers.
   ExtrOcamlBasic maps booleans, options, pairs and lists to OCaml's. *)

From Proved Require Import Filter Condition Known Check Gates Words Lrat Encode Cnf.
Require Extraction ExtrOcamlBasic.

Extraction Language OCaml.
(* check_insn, seccomp_check_filter, returned and no_gates only find the instruction for which `judge` refuses a program. *)
(* check_item, decode_all and nothing_defined only find the line of a claim that `check` has refused. *)
Extraction "proved.ml" check check_item decode_all nothing_defined legal refusal refusal_of_any_length run run_stack observed
  guard guarded judge returned no_gates check_insn seccomp_check_filter.
