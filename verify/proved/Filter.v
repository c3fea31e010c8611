(* The meaning of a seccomp filter, and the checks that Linux makes before it installs one.

   A reader of the kernel should recognize here:
   - struct sock_filter and the codes of classic BPF (include/uapi/linux/filter.h, bpf_common.h),
   - bpf_check_classic and check_load_and_stores (net/core/filter.c),
   - seccomp_check_filter and the cases of a return value in __seccomp_filter (kernel/seccomp.c).

   All numbers are natural numbers (N). `u32` reduces a number as an assignment to a u32 does. *)

Require Import NArith List Bool Lia.
Import ListNotations.
Open Scope N_scope.

(* ---- Words --------------------------------------------------------------------------------------------------- *)

Definition all_bits : N := 0xffffffff.
Definition u32 (n : N) : N := N.land n all_bits.

(* ---- Programs ------------------------------------------------------------------------------------------------ *)

Record sock_filter := { code : N; jt : N; jf : N; k : N }.
Definition program := list sock_filter.

(* The input: the sixteen 32-bit words of struct seccomp_data, in the byte order of the machine. Word 0 is the number of
   the system call. A list stands for an input: missing words are 0, and each word is reduced to 32 bits. *)
Definition data := list N.
Definition load (d : data) (offset : N) : N := u32 (nth (N.to_nat (offset / 4)) d 0).

(* The second operand of an instruction: BPF_K or BPF_X. *)
Inductive operand := K (value : N) | X.
Inductive alu_op := ADD | SUB | MUL | DIV | AND | OR | XOR | LSH | RSH.
Inductive jump_op := JEQ | JGT | JGE | JSET.

Inductive insn :=
| LD_ABS (offset : N) | LD_IMM (value : N) | LD_MEM (word : N) | LD_LEN
| LDX_IMM (value : N) | LDX_MEM (word : N) | LDX_LEN
| ST (word : N) | STX (word : N) | TAX | TXA
| ALU (op : alu_op) (b : operand) | NEG
| JA (distance : N) | JMP (op : jump_op) (b : operand) (if_true if_false : N)
| RET_K (value : N) | RET_A.

(* The codes that seccomp allows. *)
Definition decode (f : sock_filter) : option insn :=
  match code f with
  | 0x20 => Some (LD_ABS (k f))
  | 0x00 => Some (LD_IMM (k f))
  | 0x60 => Some (LD_MEM (k f))
  | 0x80 => Some LD_LEN
  | 0x01 => Some (LDX_IMM (k f))
  | 0x61 => Some (LDX_MEM (k f))
  | 0x81 => Some LDX_LEN
  | 0x02 => Some (ST (k f))
  | 0x03 => Some (STX (k f))
  | 0x07 => Some TAX
  | 0x87 => Some TXA
  | 0x04 => Some (ALU ADD (K (k f)))
  | 0x0c => Some (ALU ADD X)
  | 0x14 => Some (ALU SUB (K (k f)))
  | 0x1c => Some (ALU SUB X)
  | 0x24 => Some (ALU MUL (K (k f)))
  | 0x2c => Some (ALU MUL X)
  | 0x34 => Some (ALU DIV (K (k f)))
  | 0x3c => Some (ALU DIV X)
  | 0x44 => Some (ALU OR (K (k f)))
  | 0x4c => Some (ALU OR X)
  | 0x54 => Some (ALU AND (K (k f)))
  | 0x5c => Some (ALU AND X)
  | 0xa4 => Some (ALU XOR (K (k f)))
  | 0xac => Some (ALU XOR X)
  | 0x64 => Some (ALU LSH (K (k f)))
  | 0x6c => Some (ALU LSH X)
  | 0x74 => Some (ALU RSH (K (k f)))
  | 0x7c => Some (ALU RSH X)
  | 0x84 => Some NEG
  | 0x05 => Some (JA (k f))
  | 0x15 => Some (JMP JEQ (K (k f)) (jt f) (jf f))
  | 0x1d => Some (JMP JEQ X (jt f) (jf f))
  | 0x25 => Some (JMP JGT (K (k f)) (jt f) (jf f))
  | 0x2d => Some (JMP JGT X (jt f) (jf f))
  | 0x35 => Some (JMP JGE (K (k f)) (jt f) (jf f))
  | 0x3d => Some (JMP JGE X (jt f) (jf f))
  | 0x45 => Some (JMP JSET (K (k f)) (jt f) (jf f))
  | 0x4d => Some (JMP JSET X (jt f) (jf f))
  | 0x06 => Some (RET_K (k f))
  | 0x16 => Some RET_A
  | _ => None
  end.

