(* Arithmetic on words of literals, the lowest bit first: the second half of class Gates of scripts/check_cnf_certificate. `alu_word`
   and `jump_word` state that it computes what Filter.alu and Filter.compare do. *)

Require Import NArith ZArith List Bool Lia.
From Proved Require Import Filter Gates.
Import ListNotations.
Open Scope N_scope.

(* ---- Operations ---------------------------------------------------------------------------------------------- *)

(* The operations that make each bit of the result from the same bit of two words. *)
Fixpoint each_bit (op : Z -> Z -> gates -> Z * gates) (a b : list Z) (g : gates) : list Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (bit, g) := op p q g in
      let (out, g) := each_bit op a b g in
      (bit :: out, g)
  | _, _ => ([], g)
  end.

Definition choose_word (condition : Z) : list Z -> list Z -> gates -> list Z * gates := each_bit (choose condition).
Definition bit_and := each_bit both.
Definition bit_or := each_bit either.
Definition bit_xor := each_bit differ.

Definition opposites : list Z -> list Z := map Z.opp.
Definition zeros (n : nat) : list Z := repeat FALSE n.

(* Returns (sum, carry out) of two words of the same length. *)
Fixpoint add_with_carry (a b : list Z) (carry : Z) (g : gates) : list Z * Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (half, g) := differ p q g in
      let (bit, g) := differ half carry g in
      let (generated, g) := both p q g in
      let (passed, g) := both half carry g in
      let (carry, g) := either generated passed g in
      let '(out, carry, g) := add_with_carry a b carry g in
      (bit :: out, carry, g)
  | _, _ => ([], carry, g)
  end.

Definition add (a b : list Z) (g : gates) : list Z * gates := let '(out, _, g) := add_with_carry a b FALSE g in (out, g).
Definition subtract (a b : list Z) (g : gates) : list Z * gates := let '(out, _, g) := add_with_carry a (opposites b) TRUE g in (out, g).

(* Words that are shifted by a constant. *)
Definition moved_left (k : nat) (a : list Z) : list Z := firstn (length a) (zeros k ++ a).
Definition moved_right (k : nat) (a : list Z) : list Z := skipn k (a ++ zeros k).

(* Adds a for each true bit of b, and moves a to the left. A zero bit of a makes no gate. *)
Fixpoint add_rows (a b out : list Z) (g : gates) : list Z * gates :=
  match b with
  | [] => (out, g)
  | bit :: b =>
      let (row, g) := each_bit (fun p _ => both bit p) a a g in
      let (out, g) := add out row g in
      add_rows (moved_left 1 a) b out g
  end.

Definition multiply (a b : list Z) (g : gates) : list Z * gates := add_rows a b (zeros (length a)) g.

(* Long division: returns (quotient, rest). The highest bits of a, the last ones of the list, come first. *)
Fixpoint divide_with_rest (a b : list Z) (g : gates) : list Z * list Z * gates :=
  match a with
  | [] => ([], zeros (length b), g)
  | bit :: a =>
      let '(out, rest, g) := divide_with_rest a b g in
      let '(less, fits, g) := add_with_carry (bit :: rest) (opposites b ++ [TRUE]) TRUE g in
      let (rest, g) := choose_word fits (firstn (length b) less) (firstn (length b) (bit :: rest)) g in
      (fits :: out, rest, g)
  end.

Definition divide (a b : list Z) (g : gates) : list Z * gates := let '(out, _, g) := divide_with_rest a b g in (out, g).

(* Shifts by k if the first bit is true, then by 2 * k if the next one is, and so on. *)
Fixpoint shift_by (moved : nat -> list Z -> list Z) (bits : list Z) (k : nat) (a : list Z) (g : gates) : list Z * gates :=
  match bits with
  | [] => (a, g)
  | bit :: bits =>
      let (a, g) := choose_word bit (moved k a) a g in
      shift_by moved bits (k + k) a g
  end.

Definition shift_left (a b : list Z) : gates -> list Z * gates := shift_by moved_left (firstn 5 b) 1 a.
Definition shift_right (a b : list Z) : gates -> list Z * gates := shift_by moved_right (firstn 5 b) 1 a.

