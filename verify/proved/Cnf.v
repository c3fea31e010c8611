(* The clauses that claim that two programs return different values (`formula` and `clauses` of scripts/check_cnf_certificate), and the
   theorems: if no assignment satisfies them, the programs return the same. *)

Require Import NArith ZArith List Bool Lia FMapPositive MSets.MSetPositive.
From Proved Require Import Filter Gates Words Lrat Encode.
From Proved Require Check.
Import ListNotations.
Open Scope N_scope.

(* ---- The clauses --------------------------------------------------------------------------------------------- *)

(* Whether two words differ in a bit. *)
Fixpoint any_difference (a b : word) (out : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := differ p q g in
      let (out, g) := either out here g in
      any_difference a b out g
  | _, _ => (out, g)
  end.

Definition variable (l : Z) : positive := match l with Zpos v | Zneg v => v | Z0 => 1 end.

(* The gates that the wanted variables depend on, the oldest first. *)
Fixpoint needed (made : list (positive * gate)) (wanted : PositiveSet.t) (found : list (positive * gate)) : list (positive * gate) :=
  match made with
  | [] => found
  | (v, f) :: made =>
      if PositiveSet.mem v wanted then
        needed made (fold_left (fun s l => PositiveSet.add (variable l) s) (inputs f) wanted) ((v, f) :: found)
      else needed made wanted found
  end.

(* New numbers for these gates, without gaps. *)
Fixpoint renumber (l : list (positive * gate)) (next : positive) (numbers : PositiveMap.t positive) : PositiveMap.t positive * positive :=
  match l with
  | [] => (numbers, next)
  | (v, _) :: l => renumber l (Pos.succ next) (PositiveMap.add v next numbers)
  end.

(* A gate that has no number is never needed; TRUE stands for it, because a true literal only weakens the claim. *)
Definition renamed (numbers : PositiveMap.t positive) (l : Z) : Z :=
  if (variable l <? FIRST_GATE)%positive then l
  else match PositiveMap.find (variable l) numbers, l with
  | Some v, Zpos _ => Zpos v
  | Some v, _ => Zneg v
  | None, _ => TRUE
  end.

(* The variable v has the value of the gate. *)
Definition gate_clauses (v : Z) (f : gate) : list clause :=
  match f with
  | And a b => [[-v; a]; [-v; b]; [v; -a; -b]]
  | Xor a b => [[-v; a; b]; [-v; -a; -b]; [v; -a; b]; [v; a; -b]]
  | Mux c yes no => [[-v; -c; yes]; [v; -c; -yes]; [-v; c; no]; [v; c; -no]]
  end%Z.

(* The clauses of all these gates, the last one first. *)
Fixpoint gates_clauses (numbers : PositiveMap.t positive) (l : list (positive * gate)) (out : list clause) : list clause :=
  match l with
  | [] => out
  | (v, f) :: l => gates_clauses numbers l (rev_append (map (map (renamed numbers)) (gate_clauses (Zpos v) f)) out)
  end.

(* The clauses that claim that the literal is true, and the number of variables. *)
Definition clauses_of (output : Z) (g : gates) : list clause * positive :=
  let l := needed (made g) (PositiveSet.add (variable output) PositiveSet.empty) [] in
  let (numbers, next) := renumber l FIRST_GATE (PositiveMap.empty positive) in
  ([TRUE] :: rev_append (gates_clauses numbers l []) [[renamed numbers output]], Pos.pred next).

(* The claim that some input makes the programs return different values. `None` if `execute` does not support an instruction. *)
Definition formula (mode : sameness) (p q : program) : option (list clause * positive) :=
  match decode_all p, decode_all q with
  | Some is, Some js =>
      match returned mode is no_gates with
      | Encoded (before, g) =>
          match returned mode js g with
          | Encoded (after, g) => let (different, g) := any_difference before after FALSE g in Some (clauses_of different g)
          | Refused _ => None
          end
      | Refused _ => None
      end
  | _, _ => None
  end.

(* Whether the lines refute the claim. Programs of any length are accepted. *)
Definition check_cnf (mode : sameness) (p q : program) (lines : list line) : bool :=
  legal p && legal q && match formula mode p q with Some (clauses, _) => check_lrat clauses lines | None => false end.
