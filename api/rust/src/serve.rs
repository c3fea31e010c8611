//! Lets `secequiv fuzz` run a Rust function as a served command (harness/adapter/PROTOCOL.md). The command is a copy of the test
//! program that runs one test, so that a crash or an endless loop ends only that copy.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;
use std::{env, process, thread};

use crate::json::Value;
use crate::{bytes, fail, run, Folder, Insn, Instruction};

/// An environment variable that names the call of assert_optimizer which a copy serves: the test,
/// and how many calls came before.
const SERVED: &str = "SECEQUIV_TEST_SERVE";

pub(crate) fn is_serving() -> bool {
    env::var_os(SERVED).is_some()
}

/// Panics if `optimize` changes the decisions of any of 1000 generated programs, makes one that the kernel refuses, loses a call
/// that the kernel caches, panics or does not end. Panics also if an answer cannot be proven equivalent within ten seconds.
///
/// secequiv calls `optimize` in copies of the test program that run this test alone, so the test runs again up to this call.
#[track_caller]
pub fn assert_optimizer<T: Instruction<O>, O>(optimize: impl Fn(&[T]) -> Vec<T>) {
    assert_optimizer_with(optimize, &["--trials", "1000", "--require-proof"]);
}

/// `assert_optimizer` with options of `secequiv fuzz`: `&["--trials", "100", "--programs", "filters"]`. Without `--require-proof`,
/// answers that diagrams do not decide quickly are only compared on inputs.
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
    let command = format!("serve:exec {} 3>&1 1>&2", words.join(" "));
    let saves = options
        .iter()
        .any(|each| *each == "--save" || each.starts_with("--save="));
    let folder = (!saves).then(|| {
        Folder::new().unwrap_or_else(|error| panic!("secequiv: cannot create a folder for findings: {error}"))
    });
    let mut arguments = vec![
        "fuzz".into(),
        "--json".into(),
        "--optimizer".into(),
        command.into(),
        "--no-scaling".into(),
        "--stop-at-first".into(),
    ];
    arguments.extend(options.iter().map(Into::into));
    if let Some(folder) = &folder {
        arguments.extend(["--save".into(), folder.0.clone().into()]);
    }
    // Reports quote only a few lines of standard error, so a backtrace would hide the message of a panic.
    let output = run(&arguments, &[(SERVED, &call), ("RUST_BACKTRACE", "0")]);
    let document = Value::read(&output.stdout);
    let verdict = document
        .as_ref()
        .map_or_else(|_| String::new(), |read| read.text("verdict").unwrap_or_default());
    match (output.status.code(), &*verdict) {
        (Some(0), "pass") => {}
        (None | Some(0 | 2 | 3), _) => fail(&output),
        (Some(_), _) => match document.and_then(|read| failures(&read)) {
            Ok(text) if !text.is_empty() => {
                if let Some(folder) = folder {
                    std::mem::forget(folder); // the message names a file in it
                }
                panic!("secequiv: {text}the optimizer is wrong")
            }
            _ => fail(&output),
        },
    }
}

/// Returns the text of the findings that fail.
fn failures(document: &Value) -> Result<String, String> {
    let texts = document.list("findings", |finding| {
        Ok(match finding.truth("failure")? {
            true => finding.text("text")?,
            false => String::new(),
        })
    });
    texts.map(|texts| texts.concat())
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
