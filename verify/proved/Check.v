(* The check of a certificate (verify/certificate/FORMAT.md) that two programs return the same. It follows
   scripts/check_certificate. This file holds only functions; Sound.v proves that they are right. *)

Require Import NArith List Bool FMapPositive.
From Proved Require Import Filter Known.
Import ListNotations.
Open Scope N_scope.

(* ---- Values -------------------------------------------------------------------------------------------------- *)

(* A term is the content of a register, computed from the input. `IsEqual` and `IsAtLeast` are 1 or 0. *)
Inductive term_op := Alu (op : alu_op) | IsEqual | IsAtLeast.

Inductive term :=
| Const (value : N)
| Word (index : N)
| Bin (op : term_op) (left right : term) (weight : N). (* the weight is the number of nodes *)

Definition calculate (op : term_op) (a b : N) : N :=
  match op with
  | Alu op => alu op a b
  | IsEqual => if a =? b then 1 else 0
  | IsAtLeast => if b <=? a then 1 else 0
  end.

Fixpoint eval (d : data) (t : term) : N :=
  match t with
  | Const v => u32 v
  | Word i => u32 (nth (N.to_nat i) d 0)
  | Bin op a b _ => calculate op (eval d a) (eval d b)
  end.

Definition op_number (op : term_op) : N :=
  match op with
  | Alu ADD => 0 | Alu SUB => 1 | Alu MUL => 2 | Alu DIV => 3 | Alu AND => 4 | Alu OR => 5 | Alu XOR => 6 | Alu LSH => 7 | Alu RSH => 8
  | IsEqual => 9 | IsAtLeast => 10
  end.

(* An order of terms. Which order it is does not matter; it decides which operand of a + b stands on the left. *)
Fixpoint order (a b : term) : comparison :=
  match a, b with
  | Const x, Const y => x ?= y
  | Const _, _ => Lt
  | _, Const _ => Gt
  | Word i, Word j => i ?= j
  | Word _, _ => Lt
  | _, Word _ => Gt
  | Bin o1 l1 r1 w1, Bin o2 l2 r2 w2 =>
      match w1 ?= w2 with
      | Eq =>
          match op_number o1 ?= op_number o2 with
          | Eq => match order l1 l2 with Eq => order r1 r2 | c => c end
          | c => c
          end
      | c => c
      end
  end.

Definition same_op (a b : term_op) : bool := op_number a =? op_number b.

Fixpoint same_term (a b : term) : bool :=
  match a, b with
  | Const x, Const y => x =? y
  | Word i, Word j => i =? j
  | Bin o1 l1 r1 w1, Bin o2 l2 r2 w2 => (w1 =? w2) && same_op o1 o2 && same_term l1 l2 && same_term r1 r2
  | _, _ => false
  end.

Definition weight (t : term) : N := match t with Bin _ _ _ w => w | _ => 1 end.

(* Heavier terms are not stated, so that comparing two terms takes bounded time. *)
Definition max_weight : N := 4096.

Definition bin (op : term_op) (a b : term) : option term :=
  let w := weight a + weight b in if max_weight <? w then None else Some (Bin op a b w).

Definition constant (t : term) : option N := match t with Const v => Some (u32 v) | _ => None end.
Definition is_constant (t : term) : bool := match t with Const _ => true | _ => false end.
Definition is_const (t : term) (v : N) : bool := match constant t with Some c => c =? v | None => false end.

Definition commutes (op : term_op) : bool :=
  match op with Alu ADD | Alu MUL | Alu AND | Alu OR | Alu XOR | IsEqual => true | _ => false end.

(* Whether an operation by 0, by 1 or by all ones changes nothing. *)
Definition neutral (op : term_op) (b : term) : bool :=
  match op with
  | Alu ADD | Alu SUB | Alu OR | Alu XOR | Alu LSH | Alu RSH => is_const b 0
  | Alu MUL | Alu DIV => is_const b 1
  | Alu AND => is_const b all_bits
  | _ => false
  end.

