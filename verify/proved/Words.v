(* Arithmetic on words of literals, the lowest bit first: the second half of class Gates of scripts/check_cnf_certificate. `alu_word`
   and `jump_word` state that it computes what Filter.alu and Filter.compare do. *)

Require Import NArith ZArith List Bool Lia.
From Proved Require Import Filter Gates.
Import ListNotations.
Open Scope N_scope.

(* ---- Operations ---------------------------------------------------------------------------------------------- *)

(* The operations that make each bit of the result from the same bit of two words. *)
Fixpoint each_bit (op : Z -> Z -> gates -> Z * gates) (a b : list Z) (g : gates) : list Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (bit, g) := op p q g in
      let (out, g) := each_bit op a b g in
      (bit :: out, g)
  | _, _ => ([], g)
  end.

Definition choose_word (condition : Z) : list Z -> list Z -> gates -> list Z * gates := each_bit (choose condition).
Definition bit_and := each_bit both.
Definition bit_or := each_bit either.
Definition bit_xor := each_bit differ.

Definition opposites : list Z -> list Z := map Z.opp.
Definition zeros (n : nat) : list Z := repeat FALSE n.

(* Returns (sum, carry out) of two words of the same length. *)
Fixpoint add_with_carry (a b : list Z) (carry : Z) (g : gates) : list Z * Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (half, g) := differ p q g in
      let (bit, g) := differ half carry g in
      let (generated, g) := both p q g in
      let (passed, g) := both half carry g in
      let (carry, g) := either generated passed g in
      let '(out, carry, g) := add_with_carry a b carry g in
      (bit :: out, carry, g)
  | _, _ => ([], carry, g)
  end.

Definition add (a b : list Z) (g : gates) : list Z * gates := let '(out, _, g) := add_with_carry a b FALSE g in (out, g).
Definition subtract (a b : list Z) (g : gates) : list Z * gates := let '(out, _, g) := add_with_carry a (opposites b) TRUE g in (out, g).

(* Adds a, shifted to the left by i, for each true bit of b, and so on with i + 1. *)
Fixpoint add_rows (a b : list Z) (i : nat) (out : list Z) (g : gates) : list Z * gates :=
  match b with
  | [] => (out, g)
  | bit :: b =>
      let kept := firstn (length a - i) a in
      let (row, g) := each_bit both (repeat bit (length kept)) kept g in
      let (out, g) := add out (zeros i ++ row) g in
      add_rows a b (S i) out g
  end.

Definition multiply (a b : list Z) (g : gates) : list Z * gates := add_rows a b 0 (zeros (length a)) g.

(* Long division of a, the highest bit first. `out` has the bits so far, and `rest` has one more bit than b in the subtraction. *)
Fixpoint divide_from (a b rest out : list Z) (g : gates) : list Z * gates :=
  match a with
  | [] => (out, g)
  | bit :: a =>
      let rest := bit :: rest in
      let '(less, fits, g) := add_with_carry rest (opposites b ++ [TRUE]) TRUE g in
      let (rest, g) := choose_word fits (firstn (length b) less) (firstn (length b) rest) g in
      divide_from a b rest (fits :: out) g
  end.

Definition divide (a b : list Z) (g : gates) : list Z * gates := divide_from (rev a) b (zeros (length b)) [] g.

(* Shifts by k if the first bit is true, then by 2 * k if the next one is, and so on. *)
Fixpoint shift_by (shift : nat -> list Z -> list Z) (bits : list Z) (k : nat) (a : list Z) (g : gates) : list Z * gates :=
  match bits with
  | [] => (a, g)
  | bit :: bits =>
      let (a, g) := choose_word bit (shift k a) a g in
      shift_by shift bits (k + k) a g
  end.

Definition moved_left (k : nat) (a : list Z) : list Z := zeros k ++ firstn (length a - k) a.
Definition moved_right (k : nat) (a : list Z) : list Z := skipn k a ++ zeros k.
Definition shift_left (a b : list Z) : gates -> list Z * gates := shift_by moved_left (firstn 5 b) 1 a.
Definition shift_right (a b : list Z) : gates -> list Z * gates := shift_by moved_right (firstn 5 b) 1 a.

