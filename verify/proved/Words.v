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

Lemma scoped_nil : forall n g, scoped_word n g [] <-> n = O.
Proof. unfold scoped_word. simpl. intuition. Qed.

Lemma scoped_cons : forall n g b l, scoped_word n g (b :: l) <-> exists k, n = S k /\ scoped g b /\ scoped_word k g l.
Proof.
  unfold scoped_word. simpl. split; [intros [<- H]; inversion_clear H; eauto | intros (k & -> & Hb & <- & Hl); auto].
Qed.

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
  induction n as [| n IH]; intros g m [| b l] H; try (apply scoped_nil in H; discriminate); try reflexivity;
    apply scoped_cons in H; destruct H as (k & E & Hb & Hl); [discriminate |]. injection E as <-.
  pose proof (power_pos n). cbn [opposites map number power]. fold (opposites l). rewrite (value_opposite _ _ _ Hb). specialize (IH g m l Hl).
  destruct (value m b); cbn [negb N.b2n]; lia.
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
  unfold constant. intros g v H. revert v. generalize 32%nat. intros n. induction n as [| n IH]; intros v; [apply scoped_nil; auto |].
  apply scoped_cons. exists n. destruct (N.odd v); auto with gates.
Qed.

Lemma constant_number : forall g m v, consistent m g -> number m (constant v) = u32 v.
Proof. intros g m v H. rewrite u32_mod. eapply number_bits_of; eauto. Qed.

Lemma input_scoped : forall g i, ok g -> i < 16 -> scoped_word 32 g (input_word i).
Proof.
  intros g i [H _] Hi. apply numbered_first in H. unfold FIRST_GATE, input_word, scoped, below in *.
  assert (A : (Z.of_nat 32 + (2 + 32 * Z.of_N i) <= 514)%Z) by lia. assert (B : (0 < 2 + 32 * Z.of_N i)%Z) by lia. revert A B.
  generalize (2 + 32 * Z.of_N i)%Z. generalize 32%nat. intros n. induction n as [| n IH]; intros l A B; [apply scoped_nil; auto |].
  apply scoped_cons. exists n. split; [auto |]. split; [unfold scoped, below; lia |]. apply IH; lia.
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