(* The term `a op b` in its normal form, for operands that are not both constant and in their order. *)
Definition ordered (op : term_op) (a b : term) : option term :=
  let '(a, b) := match op, a, b with
                 | Alu AND, Bin (Alu AND) x (Const c1) _, Const c2 => (x, Const (N.land (u32 c1) (u32 c2)))
                 | _, _, _ => (a, b)
                 end in
  if match op with Alu AND => is_const b 0 | _ => false end then Some (Const 0)
  else if neutral op b then Some a
  else bin op a b.

Definition compute (op : term_op) (a b : term) : option term :=
  match constant a, constant b with
  | Some x, Some y => Some (Const (calculate op x y))
  | ca, cb =>
      let swap := match ca, cb with
                  | Some _, _ => true
                  | _, Some _ => false
                  | _, _ => match order a b with Gt => true | _ => false end
                  end in
      if commutes op && swap then ordered op b a else ordered op a b
  end.

Definition compute_option (op : term_op) (a b : option term) : option term :=
  match a, b with Some a, Some b => compute op a b | _, _ => None end.

(* ---- Tests --------------------------------------------------------------------------------------------------- *)

Record literal := { about : term; test : word_test; outcome : bool }.

Definition literal_true (d : data) (l : literal) : bool := eqb (passes (test l) (eval d (about l))) (outcome l).
Definition opposite (l : literal) : literal := {| about := about l; test := test l; outcome := negb (outcome l) |}.

Inductive question := Known (answer : bool) | Open (l : literal) | Unstated.

Definition not (q : question) : question :=
  match q with Known b => Known (negb b) | Open l => Open (opposite l) | Unstated => Unstated end.

Definition equals_constant (t : term) (v : N) : question :=
  let '(t, mask) := match t with Bin (Alu AND) x (Const m) _ => (x, u32 m) | _ => (t, all_bits) end in
  if N.ldiff v mask =? 0 then Open {| about := t; test := Equals mask v; outcome := true |} else Known false.

Definition is_one (t : option term) : question := match t with Some t => equals_constant t 1 | None => Unstated end.

Definition equal (a b : term) : question :=
  match constant a, constant b with
  | Some x, Some y => Known (x =? y)
  | _, Some y => equals_constant a y
  | Some x, _ => equals_constant b x
  | None, None => if same_term a b then Known true else is_one (compute IsEqual a b)
  end.

Definition at_least (a b : term) : question :=
  match constant a, constant b with
  | Some x, Some y => Known (y <=? x)
  | _, Some y => if y =? 0 then Known true else Open {| about := a; test := AtLeast y; outcome := true |}
  | Some x, _ => if x =? all_bits then Known true else Open {| about := b; test := AtLeast (N.succ x); outcome := false |}
  | None, None => if same_term a b then Known true else is_one (compute IsAtLeast a b)
  end.

Definition jump_question (op : jump_op) (a b : option term) : question :=
  match a, b with
  | Some a, Some b =>
      match op with
      | JEQ => equal a b
      | JGT => not (at_least b a)
      | JGE => at_least a b
      | JSET => match compute (Alu AND) a b with Some t => not (equal t (Const 0)) | None => Unstated end
      end
  | _, _ => Unstated
  end.

(* ---- Facts --------------------------------------------------------------------------------------------------- *)

Definition facts := list (term * known).

Fixpoint known_about (f : facts) (t : term) : known :=
  match f with
  | [] => nothing_known
  | (u, kn) :: f => if same_term u t then kn else known_about f t
  end.

Fixpoint update (f : facts) (t : term) (kn : known) : facts :=
  match f with
  | [] => [(t, kn)]
  | (u, old) :: f => if same_term u t then (u, kn) :: f else (u, old) :: update f t kn
  end.

(* `None` means that the literal contradicts the facts. *)
Definition learn (f : facts) (l : literal) : option facts :=
  match learn_test (known_about f (about l)) (test l) (outcome l) with
  | Some kn => Some (update f (about l) kn)
  | None => None
  end.

