(* Writes the functions as OCaml. Numbers stay Coq's binary numbers: no directive replaces them by machine integers.
   ExtrOcamlBasic maps booleans, options, pairs and lists to OCaml's. *)

From Proved Require Import Filter Condition Known Check Gates Words Lrat Encode Cnf.
Require Extraction ExtrOcamlBasic.

Extraction Language OCaml.
(* check_insn, seccomp_check_filter, returned, no_gates and refute only find the reason for which `check_cnf` refuses, and formula prints query.cnf. *)
(* check_item, decode_all and nothing_defined only find the line of a claim that `check` has refused. *)
Extraction "proved.ml" check check_item decode_all nothing_defined legal refusal refusal_of_any_length run run_stack observed
  guard guarded check_cnf formula refute returned no_gates check_insn seccomp_check_filter.
