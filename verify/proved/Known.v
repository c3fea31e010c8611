(* What is known about one 32-bit word: bounds, known bits, and values that it does not have. `holds kn v` states that the
   knowledge is true for the word v, and each function comes with a proof that it preserves this. scripts/check_certificate
   calls the same thing Known. *)

Require Import NArith List Bool Lia MSets.MSetPositive.
From Proved Require Import Filter.
Import ListNotations.
Open Scope N_scope.

(* ---- Bits ---------------------------------------------------------------------------------------------------- *)

(* Proves equations between bitwise expressions from such equations: it compares bit by bit. *)
Ltac bit_of n :=
  repeat match goal with
  | H : ?a = ?b :> N |- _ =>
      let H' := fresh in assert (H' := f_equal (fun x => N.testbit x n) H); cbv beta in H'; revert H'; clear H
  end;
  repeat rewrite ?N.land_spec, ?N.ldiff_spec, ?N.lor_spec, ?N.lxor_spec, ?N.bits_0;
  repeat match goal with |- context [N.testbit ?x n] => destruct (N.testbit x n) end;
  cbn; try congruence; try tauto.
Ltac bitwise := apply N.bits_inj; let n := fresh "n" in intros n; bit_of n.

(* Splits the tests in the hypotheses, and replaces tests by what they state. *)
Ltac split_tests :=
  repeat match goal with
  | H : _ && _ = true |- _ => apply andb_prop in H; destruct H
  | H : (_ =? _) = true |- _ => apply N.eqb_eq in H
  | H : (_ =? _) = false |- _ => apply N.eqb_neq in H
  end.

Definition word (v : N) : Prop := N.land v all_bits = v.

Lemma all_bits_ones : all_bits = N.ones 32. Proof. reflexivity. Qed.

Lemma u32_word : forall v, word (u32 v). Proof. unfold word, u32. intros. rewrite <- N.land_assoc, N.land_diag. reflexivity. Qed.

Lemma word_u32 : forall v, word v -> u32 v = v. Proof. auto. Qed.

Lemma word_lt : forall v, word v <-> v < 0x100000000.
Proof.
  unfold word. intros v. rewrite all_bits_ones, N.land_ones. change (2 ^ 32) with 0x100000000.
  split; intros H; [rewrite <- H; apply N.mod_lt; discriminate | apply N.mod_small; auto].
Qed.

Lemma word_le : forall v, word v -> v <= all_bits. Proof. intros v H. apply word_lt in H. unfold all_bits. lia. Qed.

Lemma part_le : forall a b, N.ldiff a b = 0 -> a <= b. Proof. intros. apply N.ldiff_le. auto. Qed.

(* ---- Knowledge ----------------------------------------------------------------------------------------------- *)

Record known := {
  low : N; high : N;         (* bounds *)
  fixed : N; bits : N;       (* the bits that are known, and their values *)
  except : PositiveSet.t;    (* values that the word does not have (each plus 1) *)
  except_count : nat;        (* at least the size of `except`; only bounds a loop *)
  masked : list (N * N)      (* pairs (mask, value): word & mask is not value *)
}.

Definition nothing_known : known := {| low := 0; high := all_bits; fixed := 0; bits := 0; except := PositiveSet.empty; except_count := 0; masked := [] |}.

Definition is_exception (kn : known) (v : N) : bool := PositiveSet.mem (N.succ_pos v) (except kn).

Record holds (kn : known) (v : N) : Prop := {
  h_low : low kn <= v;
  h_high : v <= high kn;
  h_bits : N.land v (fixed kn) = bits kn;
  h_except : is_exception kn v = false;
  h_masked : forall mask e, In (mask, e) (masked kn) -> N.land v mask <> e
}.

Lemma nothing_holds : forall v, word v -> holds nothing_known v.
Proof.
  intros v H. constructor; cbn [nothing_known low high fixed bits masked]; [lia | apply word_le, H | apply N.land_0_r | | intros mask e []].
  unfold is_exception. cbn. destruct (N.succ_pos v); reflexivity.
Qed.

(* Whether an excluded value, under a mask that is part of `mask`, rules out `word & mask = value`. *)
Definition is_excluded (kn : known) (mask value : N) : bool :=
  ((N.ldiff all_bits mask =? 0) && is_exception kn value)
  || existsb (fun pair => (N.ldiff (fst pair) mask =? 0) && (N.land value (fst pair) =? snd pair)) (masked kn).

