(* If `check` accepts a certificate, the two programs return the same for every input. *)

Require Import NArith List Bool Lia FMapPositive FMapFacts.
From Proved Require Import Filter Known Check.
Import ListNotations.
Open Scope N_scope.

(* ---- Values -------------------------------------------------------------------------------------------------- *)

Lemma calculate_word : forall op a b, word (calculate op a b).
Proof. intros [op | |] a b; cbn [calculate]; [apply u32_word | destruct (a =? b) | destruct (b <=? a)]; reflexivity. Qed.

Lemma eval_word : forall d t, word (eval d t).
Proof. intros d [v | i | op a b w]; cbn [eval]; [apply u32_word | apply u32_word | apply calculate_word]. Qed.

Lemma same_op_eq : forall a b, same_op a b = true -> a = b. Proof. intros [[] | |] [[] | |] H; try discriminate H; reflexivity. Qed.

Lemma same_term_eq : forall a b, same_term a b = true -> a = b.
Proof.
  induction a as [x | i | o a1 IH1 a2 IH2 w]; intros [y | j | o' b1 b2 w'] H; cbn [same_term] in H; try discriminate; split_tests;
    f_equal; auto using same_op_eq.
Qed.

Lemma constant_eval : forall d t v, constant t = Some v -> eval d t = v.
Proof. intros d [x | i | o a b w] v H; cbn [constant] in H; try discriminate. injection H as <-. reflexivity. Qed.

Lemma is_const_eval : forall d t v, is_const t v = true -> eval d t = v.
Proof. intros d [] v H; try discriminate H. apply N.eqb_eq in H. exact H. Qed.

Lemma bin_sound : forall d op a b t, bin op a b = Some t -> eval d t = calculate op (eval d a) (eval d b).
Proof. unfold bin. intros d op a b t H. destruct (max_weight <? _); [discriminate |]. injection H as <-. reflexivity. Qed.

Lemma neutral_sound : forall d op a b, neutral op b = true -> calculate op (eval d a) (eval d b) = eval d a.
Proof.
  intros d [[] | |] a b H; cbn [neutral] in H; try discriminate; rewrite (is_const_eval d _ _ H); cbn [calculate alu];
    pose proof (eval_word d a) as Hw; unfold word in Hw; unfold alu, u32;
    rewrite ?N.add_0_r, ?N.mul_1_r, ?N.div_1_r, ?N.lor_0_r, ?N.lxor_0_r, ?N.land_0_l, ?N.shiftl_0_r, ?N.shiftr_0_r, ?Hw; auto.
  rewrite N.sub_0_r. apply word_lt in Hw. rewrite all_bits_ones, N.land_ones. change 0x100000000 with (1 * 2 ^ 32).
  rewrite N.mod_add by discriminate. apply N.mod_small, Hw.
Qed.

Lemma ordered_sound : forall d op a b t, ordered op a b = Some t -> eval d t = calculate op (eval d a) (eval d b).
Proof.
  unfold ordered. intros d op a b t H. set (merged := match op with Alu AND => _ | _ => (a, b) end) in H.
  assert (Hm : calculate op (eval d (fst merged)) (eval d (snd merged)) = calculate op (eval d a) (eval d b)).
  { unfold merged. destruct op as [[] | |]; auto. destruct a as [| | [[] | |] x y w]; auto. destruct y; auto. destruct b; auto.
    cbn [fst snd eval calculate alu]. unfold alu, u32. bitwise. }
  destruct merged as [a' b']. cbn [fst snd] in Hm. rewrite <- Hm. clear Hm a b. rename a' into a, b' into b.
  destruct (match op with Alu AND => is_const b 0 | _ => false end) eqn:E.
  - injection H as <-. destruct op as [[] | |]; try discriminate. rewrite (is_const_eval d _ _ E). cbn [calculate alu eval]. unfold alu.
    rewrite N.land_0_r. reflexivity.
  - destruct (neutral op b) eqn:En; [injection H as <-; symmetry; apply neutral_sound; auto | apply bin_sound; auto].
Qed.

Lemma commutes_sound : forall op a b, commutes op = true -> calculate op a b = calculate op b a.
Proof.
  intros [[] | |] a b H; try discriminate H; cbn [calculate]; unfold alu; [f_equal .. | rewrite N.eqb_sym; reflexivity];
    auto using N.add_comm, N.mul_comm, N.land_comm, N.lor_comm, N.lxor_comm.
