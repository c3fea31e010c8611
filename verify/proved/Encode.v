(* What a program returns, as a word of literals: `returned`, `arrive`, `execute` and `jump_test` of scripts/check_cnf_certificate. All
   paths are followed at once. Forwards, each instruction gets the condition under which it is reached and the registers
   before it; backwards, each gets the value that the program returns if it continues there. *)

Require Import NArith ZArith List Bool Lia.
From Proved Require Import Filter Gates Words.
From Proved Require Import Check(sameness(..)).
Import ListNotations.
Open Scope N_scope.

Definition word := list Z.

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

(* The word of the path that is taken. Equal words need no gates. *)
Definition merge_word (edge : Z) (old new : option word) (g : gates) : option word * gates :=
  match old, new with
  | Some o, Some n => let (w, g) := choose_word edge n o g in (Some w, g)
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
| Branches (test : Z) (yes : option N) (no : N) (* `None` ends the program with 0: a division by X = 0 *)
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
          Some (Branches is_zero None 0, set r regA w, g)
      | _, _ => None
      end
  | ALU DIV (K v) => if u32 v =? 0 then None else calculate DIV (get r regA) (Some (constant v)) r g
  | ALU op b => calculate op (get r regA) (operand_word b r) r g
  | NEG => calculate SUB (Some (constant 0)) (get r regA) r g
  | JA n => Some (Jumps n, r, g)
  | JMP op b yes no =>
      match get r regA, operand_word b r with
      | Some a, Some b => let (test, g) := jump_gates op a b g in Some (if yes =? no then Jumps yes else Branches test (Some yes) no, r, g)
      | _, _ => None
      end
  | RET_K v => Some (Returns (constant (match mode with Raw => v | Behaviour => observed (u32 v) end)), r, g)
  | RET_A => match mode, get r regA with Raw, Some a => Some (Returns a, r, g) | _, _ => None end
  end.

(* Adds the paths that leave an instruction. *)
Definition arrive_if (reached test : Z) (places : list place) (n : N) (r : registers) (g : gates) : list place * gates :=
  let (edge, g) := both reached test g in arrive places n edge r g.

Definition leave (e : exit) (reached : Z) (r : registers) (places : list place) (g : gates) : list place * gates :=
  match e with
  | Jumps n => arrive places n reached r g
  | Branches test yes no =>
      let (places, g) := match yes with Some n => arrive_if reached test places n r g | None => (places, g) end in
      arrive_if reached (- test) places no r g
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
  | Some (Branches test yes no) => choose_word test (match yes with Some n => value_at values n | None => constant 0 end) (value_at values no) g
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

(* ---- Chains of operations ------------------------------------------------------------------------------------ *)

Opaque constant input_word alu_gates jump_gates equal choose_word.

Definition scoped_option (g : gates) (o : option word) : Prop := match o with Some w => scoped_word 32 g w | None => True end.
Definition scoped_registers (g : gates) : registers -> Prop := Forall (scoped_option g).
Definition scoped_place (g : gates) (p : place) : Prop := match p with Some (l, r) => scoped g l /\ scoped_registers g r | None => True end.
Definition scoped_exit (g : gates) (e : option exit) : Prop :=
  match e with Some (Branches t _ _) => scoped g t | Some (Returns w) => scoped_word 32 g w | _ => True end.
Definition scoped_words (g : gates) : list word -> Prop := Forall (scoped_word 32 g).

(* What is in scope stays in scope. *)
Lemma scopes_extend : forall g h, extends g h ->
  (forall o, scoped_option g o -> scoped_option h o) /\ (forall r, scoped_registers g r -> scoped_registers h r) /\
  (forall ps, Forall (scoped_place g) ps -> Forall (scoped_place h) ps) /\ (forall es, Forall (scoped_exit g) es -> Forall (scoped_exit h) es) /\
  (forall ws, scoped_words g ws -> scoped_words h ws).
Proof.
  intros g h H. assert (Hw : forall w, scoped_word 32 g w -> scoped_word 32 h w) by (intros; eapply scoped_word_extends; eauto).
  assert (Ho : forall o, scoped_option g o -> scoped_option h o) by (intros [w |]; cbn; auto).
  assert (Hr : forall r, scoped_registers g r -> scoped_registers h r) by (intros r; apply Forall_impl, Ho).
  repeat split; auto; intros l; apply Forall_impl; auto.
  - intros [[e r] |]; cbn; auto. intros [He K]. split; [eapply scoped_extends; eauto | auto].
  - intros [[n | t yes no | w] |]; cbn; auto. apply scoped_extends, H.