(* Whether the literal is true, if this follows from the facts. *)
Definition decide (f : facts) (l : literal) : option bool :=
  match decide_test (known_about f (about l)) (test l) with
  | Some b => Some (eqb b (outcome l))
  | None => None
  end.

(* ---- Running a program --------------------------------------------------------------------------------------- *)

(* `None` is a value that is not stated. *)
Record registers := Registers { sA : option term; sX : option term; sM : list (N * option term) }.

Definition stated (r : registers) (w : N) : option term := match read (sM r) w with Some (Some t) => Some t | _ => None end.
Definition operand_term (b : operand) (r : registers) : option term := match b with K v => Some (Const (u32 v)) | X => sX r end.

(* What a program comes to: a test that the facts do not decide, or a return. *)
Inductive ending := Undecided (l : literal) | Returns (t : term).

Inductive snext := SGo (skip : N) (r : registers) | SEnd (e : ending) | SRefused.

Definition with_A (r : registers) (t : option term) := Registers t (sX r) (sM r).
Definition with_X (r : registers) (t : option term) := Registers (sA r) t (sM r).
Definition with_M (r : registers) (w : N) (t : option term) := Registers (sA r) (sX r) ((w, t) :: sM r).

Definition answer (f : facts) (q : question) (yes no : snext) : snext :=
  match q with
  | Known b => if b then yes else no
  | Open l => match decide f l with Some b => if b then yes else no | None => SEnd (Undecided l) end
  | Unstated => SRefused
  end.

Definition symbolic_step (i : insn) (r : registers) (f : facts) : snext :=
  match i with
  | LD_ABS offset => SGo 0 (with_A r (Some (Word (offset / 4))))
  | LD_IMM v => SGo 0 (with_A r (Some (Const (u32 v))))
  | LD_MEM w => SGo 0 (with_A r (stated r w))
  | LD_LEN => SGo 0 (with_A r (Some (Const 64)))
  | LDX_IMM v => SGo 0 (with_X r (Some (Const (u32 v))))
  | LDX_MEM w => SGo 0 (with_X r (stated r w))
  | LDX_LEN => SGo 0 (with_X r (Some (Const 64)))
  | ST w => SGo 0 (with_M r w (sA r))
  | STX w => SGo 0 (with_M r w (sX r))
  | TAX => SGo 0 (with_X r (sA r))
  | TXA => SGo 0 (with_A r (sX r))
  | ALU DIV b =>
      match operand_term b r with
      | Some t => answer f (equal t (Const 0)) (SEnd (Returns (Const 0))) (SGo 0 (with_A r (compute_option (Alu DIV) (sA r) (Some t))))
      | None => SRefused
      end
  | ALU ((LSH | RSH) as op) b =>
      SGo 0 (with_A r (compute_option (Alu op) (sA r) (compute_option (Alu AND) (operand_term b r) (Some (Const 31)))))
  | ALU op b => SGo 0 (with_A r (compute_option (Alu op) (sA r) (operand_term b r)))
  | NEG => SGo 0 (with_A r (compute_option (Alu SUB) (Some (Const 0)) (sA r)))
  | JA n => SGo n r
  | JMP op b t e => if t =? e then SGo t r else answer f (jump_question op (sA r) (operand_term b r)) (SGo t r) (SGo e r)
  | RET_K v => SEnd (Returns (Const (u32 v)))
  | RET_A => match sA r with Some t => SEnd (Returns t) | None => SRefused end
  end.

(* A place in a program: the instructions that are left, the number of the first of them, and how many to leave out. *)
Record place := { rest : list insn; pc : N; skip : N; regs : registers }.

Fixpoint advance (is : list insn) (pc skip : N) (r : registers) (f : facts) : option (place * ending) :=
  match is with
  | [] => None
  | i :: is' =>
      match skip with
      | 0 => match symbolic_step i r f with
             | SGo n r' => advance is' (N.succ pc) n r' f
             | SEnd e => Some ({| rest := is; pc := pc; skip := 0; regs := r |}, e)
             | SRefused => None
             end
      | _ => advance is' (N.succ pc) (N.pred skip) r f
      end
  end.

