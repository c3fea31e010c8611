(* The check of a refutation in the LRAT format. It follows check_proof and check_clause of scripts/check_cnf_certificate, and
   gives the same reasons. If the check accepts, no assignment satisfies the clauses. *)

Require Import NArith ZArith List Bool FMapPositive MSets.MSetPositive.
From Proved Require Import Gates.
Import ListNotations.

Definition clause := list Z.
Definition satisfies (m : positive -> bool) (c : clause) : bool := existsb (value m) c.

(* ---- The check ----------------------------------------------------------------------------------------------- *)

(* One line of a proof: the clause that it adds, and the clauses that refute its negation. *)
Inductive line := Step (id : positive) (added : clause) (hints : list positive) | Malformed.

Inductive problem :=
| NotALine | Expected (id : positive) | GoesOn | EndsBefore
| NotNeeded (hint : positive) | Absent (hint : positive) | NotUnit (hint : positive) | AddsNothing (hint : positive) | NotRefuted.

(* A set of literals. Z0 is no literal. *)
Definition key_of_literal (l : Z) : positive := match l with Zpos v => v~0 | Zneg v => v~1 | Z0 => 1 end.
Definition is_in (l : Z) (s : PositiveSet.t) : bool := PositiveSet.mem (key_of_literal l) s.
Definition put (l : Z) (s : PositiveSet.t) : PositiveSet.t := PositiveSet.add (key_of_literal l) s.

(* `falses` are literals that are false if the new clause is. Each hint adds one, and the last hint is contradicted. *)
Fixpoint propagate (known : PositiveMap.t clause) (hints : list positive) (falses : PositiveSet.t) : option problem :=
  match hints with
  | [] => Some NotRefuted
  | hint :: hints =>
      match PositiveMap.find hint known with
      | None => Some (Absent hint)
      | Some c =>
          match filter (fun l => negb (is_in l falses)) c with
          | [] => match hints with [] => None | next :: _ => Some (NotNeeded next) end
          | [l] => if is_in (- l) falses then Some (AddsNothing hint) else propagate known hints (put (- l) falses)
          | _ => Some (NotUnit hint)
          end
      end
  end.

Definition check_clause (known : PositiveMap.t clause) (c : clause) (hints : list positive) : option problem :=
  propagate known hints (fold_left (fun s l => put l s) c PositiveSet.empty).

(* The first line with a problem. Clauses have the numbers 1, 2, ...; `next` is the number of the next clause. *)
Fixpoint check_lines (known : PositiveMap.t clause) (next : positive) (lines : list line) (at_line : N) : option (N * problem) :=
  match lines with
  | [] => Some (at_line, EndsBefore)
  | Malformed :: _ => Some (at_line, NotALine)
  | Step id c hints :: lines =>
      if negb (id =? next)%positive then Some (at_line, Expected next)
      else match check_clause known c hints with
      | Some p => Some (at_line, p)
      | None =>
          match c, lines with
          | [], [] => None
          | [], _ => Some (at_line, GoesOn)
          | _, _ => check_lines (PositiveMap.add next c known) (Pos.succ next) lines (N.succ at_line)
          end
      end
  end.

Fixpoint number_clauses (cs : list clause) (next : positive) (known : PositiveMap.t clause) : PositiveMap.t clause * positive :=
  match cs with [] => (known, next) | c :: cs => number_clauses cs (Pos.succ next) (PositiveMap.add next c known) end.

Definition refute (cs : list clause) (lines : list line) : option (N * problem) :=
  let (known, next) := number_clauses cs 1 (PositiveMap.empty clause) in check_lines known next lines 1.

Definition check_lrat (cs : list clause) (lines : list line) : bool := match refute cs lines with None => true | _ => false end.

(* ---- The proof ----------------------------------------------------------------------------------------------- *)

Lemma key_of_literal_injective : forall a b, key_of_literal a = key_of_literal b -> a <> 0%Z -> a = b.
Proof. intros [| a | a] [| b | b] H H0; cbn in H; congruence. Qed.

