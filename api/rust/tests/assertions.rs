#![cfg(feature = "library")]

use std::panic::{catch_unwind, UnwindSafe};
use std::path::Path;

use secequiv::testing::{
    assert_equivalent, assert_equivalent_files, assert_equivalent_files_with, assert_equivalent_with, assert_optimizer,
    assert_optimizer_with, assert_refines, assert_refines_files, assert_refines_files_with, assert_refines_with,
};
use secequiv::{Insn, Options, Same};

/// This type is like those of seccompiler and libc.
mod foreign {
    #[allow(non_camel_case_types)]
    #[derive(Clone, Debug)]
    pub struct sock_filter {
        pub code: u16,
        pub jt: u8,
        pub jf: u8,
        pub k: u32,
    }
}

use foreign::sock_filter;
secequiv::instruction_type!(sock_filter);

const JSET: u16 = 0x45;

fn getpid(action: u32) -> Vec<sock_filter> {
    let insn = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        insn(0x20, 0, 0, 0),
        insn(0x15, 0, 1, 39),
        insn(6, 0, 0, action),
        insn(6, 0, 0, 0x50001),
    ]
}

fn allow() -> Vec<sock_filter> {
    getpid(0x7fff_0000)
}

fn kill() -> Vec<sock_filter> {
    getpid(0x8000_0000)
}

#[track_caller]
fn fails(test: impl FnOnce() + UnwindSafe, expected: &[&str]) {
    let panic = catch_unwind(test).expect_err("it passed");
    let text = panic.downcast_ref::<String>().expect("no text");
    for each in expected {
        assert!(text.contains(each), "expected {each:?}, found {text}");
    }
}

fn swap_jset(program: &[sock_filter]) -> Vec<sock_filter> {
    let swap = |insn: &sock_filter| match insn.code {
        JSET => sock_filter {
            jt: insn.jf,
            jf: insn.jt,
            ..insn.clone()
        },
        _ => insn.clone(),
    };
    program.iter().map(swap).collect()
}

#[test]
fn right_filters_pass() {
    assert_equivalent(&allow(), &allow());
    assert_equivalent_with(
        &allow(),
        &kill(),
        &Options::new().assume("nr != getpid").same(Same::Behaviour),
    );
    assert_refines(&allow(), &kill());
}

const DOCKER: &str = "../../corpus/policies/oci/docker-default.json";

#[test]
fn programs_and_policies_in_files_are_compared() {
    let older = Path::new("../../corpus/policies/oci/docker-default-0.1.0.json");
    assert_equivalent_files(DOCKER, Path::new(DOCKER));
    assert_equivalent_files_with(older, DOCKER, &Options::new().assume("nr == read"));
    let allow = Path::new(env!("CARGO_TARGET_TMPDIR")).join("allow.asm");
    std::fs::write(&allow, "ret #0x7fff0000\n").unwrap();
    assert_refines_files(&allow, DOCKER);
    fails(
        || assert_equivalent_files(older, DOCKER),
        &["the filters make different decisions", "docker-default-0.1.0.json:"],
    );
    fails(
        || assert_refines_files(DOCKER, &allow),
        &["LOOSER: ", "'after' is more permissive than 'before'"],
    );
}