Lemma is_excluded_sound : forall kn v mask value, word v -> holds kn v -> is_excluded kn mask value = true -> N.land v mask <> value.
Proof.
  unfold is_excluded. intros kn v mask value Hw H E Hv. apply orb_prop in E as [E | E].
  - apply andb_prop in E as [Hm E]. apply N.eqb_eq in Hm. assert (value = v) by (subst value; unfold word in Hw; bitwise). subst value.
    rewrite H0 in E. rewrite (h_except _ _ H) in E. discriminate.
  - apply existsb_exists in E as [[part e] [Hin E]]. cbn in E. apply andb_prop in E as [Hm E]. apply N.eqb_eq in Hm, E.
    apply (h_masked _ _ H _ _ Hin). clear H Hin Hw. bitwise.
Qed.

(* ---- Conclusions --------------------------------------------------------------------------------------------- *)

Definition with_bounds (kn : known) (l h : N) : known :=
  {| low := l; high := h; fixed := fixed kn; bits := bits kn; except := except kn; except_count := except_count kn; masked := masked kn |}.
Definition with_bits (kn : known) (f b : N) : known :=
  {| low := low kn; high := high kn; fixed := f; bits := b; except := except kn; except_count := except_count kn; masked := masked kn |}.

Lemma with_bounds_sound : forall kn l h v, holds kn v -> l <= v -> v <= h -> holds (with_bounds kn l h) v.
Proof. intros kn l h v [] ? ?. constructor; auto. Qed.

Lemma with_bits_sound : forall kn f b v, holds kn v -> N.land v f = b -> holds (with_bits kn f b) v.
Proof. intros kn f b v [] ?. constructor; auto. Qed.

(* Moves a bound that is an exception to the next value that is not. *)
Fixpoint raise_low (fuel : nat) (kn : known) (l h : N) : N :=
  match fuel with
  | O => l
  | S fuel => if (l <=? h) && is_exception kn l then raise_low fuel kn (N.succ l) h else l
  end.

Fixpoint lower_high (fuel : nat) (kn : known) (l h : N) : N :=
  match fuel with
  | O => h
  | S fuel => if (l <=? h) && is_exception kn h then lower_high fuel kn l (N.pred h) else h
  end.

Lemma raise_sound : forall fuel kn l h v, holds kn v -> l <= v -> raise_low fuel kn l h <= v.
Proof.
  induction fuel as [| fuel IH]; cbn; intros kn l h v H Hl; auto. destruct ((l <=? h) && is_exception kn l) eqn:E; auto.
  apply andb_prop in E as [_ E]. apply IH; auto. assert (l <> v) by (intros ->; rewrite (h_except _ _ H) in E; discriminate). lia.
Qed.

Lemma lower_sound : forall fuel kn l h v, holds kn v -> v <= h -> v <= lower_high fuel kn l h.
Proof.
  induction fuel as [| fuel IH]; cbn; intros kn l h v H Hh; auto. destruct ((l <=? h) && is_exception kn h) eqn:E; auto.
  apply andb_prop in E as [_ E]. apply IH; auto. assert (h <> v) by (intros ->; rewrite (h_except _ _ H) in E; discriminate). lia.
Qed.

Definition tighten_bounds (kn : known) : known :=
  let l := N.max (low kn) (bits kn) in
  let h := N.min (high kn) (N.lor (bits kn) (N.ldiff all_bits (fixed kn))) in
  let l := raise_low (S (except_count kn)) kn l h in
  with_bounds kn l (lower_high (S (except_count kn)) kn l h).

Lemma tighten_bounds_sound : forall kn v, word v -> holds kn v -> holds (tighten_bounds kn) v.
Proof.
  unfold tighten_bounds. intros kn v Hw H. pose proof (h_bits _ _ H) as Hb. unfold word in Hw. apply with_bounds_sound; auto.
  - apply raise_sound; auto. apply N.max_lub; [apply H |]. apply part_le. bitwise.
  - apply lower_sound; auto. apply N.min_glb; [apply H |]. apply part_le. bitwise.
Qed.

(* Records that word & mask is value. *)
Definition merge_bits (kn : known) (mask value : N) : option known :=
  if N.land (N.land (N.lxor (bits kn) value) (fixed kn)) mask =? 0
  then Some (with_bits kn (N.lor (fixed kn) mask) (N.lor (bits kn) value)) else None.

Lemma merge_bits_sound : forall kn v mask value, holds kn v -> N.land v mask = value ->
  exists kn', merge_bits kn mask value = Some kn' /\ holds kn' v.
