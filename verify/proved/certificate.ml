(* Reads walk.cert (verify/certificate/FORMAT.md) and prints it again. The theorem is about what was read; the checker compares what
   is printed with the file, so a mistake here can only refuse a file or be visible in its text. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)
open Numbers

exception Malformed of int * string (* line, reason *)

type file = { before : sock_filter list; after : sock_filter list; certificate : certificate; lines : int list (* of each item, then of main *) }

let operations =
  [ ("+", Alu ADD); ("-", Alu SUB); ("*", Alu MUL); ("/", Alu DIV); ("&", Alu AND); ("|", Alu OR); ("^", Alu XOR); ("<", Alu LSH);
    (">", Alu RSH); ("=", IsEqual); ("G", IsAtLeast) ]

(* ---- Reading ---- *)

let parse text =
  let lines = Array.of_list (String.split_on_char '\n' text) in
  let line = ref 0 in
  let fail reason = raise (Malformed (!line, reason)) in
  let fields () =
    incr line;
    if !line <= Array.length lines then String.split_on_char ' ' lines.(!line - 1) else fail "the file ends here"
  in
  let digits base limit text =
    let digit c =
      match c with
      | '0' .. '9' -> Char.code c - 48
      | 'a' .. 'f' when base = 16 -> Char.code c - 87
      | _ -> fail (Printf.sprintf "'%s' is not a number" (String.escaped text))
    in
    if text = "" || String.length text > limit then fail (Printf.sprintf "'%s' is not a number" (String.escaped text));
    number (String.fold_left (fun n c -> (n * base) + digit c) 0 text)
  in
  let hex = digits 16 8 and decimal = digits 10 9 in
  let after_first text = String.sub text 1 (String.length text - 1) in
  let word_number text = if String.length text > 2 || integer (decimal text) > 15 then fail "there are only 16 words" else decimal text in
  let name text =
    match if text = "" then ' ' else text.[0] with
    | 'w' -> NWord (word_number (after_first text))
    | 'c' -> NConst (hex (after_first text))
    | 't' -> NTerm (decimal (after_first text))
    | _ -> fail (Printf.sprintf "'%s' is not an operand" (String.escaped text))
  in
  let program side =
    match fields () with
    | [ first; text ] when first = side && String.length text mod 16 = 0 ->
        let at start length = hex (String.sub text start length) in
        List.init (String.length text / 16) (fun i -> { code = at (16 * i) 4; jt = at ((16 * i) + 4) 2; jf = at ((16 * i) + 6) 2; k = at ((16 * i) + 8) 8 })
    | _ -> fail ("expected '" ^ side ^ "' and instructions of 16 digits")
  in
  let rec cases () =
    match fields () with
    | [ "test"; b; a ] ->
        let yes = cases () in
        Test (decimal b, decimal a, yes, cases ())
    | [ "ret"; b; a; v ] -> Ret (decimal b, decimal a, name v)
    | [ "use"; n ] -> Use (decimal n)
    | [ "never" ] -> Never
    | _ -> fail "expected 'test', 'ret', 'use' or 'never'"
  in
  let rec insert word value = function
    | (w, _) :: rest when w = word -> (word, value) :: rest
    | (w, v) :: rest when integer w < integer word -> (w, v) :: insert word value rest
    | rest -> (word, value) :: rest
  in
  let register side text =
    match String.split_on_char '=' text with
    | [ "A"; v ] -> { side with claimA = Some (name v) }
    | [ "X"; v ] -> { side with claimX = Some (name v) }
    | [ word; v ] -> { side with claimM = insert (word_number word) (name v) side.claimM }
    | _ -> fail "expected a register"
  in
  let literal text =
    match String.split_on_char ':' text with
    | [ t; ("eq" | "ne") as kind; mask; v ] -> { claim_about = name t; claim_test = Equals (hex mask, hex v); claim_outcome = kind = "eq" }
    | [ t; ("ge" | "lt") as kind; v ] -> { claim_about = name t; claim_test = AtLeast (hex v); claim_outcome = kind = "ge" }
    | _ -> fail (Printf.sprintf "'%s' is not a literal" (String.escaped text))
  in
  let lemma b a rest =
    let side pc = { at_pc = decimal pc; claimA = None; claimX = None; claimM = [] } in
    let b, a, literals =
      List.fold_left
        (fun (b, a, literals) text ->
          match if String.contains text '=' then text.[0] else ' ' with
          | 'b' -> (register b (after_first text), a, literals)
          | 'a' -> (b, register a (after_first text), literals)
          | _ -> (b, a, literal text :: literals))
        (side b, side a, []) rest
    in
    Claim (b, a, List.rev literals, cases ())
  in
  let item_lines = ref [] in
  let rec items found =
    let next = fields () in
    item_lines := !line :: !item_lines;
    match next with
    | [ "term"; _; op; a; b ] when List.mem_assoc op operations -> items (Define (List.assoc op operations, name a, name b) :: found)
    | "lemma" :: _ :: b :: a :: rest -> items (lemma b a rest :: found)
    | [ "main" ] -> List.rev found
    | _ -> fail "expected 'term', 'lemma' or 'main'"
  in
  ignore (fields ());
  ignore (fields ());
  let before = program "before" in
  let after = program "after" in
  let items = items [] in
  let lines = List.rev !item_lines in
  { before; after; certificate = { items; main = cases () }; lines }

