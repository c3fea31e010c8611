(* The clauses that claim that two programs return different values (`formula` and `clauses` of scripts/check_cnf_certificate), and the
   theorems: if no assignment satisfies them, the programs return the same. *)

Require Import NArith ZArith List Bool Lia FMapPositive MSets.MSetPositive.
From Proved Require Import Filter Gates Words Lrat Encode.
From Proved Require Import Check(sameness(..)).
Import ListNotations.
Open Scope N_scope.

(* ---- The clauses --------------------------------------------------------------------------------------------- *)

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
          | Encoded (after, g) => let (different, g) := any_difference before after g in Some (clauses_of different g)
          | Unsupported _ => None
          end
      | Unsupported _ => None
      end
  | _, _ => None
  end.

(* The claim, and the first line of the proof with a problem. Programs of any length are accepted. *)
Definition judge (mode : sameness) (p q : program) (lines : list line) : option (list clause * positive * option (N * problem)) :=
  if legal p && legal q then
    match formula mode p q with Some (clauses, variables) => Some (clauses, variables, refute clauses lines) | None => None end
  else None.

(* Whether the lines refute the claim. *)
Definition check_cnf (mode : sameness) (p q : program) (lines : list line) : bool :=
  match judge mode p q lines with Some (_, None) => true | _ => false end.

(* ---- The clauses are right ----------------------------------------------------------------------------------- *)