(* The highest bits come first. *)
Fixpoint equal (a b : list Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (out, g) := equal a b g in
      let (different, g) := differ p q g in
      both out (-different) g
  | _, _ => (TRUE, g)
  end.

(* Returns (a is greater, a is equal). *)
Fixpoint greater_or_same (a b : list Z) (g : gates) : Z * Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let '(out, same_above, g) := greater_or_same a b g in
      let (here, g) := both p (-q) g in
      let (first, g) := both same_above here g in
      let (out, g) := either out first g in
      let (different, g) := differ p q g in
      let (same, g) := both same_above (-different) g in
      (out, same, g)
  | _, _ => (FALSE, TRUE, g)
  end.

Definition greater (a b : list Z) (g : gates) : Z * gates := let '(out, _, g) := greater_or_same a b g in (out, g).

(* Whether `out` is true or the gate is true for the bits of a and b in some place. *)
Fixpoint any_place (gate : Z -> Z -> gates -> Z * gates) (out : Z) (a b : list Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := gate p q g in
      let (out, g) := either out here g in
      any_place gate out a b g
  | _, _ => (out, g)
  end.

Definition any_common_bit : list Z -> list Z -> gates -> Z * gates := any_place both FALSE.
Definition any_difference : list Z -> list Z -> gates -> Z * gates := any_place differ FALSE.

Definition alu_gates (op : alu_op) : list Z -> list Z -> gates -> list Z * gates :=
  match op with
  | ADD => add | SUB => subtract | MUL => multiply | DIV => divide
  | AND => bit_and | OR => bit_or | XOR => bit_xor | LSH => shift_left | RSH => shift_right
  end.

Definition jump_gates (op : jump_op) (a b : list Z) (g : gates) : Z * gates :=
  match op with
  | JEQ => equal a b g
  | JGT => greater a b g
  | JGE => opposite (greater b a g) (* A >= B unless B > A *)
  | JSET => any_common_bit a b g
  end.

(* A word of n literals: f t and those that follow it. *)
Fixpoint literals (f : N -> Z) (n : nat) (t : N) : list Z :=
  match n with
  | O => []
  | S n => f t :: literals f n (N.succ t)
  end.

Definition constant (v : N) : list Z := literals (fun t => if N.testbit v t then TRUE else FALSE) 32 0.
Definition input_word (i : N) : list Z := literals (fun t => Z.of_N (2 + 32 * i + t)) 32 0.

(* ---- What words mean ----------------------------------------------------------------------------------------- *)

Fixpoint number (m : model) (l : list Z) : N :=
  match l with
  | [] => 0
  | b :: l => N.b2n (value m b) + 2 * number m l
  end.

(* A word of n literals. *)
Definition scoped_word (n : nat) (g : gates) (l : list Z) : Prop := length l = n /\ Forall (scoped g) l.

(* The operation that leads from g to r gives a word of n bits, and R is true of its value in each model. *)
Definition gives_word (n : nat) (g : gates) (r : list Z * gates) (R : model -> N -> Prop) : Prop :=
  gives (scoped_word n) (fun m l => R m (number m l)) g r.

Lemma scoped_word_extends : forall n g h l, extends g h -> scoped_word n g l -> scoped_word n h l.
Proof. intros n g h l He [Hn Hl]. split; auto. eapply Forall_impl; [| exact Hl]. intros. eapply scoped_extends; eauto. Qed.

Lemma scoped_nil : forall g, scoped_word 0 g []. Proof. split; auto. Qed.

Lemma scoped_cons : forall n g b l, scoped g b -> scoped_word n g l -> scoped_word (S n) g (b :: l).
Proof. intros n g b l Hb [<- Hl]. split; auto. Qed.

Lemma scoped_0 : forall g l, scoped_word 0 g l -> l = []. Proof. intros g [| b l] [H _]; [reflexivity | discriminate]. Qed.

Lemma scoped_S : forall n g l, scoped_word (S n) g l -> exists b l', l = b :: l' /\ scoped g b /\ scoped_word n g l'.
Proof. intros n g [| b l] [H Hl]; [discriminate |]. injection H as <-. inversion_clear Hl. unfold scoped_word. eauto 6. Qed.

(* Replaces words by their bits. *)
Ltac split_words :=
  repeat match goal with
  | H : scoped_word 0 _ ?l |- _ => apply scoped_0 in H; subst l
  | H : scoped_word (S _) _ ?l |- _ =>
      let b := fresh "b" in let l' := fresh "l" in let E := fresh in apply scoped_S in H; destruct H as (b & l' & E & ? & ?); subst l
  end.

Lemma scoped_app : forall n k g l l', scoped_word n g l -> scoped_word k g l' -> scoped_word (n + k) g (l ++ l').
Proof. intros n k g l l' [<- H] [<- H']. split; [apply app_length | apply Forall_app; auto]. Qed.

Lemma scoped_zeros : forall n g, ok g -> scoped_word n g (zeros n).
Proof. intros n g H. induction n; [apply scoped_nil | apply scoped_cons; auto with gates]. Qed.

Lemma scoped_firstn : forall n k g l, scoped_word (n + k) g l -> scoped_word n g (firstn n l).
Proof. intros n k g l [Hn H]. split; [apply firstn_length_le; lia |]. rewrite <- (firstn_skipn n l) in H. apply Forall_app in H. tauto. Qed.

Lemma scoped_skipn : forall n k g l, scoped_word (n + k) g l -> scoped_word n g (skipn k l).
Proof. intros n k g l [Hn H]. split; [rewrite skipn_length; lia |]. rewrite <- (firstn_skipn k l) in H. apply Forall_app in H. tauto. Qed.

Lemma scoped_opposites : forall n g l, scoped_word n g l -> scoped_word n g (opposites l).
Proof. intros n g l [<- H]. split; [apply map_length | apply Forall_map; eapply Forall_impl; [apply scoped_opposite | exact H]]. Qed.

Lemma scoped_literals : forall f g n t, (forall i, i < t + N.of_nat n -> scoped g (f i)) -> scoped_word n g (literals f n t).
Proof. induction n as [| n IH]; intros t H; cbn [literals]; [apply scoped_nil | apply scoped_cons; [| apply IH; intros]; apply H; lia]. Qed.

(* ---- Numbers ------------------------------------------------------------------------------------------------- *)

(* 2 to the power of n. *)
Fixpoint power (n : nat) : N := match n with O => 1 | S n => 2 * power n end.

Lemma power_pow : forall n, power n = 2 ^ N.of_nat n.
Proof. induction n as [| n IH]; [reflexivity |]. rewrite Nat2N.inj_succ, N.pow_succ_r'. cbn [power]. lia. Qed.

Lemma power_pos : forall n, 0 < power n. Proof. induction n; cbn [power]; lia. Qed.

Lemma u32_mod : forall v, u32 v = v mod power 32. Proof. intros v. apply (N.land_ones v 32). Qed.

Lemma divide_double : forall b x y, 0 < y -> (N.b2n b + 2 * x) / (2 * y) = x / y /\ (N.b2n b + 2 * x) mod (2 * y) = N.b2n b + 2 * (x mod y).
Proof.
  intros b x y Hy. pose proof (N.div_mod x y ltac:(lia)). pose proof (N.mod_lt x y ltac:(lia)).
  assert (N.b2n b <= 1) by (destruct b; simpl; lia).
  split; symmetry; [apply N.div_unique with (N.b2n b + 2 * (x mod y)) | apply N.mod_unique with (x / y)]; lia.
Qed.

Lemma number_lt : forall n g m l, scoped_word n g l -> number m l < power n.
Proof. intros n g m l [<- _]. induction l as [| b l IH]; cbn [number power length]; [| destruct (value m b); cbn [N.b2n]]; lia. Qed.

(* The value of a word is a word. *)
Lemma number_u32 : forall g m l, scoped_word 32 g l -> u32 (number m l) = number m l.
Proof. intros g m l H. rewrite u32_mod. apply N.mod_small. eapply number_lt; eauto. Qed.

Lemma number_app : forall m l l', number m (l ++ l') = number m l + power (length l) * number m l'.
Proof. induction l as [| b l IH]; intros l'; cbn [number power length app]; [| rewrite IH]; lia. Qed.

