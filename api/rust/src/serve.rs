//! Lets `secequiv fuzz` run a Rust function as a served command (harness/adapter/PROTOCOL.md). The command is a copy of the test
//! program that runs one test, so that a crash or an endless loop ends only that copy.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;
use std::{env, process, thread};

use crate::json::Value;
use crate::{bytes, Insn, Instruction};

/// An environment variable that names the call of assert_optimizer which a copy serves: the test,
/// and how many calls came before.
const SERVED: &str = "SECEQUIV_TEST_SERVE";

#[cfg(feature = "library")]
pub(crate) fn is_serving() -> bool {
    env::var_os(SERVED).is_some()
}

/// An environment variable that names a file for the exit statuses of copies that fail. secequiv ignores the status of a command
/// that has answered everything.
const ENDS: &str = "SECEQUIV_TEST_ENDS";

/// Panics if `optimize` changes the decisions of any of 1000 generated programs, makes one that the kernel refuses, loses a call
/// that the kernel caches, panics or does not end. Panics also if an answer cannot be proven equivalent within ten seconds.
///
/// secequiv calls `optimize` in copies of the test program that run this test alone, so the test runs again up to this call.
/// After its last program, a copy has five seconds to end: later failures do not count.
#[track_caller]
pub fn assert_optimizer<T: Instruction<O>, O>(optimize: impl Fn(&[T]) -> Vec<T>) {
    assert_optimizer_with(optimize, &[]);
}

/// `assert_optimizer` with more options of `secequiv fuzz`: `&["--trials", "100", "--programs", "filters"]`. The options of `assert_optimizer`
/// remain (`--trials 1000 --require-proof`), unless `options` replaces them: `--trials` or `--duration` replaces the number of programs, and
/// `--require-proof=false` also accepts answers that are only compared on inputs because diagrams do not decide them quickly.
#[track_caller]
pub fn assert_optimizer_with<T: Instruction<O>, O>(optimize: impl Fn(&[T]) -> Vec<T>, options: &[&str]) {
    let test = match thread::current().name() {
        Some(name) if name != "main" => name.to_owned(), // the test harness names its threads after the tests
        _ => panic!("secequiv: call assert_optimizer in a test, on the thread of the test"),
    };
    let call = format!("{test}#{}", calls_before(&test));
    match env::var(SERVED) {
        // A panic ends the process here, because the test must not catch it.
        Ok(asked) if asked == call => match catch_unwind(AssertUnwindSafe(|| answer(&optimize))) {
            Ok(Ok(())) => process::exit(0),
            Ok(Err(error)) => {
                eprintln!("{error}");
                process::exit(2)
            }
            Err(_) => process::exit(101),
        },
        Ok(_) => return,
        Err(_) => {}
    }
    let program = env::current_exe()
        .unwrap_or_else(|error| panic!("secequiv: cannot find the path of the test program: {error}"));
    let words = [
        &*program.to_string_lossy(),
        "--exact",
        &test,
        "--nocapture",
        "--include-ignored",
        "--test-threads=2",
    ];
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    // What the test prints goes to standard error, so that it cannot be taken for answers.
    let command = format!(
        "serve:{} 3>&1 1>&2; status=$?; test $status = 0 || echo $status >> \"${ENDS}\"; exit $status",
        words.join(" ")
    );
    let new_folder =
        || Folder::new().unwrap_or_else(|error| panic!("secequiv: cannot create a folder for findings: {error}"));
    let (folder, reports) = (new_folder(), new_folder());
    let mut arguments: Vec<OsString> = ["fuzz", "--json", "--optimizer", &command].map(Into::into).into();
    arguments.extend(with_defaults(options).into_iter().map(Into::into));
    let saves = gives(options, "--save");
    if !saves {
        arguments.extend(["--save".into(), folder.0.clone().into()]);
    }
    let ends = reports.0.join("ends");
    // Reports quote only a few lines of standard error, so a backtrace would hide the message of a panic.
    let environment = [
        (SERVED, &*call),
        (ENDS, &ends.to_string_lossy()),
        ("RUST_BACKTRACE", "0"),
    ];
    let output = run(&arguments, &environment);
    let document = Value::read(&output.stdout);
    let verdict = document
        .as_ref()
        .map_or_else(|_| String::new(), |read| read.text("verdict").unwrap_or_default());
    match (output.status.code(), &*verdict) {
        (Some(0), "pass") => {
            if let Ok(statuses) = fs::read_to_string(&ends) {
                let statuses: Vec<&str> = statuses.split_whitespace().collect();
                panic!(
                    "secequiv: a copy of the test program ended after its last answer, with exit status {}\nthe optimizer is wrong",
                    statuses.join(", ")
                );
            }
        }
        (None | Some(0 | 2 | 3), _) => fail(&output),
        (Some(_), _) => match document.and_then(|read| failures(&read, &test)) {
            Ok(text) if !text.is_empty() => {
                if !saves {
                    std::mem::forget(folder); // the message names a file in it
                }
                panic!("secequiv: {text}the optimizer is wrong")
            }
            _ => fail(&output),
        },
    }
}