Qed.

Lemma compute_sound : forall d op a b t, compute op a b = Some t -> eval d t = calculate op (eval d a) (eval d b).
Proof.
  unfold compute. intros d op a b t H.
  assert (Hsome : forall swap : bool, (if commutes op && swap then ordered op b a else ordered op a b) = Some t ->
                  eval d t = calculate op (eval d a) (eval d b)).
  { intros swap Hs. destruct (commutes op) eqn:Ec; cbn [andb] in Hs; [destruct swap |]; try (apply ordered_sound; auto; fail).
    rewrite commutes_sound by auto. apply ordered_sound; auto. }
  destruct (constant a) as [x |] eqn:Ea; [destruct (constant b) as [y |] eqn:Eb |]; try (eapply Hsome; exact H).
  injection H as <-. rewrite (constant_eval d _ _ Ea), (constant_eval d _ _ Eb). cbn [eval]. apply word_u32, calculate_word.
Qed.

Lemma compute_option_sound : forall d op a b t, compute_option op a b = Some t ->
  exists x y, a = Some x /\ b = Some y /\ eval d t = calculate op (eval d x) (eval d y).
Proof. intros d op [x |] [y |] t H; try discriminate. exists x, y. repeat split. apply compute_sound; auto. Qed.

(* ---- Tests --------------------------------------------------------------------------------------------------- *)

(* The answer to the question q is b. *)
Definition means (d : data) (q : question) (b : bool) : Prop :=
  match q with Known x => x = b | Open l => literal_true d l = b | Unstated => True end.

Lemma opposite_sound : forall d l, literal_true d (opposite l) = negb (literal_true d l).
Proof. intros d [a t o]. unfold literal_true. cbn. destruct (passes _ _), o; reflexivity. Qed.

Lemma not_sound : forall d q b, means d q b -> means d (not q) (negb b).
Proof. intros d [x | l |] b H; cbn in *; auto; [congruence | rewrite opposite_sound; congruence]. Qed.

Lemma eqb_true_r : forall b, eqb b true = b. Proof. intros []; reflexivity. Qed.

Lemma equals_constant_sound : forall d t v, means d (equals_constant t v) (eval d t =? v).
Proof.
  unfold equals_constant. intros d t v. set (parts := match t with Bin (Alu AND) x (Const m) _ => (x, u32 m) | _ => (t, all_bits) end).
  assert (Hp : eval d t = N.land (eval d (fst parts)) (snd parts)).
  { assert (Hall : eval d t = N.land (eval d t) all_bits) by (symmetry; apply eval_word). unfold parts.
    destruct t as [| | [[] | |] x [] w]; try exact Hall. cbn [fst snd eval calculate]. unfold alu, u32. bitwise. }
  destruct parts as [u mask]. cbn [fst snd] in Hp. rewrite Hp. destruct (N.ldiff v mask =? 0) eqn:E; cbn [means].
  - unfold literal_true. cbn. apply eqb_true_r.
  - apply N.eqb_neq in E. symmetry. apply N.eqb_neq. intros <-. apply E. clear. bitwise.
Qed.

Lemma is_one_sound : forall d op a b (p : bool), calculate op (eval d a) (eval d b) = (if p then 1 else 0) -> means d (is_one (compute op a b)) p.
Proof.
  unfold is_one. intros d op a b p H. destruct (compute op a b) as [t |] eqn:E; cbn [means]; auto.
  pose proof (equals_constant_sound d t 1) as Hs. rewrite (compute_sound d _ _ _ _ E), H in Hs. destruct p; exact Hs.
Qed.

Lemma equal_sound : forall d a b, means d (equal a b) (eval d a =? eval d b).
Proof.
  unfold equal. intros d a b. destruct (constant a) as [x |] eqn:Ea, (constant b) as [y |] eqn:Eb;
    rewrite ?(constant_eval d _ _ Ea), ?(constant_eval d _ _ Eb).
  - reflexivity.
  - rewrite N.eqb_sym. apply equals_constant_sound.
  - apply equals_constant_sound.
  - destruct (same_term a b) eqn:E; [apply same_term_eq in E; subst; symmetry; apply N.eqb_refl | apply is_one_sound; reflexivity].