Lemma number_parts : forall m k l, number m (firstn k l) = number m l mod power k /\ number m (skipn k l) = number m l / power k.
Proof.
  induction k as [| k IH]; intros l; cbn [firstn skipn power]; [rewrite N.mod_1_r, N.div_1_r; auto |]. pose proof (power_pos k).
  destruct l as [| b l]; cbn [number]; [rewrite N.mod_0_l, N.div_0_l by lia; auto |].
  destruct (IH l) as [-> ->], (divide_double (value m b) (number m l) (power k)) as [-> ->]; auto.
Qed.

Lemma number_zeros : forall g m n, consistent m g -> number m (zeros n) = 0.
Proof.
  intros g m n H. unfold zeros. induction n as [| n IH]; [reflexivity |]. cbn [repeat number]. rewrite (value_FALSE _ _ H), IH. reflexivity.
Qed.

Lemma number_opposites : forall n g m l, scoped_word n g l -> number m l + number m (opposites l) = power n - 1.
Proof.
  induction n as [| n IH]; intros g m l H; split_words; [reflexivity |]. pose proof (power_pos n). cbn [opposites map number power].
  fold (opposites l0). erewrite value_opposite by eauto. specialize (IH g m l0 ltac:(auto)). destruct (value m b); cbn [negb N.b2n]; lia.
Qed.