Fixpoint decode_all (p : program) : option (list insn) :=
  match p with
  | [] => Some []
  | f :: rest =>
      match decode f, decode_all rest with
      | Some i, Some is => Some (i :: is)
      | _, _ => None
      end
  end.

(* ---- Running a program --------------------------------------------------------------------------------------- *)

(* How a run ends. The theorem `accepted_returns` below states that an accepted program always ends with a value. *)
Inductive result :=
| Value (v : N)     (* the program returned v *)
| UnsetMemory       (* it read a word M[k] that it had not written *)
| PastTheEnd        (* it left the program without a return *)
| Illegal.          (* it contains a code that seccomp does not allow *)

(* The registers. M holds the words that were written, newest first. *)
Record machine := Machine { rA : N; rX : N; rM : list (N * N) }.

Fixpoint read {T : Type} (m : list (N * T)) (word : N) : option T :=
  match m with
  | [] => None
  | (w, v) :: rest => if w =? word then Some v else read rest word
  end.

Definition setA (s : machine) (v : N) := Machine v (rX s) (rM s).
Definition setX (s : machine) (v : N) := Machine (rA s) v (rM s).
Definition setM (s : machine) (word v : N) := Machine (rA s) (rX s) ((word, v) :: rM s).

Definition value_of (b : operand) (s : machine) : N := match b with K v => u32 v | X => rX s end.

(* Unsigned 32-bit arithmetic. bpf_convert_filter emits 32-bit operations; their shifts use the low five bits of the
   operand. A division by 0 does not get here. *)
Definition alu (op : alu_op) (a b : N) : N :=
  u32 (match op with
       | ADD => a + b
       | SUB => a + 0x100000000 - b
       | MUL => a * b
       | DIV => a / b
       | AND => N.land a b
       | OR => N.lor a b
       | XOR => N.lxor a b
       | LSH => N.shiftl a (N.land b 31)
       | RSH => N.shiftr a (N.land b 31)
       end).

Definition compare (op : jump_op) (a b : N) : bool :=
  match op with
  | JEQ => a =? b
  | JGT => b <? a
  | JGE => b <=? a
  | JSET => negb (N.land a b =? 0)
  end.

(* One instruction. `Go n s` continues after leaving out the next n instructions. *)
Inductive next := Go (skip : N) (s : machine) | Done (r : result).

Definition step (i : insn) (s : machine) (d : data) : next :=
  match i with
  | LD_ABS offset => Go 0 (setA s (load d offset))
  | LD_IMM v => Go 0 (setA s (u32 v))
  | LD_MEM w => match read (rM s) w with Some v => Go 0 (setA s v) | None => Done UnsetMemory end
  | LD_LEN => Go 0 (setA s 64) (* sizeof(struct seccomp_data) *)
  | LDX_IMM v => Go 0 (setX s (u32 v))
  | LDX_MEM w => match read (rM s) w with Some v => Go 0 (setX s v) | None => Done UnsetMemory end
  | LDX_LEN => Go 0 (setX s 64)
  | ST w => Go 0 (setM s w (rA s))
  | STX w => Go 0 (setM s w (rX s))
  | TAX => Go 0 (setX s (rA s))
  | TXA => Go 0 (setA s (rX s))
  | ALU DIV b =>
      (* bpf_convert_filter: a division by X = 0 ends the program with 0; bpf_check_classic refuses K = 0. *)
      if value_of b s =? 0 then Done (Value 0) else Go 0 (setA s (alu DIV (rA s) (value_of b s)))
  | ALU op b => Go 0 (setA s (alu op (rA s) (value_of b s)))
  | NEG => Go 0 (setA s (alu SUB 0 (rA s)))
  | JA n => Go n s
  | JMP op b t f => Go (if compare op (rA s) (value_of b s) then t else f) s
  | RET_K v => Done (Value (u32 v))
  | RET_A => Done (Value (rA s))
  end.

(* Jumps only go forward. Therefore a place in a program is the list of instructions that are left, and the number of
   instructions to leave out first. Every call makes the list shorter, so a run always ends. *)
