//! Puts seccompiler under test as a compiler of policies: its Rust interface by default, its JSON front end with
//! `--json`. It serves requests as harness/adapter/PROTOCOL.md describes. A panic ends the process. With `--file` it
//! compiles a file in seccompiler's own format instead.

mod express;
mod frames;
mod names;
mod policy;

use frames::{Failure, Insn};
use seccompiler::BpfProgram;
use std::io::{self, Write};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = match arguments.as_slice() {
        [] => false,
        [one] if one == "--json" => true,
        [one, file, arch, name] if one == "--file" => return dump(file, arch, name),
        _ => {
            eprintln!("usage: seccompiler [--json] (it reads requests from standard input), or seccompiler --file FILE ARCH FILTER (it prints the program)");
            std::process::exit(2);
        }
    };
    let outcome = frames::serve(|kind, body| match kind {
        b'C' => compile(body, json),
        b'O' => Err(Failure::Unsupported("this adapter does not optimize".into())),
        b'E' => Err(Failure::Unsupported("this adapter does not evaluate".into())),
        _ => Err(Failure::Unsupported("expected a request of kind O, C or E".into())),
    });
    if let Err(error) = outcome {
        eprintln!("seccompiler: {error}");
        std::process::exit(2);
    }
}

/// Prints seccompiler's program for one filter of a JSON file in its own format.
fn dump(file: &str, arch: &str, name: &str) {
    let program = std::fs::read(file)
        .map_err(|error| error.to_string())
        .and_then(|text| express::compile_file(&text, arch, name))
        .map(encoded);
    let written = program.and_then(|raw| io::stdout().write_all(&raw).map_err(|error| error.to_string()));
    if let Err(error) = written {
        eprintln!("seccompiler: {file}: {error}");
        std::process::exit(2);
    }
}

fn encoded(program: BpfProgram) -> Vec<u8> {
    frames::encode(program.iter().map(|i| Insn {
        code: i.code,
        jt: i.jt,
        jf: i.jf,
        k: i.k,
    }))
}

fn compile(text: &[u8], json: bool) -> Result<Vec<u8>, Failure> {
    let policy = policy::read(text).map_err(Failure::Refused)?;
    let spec = express::express(&policy).map_err(Failure::Unsupported)?;
    let program = if json {
        express::compile_json(&spec)
    } else {
        express::compile(&spec)
    }?;
    Ok(encoded(program))
}
