(* Coq's binary numbers from and to OCaml's integers, which are at least 0 here. *)

open Proved
open! Stdlib (* some extracted names are those of OCaml, like compare *)

let rec positive i = if i = 1 then XH else if i land 1 = 0 then XO (positive (i lsr 1)) else XI (positive (i lsr 1))
let number i = if i = 0 then N0 else Npos (positive i)

let rec of_positive = function XH -> 1 | XO p -> 2 * of_positive p | XI p -> (2 * of_positive p) + 1
let integer = function N0 -> 0 | Npos p -> of_positive p

(* Raw programs: little-endian struct sock_filter. *)
let program_of_bytes bytes =
  if String.length bytes mod 8 <> 0 then None
  else
    Some
      (List.init (String.length bytes / 8) (fun i ->
           let byte k = Char.code bytes.[(8 * i) + k] in
           let word = byte 4 lor (byte 5 lsl 8) lor (byte 6 lsl 16) lor (byte 7 lsl 24) in
           { code = number (byte 0 lor (byte 1 lsl 8)); jt = number (byte 2); jf = number (byte 3); k = number word }))

let bytes_of_program program =
  let out = Buffer.create 4096 in
  List.iter
    (fun f ->
      Buffer.add_uint16_le out (integer f.code);
      Buffer.add_uint8 out (integer f.jt);
      Buffer.add_uint8 out (integer f.jf);
      Buffer.add_int32_le out (Int32.of_int (integer f.k)))
    program;
  Buffer.contents out