Fixpoint exec (rest : list insn) (skip : N) (s : machine) (d : data) : result :=
  match rest with
  | [] => PastTheEnd
  | i :: rest' =>
      match skip with
      | 0 => match step i s d with Go n s' => exec rest' n s' d | Done r => r end
      | _ => exec rest' (N.pred skip) s d
      end
  end.

(* bpf_convert_filter clears A and X. *)
Definition start := Machine 0 0 [].

Definition run (p : program) (d : data) : result :=
  match decode_all p with Some is => exec is 0 start d | None => Illegal end.

(* A process with several filters (seccomp_run_filters): all run, newest first. The lowest action wins, compared as a signed
   number, and of equal actions that of the newest filter. `precedence` maps the signed order to that of natural numbers. *)
Definition precedence (v : N) : N := N.lxor (N.land v 0xffff0000) 0x80000000.

Fixpoint run_stack_from (ps : list program) (best : N) (d : data) : result :=
  match ps with
  | [] => Value best
  | p :: ps => match run p d with Value v => run_stack_from ps (if precedence v <? precedence best then v else best) d | r => r end
  end.

Definition run_stack (newest_first : list program) (d : data) : result := run_stack_from newest_first 0x7fff0000 d. (* SECCOMP_RET_ALLOW *)

(* What a process can observe of a return value (__seccomp_filter): SECCOMP_RET_ERRNO caps its data at MAX_ERRNO, TRAP and
   TRACE pass their data on, the other actions have no data, and an unknown action kills the process. *)
Definition observed (v : N) : N :=
  let action := N.land v 0xffff0000 in
  match action with
  | 0x00050000 => N.lor action (N.min (N.land v 0xffff) 4095)
  | 0x00030000 | 0x7ff00000 => v
  | 0 | 0x7fc00000 | 0x7ffc0000 | 0x7fff0000 => action
  | _ => 0x80000000
  end.

Definition behaviour (r : result) : result := match r with Value v => Value (observed v) | _ => r end.

(* ---- Acceptance ---------------------------------------------------------------------------------------------- *)

(* Why the kernel refuses a program. The names are those of scripts/naive/accept.py. *)
Inductive rule :=
| length_rule | unknown_code | div_by_zero | shift_range | mem_index | jump_range | ancillary
| last_not_ret | mem_unset | load_offset | not_seccomp.

Definition mem (n : N) (l : list N) : bool := existsb (N.eqb n) l.

(* chk_code_allowed *)
Definition classic_codes : list N :=
  [0x04; 0x0c; 0x14; 0x1c; 0x24; 0x2c; 0x34; 0x3c; 0x94; 0x9c; 0x54; 0x5c; 0x44; 0x4c; 0xa4; 0xac; 0x64; 0x6c; 0x74; 0x7c; 0x84;
   0x20; 0x28; 0x30; 0x80; 0x40; 0x48; 0x50; 0x00; 0x60; 0x81; 0xb1; 0x01; 0x61; 0x02; 0x03; 0x07; 0x87; 0x06; 0x16;
   0x05; 0x15; 0x1d; 0x35; 0x3d; 0x25; 0x2d; 0x45; 0x4d].

(* The switch over one instruction in bpf_check_classic. `left` is the number of instructions after it (flen - pc - 1). *)
Definition check_insn (f : sock_filter) (left : N) : option rule :=
  if negb (mem (code f) classic_codes) then Some unknown_code
  else match code f with
  | 0x34 | 0x94 => if k f =? 0 then Some div_by_zero else None
  | 0x64 | 0x74 => if 32 <=? k f then Some shift_range else None
  | 0x60 | 0x61 | 0x02 | 0x03 => if 16 <=? k f then Some mem_index else None
  | 0x05 => if left <=? k f then Some jump_range else None
  | 0x15 | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d | 0x45 | 0x4d => if (left <=? jt f) || (left <=? jf f) then Some jump_range else None
  | 0x20 | 0x28 | 0x30 =>
      (* SKF_AD_OFF; bpf_anc_helper knows the offsets 0, 4 .. 60 from there *)
      if (0xfffff000 <=? k f) && negb ((k f <? 0xfffff040) && (N.land (k f) 3 =? 0)) then Some ancillary else None
  | _ => None
  end.

(* Positions are reported as numbers of instructions from the start. *)
Fixpoint check_insns (p : program) (pc : N) (left : N) : option (rule * N) :=
  match p with
  | [] => None
  | f :: rest =>
      match check_insn f (N.pred left) with
      | Some r => Some (r, pc)
      | None => check_insns rest (N.succ pc) (N.pred left)
      end
  end.

