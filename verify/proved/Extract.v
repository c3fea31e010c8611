(* Prints what the theorems rest on, and writes the functions as OCaml. Numbers stay Coq's binary numbers: no directive replaces
   them by machine integers. ExtrOcamlBasic maps booleans, options, pairs and lists to OCaml's. *)

Require Import NArith.
From Proved Require Import Filter Known Check Sound.
Require Extraction ExtrOcamlBasic.

Print Assumptions accepted_returns.
Print Assumptions check_raw.
Print Assumptions check_behaviour.
Print Assumptions check_returns.

Extraction Language OCaml.
Extraction "proved.ml" check legal refusal refusal_of_any_length run observed.
