(* Equivalence for some inputs only. The inputs are those that a third filter, the condition, allows: its action is ALLOW, with any
   data. A certificate is then about two longer programs: each first runs the condition, and goes on with the program instead of
   allowing the call. *)

Require Import NArith List Bool Lia.
From Proved Require Import Filter.
Import ListNotations.
Open Scope N_scope.

Definition SECCOMP_RET_ALLOW : N := 0x7fff0000.

(* Whether an instruction can stand before the last one of a condition. `left` is the number of instructions after it. Nothing is
   written to M[], no jump leaves the condition, and only the last instruction allows a call. *)
Definition may_guard (i : insn) (left : N) : bool :=
  match i with
  | ST _ | STX _ | RET_A => false
  | RET_K v => negb (observed (u32 v) =? SECCOMP_RET_ALLOW)
  | JA n => n <? left
  | JMP _ _ t e => (t <? left) && (e <? left)
  | _ => true
  end.

(* All instructions of a condition but the last. *)
Fixpoint guard (f : program) (left : N) : option program :=
  match f with
  | [] => None
  | [last] => match decode last with Some (RET_K v) => if observed (u32 v) =? SECCOMP_RET_ALLOW then Some [] else None | _ => None end
  | first :: rest =>
      match decode first, guard rest (N.pred left) with
      | Some i, Some a => if may_guard i (N.pred left) then Some (first :: a) else None
      | _, _ => None
      end
  end.