Fixpoint ends_with_return (p : program) : bool :=
  match p with
  | [] => false
  | [f] => (code f =? 0x06) || (code f =? 0x16)
  | _ :: rest => ends_with_return rest
  end.

(* check_load_and_stores: one pass from top to bottom, with one bit for each word of M[]. `valid` are the words that are
   written on all paths to this instruction, and `masks` holds the same for jumps to this and later instructions. *)
Fixpoint mark (n : N) (valid : N) (masks : list N) : list N :=
  match masks with
  | [] => []
  | m :: rest => match n with 0 => N.land m valid :: rest | _ => m :: mark (N.pred n) valid rest end
  end.

Fixpoint check_load_and_stores (p : program) (pc : N) (masks : list N) (valid : N) : option N :=
  match p, masks with
  | f :: rest, m :: masks =>
      let valid := N.land valid m in
      let pc' := N.succ pc in
      match code f with
      | 0x02 | 0x03 => check_load_and_stores rest pc' masks (N.setbit valid (k f))
      | 0x60 | 0x61 => if N.testbit valid (k f) then check_load_and_stores rest pc' masks valid else Some pc
      | 0x05 => check_load_and_stores rest pc' (mark (k f) valid masks) 0xffff
      | 0x15 | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d | 0x45 | 0x4d =>
          check_load_and_stores rest pc' (mark (jf f) valid (mark (jt f) valid masks)) 0xffff
      | _ => check_load_and_stores rest pc' masks valid
      end
  | _, _ => None
  end.

(* seccomp_check_filter *)
Definition seccomp_codes : list N :=
  [0x80; 0x81; 0x06; 0x16; 0x04; 0x0c; 0x14; 0x1c; 0x24; 0x2c; 0x34; 0x3c; 0x54; 0x5c; 0x44; 0x4c; 0xa4; 0xac; 0x64; 0x6c; 0x74; 0x7c; 0x84;
   0x00; 0x01; 0x07; 0x87; 0x60; 0x61; 0x02; 0x03; 0x05; 0x15; 0x1d; 0x35; 0x3d; 0x25; 0x2d; 0x45; 0x4d].

Fixpoint seccomp_check_filter (p : program) (pc : N) : option (rule * N) :=
  match p with
  | [] => None
  | f :: rest =>
      if code f =? 0x20 then
        if (64 <=? k f) || negb (N.land (k f) 3 =? 0) then Some (load_offset, pc) else seccomp_check_filter rest (N.succ pc)
      else if mem (code f) seccomp_codes then seccomp_check_filter rest (N.succ pc) else Some (not_seccomp, pc)
  end.

Definition size (p : program) : N := N.of_nat (length p).

(* The first rule that a program breaks, except for the limit of 4096 instructions (BPF_MAXINSNS). *)
Definition refusal_of_any_length (p : program) : option (rule * N) :=
  if size p =? 0 then Some (length_rule, 0)
  else match check_insns p 0 (size p) with
  | Some r => Some r
  | None =>
      if negb (ends_with_return p) then Some (last_not_ret, N.pred (size p))
      else match check_load_and_stores p 0 (map (fun _ => 0xffff) p) 0 with
      | Some pc => Some (mem_unset, pc)
      | None => seccomp_check_filter p 0
      end
  end.

Definition refusal (p : program) : option (rule * N) :=
  if 4096 <? size p then Some (length_rule, 0) else refusal_of_any_length p.