Qed.

(* Runs an operation: proves the premises of the lemma about it, replaces it by a result, and moves what is known to the new gates. *)
Ltac run about :=
  let H := fresh "V" in pose proof about as H; unfold gives_bit, gives_word in H;
  repeat match type of H with ?P -> _ => let K := fresh in assert (K : P) by auto with gates; specialize (H K); clear K end;
  match type of H with gives _ _ ?g ?r =>
    let h := fresh "g" in let l := fresh "l" in let O := fresh "Hok" in let X := fresh "X" in let S := fresh "S" in
    destruct r as [l h]; destruct H as (O & X & S & H); cbn [fst snd] in *;
    destruct (scopes_extend g h X) as (? & ? & ? & ? & ?); move_over g h X;
    repeat match goal with
    | K : forall x, ?P g x -> ?P h x, H : ?P g _ |- _ => apply K in H
    | K : forall x, Forall _ x -> Forall _ x, H : Forall _ _ |- _ => apply K in H
    | K : forall x, _ -> _ |- _ => match type of K with context [consistent] => fail 1 | context [g] => clear K end
    end
  end.

(* Ends a chain, except for the scope and the meaning of the result. *)
Ltac finish := refine (conj _ (conj _ (conj _ _))); cbn [fst snd]; [auto | auto with gates | |].

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
  intros s w v. unfold regM. split; cbn; [rewrite N2Nat.id, N.eqb_refl; reflexivity |].
  intros [| [| k]] H; cbn; auto. destruct (N.eqb_spec w (N.of_nat k)) as [-> | E]; auto. rewrite Nat2N.id in H. contradiction.
Qed.

Lemma set_matches : forall m r s n w s', matches m r s -> updates s n (number m w) s' -> matches m (set r n w) s'.
Proof.
  assert (Hset : forall r n w k x, get (set r n w) k = Some x -> (k = n /\ x = w) \/ (k <> n /\ get r k = Some x)).
  { unfold get. induction r as [| o r IH]; intros n w k x H; [destruct n, k; discriminate H |].
    destruct n, k; cbn in *; try (injection H as <-); auto. destruct (IH _ _ _ _ H) as [[-> ->] | [Hn Hx]]; auto. }
  intros m r s n w s' H [Hn Ho] k x E. destruct (Hset _ _ _ _ _ E) as [[-> ->] | [Hk Hx]]; [exact Hn |]. rewrite Ho by exact Hk. apply H, Hx.
Qed.

Lemma nth_scoped : forall (T : Type) (P : T -> Prop) l n x, Forall P l -> P x -> P (nth n l x).
Proof. induction l; intros [| n] x H Hx; inversion_clear H; cbn; auto. Qed.

Lemma set_scoped : forall g r n w, scoped_registers g r -> scoped_word 32 g w -> scoped_registers g (set r n w).
Proof. unfold scoped_registers. induction r as [| o r IH]; intros n w H Hw; destruct n; cbn [set]; inversion H; subst; constructor; auto. Qed.

(* ---- One instruction ----------------------------------------------------------------------------------------- *)

Definition seen (mode : sameness) (r : result) : result := match mode with Raw => r | Behaviour => behaviour r end.

(* Where an exit leads in a model: after the next n instructions, or to the end with a value. *)
Inductive goal := To (n : N) | Gives (v : N).
Definition exit_goal (m : model) (e : exit) : goal :=
  match e with
  | Jumps n => To n
  | Branches test yes no => if value m test then match yes with Some n => To n | None => Gives 0 end else To no
  | Returns w => Gives (number m w)
  end.

(* The step of a machine goes where the exit leads. *)
Definition exit_means (mode : sameness) (m : model) (e : exit) (r : registers) (n : next) : Prop :=
  match exit_goal m e with
  | To k => exists s, n = Go k s /\ matches m r s
  | Gives v => exists x, n = Done (Value x) /\ seen mode (Value x) = Value v
  end.

