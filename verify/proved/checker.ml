(* secequiv-checker: the command around the function `check`, whose theorem is in Sound.v. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)

let usage = "usage: secequiv-checker DIR|FILE [BEFORE AFTER] [--same behaviour]"

exception Refused of string

(* The first line in which two texts differ. *)
let first_difference a b =
  let rec count n = function x :: a, y :: b when x = y -> count (n + 1) (a, b) | _ -> n in
  count 1 (String.split_on_char '\n' a, String.split_on_char '\n' b)

(* The line of the first claim that does not follow. *)
let refused_line mode { Certificate.before; after; certificate; lines } =
  match (decode_all before, decode_all after) with
  | Some before, Some after ->
      let rec search env = function
        | item :: items, line :: lines -> (
            match check_item mode before after env item with Some env -> search env (items, lines) | None -> line)
        | _, lines -> List.hd lines
      in
      search nothing_defined (certificate.items, lines)
  | _ -> 3

let check_file name mode given =
  let text = Files.read name in
  let file = try Certificate.parse text with Certificate.Malformed (line, why) -> raise (Refused (Printf.sprintf "%d: %s" line why)) in
  let again = Certificate.print mode file in
  if again <> text then raise (Refused (Printf.sprintf "%d: not the line that a certificate has here" (first_difference again text)));
  List.iter (fun (p, side, line) -> if not (legal p) then raise (Refused (Printf.sprintf "%d: the kernel refuses %s" line side)))
    [ (file.before, "before", 3); (file.after, "after", 4) ];
  let programs = List.map Numbers.bytes_of_program [ file.before; file.after ] in
  if given <> [] && given <> programs then raise (Refused "3: the certificate is about other programs (raw programs: secequiv asm --to raw)");
  if not (check mode file.certificate file.before file.after) then
    raise (Refused (Printf.sprintf "%d: this claim does not follow from its cases (scripts/check_certificate names the case)" (refused_line mode file)));
  programs

let () =
  let arguments = List.tl (Array.to_list Sys.argv) in
  let rec split = function
    | [ "--same"; same ] -> ([], same)
    | x :: rest ->
        let paths, same = split rest in
        (x :: paths, same)
    | [] -> ([], "raw")
  in
  let paths, same = split arguments in
  match (paths, same) with
  | name :: programs, ("raw" | "behaviour") when (programs = [] || List.length programs = 2) && (name = "" || name.[0] <> '-') -> (
      let mode = if same = "raw" then Raw else Behaviour in
      let name = if name <> "" && Sys.file_exists name && Sys.is_directory name then Filename.concat name "walk.cert" else name in
      match check_file name mode (List.map Files.read programs) with
      | programs ->
          Printf.printf "valid: %s: the programs with these SHA-256 hashes %s for every input\n" name
            (if mode = Raw then "return the same value" else "behave the same");
          List.iter (fun p -> print_endline (Sha256.hex p)) programs
      | exception Refused why ->
          Printf.printf "refused: %s:%s\n" name why;
          exit 1
      | exception Stack_overflow ->
          Printf.printf "refused: %s: its cases are nested too deeply for the stack\n" name;
          exit 1
      | exception Sys_error why ->
          prerr_endline why;
          exit 2)
  | _ ->
      prerr_endline usage;
      exit 2
