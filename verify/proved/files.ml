(* Whole files; `-` is stdin or stdout. *)

let read_all channel =
  set_binary_mode_in channel true;
  let out = Buffer.create 65536 and block = Bytes.create 65536 in
  let rec more () =
    let count = input channel block 0 (Bytes.length block) in
    if count > 0 then (Buffer.add_subbytes out block 0 count; more ())
  in
  more ();
  Buffer.contents out

let with_channel channel close action = Fun.protect ~finally:(fun () -> close channel) (fun () -> action channel)
let read path = if path = "-" then read_all stdin else with_channel (open_in_bin path) close_in read_all

let write path text =
  if path = "-" then (set_binary_mode_out stdout true; print_string text)
  else with_channel (open_out_bin path) close_out (fun file -> output_string file text)