Definition has_input (m : model) (d : data) : Prop := forall i, i < 16 -> number m (input_word i) = u32 (nth (N.to_nat i) d 0).

(* `execute`, from g with the registers r, is right for the instruction i. *)
Definition execute_means (mode : sameness) (i : insn) (r : registers) (g : gates) (o : option (exit * registers * gates)) : Prop :=
  match o with
  | None => True
  | Some x => gives (fun g '(e, r') => scoped_exit g (Some e) /\ scoped_registers g r')
      (fun m '(e, r') => forall d s, has_input m d -> matches m r s -> exit_means mode m e r' (step i s d)) g x
  end.

Lemma assign_right : forall mode i r g n o, ok g -> scoped_registers g r -> scoped_option g o ->
  (forall m d s w, consistent m g -> has_input m d -> matches m r s -> o = Some w ->
    exists s', step i s d = Go 0 s' /\ updates s n (number m w) s') ->
  execute_means mode i r g (assign r n o g).
Proof.
  intros mode i r g n [w |] Hg Hr Ho Hs; cbn [assign execute_means]; [| exact I]. finish; [split; [exact I | apply set_scoped; auto] |].
  intros m Hm d s Hd H. destruct (Hs m d s w Hm Hd H eq_refl) as [s' [E Hu]]. exists s'. split; [exact E |]. eapply set_matches; eauto.
Qed.

Lemma calculate_right : forall mode i op a b r g, ok g -> scoped_registers g r -> scoped_option g a -> scoped_option g b ->
  (forall m d s x y, consistent m g -> has_input m d -> matches m r s -> a = Some x -> b = Some y ->
    (op = DIV -> number m y <> 0) /\ step i s d = Go 0 (setA s (alu op (number m x) (number m y)))) ->
  execute_means mode i r g (calculate op a b r g).
Proof.
  intros mode i op [a |] [b |] r g Hg Hr Ha Hb Hs; cbn [calculate]; try exact I. run (alu_word op g a b).
  finish; [split; [exact I | apply set_scoped; auto] |]. intros m Hm d s Hd H. destruct (Hs m d s a b (proj2 X m Hm) Hd H eq_refl eq_refl) as [Hz E].
  eexists. split; [exact E |]. eapply set_matches; [exact H |]. rewrite (V m Hm Hz). apply updates_A.
Qed.

Lemma observed_u32 : forall v, u32 (observed (u32 v)) = observed (u32 v).
Proof.
  intros v. unfold observed. destruct (N.land (u32 v) 0xffff0000) as [| p]; [reflexivity |].
  do 31 (try (destruct p as [p | p |]; try reflexivity; try (unfold u32; rewrite <- N.land_assoc; reflexivity))).
  unfold u32 at 1. rewrite N.land_lor_distr_l. f_equal. change all_bits with (N.ones 32). rewrite N.land_ones. apply N.mod_small.
  eapply N.le_lt_trans; [apply N.le_min_r | reflexivity].
Qed.

Lemma execute_right : forall mode i r g, ok g -> scoped_registers g r -> execute_means mode i r g (execute mode i r g).
Proof.
  intros mode i r g Hg Hr.
  assert (Hs : forall n, scoped_option g (get r n)) by (intros; apply (nth_scoped _ (scoped_option g)); [exact Hr | exact I]).
  assert (Hk : forall v, scoped_option g (Some (constant v))) by (intros; apply constant_scoped, Hg).
  assert (Hb : forall b, scoped_option g (operand_word b r)) by (intros [v |]; [apply Hk | apply Hs]).
  assert (Hn : forall m v, consistent m g -> number m (constant v) = u32 v) by (intros; eapply constant_number; eauto).
  assert (Ha : forall m s w, matches m r s -> get r regA = Some w -> rA s = number m w) by (intros m s w H E; apply H in E; cbn in E; congruence).
  assert (Hx : forall m s w, matches m r s -> get r regX = Some w -> rX s = number m w) by (intros m s w H E; apply H in E; cbn in E; congruence).
  assert (HM : forall m s k w, matches m r s -> get r (regM k) = Some w -> read (rM s) k = Some (number m w)).
  { intros m s k w H E. apply H in E. cbn in E. rewrite N2Nat.id in E. exact E. }
  assert (Ho : forall m b s w, consistent m g -> matches m r s -> operand_word b r = Some w -> value_of b s = number m w).
  { intros m [v |] s w Hm H E; cbn in *; [injection E as <-; symmetry; auto | eauto]. }
  assert (Hcalc : forall op b, (forall s d, (op = DIV -> value_of b s <> 0) -> step (ALU op b) s d = Go 0 (setA s (alu op (rA s) (value_of b s)))) ->
    (forall s, op = DIV -> value_of b s <> 0) -> execute_means mode (ALU op b) r g (calculate op (get r regA) (operand_word b r) r g)).
  { intros op b Hstep Hz. apply calculate_right; auto. intros m d s x y Hc _ H Ex Ey. rewrite <- (Ha m s x H Ex), <- (Ho m b s y Hc H Ey). auto. }
  destruct i as [o | v | w | | v | w | | w | w | | | op b | | n | op b yes no | v |]; cbn [execute];
    try (apply assign_right; auto; intros m d s x Hc Hd H E; cbn [step]; try injection E as <-;
         try rewrite Hn by exact Hc; try rewrite (HM _ _ _ _ H E); try rewrite (Ha _ _ _ H E); try rewrite (Hx _ _ _ H E);
         eexists; (split; [reflexivity | first [apply updates_A | apply updates_X | apply updates_M]])).
  - (* LD_ABS *)
    destruct (N.ltb_spec (o / 4) 16) as [Ho16 | Ho16]; [| exact I]. apply assign_right; auto; [apply input_scoped; auto |].
    intros m d s x Hc Hd H [= <-]. cbn [step]. eexists. split; [reflexivity |]. rewrite (Hd _ Ho16). apply updates_A.
  - (* ALU *)
    destruct op; try (apply Hcalc; [reflexivity | discriminate]). destruct b as [v |].
    + destruct (u32 v =? 0) eqn:Ez; [exact I |]. apply (Hcalc DIV (K v)); cbn [value_of step]; [rewrite Ez; auto |].
      intros _ _. apply N.eqb_neq, Ez.
    + pose proof (Hs regA) as Sa. pose proof (Hs regX) as Sx. pose proof (Hk 0) as S0.
      destruct (get r regA) as [a |]; [| exact I]. destruct (get r regX) as [x |]; [| exact I]. cbn [scoped_option] in *.
      run (equal_bit 32 g x (constant 0)). run (alu_word DIV g0 a x).
      finish; [split; [assumption | apply set_scoped; auto] |]. intros m Hm d s Hd H. specialize (V m Hm).
      rewrite (constant_number _ _ _ Hm), <- (Hx m s x H eq_refl) in V. change (u32 0) with 0 in V.
      unfold exit_means. cbn [exit_goal step value_of]. rewrite V. destruct (rX s =? 0) eqn:Ez.
      * exists 0. split; [reflexivity | destruct mode; reflexivity].
      * eexists. split; [reflexivity |]. eapply set_matches; [exact H |].
        rewrite (V0 m Hm), <- (Ha m s a H eq_refl), <- (Hx m s x H eq_refl); [apply updates_A |].
        intros _. rewrite <- (Hx m s x H eq_refl). apply N.eqb_neq, Ez.
  - (* NEG *)
    apply calculate_right; auto. intros m d s x y Hc _ H [= <-] Ey. split; [discriminate |]. rewrite Hn, <- (Ha m s y H Ey) by exact Hc. reflexivity.
  - (* JA *)
    finish; [split; auto; exact I |]. intros m _ d s _ H. exists s. auto.
  - (* JMP *)
    pose proof (Hs regA) as Sa. pose proof (Hb b) as Sx. destruct (get r regA) as [a |]; [| exact I].
    destruct (operand_word b r) as [x |] eqn:Ex; [| exact I]. cbn [scoped_option] in *. run (jump_word op g a x).
    finish; [split; auto; destruct (yes =? no); [exact I | assumption] |].
    intros m Hm d s Hd H. specialize (V m Hm). rewrite <- (Ha m s a H eq_refl), <- (Ho m b s x (proj2 X m Hm) H Ex) in V.
    unfold exit_means. cbn [step]. rewrite <- V. destruct (N.eqb_spec yes no) as [-> | Hyn]; cbn [exit_goal]; destruct (value m l); exists s; auto.
  - (* RET_K *)
    finish; [split; auto; apply Hk |]. intros m Hm d s _ H. exists (u32 v). split; [reflexivity |].
    rewrite Hn by exact Hm. destruct mode; [reflexivity |]. cbn. f_equal. symmetry. apply observed_u32.
  - (* RET_A *)
    destruct mode; [| exact I]. pose proof (Hs regA) as Sa. destruct (get r regA) as [a |]; [| exact I].
    finish; [split; auto |]. intros m Hm d s _ H. exists (rA s). split; [reflexivity |]. cbn. f_equal. apply Ha; auto.
Qed.

(* ---- Places -------------------------------------------------------------------------------------------------- *)

(* What is written after a merge was written on both paths, and has the value of the path that is taken. *)
Definition merged (m : model) (edge : Z) (old new result : option word) : Prop :=
  forall x, result = Some x -> exists o n, old = Some o /\ new = Some n /\ number m x = number m (if value m edge then n else o).

Lemma merge_word_right : forall edge old new g, ok g -> scoped g edge -> scoped_option g old -> scoped_option g new ->
  gives scoped_option (fun m w => merged m edge old new w) g (merge_word edge old new g).
Proof.
  unfold merged. intros edge [o |] [n |] g Hg He Ho Hn; cbn [merge_word]; try (finish; [exact I | discriminate]).
  run (choose_word_word 32 g edge n o). finish; [exact S |]. intros m Hm x [= <-]. exists o, n. rewrite (V m Hm). destruct (value m edge); auto.
Qed.

Lemma merge_right : forall edge old new g, ok g -> scoped g edge -> scoped_registers g old -> scoped_registers g new ->
  gives scoped_registers (fun m r => forall k, merged m edge (get old k) (get new k) (get r k)) g (merge edge old new g).
Proof.
  induction old as [| o old IH]; intros [| n new] g Hg He Ho Hn; cbn [merge];
    try (finish; [constructor | intros m _ [| k] x; discriminate]). assert (Ho' : scoped_registers g old) by apply (Forall_inv_tail Ho).
  assert (Hn' : scoped_registers g new) by apply (Forall_inv_tail Hn). apply Forall_inv in Ho, Hn. run (merge_word_right edge o n g).
  run (IH new g0). finish; [constructor; assumption |]. intros m Hm [| k]; [exact (V m Hm) | exact (V0 m Hm k)].
Qed.

(* Where a run of the machine stands: before the instruction after the next n, with its registers, or at none of the places. *)
Fixpoint stands (m : model) (places : list place) (at_place : option (N * machine)) : Prop :=
  match places with
  | [] => True
  | p :: places =>
      match at_place with
      | Some (0, s) => match p with Some (l, r) => value m l = true /\ matches m r s | None => False end /\ stands m places None
      | _ =>
          match p with Some (l, _) => value m l = false | None => True end /\
          stands m places (match at_place with Some (n, s) => Some (N.pred n, s) | None => None end)
      end
  end.

(* A run that takes the edge stands where it leads; otherwise nothing changes. *)
Definition edge_means (m : model) (taken : bool) (places : list place) (n : N) (r : registers) (places' : list place) : Prop :=
  forall at_place, if taken then forall s, matches m r s -> stands m places None -> stands m places' (Some (n, s))
                   else stands m places at_place -> stands m places' at_place.

Lemma arrive_right : forall places n edge r g, ok g -> scoped g edge -> scoped_registers g r -> Forall (scoped_place g) places ->
  gives (fun g => Forall (scoped_place g)) (fun m => edge_means m (value m edge) places n r) g (arrive places n edge r g).
Proof.
  unfold edge_means. induction places as [| p places IH]; intros n edge r g Hg He Hr Hp; cbn [arrive].
  { finish; [constructor |]. intros m _ a. destruct (value m edge); intros; exact I. }
  pose proof (Forall_inv Hp) as Hh. pose proof (Forall_inv_tail Hp) as Ht. destruct n as [| n].
  - destruct p as [[reached before] |].
    + destruct Hh as [Sl Sr]. run (merge_right edge before r g). run (either_bit g0 reached edge).
      finish; [constructor; [split; assumption | assumption] |]. intros m Hm a. specialize (V m Hm). specialize (V0 m Hm).
      destruct (value m edge) eqn:E; rewrite ?orb_true_r, ?orb_false_r in V0.
      * intros s Hs [Hl Hn]. split; [split; [exact V0 |] | exact Hn]. intros k x Hx. destruct (V k x Hx) as (o & w & _ & Hw & ->).
        rewrite E. apply Hs, Hw.
      * destruct a as [[[| k] s] |]; cbn [stands]; rewrite V0; auto. intros [[H1 H2] H3]. split; [split; [exact H1 |] | exact H3].
        intros k x Hx. destruct (V k x Hx) as (o & w & Ho & _ & ->). rewrite E. apply H2, Ho.
    + finish; [constructor; [split; assumption | assumption] |]. intros m _ a.
      destruct (value m edge) eqn:E; [intros s Hs [_ Hn]; repeat split; auto | destruct a as [[[| k] s] |]; cbn [stands]; tauto].
  - run (IH (N.pred (N.pos n)) edge r g). finish; [constructor; [apply (Forall_inv Hp) | assumption] |]. intros m Hm a. specialize (V m Hm).
    destruct (value m edge) eqn:E.
    + intros s Hs [H1 H2]. split; [exact H1 | apply (V None); auto].
    + destruct a as [[[| k] s] |]; cbn [stands]; intros [H1 H2]; (split; [exact H1 | apply (V _ H2)]).
Qed.

Lemma arrive_if_right : forall reached test places n r g, ok g -> scoped g reached -> scoped g test -> scoped_registers g r ->
  Forall (scoped_place g) places ->
  gives (fun g => Forall (scoped_place g)) (fun m => edge_means m (value m reached && value m test) places n r) g
    (arrive_if reached test places n r g).
Proof.
  unfold arrive_if. intros reached test places n r g Hg Hl Ht Hr Hp. run (both_bit g reached test).
  run (arrive_right places n l r g0). finish; [assumption |]. intros m Hm. rewrite <- (V m Hm). exact (V0 m Hm).
Qed.

(* The run stands where the exit leads, if it stood before the instruction; otherwise nothing changes. *)
Lemma leave_right : forall e reached r places g, ok g -> scoped_exit g (Some e) -> scoped g reached -> scoped_registers g r ->
  Forall (scoped_place g) places ->
  gives (fun g => Forall (scoped_place g)) (fun m places' =>
    (value m reached = false -> forall at_place, stands m places at_place -> stands m places' at_place) /\
    (value m reached = true -> stands m places None ->
      match exit_goal m e with To k => forall s, matches m r s -> stands m places' (Some (k, s)) | Gives _ => True end)) g (leave e reached r places g).
Proof.
  intros e reached r places g Hg He Hl Hr Hp. destruct e as [n | t yes no | w]; cbn [leave exit_goal].
  - run (arrive_right places n reached r g). finish; [assumption |]. intros m Hm. specialize (V m Hm). unfold edge_means in V.
    split; intros E; rewrite E in V; auto. intros Hn s Hs. apply (V None); auto.
  - cbn [scoped_exit] in He. assert (H : gives (fun g => Forall (scoped_place g)) (fun m places' => match yes with
        Some n => edge_means m (value m reached && value m t) places n r places' | None => places' = places end) g
        (match yes with Some n => arrive_if reached t places n r g | None => (places, g) end)).
    { destruct yes as [n |]; [apply arrive_if_right; auto | finish; auto]. }
    run H. clear H. run (arrive_if_right reached (- t) l no r g0). finish; [assumption |]. intros m Hm. specialize (V m Hm).
    specialize (V0 m Hm). rewrite (value_opposite _ m t He) in V0. unfold edge_means in *. split; intros E; rewrite E in *; cbn [andb] in *.
    + intros a Ha. apply V0. destruct yes; [apply V, Ha | subst l; exact Ha].
    + intros Hn. destruct (value m t); cbn [negb] in *.
      * destruct yes as [n |]; [| exact I]. intros s Hs. apply V0. apply (V None); auto.
      * intros s Hs. apply (V0 None); auto. destruct yes; [apply V, Hn | subst l; exact Hn].
  - finish; auto.
Qed.

(* ---- Forwards ------------------------------------------------------------------------------------------------ *)

(* What a run returns that follows the exits. *)
Fixpoint follow (m : model) (exits : list (option exit)) (skip : N) : option N :=
  match exits with
  | [] => None
  | e :: exits =>
      match skip, e with
      | 0, None => None
      | 0, Some e => match exit_goal m e with To n => follow m exits n | Gives v => Some v end
      | _, _ => follow m exits (N.pred skip)
      end
  end.

Lemma forward_right : forall mode is places pc done g, ok g -> Forall (scoped_place g) places -> Forall (scoped_exit g) done ->
  match forward mode is places pc done g with
  | Unsupported _ => True
  | Encoded r => gives (fun g => Forall (scoped_exit g)) (fun m exits => exists new, exits = rev new ++ done /\
      forall d, has_input m d -> forall n s v, stands m places (Some (n, s)) -> seen mode (exec is n s d) = Value v -> follow m new n = Some v) g r
  end.
Proof.
  induction is as [| i is IH]; intros places pc done g Hg Hp Hd; cbn [forward].
  { finish; [exact Hd |]. intros m _. exists []. split; [reflexivity |]. intros d _ n s v _ H. destruct mode; discriminate. }
  destruct places as [| [[reached r] |] places]; [exact I | |]; pose proof (Forall_inv Hp) as Hh; pose proof (Forall_inv_tail Hp) as Ht.
  - destruct Hh as [Sl Sr]. pose proof (execute_right mode i r g Hg Sr) as He. destruct (execute mode i r g) as [x |]; [| exact I].
    cbn [execute_means] in He. run He. clear He. destruct l as [e r']. destruct S as [Se Sr'].
    pose proof (Forall_cons (P := scoped_exit g0) (Some e) Se Hd) as Hd'. run (leave_right e reached r' places g0).
    specialize (IH l (N.succ pc) (Some e :: done) g1 Hok0 S Hd').
    destruct (forward mode is l (N.succ pc) (Some e :: done) g1) as [x |]; [| exact I]. run IH. finish; [assumption |]. intros m Hm.
    destruct (V1 m Hm) as (new & E & Hf). destruct (V0 m Hm) as [Hfalse Htrue]. specialize (V m Hm). subst. clear V0 V1.
    exists (Some e :: new). split; [cbn [rev]; rewrite <- app_assoc; reflexivity |].
    intros d Hi [| n] s v [H1 H2] H; cbn [exec follow] in *; [| eapply Hf; eauto]. destruct H1 as [Hl Hs]. specialize (V d s Hi Hs).
    specialize (Htrue Hl H2). unfold exit_means in V. destruct (exit_goal m e) as [k | w].
    + destruct V as (s' & E & Hs'). rewrite E in H. eapply Hf; eauto.
    + destruct V as (x & E & Hx). rewrite E in H. congruence.
  - specialize (IH places (N.succ pc) (None :: done) g Hg Ht (Forall_cons None I Hd)).
    destruct (forward mode is places (N.succ pc) (None :: done) g) as [r | pc']; [| exact I]. run IH. finish; [assumption |]. intros m Hm.
    destruct (V m Hm) as (new & E & Hf). subst. clear V. exists (None :: new). split; [cbn [rev]; rewrite <- app_assoc; reflexivity |].
    intros d Hi [| n] s v [H1 H2] H; [contradiction | eapply Hf; eauto].
Qed.

(* ---- Backwards ----------------------------------------------------------------------------------------------- *)

(* The words are what the runs return that follow the exits. *)
Definition agrees (m : model) (exits : list (option exit)) (values : list word) : Prop :=
  forall n v, follow m exits n = Some v -> number m (value_at values n) = v.

Lemma exit_value_right : forall e values g, ok g -> scoped_exit g e -> scoped_words g values ->
  gives (scoped_word 32) (fun m w => forall exits, agrees m exits values -> agrees m (e :: exits) (w :: values)) g (exit_value e values g).
Proof.
  intros e values g Hg He Hv.
  assert (Hat : forall n, scoped_word 32 g (value_at values n)) by (intros; apply (nth_scoped _ (scoped_word 32 g)); auto using scoped_zeros).
  assert (Hhead : forall m w exits, agrees m exits values -> (forall v, follow m (e :: exits) 0 = Some v -> number m w = v) ->
                  agrees m (e :: exits) (w :: values)).
  { intros m w exits Ha Hw [| n] v Hf; [exact (Hw v Hf) |]. cbn [follow] in Hf. apply Ha in Hf. unfold value_at in *.
    replace (N.to_nat (N.pos n)) with (S (N.to_nat (N.pred (N.pos n)))) by lia. exact Hf. }
  destruct e as [[n | t yes no | w] |]; cbn [exit_value scoped_exit] in *.
  - finish; [apply Hat |]. intros m _ exits Ha. apply Hhead; auto.
  - match goal with |- context [choose_word t ?x _ _] => set (w := x) end.
    assert (Hw : scoped_word 32 g w) by (subst w; destruct yes; [apply Hat | apply constant_scoped, Hg]).
    pose proof (Hat no) as Hno. run (choose_word_word 32 g t w (value_at values no)). finish; [assumption |].
    intros m Hm exits Ha. apply Hhead; auto. intros v Hf. cbn [follow exit_goal] in Hf. rewrite (V m Hm).
    destruct (value m t); [| auto]. subst w. destruct yes; [auto |]. injection Hf as <-. apply (constant_number _ m 0 Hm).
  - finish; [exact He |]. intros m _ exits Ha. apply Hhead; auto. intros v [= <-]. reflexivity.
  - finish; [apply scoped_zeros, Hg |]. intros m _ exits Ha. apply Hhead; auto. discriminate.
Qed.

Lemma backward_right : forall exits values g, ok g -> Forall (scoped_exit g) exits -> scoped_words g values ->
  gives scoped_words (fun m ws => forall later, agrees m later values -> agrees m (rev exits ++ later) ws) g (backward exits values g).
Proof.
  induction exits as [| e exits IH]; intros values g Hg He Hv; cbn [backward]; [finish; auto |]. pose proof (Forall_inv_tail He) as Ht.
  apply Forall_inv in He. run (exit_value_right e values g). assert (Hv' : scoped_words g0 (l :: values)) by (constructor; assumption).
  run (IH (l :: values) g0). finish; [assumption |]. intros m Hm later Ha. cbn [rev]. rewrite <- app_assoc. apply (V0 m Hm), (V m Hm), Ha.
Qed.

(* In every model, the word is what the program returns for the model's input. *)
Lemma returned_right : forall mode is g, ok g ->
  match returned mode is g with
  | Unsupported _ => True
  | Encoded r => gives (scoped_word 32) (fun m w => forall d v, has_input m d -> seen mode (exec is 0 start d) = Value v -> number m w = v) g r
  end.
Proof.
  unfold returned. intros mode is g Hg. set (places := Some (TRUE, start_registers) :: map (fun _ => None) (tl is)).
  assert (Hp : Forall (scoped_place g) places).
  { constructor; [split; [auto with gates |] | induction (tl is); constructor; auto; exact I].
    unfold start_registers. do 2 (constructor; [apply constant_scoped, Hg |]). repeat constructor. }
  assert (Hs : forall m, consistent m g -> stands m places (Some (0, start))).
  { intros m Hm. split; [| generalize (tl is) as l; induction l; cbn; auto]. split; [exact (value_TRUE g m Hm) |].
    intros [| [| k]] w E; try (injection E as <-; cbn; f_equal; symmetry; apply (constant_number g m 0 Hm)).
    cbn [get start_registers nth] in E. exfalso. revert k E. generalize 16%nat. induction n; intros [| k] E; cbn in E; try discriminate. eauto. }
  pose proof (forward_right mode is places 0 [] g Hg Hp (Forall_nil _)) as Hf.
  destruct (forward mode is places 0 [] g) as [x | pc]; [| exact I]. run Hf. clear Hf.
  assert (Hn : scoped_words g0 []) by constructor. run (backward_right l [] g0).
  finish; [apply (nth_scoped _ (scoped_word 32 g1)); auto using scoped_zeros |]. intros m Hm d v Hi H. destruct (V m Hm) as (new & E & Hf). specialize (V0 m Hm []).
  rewrite !app_nil_r in *. subst l. rewrite rev_involutive in V0. apply V0; [intros n x E; discriminate |].
  eapply Hf; eauto.
Qed.
