(* Writes the functions as OCaml. Numbers stay Coq's binary numbers: no directive replaces them by machine integers.
   ExtrOcamlBasic maps booleans, options, pairs and lists to OCaml's. *)

From Proved Require Import Filter Known Check.
Require Extraction ExtrOcamlBasic.

Extraction Language OCaml.
Extraction "proved.ml" check legal refusal refusal_of_any_length run run_stack observed.
