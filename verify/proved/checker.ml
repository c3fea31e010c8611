(* secequiv-checker: the command around the functions `check` and `judge`, whose theorems are in Sound.v and Cnf.v. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)
open Numbers

let usage = "usage: secequiv-checker DIR|FILE [BEFORE AFTER] [--same behaviour]"

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

(* Returns the programs of walk.cert. *)
let check_walk mode name given =
  let refuse line reason = Cnf.refuse "%s:%d: %s" name line reason in
  let text = Files.read name in
  let file = try Certificate.parse text with Certificate.Malformed (line, why) -> refuse line why in
  let again = Certificate.print mode file in
  if again <> text then refuse (Cnf.first_difference again text) "not the line that a certificate has here";
  List.iter (fun (p, side, line) -> if not (legal p) then refuse line ("the kernel refuses " ^ side)) [ (file.before, "before", 3); (file.after, "after", 4) ];
  let programs = List.map bytes_of_program [ file.before; file.after ] in
  if given <> [] && List.map snd given <> programs then refuse 3 "the certificate is about other programs (raw programs: secequiv asm --to raw)";
  if not (check mode file.certificate file.before file.after) then
    refuse (refused_line mode file) "this claim does not follow from its cases (scripts/check_certificate names the case)";
  programs

(* Returns the programs of query.cnf. *)
let check_formula mode folder given =
  let query = Files.read (Filename.concat folder "query.cnf") in
  let proof = Files.read (Filename.concat folder "proof.lrat") in
  let programs = try List.map bytes_of_program (Cnf.check mode query proof) with Cnf.Refused why -> Cnf.refuse "%s" (Filename.concat folder why) in
  if given <> [] && List.map snd given <> programs then (
    let names = List.map (fun (path, _) -> "'" ^ path ^ "'") given in
    Cnf.refuse "%s" (Filename.concat folder ("query.cnf: it is not about " ^ String.concat " and " names ^ " (raw programs: secequiv asm --to raw)")));
  programs

(* The certificates that are there: a file, or walk.cert or query.cnf or both of a folder. *)
let certificates name =
  if name <> "" && Sys.file_exists name && Sys.is_directory name then
    let has file = Sys.file_exists (Filename.concat name file) in
    let walk = (check_walk, Filename.concat name "walk.cert") in
    if has "query.cnf" then if has "walk.cert" then [ walk; (check_formula, name) ] else [ (check_formula, name) ] else [ walk ]
  else [ (check_walk, name) ]

let () =
  (* Collecting garbage less often saves a third of the time for 100,000 gates. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 400 };
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
      match
        let given = List.map (fun path -> (path, Files.read path)) programs in
        List.map (fun (check, name) -> (name, check mode name given)) (certificates name)
      with
      | valid ->
          List.iter
            (fun (name, programs) ->
              Printf.printf "valid: %s: the programs with these SHA-256 hashes %s for every input\n" name
                (if mode = Raw then "return the same value" else "behave the same");
              List.iter (fun p -> print_endline (Sha256.hex p)) programs)
            valid
      | exception Cnf.Refused why ->
          print_endline ("refused: " ^ why);
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