(* Whether the kernel installs the program; `legal` forgives its length, because an optimizer's input is often longer. *)
Definition accept (p : program) : bool := match refusal p with None => true | _ => false end.
Definition legal (p : program) : bool := match refusal_of_any_length p with None => true | _ => false end.

Lemma accepted_is_legal : forall p, accept p = true -> legal p = true.
Proof. unfold accept, legal, refusal. intros p. destruct (4096 <? size p); [discriminate | auto]. Qed.

(* ---- Accepted programs end with a value ---------------------------------------------------------------------- *)

(* The words of `valid` (one bit each) are written. *)
Definition set_in (valid : N) (s : machine) : Prop := forall w, N.testbit valid w = true -> read (rM s) w <> None.

(* What the pass knows about a run that stands `skip` instructions ahead. *)
Definition covered (masks : list N) (valid : N) (skip : N) (s : machine) : Prop :=
  match skip with
  | 0 => set_in (N.land valid (nth 0 masks 0)) s
  | _ => set_in (nth (N.to_nat skip) masks 0) s
  end.

Lemma set_in_weaken : forall v w s, (forall b, N.testbit w b = true -> N.testbit v b = true) -> set_in v s -> set_in w s.
Proof. unfold set_in. auto. Qed.

Lemma testbit_land : forall v w b, N.testbit (N.land v w) b = true -> N.testbit v b = true /\ N.testbit w b = true.
Proof. intros v w b. rewrite N.land_spec. apply andb_prop. Qed.

Lemma mark_length : forall masks n v, length (mark n v masks) = length masks.
Proof. induction masks; simpl; intros; auto. destruct n; simpl; auto. Qed.

Lemma mark_smaller : forall masks n v i b, N.testbit (nth i (mark n v masks) 0) b = true -> N.testbit (nth i masks 0) b = true.
Proof. induction masks as [| m masks IH]; intros [| n] v [| i] b H; simpl in *; eauto. apply testbit_land in H. tauto. Qed.

Lemma mark_at : forall masks n v b, N.testbit (nth (N.to_nat n) (mark n v masks) 0) b = true -> N.testbit v b = true.
Proof.
  induction masks as [| m masks IH]; simpl; intros n v b H; [destruct (N.to_nat n); rewrite N.bits_0 in H; discriminate |].
  destruct n as [| n]; [apply testbit_land in H; tauto |].
  replace (N.to_nat (N.pos n)) with (S (N.to_nat (N.pred (N.pos n)))) in H by lia. simpl in H. eauto.
Qed.

Lemma covered_target : forall masks valid n s, set_in (nth (N.to_nat n) masks 0) s -> covered masks valid n s.
Proof. intros masks valid [| n] s H; auto. eapply set_in_weaken; [| exact H]. intros b Hb. apply testbit_land in Hb. apply Hb. Qed.

Lemma covered_next : forall masks valid s, set_in valid s -> covered masks valid 0 s.
Proof. intros masks valid s. apply set_in_weaken. intros b Hb. apply testbit_land in Hb. apply Hb. Qed.

(* What the checks state about an instruction, in terms of the decoded instruction. *)
Ltac each_code c := destruct c as [| c]; [| do 8 (try destruct c as [c | c |])].

Definition stays_inside (i : insn) (left : N) : Prop :=
  match i with
  | JA n => n < left
  | JMP _ _ t f => t < left /\ f < left
  | _ => True
  end.

Lemma check_insn_view : forall f i left, decode f = Some i -> check_insn f left = None -> stays_inside i left.
Proof.
  intros [c t e v] i left Hd Hc. unfold decode, check_insn in *. cbn [code jt jf k] in *.
  each_code c; try discriminate Hd; injection Hd as <-; cbn in *; auto;
    try (destruct (left <=? v) eqn:E; [discriminate | apply N.leb_gt in E; auto]);
    destruct (left <=? t) eqn:E; destruct (left <=? e) eqn:E'; try discriminate; apply N.leb_gt in E, E'; auto.
Qed.

Definition is_return (i : insn) : bool := match i with RET_K _ | RET_A => true | _ => false end.

Lemma return_view : forall f i, decode f = Some i -> (code f =? 0x06) || (code f =? 0x16) = true -> is_return i = true.
Proof.
  intros [c t e v] i Hd Hc. unfold decode in *. cbn [code jt jf k] in *.
  each_code c; try discriminate Hd; injection Hd as <-; try discriminate Hc; reflexivity.
Qed.

Lemma stores_view : forall f i rest pc m masks valid, decode f = Some i ->
  check_load_and_stores (f :: rest) pc (m :: masks) valid =
  let valid := N.land valid m in
  let continue := check_load_and_stores rest (N.succ pc) in
  match i with
  | ST w | STX w => continue masks (N.setbit valid w)
  | LD_MEM w | LDX_MEM w => if N.testbit valid w then continue masks valid else Some pc
  | JA n => continue (mark n valid masks) 0xffff
  | JMP _ _ t e => continue (mark e valid (mark t valid masks)) 0xffff
  | _ => continue masks valid
  end.
Proof.
  intros [c t e v] i rest pc m masks valid Hd. unfold decode in *. cbn [code jt jf k] in *. cbn [check_load_and_stores code jt jf k].
  each_code c; try discriminate Hd; injection Hd as <-; reflexivity.
Qed.

Lemma ends_cons : forall f rest, ends_with_return (f :: rest) = true ->
  ((code f =? 0x06) || (code f =? 0x16) = true /\ rest = []) \/ (rest <> [] /\ ends_with_return rest = true).
Proof. intros f [| g rest]; simpl; intros H; [left | right]; split; auto; discriminate. Qed.

Lemma read_setM : forall s w v b, read (rM (setM s w v)) b <> None <-> (w = b \/ read (rM s) b <> None).
Proof. intros s w v b. simpl. destruct (N.eqb_spec w b); [split; auto; discriminate | tauto]. Qed.

Lemma set_in_store : forall valid s w v, set_in valid s -> set_in (N.setbit valid w) (setM s w v).
Proof.
  intros valid s w v H b Hb. apply read_setM. rewrite N.setbit_eqb in Hb.
  apply orb_prop in Hb as [Hb | Hb]; [left; apply N.eqb_eq | right]; auto.
Qed.

Lemma size_cons : forall f p, size (f :: p) = N.succ (size p). Proof. intros. unfold size. simpl length. lia. Qed.

(* What the checks leave of a program that runs: wherever it stands, it ends with a value. *)
Lemma exec_returns : forall p is, decode_all p = Some is -> forall pc masks valid skip s d,
  check_insns p pc (size p) = None -> ends_with_return p = true -> check_load_and_stores p pc masks valid = None ->
  length masks = length p -> skip < size p -> covered masks valid skip s -> exists v, exec is skip s d = Value v.
Proof.
  induction p as [| f p IH]; intros is Hd pc masks valid skip s d Hi He Hm Hl Hs Hc; [discriminate He |].
  simpl in Hd. destruct (decode f) as [i |] eqn:Hf; [| discriminate]. destruct (decode_all p) as [is' |] eqn:Hp; [| discriminate].
  injection Hd as <-. specialize (IH is' eq_refl). destruct masks as [| m masks]; [discriminate |]. simpl in Hl. injection Hl as Hl.
  rewrite size_cons in *. cbn [check_insns] in Hi. rewrite N.pred_succ in Hi. destruct (check_insn f (size p)) eqn:Hci; [discriminate |].
  pose proof (check_insn_view f i (size p) Hf Hci) as Hin. rewrite (stores_view f i p pc m masks valid Hf) in Hm. cbv zeta in Hm.
  destruct skip as [| skip].
  - (* the instruction runs *)
    unfold covered in Hc. simpl nth in Hc. assert (Hgo : is_return i = false -> 0 < size p /\ ends_with_return p = true).
    { intros Hr. destruct (ends_cons f p He) as [[H _] | [H1 H2]]; [rewrite (return_view f i Hf H) in Hr; discriminate |].
      split; auto. destruct p; [congruence | rewrite size_cons; lia]. }
    Ltac onward := match goal with H : _ -> _ /\ _ |- _ => destruct (H eq_refl) as [Hsz He'] end.
    destruct i as [o | v | w | | v | w | | w | w | | | op b | | n | op b t e | v |]; cbn [exec step]; simpl in Hm;
      try match type of Hm with (if N.testbit ?v ?w then _ else _) = _ =>
        destruct (N.testbit v w) eqn:Hw; [| discriminate]; destruct (read (rM s) w) eqn:Hr; [| exfalso; eapply Hc; eauto] end;
      try (onward; eapply IH; eauto; first [apply covered_next; exact Hc | apply covered_next, set_in_store, Hc]; fail);
      try (eexists; reflexivity).
    + onward. destruct op; try (eapply IH; eauto; apply covered_next; exact Hc).
      destruct (value_of b s =? 0); [eauto | eapply IH; eauto; apply covered_next; exact Hc].
    + onward. eapply IH; eauto; [rewrite mark_length; auto |]. apply covered_target.
      eapply set_in_weaken; [| exact Hc]. intros x. apply mark_at.
    + onward. destruct Hin as [Ht Hf'].
      eapply IH; eauto; [rewrite !mark_length; auto | destruct (compare op (rA s) (value_of b s)); auto |]. apply covered_target.
      eapply set_in_weaken; [| exact Hc]. intros x Hx.
      destruct (compare op (rA s) (value_of b s)); [apply mark_smaller in Hx |]; eapply mark_at; eauto.
  - (* a jump leaves the instruction out *)
    cbn [exec]. assert (Hsz : N.pred (N.pos skip) < size p) by lia. assert (He' : ends_with_return p = true).
    { destruct (ends_cons f p He) as [[_ H] | [_ H]]; auto. subst p. simpl in Hsz. unfold size in Hsz. simpl in Hsz. lia. }
    assert (Hk : set_in (nth (N.to_nat (N.pred (N.pos skip))) masks 0) s).
    { unfold covered in Hc. replace (N.to_nat (N.pos skip)) with (S (N.to_nat (N.pred (N.pos skip)))) in Hc by lia. exact Hc. }
    assert (Hsub : forall masks' valid', (forall j x, N.testbit (nth j masks' 0) x = true -> N.testbit (nth j masks 0) x = true) ->
                   length masks' = length masks -> check_load_and_stores p (N.succ pc) masks' valid' = None ->
                   exists v, exec is' (N.pred (N.pos skip)) s d = Value v).
    { intros masks' valid' H1 H2 H3. eapply IH; eauto; [lia |]. apply covered_target. eapply set_in_weaken; [| exact Hk]. auto. }
    destruct i; simpl in Hm; try (eapply Hsub; [| | exact Hm]; auto; fail);
      try (destruct (N.testbit (N.land valid m) word); [| discriminate]; eapply Hsub; [| | exact Hm]; auto; fail);
      (eapply Hsub; [| | exact Hm]; [| rewrite ?mark_length; auto]); intros j x Hx; repeat apply mark_smaller in Hx; auto.
Qed.

Lemma seccomp_decodes : forall p pc, seccomp_check_filter p pc = None -> exists is, decode_all p = Some is.
Proof.
  induction p as [| f p IH]; cbn [seccomp_check_filter decode_all]; intros pc H; [eauto |]. assert (Hf : exists i, decode f = Some i).
  { destruct f as [c t e v]. unfold decode. cbn [code jt jf k] in *. clear IH.
    each_code c; cbn in *; try (eexists; reflexivity); discriminate. }
  destruct Hf as [i Hf]. rewrite Hf. assert (Hr : exists pc', seccomp_check_filter p pc' = None).
  { revert H. destruct (code f =? 0x20); [destruct ((64 <=? k f) || negb (N.land (k f) 3 =? 0)) | destruct (mem (code f) seccomp_codes)];
      intros H; try discriminate; eauto. }
  destruct Hr as [pc' Hr]. destruct (IH _ Hr) as [is His]. rewrite His. eauto.
Qed.

(* An accepted program ends with a value: it reads no unset word, and it does not leave the program. *)
Theorem legal_returns : forall p, legal p = true -> forall d, exists v, run p d = Value v.
Proof.
  unfold legal, refusal_of_any_length, run. intros q H d. destruct (N.eqb_spec (size q) 0); [discriminate |].
  destruct (check_insns q 0 (size q)) eqn:Hi; [discriminate |]. destruct (ends_with_return q) eqn:He; [simpl in H | discriminate].
  destruct (check_load_and_stores q 0 (map (fun _ => 65535) q) 0) eqn:Hm; [discriminate |].
  destruct (seccomp_check_filter q 0) eqn:Hs; [discriminate |]. destruct (seccomp_decodes _ _ Hs) as [is His]. rewrite His.
  eapply exec_returns; eauto; [apply map_length | lia |]. intros w Hw. rewrite N.land_0_l, N.bits_0 in Hw. discriminate.
Qed.

Theorem accepted_returns : forall p, accept p = true -> forall d, exists v, run p d = Value v.
Proof. intros p H. apply legal_returns, accepted_is_legal, H. Qed.

(* The same, as three statements. *)
Corollary accepted_reads_no_unset_word : forall p, accept p = true -> forall d, run p d <> UnsetMemory.
Proof. intros p H d. destruct (accepted_returns p H d) as [v ->]. discriminate. Qed.

Corollary accepted_stays_inside : forall p, accept p = true -> forall d, run p d <> PastTheEnd.
Proof. intros p H d. destruct (accepted_returns p H d) as [v ->]. discriminate. Qed.

Corollary accepted_has_only_legal_codes : forall p, accept p = true -> forall d, run p d <> Illegal.
Proof. intros p H d. destruct (accepted_returns p H d) as [v ->]. discriminate. Qed.
