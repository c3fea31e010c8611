(* Reads and prints query.cnf and proof.lrat. The theorem is about the two programs that were read from query.cnf, and holds for any proof.
   The checker compares the formula of these programs with the whole file, as scripts/check_cnf_certificate does. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)
open Numbers

exception Refused of string

let refuse format = Printf.ksprintf (fun reason -> raise (Refused reason)) format
let spelled mode = match mode with Raw -> "raw" | Behaviour -> "behaviour"

(* The first line in which two texts differ. *)
let first_difference a b =
  let rec count n = function
    | x :: a, y :: b -> if x = y then count (n + 1) (a, b) else n
    | _ -> n - 1
  in
  count 1 (String.split_on_char '\n' a, String.split_on_char '\n' b)

(* ---- query.cnf ---- *)

let is_hex text = text <> "" && String.for_all (function '0' .. '9' | 'a' .. 'f' -> true | _ -> false) text

(* The digits of the programs. *)
let heading mode text =
  let prefixed prefix line =
    let size = String.length prefix in
    if String.length line >= size && String.sub line 0 size = prefix then Some (String.sub line size (String.length line - size)) else None
  in
  let rec lines count from =
    match if count = 0 then None else String.index_from_opt text from '\n' with
    | Some at -> String.sub text from (at - from) :: lines (count - 1) (at + 1)
    | None -> []
  in
  match lines 4 0 with
  | [ "c secequiv cnf certificate 1"; ("c same raw" | "c same behaviour") as same; before; after ] -> (
      match (prefixed "c before " before, prefixed "c after " after) with
      | Some before, Some after when is_hex before && is_hex after ->
          if same <> "c same " ^ spelled mode then refuse "query.cnf:2: expected 'c same %s' here" (spelled mode);
          (before, after)
      | _ -> refuse "query.cnf:1: the lines that name the comparison and the programs are missing")
  | _ -> refuse "query.cnf:1: the lines that name the comparison and the programs are missing"

let program_of_digits digits =
  if String.length digits mod 16 <> 0 then refuse "the program is not in groups of 16 digits";
  let at start length = number (int_of_string ("0x" ^ String.sub digits start length)) in
  List.init (String.length digits / 16) (fun i -> { code = at (16 * i) 4; jt = at ((16 * i) + 4) 2; jf = at ((16 * i) + 6) 2; k = at ((16 * i) + 8) 8 })

let digits_of_program p =
  String.concat "" (List.map (fun f -> Printf.sprintf "%04x%02x%02x%08x" (integer f.code) (integer f.jt) (integer f.jf) (integer f.k)) p)

(* Names an instruction that the kernel refuses. `judge` does not depend on this: it calls `legal`. *)
let require_legal name p =
  let last = List.length p - 1 in
  List.iteri
    (fun pc f -> if check_insn f (number (last - pc)) <> None || seccomp_check_filter [ f ] N0 <> None then refuse "the kernel refuses instruction %d of %s" pc name)
    p;
  match refusal_of_any_length p with
  | None -> ()
  | Some (Mem_unset, pc) -> refuse "instruction %d of %s reads M[%d] before it is written" (integer pc) name (integer (List.nth p (integer pc)).k)
  | Some _ -> refuse "the last instruction of %s does not return" name

let literal l = match l with Z0 -> 0 | Zpos v -> of_positive v | Zneg v -> -of_positive v

let print mode before after (clauses, variables) =
  let out = Buffer.create 65536 in
  Printf.bprintf out "c secequiv cnf certificate 1\nc same %s\nc before %s\nc after %s\n" (spelled mode) (digits_of_program before) (digits_of_program after);
  Printf.bprintf out "p cnf %d %d\n" (of_positive variables) (List.length clauses);
  let term l = Buffer.add_string out (string_of_int (literal l)); Buffer.add_char out ' ' in
  List.iter (fun clause -> List.iter term clause; Buffer.add_string out "0\n") clauses;
  Buffer.contents out

(* ---- proof.lrat ---- *)

(* Each line is "ID LITERAL... 0 HINT... 0". Equal numbers are one value, which saves memory. *)
let proof_lines text =
  let made = Hashtbl.create 65536 in
  let positive n =
    match Hashtbl.find_opt made n with
    | Some p -> p
    | None ->
        let p = positive n in
        Hashtbl.add made n p;
        p
  in
  let digits_from start text =
    let size = String.length text in
    if size = start || size > start + 9 || text.[start] = '0' then raise Exit;
    for at = start to size - 1 do if text.[at] < '0' || text.[at] > '9' then raise Exit done;
    positive (int_of_string (String.sub text start (size - start)))
  in
  let literal text = if text <> "" && text.[0] = '-' then Zneg (digits_from 1 text) else Zpos (digits_from 0 text) in
  let rec until_zero parse found = function
    | "0" :: rest -> (List.rev found, rest)
    | text :: rest -> until_zero parse (parse text :: found) rest
    | [] -> raise Exit
  in
  let line text =
    match String.split_on_char ' ' text with
    | id :: rest -> (
        try
          let id = digits_from 0 id in
          let added, rest = until_zero literal [] rest in
          let hints, rest = until_zero (digits_from 0) [] rest in
          if rest = [] then Step (id, added, hints) else Malformed
        with Exit -> Malformed)
    | [] -> Malformed
  in
  List.rev (List.rev_map line (String.split_on_char '\n' text))

let reason problem =
  let with_number format p = Printf.sprintf format (of_positive p) in
  match problem with
  | NotALine -> "expected 'ID LITERAL... 0 HINT... 0'"
  | Expected id -> with_number "expected clause %d" id
  | GoesOn -> "the proof goes on after the empty clause"
  | EndsBefore -> "the proof ends before the empty clause"
  | NotNeeded hint -> with_number "the hint %d is not needed" hint
  | Absent hint -> with_number "there is no clause %d" hint
  | NotUnit hint -> with_number "clause %d has two literals that are not false" hint
  | AddsNothing hint -> with_number "clause %d adds nothing" hint
  | NotRefuted -> "the hints do not refute the negation of the clause"

(* ---- Both ---- *)

(* Names a computed value that is returned: `formula` refuses it where behaviour is compared. *)
let require_constants mode p =
  match decode_all p with
  | Some insns when mode = Behaviour -> (
      match returned mode insns no_gates with
      | Unsupported pc -> refuse "instruction %d returns a computed value, which cannot be compared by behaviour" (integer pc)
      | Encoded _ -> ())
  | _ -> ()

(* Returns the programs, if the proof refutes that they return different values. *)
let check mode query proof =
  let before_digits, after_digits = heading mode query in
  let load name digits =
    let p = program_of_digits digits in
    require_legal name p;
    require_constants mode p;
    p
  in
  let before = load "before" before_digits in
  let after = load "after" after_digits in
  let size = String.length proof in
  let whole = size > 0 && proof.[size - 1] = '\n' in
  match judge mode before after (if whole then proof_lines (String.sub proof 0 (size - 1)) else []) with
  | None -> refuse "query.cnf: these programs have no formula"
  | Some (claim, problem) -> (
      let text = print mode before after claim in
      if text <> query then refuse "query.cnf:%d: this is not the formula of the programs" (first_difference query text);
      if not whole then refuse "proof.lrat: the last line is cut off";
      match problem with
      | None -> [ before; after ]
      | Some (_, EndsBefore) -> refuse "proof.lrat: %s" (reason EndsBefore)
      | Some (line, problem) -> refuse "proof.lrat:%d: %s" (integer line) (reason problem))