Qed.

Lemma at_least_sound : forall d a b, means d (at_least a b) (eval d b <=? eval d a).
Proof.
  unfold at_least. intros d a b. destruct (constant a) as [x |] eqn:Ea, (constant b) as [y |] eqn:Eb.
  - rewrite (constant_eval d _ _ Ea), (constant_eval d _ _ Eb). reflexivity.
  - rewrite (constant_eval d _ _ Ea). destruct (x =? all_bits) eqn:E; cbn [means].
    + apply N.eqb_eq in E. subst x. symmetry. apply N.leb_le, word_le, eval_word.
    + unfold literal_true. cbn [passes test about outcome].
      destruct (N.leb_spec (N.succ x) (eval d b)), (N.leb_spec (eval d b) x); cbn; auto; lia.
  - rewrite (constant_eval d _ _ Eb). destruct (y =? 0) eqn:E; cbn [means].
    + apply N.eqb_eq in E. subst y. symmetry. apply N.leb_le. lia.
    + unfold literal_true. cbn [passes test about outcome]. apply eqb_true_r.
  - destruct (same_term a b) eqn:E; [apply same_term_eq in E; subst; cbn [means]; symmetry; apply N.leb_refl |].
    apply is_one_sound. reflexivity.
Qed.

Lemma jump_question_sound : forall d op a b x y, a = Some x -> b = Some y -> means d (jump_question op a b) (compare op (eval d x) (eval d y)).
Proof.
  intros d op a b x y -> ->. destruct op; cbn [jump_question compare].
  - apply equal_sound.
  - rewrite N.ltb_antisym. apply not_sound, at_least_sound.
  - apply at_least_sound.
  - destruct (compute (Alu AND) x y) as [t |] eqn:E; [| exact I]. pose proof (equal_sound d t (Const 0)) as H.
    rewrite (compute_sound d _ _ _ _ E) in H. apply not_sound. cbn [calculate eval] in H. unfold alu in H.
    assert (Hu : u32 (N.land (eval d x) (eval d y)) = N.land (eval d x) (eval d y)).
    { unfold u32. pose proof (eval_word d x) as Hx. unfold word in Hx. bitwise. }
    rewrite Hu in H. exact H.
Qed.

(* ---- Facts --------------------------------------------------------------------------------------------------- *)

Definition facts_hold (d : data) (f : facts) : Prop := forall t kn, In (t, kn) f -> holds kn (eval d t).

Lemma known_about_sound : forall d f t, facts_hold d f -> holds (known_about f t) (eval d t).
Proof.
  induction f as [| [u kn] f IH]; cbn [known_about]; intros t H; [apply nothing_holds, eval_word |].
  destruct (same_term u t) eqn:E; [apply same_term_eq in E; subst; apply H; left; reflexivity
    | apply IH; intros x k Hin; apply H; right; auto].
Qed.

Lemma update_sound : forall d f t kn, facts_hold d f -> holds kn (eval d t) -> facts_hold d (update f t kn).
Proof.
  unfold facts_hold. induction f as [| [u old] f IH]; cbn [update]; intros t kn H Hk x kn' Hin;
    [destruct Hin as [[= <- <-] | []]; exact Hk |].
  destruct (same_term u t) eqn:E; [apply same_term_eq in E; subst |]; destruct Hin as [[= <- <-] | Hin]; auto with datatypes.
  eapply (IH t kn); eauto with datatypes.
Qed.

(* A literal that is true does not contradict facts that hold. *)
Lemma learn_sound : forall d f l, facts_hold d f -> literal_true d l = true -> exists f', learn f l = Some f' /\ facts_hold d f'.
Proof.
  unfold learn, literal_true. intros d f l H Ht. apply eqb_prop in Ht.
  destruct (learn_test_sound _ (test l) _ (eval_word d (about l)) (known_about_sound d f (about l) H)) as [kn [E Hk]].
  rewrite Ht in E. rewrite E. eexists. split; [reflexivity |]. apply update_sound; auto.
Qed.

Lemma decide_sound : forall d f l b, facts_hold d f -> decide f l = Some b -> literal_true d l = b.
Proof.
  unfold decide, literal_true. intros d f l b H E. destruct (decide_test _ _) as [x |] eqn:Ed; [injection E as <- | discriminate].
  rewrite (decide_test_sound _ _ _ _ (eval_word d (about l)) (known_about_sound d f (about l) H) Ed). reflexivity.
