//! Assertions for tests of filters and their optimizers. A test fails also if time runs out. Owns the text of failures.
//!
//! ```no_run
//! # fn build() -> Vec<sock_filter> { vec![] }
//! # fn optimize(program: &[sock_filter]) -> Vec<sock_filter> { program.to_vec() }
//! # #[derive(Clone)] #[allow(non_camel_case_types)] struct sock_filter { code: u16, jt: u8, jf: u8, k: u32 }
//! # #[cfg(feature = "library")]
//! use secequiv::testing::assert_equivalent;
//! use secequiv::testing::assert_optimizer;
//! secequiv::instruction_type!(sock_filter); // once for each crate: seccompiler's, libc's or your own
//!
//! # #[cfg(feature = "library")]
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

pub use crate::serve::{assert_optimizer, assert_optimizer_with};

#[cfg(feature = "library")]
pub use with_library::*;

#[cfg(feature = "library")]
mod with_library {
    use std::path::Path;

    use crate::{prove, serve, Error, Filter, Instruction, Options, Verdict};

    const SAME: &str = "the filters make different decisions";
    const STRICTER: &str = "'after' is more permissive than 'before'";

    /// Panics unless the two make the same decision for every possible system call.
    #[track_caller]
    pub fn assert_equivalent<T: Instruction<O>, O>(before: &[T], after: &[T]) {
        assert_equivalent_with(before, after, &Options::new());
    }

    /// `assert_equivalent` with options: `&Options::new().assume("arch == x86_64")`.
    #[track_caller]
    pub fn assert_equivalent_with<T: Instruction<O>, O>(before: &[T], after: &[T], options: &Options) {
        assert_proven(
            SAME,
            [before, after].map(|program| Ok(Filter::from_instructions(program))),
            options,
        );
    }

    /// Panics unless `after` is never more permissive than `before`.
    #[track_caller]
    pub fn assert_refines<T: Instruction<O>, O>(before: &[T], after: &[T]) {
        assert_refines_with(before, after, &Options::new());
    }

    /// `assert_refines` with options: `&Options::new().assume("arch == x86_64")`.
    #[track_caller]
    pub fn assert_refines_with<T: Instruction<O>, O>(before: &[T], after: &[T], options: &Options) {
        let filters = [before, after].map(|program| Ok(Filter::from_instructions(program)));
        assert_proven(STRICTER, filters, &options.clone().refines());
    }

    /// `assert_equivalent` for the programs or policies in two files, in any form that the command line reads. Cargo runs tests in
    /// the folder of the package; relative paths start there.
    #[track_caller]
    pub fn assert_equivalent_files(before: impl AsRef<Path>, after: impl AsRef<Path>) {
        assert_equivalent_files_with(before, after, &Options::new());
    }

    /// `assert_equivalent_files` with options: `&Options::new().capabilities("CAP_SYS_ADMIN")`.
    #[track_caller]
    pub fn assert_equivalent_files_with(before: impl AsRef<Path>, after: impl AsRef<Path>, options: &Options) {
        let filters = [before.as_ref(), after.as_ref()].map(|path| Filter::read(path, options));
        assert_proven(SAME, filters, options);
    }

    /// `assert_refines` for the programs or policies in two files, as `assert_equivalent_files` reads them.
    #[track_caller]
    pub fn assert_refines_files(before: impl AsRef<Path>, after: impl AsRef<Path>) {
        assert_refines_files_with(before, after, &Options::new());
    }

    /// `assert_refines_files` with options: `&Options::new().filter("vmm")` compares the filters with this name in seccompiler's JSON files.
    #[track_caller]
    pub fn assert_refines_files_with(before: impl AsRef<Path>, after: impl AsRef<Path>, options: &Options) {
        let filters = [before.as_ref(), after.as_ref()].map(|path| Filter::read(path, options));
        assert_proven(STRICTER, filters, &options.clone().refines());
    }

    #[track_caller]
    fn assert_proven(claim: &str, [before, after]: [Result<Filter, Error>; 2], options: &Options) {
        if serve::is_serving() {
            return; // this is a copy of the test program; only its call of assert_optimizer matters
        }
        let report = before
            .and_then(|before| prove(&before, &after?, options))
            .unwrap_or_else(|error| panic!("secequiv: {error}"));
        match report.verdict() {
            Verdict::Equivalent | Verdict::Pass => {}
            Verdict::Different => panic!("secequiv: {}{claim}", report.message()),
            verdict => panic!("secequiv: {verdict:?}: {}", report.message()),
        }
    }
}
