//! Puts seccompiler under test as a compiler of policies: its Rust interface by default, its JSON front end with
//! `--json`. It serves requests as harness/adapter/PROTOCOL.md describes. A panic ends the process. With `--file` it
//! compiles a file in seccompiler's own format instead.

mod express;
mod names;

use secequiv::adapter::{serve, Adapter, Answer, Failure};
use secequiv::normal_form::Policy;
use secequiv::Insn;
use std::io::{self, Write};

struct Seccompiler {
    json: bool,
}

impl Adapter for Seccompiler {
    fn compile(&self, policy: &Policy) -> Answer<Vec<Insn>> {
        let spec = express::express(policy).map_err(Failure::Unsupported)?;
        let program = if self.json {
            express::compile_json(&spec)
        } else {
            express::compile(&spec)
        }?;
        Ok(program
            .iter()
            .map(|i| Insn {
                code: i.code,
                jt: i.jt,
                jf: i.jf,
                k: i.k,
            })
            .collect())
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [] => serve(&Seccompiler { json: false }),
        [one] if one == "--json" => serve(&Seccompiler { json: true }),
        [one, file, arch, name] if one == "--file" => dump(file, arch, name),
        _ => {
            eprintln!("usage: seccompiler [--json] (it reads requests from standard input), or seccompiler --file FILE ARCH FILTER (it prints the program)");
            std::process::exit(2);
        }
    };
    if let Err(error) = outcome {
        eprintln!("seccompiler: {error}");
        std::process::exit(2);
    }
}

/// Prints seccompiler's program for one filter of a JSON file in its own format.
fn dump(file: &str, arch: &str, name: &str) -> io::Result<()> {
    let wrong = |error: String| io::Error::new(io::ErrorKind::InvalidData, format!("{file}: {error}"));
    let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut raw = Vec::new();
    for i in express::compile_file(&text, arch, name).map_err(wrong)? {
        raw.extend(i.code.to_le_bytes());
        raw.extend([i.jt, i.jf]);
        raw.extend(i.k.to_le_bytes());
    }
    io::stdout().write_all(&raw)
}
