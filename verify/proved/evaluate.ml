(* secequiv-evaluate: the functions `run` and `refusal`, whose theorems are in Filter.v, with the command line of
   scripts/naive/evaluate.py. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)

let usage =
  "usage: secequiv-evaluate PROGRAM[,OLDER...] INPUTS [OUTPUT]\n\
   \       secequiv-evaluate --accept < PROGRAMS\n\
   \       secequiv-evaluate --observed < VALUES\n\
   \       secequiv-evaluate --serve\n\n\
   PROGRAM is raw (struct sock_filter), or a stack of filters, newest first. INPUTS are struct seccomp_data, OUTPUT is one\n\
   u32 per input, all little-endian. `-` is stdin or stdout.\n\
   --accept reads programs, each after its length in bytes (u32), and prints `yes` or `no RULE at INSTRUCTION` for each.\n\
   --observed reads return values (u32) and writes what a process can observe of each.\n\
   --serve answers requests of kind E (harness/adapter/PROTOCOL.md): secequiv fuzz --evaluator 'serve:secequiv-evaluate --serve'\n\
   Exit status: 0 done; 2 wrong usage or input; 4 the kernel would refuse PROGRAM for a reason other than its length."

exception Wrong of string

let rule_name = function
  | Length_rule -> "length" | Unknown_code -> "unknown_code" | Div_by_zero -> "div_by_zero" | Shift_range -> "shift_range"
  | Mem_index -> "mem_index" | Jump_range -> "jump_range" | Ancillary -> "ancillary" | Last_not_ret -> "last_not_ret"
  | Mem_unset -> "mem_unset" | Load_offset -> "load_offset" | Not_seccomp -> "not_seccomp"

let refused (rule, pc) = Printf.sprintf "%s at %d" (rule_name rule) (Numbers.integer pc)
let word bytes at = Int32.to_int (String.get_int32_le bytes at) land 0xffffffff
let put out v = Buffer.add_int32_le out (Int32.of_int v)

let words size length = if length mod size <> 0 then raise (Wrong (Printf.sprintf "expected whole records of %d bytes" size))

(* The values that `run` gives for all inputs in `bytes` from `first` on. *)
let values run bytes first =
  let out = Buffer.create 65536 in
  words 64 (String.length bytes - first);
  for i = 0 to ((String.length bytes - first) / 64) - 1 do
    match run (List.init 16 (fun w -> Numbers.number (word bytes (first + (64 * i) + (4 * w))))) with
    | Value v -> put out (Numbers.integer v)
    | UnsetMemory | PastTheEnd | Illegal -> raise (Wrong "an accepted program ended without a value, which the theorem excludes")
  done;
  Buffer.contents out

let read_program path =
  match Numbers.program_of_bytes (Files.read path) with
  | None | Some [] -> raise (Wrong "expected whole 8-byte instructions, at least one")
  | Some p ->
      Option.iter (fun why -> Printf.eprintf "evaluate: %s: refused: %s\n" path (refused why); exit 4) (refusal_of_any_length p);
      p

let evaluate paths inputs =
  match List.map read_program (String.split_on_char ',' paths) with
  | [ p ] -> values (run p) (Files.read inputs) 0
  | stack -> values (run_stack stack) (Files.read inputs) 0

(* The answer to one request: a byte of status, then the values or a reason. *)
let answer request =
  if request = "" || request.[0] <> 'E' then "\001only evaluation is supported"
  else
    let end_of_program = 5 + (8 * word request 1) in
    match Numbers.program_of_bytes (String.sub request 5 (end_of_program - 5)) with
    | None -> "\002expected whole instructions"
    | Some p -> ( match refusal_of_any_length p with Some why -> "\002" ^ refused why | None -> "\000" ^ values (run p) request end_of_program)

let rec serve () =
  match really_input_string stdin 4 with
  | exception End_of_file -> ()
  | length ->
      let text = answer (really_input_string stdin (word length 0)) in
      let frame = Buffer.create 65536 in
      put frame (String.length text);
      print_string (Buffer.contents frame ^ text);
      flush stdout;
      serve ()

let accept_all () =
  let bytes = Files.read "-" in
  let rec next at =
    if at < String.length bytes then begin
      let length = word bytes at in
      (match Numbers.program_of_bytes (String.sub bytes (at + 4) length) with
      | None -> raise (Wrong "expected whole 8-byte instructions")
      | Some p -> print_endline (match refusal p with None -> "yes" | Some why -> "no " ^ refused why));
      next (at + 4 + length)
    end
  in
  next 0

let observe_all () =
  let bytes = Files.read "-" and out = Buffer.create 65536 in
  words 4 (String.length bytes);
  for i = 0 to (String.length bytes / 4) - 1 do
    put out (Numbers.integer (observed (Numbers.number (word bytes (4 * i)))))
  done;
  Files.write "-" (Buffer.contents out)

let () =
  try
    match List.tl (Array.to_list Sys.argv) with
    | [ "--accept" ] -> accept_all ()
    | [ "--observed" ] -> observe_all ()
    | [ "--serve" ] ->
        set_binary_mode_in stdin true;
        set_binary_mode_out stdout true;
        serve ()
    | [ program; inputs ] -> Files.write "-" (evaluate program inputs)
    | [ program; inputs; output ] -> Files.write output (evaluate program inputs)
    | _ ->
        prerr_endline usage;
        exit 2
  with
  | Wrong why | Sys_error why | Invalid_argument why ->
      Printf.eprintf "evaluate: %s\n" why;
      exit 2
