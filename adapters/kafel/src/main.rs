//! Puts the crate kafel under test as a compiler of policies. It serves requests as harness/adapter/PROTOCOL.md describes. A panic
//! ends the process.

mod express;

use secequiv_test::adapter::{serve, Adapter, Answer, Failure};
use secequiv_test::normal_form::Policy;
use secequiv_test::Insn;

struct Kafel;

impl Adapter for Kafel {
    fn compile(&self, policy: &Policy) -> Answer<Vec<Insn>> {
        let program = express::express(policy)
            .map_err(Failure::Unsupported)?
            .codegen()
            .map_err(|error| Failure::Unsupported(error.to_string()))?;
        Ok(program
            .instructions()
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
    if std::env::args().count() > 1 {
        eprintln!("usage: kafel (it takes no arguments and reads requests from standard input)");
        std::process::exit(2);
    }
    if let Err(error) = serve(&Kafel) {
        eprintln!("kafel: {error}");
        std::process::exit(2);
    }
}
