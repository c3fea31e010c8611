(* Boolean gates: what class Gates of scripts/check_cnf_certificate makes, in the same order, with the same variables.

   A literal is a variable or, if negative, its opposite. Variable 1 is true. Variable 2 + 32 * i + b is bit b of word i of the input.
   Variables from 514 are gates. An operation gets its inputs and the gates made so far; it returns a literal and the gates then.
   `gives_bit` states that an operation is right: in every model of the gates, the literal has the wanted value. *)

Require Import ZArith List Bool Lia FMapAVL OrderedTypeEx.
Import ListNotations.
Open Scope Z_scope.

(* ---- Making gates -------------------------------------------------------------------------------------------- *)

Definition TRUE : Z := 1.
Definition FALSE : Z := -1.
Definition FIRST_GATE : positive := 514. (* after TRUE and 512 bits of input *)

Inductive gate := And (a b : Z) | Xor (a b : Z) | Mux (condition yes no : Z).

(* Equal gates are one variable; the index finds it. Literals are not 0, therefore keys of different gates differ. *)
Module Pair := PairOrderedType Z_as_OT Z_as_OT.
Module Key := PairOrderedType Z_as_OT Pair.
Module Index := FMapAVL.Make Key.
Definition key (f : gate) : Key.t :=
  match f with And a b => (a, (b, 0)) | Xor a b => (0, (a, b)) | Mux c yes no => (c, (yes, no)) end.

(* `made` has the newest gate first, with its variable. *)
Record gates := Gates { next_variable : positive; made : list (positive * gate); index : Index.t (positive * gate) }.
Definition no_gates : gates := Gates FIRST_GATE [] (Index.empty _).

Definition same_gate (f h : gate) : bool :=
  match f, h with
  | And a b, And a' b' | Xor a b, Xor a' b' => (a =? a') && (b =? b')
  | Mux c p q, Mux c' p' q' => (c =? c') && (p =? p') && (q =? q')
  | _, _ => false
  end.

Definition new_gate (f : gate) (g : gates) : Z * gates :=
  let v := next_variable g in
  (Zpos v, Gates (Pos.succ v) ((v, f) :: made g) (Index.add (key f) (v, f) (index g))).

Definition make (f : gate) (g : gates) : Z * gates :=
  match Index.find (key f) (index g) with
  | Some (v, h) => if same_gate f h then (Zpos v, g) else new_gate f g
  | None => new_gate f g
  end.

Definition both (a b : Z) (g : gates) : Z * gates :=
  if (a =? FALSE) || (b =? FALSE) || (a =? -b) then (FALSE, g)
  else if (a =? TRUE) || (a =? b) then (b, g)
  else if b =? TRUE then (a, g)
  else make (And (Z.min a b) (Z.max a b)) g.

Definition opposite (r : Z * gates) : Z * gates := let (a, g) := r in (-a, g).

Definition either (a b : Z) (g : gates) : Z * gates := opposite (both (-a) (-b) g).

Definition differ (a b : Z) (g : gates) : Z * gates :=
  if a =? TRUE then (-b, g)
  else if a =? FALSE then (b, g)
  else if b =? TRUE then (-a, g)
  else if b =? FALSE then (a, g)
  else if a =? b then (FALSE, g)
  else if a =? -b then (TRUE, g)
  else
    let r := make (Xor (Z.min (Z.abs a) (Z.abs b)) (Z.max (Z.abs a) (Z.abs b))) g in
    if Bool.eqb (a <? 0) (b <? 0) then r else opposite r.

(* `choose` for a condition that is a variable. *)
Definition choose_by (c yes no : Z) (g : gates) : Z * gates :=
  if (yes =? TRUE) || (yes =? c) then either c no g
  else if (yes =? FALSE) || (yes =? -c) then both (-c) no g
  else if (no =? TRUE) || (no =? -c) then either (-c) yes g
  else if (no =? FALSE) || (no =? c) then both c yes g
  else if yes =? -no then differ c no g
  else if yes <? 0 then opposite (make (Mux c (-yes) (-no)) g)
  else make (Mux c yes no) g.