Proof.
  unfold merge_bits. intros kn v mask value H Hv. pose proof (h_bits _ _ H) as Hb.
  assert (E : N.land (N.land (N.lxor (bits kn) value) (fixed kn)) mask = 0) by bitwise.
  rewrite E. cbn. eexists. split; [reflexivity |]. apply with_bits_sound; auto. bitwise.
Qed.

(* The leading bits in which both bounds agree are known. *)
Definition bits_from_bounds (kn : known) : option known :=
  if high kn <? low kn then None
  else let shared := N.ldiff all_bits (N.ones (N.size (N.lxor (low kn) (high kn)))) in
       merge_bits kn shared (N.land (low kn) shared).

Lemma shared_prefix : forall l h v, l <= v -> v <= h -> let n := N.size (N.lxor l h) in N.shiftr v n = N.shiftr l n.
Proof.
  intros l h v Hl Hh n. assert (E : N.shiftr l n = N.shiftr h n).
  { apply N.lxor_eq. rewrite <- N.shiftr_lxor. rewrite N.shiftr_div_pow2. apply N.div_small. apply N.size_gt. }
  assert (N.shiftr l n <= N.shiftr v n <= N.shiftr h n).
  { rewrite !N.shiftr_div_pow2. split; apply N.div_le_mono; auto; apply N.pow_nonzero; discriminate. }
  lia.
Qed.

Lemma bits_from_bounds_sound : forall kn v, holds kn v -> exists kn', bits_from_bounds kn = Some kn' /\ holds kn' v.
Proof.
  unfold bits_from_bounds. intros kn v H. pose proof (h_low _ _ H) as Hl. pose proof (h_high _ _ H) as Hh.
  destruct (high kn <? low kn) eqn:E; [apply N.ltb_lt in E; lia |]. apply merge_bits_sound; auto.
  pose proof (shared_prefix _ _ _ Hl Hh) as Hs. cbv zeta in Hs. set (n := N.size (N.lxor (low kn) (high kn))) in *. apply N.bits_inj.
  intros b. rewrite !N.land_spec, !N.ldiff_spec. destruct (N.lt_ge_cases b n) as [Hb | Hb].
  - rewrite N.ones_spec_low by auto. cbn. rewrite !andb_false_r. reflexivity.
  - assert (N.testbit v b = N.testbit (low kn) b) as ->; auto. replace b with ((b - n) + n) by lia.
    rewrite <- !N.shiftr_spec by apply N.le_0_l. rewrite Hs. reflexivity.
Qed.

(* If the known bits agree with an excluded value in all bits of its mask but one, this bit differs. *)
Fixpoint bits_from_masked (l : list (N * N)) (f b : N) : option (N * N) :=
  match l with
  | [] => Some (f, b)
  | (mask, e) :: l =>
      if negb (N.land (N.land (N.lxor b e) f) mask =? 0) || negb (N.ldiff e mask =? 0) then bits_from_masked l f b
      else let rest := N.ldiff mask f in
           if rest =? 0 then None
           else if rest =? N.shiftl 1 (N.log2 rest) then bits_from_masked l (N.lor f rest) (N.lor b (N.ldiff rest e))
           else bits_from_masked l f b
  end.

Lemma single_bit : forall v n, N.land v (N.shiftl 1 n) = if N.testbit v n then N.shiftl 1 n else 0.
Proof.
  intros v n. apply N.bits_inj. intros b. rewrite N.land_spec, N.shiftl_1_l, N.pow2_bits_eqb. destruct (N.eqb_spec n b) as [-> |].
  - destruct (N.testbit v b) eqn:E; [rewrite N.pow2_bits_true | rewrite N.bits_0]; reflexivity.
  - rewrite andb_false_r. destruct (N.testbit v n); [rewrite N.pow2_bits_false by auto | rewrite N.bits_0]; reflexivity.
Qed.

Lemma bits_from_masked_sound : forall l f b v, N.land v f = b -> (forall mask e, In (mask, e) l -> N.land v mask <> e) ->
  exists f' b', bits_from_masked l f b = Some (f', b') /\ N.land v f' = b'.
