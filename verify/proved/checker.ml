(* secequiv-checker: the command around the functions `check` and `judge`, whose theorems are in Sound.v and Cnf.v. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)
open Numbers

let usage = "usage: secequiv-checker DIR|FILE [BEFORE AFTER] [--allowed-by CONDITION] [--same behaviour]"

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

(* Returns the programs whose longer forms, as `guarded` makes them from a condition, a certificate is about. *)
let without_condition allowed programs =
  match allowed with
  | None -> programs
  | Some (path, bytes) ->
      let condition = match program_of_bytes bytes with Some (_ :: _ as f) -> f | _ -> Cnf.refuse "'%s' is not a raw program (secequiv asm --to raw)" path in
      if not (legal condition) then Cnf.refuse "the kernel refuses the condition %s" path;
      let guard =
        match guarded condition [] with
        | Some guard -> guard
        | None -> Cnf.refuse "%s: the last instruction, and no other, must return SECCOMP_RET_ALLOW (with any data); none may write M[] or return A" path
      in
      let rec rest guard program =
        match (guard, program) with
        | [], rest -> rest
        | f :: guard, g :: program when f = g -> rest guard program
        | _ -> Cnf.refuse "a program of the certificate does not begin with the condition"
      in
      List.map
        (fun program ->
          let short = rest guard program in
          if not (legal short) then Cnf.refuse "the kernel refuses the program after the condition";
          if guarded condition short <> Some program then Cnf.refuse "a program of the certificate does not begin with the condition";
          short)
        programs

(* Returns the programs of walk.cert. *)
let check_walk mode name allowed given =
  let refuse line reason = Cnf.refuse "%s:%d: %s" name line reason in
  let text = Files.read name in
  let file = try Certificate.parse text with Certificate.Malformed (line, why) -> refuse line why in
  let again = Certificate.print mode file in
  if again <> text then refuse (Cnf.first_difference again text) "not the line that a certificate has here";
  List.iter (fun (p, side, line) -> if not (legal p) then refuse line ("the kernel refuses " ^ side)) [ (file.before, "before", 3); (file.after, "after", 4) ];
  let programs =
    try List.map bytes_of_program (without_condition allowed [ file.before; file.after ]) with Cnf.Refused why -> refuse 3 why
  in
  if given <> [] && List.map snd given <> programs then refuse 3 "the certificate is about other programs (raw programs: secequiv asm --to raw)";
  if not (check mode file.certificate file.before file.after) then
    refuse (refused_line mode file) "this claim does not follow from its cases (scripts/check_certificate names the case)";
  programs

(* Returns the programs of query.cnf. *)
let check_formula mode folder allowed given =
  let query = Files.read (Filename.concat folder "query.cnf") in
  let proof = Files.read (Filename.concat folder "proof.lrat") in
  let programs = try List.map bytes_of_program (without_condition allowed (Cnf.check mode query proof)) with Cnf.Refused why -> Cnf.refuse "%s" (Filename.concat folder why) in
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
  let rec split options = function
    | value :: (("--same" | "--allowed-by") as option) :: paths -> split ((option, value) :: options) paths
    | paths -> (List.rev paths, options)
  in
  let paths, options = split [] (List.rev arguments) in
  let same = Option.value (List.assoc_opt "--same" options) ~default:"raw" in
  match (paths, same) with
  | name :: programs, ("raw" | "behaviour") when (programs = [] || List.length programs = 2) && (name = "" || name.[0] <> '-') -> (
      let mode = if same = "raw" then Raw else Behaviour in
      match
        let read path = (path, Files.read path) in
        let given = List.map read programs and allowed = Option.map read (List.assoc_opt "--allowed-by" options) in
        List.map (fun (check, name) -> (name, check mode name allowed given)) (certificates name)
      with
      | valid ->
          List.iter
            (fun (name, programs) ->
              Printf.printf "valid: %s: the programs with these SHA-256 hashes %s for every input%s%s\n" name
                (if mode = Raw then "return the same value" else "behave the same")
                (match List.assoc_opt "--allowed-by" options with Some path -> Printf.sprintf " that %s allows (action ALLOW, any data)" path | None -> "")
                (if mode = Raw then "" else ", each as a process's only filter");
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
