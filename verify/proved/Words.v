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

(* Adds a, shifted to the left by i, for each true bit of b, and so on with i + 1. *)
Fixpoint add_rows (a b : list Z) (i : nat) (out : list Z) (g : gates) : list Z * gates :=
  match b with
  | [] => (out, g)
  | bit :: b =>
      let kept := firstn (length a - i) a in
      let (row, g) := each_bit both (repeat bit (length kept)) kept g in
      let (out, g) := add out (zeros i ++ row) g in
      add_rows a b (S i) out g
  end.

Definition multiply (a b : list Z) (g : gates) : list Z * gates := add_rows a b 0 (zeros (length a)) g.

(* Long division of a, the highest bit first. `out` has the bits so far, and `rest` has one more bit than b in the subtraction. *)
Fixpoint divide_from (a b rest out : list Z) (g : gates) : list Z * gates :=
  match a with
  | [] => (out, g)
  | bit :: a =>
      let rest := bit :: rest in
      let '(less, fits, g) := add_with_carry rest (opposites b ++ [TRUE]) TRUE g in
      let (rest, g) := choose_word fits (firstn (length b) less) (firstn (length b) rest) g in
      divide_from a b rest (fits :: out) g
  end.

Definition divide (a b : list Z) (g : gates) : list Z * gates := divide_from (rev a) b (zeros (length b)) [] g.

(* Shifts by k if the first bit is true, then by 2 * k if the next one is, and so on. *)
Fixpoint shift_by (shift : nat -> list Z -> list Z) (bits : list Z) (k : nat) (a : list Z) (g : gates) : list Z * gates :=
  match bits with
  | [] => (a, g)
  | bit :: bits =>
      let (a, g) := choose_word bit (shift k a) a g in
      shift_by shift bits (k + k) a g
  end.

Definition moved_left (k : nat) (a : list Z) : list Z := zeros k ++ firstn (length a - k) a.
Definition moved_right (k : nat) (a : list Z) : list Z := skipn k a ++ zeros k.
Definition shift_left (a b : list Z) : gates -> list Z * gates := shift_by moved_left (firstn 5 b) 1 a.
Definition shift_right (a b : list Z) : gates -> list Z * gates := shift_by moved_right (firstn 5 b) 1 a.