Lemma number_literals : forall m x f n t, (forall i, t <= i < t + N.of_nat n -> value m (f i) = N.testbit x i) ->
  number m (literals f n t) = N.shiftr x t mod power n.
Proof.
  induction n as [| n IH]; intros t H; cbn [literals number power]; [rewrite N.mod_1_r; reflexivity |].
  rewrite IH, H by (intros; try apply H; lia). rewrite N.shiftr_succ_r. set (y := N.shiftr x t).
  replace (N.testbit x t) with (N.odd y) by (unfold y; rewrite <- N.bit0_odd, N.shiftr_spec'; f_equal; lia).
  rewrite (N.div2_odd y) at 3. rewrite (N.add_comm (2 * _)). symmetry. apply divide_double, power_pos.
Qed.

(* ---- Constants and the input --------------------------------------------------------------------------------- *)

Lemma constant_scoped : forall g v, ok g -> scoped_word 32 g (constant v).
Proof. intros. apply scoped_literals. intros. destruct (N.testbit v i); auto with gates. Qed.

Lemma constant_number : forall g m v, consistent m g -> number m (constant v) = u32 v.
Proof.
  intros g m v H. unfold constant. rewrite (number_literals m v), N.shiftr_0_r, u32_mod; auto.
  intros i _. destruct (N.testbit v i); [apply (value_TRUE _ _ H) | apply (value_FALSE _ _ H)].
Qed.

Lemma input_scoped : forall g i, ok g -> i < 16 -> scoped_word 32 g (input_word i).
Proof. intros g i [H _] Hi. apply numbered_first in H. apply scoped_literals. intros. unfold FIRST_GATE, scoped, below in *. lia. Qed.

(* Every input has a model. *)
Lemma model_exists : forall g (d : data), ok g ->
  exists m, consistent m g /\ forall i, i < 16 -> number m (input_word i) = u32 (nth (N.to_nat i) d 0).
Proof.
  intros g d H. set (bit := fun n => N.testbit (nth (N.to_nat (n / 32)) d 0) (n mod 32)).
  destruct (model_of g (fun v => match v with 1%positive => true | _ => bit (N.pos v - 2) end) H eq_refl) as (m & Hm & Hb). exists m.
  split; [auto |]. intros i Hi. unfold input_word. rewrite (number_literals m (nth (N.to_nat i) d 0)), N.shiftr_0_r, u32_mod; auto.
  intros t Ht. destruct (2 + 32 * i + t) as [| v] eqn:E; [lia |]. cbn [Z.of_N value]. rewrite Hb by (unfold FIRST_GATE; lia).
  transitivity (bit (t + i * 32)); [destruct v; try lia; f_equal; lia |]. unfold bit.
  rewrite N.div_add, N.mod_add, N.div_small, N.mod_small by lia. reflexivity.
Qed.

(* ---- Chains of operations ------------------------------------------------------------------------------------ *)

#[local] Hint Resolve scoped_nil scoped_cons scoped_app scoped_zeros scoped_opposites : gates.

(* Moves what is known about g to its extension h. *)
Ltac move_over g h He :=
  repeat match goal with
  | H : extends _ g |- _ => apply (fun K => extends_trans _ _ _ K He) in H
  | H : scoped g _ |- _ => apply (scoped_extends _ _ _ He) in H
  | H : scoped_word _ g _ |- _ => apply (scoped_word_extends _ _ _ _ He) in H
  | H : Forall (scoped g) _ |- _ => apply (Forall_impl _ (fun l => scoped_extends g h l He)) in H
  | H : forall m, consistent m g -> _ |- _ =>
      let V := fresh in pose proof (fun m Hm => H m (consistent_extends _ _ _ He Hm)) as V; cbv beta in V; clear H; rename V into H
  end.

(* Runs the operation r by a lemma from the hints: it replaces r by a result, and moves what is known to the new gates. *)
Ltac perform r :=
  let H := fresh in let l := fresh "l" in let h := fresh "g" in let Hok := fresh "Hok" in let He := fresh "He" in let K := fresh in
  first [eassert (H : gives_bit _ r _) by eauto 8 with gates | eassert (H : gives_word _ _ r _) by eauto 8 with gates
        | eassert (H : gives _ _ _ r) by eauto 8 with gates];
  destruct r as [l h]; destruct H as (Hok & He & K & H); cbn [fst snd] in *; try (let x := fresh "x" in destruct l as [l x]; destruct K);
  match type of He with extends ?g h => move_over g h He end.

(* Runs the next operation of a goal about `let (l, g) := operation in ...`, or the last one. *)
Ltac step := match goal with |- context [match ?r with pair _ _ => _ end] => perform r end.
Ltac last_step := match goal with |- gives_word _ _ ?r _ => perform r | |- gives_bit _ ?r _ => perform r end.

(* Replaces the values of results. *)
Ltac use_values :=
  repeat match goal with
  | H : value _ ?x = _ |- _ => is_var x; rewrite H in *; clear H
  | H : number _ ?l = _ |- _ => is_var l; rewrite H in *; clear H
  end.

(* Ends such a goal, except for the value of the result. *)
Ltac done :=
  refine (conj _ (conj _ (conj _ _))); cbn [fst snd]; eauto with gates;
  let m := fresh "m" in let Hm := fresh "Hm" in intros m Hm;
  repeat match goal with H : forall m, consistent m _ -> _ |- _ => specialize (H m Hm) | H : _ /\ _ |- _ => destruct H end; cbn [number power];
  use_values; repeat (erewrite value_opposite by eassumption); use_values; rewrite ?(value_TRUE _ _ Hm), ?(value_FALSE _ _ Hm) in *.

(* Compares numbers for all values of their lowest bits. *)
Ltac by_bits m :=
  repeat match goal with |- context [value m ?b] => destruct (value m b); cbn [xorb andb orb negb N.b2n] in * end; auto;
  repeat match goal with |- context [?x =? ?y] => destruct (N.eqb_spec x y) | |- context [?x <? ?y] => destruct (N.ltb_spec x y) end;
  try reflexivity; lia.

(* ---- Bitwise operations -------------------------------------------------------------------------------------- *)

(* An operation on the bits (f) makes an operation on the numbers (F). *)
Lemma each_bit_word : forall (op : Z -> Z -> gates -> Z * gates) (c : Z) (f : bool -> bool -> bool -> bool) (F : bool -> N -> N -> N),
  (forall g p q, ok g -> scoped g c -> scoped g p -> scoped g q -> gives_bit g (op p q g) (fun m => f (value m c) (value m p) (value m q))) ->
  (forall c, F c 0 0 = 0) -> (forall c p q a b, F c (N.b2n p + 2 * a) (N.b2n q + 2 * b) = N.b2n (f c p q) + 2 * F c a b) ->
  forall n g a b, ok g -> scoped g c -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (each_bit op a b g) (fun m v => v = F (value m c) (number m a) (number m b)).
Proof.
  intros op c f F Hop H0 HF.
  induction n as [| n IH]; intros g a b Hok Hc Ha Hb; split_words; cbn [each_bit]; [done | do 2 step; done; rewrite HF; reflexivity].
Qed.

Lemma land_double : forall p q a b, N.land (N.b2n p + 2 * a) (N.b2n q + 2 * b) = N.b2n (p && q) + 2 * N.land a b.
Proof. intros [] [] [] []; try reflexivity; simpl; destruct (Pos.land _ _); reflexivity. Qed.

Local Ltac bit_by_bit c f F :=
  intros; refine (each_bit_word _ c f F _ _ _ _ _ _ _ _ _ _ _); auto with gates; intros []; auto; try exact land_double;
  intros [] [] [] []; try reflexivity; simpl; try destruct (Pos.lxor _ _); try reflexivity; lia.

Lemma choose_word_word : forall n g c yes no, ok g -> scoped g c -> scoped_word n g yes -> scoped_word n g no ->
  gives_word n g (choose_word c yes no g) (fun m v => v = if value m c then number m yes else number m no).
Proof. bit_by_bit c (fun c p q : bool => if c then p else q) (fun (c : bool) (a b : N) => if c then a else b). Qed.

Lemma row_word : forall n g c a, ok g -> scoped g c -> scoped_word n g a ->
  gives_word n g (each_bit (fun p _ => both c p) a a g) (fun m v => v = N.b2n (value m c) * number m a).
Proof. bit_by_bit c (fun c p q : bool => c && p) (fun (c : bool) (a b : N) => N.b2n c * a). Qed.

Lemma bit_and_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_and a b g) (fun m v => v = N.land (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => andb) (fun _ : bool => N.land). Qed.

Lemma bit_or_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_or a b g) (fun m v => v = N.lor (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => orb) (fun _ : bool => N.lor). Qed.

Lemma bit_xor_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_xor a b g) (fun m v => v = N.lxor (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => xorb) (fun _ : bool => N.lxor). Qed.

(* ---- Addition ------------------------------------------------------------------------------------------------ *)

Lemma add_with_carry_sum : forall n g a b c, ok g -> scoped_word n g a -> scoped_word n g b -> scoped g c ->
  gives (fun g '(out, carry) => scoped_word n g out /\ scoped g carry)
        (fun m '(out, carry) => number m out + power n * N.b2n (value m carry) = number m a + number m b + N.b2n (value m c))
        g (add_with_carry a b c g).
Proof.
  induction n as [| n IH]; intros g a b c Hok Ha Hb Hc; split_words; cbn [add_with_carry]; [done; lia | do 6 step; done; by_bits m].
Qed.
#[local] Hint Resolve choose_word_word row_word add_with_carry_sum : gates.

Lemma mod_of_sum : forall x y z p, x < p -> x + p * y = z -> x = z mod p. Proof. intros. apply N.mod_unique with y; lia. Qed.

Lemma add_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (add a b g) (fun m v => v = (number m a + number m b) mod power n).
Proof. intros. unfold add. step. done. rewrite N.add_0_r in *. eauto using mod_of_sum, number_lt. Qed.

Lemma subtract_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (subtract a b g) (fun m v => v = (number m a + power n - number m b) mod power n).
Proof.
  intros n g a b Hok Ha Hb. unfold subtract. step. done. pose proof (number_opposites n _ m b Hb). pose proof (power_pos n).
  eapply mod_of_sum; [eapply number_lt; eauto |]. match goal with H : _ + _ = _ + N.b2n true |- _ => etransitivity; [exact H | cbn [N.b2n]; lia] end.
Qed.
#[local] Hint Resolve bit_and_word bit_or_word bit_xor_word add_word subtract_word : gates.

(* ---- Shifts -------------------------------------------------------------------------------------------------- *)

Lemma moved_left_scoped : forall n g k a, ok g -> scoped_word n g a -> scoped_word n g (moved_left k a).
Proof. intros n g k a Hok Ha. unfold moved_left. rewrite (proj1 Ha). apply scoped_firstn with k. rewrite Nat.add_comm. auto with gates. Qed.

Lemma moved_left_number : forall n g m k a, scoped_word n g a -> consistent m g ->
  number m (moved_left k a) = N.shiftl (number m a) (N.of_nat k) mod power n.
Proof.
  intros n g m k a Ha Hm. unfold moved_left. rewrite (proj1 Ha), (proj1 (number_parts _ _ _)), number_app, (number_zeros _ _ _ Hm).
  unfold zeros. rewrite repeat_length, N.shiftl_mul_pow2, <- power_pow. f_equal. lia.
Qed.

Lemma moved_right_scoped : forall n g k a, ok g -> scoped_word n g a -> scoped_word n g (moved_right k a).
Proof. intros. unfold moved_right. apply scoped_skipn. auto with gates. Qed.

Lemma moved_right_number : forall n g m k a, scoped_word n g a -> consistent m g -> number m (moved_right k a) = N.shiftr (number m a) (N.of_nat k).
Proof.
  intros n g m k a Ha Hm. unfold moved_right.
  rewrite (proj2 (number_parts _ _ _)), number_app, (number_zeros _ _ _ Hm), N.shiftr_div_pow2, <- power_pow. f_equal. lia.
Qed.

(* `moved` shifts a word, and F its value. *)
Lemma shift_by_word : forall n (moved : nat -> list Z -> list Z) (F : N -> N -> N),
  (forall g k a, ok g -> scoped_word n g a -> scoped_word n g (moved k a)) ->
  (forall g m k a, scoped_word n g a -> consistent m g -> number m (moved k a) = F (number m a) (N.of_nat k)) ->
  (forall x, x < power n -> F x 0 = x) -> (forall x i j, F (F x i) j = F x (i + j)) ->
  forall bits k g a, ok g -> Forall (scoped g) bits -> scoped_word n g a ->
  gives_word n g (shift_by moved bits k a g) (fun m v => v = F (number m a) (N.of_nat k * number m bits)).
Proof.
  intros n moved F Hmoved HF H0 Hadd. induction bits as [| p bits IH]; intros k g a Hok Hb Ha; cbn [shift_by].
  - done. rewrite N.mul_0_r, H0; [reflexivity | eapply number_lt; eauto].
  - inversion_clear Hb. step. last_step. done. erewrite HF by eauto. rewrite Nat2N.inj_add.
    destruct (value m p); cbn [N.b2n]; [rewrite Hadd |]; f_equal; lia.
Qed.

Lemma shift_left_word : forall n k g a b, ok g -> scoped_word n g a -> scoped_word (5 + k) g b ->
  gives_word n g (shift_left a b g) (fun m v => v = N.shiftl (number m a) (number m b mod power 5) mod power n).
Proof.
  intros n k g a b Hok Ha Hb. unfold shift_left. pose proof (proj2 (scoped_firstn _ _ _ _ Hb)). pose proof (power_pos n).
  pose proof (shift_by_word n moved_left (fun x k => N.shiftl x k mod power n) (moved_left_scoped n) (moved_left_number n)) as Hshift.
  lapply Hshift; [clear Hshift; intros Hshift | intros; rewrite N.shiftl_0_r; apply N.mod_small; auto].
  lapply Hshift; [clear Hshift; intros Hshift | intros; rewrite !N.shiftl_mul_pow2, N.mul_mod_idemp_l, N.pow_add_r, N.mul_assoc by lia; reflexivity].
  last_step. done. rewrite (proj1 (number_parts _ _ _)), N.mul_1_l. reflexivity.
Qed.

Lemma shift_right_word : forall n k g a b, ok g -> scoped_word n g a -> scoped_word (5 + k) g b ->
  gives_word n g (shift_right a b g) (fun m v => v = N.shiftr (number m a) (number m b mod power 5)).
Proof.
  intros n k g a b Hok Ha Hb. unfold shift_right. pose proof (proj2 (scoped_firstn _ _ _ _ Hb)).
  pose proof (shift_by_word n moved_right _ (moved_right_scoped n) (moved_right_number n) (fun x _ => N.shiftr_0_r x) N.shiftr_shiftr).
  last_step. done. rewrite (proj1 (number_parts _ _ _)), N.mul_1_l. reflexivity.
Qed.
#[local] Hint Resolve shift_left_word shift_right_word moved_left_scoped : gates.

(* ---- Multiplication ------------------------------------------------------------------------------------------ *)

Lemma add_rows_word : forall n b g a out, ok g -> scoped_word n g a -> Forall (scoped g) b -> scoped_word n g out ->
  gives_word n g (add_rows a b out g) (fun m v => v = (number m out + number m a * number m b) mod power n).
Proof.
  induction b as [| p b IH]; intros g a out Hok Ha Hb Ho; cbn [add_rows].
  - done. rewrite N.mul_0_r, N.add_0_r. symmetry. apply N.mod_small. eapply number_lt; eauto.
  - inversion_clear Hb. do 2 step. last_step. done. erewrite moved_left_number by eauto. pose proof (power_pos n).
    rewrite N.shiftl_mul_pow2, N.add_mod_idemp_l, <- N.add_mod_idemp_r, N.mul_mod_idemp_l, N.add_mod_idemp_r by lia. f_equal. lia.
Qed.
#[local] Hint Resolve add_rows_word : gates.

Lemma multiply_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (multiply a b g) (fun m v => v = (number m a * number m b) mod power n).
Proof.
  intros n g a b Hok Ha [_ Hb]. unfold multiply. rewrite (proj1 Ha). pose proof (scoped_zeros n g Hok). last_step. done.
  rewrite (number_zeros _ _ _ Hm). reflexivity.
Qed.

(* ---- Division ------------------------------------------------------------------------------------------------ *)

(* The next bit of the quotient is whether the divisor fits, and then it is subtracted. *)
Lemma one_step : forall p divisor rest bit less fits, rest < divisor -> divisor < p -> less < 2 * p ->
  less + 2 * p * N.b2n fits = N.b2n bit + 2 * rest + (2 * p - 1 - divisor) + 1 ->
  let rest' := if fits : bool then less mod p else (N.b2n bit + 2 * rest) mod p in
  N.b2n bit + 2 * rest = N.b2n fits * divisor + rest' /\ rest' < divisor.
Proof. intros p divisor rest bit less fits H H0 H1 H2. destruct bit, fits; cbn [N.b2n] in *; rewrite N.mod_small; lia. Qed.

Lemma divide_with_rest_words : forall n k g a b, ok g -> scoped_word k g a -> scoped_word n g b ->
  gives (fun g '(out, rest) => scoped_word k g out /\ scoped_word n g rest)
        (fun m '(out, rest) => number m b <> 0 -> number m a = number m b * number m out + number m rest /\ number m rest < number m b)
        g (divide_with_rest a b g).
Proof.
  induction k as [| k IH]; intros g a b Hok Ha Hb; split_words; cbn [divide_with_rest]; rewrite (proj1 Hb).
  - done. rewrite (number_zeros _ _ _ Hm). lia.
  - step. assert (scoped_word (S n) g0 (opposites b ++ [TRUE])) by (rewrite <- Nat.add_1_r; auto with gates). step.
    assert (Hfirst : forall l, scoped_word (S n) g1 l -> scoped_word n g1 (firstn n l))
      by (intros; apply scoped_firstn with 1%nat; rewrite Nat.add_1_r; auto). step. done. intros Hb0. rewrite !(proj1 (number_parts _ _ _)).
    match goal with Hrest : _ -> _ /\ _, Hsum : number m ?less + _ = _, Hless : scoped_word (S n) _ ?less |- _ =>
      destruct (Hrest Hb0) as [-> Hsmall]; rewrite number_app, (proj1 (scoped_opposites _ _ _ Hb)) in Hsum;
      pose proof (number_opposites _ _ m _ Hb); pose proof (number_lt _ _ m _ Hless); cbn [number power] in *;
      rewrite (value_TRUE _ _ Hm) in Hsum; cbn [N.b2n] in Hsum end.
    edestruct one_step as [Hstep Hsmall']; [exact Hsmall | exact (number_lt _ _ m _ Hb) | eassumption | | split; [| exact Hsmall']]; lia.
Qed.
#[local] Hint Resolve multiply_word divide_with_rest_words : gates.

Lemma divide_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (divide a b g) (fun m v => number m b <> 0 -> v = number m a / number m b).
Proof. intros. unfold divide. step. done. intros Hb. apply N.div_unique with (number m x); intuition. Qed.

(* ---- Comparisons --------------------------------------------------------------------------------------------- *)

Lemma equal_bit : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b -> gives_bit g (equal a b g) (fun m => number m a =? number m b).
Proof. induction n as [| n IH]; intros g a b Hok Ha Hb; split_words; cbn [equal]; [done; auto | do 2 step; last_step; done; by_bits m]. Qed.

Lemma greater_or_same_bits : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives (fun g '(out, same) => scoped g out /\ scoped g same)
        (fun m '(out, same) => value m out = (number m b <? number m a) /\ value m same = (number m a =? number m b))
        g (greater_or_same a b g).
Proof. induction n as [| n IH]; intros g a b Hok Ha Hb; split_words; cbn [greater_or_same]; [done; auto | do 6 step; done; split; by_bits m]. Qed.

Lemma any_common_bit_or_bit : forall n out g a b, ok g -> scoped g out -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (any_place both out a b g) (fun m => value m out || negb (N.land (number m a) (number m b) =? 0)).
Proof.
  induction n as [| n IH]; intros out g a b Hok Ho Ha Hb; split_words; cbn [any_place].
  - done. symmetry. apply orb_false_r.
  - do 2 step. last_step. done. rewrite land_double. by_bits m.
Qed.
#[local] Hint Resolve divide_word equal_bit greater_or_same_bits any_common_bit_or_bit : gates.

Lemma any_difference_or_bit : forall n out g a b, ok g -> scoped g out -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (any_place differ out a b g) (fun m => value m out || negb (number m a =? number m b)).
Proof.
  induction n as [| n IH]; intros out g a b Hg Ho Ha Hb; split_words; cbn [any_place].
  - done. symmetry. apply orb_false_r.
  - do 2 step. last_step. done. by_bits m.
Qed.

(* ---- What Filter.v states ------------------------------------------------------------------------------------ *)

Lemma alu_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_word 32 g (alu_gates op a b g) (fun m v => (op = DIV -> number m b <> 0) -> v = alu op (number m a) (number m b)).
Proof.
  intros op g a b Hok Ha Hb. unfold alu_gates, alu. change 31 with (N.ones 5). pose proof (Hb : scoped_word (5 + 27) g b). destruct op;
    match goal with |- gives_word _ _ ?r _ => eassert (Hr : gives_word 32 g r _) by eauto with gates end;
    destruct Hr as (H1 & H2 & H3 & H4); refine (conj H1 (conj H2 (conj H3 _))); intros m Hm Hdiv;
    rewrite <- (number_u32 _ m _ H3), (H4 m Hm) by auto; rewrite ?N.land_ones, !u32_mod, ?N.mod_mod by discriminate; reflexivity.
Qed.

Lemma jump_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_bit g (jump_gates op a b g) (fun m => compare op (number m a) (number m b)).
Proof.
  intros op g a b Hok Ha Hb.
  assert (Hgreater : forall a b, scoped_word 32 g a -> scoped_word 32 g b -> gives_bit g (greater a b g) (fun m => number m b <? number m a))
    by (intros; unfold greater; step; done; auto).
  destruct op; cbn [jump_gates compare]; eauto with gates.
  - eapply gives_ext; [apply opposite_bit; auto |]. intros m _. apply eq_sym, N.leb_antisym.
  - eapply gives_ext; [apply any_common_bit_or_bit with (n := 32%nat); auto with gates |]. intros m Hm. cbv beta. rewrite (value_FALSE _ _ Hm). reflexivity.
Qed.