Qed.

(* ---- Running a program --------------------------------------------------------------------------------------- *)

(* The registers hold the values that are stated. *)
Record matches (d : data) (r : registers) (s : machine) : Prop := {
  m_A : forall t, sA r = Some t -> rA s = eval d t;
  m_X : forall t, sX r = Some t -> rX s = eval d t;
  m_M : forall w t, stated r w = Some t -> read (rM s) w = Some (eval d t)
}.

Lemma matches_A : forall d r s t v, matches d r s -> (forall u, t = Some u -> v = eval d u) -> matches d (with_A r t) (setA s v).
Proof. intros d r s t v [] H. constructor; auto. Qed.

Lemma matches_X : forall d r s t v, matches d r s -> (forall u, t = Some u -> v = eval d u) -> matches d (with_X r t) (setX s v).
Proof. intros d r s t v [] H. constructor; auto. Qed.

Lemma matches_M : forall d r s w t v, matches d r s -> (forall u, t = Some u -> v = eval d u) -> matches d (with_M r w t) (setM s w v).
Proof.
  intros d r s w t v [] H. constructor; auto. unfold stated. cbn. intros x u Hu. destruct (w =? x); [| apply m_M0, Hu].
  destruct t; [injection Hu as <-; f_equal; auto | discriminate].
Qed.

Lemma operand_sound : forall d r s b t, matches d r s -> operand_term b r = Some t -> value_of b s = eval d t.
Proof. intros d r s [v |] t H E; cbn in *; [injection E as <-; symmetry; apply word_u32, u32_word | apply H, E]. Qed.

(* What one symbolic step states about the step of a machine that matches. Only runs that return a value matter. *)
Definition step_means (d : data) (f : facts) (n : snext) (m : next) : Prop :=
  match n with
  | SGo skip r => match m with Go skip' s => skip = skip' /\ matches d r s | Done r => forall v, r <> Value v end
  | SEnd (Returns t) => m = Done (Value (eval d t))
  | SEnd (Undecided _) | SRefused => True
  end.

Lemma answer_sound : forall d f q b yes no m, facts_hold d f -> means d q b ->
  step_means d f (if b then yes else no) m -> step_means d f (answer f q yes no) m.
Proof.
  intros d f q b yes no m Hf Hq Hm. destruct q as [x | l |]; cbn in *; [subst x; exact Hm | | exact I].
  destruct (decide f l) as [x |] eqn:E; [| exact I]. rewrite (decide_sound d _ _ _ Hf E) in Hq. subst x. exact Hm.
Qed.

Lemma shift_operand : forall op a b, (op = LSH \/ op = RSH) -> alu op a (alu AND b 31) = alu op a b.
Proof.
  intros op a b H. assert (E : N.land (alu AND b 31) 31 = N.land b 31).
  { unfold alu, u32. assert (H31 : N.land 31 all_bits = 31) by reflexivity. clear H. bitwise. }
  destruct H as [-> | ->]; unfold alu at 1 3; rewrite E; reflexivity.
Qed.

