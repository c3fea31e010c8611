//! Do two seccomp filters make the same decision for every possible system call? These assertions run the
//! command line `secequiv`: `$SECEQUIV`, or `secequiv` on `PATH`. A test fails if there is no such command, and also if
//! time runs out.
//!
//! ```no_run
//! # fn build() -> Vec<sock_filter> { vec![] }
//! # fn optimize(program: &[sock_filter]) -> Vec<sock_filter> { program.to_vec() }
//! # #[derive(Clone)] #[allow(non_camel_case_types)] struct sock_filter { code: u16, jt: u8, jf: u8, k: u32 }
//! use secequiv_test::{assert_equivalent, assert_optimizer};
//! secequiv_test::instruction_type!(sock_filter); // once for each crate: seccompiler's, libc's or your own
//!
//! #[test]
//! fn one_pair() {
//!     let program = build();
//!     assert_equivalent(&program, &optimize(&program));
//! }
//!
//! #[test]
//! fn the_optimizer() {
//!     assert_optimizer(|program: &[sock_filter]| optimize(program));
//! }
//! ```

#![deny(unsafe_code)]

pub mod adapter;
mod coverage;
mod json;
pub mod normal_form;
mod serve;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

use json::Value;
pub use serve::{assert_optimizer, assert_optimizer_with};

/// A `struct sock_filter`, for programs that have no type for it.
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

/// Makes the assertions accept programs of this type, a structure with the public members `code`, `jt`, `jf` and `k`.
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

/// Panics unless the two make the same decision for every possible system call.
#[track_caller]
pub fn assert_equivalent<T: Instruction<O>, O>(before: &[T], after: &[T]) {
    assert_equivalent_with(before, after, &[]);
}

/// `assert_equivalent` with options of `secequiv prove`: `&["--assume", "arch == x86_64"]`.
#[track_caller]
pub fn assert_equivalent_with<T: Instruction<O>, O>(before: &[T], after: &[T], options: &[&str]) {
    prove(SAME, before, after, options);
}

/// Panics unless `after` is never more permissive than `before`.
#[track_caller]
pub fn assert_refines<T: Instruction<O>, O>(before: &[T], after: &[T]) {
    assert_refines_with(before, after, &[]);
}

/// `assert_refines` with options of `secequiv prove`: `&["--assume", "arch == x86_64"]`.
#[track_caller]
pub fn assert_refines_with<T: Instruction<O>, O>(before: &[T], after: &[T], options: &[&str]) {
    prove(STRICTER, before, after, &[&["--refines"], options].concat());
}

/// `assert_equivalent` for the programs or policies in two files, in any form that the command line reads. Cargo runs tests in
/// the folder of the package; relative paths start there.
#[track_caller]
pub fn assert_equivalent_files(before: impl AsRef<Path>, after: impl AsRef<Path>) {
    assert_equivalent_files_with(before, after, &[]);
}

/// `assert_equivalent_files` with options of `secequiv prove`: `&["--cap", "CAP_SYS_ADMIN"]`.
#[track_caller]
pub fn assert_equivalent_files_with(before: impl AsRef<Path>, after: impl AsRef<Path>, options: &[&str]) {
    prove_files(SAME, before.as_ref(), after.as_ref(), options);
}

/// `assert_refines` for the programs or policies in two files, as `assert_equivalent_files` reads them.
#[track_caller]
pub fn assert_refines_files(before: impl AsRef<Path>, after: impl AsRef<Path>) {
    assert_refines_files_with(before, after, &[]);
}

/// `assert_refines_files` with options of `secequiv prove`: `&["--filter", "vmm"]` compares the filters with this name in seccompiler's JSON
/// files.
#[track_caller]
pub fn assert_refines_files_with(before: impl AsRef<Path>, after: impl AsRef<Path>, options: &[&str]) {
    prove_files(
        STRICTER,
        before.as_ref(),
        after.as_ref(),
        &[&["--refines"], options].concat(),
    );
}

const SAME: &str = "the filters make different decisions";
const STRICTER: &str = "'after' is more permissive than 'before'";

#[track_caller]
fn prove<T: Instruction<O>, O>(claim: &str, before: &[T], after: &[T], options: &[&str]) {
    let folder =
        Folder::new().unwrap_or_else(|error| panic!("secequiv: cannot create a folder for the filters: {error}"));
    let [before, after] = [("before", before), ("after", after)].map(|(name, program)| {
        let path = folder.0.join(name);
        fs::write(&path, bytes(program)).unwrap_or_else(|error| panic!("secequiv: {}: {error}", path.display()));
        path
    });
    prove_files(claim, &before, &after, options);
}

#[track_caller]
fn prove_files(claim: &str, before: &Path, after: &Path, options: &[&str]) {
    if serve::is_serving() {
        return; // this is a copy of the test program; only its call of assert_optimizer matters
    }
    let run = |json: &[&str]| {
        let mut arguments: Vec<OsString> = vec!["prove".into()];
        arguments.extend(json.iter().chain(options).map(Into::into));
        arguments.extend(["--".into(), before.into(), after.into()]);
        run(&arguments, &[])
    };
    let output = run(&["--json"]);
    let verdict = Value::read(&output.stdout).and_then(|document| document.text("verdict"));
    match (output.status.code(), verdict.as_deref()) {
        (Some(0), Ok("equivalent" | "pass")) => {}
        (Some(1), Ok("different")) => panic!("secequiv: {}{claim}", String::from_utf8_lossy(&run(&[]).stdout)),
        _ => fail(&output),
    }
}

/// Runs secequiv.
#[track_caller]
fn run(arguments: &[OsString], environment: &[(&str, &str)]) -> Output {
    let program = env::var_os("SECEQUIV")
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "secequiv".into());
    Command::new(&program)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "secequiv: '{}' cannot be started (set SECEQUIV, or PATH): {error}",
                Path::new(&program).display()
            )
        })
}

/// Panics because the outcome is not an answer. Standard error has the message, and the document a reason.
#[track_caller]
fn fail(output: &Output) -> ! {
    let document = Value::read(&output.stdout);
    let reason = document.and_then(|read| read.text("reason").or_else(|_| read.text("detail")));
    panic!(
        "secequiv: {}: {}\n{}",
        output.status,
        reason.unwrap_or_default(),
        String::from_utf8_lossy(&output.stderr)
    );
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

/// A new folder, removed with its files when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let path = env::temp_dir().join(format!(
                "secequiv-{}-{}",
                process::id(),
                COUNT.fetch_add(1, Ordering::Relaxed)
            ));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Folder(path)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // files that remain do not change the answer
    }
}