(* ld #0 and ldx #0: a program starts with cleared registers. *)
Definition clear : program := [{| code := 0x00; jt := 0; jf := 0; k := 0 |}; {| code := 0x01; jt := 0; jf := 0; k := 0 |}].

Definition guarded (f p : program) : option program :=
  match guard f (size f) with Some a => Some (a ++ clear ++ p) | None => None end.

(* ---- Proofs -------------------------------------------------------------------------------------------------- *)

Lemma may_guard_step : forall i left s d, may_guard i left = true -> 0 < left -> rM s = [] ->
  match step i s d with Go n s' => n < left /\ rM s' = [] | Done r => behaviour r <> Value SECCOMP_RET_ALLOW end.
Proof.
  intros i left s d H Hl Hm. destruct i; cbn [may_guard] in H; try discriminate; cbn [step]; try (split; [lia | exact Hm]).
  - rewrite Hm. cbn. discriminate.
  - rewrite Hm. cbn. discriminate.
  - destruct op; try (split; [lia | exact Hm]). destruct (value_of b s =? 0); [discriminate | split; [lia | exact Hm]].
  - apply N.ltb_lt in H. split; assumption.
  - apply andb_prop in H. destruct H as [Ht He]. apply N.ltb_lt in Ht. apply N.ltb_lt in He. split; [| exact Hm].
    destruct (compare op (rA s) (value_of b s)); assumption.
  - apply negb_true_iff, N.eqb_neq in H. intros E. injection E. exact H.
Qed.

Lemma guard_runs : forall f a, guard f (size f) = Some a -> exists fs js, decode_all f = Some fs /\ decode_all a = Some js /\
  forall n s d is, n < size f -> rM s = [] -> behaviour (exec fs n s d) = Value SECCOMP_RET_ALLOW ->
  exists s', rM s' = [] /\ exec (js ++ is) n s d = exec is 0 s' d.
Proof.
  induction f as [| first rest IH]; intros a H; [discriminate |].
  assert (Hs : N.pred (size (first :: rest)) = size rest) by (unfold size; cbn [length]; lia).
  cbn [guard] in H. destruct rest as [| second rest].
  - destruct (decode first) as [[] |] eqn:Ed; try discriminate. destruct (observed (u32 value) =? SECCOMP_RET_ALLOW); [| discriminate]. injection H as <-.
    exists [RET_K value], []. cbn [decode_all]. rewrite Ed. repeat split. intros n s d is Hn Hm He. unfold size in Hn. cbn in Hn.
    replace n with 0 by lia. exists s. auto.
  - remember (second :: rest) as tail. rewrite Hs in H. destruct (decode first) as [i |] eqn:Ed; [| discriminate].
    destruct (guard tail (size tail)) as [a' |] eqn:Eg; [| discriminate]. destruct (may_guard i (size tail)) eqn:Em; [| discriminate].
    injection H as <-. destruct (IH a' eq_refl) as [fs [js [Hf [Hj Hrun]]]]. exists (i :: fs), (i :: js). cbn [decode_all].
    rewrite Ed, Hf, Hj. repeat split. intros n s d is Hn Hm He. cbn [app exec] in *.
    assert (Hl : 0 < size tail) by (subst; unfold size; cbn [length]; lia). destruct n as [| n].
    + pose proof (may_guard_step i (size tail) s d Em Hl Hm) as Hstep. destruct (step i s d) as [n' s' | r]; [| contradiction].
      destruct Hstep as [Hn' Hm']. eapply Hrun; eauto.
    + eapply Hrun; eauto. lia.
Qed.

Lemma decode_all_app : forall p q, decode_all (p ++ q) =
  match decode_all p, decode_all q with Some is, Some js => Some (is ++ js) | _, _ => None end.
Proof.
  induction p as [| f p IH]; intros q; cbn [app decode_all]; [destruct (decode_all q); reflexivity |]. rewrite IH.
  destruct (decode f); [| reflexivity]. destruct (decode_all p); [| reflexivity]. destruct (decode_all q); reflexivity.
Qed.

(* For an input that the condition allows, the longer program returns what the program returns. *)
Theorem guarded_run : forall f p g, guarded f p = Some g -> forall d, behaviour (run f d) = Value SECCOMP_RET_ALLOW -> run g d = run p d.
Proof.
  unfold guarded. intros f p g H d Hr. destruct (guard f (size f)) as [a |] eqn:E; [| discriminate]. injection H as <-.
  destruct (guard_runs f a E) as [fs [js [Hf [Hj Hrun]]]]. unfold run in *. rewrite Hf in Hr.
  assert (Hc : decode_all (clear ++ p) = match decode_all p with Some is => Some (LD_IMM 0 :: LDX_IMM 0 :: is) | None => None end)
    by (cbn; destruct (decode_all p); reflexivity). rewrite decode_all_app, Hj. unfold clear in *. cbn [app] in *. rewrite Hc.
  destruct (decode_all p) as [is |]; [| reflexivity].
  assert (Hn : 0 < size f) by (destruct f; [discriminate | unfold size; cbn [length]; lia]).
  destruct (Hrun 0 start d (LD_IMM 0 :: LDX_IMM 0 :: is) Hn eq_refl Hr) as [s [Hm ->]]. cbn [exec step]. unfold setA, setX, start.
  cbn [rA rX rM]. rewrite Hm. reflexivity.
Qed.

(* So if the longer programs return the same for every input, the programs do for every input that the condition allows. *)
Theorem guarded_same : forall f p q p' q', guarded f p = Some p' -> guarded f q = Some q' ->
  (forall d, run p' d = run q' d) -> forall d, behaviour (run f d) = Value SECCOMP_RET_ALLOW -> run p d = run q d.
Proof. intros f p q p' q' Hp Hq H d Hd. rewrite <- (guarded_run f p p' Hp d Hd), <- (guarded_run f q q' Hq d Hd). apply H. Qed.

Theorem guarded_same_behaviour : forall f p q p' q', guarded f p = Some p' -> guarded f q = Some q' ->
  (forall d, behaviour (run p' d) = behaviour (run q' d)) -> forall d, behaviour (run f d) = Value SECCOMP_RET_ALLOW ->
  behaviour (run p d) = behaviour (run q d).
Proof. intros f p q p' q' Hp Hq H d Hd. rewrite <- (guarded_run f p p' Hp d Hd), <- (guarded_run f q q' Hq d Hd). apply H. Qed.