Lemma symbolic_step_sound : forall d f i r s, facts_hold d f -> matches d r s -> step_means d f (symbolic_step i r f) (step i s d).
Proof.
  intros d f i r s Hf Hm. destruct i as [o | v | w | | v | w | | w | w | | | op b | | n | op b t e | v |]; cbn [symbolic_step step];
    try match goal with |- context [read ?m ?w] => destruct (read m w) eqn:E; cbn; [| discriminate] end;
    try (split; [reflexivity |]; first [apply matches_A | apply matches_X | apply matches_M]; auto; try apply Hm; intros u Hu;
         first [apply (m_M _ _ _ Hm) in Hu; congruence | injection Hu as <-;
                first [reflexivity | symmetry; apply word_u32, u32_word]]; fail).
  - (* ALU *)
    assert (Hplain : forall u, compute_option (Alu op) (sA r) (operand_term b r) = Some u -> alu op (rA s) (value_of b s) = eval d u).
    { intros u Hu. destruct (compute_option_sound d _ _ _ _ Hu) as (x & y & Hx & Hy & ->).
      rewrite (m_A _ _ _ Hm _ Hx), (operand_sound _ _ _ _ _ Hm Hy). reflexivity. }
    assert (Hshift : (op = LSH \/ op = RSH) -> forall u,
              compute_option (Alu op) (sA r) (compute_option (Alu AND) (operand_term b r) (Some (Const 31))) = Some u ->
              alu op (rA s) (value_of b s) = eval d u).
    { intros Hop u Hu. destruct (compute_option_sound d _ _ _ _ Hu) as (x & y & Hx & Hy & ->).
      destruct (compute_option_sound d _ _ _ _ Hy) as (x' & y' & Hx' & [= <-] & ->).
      rewrite (m_A _ _ _ Hm _ Hx), (operand_sound _ _ _ _ _ Hm Hx'). symmetry. apply shift_operand, Hop. }
    destruct op; try (split; auto; apply matches_A; auto; fail). destruct (operand_term b r) as [t |] eqn:Eb; [| exact I].
    pose proof (operand_sound _ _ _ _ _ Hm Eb) as Hv. eapply answer_sound; [exact Hf | apply equal_sound |].
    rewrite <- Hv. change (eval d (Const 0)) with 0. destruct (value_of b s =? 0); [reflexivity | split; auto; apply matches_A; auto].
  - (* NEG *)
    split; auto. apply matches_A; auto. intros u Hu. destruct (compute_option_sound d _ _ _ _ Hu) as (x & y & [= <-] & Hy & ->).
    rewrite (m_A _ _ _ Hm _ Hy). reflexivity.
  - split; auto.
  - (* JMP *)
    destruct (N.eqb_spec t e) as [-> |]; [split; auto; destruct (compare _ _ _); reflexivity |].
    destruct (sA r) as [x |] eqn:Ea; [| exact I].
    destruct (operand_term b r) as [y |] eqn:Eb; [| cbn; destruct op; exact I].
    rewrite (m_A _ _ _ Hm _ Ea), (operand_sound _ _ _ _ _ Hm Eb).
    eapply answer_sound; [exact Hf | apply jump_question_sound; reflexivity |].
    destruct (compare _ _ _); split; auto.
  - cbn. do 2 f_equal. symmetry. apply word_u32, u32_word.
  - destruct (sA r) as [t |] eqn:E; [| exact I]. cbn. rewrite (m_A _ _ _ Hm _ E). reflexivity.
Qed.

(* The instructions `is` are those of `whole` from number `pc` on. *)
Definition tail_at (whole is : list insn) (pc : N) : Prop := forall n s d, exec is n s d = exec whole (pc + n) s d.

Lemma tail_start : forall is, tail_at is is 0. Proof. intros is n s d. reflexivity. Qed.

Lemma exec_skip : forall i is n s d, exec (i :: is) (N.succ n) s d = exec is n s d.
Proof. intros. cbn [exec]. destruct (N.succ n) eqn:E; [lia |]. rewrite <- E, N.pred_succ. reflexivity. Qed.

Lemma tail_next : forall whole i is pc, tail_at whole (i :: is) pc -> tail_at whole is (N.succ pc).
Proof. intros whole i is pc H n s d. rewrite <- (exec_skip i), H. f_equal. lia. Qed.

(* A place stands for the runs of the program from there. *)
Definition runs (d : data) (whole : list insn) (p : place) (v : N) : Prop :=
  tail_at whole (rest p) (pc p) /\ exists s, matches d (regs p) s /\ exec (rest p) (skip p) s d = Value v.

Lemma advance_sound : forall d f whole is pc skip r s v p e,
  facts_hold d f -> tail_at whole is pc -> matches d r s -> exec is skip s d = Value v -> advance is pc skip r f = Some (p, e) ->
  runs d whole p v /\ (forall t, e = Returns t -> v = eval d t) /\ Check.skip p = 0.
Proof.
  induction is as [| i is IH]; intros pc skip r s v p e Hf Ht Hm He Ha; [discriminate |]. cbn [advance exec] in *.
  destruct skip as [| skip]; [| eapply IH; eauto using tail_next].
  pose proof (symbolic_step_sound d f i r s Hf Hm) as Hs. destruct (symbolic_step i r f) as [n r' | e' |]; [| | discriminate].
  - destruct (step i s d) as [n' s' | res]; cbn in Hs; [destruct Hs as [<- Hs]; eapply IH; eauto using tail_next | destruct (Hs _ He)].
  - injection Ha as <- <-. repeat split; [exact Ht | exists s; auto |]. intros t ->. cbn in Hs. rewrite Hs in He. congruence.
Qed.

(* ---- Cases --------------------------------------------------------------------------------------------------- *)

Definition same_result (mode : sameness) (a b : N) : Prop :=
  match mode with Raw => a = b | Behaviour => observed a = observed b end.

Lemma same_value_sound : forall mode d a b, same_value mode a b = true -> same_result mode (eval d a) (eval d b).
Proof.
  unfold same_value, same_result. intros mode d a b H. apply orb_prop in H as [H | H];
    [apply same_term_eq in H; subst; destruct mode; reflexivity |].
  destruct mode; [discriminate |]. destruct (constant a) as [x |] eqn:Ea, (constant b) as [y |] eqn:Eb; try discriminate.
  rewrite (constant_eval d _ _ Ea), (constant_eval d _ _ Eb). apply N.eqb_eq, H.
Qed.

Section Programs.
  Variable mode : sameness.
  Variables before after : list insn.

  (* What a lemma claims. *)
  Definition lemma_true (l : lemma) : Prop := forall d sb sa vb va,
    matches d (snd (lemma_before l)) sb -> matches d (snd (lemma_after l)) sa ->
    (forall lit, In lit (lemma_literals l) -> literal_true d lit = true) ->
    exec before (fst (lemma_before l)) sb d = Value vb -> exec after (fst (lemma_after l)) sa d = Value va -> same_result mode vb va.

  Definition env_true (e : env) : Prop := forall n l, lookup (lemmas e) n = Some l -> lemma_true l.

  Lemma has_sound : forall have want t, has have want = true -> want = Some t -> have = Some t.
  Proof. intros [u |] want t H ->; cbn in H; [| discriminate]. apply same_term_eq in H. congruence. Qed.

  Lemma read_in : forall (m : list (N * option term)) w x, read m w = Some x -> In (w, x) m.
  Proof.
    induction m as [| [w' x'] m IH]; cbn; intros w x H; [discriminate |]. destruct (N.eqb_spec w' w); [left; congruence | right; auto].
  Qed.

  Lemma fits_sound : forall d whole claim p v, fits claim p = true -> skip p = 0 -> runs d whole p v ->
    exists s, matches d (snd claim) s /\ exec whole (fst claim) s d = Value v.
  Proof.
    unfold fits. intros d whole [n r] p v H Hz [Ht [s [[mA mX mM] He]]]. cbn [fst snd] in *. split_tests. subst n.
    rewrite Hz, Ht, N.add_0_r in He. exists s. split; auto. constructor; eauto using has_sound.
    intros w t E. apply mM. unfold stated in E. destruct (read (sM r) w) as [[u |] |] eqn:Er; try discriminate.
    injection E as ->. apply read_in in Er. rewrite forallb_forall in *.
    match goal with H : forall x, _ |- _ => eapply (has_sound _ _ _ (H _ Er)) end; reflexivity.
  Qed.

  Lemma applies_sound : forall d l b a f vb va, lemma_true l -> facts_hold d f -> applies l b a f = true ->
    skip b = 0 -> skip a = 0 -> runs d before b vb -> runs d after a va -> same_result mode vb va.
  Proof.
    unfold applies. intros d l b a f vb va Hl Hf H Hzb Hza Hb Ha. apply andb_prop in H as [H Hlits]. apply andb_prop in H as [Hfb Hfa].
    destruct (fits_sound _ _ _ _ _ Hfb Hzb Hb) as [sb [Hmb Heb]]. destruct (fits_sound _ _ _ _ _ Hfa Hza Ha) as [sa [Hma Hea]].
    eapply Hl; eauto. intros lit Hin. rewrite forallb_forall in Hlits. specialize (Hlits _ Hin).
    destruct (decide f lit) as [[] |] eqn:E; try discriminate. eapply decide_sound; eauto.
  Qed.

  Lemma check_cases_sound : forall e, env_true e -> forall c d f b a vb va,
    check_cases mode e c f b a = true -> (exists f', f = Some f' /\ facts_hold d f') -> runs d before b vb -> runs d after a va ->
    same_result mode vb va.
  Proof.
    intros e He. induction c as [nb na yes IHy no IHn | nb na v | n |]; intros d f b a vb va H [f' [-> Hf]] Hb Ha; cbn [check_cases] in H.
    all: destruct (advance (rest b) (pc b) (skip b) (regs b) f') as [[b' eb] |] eqn:Eb; [| discriminate].
    all: destruct (advance (rest a) (pc a) (skip a) (regs a) f') as [[a' ea] |] eqn:Ea; [| destruct eb; discriminate].
    all: destruct Hb as [Htb [sb [Hmb Hxb]]], Ha as [Hta [sa [Hma Hxa]]].
    all: destruct (advance_sound _ _ _ _ _ _ _ _ _ _ _ Hf Htb Hmb Hxb Eb) as [Hb [Hrb Hzb]].
    all: destruct (advance_sound _ _ _ _ _ _ _ _ _ _ _ Hf Hta Hma Hxa Ea) as [Ha [Hra Hza]].
    - (* test *)
      assert (Hl : exists l, check_cases mode e yes (learn f' l) b' a' = true /\ check_cases mode e no (learn f' (opposite l)) b' a' = true).
      { destruct eb as [l | tb]; [exists l; destruct ea | destruct ea as [l | ta]; [exists l | discriminate]];
          split_tests; split; assumption. }
      destruct Hl as [l [Hy Hn]]. destruct (literal_true d l) eqn:El.
      + eapply (IHy d); eauto using learn_sound.
      + eapply (IHn d); eauto. apply learn_sound; auto. rewrite opposite_sound, El. reflexivity.
    - (* ret *)
      destruct eb, ea; try discriminate. apply andb_prop in H as [_ H]. rewrite (Hrb _ eq_refl), (Hra _ eq_refl). apply same_value_sound, H.
    - (* use *)
      assert (Hl : exists l, lookup (lemmas e) n = Some l /\ applies l b' a' f' = true).
      { destruct eb, ea; try discriminate; destruct (lookup (lemmas e) n) as [lem |]; try discriminate; eauto. }
      destruct Hl as [l [Hl Happ]]. eapply applies_sound; [eapply He; exact Hl | exact Hf | exact Happ | | | |]; auto.
    - destruct eb, ea; discriminate.
  Qed.

  (* ---- Items ------------------------------------------------------------------------------------------------- *)

  Lemma lookup_add : forall T (m : PositiveMap.t T) n x i y, lookup (PositiveMap.add (N.succ_pos n) x m) i = Some y -> y = x \/ lookup m i = Some y.
  Proof.
    unfold lookup. intros T m n x i y H. destruct (Pos.eq_dec (N.succ_pos i) (N.succ_pos n)) as [E | E];
      [rewrite E, PositiveMap.gss in H; left; congruence | rewrite PositiveMap.gso in H; auto].
  Qed.

  Lemma claim_literals_sound : forall e d l f lits f', claim_literals e l f = Some (lits, f') -> facts_hold d f ->
    (forall lit, In lit lits -> literal_true d lit = true) -> facts_hold d f'.
  Proof.
    induction l as [| c l IH]; cbn [claim_literals]; intros f lits f' H Hf Hl; [injection H as _ <-; exact Hf |].
    destruct (claim_to_literal e c) as [lit |]; [| discriminate]. destruct (learn f lit) as [f1 |] eqn:E; [| discriminate].
    destruct (claim_literals e l f1) as [[lits1 f2] |] eqn:E1; [| discriminate]. injection H as <- <-.
    destruct (learn_sound d f lit Hf) as [g [Eg Hg]]; [apply Hl; left; reflexivity |].
    rewrite E in Eg. injection Eg as <-. eapply IH; eauto. intros x Hx. apply Hl. right. exact Hx.
  Qed.

  Lemma check_item_sound : forall e i e', env_true e -> check_item mode before after e i = Some e' -> env_true e'.
  Proof.
    intros e [op a b | b a literals proof] e' He H; cbn [check_item] in H.
    - destruct (compute_option op _ _); [| discriminate]. injection H as <-. exact He.
    - destruct (claim_registers e b) as [rb |]; [| discriminate]. destruct (claim_registers e a) as [ra |]; [| discriminate].
      destruct (claim_literals e literals []) as [[lits f] |] eqn:El; [| discriminate].
      destruct (check_cases _ _ _ _ _ _) eqn:Ec; [| discriminate]. injection H as <-. intros n l Hl. cbn [add_lemma lemmas] in Hl.
      apply lookup_add in Hl as [-> | Hl]; [| eapply He; exact Hl]. intros d sb sa vb va Hmb Hma Hlits Hxb Hxa.
      cbn [lemma_before lemma_after lemma_literals fst snd] in *. eapply (check_cases_sound e He _ d); [exact Ec | | |].
      + exists f. split; auto. eapply claim_literals_sound; [exact El | intros t kn [] | exact Hlits].
      + split; [apply tail_start | exists sb; auto].
      + split; [apply tail_start | exists sa; auto].
  Qed.

  Lemma check_items_sound : forall l e e', env_true e -> check_items mode before after e l = Some e' -> env_true e'.
  Proof.
    induction l as [| i l IH]; cbn [check_items]; intros e e' He H; [injection H as <-; exact He |].
    destruct (check_item mode before after e i) as [e1 |] eqn:E; [eauto using check_item_sound | discriminate].
  Qed.
End Programs.

(* ---- The theorems -------------------------------------------------------------------------------------------- *)

Lemma symbolic_start_matches : forall d, matches d symbolic_start start.
Proof. intros d. constructor; cbn; try (intros t [= <-]; reflexivity). intros w t H. discriminate. Qed.

Lemma check_sound : forall mode c p q, check mode c p q = true ->
  forall d, exists vp vq, run p d = Value vp /\ run q d = Value vq /\ same_result mode vp vq.
Proof.
  unfold check. intros mode c p q H d. apply andb_prop in H as [H Hc]. apply andb_prop in H as [Hp Hq].
  destruct (legal_returns p Hp d) as [vp Ep], (legal_returns q Hq d) as [vq Eq]. exists vp, vq. repeat split; [exact Ep | exact Eq |].
  unfold run in Ep, Eq. destruct (decode_all p) as [is |], (decode_all q) as [js |]; try discriminate.
  destruct (check_items mode is js nothing_defined (items c)) as [e |] eqn:Ei; [| discriminate].
  eapply check_cases_sound; [| exact Hc | exists []; split; [reflexivity | intros t kn []] | |];
    [| split; [apply tail_start | exists start; split; [apply symbolic_start_matches | first [exact Ep | exact Eq]]] ..].
  eapply check_items_sound; [| exact Ei]. intros n l Hl. unfold lookup in Hl. cbn in Hl. rewrite PositiveMap.gempty in Hl. discriminate.
Qed.

(* The programs return the same 32 bits for every input. *)
Theorem check_raw : forall c p q, check Raw c p q = true -> forall d, run p d = run q d.
Proof. intros c p q H d. destruct (check_sound Raw c p q H d) as [vp [vq [-> [-> E]]]]. cbn in E. congruence. Qed.

(* A process cannot observe a difference between the programs. *)
Theorem check_behaviour : forall c p q, check Behaviour c p q = true -> forall d, behaviour (run p d) = behaviour (run q d).
Proof. intros c p q H d. destruct (check_sound Behaviour c p q H d) as [vp [vq [-> [-> E]]]]. cbn in *. congruence. Qed.

(* In both cases, every input gets a value. *)
Theorem check_returns : forall mode c p q, check mode c p q = true -> forall d, exists vp vq, run p d = Value vp /\ run q d = Value vq.
Proof. intros mode c p q H d. destruct (check_sound mode c p q H d) as [vp [vq [Ep [Eq _]]]]. eauto. Qed.

(* Filters of a stack can be replaced one by one. This does not hold for `behaviour`: an action that the kernel does not know kills the
   process as SECCOMP_RET_KILL_PROCESS does, but other filters' actions take precedence over it. *)
Theorem check_stack : forall ps qs, Forall2 (fun p q => exists c, check Raw c p q = true) ps qs -> forall d, run_stack ps d = run_stack qs d.
Proof.
  intros ps qs H d. unfold run_stack. generalize 0x7fff0000. induction H as [| p q ps qs [c Hc] _ IH]; intros best; cbn [run_stack_from]; [reflexivity |].
  rewrite (check_raw c p q Hc d). destruct (run q d); auto.
Qed.
