//! Puts the crate kafel under test as a compiler of policies. It serves requests as harness/adapter/PROTOCOL.md describes. A panic
//! ends the process.

mod express;

use secequiv::adapter::{command, Adapter, Answer, Failure};
use secequiv::normal_form::Policy;
use secequiv::Insn;

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
    command("kafel", &Kafel);
}
