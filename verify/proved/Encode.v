(* What a program returns, as a word of literals: `returned`, `arrive`, `execute` and `jump_test` of scripts/check_cnf_certificate. All
   paths are followed at once. Forwards, each instruction gets the condition under which it is reached and the registers
   before it; backwards, each gets the value that the program returns if it continues there. *)

Require Import NArith ZArith List Bool Lia.
From Proved Require Import Filter Gates Words.
From Proved Require Check.
Import ListNotations.
Open Scope N_scope.

Definition word := list Z.
Definition sameness := Check.sameness.

(* ---- Places -------------------------------------------------------------------------------------------------- *)

(* A, X, M[0] ... M[15]; `None` is a word that is unwritten on some path. *)
Definition registers := list (option word).
Definition regA : nat := 0.
Definition regX : nat := 1.
Definition regM (w : N) : nat := 2 + N.to_nat w.

Definition get (r : registers) (n : nat) : option word := nth n r None.

Fixpoint set (r : registers) (n : nat) (w : word) : registers :=
  match r, n with
  | [], _ => []
  | _ :: r, O => Some w :: r
  | old :: r, S n => old :: set r n w
  end.

Definition start_registers : registers := Some (constant 0) :: Some (constant 0) :: repeat None 16.

(* The state before an instruction: the condition under which it is reached, and the registers. `None`: no path leads there. *)
Definition place := option (Z * registers).

Fixpoint same_word (a b : word) : bool :=
  match a, b with
  | [], [] => true
  | p :: a, q :: b => (p =? q)%Z && same_word a b
  | _, _ => false
  end.

Definition merge_word (edge : Z) (old new : option word) (g : gates) : option word * gates :=
  match old, new with
  | Some o, Some n => if same_word o n then (old, g) else let (w, g) := choose_word edge n o g in (Some w, g)
  | _, _ => (None, g)
  end.

Fixpoint merge (edge : Z) (old new : registers) (g : gates) : registers * gates :=
  match old, new with
  | o :: old, n :: new =>
      let (w, g) := merge_word edge o n g in
      let (r, g) := merge edge old new g in
      (w :: r, g)
  | _, _ => ([], g)
  end.

(* Adds a path to the place after the next n, taken under the condition `edge`. *)
Fixpoint arrive (places : list place) (n : N) (edge : Z) (r : registers) (g : gates) : list place * gates :=
  match places with
  | [] => ([], g)
  | p :: places =>
      match n with
      | 0 =>
          match p with
          | None => (Some (edge, r) :: places, g)
          | Some (reached, before) =>
              let (merged, g) := merge edge before r g in
              let (reached, g) := either reached edge g in
              (Some (reached, merged) :: places, g)
          end
      | _ => let (places, g) := arrive places (N.pred n) edge r g in (p :: places, g)
      end
  end.

(* ---- Forwards ------------------------------------------------------------------------------------------------ *)

(* How a run leaves an instruction. The numbers are those of instructions to leave out. *)
Inductive exit :=
| Jumps (n : N)
| Branches (test : Z) (yes no : N)
| EndsIf (is_zero : Z) (* a division by X = 0 returns 0; otherwise the next instruction follows *)
| Returns (w : word).

Definition operand_word (b : operand) (r : registers) : option word := match b with K v => Some (constant v) | X => get r regX end.

Definition assign (r : registers) (n : nat) (w : option word) (g : gates) : option (exit * registers * gates) :=
  match w with Some w => Some (Jumps 0, set r n w, g) | None => None end.

Definition calculate (op : alu_op) (a b : option word) (r : registers) (g : gates) : option (exit * registers * gates) :=
  match a, b with
  | Some a, Some b => let (w, g) := alu_gates op a b g in assign r regA (Some w) g
  | _, _ => None
  end.

(* One instruction. `None`: what legal programs do not do, and a computed value where behaviour is compared. *)
Definition execute (mode : sameness) (i : insn) (r : registers) (g : gates) : option (exit * registers * gates) :=
  match i with
  | LD_ABS offset => assign r regA (if offset / 4 <? 16 then Some (input_word (offset / 4)) else None) g
  | LD_IMM v => assign r regA (Some (constant v)) g
  | LD_MEM w => assign r regA (get r (regM w)) g
  | LD_LEN => assign r regA (Some (constant 64)) g
  | LDX_IMM v => assign r regX (Some (constant v)) g
  | LDX_MEM w => assign r regX (get r (regM w)) g
  | LDX_LEN => assign r regX (Some (constant 64)) g
  | ST w => assign r (regM w) (get r regA) g
  | STX w => assign r (regM w) (get r regX) g
  | TAX => assign r regX (get r regA) g
  | TXA => assign r regA (get r regX) g
  | ALU DIV X =>
      match get r regA, get r regX with
      | Some a, Some x =>
          let (is_zero, g) := equal x (constant 0) g in
          let (w, g) := alu_gates DIV a x g in
          Some (EndsIf is_zero, set r regA w, g)
      | _, _ => None
      end
  | ALU DIV (K v) => if u32 v =? 0 then None else calculate DIV (get r regA) (Some (constant v)) r g
  | ALU op b => calculate op (get r regA) (operand_word b r) r g
  | NEG => calculate SUB (Some (constant 0)) (get r regA) r g
  | JA n => Some (Jumps n, r, g)
  | JMP op b yes no =>
      match get r regA, operand_word b r with
      | Some a, Some b => let (test, g) := jump_gates op a b g in Some (if yes =? no then Jumps yes else Branches test yes no, r, g)
      | _, _ => None
      end
  | RET_K v => Some (Returns (constant (match mode with Check.Raw => v | Check.Behaviour => observed (u32 v) end)), r, g)
  | RET_A => match mode, get r regA with Check.Raw, Some a => Some (Returns a, r, g) | _, _ => None end
  end.

(* Adds the paths that leave an instruction. *)
Definition leave (e : exit) (reached : Z) (r : registers) (places : list place) (g : gates) : list place * gates :=
  match e with
  | Jumps n => arrive places n reached r g
  | Branches test yes no =>
      let (edge, g) := both reached test g in
      let (places, g) := arrive places yes edge r g in
      let (edge, g) := both reached (- test) g in
      arrive places no edge r g
  | EndsIf is_zero =>
      let (edge, g) := both reached (- is_zero) g in
      arrive places 0 edge r g
  | Returns _ => (places, g)
  end.