Definition choose (c yes no : Z) (g : gates) : Z * gates :=
  if (c =? TRUE) || (yes =? no) then (yes, g)
  else if c =? FALSE then (no, g)
  else if c <? 0 then choose_by (-c) no yes g
  else choose_by c yes no g.

(* ---- What gates mean ----------------------------------------------------------------------------------------- *)

(* A model gives each variable a value. *)
Definition model := positive -> bool.

Definition value (m : model) (l : Z) : bool :=
  match l with Zpos v => m v | Zneg v => negb (m v) | Z0 => false end.

Definition gate_value (m : model) (f : gate) : bool :=
  match f with
  | And a b => value m a && value m b
  | Xor a b => xorb (value m a) (value m b)
  | Mux c yes no => if value m c then value m yes else value m no
  end.

Definition consistent (m : model) (g : gates) : Prop :=
  m 1%positive = true /\ forall v f, In (v, f) (made g) -> m v = gate_value m f.

(* The literal's variable is smaller than v. *)
Definition below (v : positive) (l : Z) : Prop := 0 < Z.abs l < Zpos v.
Definition scoped (g : gates) : Z -> Prop := below (next_variable g).

Definition inputs (f : gate) : list Z := match f with And a b | Xor a b => [a; b] | Mux c yes no => [c; yes; no] end.

(* The gates have the variables from 514 to v - 1, and the inputs of each have smaller variables. *)
Fixpoint numbered (v : positive) (l : list (positive * gate)) : Prop :=
  match l with
  | [] => v = FIRST_GATE
  | (u, f) :: l => v = Pos.succ u /\ Forall (below u) (inputs f) /\ numbered u l
  end.

Definition ok (g : gates) : Prop :=
  numbered (next_variable g) (made g) /\ forall x v f, Index.find x (index g) = Some (v, f) -> In (v, f) (made g).

(* g' has all gates of g. *)
Definition extends (g g' : gates) : Prop :=
  (next_variable g <= next_variable g')%positive /\ forall m, consistent m g' -> consistent m g.

(* The operation that leads from g to r is right if its literal has the value b in each model. *)
Definition gives_bit (g : gates) (r : Z * gates) (b : model -> bool) : Prop :=
  ok (snd r) /\ extends g (snd r) /\ scoped (snd r) (fst r) /\ forall m, consistent m (snd r) -> value m (fst r) = b m.

Lemma ok_no_gates : ok no_gates.
Admitted.

Lemma extends_refl : forall g, extends g g.
Admitted.

Lemma extends_trans : forall g h i, extends g h -> extends h i -> extends g i.
Admitted.

Lemma scoped_extends : forall g h l, extends g h -> scoped g l -> scoped h l.
Admitted.

Lemma consistent_extends : forall g h m, extends g h -> consistent m h -> consistent m g.
Admitted.

Lemma scoped_TRUE : forall g, ok g -> scoped g TRUE.
Admitted.

Lemma scoped_FALSE : forall g, ok g -> scoped g FALSE.
Admitted.

Lemma scoped_opposite : forall g l, scoped g l -> scoped g (-l).
Admitted.

Lemma value_opposite : forall g m l, scoped g l -> value m (-l) = negb (value m l).
Admitted.

Lemma value_TRUE : forall g m, consistent m g -> value m TRUE = true.
Admitted.

Lemma value_FALSE : forall g m, consistent m g -> value m FALSE = false.
Admitted.

Lemma both_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (both a b g) (fun m => value m a && value m b).
Admitted.

Lemma either_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (either a b g) (fun m => value m a || value m b).
Admitted.

Lemma differ_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (differ a b g) (fun m => xorb (value m a) (value m b)).
Admitted.

Lemma choose_bit : forall g c yes no, ok g -> scoped g c -> scoped g yes -> scoped g no ->
  gives_bit g (choose c yes no g) (fun m => if value m c then value m yes else value m no).
Admitted.

(* Any values of the input's bits are those of some model. *)
Lemma model_of : forall g (base : model), ok g -> base 1%positive = true ->
  exists m, consistent m g /\ forall v, (v < FIRST_GATE)%positive -> m v = base v.
Admitted.