(* ---- Printing ---- *)

let print mode { before; after; certificate; _ } =
  let out = Buffer.create 65536 in
  let put format = Printf.bprintf out format in
  let name = function
    | NWord i -> Printf.sprintf "w%d" (integer i)
    | NConst v -> Printf.sprintf "c%x" (integer v)
    | NTerm n -> Printf.sprintf "t%d" (integer n)
  in
  let program side p =
    put "%s " side;
    List.iter (fun f -> put "%04x%02x%02x%08x" (integer f.code) (integer f.jt) (integer f.jf) (integer f.k)) p;
    put "\n"
  in
  let rec cases = function
    | Test (b, a, yes, no) ->
        put "test %d %d\n" (integer b) (integer a);
        cases yes;
        cases no
    | Ret (b, a, v) -> put "ret %d %d %s\n" (integer b) (integer a) (name v)
    | Use n -> put "use %d\n" (integer n)
    | Never -> put "never\n"
  in
  let registers side c =
    List.iter (fun (w, v) -> put " %s%d=%s" side (integer w) (name v)) c.claimM;
    Option.iter (fun v -> put " %sA=%s" side (name v)) c.claimA;
    Option.iter (fun v -> put " %sX=%s" side (name v)) c.claimX
  in
  let literal l =
    match l.claim_test with
    | Equals (mask, v) -> put " %s:%s:%x:%x" (name l.claim_about) (if l.claim_outcome then "eq" else "ne") (integer mask) (integer v)
    | AtLeast v -> put " %s:%s:%x" (name l.claim_about) (if l.claim_outcome then "ge" else "lt") (integer v)
  in
  let item (terms, lemmas) = function
    | Define (op, a, b) ->
        put "term %d %s %s %s\n" terms (fst (List.find (fun (_, o) -> o = op) operations)) (name a) (name b);
        (terms + 1, lemmas)
    | Claim (b, a, literals, proof) ->
        put "lemma %d %d %d" lemmas (integer b.at_pc) (integer a.at_pc);
        registers "b" b;
        registers "a" a;
        List.iter literal literals;
        put "\n";
        cases proof;
        (terms, lemmas + 1)
  in
  put "secequiv walk certificate 1\nsame %s\n" (match mode with Raw -> "raw" | Behaviour -> "behaviour");
  program "before" before;
  program "after" after;
  ignore (List.fold_left item (0, 0) certificate.items);
  put "main\n";
  cases certificate.main;
  put "end %s\n" (Sha256.hex (Buffer.contents out));
  Buffer.contents out
