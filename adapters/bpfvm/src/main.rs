//! Puts the virtual machine of the crate bpfvm under test as an evaluator. It serves requests as harness/adapter/PROTOCOL.md describes.

use bpfvm::vm::BpfVM;
use secequiv::adapter::{command, Adapter, Answer, Failure};
use secequiv::Insn;

const NEG: u16 = 0x84;
const MISC: u16 = 0x07;

struct Machine;

impl Adapter for Machine {
    fn evaluate(&self, program: &[Insn], inputs: &[[u8; 64]]) -> Answer<Vec<u32>> {
        if program.iter().any(|insn| insn.code == NEG || insn.code & 7 == MISC) {
            return Err(Failure::Unsupported(
                "bpfvm does not implement NEG, TAX or TXA".into(),
            ));
        }
        let program = program
            .iter()
            .map(|insn| libc::sock_filter {
                code: insn.code,
                jt: insn.jt,
                jf: insn.jf,
                k: insn.k,
            })
            .collect();
        let refused = |error: bpfvm::Error| Failure::Refused(error.to_string());
        let mut machine = BpfVM::new(&program).map_err(refused)?;
        inputs
            .iter()
            .map(|input| {
                let words: Vec<u32> = input
                    .chunks_exact(4)
                    .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
                    .collect();
                machine.run(&words).map_err(refused)
            })
            .collect()
    }
}

fn main() {
    command("bpfvm", &Machine);
}