Section Model.
  Variable m : positive -> bool.

  Definition all_false (s : PositiveSet.t) : Prop := forall l, is_in l s = true -> value m l = false.
  Definition all_satisfied (known : PositiveMap.t clause) : Prop := forall id c, PositiveMap.find id known = Some c -> satisfies m c = true.

  Lemma put_false : forall l s, all_false s -> value m l = false -> all_false (put l s).
  Proof.
    unfold all_false, is_in, put. intros l s Hs Hl x Hx. apply PositiveSet.mem_spec, PositiveSet.add_spec in Hx.
    destruct Hx as [Hx | Hx]; [| apply Hs, PositiveSet.mem_spec, Hx].
    destruct (Z.eq_dec x 0) as [-> | H0]; [reflexivity |]. apply key_of_literal_injective in Hx; congruence.
  Qed.

  Lemma add_satisfied : forall known id c, all_satisfied known -> satisfies m c = true -> all_satisfied (PositiveMap.add id c known).
  Proof.
    intros known id c Hk Hc i x Hx. destruct (Pos.eq_dec i id) as [-> | E].
    - rewrite PositiveMap.gss in Hx. congruence.
    - rewrite PositiveMap.gso in Hx by auto. eapply Hk, Hx.
  Qed.

  (* A clause is true if and only if those of its literals are that are not known to be false. *)
  Lemma satisfies_filter : forall s c, all_false s -> satisfies m (filter (fun l => negb (is_in l s)) c) = satisfies m c.
  Proof.
    unfold satisfies. intros s c Hs. induction c as [| l c IH]; cbn [filter existsb]; auto. rewrite <- IH.
    destruct (is_in l s) eqn:E; cbn [negb existsb]; [rewrite (Hs l E) |]; reflexivity.
  Qed.

  Lemma propagate_sound : forall known hints s, all_satisfied known -> propagate known hints s = None -> ~ all_false s.
  Proof.
    induction hints as [| hint hints IH]; cbn [propagate]; intros s Hk H Hs; [discriminate |].
    destruct (PositiveMap.find hint known) as [c |] eqn:Ec; [| discriminate]. pose proof (Hk _ _ Ec) as Hc.
    rewrite <- (satisfies_filter s c Hs) in Hc. destruct (filter _ c) as [| l [| ]]; [discriminate Hc | | discriminate].
    destruct (is_in (- l) s); [discriminate |]. eapply IH; [exact Hk | exact H |]. apply put_false; auto. cbn in Hc.
    rewrite orb_false_r in Hc. destruct l as [| v | v]; try discriminate Hc; cbn in *; destruct (m v); auto.
  Qed.

  Lemma check_clause_sound : forall known c hints, all_satisfied known -> check_clause known c hints = None -> satisfies m c = true.
  Proof.
    unfold check_clause. intros known c hints Hk H. apply (propagate_sound _ _ _ Hk) in H.
    destruct (satisfies m c) eqn:Ec; auto. exfalso. apply H. clear H.
    assert (Hs : all_false PositiveSet.empty) by (intros l Hl; unfold is_in in Hl; destruct (key_of_literal l); discriminate).
    revert Hs Ec. generalize PositiveSet.empty. induction c as [| l c IH]; cbn; intros s Hs Ec; auto.
    apply orb_false_elim in Ec. destruct Ec as [El Ec]. apply IH; auto. apply put_false; auto.
  Qed.

  Lemma check_lines_sound : forall lines known next at_line, all_satisfied known -> check_lines known next lines at_line <> None.
  Proof.
    induction lines as [| [id c hints |] lines IH]; cbn [check_lines]; intros known next at_line Hk; try discriminate.
    destruct (negb (id =? next)%positive); [discriminate |]. destruct (check_clause known c hints) eqn:E; [discriminate |].
    apply (check_clause_sound _ _ _ Hk) in E. destruct c; [discriminate E |]. apply IH, add_satisfied; auto.
  Qed.

  Lemma number_clauses_sound : forall cs next known, all_satisfied known -> (forall c, In c cs -> satisfies m c = true) ->
    all_satisfied (fst (number_clauses cs next known)).
  Proof. induction cs as [| c cs IH]; cbn; intros next known Hk Hc; auto. apply IH; auto. apply add_satisfied; auto. Qed.
End Model.

Theorem check_lrat_sound : forall cs lines, check_lrat cs lines = true -> forall m, ~ (forall c, In c cs -> satisfies m c = true).
Proof.
  unfold check_lrat, refute. intros cs lines H m Hc. pose proof (number_clauses_sound m cs 1 (PositiveMap.empty clause)) as Hn.
  destruct (number_clauses cs 1 _) as [known next]. destruct (check_lines known next lines 1) eqn:E; [discriminate |].
  apply check_lines_sound with (m := m) in E; auto. apply Hn; auto. intros id c Hf. rewrite PositiveMap.gempty in Hf. discriminate.
Qed.