fn gives(options: &[&str], name: &str) -> bool {
    let assigned = format!("{name}=");
    options.iter().any(|each| *each == name || each.starts_with(&assigned))
}

/// Adds the defaults that the options do not replace; the command line refuses options that are given twice.
fn with_defaults<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let mut all = options.to_vec();
    for (replaced_by, defaults) in [
        (&["--trials", "--duration"][..], &["--trials", "1000"][..]),
        (&["--require-proof"], &["--require-proof"]),
        (&["--no-scaling"], &["--no-scaling"]),
        (&["--stop-at-first"], &["--stop-at-first"]),
    ] {
        if !replaced_by.iter().any(|name| gives(options, name)) {
            all.extend(defaults);
        }
    }
    all
}

/// Returns the text of the findings that fail, and how to repeat each one.
fn failures(document: &Value, test: &str) -> Result<String, String> {
    let texts = document.list("findings", |finding| {
        if !finding.truth("failure")? {
            return Ok(String::new());
        }
        let mut text = finding.text("text")?;
        if let Ok(file) = finding.text("file") {
            let file = fs::canonicalize(&file).unwrap_or_else(|_| file.into());
            let how = format!(
                "add the options \"--programs\", {:?} of assert_optimizer_with and run: cargo test {test} -- --exact",
                file.to_string_lossy()
            );
            replace_replay(&file, &how);
            text += &format!("  replay: {how}\n");
        }
        Ok(text)
    });
    texts.map(|texts| texts.concat())
}

/// Replaces the stored command, which lacks the environment in which a test serves requests. If this fails, the message still names the right
/// command.
fn replace_replay(file: &Path, how: &str) {
    let Ok(text) = fs::read_to_string(file) else { return };
    let replaced = text
        .split_inclusive('\n')
        .map(|line| match line.starts_with("; replay: ") {
            true => format!("; replay: {how}\n"),
            false => line.to_owned(),
        });
    let _ = fs::write(file, replaced.collect::<String>());
}

fn calls_before(test: &str) -> u32 {
    static CALLS: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);
    let mut calls = CALLS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = calls
        .get_or_insert_with(HashMap::new)
        .entry(test.to_owned())
        .or_insert(0);
    *count += 1;
    *count - 1
}

/// Answers requests on standard input through descriptor 3.
fn answer<T: Instruction<O>, O>(optimize: impl Fn(&[T]) -> Vec<T>) -> io::Result<()> {
    let mut requests = io::stdin().lock();
    let mut answers = OpenOptions::new().write(true).open("/proc/self/fd/3")?;
    loop {
        let mut length = [0; 4];
        match requests.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let mut frame = vec![0; u32::from_le_bytes(length) as usize];
        requests.read_exact(&mut frame)?;
        let mut body = vec![0];
        if let Some((b'O', program)) = frame.split_first() {
            let program: Vec<T> = program.chunks_exact(8).map(|raw| T::from_insn(insn(raw))).collect();
            body.extend(bytes(&optimize(&program)));
        } else {
            body = b"\x01an optimizer without stages".to_vec();
        }
        let mut out = (body.len() as u32).to_le_bytes().to_vec();
        out.append(&mut body);
        answers.write_all(&out)?;
    }
}

pub(crate) fn insn(raw: &[u8]) -> Insn {
    Insn {
        code: u16::from_le_bytes([raw[0], raw[1]]),
        jt: raw[2],
        jf: raw[3],
        k: u32::from_le_bytes([raw[4], raw[5], raw[6], raw[7]]),
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

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [&str; 3] = ["--require-proof", "--no-scaling", "--stop-at-first"];

    #[test]
    fn options_replace_only_their_own_defaults() {
        for (options, defaults) in [
            (&[][..], &["--trials", "1000"][..]),
            (&["--seed", "3"], &["--trials", "1000"]),
            (&["--trials", "5"], &[]),
            (&["--trials=5"], &[]),
            (&["--duration", "60"], &[]),
        ] {
            assert_eq!(with_defaults(options), [options, defaults, &FLAGS].concat());
        }
        assert_eq!(
            with_defaults(&["--require-proof=false", "--no-scaling"]),
            [
                "--require-proof=false",
                "--no-scaling",
                "--trials",
                "1000",
                "--stop-at-first"
            ]
        );
    }
}
