(* Boolean gates: what class Gates of scripts/check_cnf_certificate makes, in the same order, with the same variables.

   A literal is a variable or, if negative, its opposite. Variable 1 is true. Variable 2 + 32 * i + b is bit b of word i of the input.
   Variables from 514 are gates. An operation gets its inputs and the gates made so far; it returns a literal and the gates then.
   `gives_bit` states that an operation is right: in every model of the gates, the literal has the wanted value. *)

Require Import ZArith List Bool Lia FMapPositive.
Import ListNotations.
Open Scope Z_scope.

(* ---- Making gates -------------------------------------------------------------------------------------------- *)

Definition TRUE : Z := 1.
Definition FALSE : Z := -1.
Definition FIRST_GATE : positive := 514. (* after TRUE and 512 bits of input *)

Inductive gate := And (a b : Z) | Xor (a b : Z) | Mux (condition yes no : Z).

Definition same_gate : forall f h : gate, {f = h} + {f <> h}.
Proof. decide equality; apply Z.eq_dec. Defined.

(* `made` has the newest gate first, with its variable. The index finds equal gates; few gates share a key. *)
Definition entry : Type := positive * gate.
Record gates := Gates { next_variable : positive; made : list entry; index : PositiveMap.t (list entry) }.
Definition no_gates : gates := Gates FIRST_GATE [] (PositiveMap.empty _).

Definition key (f : gate) : positive :=
  match f with And a b | Xor a b | Mux a b _ => Z.to_pos (Z.abs a) + (Z.to_pos (Z.abs b))~0~0~0~0~0~0~0 end.

Definition with_key (k : positive) (g : gates) : list entry := match PositiveMap.find k (index g) with Some l => l | None => [] end.

Definition make (f : gate) (g : gates) : Z * gates :=
  match find (fun e => if same_gate f (snd e) then true else false) (with_key (key f) g) with
  | Some (v, _) => (Zpos v, g)
  | None =>
      let v := next_variable g in
      (Zpos v, Gates (Pos.succ v) ((v, f) :: made g) (PositiveMap.add (key f) ((v, f) :: with_key (key f) g) (index g)))
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
Fixpoint numbered (v : positive) (l : list entry) : Prop :=
  match l with
  | [] => v = FIRST_GATE
  | (u, f) :: l => v = Pos.succ u /\ Forall (below u) (inputs f) /\ numbered u l
  end.

Definition ok (g : gates) : Prop :=
  numbered (next_variable g) (made g) /\ forall k e, In e (with_key k g) -> In e (made g).