Proof.
  induction l as [| [mask e] l IH]; cbn [bits_from_masked]; intros f b v Hb He; [eauto |].
  assert (Hmore : forall m x, In (m, x) l -> N.land v m <> x) by (intros; apply He; right; auto).
  assert (Hdiff : N.land v mask <> e) by (apply He; left; auto). clear He.
  destruct (N.land (N.land (N.lxor b e) f) mask =? 0) eqn:E; cbn [negb orb]; [| apply IH; auto].
  destruct (N.ldiff e mask =? 0) eqn:Ee; cbn [negb]; [| apply IH; auto]. set (rest := N.ldiff mask f) in *.
  destruct (rest =? 0) eqn:E0; [exfalso; unfold rest in *; split_tests; apply Hdiff; clear Hdiff Hmore IH; bitwise |].
  destruct (rest =? N.shiftl 1 (N.log2 rest)) eqn:E1; [| apply IH; auto]. apply IH; auto. split_tests. clear IH Hmore E0.
  pose proof (single_bit v (N.log2 rest)) as Hv. pose proof (single_bit e (N.log2 rest)) as Hx. rewrite <- E1 in Hv, Hx. clear E1.
  unfold rest in *. destruct (N.testbit v _), (N.testbit e _);
    first [clear Hdiff; bitwise; fail | exfalso; apply Hdiff; clear Hdiff; bitwise].
Qed.

(* If at most six bits are not known, all values that remain are tried. *)
Fixpoint positions (count : nat) : list N := match count with O => [] | S n => N.of_nat n :: positions n end.
Definition open_bits (f : N) : list N := filter (fun i => negb (N.testbit f i)) (positions 32).

Fixpoint values (open : list N) (base : N) : list N :=
  match open with
  | [] => [base]
  | i :: open => let rest := values open base in rest ++ map (fun v => N.setbit v i) rest
  end.

Definition few_values (kn : known) : option known :=
  let open := open_bits (fixed kn) in
  if 6 <? N.of_nat (length open) then Some kn
  else match filter (fun v => (low kn <=? v) && (v <=? high kn) && negb (is_excluded kn all_bits v)) (values open (bits kn)) with
       | [] => None
       | v :: rest => Some (with_bounds kn (fold_left N.min rest v) (fold_left N.max rest v))
       end.

(* Every word that has the bits of `base`, and otherwise only open bits, is in the list. *)
Lemma values_complete : forall open base v,
  (forall i, N.testbit v i = true -> N.testbit base i = true \/ In i open) ->
  (forall i, N.testbit base i = true -> N.testbit v i = true) -> In v (values open base).
Proof.
  induction open as [| i open IH]; cbn [values]; intros base v Hv Hbase.
  - left. apply N.bits_inj. intros n. specialize (Hv n). specialize (Hbase n).
    destruct (N.testbit base n) eqn:E, (N.testbit v n) eqn:E'; auto; [symmetry; auto | destruct (Hv eq_refl); [auto | contradiction]].
  - apply in_or_app. destruct (N.testbit v i) eqn:E; [destruct (N.testbit base i) eqn:Eb |].
    + left. apply IH; auto. intros j Hj. destruct (Hv j Hj) as [| [<- |]]; auto.
    + right. apply in_map_iff. exists (N.clearbit v i). split.
      * apply N.bits_inj. intros n. rewrite N.setbit_eqb, N.clearbit_eqb. destruct (N.eqb_spec i n) as [<- |]; cbn; auto.
        rewrite andb_true_r. reflexivity.
      * apply IH.
        -- intros j Hj. rewrite N.clearbit_eqb in Hj. apply andb_prop in Hj as [Hj Hn]. destruct (N.eqb_spec i j); [discriminate |].
           destruct (Hv j Hj) as [| [|]]; auto.
        -- intros j Hj. rewrite N.clearbit_eqb. rewrite (Hbase j Hj). destruct (N.eqb_spec i j) as [<- |]; auto. congruence.
    + left. apply IH; auto. intros j Hj. destruct (Hv j Hj) as [| [<- |]]; auto. congruence.
Qed.

Lemma positions_complete : forall n i, i < N.of_nat n -> In i (positions n).
Proof.
  induction n as [| n IH]; intros i H; [lia |]. cbn [positions].
  destruct (N.eq_dec i (N.of_nat n)) as [-> |]; [left; auto | right; apply IH; lia].
Qed.

Lemma fold_bounds : forall l a b, (fold_left N.min l a <= a /\ b <= fold_left N.max l b) /\
  forall x, In x l -> fold_left N.min l a <= x <= fold_left N.max l b.
Proof.
  induction l as [| y l IH]; cbn; intros a b; [split; [lia | tauto] |]. destruct (IH (N.min a y) (N.max b y)) as [H1 H2].
  split; [lia |]. intros x [<- | Hx]; [lia | auto].