(* `Unsupported pc`: instruction pc is one that `execute` does not support. *)
Inductive encoded (T : Type) := Encoded (x : T) | Unsupported (pc : N).
Arguments Encoded {T}.
Arguments Unsupported {T}.

(* The exits of all instructions, the last one first; `None` for those that no path reaches. *)
Fixpoint forward (mode : sameness) (is : list insn) (places : list place) (pc : N) (done : list (option exit)) (g : gates) :
    encoded (list (option exit) * gates) :=
  match is, places with
  | [], _ => Encoded (done, g)
  | i :: is, None :: places => forward mode is places (N.succ pc) (None :: done) g
  | i :: is, Some (reached, r) :: places =>
      match execute mode i r g with
      | None => Unsupported pc
      | Some (e, r, g) =>
          let (places, g) := leave e reached r places g in
          forward mode is places (N.succ pc) (Some e :: done) g
      end
  | _, [] => Unsupported pc
  end.

(* ---- Backwards ----------------------------------------------------------------------------------------------- *)

Definition value_at (values : list word) (n : N) : word := nth (N.to_nat n) values (zeros 32).

Definition exit_value (e : option exit) (values : list word) (g : gates) : word * gates :=
  match e with
  | None => (zeros 32, g)
  | Some (Jumps n) => (value_at values n, g)
  | Some (Branches test yes no) => choose_word test (value_at values yes) (value_at values no) g
  | Some (EndsIf is_zero) => choose_word is_zero (constant 0) (value_at values 0) g
  | Some (Returns w) => (w, g)
  end.

Fixpoint backward (exits : list (option exit)) (values : list word) (g : gates) : list word * gates :=
  match exits with
  | [] => (values, g)
  | e :: exits => let (w, g) := exit_value e values g in backward exits (w :: values) g
  end.

Definition returned (mode : sameness) (is : list insn) (g : gates) : encoded (word * gates) :=
  match forward mode is (Some (TRUE, start_registers) :: map (fun _ => None) (tl is)) 0 [] g with
  | Encoded (exits, g) => let (values, g) := backward exits [] g in Encoded (value_at values 0, g)
  | Unsupported pc => Unsupported pc
  end.

Opaque constant input_word alu_gates jump_gates equal choose_word.

(* ---- Words in scope ------------------------------------------------------------------------------------------ *)

(* An operation leads from g to h. *)
Definition grows (g h : gates) : Prop := ok h /\ extends g h.

Definition scoped_option (g : gates) (o : option word) : Prop := match o with Some w => scoped_word 32 g w | None => True end.
Definition scoped_registers (g : gates) : registers -> Prop := Forall (scoped_option g).
Definition scoped_place (g : gates) (p : place) : Prop := match p with Some (l, r) => scoped g l /\ scoped_registers g r | None => True end.
Definition scoped_exit (g : gates) (e : option exit) : Prop :=
  match e with Some (Branches t _ _) | Some (EndsIf t) => scoped g t | Some (Returns w) => scoped_word 32 g w | _ => True end.

Lemma grows_trans : forall g h i, grows g h -> grows h i -> grows g i.
Proof. intros g h i [_ H1] [H2 H3]. split; [exact H2 | eapply extends_trans; eauto]. Qed.

Lemma grows_scoped : forall g h l, grows g h -> scoped g l -> scoped h l.
Proof. intros g h l [_ H]. apply scoped_extends, H. Qed.

Lemma grows_word : forall n g h w, grows g h -> scoped_word n g w -> scoped_word n h w.
Proof. intros n g h w [_ H]. apply scoped_word_extends, H. Qed.

Lemma grows_option : forall g h o, grows g h -> scoped_option g o -> scoped_option h o.
Proof. intros g h [w |] H; cbn; auto. apply grows_word, H. Qed.

Lemma grows_registers : forall g h r, grows g h -> scoped_registers g r -> scoped_registers h r.
Proof. intros g h r H. apply Forall_impl. intros o. apply grows_option, H. Qed.

Lemma grows_place : forall g h p, grows g h -> scoped_place g p -> scoped_place h p.
Proof. intros g h [[l r] |] H; cbn; auto. intros [Hl Hr]. split; [eapply grows_scoped | eapply grows_registers]; eauto. Qed.

Lemma grows_places : forall g h ps, grows g h -> Forall (scoped_place g) ps -> Forall (scoped_place h) ps.
Proof. intros g h ps H. apply Forall_impl. intros p. apply grows_place, H. Qed.

Lemma grows_exits : forall g h es, grows g h -> Forall (scoped_exit g) es -> Forall (scoped_exit h) es.
Proof.
  intros g h es H. apply Forall_impl. intros [[n | t a b | t | w] |]; cbn; auto; try (apply grows_scoped, H). apply grows_word, H.
Qed.

Lemma grows_consistent : forall g h m, grows g h -> consistent m h -> consistent m g.
Proof. intros g h m [_ H]. apply consistent_extends, H. Qed.

Lemma grows_refl : forall g, ok g -> grows g g.
Proof. intros g H. split; [exact H | apply extends_refl]. Qed.

Lemma grows_ok : forall g h, grows g h -> ok h.
Proof. intros g h [H _]. exact H. Qed.

#[local] Hint Resolve grows_scoped grows_word grows_option grows_registers grows_place grows_places grows_exits grows_consistent
  grows_refl grows_ok scoped_opposite : grow.

Lemma get_scoped : forall g r n w, scoped_registers g r -> get r n = Some w -> scoped_word 32 g w.
Proof.
  unfold scoped_registers, get. intros g r n w H E. destruct (Nat.lt_ge_cases n (length r)) as [Hn | Hn].
  - apply (nth_In r None) in Hn. rewrite E in Hn. rewrite Forall_forall in H. exact (H _ Hn).
  - rewrite nth_overflow in E by exact Hn. discriminate.
Qed.

Lemma set_scoped : forall g r n w, scoped_registers g r -> scoped_word 32 g w -> scoped_registers g (set r n w).
Proof. unfold scoped_registers. induction r as [| o r IH]; intros n w H Hw; destruct n; cbn [set]; inversion H; subst; constructor; auto. Qed.

