//! Reads and writes the frames of harness/adapter/PROTOCOL.md on standard input and output. It must not know how
//! requests are answered.

use std::io::{self, Read, Write};

/// struct sock_filter
pub struct Insn {
    pub code: u16,
    pub jt: u8,
    pub jf: u8,
    pub k: u32,
}

/// The reason why there is no answer: the code under test cannot express the request, or the
/// request is wrong.
#[derive(Debug)]
pub enum Failure {
    Unsupported(String),
    Refused(String),
}

/// Serves until standard input ends between two frames. Any other end of a pipe is an error.
pub fn serve(handle: impl Fn(u8, &[u8]) -> Result<Vec<u8>, Failure>) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    while let Some(request) = read_frame(&mut input)? {
        let answer = match request.split_first() {
            Some((kind, body)) => handle(*kind, body),
            None => Err(Failure::Refused("expected a request, found an empty frame".into())),
        };
        let (status, body) = match answer {
            Ok(body) => (0, body),
            Err(Failure::Unsupported(why)) => (1, why.into_bytes()),
            Err(Failure::Refused(why)) => (2, why.into_bytes()),
        };
        let length = u32::try_from(body.len() + 1).expect("answers are small");
        output.write_all(&length.to_le_bytes())?;
        output.write_all(&[status])?;
        output.write_all(&body)?;
        output.flush()?;
    }
    Ok(())
}

fn read_frame(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    input.take(4).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let within = || io::Error::new(io::ErrorKind::UnexpectedEof, "standard input ended within a frame");
    let head: [u8; 4] = head.try_into().map_err(|_| within())?;
    let length = u32::from_le_bytes(head);
    let mut frame = Vec::new(); // grows as bytes arrive, so that a wrong length does not cost memory
    input.take(u64::from(length)).read_to_end(&mut frame)?;
    if frame.len() != length as usize {
        return Err(within());
    }
    Ok(Some(frame))
}

pub fn encode(program: impl Iterator<Item = Insn>) -> Vec<u8> {
    let mut raw = Vec::new();
    for insn in program {
        raw.extend(insn.code.to_le_bytes());
        raw.extend([insn.jt, insn.jf]);
        raw.extend(insn.k.to_le_bytes());
    }
    raw
}