Qed.

Lemma few_values_sound : forall kn v, word v -> holds kn v -> exists kn', few_values kn = Some kn' /\ holds kn' v.
Proof.
  unfold few_values. intros kn v Hw H. destruct (6 <? _); [eauto |].
  assert (Hin : In v (filter (fun v => (low kn <=? v) && (v <=? high kn) && negb (is_excluded kn all_bits v)) (values (open_bits (fixed kn)) (bits kn)))).
  { apply filter_In. split.
    - pose proof (h_bits _ _ H) as Hb. apply values_complete.
      + intros i Hi. destruct (N.testbit (bits kn) i) eqn:E; auto. right. unfold open_bits. apply filter_In. split.
        * apply positions_complete. destruct (N.lt_ge_cases i 32) as [| Hge]; auto.
          exfalso. rewrite <- Hw, N.land_spec, all_bits_ones, N.ones_spec_high, andb_false_r in Hi by auto. discriminate.
        * rewrite <- Hb, N.land_spec, Hi in E. cbn in E. rewrite E. reflexivity.
      + intros i Hi. rewrite <- Hb, N.land_spec in Hi. apply andb_prop in Hi. tauto.
    - rewrite (proj2 (N.leb_le _ _) (h_low _ _ H)), (proj2 (N.leb_le _ _) (h_high _ _ H)). cbn.
      destruct (is_excluded kn all_bits v) eqn:E; auto. exfalso. eapply is_excluded_sound; eauto. }
  destruct (filter _ _) as [| x rest]; [contradiction |]. eexists. split; [reflexivity |].
  destruct (fold_bounds rest x x) as [[Hmin Hmax] Hrest]. apply with_bounds_sound; auto;
    destruct Hin as [<- | Hin]; auto; apply (Hrest _ Hin).
Qed.

(* Repeats the steps until they add nothing; `None` means a contradiction. The limit of rounds is no part of the proof. *)
Definition one_round (kn : known) : option known :=
  match bits_from_bounds (tighten_bounds kn) with
  | None => None
  | Some kn =>
      match bits_from_masked (masked kn) (fixed kn) (bits kn) with
      | None => None
      | Some (f, b) => few_values (with_bits kn f b)
      end
  end.

Definition same_state (a b : known) : bool :=
  (low a =? low b) && (high a =? high b) && (fixed a =? fixed b) && (bits a =? bits b).

Fixpoint conclude (rounds : nat) (kn : known) : option known :=
  match rounds with
  | O => Some kn
  | S rounds =>
      match one_round kn with
      | None => None
      | Some kn' => if same_state kn kn' then Some kn' else conclude rounds kn'
      end
  end.

Lemma one_round_sound : forall kn v, word v -> holds kn v -> exists kn', one_round kn = Some kn' /\ holds kn' v.
Proof.
  unfold one_round. intros kn v Hw H. pose proof (tighten_bounds_sound _ _ Hw H) as H1.
  destruct (bits_from_bounds_sound _ _ H1) as [k2 [-> H2]].
  destruct (bits_from_masked_sound (masked k2) _ _ v (h_bits _ _ H2) (h_masked _ _ H2)) as [f [b [-> Hb]]].
  apply few_values_sound; auto. apply with_bits_sound; auto.
Qed.

Lemma conclude_sound : forall rounds kn v, word v -> holds kn v -> exists kn', conclude rounds kn = Some kn' /\ holds kn' v.
Proof.
  induction rounds as [| rounds IH]; cbn [conclude]; intros kn v Hw H; [eauto |].
  destruct (one_round_sound _ _ Hw H) as [k1 [-> H1]]. destruct (same_state kn k1); eauto.
Qed.

(* ---- Learning and deciding ----------------------------------------------------------------------------------- *)

(* A test of a word: word & mask = value, or word >= value. *)
Inductive word_test := Equals (mask value : N) | AtLeast (value : N).

Definition passes (t : word_test) (v : N) : bool :=
  match t with Equals mask value => N.land v mask =? value | AtLeast value => value <=? v end.

Definition with_exception (kn : known) (mask value : N) : known :=
  if mask =? all_bits then
    {| low := low kn; high := high kn; fixed := fixed kn; bits := bits kn;
       except := PositiveSet.add (N.succ_pos value) (except kn); except_count := S (except_count kn); masked := masked kn |}
  else
    {| low := low kn; high := high kn; fixed := fixed kn; bits := bits kn;
       except := except kn; except_count := except_count kn; masked := (mask, value) :: masked kn |}.