(* The numbers are different, and the model `after` gives a variable's number the value that `before` gives to the variable. *)
Definition renames (before after : model) (numbers : PositiveMap.t positive) (next : positive) : Prop :=
  (forall v, (v < FIRST_GATE)%positive -> after v = before v) /\
  forall v w, PositiveMap.find v numbers = Some w -> (FIRST_GATE <= w < next)%positive /\ after w = before v.

Lemma renumber_right : forall before l next numbers, (FIRST_GATE <= next)%positive -> (exists after, renames before after numbers next) ->
  exists after, renames before after (fst (renumber l next numbers)) (snd (renumber l next numbers)).
Proof.
  induction l as [| [v f] l IH]; cbn [renumber]; intros next numbers Hn H; [exact H |].
  apply IH; [lia |]. destruct H as [after [Hi Ha]]. exists (fun w => if (w =? next)%positive then before v else after w). split.
  - intros u Hu. destruct (Pos.eqb_spec u next); [lia | auto].
  - intros u w E. destruct (Pos.eq_dec u v) as [-> | Hu].
    + rewrite PositiveMap.gss in E. injection E as <-. rewrite Pos.eqb_refl. split; [lia | reflexivity].
    + rewrite PositiveMap.gso in E by exact Hu. destruct (Ha u w E) as [Hw <-]. split; [lia |].
      destruct (Pos.eqb_spec w next); [lia | reflexivity].
Qed.

(* A true literal stays true, therefore a clause that is satisfied stays satisfied. *)
Lemma renamed_clause : forall before after numbers next c, renames before after numbers next -> before 1%positive = true ->
  satisfies before c = true -> satisfies after (map (renamed numbers) c) = true.
Proof.
  unfold satisfies. intros before after numbers next c [Hi Ha] H1 H. apply existsb_exists in H. destruct H as [l [Hin H]].
  apply existsb_exists. exists (renamed numbers l). split; [apply in_map, Hin |]. unfold renamed.
  destruct (Pos.ltb_spec (variable l) FIRST_GATE) as [Hl | Hl]; [destruct l; cbn in *; try rewrite Hi; auto |].
  destruct (PositiveMap.find (variable l) numbers) as [w |] eqn:E; [| cbn; rewrite Hi; auto; reflexivity].
  destruct (Ha _ _ E) as [_ Hw]. destruct l; cbn in *; [discriminate | |]; rewrite Hw; exact H.
Qed.

(* The value of a gate satisfies its clauses. *)
Lemma gate_clauses_right : forall m v f, m v = gate_value m f -> Forall (fun l => l <> 0%Z) (inputs f) ->
  forall c, In c (gate_clauses (Zpos v) f) -> satisfies m c = true.
Proof.
  intros m v f Hv Hf c Hc. assert (Hneg : forall l, l <> 0%Z -> value m (- l) = negb (value m l)).
  { intros [| u | u] Hu; cbn; [congruence | reflexivity |]. rewrite negb_involutive. reflexivity. }
  destruct f as [a b | a b | x a b]; cbn [gate_clauses inputs gate_value] in *;
    repeat match goal with H : Forall _ (_ :: _) |- _ => inversion_clear H end;
    repeat destruct Hc as [<- | Hc]; try contradiction; cbn [satisfies existsb]; rewrite !Hneg by (auto; discriminate);
    cbn [value]; rewrite Hv; destruct (value m a), (value m b); try destruct (value m x); reflexivity.
Qed.

Lemma needed_in : forall made wanted found vf, In vf (needed made wanted found) -> In vf made \/ In vf found.
Proof.
  induction made as [| [v f] made IH]; cbn [needed]; intros wanted found vf H; auto.
  destruct (PositiveSet.mem v wanted); destruct (IH _ _ _ H) as [Hm | Hf]; cbn in *; tauto.
Qed.

Lemma gates_clauses_in : forall numbers l out c, In c (gates_clauses numbers l out) ->
  In c out \/ exists v f c', In (v, f) l /\ In c' (gate_clauses (Zpos v) f) /\ c = map (renamed numbers) c'.
Proof.
  induction l as [| [v f] l IH]; cbn [gates_clauses]; intros out c H; auto.
  destruct (IH _ _ H) as [Ho | (v' & f' & c' & H1 & H2 & H3)]; [| right; exists v', f', c'; cbn; auto].
  rewrite rev_append_rev in Ho. apply in_app_or in Ho. destruct Ho as [Ho | Ho]; auto.
  apply in_rev, in_map_iff in Ho. destruct Ho as (c' & <- & Hc). right. exists v, f, c'. cbn. auto.
Qed.

Lemma numbered_inputs : forall l v, numbered v l -> forall u f, In (u, f) l -> Forall (fun x => x <> 0%Z) (inputs f).
Proof.
  induction l as [| [u' f'] l IH]; intros v H u f Hin; [destruct Hin |]. destruct H as (_ & Hf & H).
  destruct Hin as [E | Hin]; [injection E as -> ->; eapply Forall_impl; [| exact Hf]; unfold below; intros x Hx; lia | eapply IH; eauto].
Qed.

(* If the literal is true in a model of the gates, then an assignment satisfies the clauses. *)
Lemma clauses_right : forall g output m, ok g -> consistent m g -> value m output = true ->
  exists after, forall c, In c (fst (clauses_of output g)) -> satisfies after c = true.
Proof.
  unfold clauses_of. intros g output m [Hn _] [H1 Hm] Ho. set (l := needed _ _ _).
  assert (Hl : forall v f, In (v, f) l -> In (v, f) (made g)) by (intros v f H; apply needed_in in H; destruct H as [H | []]; exact H).
  destruct (renumber_right m l FIRST_GATE (PositiveMap.empty positive)) as [after Hr]; [lia | |].
  { exists m. split; auto. intros v w E. rewrite PositiveMap.gempty in E. discriminate. }
  destruct (renumber l FIRST_GATE _) as [numbers next]. cbn [fst snd] in *. exists after.
  assert (Hone : forall x, value m x = true -> satisfies after [renamed numbers x] = true).
  { intros x Hx. apply (renamed_clause m after numbers next [x] Hr H1). cbn. rewrite Hx. reflexivity. }
  intros c [<- | Hc]; [exact (Hone TRUE H1) |]. rewrite rev_append_rev in Hc. apply in_app_or in Hc. destruct Hc as [Hc | [<- | []]]; [| auto].
  apply in_rev, gates_clauses_in in Hc. destruct Hc as [[] | (v & f & c' & Hin & Hc' & ->)].
  eapply renamed_clause; eauto. eapply gate_clauses_right; [apply Hm, Hl, Hin | | exact Hc']. eapply numbered_inputs; eauto.
Qed.

(* ---- The theorems -------------------------------------------------------------------------------------------- *)

(* If no assignment satisfies the clauses, the programs return the same. *)
Theorem unsatisfiable_equal : forall mode p q clauses variables, legal p = true -> legal q = true ->
  formula mode p q = Some (clauses, variables) -> (forall m, ~ (forall c, In c clauses -> satisfies m c = true)) ->
  forall d, seen mode (run p d) = seen mode (run q d).
Proof.
  intros mode p q clauses variables Lp Lq H Hunsat d. assert (Hseen : forall r, legal r = true -> exists v, seen mode (run r d) = Value v).
  { intros r Hr. destruct (legal_returns r Hr d) as [v ->]. destruct mode; cbn; eauto. }
  destruct (Hseen p Lp) as [v Hp], (Hseen q Lq) as [w Hq]. rewrite Hp, Hq. f_equal. unfold formula, run in *.
  destruct (decode_all p) as [is |]; [| discriminate]. destruct (decode_all q) as [js |]; [| discriminate].
  pose proof (returned_right mode is no_gates ok_no_gates) as Hb. destruct (returned mode is no_gates) as [x |]; [| discriminate]. run Hb.
  clear Hb. pose proof (returned_right mode js g Hok) as Ha. destruct (returned mode js g) as [x |]; [| discriminate]. run Ha. clear Ha.
  unfold any_difference in H. run (any_difference_or_bit 32 FALSE g0 l l0). injection H as H. destruct (model_exists g1 d Hok1) as (m & Hm & Hi).
  specialize (V m Hm d v Hi Hp). specialize (V0 m Hm d w Hi Hq). specialize (V1 m Hm).
  destruct (N.eqb_spec v w) as [E | E]; [exact E | exfalso]. apply N.eqb_neq in E. subst v w. rewrite E, orb_true_r in V1.
  destruct (clauses_right g1 l1 m Hok1 Hm V1) as [assignment Hsat]. apply (Hunsat assignment). rewrite H in Hsat. exact Hsat.
Qed.

Lemma check_cnf_sound : forall mode p q lines, check_cnf mode p q lines = true ->
  legal p = true /\ legal q = true /\ forall d, seen mode (run p d) = seen mode (run q d).
Proof.
  unfold check_cnf, judge. intros mode p q lines H. destruct (legal p) eqn:Lp, (legal q) eqn:Lq; try discriminate H. repeat split; auto.
  destruct (formula mode p q) as [[clauses variables] |] eqn:Hf; [| discriminate]. eapply unsatisfiable_equal; eauto.
  apply (check_lrat_sound clauses lines). unfold check_lrat. destruct (refute clauses lines); [discriminate | reflexivity].
Qed.

(* The programs return the same 32 bits for every input. *)
Theorem check_cnf_raw : forall lines p q, check_cnf Raw p q lines = true -> forall d, run p d = run q d.
Proof. intros lines p q H. apply (check_cnf_sound Raw p q lines H). Qed.

(* A process cannot observe a difference between the programs. *)
Theorem check_cnf_behaviour : forall lines p q, check_cnf Behaviour p q lines = true -> forall d, behaviour (run p d) = behaviour (run q d).
Proof. intros lines p q H. apply (check_cnf_sound Behaviour p q lines H). Qed.

(* In both cases, every input gets a value. *)
Theorem check_cnf_returns : forall mode lines p q, check_cnf mode p q lines = true -> forall d, exists vp vq, run p d = Value vp /\ run q d = Value vq.
Proof.
  intros mode lines p q H d. destruct (check_cnf_sound mode p q lines H) as (Lp & Lq & _). destruct (legal_returns p Lp d), (legal_returns q Lq d). eauto.
Qed.
