//! Puts an optimizer, compiler or evaluator of seccomp filters under test: `secequiv fuzz --compiler 'serve:PROGRAM'` runs a program
//! whose `main` calls [`serve`]. This module implements the frames of harness/adapter/PROTOCOL.md. It must not know how requests are answered.
//!
//! ```no_run
//! use secequiv::adapter::{serve, Adapter, Answer};
//! use secequiv::Insn;
//!
//! struct Mine;
//! impl Adapter for Mine {
//!     fn optimize(&self, program: &[Insn]) -> Answer<Vec<Insn>> {
//!         Ok(program.to_vec())
//!     }
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     serve(&Mine)
//! }
//! ```

use std::io::{self, Read, Write};

use crate::normal_form::Policy;
use crate::Insn;

/// The reason why there is no answer: the code under test cannot express the request, or considers it invalid.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    Unsupported(String),
    Refused(String),
}

pub type Answer<T> = Result<T, Failure>;

/// The code under test. Kinds of requests without a function are unsupported.
pub trait Adapter {
    fn optimize(&self, _program: &[Insn]) -> Answer<Vec<Insn>> {
        unsupported("this command does not optimize")
    }

    fn compile(&self, _policy: &Policy) -> Answer<Vec<Insn>> {
        unsupported("this command does not compile")
    }

    /// Returns a value for each input, a `struct seccomp_data` in little-endian byte order.
    fn evaluate(&self, _program: &[Insn], _inputs: &[[u8; 64]]) -> Answer<Vec<u32>> {
        unsupported("this command does not evaluate")
    }
}

fn unsupported<T>(why: &str) -> Answer<T> {
    Err(Failure::Unsupported(why.into()))
}

fn refused<T>(why: impl Into<String>) -> Answer<T> {
    Err(Failure::Refused(why.into()))
}