(* Adds that the test has the outcome `outcome`. *)
Definition learn_test (kn : known) (t : word_test) (outcome : bool) : option known :=
  let kn' := match t, outcome with
             | AtLeast v, true => Some (with_bounds kn (N.max (low kn) v) (high kn))
             | AtLeast v, false => Some (with_bounds kn (low kn) (N.min (high kn) (N.pred v)))
             | Equals mask v, true => merge_bits kn mask v
             | Equals mask v, false => Some (with_exception kn mask v)
             end in
  match kn' with Some kn' => conclude 100 kn' | None => None end.

Lemma succ_pos_inj : forall a b, N.succ_pos a = N.succ_pos b -> a = b.
Proof. intros a b H. apply N.succ_inj. rewrite <- !N.succ_pos_spec. congruence. Qed.

Lemma learn_test_sound : forall kn t v, word v -> holds kn v -> exists kn', learn_test kn t (passes t v) = Some kn' /\ holds kn' v.
Proof.
  unfold learn_test. intros kn [mask value | value] v Hw H; cbn [passes].
  - destruct (N.eqb_spec (N.land v mask) value) as [E | E];
      [destruct (merge_bits_sound _ _ _ _ H E) as [k1 [-> H1]]; apply conclude_sound; auto |].
    apply conclude_sound; auto. unfold with_exception. destruct (N.eqb_spec mask all_bits) as [-> | Em]; destruct H; constructor; auto.
    + rewrite Hw in E. unfold is_exception in *. cbn [except]. destruct (PositiveSet.mem _ (PositiveSet.add _ _)) eqn:Hm; auto.
      apply PositiveSet.mem_spec, PositiveSet.add_spec in Hm as [Hm | Hm]; [apply succ_pos_inj in Hm | apply PositiveSet.mem_spec in Hm];
        congruence.
    + cbn [masked]. intros m x [Heq | Hin]; [congruence | eauto].
  - pose proof (h_low _ _ H). pose proof (h_high _ _ H). destruct (N.leb_spec value v); apply conclude_sound; auto;
      apply with_bounds_sound; auto; lia.
Qed.

(* The outcome of a test if it follows from what is known. *)
Definition decide_test (kn : known) (t : word_test) : option bool :=
  match t with
  | AtLeast value => if value <=? low kn then Some true else if high kn <? value then Some false else None
  | Equals mask value =>
      if negb (N.land (N.land (N.lxor (bits kn) value) (fixed kn)) mask =? 0) then Some false
      else if (mask =? all_bits) && negb ((low kn <=? value) && (value <=? high kn)) then Some false
      else if is_excluded kn mask value then Some false
      else if (N.ldiff mask (fixed kn) =? 0) && (N.land (bits kn) mask =? value) then Some true
      else None
  end.

Lemma decide_test_sound : forall kn t v b, word v -> holds kn v -> decide_test kn t = Some b -> passes t v = b.
Proof.
  unfold decide_test. intros kn [mask value | value] v b Hw [Hl Hh Hb He Hm] E; cbn [passes];
    pose proof (Build_holds kn v Hl Hh Hb He Hm) as H.
  - destruct (N.land (N.land (N.lxor (bits kn) value) (fixed kn)) mask =? 0) eqn:E1; cbn [negb] in E.
    2: { injection E as <-. split_tests. apply N.eqb_neq. intros Hv. apply E1. clear E1 H. bitwise. }
    destruct ((mask =? all_bits) && negb ((low kn <=? value) && (value <=? high kn))) eqn:E2.
    { injection E as <-. apply andb_prop in E2 as [Em E2]. apply N.eqb_eq in Em. subst mask. rewrite Hw. apply N.eqb_neq.
      intros <-. rewrite (proj2 (N.leb_le _ _) Hl), (proj2 (N.leb_le _ _) Hh) in E2. discriminate. }
    destruct (is_excluded kn mask value) eqn:E3; [injection E as <-; apply N.eqb_neq; eapply is_excluded_sound; eauto |].
    destruct ((N.ldiff mask (fixed kn) =? 0) && (N.land (bits kn) mask =? value)) eqn:E4; [injection E as <- | discriminate].
    split_tests. apply N.eqb_eq. clear H. bitwise.
  - destruct (N.leb_spec value (low kn)); [injection E as <-; apply N.leb_le; lia |].
    destruct (N.ltb_spec (high kn) value); [injection E as <-; apply N.leb_gt; lia | discriminate].
Qed.
