//! Do two seccomp filters make the same decision for every possible system call? This crate calls libsecequiv.so, which build.rs finds.
//! Without the feature `library`, the crate has only what needs no library: adapters, and [`testing::assert_optimizer`].
//!
//! ```no_run
//! # #[cfg(not(feature = "library"))]
//! # fn main() {}
//! # #[cfg(feature = "library")]
//! use secequiv::{prove, Filter, Options};
//!
//! # #[cfg(feature = "library")]
//! # fn main() -> Result<(), secequiv::Error> {
//! let options = Options::new().refines();
//! let before = Filter::read("before.json", &options)?;
//! let after = Filter::read("after.json", &options)?;
//! let report = prove(&before, &after, &options)?;
//! if !report.holds() {
//!     eprint!("{}", report.message());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Tests of filters are shorter with [`testing`].

#![deny(unsafe_code)]

pub mod adapter;
mod coverage;
#[cfg(feature = "library")]
mod ffi;
pub mod json;
#[cfg(feature = "library")]
mod library;
pub mod normal_form;
mod serve;
pub mod testing;

#[cfg(feature = "library")]
pub use library::*;

/// A `struct sock_filter`, for programs that have no type for it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    pub code: u16,
    pub jt: u8,
    pub jf: u8,
    pub k: u32,
}

/// A type of instructions. `Owner` is any type of the implementing crate. It lets a crate implement this trait for types of other crates.
pub trait Instruction<Owner> {
    fn to_insn(&self) -> Insn;
    fn from_insn(insn: Insn) -> Self;
}

impl Instruction<Insn> for Insn {
    fn to_insn(&self) -> Insn {
        *self
    }

    fn from_insn(insn: Insn) -> Self {
        insn
    }
}

/// Makes functions accept programs of this type, a structure with the public members `code`, `jt`, `jf` and `k`.
#[macro_export]
macro_rules! instruction_type {
    ($type:path) => {
        const _: () = {
            pub struct Owner;

            impl $crate::Instruction<Owner> for $type {
                fn to_insn(&self) -> $crate::Insn {
                    $crate::Insn {
                        code: self.code,
                        jt: self.jt,
                        jf: self.jf,
                        k: self.k,
                    }
                }

                fn from_insn(insn: $crate::Insn) -> Self {
                    $type {
                        code: insn.code,
                        jt: insn.jt,
                        jf: insn.jf,
                        k: insn.k,
                    }
                }
            }
        };
    };
}

fn bytes<T: Instruction<O>, O>(program: &[T]) -> Vec<u8> {
    program
        .iter()
        .flat_map(|each| {
            let insn = each.to_insn();
            let (code, k) = (insn.code.to_le_bytes(), insn.k.to_le_bytes());
            [code[0], code[1], insn.jt, insn.jf, k[0], k[1], k[2], k[3]]
        })
        .collect()
}
