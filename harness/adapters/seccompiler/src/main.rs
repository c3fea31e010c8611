//! Puts seccompiler under test as a compiler of policies: its rules by default, its JSON front end with `--json`.
//! It speaks the served form of harness/adapter/PROTOCOL.md. A panic ends the process.

mod express;
mod frames;
mod names;
mod policy;

use frames::{Failure, Insn};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = match arguments.as_slice() {
        [] => false,
        [one] if one == "--json" => true,
        _ => {
            eprintln!("usage: seccompiler [--json] (requests on standard input)");
            std::process::exit(2);
        }
    };
    let outcome = frames::serve(|kind, body| match kind {
        b'C' => compile(body, json),
        b'O' => Err(Failure::Unsupported("no optimizer here".into())),
        b'E' => Err(Failure::Unsupported("no evaluator here".into())),
        _ => Err(Failure::Unsupported("unknown kind: expected O, C or E".into())),
    });
    if let Err(error) = outcome {
        eprintln!("seccompiler: {error}");
        std::process::exit(2);
    }
}

fn compile(text: &[u8], json: bool) -> Result<Vec<u8>, Failure> {
    let policy = policy::read(text).map_err(Failure::Refused)?;
    let spec = express::express(&policy).map_err(Failure::Unsupported)?;
    let program = if json {
        express::compile_json(&spec)
    } else {
        express::compile(&spec)
    }?;
    let insns = program.iter().map(|i| Insn {
        code: i.code,
        jt: i.jt,
        jf: i.jf,
        k: i.k,
    });
    Ok(frames::encode(insns))
}