(* ---- The certificate ----------------------------------------------------------------------------------------- *)

Inductive name := NWord (index : N) | NConst (value : N) | NTerm (number : N).

Record claim_side := { at_pc : N; claimA : option name; claimX : option name; claimM : list (N * name) }.
Record claim_literal := { claim_about : name; claim_test : word_test; claim_outcome : bool }.

Inductive cases :=
| Test (before after : N) (if_true if_false : cases)
| Ret (before after : N) (value : name)
| Use (number : N)
| Never.

Inductive item :=
| Define (op : term_op) (a b : name)
| Claim (before after : claim_side) (literals : list claim_literal) (proof : cases).

Record certificate := { items : list item; main : cases }.

(* raw: all 32 bits. behaviour: what a process can observe. *)
Inductive sameness := Raw | Behaviour.

Record lemma := { lemma_before : N * registers; lemma_after : N * registers; lemma_literals : list literal }.

(* What the items above a line define. *)
Record env := { terms : PositiveMap.t term; term_count : N; lemmas : PositiveMap.t lemma; lemma_count : N }.

Definition lookup {T : Type} (m : PositiveMap.t T) (n : N) : option T := PositiveMap.find (N.succ_pos n) m.

Definition meaning (e : env) (n : name) : option term :=
  match n with
  | NWord i => Some (Word i)
  | NConst v => Some (Const (u32 v))
  | NTerm n => lookup (terms e) n
  end.

Section Cases.
  Variable mode : sameness.
  Variable e : env.

  Definition same_value (a b : term) : bool :=
    same_term a b ||
    match mode, constant a, constant b with
    | Behaviour, Some x, Some y => observed x =? observed y
    | _, _, _ => false
    end.

  Definition has (have : option term) (want : option term) : bool :=
    match want, have with
    | None, _ => true
    | Some t, Some u => same_term t u
    | Some _, None => false
    end.

  Definition fits (claim : N * registers) (p : place) : bool :=
    (fst claim =? pc p) && has (sA (regs p)) (sA (snd claim)) && has (sX (regs p)) (sX (snd claim)) &&
    forallb (fun entry => has (stated (regs p) (fst entry)) (snd entry)) (sM (snd claim)).

  Definition applies (l : lemma) (b a : place) (f : facts) : bool :=
    fits (lemma_before l) b && fits (lemma_after l) a &&
    forallb (fun lit => match decide f lit with Some true => true | _ => false end) (lemma_literals l).

  (* The facts are `None` in a case that no input takes. *)
  Fixpoint check_cases (c : cases) (f : option facts) (b a : place) : bool :=
    match f with
    | None => match c with Never => true | _ => false end
    | Some f =>
        match advance (rest b) (pc b) (skip b) (regs b) f, advance (rest a) (pc a) (skip a) (regs a) f with
        | Some (b, Returns vb), Some (a, Returns va) =>
            match c with
            | Ret nb na v =>
                (nb =? pc b) && (na =? pc a) && match meaning e v with Some t => same_term t vb | None => false end && same_value vb va
            | _ => false
            end
        | Some (b, eb), Some (a, ea) =>
            match c with
            | Use n => match lookup (lemmas e) n with Some l => applies l b a f | None => false end
            | Test nb na yes no =>
                match eb, ea with
                | Undecided l, _ | _, Undecided l =>
                    (nb =? pc b) && (na =? pc a) && check_cases yes (learn f l) b a && check_cases no (learn f (opposite l)) b a
                | _, _ => false
                end
            | _ => false
            end
        | _, _ => false
        end
    end.

  Definition claim_name (n : option name) : option (option term) :=
    match n with
    | None => Some None
    | Some n => match meaning e n with Some t => Some (Some t) | None => None end
    end.

  Fixpoint claim_memory (m : list (N * name)) : option (list (N * option term)) :=
    match m with
    | [] => Some []
    | (w, n) :: m =>
        match meaning e n, claim_memory m with Some t, Some m => Some ((w, Some t) :: m) | _, _ => None end
    end.

  Definition claim_registers (c : claim_side) : option registers :=
    match claim_name (claimA c), claim_name (claimX c), claim_memory (claimM c) with
    | Some a, Some x, Some m => Some (Registers a x m)
    | _, _, _ => None
    end.

  (* A literal that is always true or always false is refused, and so is one about a constant. *)
  Definition claim_to_literal (c : claim_literal) : option literal :=
    match meaning e (claim_about c) with
    | None => None
    | Some t =>
        if is_constant t then None
        else if match claim_test c with
                | Equals mask v => (mask =? 0) || negb (N.ldiff v mask =? 0)
                | AtLeast v => v =? 0
                end then None
        else Some {| about := t; test := claim_test c; outcome := claim_outcome c |}
    end.

  Fixpoint claim_literals (l : list claim_literal) (f : facts) : option (list literal * facts) :=
    match l with
    | [] => Some ([], f)
    | c :: l =>
        match claim_to_literal c with
        | None => None
        | Some lit =>
            match learn f lit with
            | None => None
            | Some f => match claim_literals l f with Some (lits, f) => Some (lit :: lits, f) | None => None end
            end
        end
    end.