(* g' has all gates of g. *)
Definition extends (g g' : gates) : Prop :=
  (next_variable g <= next_variable g')%positive /\ forall m, consistent m g' -> consistent m g.

(* The operation that leads from g to r is right: its result has no other variables, and R is true of it in each model. *)
Definition gives {T : Type} (inside : gates -> T -> Prop) (R : model -> T -> Prop) (g : gates) (r : T * gates) : Prop :=
  ok (snd r) /\ extends g (snd r) /\ inside (snd r) (fst r) /\ forall m, consistent m (snd r) -> R m (fst r).

(* The result is a literal with the value b. *)
Definition gives_bit (g : gates) (r : Z * gates) (b : model -> bool) : Prop := gives scoped (fun m l => value m l = b m) g r.

Lemma ok_no_gates : ok no_gates. Proof. split; [reflexivity |]. intros k e. unfold with_key. simpl. rewrite PositiveMap.gempty. auto. Qed.

Lemma extends_refl : forall g, extends g g. Proof. split; [lia | auto]. Qed.

Lemma extends_trans : forall g h i, extends g h -> extends h i -> extends g i. Proof. intros g h i [A B] [C D]. split; [lia | auto]. Qed.

Lemma scoped_extends : forall g h l, extends g h -> scoped g l -> scoped h l. Proof. unfold scoped, below. intros g h l [A _] B. lia. Qed.

Lemma consistent_extends : forall g h m, extends g h -> consistent m h -> consistent m g. Proof. intros g h m [_ A]. auto. Qed.

(* ---- Literals ------------------------------------------------------------------------------------------------ *)

Lemma numbered_first : forall l v, numbered v l -> (FIRST_GATE <= v)%positive.
Proof. induction l as [| [u f] l IH]; simpl; intros v H; [subst; lia | destruct H as (-> & _ & H); apply IH in H; lia]. Qed.

Lemma numbered_in : forall l v u f, numbered v l -> In (u, f) l -> (u < v)%positive /\ Forall (below u) (inputs f).
Proof.
  induction l as [| [w h] l IH]; simpl; [tauto |].
  intros v u f (-> & Hh & Hn) [E | E]; [injection E as -> ->; split; [lia | auto] | apply (IH w) in E; auto; split; [lia | tauto]].
Qed.

Lemma scoped_TRUE : forall g, ok g -> scoped g TRUE.
Proof. intros g [H _]. apply numbered_first in H. unfold scoped, below, TRUE, FIRST_GATE in *. lia. Qed.

Lemma scoped_FALSE : forall g, ok g -> scoped g FALSE. Proof. intros g H. exact (scoped_TRUE g H). Qed.

Lemma scoped_opposite : forall g l, scoped g l -> scoped g (-l). Proof. unfold scoped, below. lia. Qed.

Lemma value_opposite : forall g m l, scoped g l -> value m (-l) = negb (value m l).
Proof. intros g m [| v | v] H; simpl; [destruct H; lia | auto | rewrite negb_involutive; auto]. Qed.

Lemma value_TRUE : forall g m, consistent m g -> value m TRUE = true. Proof. intros g m [H _]. exact H. Qed.

Lemma value_FALSE : forall g m, consistent m g -> value m FALSE = false. Proof. intros g m [H _]. simpl. rewrite H. reflexivity. Qed.

(* ---- Operations ---------------------------------------------------------------------------------------------- *)

Lemma gives_known : forall g l b, ok g -> scoped g l -> (forall m, consistent m g -> value m l = b m) -> gives_bit g (l, g) b.
Proof. unfold gives_bit, gives. simpl. auto using extends_refl. Qed.

Lemma make_bit : forall g f, ok g -> Forall (scoped g) (inputs f) -> gives_bit g (make f g) (fun m => gate_value m f).
Proof.
  intros g f Hok Hf. unfold make. pose proof Hok as [Hn Hi]. pose proof (numbered_first _ _ Hn) as Hv.
  destruct (find _ _) as [[v h] |] eqn:E.
  - apply find_some in E as [E H]. cbn [snd] in H. destruct (same_gate f h) as [<- |]; [| discriminate]. apply Hi in E.
    apply gives_known; auto; [| intros m [_ Hm]; apply (Hm v f E)]. apply (numbered_in _ _ _ _ Hn) in E. unfold scoped, below. lia.
  - repeat split; simpl; auto; try lia.
    + intros k e He. unfold with_key in He. simpl in He. destruct (Pos.eq_dec k (key f)) as [-> |].
      * rewrite PositiveMap.gss in He. destruct He as [He | He]; eauto.
      * rewrite PositiveMap.gso in He; eauto.
    + apply H.
    + intros u h Hu. apply H. simpl. auto.
    + intros m [_ H]. apply H. simpl. auto.
Qed.

Lemma gives_ext : forall g r b b', gives_bit g r b -> (forall m, consistent m g -> b m = b' m) -> gives_bit g r b'.
Proof. intros g r b b' (A & B & C & D) H. refine (conj A (conj B (conj C _))). intros m Hm. rewrite D, H; auto. apply B, Hm. Qed.

Lemma opposite_bit : forall g r b, gives_bit g r b -> gives_bit g (opposite r) (fun m => negb (b m)).
Proof.
  intros g [l h] b (A & B & C & D). refine (conj A (conj B (conj (scoped_opposite _ _ C) _))).
  intros m Hm. simpl. rewrite (value_opposite _ _ _ C). f_equal. auto.
Qed.

#[global] Hint Resolve extends_refl scoped_TRUE scoped_FALSE scoped_opposite : gates.

(* Follows the tests of an operation. *)
Local Ltac tests :=
  repeat match goal with
  | |- gives_bit _ (if ?test then _ else _) _ => let E := fresh in destruct test eqn:E
  | H : _ || _ = true |- _ => apply orb_prop in H; destruct H
  | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H; subst
  end.

(* Compares two values for all values of the literals in them. *)
Local Ltac values :=
  let m := fresh "m" in let H := fresh in
  intros m H; cbn [gate_value]; repeat (erewrite value_opposite by eauto with gates); rewrite ?(value_TRUE _ _ H), ?(value_FALSE _ _ H);
  repeat match goal with |- context [value m ?l] => destruct (value m l) end; reflexivity.

Lemma both_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (both a b g) (fun m => value m a && value m b).
Proof.
  intros g a b Hok Ha Hb. unfold both. tests; try (apply gives_known; auto with gates; values).
  destruct (Z.le_ge_cases a b); [rewrite Z.min_l, Z.max_r by lia | rewrite Z.min_r, Z.max_l by lia];
    (eapply gives_ext; [apply make_bit; simpl; auto |]); values.
Qed.

Lemma either_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (either a b g) (fun m => value m a || value m b).
Proof. intros. unfold either. eapply gives_ext; [apply opposite_bit, both_bit; auto with gates |]. values. Qed.

Lemma scoped_abs : forall g l, scoped g l -> scoped g (Z.abs l). Proof. unfold scoped, below. lia. Qed.

Lemma value_abs : forall g m l, scoped g l -> value m (Z.abs l) = if l <? 0 then negb (value m l) else value m l.
Proof. intros g m [| v | v] H; simpl; auto. rewrite negb_involutive. auto. Qed.

Lemma differ_bit : forall g a b, ok g -> scoped g a -> scoped g b -> gives_bit g (differ a b g) (fun m => xorb (value m a) (value m b)).
Proof.
  intros g a b Hok Ha Hb. assert (Hf : gives_bit g (make (Xor (Z.min (Z.abs a) (Z.abs b)) (Z.max (Z.abs a) (Z.abs b))) g)
                         (fun m => xorb (value m (Z.abs a)) (value m (Z.abs b)))).
  { destruct (Z.le_ge_cases (Z.abs a) (Z.abs b)); [rewrite Z.min_l, Z.max_r by lia | rewrite Z.min_r, Z.max_l by lia];
      (eapply gives_ext; [apply make_bit; simpl; auto using scoped_abs |]); values. }
  unfold differ. tests; try (apply gives_known; auto with gates; values);
    (eapply gives_ext; [first [exact Hf | apply opposite_bit, Hf] |]); intros m Hm; simpl;
    rewrite !(value_abs g) by auto; destruct (a <? 0), (b <? 0), (value m a), (value m b); auto; discriminate.
Qed.

Lemma choose_bit : forall g c yes no, ok g -> scoped g c -> scoped g yes -> scoped g no ->
  gives_bit g (choose c yes no g) (fun m => if value m c then value m yes else value m no).
Proof.
  assert (Hby : forall g c yes no, ok g -> scoped g c -> scoped g yes -> scoped g no ->
    gives_bit g (choose_by c yes no g) (fun m => if value m c then value m yes else value m no)).
  { intros g c yes no Hok Hc Hy Hn. unfold choose_by. tests;
      (eapply gives_ext; [first [apply both_bit | apply either_bit | apply differ_bit | apply make_bit | apply opposite_bit, make_bit];
                          simpl; auto with gates |]); values. }
  intros g c yes no Hok Hc Hy Hn. unfold choose. tests; try (apply gives_known; auto with gates; values); auto.
  eapply gives_ext; [apply Hby; auto with gates |]. values.
Qed.

#[global] Hint Resolve both_bit either_bit differ_bit choose_bit : gates.

(* ---- Models -------------------------------------------------------------------------------------------------- *)

(* Extends values of the input to values of the gates. *)
Fixpoint model_from (base : model) (l : list entry) : model :=
  match l with
  | [] => base
  | (v, f) :: l => let m := model_from base l in let b := gate_value m f in fun u => if (u =? v)%positive then b else m u
  end.

Lemma gate_value_local : forall m m' v f, Forall (below v) (inputs f) -> (forall u, (u < v)%positive -> m u = m' u) ->
  gate_value m f = gate_value m' f.
Proof.
  intros m m' v f Hf H.
  assert (Hl : forall l, below v l -> value m l = value m' l) by (intros [| u | u] Hu; unfold below in Hu; simpl; auto; rewrite H; auto; lia).
  destruct f; simpl in *; repeat match goal with H : Forall _ _ |- _ => inversion_clear H end; rewrite !Hl; auto.
Qed.

(* Any values of the input's bits are those of some model. *)
Lemma model_of : forall g (base : model), ok g -> base 1%positive = true ->
  exists m, consistent m g /\ forall v, (v < FIRST_GATE)%positive -> m v = base v.
Proof.
  intros g base [Hn _] H1. exists (model_from base (made g)). revert Hn. unfold consistent. generalize (next_variable g).
  induction (made g) as [| [u f] l IH]; simpl; [tauto |]. intros v (-> & Hf & Hn).
  destruct (IH u Hn) as [[Ht Hl] Hb]. pose proof (numbered_first _ _ Hn) as Hu. unfold FIRST_GATE in *.
  set (m := model_from base l) in *. set (m' := fun w => if (w =? u)%positive then gate_value m f else m w).
  assert (Hsame : forall w, (w < u)%positive -> m w = m' w) by (intros w Hw; unfold m'; destruct (Pos.eqb_spec w u); [lia | auto]).
  repeat split.
  - change (m' 1%positive = true). rewrite <- Hsame; [auto | lia].
  - intros w h E. change (m' w = gate_value m' h). destruct E as [E | E].
    + injection E as <- <-. unfold m' at 1. rewrite Pos.eqb_refl. eapply gate_value_local; eauto.
    + destruct (numbered_in _ _ _ _ Hn E) as [Hw Hh]. rewrite <- Hsame by auto. rewrite (Hl _ _ E). eapply gate_value_local; eauto.
      intros. apply Hsame. lia.
  - intros w Hw. change (m' w = base w). rewrite <- Hsame by lia. auto.
Qed.