(* Comparisons, the highest bit first. *)
Fixpoint equal_from (a b : list Z) (out : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (d, g) := differ p q g in
      let (out, g) := both out (-d) g in
      equal_from a b out g
  | _, _ => (out, g)
  end.

Definition equal (a b : list Z) : gates -> Z * gates := equal_from (rev a) (rev b) TRUE.

Fixpoint greater_from (a b : list Z) (out same_above : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := both p (-q) g in
      let (first, g) := both same_above here g in
      let (out, g) := either out first g in
      let (d, g) := differ p q g in
      let (same_above, g) := both same_above (-d) g in
      greater_from a b out same_above g
  | _, _ => (out, g)
  end.

Definition greater (a b : list Z) : gates -> Z * gates := greater_from (rev a) (rev b) FALSE TRUE.

Fixpoint any_common_bit_from (a b : list Z) (out : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := both p q g in
      let (out, g) := either out here g in
      any_common_bit_from a b out g
  | _, _ => (out, g)
  end.

Definition any_common_bit (a b : list Z) : gates -> Z * gates := any_common_bit_from a b FALSE.

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

Fixpoint bits_of (n : nat) (v : N) : list Z :=
  match n with
  | O => []
  | S n => (if N.odd v then TRUE else FALSE) :: bits_of n (N.div2 v)
  end.

Definition constant : N -> list Z := bits_of 32.

Fixpoint literals_from (n : nat) (l : Z) : list Z :=
  match n with
  | O => []
  | S n => l :: literals_from n (l + 1)
  end.

Definition input_word (i : N) : list Z := literals_from 32 (2 + 32 * Z.of_N i).

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
  ok (snd r) /\ extends g (snd r) /\ scoped_word n (snd r) (fst r) /\ forall m, consistent m (snd r) -> R m (number m (fst r)).

Lemma scoped_word_extends : forall n g h l, extends g h -> scoped_word n g l -> scoped_word n h l.
Proof. intros n g h l He [Hn Hl]. split; auto. eapply Forall_impl; [| exact Hl]. intros. eapply scoped_extends; eauto. Qed.

Lemma scoped_nil : forall g, scoped_word 0 g [].
Proof. split; auto. Qed.

Lemma scoped_cons : forall n g b l, scoped g b -> scoped_word n g l -> scoped_word (S n) g (b :: l).
Proof. intros n g b l Hb [<- Hl]. split; auto. Qed.

Lemma scoped_0 : forall g l, scoped_word 0 g l -> l = [].
Proof. intros g [| b l] [H _]; [reflexivity | discriminate]. Qed.

Lemma scoped_S : forall n g l, scoped_word (S n) g l -> exists b l', l = b :: l' /\ scoped g b /\ scoped_word n g l'.
Proof. intros n g [| b l] [H Hl]; [discriminate |]. injection H as <-. inversion_clear Hl. unfold scoped_word. eauto 6. Qed.

(* Replaces words by their bits. *)
Local Ltac split_words :=
  repeat match goal with
  | H : scoped_word 0 _ ?l |- _ => apply scoped_0 in H; subst l
  | H : scoped_word (S _) _ ?l |- _ =>
      let b := fresh "b" in let l' := fresh "l" in let E := fresh in apply scoped_S in H; destruct H as (b & l' & E & ? & ?); subst l
  end.

Lemma scoped_app : forall n k g l l', scoped_word n g l -> scoped_word k g l' -> scoped_word (n + k) g (l ++ l').
Proof. intros n k g l l' [<- H] [<- H']. split; [apply app_length | apply Forall_app; auto]. Qed.

Lemma scoped_rev : forall n g l, scoped_word n g l -> scoped_word n g (rev l).
Proof. intros n g l [<- H]. split; [apply rev_length | apply Forall_rev; auto]. Qed.

Lemma scoped_repeat : forall n g b, scoped g b -> scoped_word n g (repeat b n).
Proof. intros n g b H. split; [apply repeat_length | apply Forall_forall; intros x Hx; apply repeat_spec in Hx; subst; auto]. Qed.

Lemma scoped_zeros : forall n g, ok g -> scoped_word n g (zeros n).
Proof. intros. apply scoped_repeat. auto with gates. Qed.

Lemma scoped_firstn : forall n k g l, scoped_word n g l -> (k <= n)%nat -> scoped_word k g (firstn k l).
Proof.
  intros n k g l [<- H] Hk. split; [apply firstn_length_le; auto |]. rewrite <- (firstn_skipn k l) in H. apply Forall_app in H. tauto.
Qed.

Lemma scoped_skipn : forall n k g l, scoped_word n g l -> scoped_word (n - k) g (skipn k l).
Proof. intros n k g l [<- H]. split; [apply skipn_length |]. rewrite <- (firstn_skipn k l) in H. apply Forall_app in H. tauto. Qed.

Lemma scoped_opposites : forall n g l, scoped_word n g l -> scoped_word n g (opposites l).
Proof.
  intros n g l [<- H]. split; [apply map_length |]. apply Forall_map. eapply Forall_impl; [| exact H]. apply scoped_opposite.
Qed.

(* ---- Numbers ------------------------------------------------------------------------------------------------- *)

(* 2 to the power of n. *)
Fixpoint power (n : nat) : N := match n with O => 1 | S n => 2 * power n end.

Lemma power_pow : forall n, power n = 2 ^ N.of_nat n.
Proof. induction n as [| n IH]; [reflexivity |]. rewrite Nat2N.inj_succ, N.pow_succ_r'. cbn [power]. lia. Qed.

Lemma power_pos : forall n, 0 < power n.
Proof. induction n; cbn [power]; lia. Qed.

Lemma power_add : forall i j, power (i + j) = power i * power j.
Proof. induction i as [| i IH]; intros j; cbn [power Nat.add]; [| rewrite IH]; lia. Qed.

Lemma u32_mod : forall v, u32 v = v mod power 32.
Proof. intros v. apply (N.land_ones v 32). Qed.

Lemma divide_double : forall b x y, y <> 0 -> (N.b2n b + 2 * x) / (2 * y) = x / y /\ (N.b2n b + 2 * x) mod (2 * y) = N.b2n b + 2 * (x mod y).
Proof.
  intros b x y Hy. pose proof (N.div_mod x y Hy). pose proof (N.mod_lt x y Hy).
  assert (N.b2n b <= 1) by (destruct b; simpl; lia).
  split; symmetry; [apply N.div_unique with (N.b2n b + 2 * (x mod y)) | apply N.mod_unique with (x / y)]; lia.
Qed.

Lemma number_lt : forall m l, number m l < power (length l).
Proof. induction l as [| b l IH]; cbn [number power length]; [| destruct (value m b); cbn [N.b2n]]; lia. Qed.

Lemma scoped_lt : forall n g m l, scoped_word n g l -> number m l < power n.
Proof. intros n g m l [<- _]. apply number_lt. Qed.

Lemma number_app : forall m l l', number m (l ++ l') = number m l + power (length l) * number m l'.
Proof. induction l as [| b l IH]; intros l'; cbn [number power length app]; [| rewrite IH]; lia. Qed.

Lemma number_firstn : forall m k l, number m (firstn k l) = number m l mod power k.
Proof.
  induction k as [| k IH]; intros l; cbn [firstn power]; [rewrite N.mod_1_r; reflexivity |].
  pose proof (power_pos k). destruct l as [| b l]; cbn [number]; [rewrite N.mod_0_l by lia; reflexivity |].
  rewrite IH. symmetry. apply divide_double. lia.
Qed.

Lemma number_skipn : forall m k l, number m (skipn k l) = number m l / power k.
Proof.
  induction k as [| k IH]; intros l; cbn [skipn power]; [rewrite N.div_1_r; reflexivity |].
  pose proof (power_pos k). destruct l as [| b l]; cbn [number]; [rewrite N.div_0_l by lia; reflexivity |].
  rewrite IH. symmetry. apply divide_double. lia.
Qed.

Lemma number_zeros : forall g m n, consistent m g -> number m (zeros n) = 0.
Proof. intros g m n H. induction n as [| n IH]; [reflexivity |]. cbn [zeros repeat number]. rewrite (value_FALSE _ _ H). unfold zeros in IH. rewrite IH. reflexivity. Qed.

Lemma number_opposites : forall n g m l, scoped_word n g l -> number m l + number m (opposites l) = power n - 1.
Proof.
  induction n as [| n IH]; intros g m l H; split_words; [reflexivity |].
  pose proof (power_pos n). cbn [opposites map number power]. fold (opposites l0). erewrite value_opposite by eauto.
  specialize (IH g m l0 ltac:(auto)). destruct (value m b); cbn [negb N.b2n]; lia.
Qed.

Lemma number_bits_of : forall g m n v, consistent m g -> number m (bits_of n v) = v mod power n.
Proof.
  intros g m n v H. revert v. induction n as [| n IH]; intros v; cbn [bits_of number power]; [rewrite N.mod_1_r; reflexivity |].
  pose proof (power_pos n). rewrite IH. rewrite (N.div2_odd v) at 3. rewrite N.add_comm.
  replace (value m (if N.odd v then TRUE else FALSE)) with (N.odd v)
    by (destruct (N.odd v); rewrite ?(value_TRUE _ _ H), ?(value_FALSE _ _ H); reflexivity).
  rewrite N.add_comm. rewrite (N.add_comm (2 * _)). symmetry. apply divide_double. lia.
Qed.

Lemma number_literals : forall m n x l, (forall t, t < N.of_nat n -> value m (l + Z.of_N t) = N.testbit x t) ->
  number m (literals_from n l) = x mod power n.
Proof.
  induction n as [| n IH]; intros x l H; cbn [literals_from number power]; [rewrite N.mod_1_r; reflexivity |].
  pose proof (power_pos n). rewrite (IH (N.div2 x)).
  - rewrite (N.div2_odd x) at 2. rewrite (N.add_comm (2 * _)).
    specialize (H 0 ltac:(lia)). rewrite N.bit0_odd, Z.add_0_r in H. rewrite H. symmetry. apply divide_double. lia.
  - intros t Ht. rewrite N.div2_spec, N.shiftr_spec'. rewrite <- H by lia. f_equal. lia.
Qed.

(* ---- Constants and the input --------------------------------------------------------------------------------- *)

Lemma constant_scoped : forall g v, ok g -> scoped_word 32 g (constant v).
Proof.
  unfold constant. intros g v H. revert v. generalize 32%nat. intros n. induction n as [| n IH]; intros v; [apply scoped_nil |].
  apply scoped_cons; [destruct (N.odd v) |]; auto with gates.
Qed.

Lemma constant_number : forall g m v, consistent m g -> number m (constant v) = u32 v.
Proof. intros g m v H. rewrite u32_mod. eapply number_bits_of; eauto. Qed.

Lemma input_scoped : forall g i, ok g -> i < 16 -> scoped_word 32 g (input_word i).
Proof.
  intros g i [H _] Hi. apply numbered_first in H. unfold FIRST_GATE, input_word, scoped, below in *.
  assert (A : (Z.of_nat 32 + (2 + 32 * Z.of_N i) <= 514)%Z) by lia. assert (B : (0 < 2 + 32 * Z.of_N i)%Z) by lia. revert A B.
  generalize (2 + 32 * Z.of_N i)%Z. generalize 32%nat. intros n. induction n as [| n IH]; intros l A B; [apply scoped_nil |].
  apply scoped_cons; [unfold scoped, below; lia | apply IH; lia].
Qed.

(* Every input has a model. *)
Lemma model_exists : forall g (d : data), ok g ->
  exists m, consistent m g /\ forall i, i < 16 -> number m (input_word i) = u32 (nth (N.to_nat i) d 0).
Proof.
  intros g d H.
  set (base := fun v => match v with 1%positive => true | _ => let b := N.pos v - 2 in N.testbit (nth (N.to_nat (b / 32)) d 0) (b mod 32) end).
  destruct (model_of g base H eq_refl) as (m & Hm & Hb). exists m. split; [auto |]. intros i Hi. rewrite u32_mod.
  apply number_literals. intros t Ht. change (N.of_nat 32) with 32 in Ht.
  assert (E : exists v, (2 + 32 * Z.of_N i + Z.of_N t)%Z = Zpos v) by (destruct (2 + 32 * Z.of_N i + Z.of_N t)%Z eqn:E; try lia; eauto).
  destruct E as [v E]. rewrite E. cbn [value]. rewrite Hb by (unfold FIRST_GATE; lia). unfold base.
  assert (Hv : N.pos v - 2 = t + i * 32) by lia. destruct v; try (rewrite Hv; cbv zeta); try lia;
  rewrite N.div_add, N.mod_add, N.div_small, N.mod_small by lia; reflexivity.
Qed.

(* The value of a word is a word. *)
Lemma number_u32 : forall g m l, scoped_word 32 g l -> u32 (number m l) = number m l.
Proof. intros g m l H. rewrite u32_mod. apply N.mod_small. eapply scoped_lt; eauto. Qed.

(* ---- Chains of operations ------------------------------------------------------------------------------------ *)

(* An addition gives n bits and a carry. *)
Definition gives_sum (n : nat) (g : gates) (r : list Z * Z * gates) (sum : model -> N) : Prop :=
  ok (snd r) /\ extends g (snd r) /\ scoped_word n (snd r) (fst (fst r)) /\ scoped (snd r) (snd (fst r)) /\
  forall m, consistent m (snd r) -> number m (fst (fst r)) + power n * N.b2n (value m (snd (fst r))) = sum m.

#[local] Hint Resolve extends_refl scoped_nil scoped_cons scoped_app scoped_rev scoped_repeat scoped_zeros scoped_opposites : gates.

Ltac carry_words He :=
  match type of He with extends ?g _ => repeat match goal with H : scoped_word _ g _ |- _ => apply (scoped_word_extends _ _ _ _ He) in H end end;
  carry_over He.

Ltac run r :=
  let H := fresh in let h := fresh "g" in let Hok := fresh "Hok" in let He := fresh "He" in
  first [ eassert (H : gives_bit _ r _) by eauto 8 with gates; let x := fresh "x" in destruct r as [x h]
        | eassert (H : gives_word _ _ r _) by eauto 8 with gates; let l := fresh "l" in destruct r as [l h]
        | eassert (H : gives_sum _ _ r _) by eauto 8 with gates; let l := fresh "l" in let x := fresh "x" in destruct r as [[l x] h] ];
  destruct H as (Hok & He & H); cbn [fst snd] in *;
  repeat match type of H with _ /\ _ => let K := fresh in destruct H as [K H] end; carry_words He.

(* Runs the next operation of a goal about `let (l, g) := operation in ...`, or the last one. *)
Ltac step := match goal with |- context [match ?r with pair _ _ => _ end] => run r end.
Ltac last_step := match goal with |- gives_word _ _ ?r _ => run r | |- gives_bit _ ?r _ => run r end.

(* Replaces the values of results. *)
Ltac use_values :=
  repeat match goal with
  | H : value _ ?x = _ |- _ => is_var x; rewrite H in *; clear H
  | H : number _ ?l = _ |- _ => is_var l; rewrite H in *; clear H
  end.

(* Ends such a goal, except for the value of the result. *)
Ltac done :=
  refine (conj _ (conj _ _)); cbn [fst snd]; eauto with gates; repeat (apply conj; [eauto with gates |]);
  let m := fresh "m" in let Hm := fresh "Hm" in intros m Hm;
  repeat match goal with H : forall m, consistent m _ -> _ |- _ => specialize (H m Hm) end; cbn [number power];
  use_values; repeat (erewrite value_opposite by eassumption); use_values.

(* ---- Bitwise operations -------------------------------------------------------------------------------------- *)

(* The last bits of numbers. *)
Lemma land_double : forall p q a b, N.land (N.b2n p + 2 * a) (N.b2n q + 2 * b) = N.b2n (p && q) + 2 * N.land a b.
Proof. intros [] [] [] []; try reflexivity; simpl; destruct (Pos.land _ _); reflexivity. Qed.

(* An operation on the bits (f) makes an operation on the numbers (F). The condition is for `choose_word`. *)
Lemma each_bit_word : forall (op : Z -> Z -> gates -> Z * gates) (condition : Z) (f : bool -> bool -> bool -> bool) (F : bool -> N -> N -> N),
  (forall g p q, ok g -> scoped g condition -> scoped g p -> scoped g q ->
     gives_bit g (op p q g) (fun m => f (value m condition) (value m p) (value m q))) ->
  (forall c, F c 0 0 = 0) ->
  (forall c p q a b, F c (N.b2n p + 2 * a) (N.b2n q + 2 * b) = N.b2n (f c p q) + 2 * F c a b) ->
  forall n g a b, ok g -> scoped g condition -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (each_bit op a b g) (fun m v => v = F (value m condition) (number m a) (number m b)).
Proof.
  intros op c f F Hop H0 HF. induction n as [| n IH]; intros g a b Hok Hc Ha Hb; split_words; cbn [each_bit].
  - done.
  - do 2 step. done. rewrite HF. reflexivity.
Qed.

Local Ltac bit_by_bit condition f F :=
  intros; refine (each_bit_word _ condition f F _ _ _ _ _ _ _ _ _ _ _); auto with gates;
  intros []; try reflexivity; intros [] [] [] []; try reflexivity; simpl; try destruct (Pos.land _ _); try destruct (Pos.lxor _ _); reflexivity.

Lemma choose_word_word : forall n g c yes no, ok g -> scoped g c -> scoped_word n g yes -> scoped_word n g no ->
  gives_word n g (choose_word c yes no g) (fun m v => v = if value m c then number m yes else number m no).
Proof. bit_by_bit c (fun c p q : bool => if c then p else q) (fun (c : bool) (a b : N) => if c then a else b). Qed.

Lemma bit_and_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_and a b g) (fun m v => v = N.land (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => andb) (fun _ : bool => N.land). Qed.

Lemma bit_or_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_or a b g) (fun m v => v = N.lor (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => orb) (fun _ : bool => N.lor). Qed.

Lemma bit_xor_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (bit_xor a b g) (fun m v => v = N.lxor (number m a) (number m b)).
Proof. bit_by_bit TRUE (fun _ : bool => xorb) (fun _ : bool => N.lxor). Qed.

#[local] Hint Resolve choose_word_word bit_and_word bit_or_word bit_xor_word : gates.

(* ---- Addition ------------------------------------------------------------------------------------------------ *)

Lemma add_with_carry_sum : forall n g a b c, ok g -> scoped_word n g a -> scoped_word n g b -> scoped g c ->
  gives_sum n g (add_with_carry a b c g) (fun m => number m a + number m b + N.b2n (value m c)).
Proof.
  induction n as [| n IH]; intros g a b c Hok Ha Hb Hc; split_words; cbn [add_with_carry].
  - done. lia.
  - do 6 step. done.
    repeat match goal with |- context [value m ?x] => destruct (value m x) end; cbn [N.b2n xorb andb orb] in *; lia.
Qed.
#[local] Hint Resolve add_with_carry_sum : gates.

Lemma mod_of_sum : forall x y z p, x < p -> x + p * y = z -> x = z mod p.
Proof. intros. apply N.mod_unique with y; lia. Qed.

Lemma add_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (add a b g) (fun m v => v = (number m a + number m b) mod power n).
Proof.
  intros. unfold add. step. done. rewrite (value_FALSE _ _ Hm), N.add_0_r in *. eauto using mod_of_sum, scoped_lt.
Qed.

Lemma subtract_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (subtract a b g) (fun m v => v = (number m a + power n - number m b) mod power n).
Proof.
  intros n g a b Hok Ha Hb. unfold subtract. step. done. rewrite (value_TRUE _ _ Hm) in *. cbn [N.b2n] in *.
  pose proof (number_opposites n _ m b Hb). pose proof (power_pos n). eapply mod_of_sum; [eapply scoped_lt; eauto |].
  match goal with H : _ = _ |- _ => etransitivity; [exact H | lia] end.
Qed.

(* ---- Multiplication ------------------------------------------------------------------------------------------ *)

Lemma row_word : forall n g p a, ok g -> scoped g p -> scoped_word n g a ->
  gives_word n g (each_bit both (repeat p (length a)) a g) (fun m v => v = N.b2n (value m p) * number m a).
Proof.
  induction n as [| n IH]; intros g p a Hok Hp Ha; split_words; cbn [length repeat each_bit].
  - done. cbn. lia.
  - do 2 step. done. destruct (value m p), (value m b); cbn [N.b2n andb]; lia.
Qed.
#[local] Hint Resolve add_word row_word : gates.

Lemma shift_mod : forall n i x, (i <= n)%nat -> power i * (x mod power (n - i)) = (power i * x) mod power n.
Proof.
  intros n i x Hi. pose proof (power_pos i). pose proof (power_pos (n - i)).
  replace (power n) with (power i * power (n - i)) by (rewrite <- power_add; f_equal; lia). symmetry. apply N.mul_mod_distr_l; lia.
Qed.

Lemma add_rows_word : forall n b i g a out, ok g -> scoped_word n g a -> Forall (scoped g) b -> scoped_word n g out -> (i + length b <= n)%nat ->
  gives_word n g (add_rows a b i out g) (fun m v => v = (number m out + power i * number m a * number m b) mod power n).
Proof.
  induction b as [| p b IH]; intros i g a out Hok Ha Hb Ho Hi; cbn [add_rows].
  - done. rewrite N.mul_0_r, N.add_0_r. symmetry. apply N.mod_small. eapply scoped_lt; eauto.
  - inversion_clear Hb. cbn [length] in Hi. pose proof (proj1 Ha) as Hn. rewrite Hn.
    pose proof (scoped_firstn n (n - i) g a Ha ltac:(lia)). step.
    assert (scoped_word n g0 (zeros i ++ l)) by (replace n with (i + (n - i))%nat by lia; auto with gates).
    step. assert (Hi' : (S i + length b <= n)%nat) by lia. last_step. done.
    rewrite number_app, (number_zeros _ _ _ Hm), number_firstn in *. unfold zeros. rewrite repeat_length. use_values.
    pose proof (power_pos n).
    replace (0 + power i * _) with ((N.b2n (value m p) * (power i * number m a)) mod power n)
      by (destruct (value m p); cbn [N.b2n]; rewrite ?N.mul_0_l, ?N.mul_1_l, <- ?shift_mod by lia; [lia | rewrite N.mod_0_l; lia]).
    rewrite N.add_mod_idemp_r, N.add_mod_idemp_l by lia. f_equal. cbn [power]. lia.
Qed.

Lemma multiply_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (multiply a b g) (fun m v => v = (number m a * number m b) mod power n).
Proof.
  intros n g a b Hok Ha [Hn Hb]. unfold multiply. rewrite (proj1 Ha). pose proof (scoped_zeros n g Hok).
  assert (Hi : (0 + length b <= n)%nat) by lia. pose proof add_rows_word. last_step. done.
  rewrite (number_zeros _ _ _ Hm). cbn [power]. f_equal. lia.
Qed.

(* ---- Division ------------------------------------------------------------------------------------------------ *)

(* One step: the next bit of the quotient is whether the divisor fits, and then it is subtracted. *)
Lemma one_step : forall p divisor rest bit less fits rest', rest < divisor -> divisor < p -> less < 2 * p ->
  less + 2 * p * N.b2n fits = N.b2n bit + 2 * rest + (2 * p - 1 - divisor) + 1 ->
  rest' = (if fits : bool then less mod p else (N.b2n bit + 2 * rest) mod p) ->
  N.b2n bit + 2 * rest = N.b2n fits * divisor + rest' /\ rest' < divisor.
Proof. intros p divisor rest bit less fits rest' H H0 H1 H2 ->. destruct bit, fits; cbn [N.b2n] in *; rewrite N.mod_small; lia. Qed.

(* The bits of a are left, the highest first. *)
Lemma divide_from_word : forall n a g b rest out, ok g -> Forall (scoped g) a -> scoped_word n g b -> scoped_word n g rest -> Forall (scoped g) out ->
  gives_word (length a + length out) g (divide_from a b rest out g)
    (fun m v => number m rest < number m b ->
       v = power (length a) * number m out + (power (length a) * number m rest + number m (rev a)) / number m b).
Proof.
  induction a as [| p a IH]; intros g b rest out Hok Ha Hb Hr Ho; cbn [divide_from].
  - assert (scoped_word (0 + length out) g out) by (split; auto). done.
    intros. cbn [rev number]. rewrite !N.mul_1_l, N.add_0_r, N.div_small; lia.
  - inversion_clear Ha. cbv zeta. rewrite (proj1 Hb).
    assert (scoped_word (S n) g (p :: rest)) by auto with gates.
    assert (scoped_word (S n) g (opposites b ++ [TRUE])) by (replace (S n) with (n + 1)%nat by lia; auto with gates).
    step.
    assert (scoped_word n g0 (firstn n l)) by (eapply scoped_firstn; [eassumption | lia]).
    assert (scoped_word n g0 (firstn n (p :: rest))) by (eapply scoped_firstn; [eassumption | lia]).
    step. replace (length (p :: a) + length out)%nat with (length a + length (x :: out))%nat by (cbn [length]; lia). last_step. done.
    intros Hlt. cbn [length power rev]. rewrite number_app. cbn [number]. rewrite rev_length, N.mul_0_r, N.add_0_r.
    match goal with Hsum : number m l + _ = _, Hnext : _ -> _ = _, Hl : scoped_word (S n) _ l |- _ =>
      pose proof (scoped_lt _ _ m _ Hl) as Hless; rewrite !number_firstn in Hnext; rename Hnext into Hquotient; rename Hsum into Hsubtract end.
    rewrite number_app, (value_TRUE _ _ Hm) in Hsubtract. cbn [number power N.b2n] in *. rewrite (proj1 (scoped_opposites _ _ _ Hb)) in Hsubtract.
    pose proof (number_opposites _ _ m _ Hb). pose proof (power_pos n). rewrite (value_TRUE _ _ Hm) in Hsubtract. cbn [N.b2n] in *.
    edestruct one_step as [Hrest Hsmall]; [exact Hlt | exact (scoped_lt _ _ m _ Hb) | exact Hless | | reflexivity |];
      [instantiate (1 := value m p); instantiate (1 := value m x); lia |].
    rewrite (Hquotient Hsmall). clear Hquotient Hsubtract. revert Hrest Hsmall. match goal with |- context [if value m x then ?u else ?w] => generalize (if value m x then u else w) end.
    intros rest' Hrest Hsmall.
    replace (2 * power (length a) * number m rest + _)
      with (power (length a) * N.b2n (value m x) * number m b + (power (length a) * rest' + number m (rev a))) by lia.
    rewrite N.div_add_l by lia. lia.
Qed.
#[local] Hint Resolve divide_from_word : gates.

Lemma divide_word : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (divide a b g) (fun m v => number m b <> 0 -> v = number m a / number m b).
Proof.
  intros n g a b Hok Ha Hb. unfold divide. pose proof (proj2 (scoped_rev _ _ _ Ha)). rewrite (proj1 Hb). pose proof (scoped_zeros n _ Hok).
  replace n with (length (rev a) + length (@nil Z))%nat at 1 by (rewrite rev_length, (proj1 Ha); cbn; lia). last_step. done.
  rewrite rev_length, (proj1 Ha) in *. rewrite Nat.add_0_r in *. auto.
  rewrite (number_zeros _ _ _ Hm), rev_involutive in *. cbn [number] in *. rewrite !N.mul_0_r in *. rewrite !N.add_0_l in *.
  intros. assert (0 < number m b) by lia. auto.
Qed.

(* ---- Shifts -------------------------------------------------------------------------------------------------- *)

(* `shift` moves a word, and F moves its value. *)
Lemma shift_by_word : forall n (shift : nat -> list Z -> list Z) (F : N -> N -> N),
  (forall k g a, ok g -> (k <= n)%nat -> scoped_word n g a -> scoped_word n g (shift k a)) ->
  (forall k g m a, (k <= n)%nat -> scoped_word n g a -> consistent m g -> number m (shift k a) = F (number m a) (N.of_nat k)) ->
  (forall x, x < power n -> F x 0 = x) -> (forall x i j, F (F x i) j = F x (i + j)) ->
  forall bits k g a, ok g -> Forall (scoped g) bits -> scoped_word n g a -> (k * 2 ^ length bits <= n + n)%nat ->
  gives_word n g (shift_by shift bits k a g) (fun m v => v = F (number m a) (N.of_nat k * number m bits)).
Proof.
  intros n shift F Hshift HF H0 Hadd. induction bits as [| p bits IH]; intros k g a Hok Hb Ha Hk; cbn [shift_by].
  - done. rewrite N.mul_0_r, H0; [reflexivity | eapply scoped_lt; eauto].
  - inversion_clear Hb. cbn [length Nat.pow] in Hk. pose proof (Nat.pow_nonzero 2 (length bits) ltac:(lia)).
    assert (k <= n)%nat by nia. assert ((k + k) * 2 ^ length bits <= n + n)%nat by nia. step. last_step. done.
    erewrite HF by eauto. replace (N.of_nat k * (N.b2n (value m p) + 2 * number m bits))
      with ((if value m p then N.of_nat k else 0) + N.of_nat (k + k) * number m bits) by (destruct (value m p); cbn [N.b2n]; lia).
    rewrite <- Hadd. destruct (value m p); [reflexivity | rewrite H0; [reflexivity | eapply scoped_lt; eauto]].
Qed.

Lemma shift_left_word : forall n g a b, ok g -> (16 <= n)%nat -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (shift_left a b g) (fun m v => v = N.shiftl (number m a) (number m b mod power 5) mod power n).
Proof.
  intros n g a b Hok Hn Ha Hb. unfold shift_left.
  assert (Hshift : forall k g a, ok g -> (k <= n)%nat -> scoped_word n g a -> scoped_word n g (moved_left k a)).
  { intros k h l Hh Hk Hl. unfold moved_left. rewrite (proj1 Hl). replace n with (k + (n - k))%nat at 1 by lia.
    apply scoped_app; [auto with gates | eapply scoped_firstn; [eauto | lia]]. }
  assert (HF : forall k g m a, (k <= n)%nat -> scoped_word n g a -> consistent m g ->
    number m (moved_left k a) = N.shiftl (number m a) (N.of_nat k) mod power n).
  { intros k h m l Hk Hl Hm. unfold moved_left. rewrite (proj1 Hl), number_app, (number_zeros _ _ _ Hm), number_firstn.
    unfold zeros. rewrite repeat_length, shift_mod, N.shiftl_mul_pow2, <- power_pow by auto. rewrite N.add_0_l. f_equal. lia. }
  pose proof (power_pos n). pose proof (scoped_firstn n 5 _ b Hb ltac:(lia)) as H5.
  pose proof (shift_by_word n moved_left (fun x k => N.shiftl x k mod power n) Hshift HF) as H'.
  lapply H'; [clear H'; intros H' | intros; rewrite N.shiftl_0_r; apply N.mod_small; auto].
  lapply H'; [clear H'; intros H' | intros; rewrite !N.shiftl_mul_pow2, N.mul_mod_idemp_l, N.pow_add_r, N.mul_assoc by lia; reflexivity].
  assert (Hk : (1 * 2 ^ length (firstn 5 b) <= n + n)%nat) by (rewrite (proj1 H5); cbn; lia).
  pose proof (proj2 H5). last_step. done. rewrite number_firstn, N.mul_1_l. reflexivity.
Qed.

Lemma shift_right_word : forall n g a b, ok g -> (16 <= n)%nat -> scoped_word n g a -> scoped_word n g b ->
  gives_word n g (shift_right a b g) (fun m v => v = N.shiftr (number m a) (number m b mod power 5)).
Proof.
  intros n g a b Hok Hn Ha Hb. unfold shift_right.
  assert (Hshift : forall k g a, ok g -> (k <= n)%nat -> scoped_word n g a -> scoped_word n g (moved_right k a)).
  { intros k h l Hh Hk Hl. unfold moved_right. replace n with (n - k + k)%nat at 1 by lia.
    apply scoped_app; [apply scoped_skipn; auto | auto with gates]. }
  assert (HF : forall k g m a, (k <= n)%nat -> scoped_word n g a -> consistent m g ->
    number m (moved_right k a) = N.shiftr (number m a) (N.of_nat k)).
  { intros k h m l Hk Hl Hm. unfold moved_right. rewrite number_app, (number_zeros _ _ _ Hm), number_skipn, N.shiftr_div_pow2, <- power_pow. lia. }
  pose proof (scoped_firstn n 5 _ b Hb ltac:(lia)) as H5.
  pose proof (shift_by_word n moved_right N.shiftr Hshift HF (fun x _ => N.shiftr_0_r x) N.shiftr_shiftr) as H'.
  assert (Hk : (1 * 2 ^ length (firstn 5 b) <= n + n)%nat) by (rewrite (proj1 H5); cbn; lia).
  pose proof (proj2 H5). last_step. done. rewrite number_firstn, N.mul_1_l. reflexivity.
Qed.

(* ---- Comparisons --------------------------------------------------------------------------------------------- *)

Local Ltac compare_numbers m l l' Hl Hl' :=
  pose proof (scoped_lt _ _ m _ (scoped_rev _ _ _ Hl)); pose proof (scoped_lt _ _ m _ (scoped_rev _ _ _ Hl'));
  cbn [rev]; rewrite !number_app, !rev_length, (proj1 Hl), (proj1 Hl'); cbn [number];
  repeat match goal with |- context [value m ?b] => destruct (value m b); cbn [xorb andb orb negb N.b2n] end; auto;
  repeat match goal with |- context [?x =? ?y] => destruct (N.eqb_spec x y) | |- context [?x <? ?y] => destruct (N.ltb_spec x y) end;
  try reflexivity; lia.

(* The highest bit is the first of each list. *)
Lemma equal_from_bit : forall n g a b out, ok g -> scoped g out -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (equal_from a b out g) (fun m => value m out && (number m (rev a) =? number m (rev b))).
Proof.
  induction n as [| n IH]; intros g a b out Hok Ho Ha Hb; split_words; cbn [equal_from].
  - done. rewrite andb_true_r. reflexivity.
  - do 2 step. last_step. done.
    match goal with H : scoped_word n _ ?l, H' : scoped_word n _ ?l' |- context [(number _ (rev ?l) =? number _ (rev ?l'))] => compare_numbers m l l' H H' end.
Qed.
#[local] Hint Resolve equal_from_bit : gates.

Lemma equal_bit : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b -> gives_bit g (equal a b g) (fun m => number m a =? number m b).
Proof. intros. unfold equal. last_step. done. rewrite (value_TRUE _ _ Hm), !rev_involutive. reflexivity. Qed.

Lemma greater_from_bit : forall n g a b out same, ok g -> scoped g out -> scoped g same -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (greater_from a b out same g) (fun m => value m out || (value m same && (number m (rev b) <? number m (rev a)))).
Proof.
  induction n as [| n IH]; intros g a b out same Hok Ho Hs Ha Hb; split_words; cbn [greater_from].
  - done. cbn. rewrite andb_false_r, orb_false_r. reflexivity.
  - do 5 step. last_step. done.
    match goal with H : scoped_word n _ ?l, H' : scoped_word n _ ?l' |- context [(number _ (rev ?l) <? number _ (rev ?l'))] => compare_numbers m l l' H H' end.
Qed.
#[local] Hint Resolve greater_from_bit : gates.

Lemma greater_bit : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b -> gives_bit g (greater a b g) (fun m => number m b <? number m a).
Proof. intros. unfold greater. last_step. done. rewrite (value_TRUE _ _ Hm), (value_FALSE _ _ Hm), !rev_involutive. reflexivity. Qed.

Lemma any_common_bit_from_bit : forall n g a b out, ok g -> scoped g out -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (any_common_bit_from a b out g) (fun m => value m out || negb (N.land (number m a) (number m b) =? 0)).
Proof.
  induction n as [| n IH]; intros g a b out Hok Ho Ha Hb; split_words; cbn [any_common_bit_from].
  - done. cbn. rewrite orb_false_r. reflexivity.
  - do 2 step. last_step. done. rewrite land_double.
    repeat match goal with |- context [value m ?b] => destruct (value m b); cbn [andb orb N.b2n] end; auto;
    repeat match goal with |- context [?x =? ?y] => destruct (N.eqb_spec x y) end; try reflexivity; lia.
Qed.
#[local] Hint Resolve any_common_bit_from_bit : gates.

Lemma any_common_bit_bit : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b ->
  gives_bit g (any_common_bit a b g) (fun m => negb (N.land (number m a) (number m b) =? 0)).
Proof. intros. unfold any_common_bit. last_step. done. rewrite (value_FALSE _ _ Hm). reflexivity. Qed.

(* ---- What Filter.v states ------------------------------------------------------------------------------------ *)

#[local] Hint Resolve subtract_word multiply_word divide_word shift_left_word shift_right_word equal_bit greater_bit any_common_bit_bit : gates.

Lemma alu_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_word 32 g (alu_gates op a b g) (fun m v => (op = DIV -> number m b <> 0) -> v = alu op (number m a) (number m b)).
Proof.
  intros op g a b Hok Ha Hb. assert (16 <= 32)%nat by lia. unfold alu_gates, alu. change 31 with (N.ones 5).
  destruct op;
    match goal with |- gives_word _ _ ?r _ => eassert (Hr : gives_word 32 g r _) by eauto with gates end;
    destruct Hr as (H1 & H2 & H3 & H4); refine (conj H1 (conj H2 (conj H3 _))); intros m Hm Hdiv;
    rewrite <- (number_u32 _ m _ H3), (H4 m Hm) by auto; rewrite ?N.land_ones, !u32_mod, ?N.mod_mod by discriminate; reflexivity.
Qed.

Lemma jump_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_bit g (jump_gates op a b g) (fun m => compare op (number m a) (number m b)).
Proof.
  intros op g a b Hok Ha Hb. destruct op; cbn [jump_gates compare]; eauto with gates.
  eapply gives_ext; [apply opposite_bit; eauto with gates |]. intros m _. cbv beta. apply eq_sym, N.leb_antisym.
Qed.