End Cases.

Section Items.
  Variable mode : sameness.
  Variables before after : list insn.

  Definition add_term (e : env) (t : term) : env :=
    {| terms := PositiveMap.add (N.succ_pos (term_count e)) t (terms e); term_count := N.succ (term_count e);
       lemmas := lemmas e; lemma_count := lemma_count e |}.

  Definition add_lemma (e : env) (l : lemma) : env :=
    {| terms := terms e; term_count := term_count e;
       lemmas := PositiveMap.add (N.succ_pos (lemma_count e)) l (lemmas e); lemma_count := N.succ (lemma_count e) |}.

  (* Only items below a lemma can use it. *)
  Definition check_item (e : env) (i : item) : option env :=
    match i with
    | Define op a b =>
        match compute_option op (meaning e a) (meaning e b) with Some t => Some (add_term e t) | None => None end
    | Claim b a literals proof =>
        match claim_registers e b, claim_registers e a, claim_literals e literals [] with
        | Some rb, Some ra, Some (lits, f) =>
            if check_cases mode e proof (Some f) {| rest := before; pc := 0; skip := at_pc b; regs := rb |}
                                                 {| rest := after; pc := 0; skip := at_pc a; regs := ra |}
            then Some (add_lemma e {| lemma_before := (at_pc b, rb); lemma_after := (at_pc a, ra); lemma_literals := lits |})
            else None
        | _, _, _ => None
        end
    end.

  Fixpoint check_items (e : env) (l : list item) : option env :=
    match l with
    | [] => Some e
    | i :: l => match check_item e i with Some e => check_items e l | None => None end
    end.
End Items.

Definition nothing_defined : env :=
  {| terms := PositiveMap.empty term; term_count := 0; lemmas := PositiveMap.empty lemma; lemma_count := 0 |}.

Definition symbolic_start : registers := Registers (Some (Const 0)) (Some (Const 0)) [].

(* Whether the certificate proves that the programs return the same. Programs of any length are accepted. *)
Definition check (mode : sameness) (c : certificate) (p q : program) : bool :=
  legal p && legal q &&
  match decode_all p, decode_all q with
  | Some is, Some js =>
      match check_items mode is js nothing_defined (items c) with
      | Some e => check_cases mode e (main c) (Some []) {| rest := is; pc := 0; skip := 0; regs := symbolic_start |}
                                                        {| rest := js; pc := 0; skip := 0; regs := symbolic_start |}
      | None => false
      end
  | _, _ => false
  end.