/// A file of seccompiler has a filter for each thread.
fn threads(name: &str, vmm: &str, api: &str) -> std::path::PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let filter = |calls: &str| {
        let rest = r#""mismatch_action": "trap", "match_action": "allow""#;
        format!(r#"{{{rest}, "filter": [{calls}]}}"#)
    };
    let text = format!(r#"{{"vmm": {}, "api": {}}}"#, filter(vmm), filter(api));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn filters_in_files_of_several_are_compared() {
    let (read, both) = (r#"{"syscall": "read"}"#, r#"{"syscall": "read"}, {"syscall": "write"}"#);
    let (before, after) = (threads("before.json", both, read), threads("after.json", read, both));
    assert_refines_files_with(&before, &after, &Options::new().filter("vmm"));
    fails(
        || assert_refines_files_with(&before, &after, &Options::new().filter("api")),
        &[
            "LOOSER: write newly allowed",
            "'after' is more permissive than 'before'",
        ],
    );
    fails(|| assert_refines_files(&before, &after), &["options.filter"]);
    assert_refines_with(&kill(), &allow(), &Options::new().assume("nr != getpid"));
}

#[test]
fn files_that_cannot_be_read_fail() {
    fails(
        || assert_equivalent_files("nonexistent.json", DOCKER),
        &["nonexistent.json: No such file"],
    );
}

#[test]
fn wrong_filters_fail() {
    let shown = [
        "secequiv: only stricter: ",
        "the filters make different decisions",
        "witness: nr=39",
        "after:  0x80000000 KILL_PROCESS",
        "jeq #0x27, L2, L3 -> true",
    ];
    fails(|| assert_equivalent(&allow(), &kill()), &shown);
    fails(
        || assert_refines(&kill(), &allow()),
        &["'after' is more permissive than 'before'"],
    );
}

#[test]
fn errors_of_the_command_fail() {
    fails(
        || assert_equivalent(&allow(), &allow()[..1]),
        &["Rejected", "must be a RET"],
    );
    fails(
        || assert_equivalent_with(&allow(), &allow(), &Options::new().assume("nr ==")),
        &["assum"],
    );
    let missing = || assert_optimizer_with(swap_jset, &["--programs", "no-such-file"]);
    fails(missing, &["exit status: 2", "no-such-file"]);
}

#[test]
fn right_optimizers_pass() {
    println!("a test may print");
    assert_optimizer(|program: &[Insn]| program.to_vec());
    assert_optimizer_with(|program: &[sock_filter]| program.to_vec(), &["--trials", "20"]);
}

/// Each test makes only one call. The copy of the process that serves a later call skips the checks of earlier calls in the
/// same test.
macro_rules! wrong_optimizers {
    ($($test:ident: $optimize:expr, $expected:expr;)*) => {$(
        #[test]
        fn $test() {
            fails(|| assert_optimizer($optimize), &["\nthe optimizer is wrong", $expected]);
        }
    )*};
}

wrong_optimizers! {
    different_answers_fail: swap_jset, "| = KILL_THREAD";
    refused_answers_fail: |program: &[Insn]| [program, &program[..1]].concat(), "rejected: ";
    panics_fail: |_: &[Insn]| panic!("oops"), "oops";
    signals_fail: |_: &[Insn]| std::process::abort(), "signal 6";
    empty_answers_fail: |_: &[Insn]| vec![], "garbage: ";
}

#[test]
fn the_second_call_fails() {
    assert_optimizer_with(<[Insn]>::to_vec, &["--trials", "20"]);
    fails(|| assert_optimizer(swap_jset), &["different: "]);
}

#[test]
fn the_program_of_a_finding_is_saved() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("found");
    let save = format!("--save={}", folder.display());
    let stored = format!("  stored: {}/different-", folder.display());
    fails(
        || assert_optimizer_with(swap_jset, &["--trials", "100", &save]),
        &[&stored],
    );
}

/// The command that secequiv stores lacks the environment of this helper.
#[test]
fn a_finding_names_a_command_that_repeats_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repeated");
    let save = folder.to_str().unwrap();
    let message = |options: &[&str]| {
        let run = || assert_optimizer_with(swap_jset, &[&["--save", save], options].concat());
        *catch_unwind(run).expect_err("it passed").downcast::<String>().unwrap()
    };
    let text = message(&[]);
    let (_, how) = text.split_once("  replay: ").expect(&text);
    let (how, _) = how.split_once('\n').unwrap();
    let file = how
        .strip_prefix("add the options \"--programs\", \"")
        .and_then(|rest| {
            rest.strip_suffix(
                "\" of assert_optimizer_with and run: cargo test a_finding_names_a_command_that_repeats_it -- --exact",
            )
        })
        .expect(how);
    let stored = std::fs::read_to_string(file).unwrap();
    assert!(stored.contains(&format!("\n; replay: {how}\n")), "{stored}");
    let again = message(&["--programs", file]);
    assert!(again.contains("trial 1 ("), "{again}");
}

extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
    fn _exit(status: i32) -> !;
}

/// A sanitizer that finds a leak at the end of the process ends it like this.
extern "C" fn end_with_23() {
    unsafe { _exit(23) }
}

#[test]
fn copies_that_fail_after_the_last_answer_fail() {
    let leaks = |program: &[Insn]| {
        unsafe { atexit(end_with_23) };
        program.to_vec()
    };
    fails(
        || assert_optimizer_with(leaks, &["--trials", "20"]),
        &["after its last answer, with exit status 23", "\nthe optimizer is wrong"],
    );
}

#[test]
fn endless_optimizers_fail() {
    fails(
        || {
            assert_optimizer_with(
                |_: &[Insn]| loop {
                    std::thread::park()
                },
                &["--request-timeout", "0.2"],
            )
        },
        &["hung: "],
    );
}