/// Serves until standard input ends between two frames. Any other end of a pipe is an error.
pub fn serve(adapter: &impl Adapter) -> io::Result<()> {
    answer_all(adapter, &mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Serves as the `main` of an adapter that takes no arguments. Exits with 2 after an error or if there is an argument.
pub fn command(name: &str, adapter: &impl Adapter) {
    if std::env::args().count() > 1 {
        eprintln!("usage: {name} (it takes no arguments and reads requests from standard input)");
        std::process::exit(2);
    }
    if let Err(error) = serve(adapter) {
        eprintln!("{name}: {error}");
        std::process::exit(2);
    }
}

fn answer_all(adapter: &impl Adapter, requests: &mut impl Read, answers: &mut impl Write) -> io::Result<()> {
    while let Some(request) = read_frame(requests)? {
        let (status, body) = match answer(adapter, &request) {
            Ok(body) => (0, body),
            Err(Failure::Unsupported(why)) => (1, why.into_bytes()),
            Err(Failure::Refused(why)) => (2, why.into_bytes()),
        };
        let length =
            u32::try_from(body.len() + 1).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        answers.write_all(&length.to_le_bytes())?;
        answers.write_all(&[status])?;
        answers.write_all(&body)?;
        answers.flush()?;
    }
    Ok(())
}

fn read_frame(requests: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    requests.take(4).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let within = || io::Error::new(io::ErrorKind::UnexpectedEof, "standard input ended within a frame");
    let length = u32::from_le_bytes(head.try_into().map_err(|_| within())?);
    let mut frame = Vec::new(); // grows as bytes arrive, so that a wrong length does not cost memory
    requests.take(u64::from(length)).read_to_end(&mut frame)?;
    if frame.len() != length as usize {
        return Err(within());
    }
    Ok(Some(frame))
}

fn answer(adapter: &impl Adapter, request: &[u8]) -> Answer<Vec<u8>> {
    match request.split_first() {
        None => refused("expected a request, found an empty frame"),
        Some((b'O', program)) => Ok(crate::bytes(&adapter.optimize(&decode(program)?)?)),
        Some((b'C', text)) => {
            let policy = Policy::read(text).map_err(Failure::Refused)?;
            Ok(crate::bytes(&adapter.compile(&policy)?))
        }
        Some((b'E', body)) => evaluate(adapter, body),
        Some((b'R', _)) => match crate::coverage::take_edges() {
            Some(edges) => Ok(edges.iter().flat_map(|edge| edge.to_le_bytes()).collect()),
            None => unsupported("this command is built without coverage counters"),
        },
        Some(_) => unsupported("expected a request of kind O, C, E or R"),
    }
}

fn evaluate(adapter: &impl Adapter, body: &[u8]) -> Answer<Vec<u8>> {
    let Some(head) = body.get(..4) else {
        return refused("expected a number of instructions, found none");
    };
    let rest = &body[4..];
    let bytes = 8 * u64::from(u32::from_le_bytes(head.try_into().expect("4 bytes")));
    if bytes > rest.len() as u64 {
        return refused("the request has fewer instructions than its count states");
    }
    let (program, inputs) = rest.split_at(bytes as usize);
    if inputs.len() % 64 != 0 {
        return refused("expected inputs of 64 bytes each");
    }
    let inputs: Vec<[u8; 64]> = inputs
        .chunks_exact(64)
        .map(|input| input.try_into().expect("64 bytes"))
        .collect();
    let values = adapter.evaluate(&decode(program)?, &inputs)?;
    Ok(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn decode(raw: &[u8]) -> Answer<Vec<Insn>> {
    if raw.is_empty() || raw.len() % 8 != 0 {
        return refused(format!(
            "expected whole instructions of 8 bytes, at least one, found {} bytes",
            raw.len()
        ));
    }
    Ok(raw.chunks_exact(8).map(crate::serve::insn).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct First;
    impl Adapter for First {
        fn optimize(&self, program: &[Insn]) -> Answer<Vec<Insn>> {
            Ok(program[..1].to_vec())
        }
        fn evaluate(&self, program: &[Insn], inputs: &[[u8; 64]]) -> Answer<Vec<u32>> {
            Ok(inputs.iter().map(|input| u32::from(input[63]) + program[0].k).collect())
        }
    }

    fn answered(request: &[u8]) -> (u8, Vec<u8>) {
        let mut framed = (request.len() as u32).to_le_bytes().to_vec();
        framed.extend(request);
        let mut out = Vec::new();
        answer_all(&First, &mut framed.as_slice(), &mut out).expect("an answer");
        assert_eq!(u32::from_le_bytes(out[..4].try_into().unwrap()) as usize, out.len() - 4);
        (out[4], out[5..].to_vec())
    }

    #[test]
    fn answers_requests() {
        let ret = [6, 0, 0, 0, 5, 0, 0, 0];
        assert_eq!(answered(&[b"O".as_slice(), &ret, &ret].concat()), (0, ret.to_vec()));
        let input = [1; 64];
        assert_eq!(
            answered(&[b"E\x01\0\0\0".as_slice(), &ret, &input, &input].concat()),
            (0, vec![6, 0, 0, 0, 6, 0, 0, 0])
        );
    }

    #[test]
    fn refuses_other_requests() {
        for request in [
            b"".as_slice(),
            b"O",
            b"O123",
            b"C{}",
            b"E\x01\0",
            b"E\xff\xff\xff\xff",
            b"E\0\0\0\0",
        ] {
            assert_eq!(answered(request).0, 2, "{request:?}");
        }
        assert_eq!(answered(b"X").0, 1);
        let policy = br#"C{"normal_form": 1, "name": "", "default_action": 0, "bad_arch_action": 0, "arches": [{"name": "", "audit": 1,
            "big_endian": false}], "ranges": [], "hot": [], "rules": []}"#;
        assert_eq!(answered(policy), (1, b"this command does not compile".to_vec()));
        assert!(answer_all(&First, &mut b"\x02\0\0\0O".as_slice(), &mut Vec::new()).is_err());
    }
}