(* ---- Registers ----------------------------------------------------------------------------------------------- *)

Definition content (s : machine) (n : nat) : option N :=
  match n with O => Some (rA s) | S O => Some (rX s) | S (S w) => read (rM s) (N.of_nat w) end.

(* In the model, the words are those of the machine. *)
Definition matches (m : model) (r : registers) (s : machine) : Prop := forall n w, get r n = Some w -> content s n = Some (number m w).

(* The machines differ at most in register n, which now has the value v. *)
Definition updates (s : machine) (n : nat) (v : N) (s' : machine) : Prop :=
  content s' n = Some v /\ forall k, k <> n -> content s' k = content s k.

Lemma updates_A : forall s v, updates s regA v (setA s v).
Proof. intros s v. split; [reflexivity |]. intros [| [| k]] H; try reflexivity. destruct (H eq_refl). Qed.

Lemma updates_X : forall s v, updates s regX v (setX s v).
Proof. intros s v. split; [reflexivity |]. intros [| [| k]] H; try reflexivity. destruct (H eq_refl). Qed.

Lemma updates_M : forall s w v, updates s (regM w) v (setM s w v).
Proof.
  intros s w v. unfold regM. split.
  - cbn. rewrite N2Nat.id, N.eqb_refl. reflexivity.
  - intros [| [| k]] H; cbn; auto. destruct (N.eqb_spec w (N.of_nat k)) as [-> | E]; auto. rewrite Nat2N.id in H. contradiction.
Qed.

Lemma get_set : forall r n w k x, get (set r n w) k = Some x -> (k = n /\ x = w) \/ (k <> n /\ get r k = Some x).
Proof.
  unfold get. induction r as [| o r IH]; intros n w k x H; [destruct n, k; discriminate H |].
  destruct n, k; cbn in *; try (injection H as <-); auto.
  destruct (IH _ _ _ _ H) as [[-> ->] | [Hn Hx]]; auto.
Qed.

Lemma set_matches : forall m r s n w s', matches m r s -> updates s n (number m w) s' -> matches m (set r n w) s'.
Proof.
  intros m r s n w s' H [Hn Ho] k x E. destruct (get_set _ _ _ _ _ E) as [[-> ->] | [Hk Hx]]; [exact Hn |].
  rewrite Ho by exact Hk. apply H, Hx.
Qed.

(* ---- One instruction ----------------------------------------------------------------------------------------- *)

Definition seen (mode : sameness) (r : result) : result := match mode with Check.Raw => r | Check.Behaviour => behaviour r end.

(* What an exit states about the step of a machine that matched. *)
Definition exit_means (mode : sameness) (m : model) (e : exit) (r : registers) (n : next) : Prop :=
  match e with
  | Jumps k => exists s, n = Go k s /\ matches m r s
  | Branches t yes no => exists s, n = Go (if value m t then yes else no) s /\ matches m r s
  | EndsIf t => if value m t then n = Done (Value 0) else exists s, n = Go 0 s /\ matches m r s
  | Returns w => exists v, n = Done (Value v) /\ seen mode (Value v) = Value (number m w)
  end.

Definition has_input (m : model) (d : data) : Prop := forall i, i < 16 -> number m (input_word i) = u32 (nth (N.to_nat i) d 0).

(* `execute` from g with the registers r is right for the instruction i. *)
Definition execute_means (mode : sameness) (i : insn) (r : registers) (g : gates) (o : option (exit * registers * gates)) : Prop :=
  match o with
  | None => True
  | Some (e, r', h) => grows g h /\ scoped_exit h (Some e) /\ scoped_registers h r' /\
      forall m d s, consistent m h -> has_input m d -> matches m r s -> exit_means mode m e r' (step i s d)
  end.

Lemma assign_right : forall mode i r g h n o, grows g h -> scoped_registers g r -> scoped_option h o ->
  (forall m d s w, consistent m h -> has_input m d -> matches m r s -> o = Some w ->
    exists s', step i s d = Go 0 s' /\ updates s n (number m w) s') ->
  execute_means mode i r g (assign r n o h).
Proof.
  intros mode i r g h n [w |] Hg Hr Ho Hs; cbn [assign execute_means]; auto.
  split; [exact Hg |]. split; [exact I |]. split; [apply set_scoped; eauto with grow |].
  intros m d s Hm Hd H. destruct (Hs m d s w Hm Hd H eq_refl) as [s' [E Hu]]. exists s'. split; [exact E |]. eapply set_matches; eauto.
Qed.

Lemma calculate_right : forall mode i op a b r g, ok g -> scoped_registers g r -> scoped_option g a -> scoped_option g b ->
  (forall m d s x y, consistent m g -> has_input m d -> matches m r s -> a = Some x -> b = Some y ->
    (op = DIV -> number m y <> 0) /\ step i s d = Go 0 (setA s (alu op (number m x) (number m y)))) ->
  execute_means mode i r g (calculate op a b r g).
Proof.
  intros mode i op [a |] [b |] r g Hg Hr Ha Hb Hs; cbn [calculate]; try exact I.
  destruct (alu_word op g a b Hg Ha Hb) as (Hok & Hext & Hw & Hm). destruct (alu_gates op a b g) as [w h]. cbn [fst snd] in *.
  assert (Hgh : grows g h) by (split; auto). apply assign_right; auto.
  intros m d s x Hc Hd H [= <-]. destruct (Hs m d s a b) as [Hz E]; eauto with grow.
  eexists. split; [exact E |]. rewrite (Hm m Hc Hz). apply updates_A.
Qed.

Lemma matches_get : forall m r s n w, matches m r s -> get r n = Some w -> content s n = Some (number m w).
Proof. auto. Qed.

Lemma operand_scoped : forall g b r, ok g -> scoped_registers g r -> scoped_option g (operand_word b r).
Proof.
  intros g [v |] r Hg Hr; cbn; [apply constant_scoped, Hg |]. destruct (get r regX) eqn:E; cbn; auto. eapply get_scoped; eauto.
Qed.

Lemma operand_number : forall g m b r s w, consistent m g -> matches m r s -> operand_word b r = Some w -> value_of b s = number m w.
Proof.
  intros g m [v |] r s w Hm H E; cbn in *; [injection E as <-; symmetry; eapply constant_number; eauto |].
  apply H in E. cbn in E. congruence.
Qed.

Lemma option_scoped : forall g r n, scoped_registers g r -> scoped_option g (get r n).
Proof. intros g r n H. destruct (get r n) eqn:E; cbn; auto. eapply get_scoped; eauto. Qed.

Lemma observed_u32 : forall v, u32 v = v -> u32 (observed v) = observed v.
Proof.
  intros v Hv. unfold observed. destruct (N.land v 0xffff0000) as [| p]; [reflexivity |].
  do 31 (try (destruct p as [p | p |]; try reflexivity; try exact Hv)).
  unfold u32. rewrite N.land_lor_distr_l. f_equal. change all_bits with (N.ones 32). rewrite N.land_ones. apply N.mod_small.
  eapply N.le_lt_trans; [apply N.le_min_r | reflexivity].
Qed.

Lemma execute_right : forall mode i r g, ok g -> scoped_registers g r -> execute_means mode i r g (execute mode i r g).
Proof.
  intros mode i r g Hg Hr.
  assert (Hs : forall n, scoped_option g (get r n)) by (intros; apply option_scoped, Hr).
  assert (Hk : forall v, scoped_option g (Some (constant v))) by (intros; apply constant_scoped, Hg).
  assert (Hb : forall b, scoped_option g (operand_word b r)) by (intros; apply operand_scoped; auto).
  assert (Hn : forall m v, consistent m g -> number m (constant v) = u32 v) by (intros; eapply constant_number; eauto).
  assert (Ha : forall m s w, matches m r s -> get r regA = Some w -> rA s = number m w) by (intros m s w H E; apply H in E; cbn in E; congruence).
  assert (Hx : forall m s w, matches m r s -> get r regX = Some w -> rX s = number m w) by (intros m s w H E; apply H in E; cbn in E; congruence).
  assert (HM : forall m s k w, matches m r s -> get r (regM k) = Some w -> read (rM s) k = Some (number m w)).
  { intros m s k w H E. apply H in E. cbn in E. rewrite N2Nat.id in E. exact E. }
  assert (Hcalc : forall op b, (forall s d, (op = DIV -> value_of b s <> 0) -> step (ALU op b) s d = Go 0 (setA s (alu op (rA s) (value_of b s)))) ->
    (forall m s, consistent m g -> matches m r s -> op = DIV -> value_of b s <> 0) ->
    execute_means mode (ALU op b) r g (calculate op (get r regA) (operand_word b r) r g)).
  { intros op b Hstep Hz. apply calculate_right; auto. intros m d s x y Hc _ H Ex Ey.
    rewrite <- (Ha m s x H Ex), <- (operand_number g m b r s y Hc H Ey). split; [eapply Hz; eauto |]. apply Hstep. eapply Hz; eauto. }
  destruct i as [o | v | w | | v | w | | w | w | | | op b | | n | op b yes no | v |]; cbn [execute];
    try (apply assign_right; auto with grow; intros m d s x Hc Hd H E; cbn [step]; try injection E as <-;
         try rewrite Hn by exact Hc; try rewrite (HM _ _ _ _ H E); try rewrite (Ha _ _ _ H E); try rewrite (Hx _ _ _ H E);
         eexists; (split; [reflexivity | first [apply updates_A | apply updates_X | apply updates_M]])).
  - (* LD_ABS *)
    destruct (N.ltb_spec (o / 4) 16) as [Ho | Ho]; [| exact I]. apply assign_right; auto with grow; [apply input_scoped; auto |].
    intros m d s x Hc Hd H [= <-]. cbn [step]. eexists. split; [reflexivity |]. rewrite (Hd _ Ho). apply updates_A.
  - (* ALU *)
    destruct op; try (apply Hcalc; [reflexivity | discriminate]). destruct b as [v |].
    + destruct (u32 v =? 0) eqn:Ez; [exact I |]. apply (Hcalc DIV (K v)); cbn [value_of step]; [rewrite Ez; auto |].
      intros _ _ _ _ _. apply N.eqb_neq, Ez.
    + destruct (get r regA) as [a |] eqn:Ea; [| exact I]. destruct (get r regX) as [x |] eqn:Ex; [| exact I].
      pose proof (get_scoped g r _ _ Hr Ea) as Sa. pose proof (get_scoped g r _ _ Hr Ex) as Sx.
      destruct (equal_bit 32 g x (constant 0) Hg Sx (Hk 0)) as (Hok & Hext & Sz & Vz). destruct (equal x (constant 0) g) as [z g1]. cbn [fst snd] in *.
      assert (G1 : grows g g1) by (split; auto).
      destruct (alu_word DIV g1 a x Hok) as (Hok' & Hext' & Sw & Vw); eauto with grow. destruct (alu_gates DIV a x g1) as [w g2]. cbn [fst snd] in *.
      assert (G2 : grows g1 g2) by (split; auto).
      split; [eapply grows_trans; eauto |]. split; [eapply grows_scoped; eauto |].
      split; [apply set_scoped; auto; eapply grows_registers; [exact G2 | eauto with grow] |].
      intros m d s Hc Hd H. assert (Hc1 : consistent m g1) by eauto with grow. cbn [exit_means step value_of].
      rewrite (Vz m Hc1), Hn, (Hx m s x H eq_refl) by eauto with grow. change (u32 0) with 0. destruct (number m x =? 0) eqn:Ez; [reflexivity |].
      eexists. split; [reflexivity |]. eapply set_matches; [exact H |]. rewrite (Vw m Hc), <- (Ha m s a H eq_refl); [apply updates_A |].
      intros _. apply N.eqb_neq, Ez.
  - (* NEG *)
    apply calculate_right; auto. intros m d s x y Hc _ H [= <-] Ey. split; [discriminate |]. rewrite Hn by exact Hc. cbn [step].
    rewrite (Ha m s y H Ey). reflexivity.
  - (* JA *)
    split; [auto with grow |]. split; [exact I |]. split; [exact Hr |]. intros m d s _ _ H. exists s. auto.
  - (* JMP *)
    destruct (get r regA) as [a |] eqn:Ea; [| exact I]. destruct (operand_word b r) as [x |] eqn:Ex; [| exact I].
    pose proof (get_scoped g r _ _ Hr Ea) as Sa. pose proof (Hb b) as Sx. rewrite Ex in Sx.
    destruct (jump_word op g a x Hg Sa Sx) as (Hok & Hext & St & Vt). destruct (jump_gates op a x g) as [t h]. cbn [fst snd] in *.
    assert (G : grows g h) by (split; auto). split; [exact G |].
    split; [destruct (yes =? no); [exact I | exact St] |]. split; [eauto with grow |].
    intros m d s Hc Hd H. assert (E : compare op (rA s) (value_of b s) = value m t).
    { rewrite (Vt m Hc), (Ha m s a H eq_refl), (operand_number g m b r s x); eauto with grow. }
    cbn [step]. rewrite E. destruct (N.eqb_spec yes no) as [-> | Hyn]; exists s; split; auto. destruct (value m t); reflexivity.
  - (* RET_K *)
    split; [auto with grow |]. split; [apply Hk |]. split; [exact Hr |]. intros m d s Hc _ H. exists (u32 v). split; [reflexivity |].
    rewrite Hn by exact Hc. destruct mode; [reflexivity |]. cbn. f_equal. symmetry. apply observed_u32. unfold u32. rewrite <- N.land_assoc. reflexivity.
  - (* RET_A *)
    destruct mode; [| exact I]. destruct (get r regA) as [a |] eqn:Ea; [| exact I].
    split; [auto with grow |]. split; [eapply get_scoped; eauto |]. split; [exact Hr |].
    intros m d s Hc _ H. exists (rA s). split; [reflexivity |]. cbn. f_equal. apply Ha; auto.
Qed.

(* ---- Places -------------------------------------------------------------------------------------------------- *)

Lemma same_word_eq : forall a b, same_word a b = true -> a = b.
Proof.
  induction a as [| p a IH]; intros [| q b] H; try discriminate; auto. apply andb_prop in H. destruct H as [H1 H2].
  apply Z.eqb_eq in H1. apply IH in H2. congruence.
Qed.

Lemma merge_word_right : forall edge old new g, ok g -> scoped g edge -> scoped_option g old -> scoped_option g new ->
  let (w, h) := merge_word edge old new g in
  grows g h /\ scoped_option h w /\ forall m, consistent m h ->
    forall x, w = Some x -> exists o n, old = Some o /\ new = Some n /\ number m x = number m (if value m edge then n else o).
Proof.
  intros edge [o |] [n |] g Hg He Ho Hn; cbn [merge_word]; try (split; [auto with grow | split; [exact I | discriminate]]).
  destruct (same_word o n) eqn:E.
  - apply same_word_eq in E. subst n. split; [auto with grow |]. split; [exact Ho |]. intros m _ x [= <-]. exists o, o.
    destruct (value m edge); auto.
  - destruct (choose_word_word 32 g edge n o Hg He Hn Ho) as (Hok & Hext & Hw & Hm). destruct (choose_word edge n o g) as [w h]. cbn [fst snd] in *.
    split; [split; auto |]. split; [exact Hw |]. intros m Hc x [= <-]. exists o, n. rewrite (Hm m Hc). destruct (value m edge); auto.
Qed.

Lemma merge_right : forall edge old new g, ok g -> scoped g edge -> scoped_registers g old -> scoped_registers g new ->
  let (r, h) := merge edge old new g in
  grows g h /\ scoped_registers h r /\ forall m, consistent m h ->
    forall k x, get r k = Some x -> exists o n, get old k = Some o /\ get new k = Some n /\ number m x = number m (if value m edge then n else o).
Proof.
  induction old as [| o old IH]; intros [| n new] g Hg He Ho Hn; cbn [merge];
    try (split; [auto with grow | split; [constructor | intros m _ [| k]; discriminate]]).
  inversion_clear Ho. inversion_clear Hn. pose proof (merge_word_right edge o n g Hg He) as Hw.
  destruct (merge_word edge o n g) as [w g1]. destruct Hw as (G1 & S1 & V1); auto.
  specialize (IH new g1). destruct (merge edge old new g1) as [r g2]. destruct IH as (G2 & S2 & V2); eauto with grow.
  split; [eapply grows_trans; eauto |]. split; [constructor; eauto with grow |].
  intros m Hc [| k] x E; [apply V1; eauto with grow | apply V2; auto].
Qed.

(* Where a run of the machine stands: before the instruction after the next n, with its registers, or nowhere among these places. *)
Fixpoint stands (m : model) (places : list place) (at_place : option (N * machine)) : Prop :=
  match places with
  | [] => True
  | p :: places =>
      match at_place with
      | Some (0, s) => match p with Some (l, r) => value m l = true /\ matches m r s | None => False end /\ stands m places None
      | Some (n, s) => match p with Some (l, _) => value m l = false | None => True end /\ stands m places (Some (N.pred n, s))
      | None => match p with Some (l, _) => value m l = false | None => True end /\ stands m places None
      end
  end.

(* Where a run stands after it took an edge to the place after the next n, or after it did not. *)
Definition edge_taken (taken : bool) (n : N) (s : machine) (at_place : option (N * machine)) : option (N * machine) :=
  if taken then Some (n, s) else at_place.

Lemma arrive_right : forall places n edge r g, ok g -> scoped g edge -> scoped_registers g r -> Forall (scoped_place g) places ->
  let (places', h) := arrive places n edge r g in
  grows g h /\ Forall (scoped_place h) places' /\ forall m, consistent m h -> forall at_place,
    if value m edge then forall s, matches m r s -> stands m places None -> stands m places' (Some (n, s))
    else stands m places at_place -> stands m places' at_place.
Proof.
  induction places as [| p places IH]; intros n edge r g Hg He Hr Hp; cbn [arrive].
  { split; [auto with grow |]. split; [constructor |]. intros m _ a. destruct (value m edge); intros; exact I. }
  inversion_clear Hp as [| p' places' Hp' Hps]. destruct n as [| n].
  - destruct p as [[reached before] |].
    + destruct Hp' as [Sl Sr]. pose proof (merge_right edge before r g Hg He Sr Hr) as Hm.
      destruct (merge edge before r g) as [merged g1]. destruct Hm as (G1 & S1 & V1).
      destruct (either_bit g1 reached edge) as (Hok & Hext & S2 & V2); eauto with grow.
      destruct (either reached edge g1) as [l g2]. cbn [fst snd] in *. assert (G2 : grows g1 g2) by (split; auto).
      assert (G : grows g g2) by (eapply grows_trans; eauto).
      split; [exact G |]. split; [constructor; [split; eauto with grow | eauto with grow] |].
      intros m Hc a. specialize (V1 m (grows_consistent _ _ _ G2 Hc)). destruct (value m edge) eqn:E.
      * intros s Hs [Hl Hn]. split; [| exact Hn]. split; [rewrite (V2 m Hc), E, orb_true_r; reflexivity |].
        intros k x Hx. destruct (V1 k x Hx) as (o & w & _ & Hw & ->). apply Hs, Hw.
      * assert (Hl : value m l = value m reached) by (rewrite (V2 m Hc), E, orb_false_r; reflexivity).
        destruct a as [[[| k] s] |]; cbn [stands]; rewrite Hl; auto. intros [[H1 H2] H3]. split; auto. split; auto.
        intros k x Hx. destruct (V1 k x Hx) as (o & w & Ho & _ & ->). apply H2, Ho.
    + split; [auto with grow |]. split; [constructor; [split; auto | auto] |].
      intros m _ a. destruct (value m edge) eqn:E.
      * intros s Hs [_ Hn]. split; auto.
      * destruct a as [[[| k] s] |]; cbn [stands]; tauto.
  - specialize (IH (N.pred (N.pos n)) edge r g Hg He Hr Hps). destruct (arrive places (N.pred (N.pos n)) edge r g) as [places' h].
    destruct IH as (G & S & V). split; [exact G |]. split; [constructor; eauto with grow |]. intros m Hc a. destruct (value m edge) eqn:E.
    + intros s Hs [Hp Hn]. specialize (V m Hc None). rewrite E in V. split; [exact Hp |]. auto.
    + destruct a as [[[| k] s] |]; cbn [stands]; intros [H1 H2]; (split; [exact H1 |]);
        match goal with |- stands _ _ ?b => specialize (V m Hc b) end; rewrite E in V; auto.
Qed.

(* The run stands where the step leads, if it stood before the instruction; otherwise nothing changes. *)
Lemma leave_right : forall mode e reached r places g, ok g -> scoped_exit g (Some e) -> scoped g reached -> scoped_registers g r ->
  Forall (scoped_place g) places ->
  let (places', h) := leave e reached r places g in
  grows g h /\ Forall (scoped_place h) places' /\ forall m, consistent m h ->
    (value m reached = false -> forall at_place, stands m places at_place -> stands m places' at_place) /\
    (value m reached = true -> stands m places None -> forall k s, exit_means mode m e r (Go k s) -> stands m places' (Some (k, s))).
Proof.
  intros mode e reached r places g Hg He Hl Hr Hp. destruct e as [n | t yes no | t | w]; cbn [leave].
  - pose proof (arrive_right places n reached r g Hg Hl Hr Hp) as H. destruct (arrive places n reached r g) as [places' h].
    destruct H as (G & S & V). split; [exact G |]. split; [exact S |]. intros m Hc. split; intros E.
    + intros a. specialize (V m Hc a). rewrite E in V. exact V.
    + intros Hn k s (s' & [= <- <-] & Hs). specialize (V m Hc None). rewrite E in V. auto.
  - destruct (both_bit g reached t Hg Hl He) as (O1 & X1 & S1 & V1). destruct (both reached t g) as [edge g1]. cbn [fst snd] in *.
    assert (G1 : grows g g1) by (split; auto).
    pose proof (arrive_right places yes edge r g1 O1 S1) as H. destruct (arrive places yes edge r g1) as [places1 g2].
    destruct H as (G2 & S2 & V2); eauto with grow. assert (G12 : grows g g2) by (eapply grows_trans; eauto).
    destruct (both_bit g2 reached (- t)%Z) as (O3 & X3 & S3 & V3); eauto with grow.
    destruct (both reached (- t)%Z g2) as [edge' g3]. cbn [fst snd] in *. assert (G3 : grows g2 g3) by (split; auto).
    assert (G13 : grows g g3) by (eapply grows_trans; eauto).
    pose proof (arrive_right places1 no edge' r g3 O3 S3) as H. destruct (arrive places1 no edge' r g3) as [places2 g4].
    destruct H as (G4 & S4 & V4); eauto with grow. split; [eapply grows_trans; eauto |]. split; [exact S4 |].
    intros m Hc. assert (Hc3 : consistent m g3) by eauto with grow. assert (Hc2 : consistent m g2) by eauto with grow.
    specialize (V1 m (grows_consistent _ _ _ G2 Hc2)). specialize (V3 m Hc3). rewrite (value_opposite g m t He) in V3. split; intros E; rewrite E in *.
    + intros a Ha. specialize (V2 m Hc2 a). specialize (V4 m Hc a). rewrite V1 in V2. rewrite V3 in V4. auto.
    + intros Hn k s (s' & [= -> <-] & Hs). destruct (value m t); cbn [andb negb] in *.
      * specialize (V2 m Hc2 None). rewrite V1 in V2. specialize (V4 m Hc (Some (yes, s))). rewrite V3 in V4. auto.
      * specialize (V2 m Hc2 None). rewrite V1 in V2. specialize (V4 m Hc None). rewrite V3 in V4. auto.
  - destruct (both_bit g reached (- t)%Z) as (O1 & X1 & S1 & V1); auto with grow. destruct (both reached (- t)%Z g) as [edge g1]. cbn [fst snd] in *.
    assert (G1 : grows g g1) by (split; auto).
    pose proof (arrive_right places 0 edge r g1 O1 S1) as H. destruct (arrive places 0 edge r g1) as [places1 g2].
    destruct H as (G2 & S2 & V2); eauto with grow. split; [eapply grows_trans; eauto |]. split; [exact S2 |].
    intros m Hc. specialize (V1 m (grows_consistent _ _ _ G2 Hc)). rewrite (value_opposite g m t He) in V1. split; intros E; rewrite E in *.
    + intros a. specialize (V2 m Hc a). rewrite V1 in V2. exact V2.
    + intros Hn k s H. cbn [exit_means] in H. destruct (value m t); [discriminate |]. destruct H as (s' & [= -> <-] & Hs).
      specialize (V2 m Hc None). rewrite V1 in V2. auto.
  - split; [auto with grow |]. split; [exact Hp |]. intros m _. split; auto. intros _ _ k s (v & E & _). discriminate.
Qed.

(* ---- Forwards ------------------------------------------------------------------------------------------------ *)

(* What a run returns that follows the exits. *)
Fixpoint follow (m : model) (exits : list (option exit)) (skip : N) : option N :=
  match exits with
  | [] => None
  | e :: exits =>
      match skip with
      | 0 =>
          match e with
          | None => None
          | Some (Jumps n) => follow m exits n
          | Some (Branches t yes no) => follow m exits (if value m t then yes else no)
          | Some (EndsIf t) => if value m t then Some 0 else follow m exits 0
          | Some (Returns w) => Some (number m w)
          end
      | _ => follow m exits (N.pred skip)
      end
  end.

Lemma seen_value : forall mode r v, seen mode r = Value v -> exists x, r = Value x.
Proof. intros [|] [x | | |] v H; try discriminate H; eauto. Qed.

Lemma forward_right : forall mode is places pc done g, ok g -> Forall (scoped_place g) places -> Forall (scoped_exit g) done ->
  match forward mode is places pc done g with
  | Unsupported _ => True
  | Encoded (exits, h) => grows g h /\ Forall (scoped_exit h) exits /\ exists new, exits = rev new ++ done /\
      forall m d, consistent m h -> has_input m d -> forall n s v, stands m places (Some (n, s)) ->
        seen mode (exec is n s d) = Value v -> follow m new n = Some v
  end.
Proof.
  induction is as [| i is IH]; intros places pc done g Hg Hp Hd; cbn [forward].
  { split; [auto with grow |]. split; [exact Hd |]. exists []. split; [reflexivity |]. intros m d _ _ n s v _ H. destruct mode; discriminate. }
  destruct places as [| [[reached r] |] places]; [exact I | |]; inversion_clear Hp as [| p' places' Hl Hps].
  - destruct Hl as [Sl Sr]. pose proof (execute_right mode i r g Hg Sr) as He. destruct (execute mode i r g) as [[[e r'] g1] |]; [| exact I].
    destruct He as (G1 & S1 & R1 & V1). pose proof (leave_right mode e reached r' places g1) as Hleave.
    destruct (leave e reached r' places g1) as [places' g2]. destruct Hleave as (G2 & S2 & V2); eauto with grow.
    assert (G12 : grows g g2) by (eapply grows_trans; eauto).
    assert (Se : Forall (scoped_exit g2) (Some e :: done)).
    { eapply grows_exits; [exact G2 |]. constructor; [exact S1 | eauto with grow]. }
    specialize (IH places' (N.succ pc) (Some e :: done) g2 (grows_ok _ _ G2) S2 Se).
    destruct (forward mode is places' (N.succ pc) (Some e :: done) g2) as [[exits g3] | pc']; [| exact I].
    destruct IH as (G3 & S3 & new & -> & V3). split; [eapply grows_trans; eauto |]. split; [exact S3 |].
    exists (Some e :: new). split; [cbn [rev]; rewrite <- app_assoc; reflexivity |].
    intros m d Hc Hi n s v Hs H. assert (Hc2 : consistent m g2) by eauto with grow. destruct (V2 m Hc2) as [Hfalse Htrue].
    specialize (V1 m d s (grows_consistent _ _ _ G2 Hc2) Hi). specialize (V3 m d Hc Hi).
    destruct n as [| n]; cbn [exec follow] in *; destruct Hs as [Hh Hs]; [| eapply V3; eauto].
    destruct Hh as [Hl Hm]. specialize (V1 Hm). specialize (Htrue Hl Hs). destruct (step i s d) as [k s' | res].
    + specialize (V3 k s' v (Htrue k s' V1) H). destruct e as [k' | t yes no | t | w]; cbn [exit_means] in V1.
      * destruct V1 as (s'' & [= <- _] & _). exact V3.
      * destruct V1 as (s'' & [= -> _] & _). exact V3.
      * destruct (value m t); [discriminate |]. destruct V1 as (s'' & [= -> _] & _). exact V3.
      * destruct V1 as (x & E & _). discriminate.
    + destruct e as [k' | t yes no | t | w]; cbn [exit_means] in V1.
      * destruct V1 as (s'' & E & _). discriminate.
      * destruct V1 as (s'' & E & _). discriminate.
      * destruct (value m t); [| destruct V1 as (s'' & E & _); discriminate]. injection V1 as ->. destruct mode; cbn in H; congruence.
      * destruct V1 as (x & [= ->] & E). congruence.
  - specialize (IH places (N.succ pc) (None :: done) g Hg Hps (Forall_cons None I Hd)).
    destruct (forward mode is places (N.succ pc) (None :: done) g) as [[exits h] | pc']; [| exact I].
    destruct IH as (G & S & new & -> & V). split; [exact G |]. split; [exact S |].
    exists (None :: new). split; [cbn [rev]; rewrite <- app_assoc; reflexivity |].
    intros m d Hc Hi n s v Hs H. destruct n as [| n]; cbn [exec follow] in *; destruct Hs as [Hh Hs]; [contradiction |]. eapply V; eauto.
Qed.

(* ---- Backwards ----------------------------------------------------------------------------------------------- *)

(* The words are what the runs return that follow the exits. *)
Definition agrees (m : model) (exits : list (option exit)) (values : list word) : Prop :=
  forall n v, follow m exits n = Some v -> number m (value_at values n) = v.

Lemma zeros_scoped : forall g, ok g -> scoped_word 32 g (zeros 32).
Proof. intros g H. exact (constant_scoped g 0 H). Qed.

Lemma value_at_scoped : forall g values n, ok g -> Forall (scoped_word 32 g) values -> scoped_word 32 g (value_at values n).
Proof.
  unfold value_at. intros g values n Hg H. destruct (Nat.lt_ge_cases (N.to_nat n) (length values)) as [Hn | Hn].
  - rewrite Forall_forall in H. apply H, nth_In, Hn.
  - rewrite nth_overflow by exact Hn. apply zeros_scoped, Hg.
Qed.

Lemma exit_value_right : forall e values g, ok g -> scoped_exit g e -> Forall (scoped_word 32 g) values ->
  let (w, h) := exit_value e values g in
  grows g h /\ scoped_word 32 h w /\ forall m exits, consistent m h -> agrees m exits values -> agrees m (e :: exits) (w :: values).
Proof.
  intros e values g Hg He Hv.
  assert (Hat : forall n, scoped_word 32 g (value_at values n)) by (intros; apply value_at_scoped; auto).
  assert (Hhead : forall m w exits, agrees m exits values -> (forall v, follow m (e :: exits) 0 = Some v -> number m w = v) ->
                  agrees m (e :: exits) (w :: values)).
  { intros m w exits Ha Hw [| n] v Hf; [exact (Hw v Hf) |]. cbn [follow] in Hf. apply Ha in Hf. unfold value_at in *.
    replace (N.to_nat (N.pos n)) with (S (N.to_nat (N.pred (N.pos n)))) by lia. exact Hf. }
  destruct e as [[n | t yes no | t | w] |]; cbn [exit_value].
  - split; [auto with grow |]. split; [apply Hat |]. intros m exits _ Ha. apply Hhead; auto.
  - destruct (choose_word_word 32 g t (value_at values yes) (value_at values no) Hg He (Hat _) (Hat _)) as (Hok & Hext & Hw & Hm).
    destruct (choose_word t _ _ g) as [w h]. cbn [fst snd] in *. split; [split; auto |]. split; [exact Hw |].
    intros m exits Hc Ha. apply Hhead; auto. intros v Hf. cbn [follow] in Hf. rewrite (Hm m Hc). destruct (value m t); auto.
  - destruct (choose_word_word 32 g t (constant 0) (value_at values 0) Hg He (constant_scoped g 0 Hg) (Hat _)) as (Hok & Hext & Hw & Hm).
    destruct (choose_word t _ _ g) as [w h]. cbn [fst snd] in *. split; [split; auto |]. split; [exact Hw |].
    intros m exits Hc Ha. apply Hhead; auto. intros v Hf. cbn [follow] in Hf. rewrite (Hm m Hc).
    destruct (value m t); auto. injection Hf as <-. apply (constant_number h m 0 Hc).
  - split; [auto with grow |]. split; [exact He |]. intros m exits _ Ha. apply Hhead; auto. intros v [= <-]. reflexivity.
  - split; [auto with grow |]. split; [apply zeros_scoped, Hg |]. intros m exits _ Ha. apply Hhead; auto. discriminate.
Qed.

Lemma backward_right : forall exits values g, ok g -> Forall (scoped_exit g) exits -> Forall (scoped_word 32 g) values ->
  let (values', h) := backward exits values g in
  grows g h /\ Forall (scoped_word 32 h) values' /\
  forall m later, consistent m h -> agrees m later values -> agrees m (rev exits ++ later) values'.
Proof.
  induction exits as [| e exits IH]; intros values g Hg He Hv; cbn [backward]; [auto with grow |].
  inversion_clear He. pose proof (exit_value_right e values g Hg) as H1. destruct (exit_value e values g) as [w g1].
  destruct H1 as (G1 & S1 & V1); auto.
  assert (Hv1 : Forall (scoped_word 32 g1) (w :: values)).
  { constructor; auto. eapply Forall_impl; [| exact Hv]. intros a. apply grows_word, G1. }
  specialize (IH (w :: values) g1). destruct (backward exits (w :: values) g1) as [values' g2]. destruct IH as (G2 & S2 & V2); eauto with grow.
  split; [eapply grows_trans; eauto |]. split; [exact S2 |]. intros m later Hc Ha. cbn [rev]. rewrite <- app_assoc.
  apply V2; auto. apply V1; eauto with grow.
Qed.

(* In every model, the word is what the program returns for the model's input. *)
Lemma returned_right : forall mode is g, ok g ->
  match returned mode is g with
  | Unsupported _ => True
  | Encoded (w, h) => grows g h /\ scoped_word 32 h w /\
      forall m d v, consistent m h -> has_input m d -> seen mode (exec is 0 start d) = Value v -> number m w = v
  end.
Proof.
  unfold returned. intros mode is g Hg. set (places := Some (TRUE, start_registers) :: map (fun _ => None) (tl is)).
  assert (Hp : Forall (scoped_place g) places).
  { constructor; [split; [apply scoped_TRUE, Hg |] |].
    - unfold start_registers. do 2 (constructor; [apply constant_scoped, Hg |]). repeat constructor.
    - induction (tl is); constructor; auto. exact I. }
  assert (Hs : forall m, consistent m g -> stands m places (Some (0, start))).
  { intros m Hc. split.
    - split; [eapply value_TRUE, Hc |]. intros [| [| k]] w E.
      + injection E as <-. cbn. f_equal. symmetry. apply (constant_number g m 0 Hc).
      + injection E as <-. cbn. f_equal. symmetry. apply (constant_number g m 0 Hc).
      + unfold get in E. cbn [start_registers nth] in E. exfalso. revert E. generalize 16%nat. intros c. revert k.
        induction c as [| c IH]; intros [| k] E; cbn in E; try discriminate. eapply IH, E.
    - generalize (tl is) as l. induction l; cbn; auto. }
  pose proof (forward_right mode is places 0 [] g Hg Hp (Forall_nil _)) as Hf.
  destruct (forward mode is places 0 [] g) as [[exits g1] | pc]; [| exact I]. destruct Hf as (G1 & S1 & new & -> & V1).
  pose proof (backward_right (rev new ++ []) (@nil word) g1 (grows_ok _ _ G1) S1 (Forall_nil _)) as Hb.
  destruct (backward (rev new ++ []) [] g1) as [values g2]. destruct Hb as (G2 & S2 & V2).
  split; [eapply grows_trans; eauto |]. split; [apply value_at_scoped; eauto with grow |].
  intros m d v Hc Hi H. assert (Hc1 : consistent m g1) by eauto with grow.
  specialize (V2 m [] Hc). rewrite !app_nil_r, rev_involutive in V2. apply V2; [intros n x E; discriminate |].
  eapply V1; eauto with grow.
Qed.