(* Comparisons, the highest bit first. *)
Fixpoint equal_from (a b : list Z) (out : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (d, g) := differ p q g in
      let (out, g) := both out (-d) g in
      equal_from a b out g
  | _, _ => (out, g)
  end.

Definition equal (a b : list Z) : gates -> Z * gates := equal_from (rev a) (rev b) TRUE.

Fixpoint greater_from (a b : list Z) (out same_above : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := both p (-q) g in
      let (first, g) := both same_above here g in
      let (out, g) := either out first g in
      let (d, g) := differ p q g in
      let (same_above, g) := both same_above (-d) g in
      greater_from a b out same_above g
  | _, _ => (out, g)
  end.

Definition greater (a b : list Z) : gates -> Z * gates := greater_from (rev a) (rev b) FALSE TRUE.

Fixpoint any_common_bit_from (a b : list Z) (out : Z) (g : gates) : Z * gates :=
  match a, b with
  | p :: a, q :: b =>
      let (here, g) := both p q g in
      let (out, g) := either out here g in
      any_common_bit_from a b out g
  | _, _ => (out, g)
  end.

Definition any_common_bit (a b : list Z) : gates -> Z * gates := any_common_bit_from a b FALSE.

Definition alu_gates (op : alu_op) : list Z -> list Z -> gates -> list Z * gates :=
  match op with
  | ADD => add | SUB => subtract | MUL => multiply | DIV => divide
  | AND => bit_and | OR => bit_or | XOR => bit_xor | LSH => shift_left | RSH => shift_right
  end.

Definition jump_gates (op : jump_op) (a b : list Z) (g : gates) : Z * gates :=
  match op with
  | JEQ => equal a b g
  | JGT => greater a b g
  | JGE => opposite (greater b a g) (* A >= B unless B > A *)
  | JSET => any_common_bit a b g
  end.

Fixpoint bits_of (n : nat) (v : N) : list Z :=
  match n with
  | O => []
  | S n => (if N.odd v then TRUE else FALSE) :: bits_of n (N.div2 v)
  end.

Definition constant : N -> list Z := bits_of 32.

Fixpoint literals_from (n : nat) (l : Z) : list Z :=
  match n with
  | O => []
  | S n => l :: literals_from n (l + 1)
  end.

Definition input_word (i : N) : list Z := literals_from 32 (2 + 32 * Z.of_N i).

(* ---- What words mean ----------------------------------------------------------------------------------------- *)

Fixpoint number (m : model) (l : list Z) : N :=
  match l with
  | [] => 0
  | b :: l => N.b2n (value m b) + 2 * number m l
  end.

(* A word of n literals. *)
Definition scoped_word (n : nat) (g : gates) (l : list Z) : Prop := length l = n /\ Forall (scoped g) l.

(* The operation that leads from g to r gives a word of n bits, and R is true of its value in each model. *)
Definition gives_word (n : nat) (g : gates) (r : list Z * gates) (R : model -> N -> Prop) : Prop :=
  ok (snd r) /\ extends g (snd r) /\ scoped_word n (snd r) (fst r) /\ forall m, consistent m (snd r) -> R m (number m (fst r)).

Lemma scoped_word_extends : forall n g h l, extends g h -> scoped_word n g l -> scoped_word n h l.
Admitted.

Lemma constant_scoped : forall g v, ok g -> scoped_word 32 g (constant v).
Admitted.

Lemma constant_number : forall g m v, consistent m g -> number m (constant v) = u32 v.
Admitted.

Lemma input_scoped : forall g i, ok g -> i < 16 -> scoped_word 32 g (input_word i).
Admitted.

(* Every input has a model. *)
Lemma model_exists : forall g (d : data), ok g ->
  exists m, consistent m g /\ forall i, i < 16 -> number m (input_word i) = u32 (nth (N.to_nat i) d 0).
Admitted.

(* The value of a word is a word. *)
Lemma number_u32 : forall g m l, scoped_word 32 g l -> u32 (number m l) = number m l.
Admitted.

Lemma choose_word_word : forall n g c yes no, ok g -> scoped g c -> scoped_word n g yes -> scoped_word n g no ->
  gives_word n g (choose_word c yes no g) (fun m v => v = if value m c then number m yes else number m no).
Admitted.

Lemma equal_bit : forall n g a b, ok g -> scoped_word n g a -> scoped_word n g b -> gives_bit g (equal a b g) (fun m => number m a =? number m b).
Admitted.

Lemma alu_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_word 32 g (alu_gates op a b g) (fun m v => (op = DIV -> number m b <> 0) -> v = alu op (number m a) (number m b)).
Admitted.

Lemma jump_word : forall op g a b, ok g -> scoped_word 32 g a -> scoped_word 32 g b ->
  gives_bit g (jump_gates op a b g) (fun m => compare op (number m a) (number m b)).
Admitted.
