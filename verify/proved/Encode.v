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

(* `Refused pc`: instruction pc is one that `execute` does not support. *)
Inductive encoded (T : Type) := Encoded (x : T) | Refused (pc : N).
Arguments Encoded {T}.
Arguments Refused {T}.

(* The exits of all instructions, the last one first; `None` for those that no path reaches. *)
Fixpoint forward (mode : sameness) (is : list insn) (places : list place) (pc : N) (done : list (option exit)) (g : gates) :
    encoded (list (option exit) * gates) :=
  match is, places with
  | [], _ => Encoded (done, g)
  | i :: is, None :: places => forward mode is places (N.succ pc) (None :: done) g
  | i :: is, Some (reached, r) :: places =>
      match execute mode i r g with
      | None => Refused pc
      | Some (e, r, g) =>
          let (places, g) := leave e reached r places g in
          forward mode is places (N.succ pc) (Some e :: done) g
      end
  | _, [] => Refused pc
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
  | Refused pc => Refused pc
  end.
