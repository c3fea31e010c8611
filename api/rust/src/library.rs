//! The analyses of libsecequiv.so (api/c/secequiv.h) as safe functions. Owns the memory of results.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::fmt;
use std::path::Path;
use std::ptr::null;
use std::time::Duration;

use crate::ffi::*;
use crate::json::Value;
use crate::{Insn, Instruction};

/// A `struct seccomp_data`: what a filter sees of a system call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeccompData {
    pub nr: i32,
    pub arch: u32,
    pub instruction_pointer: u64,
    pub args: [u64; 6],
}

/// Which return values count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Same {
    /// All 32 bits.
    Raw = SECEQUIV_SAME_RAW,
    /// What a process can observe.
    Behaviour = SECEQUIV_SAME_BEHAVIOUR,
    /// What a process can make the kernel do. For `prove` and `diff` only.
    Effect = SECEQUIV_SAME_EFFECT,
}

/// The engine that proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Engine {
    /// Decision diagrams; beyond their limits the SAT engine, then Z3.
    Dd = SECEQUIV_ENGINE_DD,
    Z3 = SECEQUIV_ENGINE_Z3,
    /// Decision diagrams and Z3, which must agree.
    Both = SECEQUIV_ENGINE_BOTH,
    Sat = SECEQUIV_ENGINE_SAT,
}

const TEXTS: usize = 7;

/// Options of all functions. The defaults prove all 32 bits for all inputs, within 60 seconds and 1024 MiB.
#[derive(Clone, Debug, Default)]
pub struct Options {
    same: u32,
    refines: bool,
    engine: u32,
    any_length: bool,
    timeout_seconds: f64,
    max_memory_mib: u64,
    max_regions: u64,
    /// assume, arch, form, kernel, capabilities, filter, policy_format
    texts: [Option<String>; TEXTS],
}

impl Options {
    pub fn new() -> Options {
        Options::default()
    }

    /// For `prove`, `diff` and `actions`.
    pub fn same(mut self, same: Same) -> Options {
        self.same = same as u32;
        self
    }

    /// Proves that `after` is never more permissive. For `prove`.
    pub fn refines(mut self) -> Options {
        self.refines = true;
        self
    }

    /// For `prove`.
    pub fn engine(mut self, engine: Engine) -> Options {
        self.engine = engine as u32;
        self
    }

    /// Accepts more than 4096 instructions. For `validate`.
    pub fn any_length(mut self) -> Options {
        self.any_length = true;
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Options {
        self.timeout_seconds = timeout.as_secs_f64().max(1e-9); // the library reads 0 as the default
        self
    }

    pub fn max_memory_mib(mut self, most: u64) -> Options {
        self.max_memory_mib = most;
        self
    }

    /// Regions shown in total. For `diff` and `reach`.
    pub fn max_regions(mut self, most: u64) -> Options {
        self.max_regions = most;
        self
    }

    /// Ignores all other inputs: "nr in {read, write}". For `prove` and `diff`.
    pub fn assume(self, condition: &str) -> Options {
        self.text(0, condition)
    }

    /// The host's architecture; "x86_64" without this option.
    pub fn arch(self, name: &str) -> Options {
        self.text(1, name)
    }

    /// "raw", "raw-be", "asm", "ddd" or "c"; without this option, the form is detected. For reading programs.
    pub fn form(self, name: &str) -> Options {
        self.text(2, name)
    }

    /// The host's kernel version; "6.1" without this option. For OCI profiles.
    pub fn kernel(self, version: &str) -> Options {
        self.text(3, version)
    }

    /// The container's capabilities: "CAP_BPF,CAP_CHOWN", "CAP_ALL" or "CAP_DOCKER". For OCI profiles.
    pub fn capabilities(self, names: &str) -> Options {
        self.text(4, names)
    }

    /// The name of the filter in a seccompiler file with several.
    pub fn filter(self, name: &str) -> Options {
        self.text(5, name)
    }

    /// "policy" (our own), "oci", "seccompiler", "minijail", "minijail-compiler" or "pfc"; without this option, the format is detected.
    pub fn policy_format(self, name: &str) -> Options {
        self.text(6, name)
    }

    fn text(mut self, index: usize, value: &str) -> Options {
        self.texts[index] = Some(value.to_owned());
        self
    }

    /// Calls `function` with the structure of the interface; its pointers are valid during the call.
    fn call(&self, function: impl FnOnce(&secequiv_options) -> *mut secequiv_result) -> Result<Report, Error> {
        let mut texts: [Option<CString>; TEXTS] = Default::default();
        for (text, given) in texts.iter_mut().zip(&self.texts) {
            *text = given.as_deref().map(c_text).transpose()?;
        }
        let [assume, arch, form, kernel, capabilities, filter, policy_format] =
            [0, 1, 2, 3, 4, 5, 6].map(|index| pointer(&texts[index]));
        let handle = Handle(function(&secequiv_options {
            size: std::mem::size_of::<secequiv_options>(),
            same: self.same,
            refines: u32::from(self.refines),
            engine: self.engine,
            any_length: u32::from(self.any_length),
            timeout_seconds: self.timeout_seconds,
            max_memory_mib: self.max_memory_mib,
            max_regions: self.max_regions,
            assume,
            arch,
            form,
            kernel,
            capabilities,
            filter,
            policy_format,
        }));
        let verdict = match handle.verdict() {
            SECEQUIV_EQUIVALENT => Verdict::Equivalent,
            SECEQUIV_PASS => Verdict::Pass,
            SECEQUIV_DIFFERENT => Verdict::Different,
            SECEQUIV_UNKNOWN => Verdict::Unknown,
            SECEQUIV_REJECTED => Verdict::Rejected,
            SECEQUIV_FAIL => Verdict::Fail,
            SECEQUIV_ERROR => return Err(Error(handle.text(secequiv_result_message).into_owned())),
            other => return Err(Error(format!("expected a verdict from 0 to 6, found {other}"))),
        };
        Ok(Report { verdict, handle })
    }
}

fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error(format!("expected text without NUL, found {text:?}\n")))
}

fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(null(), |text| text.as_ptr())
}

/// Bad arguments or input. The text names the position, what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.0.trim_end())
    }
}

impl std::error::Error for Error {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven for all inputs that satisfy the assumption.
    Equivalent,
    /// The property holds; with `refines`, the filters still differ.
    Pass,
    /// An input shows the difference, and was replayed.
    Different,
    /// Time or memory ran out.
    Unknown,
    /// The kernel would refuse a program.
    Rejected,
    /// A redundant rule (`lint`), a lost call (`cache`), or a violated property.
    Fail,
}

/// A result of the library, freed when it is dropped. Only one thread at a time may use it, so it is `Send` but not `Sync`.
struct Handle(*mut secequiv_result);

// SAFETY: the interface allows calls from any thread.
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the library made it, and this is its only owner.
        unsafe { secequiv_result_free(self.0) }
    }
}

impl Handle {
    fn verdict(&self) -> c_int {
        // SAFETY: a result of the library, or NULL, which all its functions accept.
        unsafe { secequiv_result_verdict(self.0) }
    }

    fn text(&self, part: unsafe extern "C" fn(*const secequiv_result) -> *const c_char) -> Cow<'_, str> {
        // SAFETY: the result owns the text, which is never NULL and ends with NUL.
        unsafe { CStr::from_ptr(part(self.0)) }.to_string_lossy()
    }

    /// Returns a copy of the parsed program.
    fn program(&self) -> Vec<Insn> {
        let mut length = 0;
        // SAFETY: the result owns `length` instructions, which need not be aligned.
        unsafe {
            let first = secequiv_result_program(self.0, &mut length);
            (0..length).map(|index| first.add(index).read_unaligned()).collect()
        }
    }
}

/// The answer of an analysis.
#[must_use]
pub struct Report {
    verdict: Verdict,
    handle: Handle,
}

/// An input that shows a difference, and what both filters return for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    pub data: SeccompData,
    pub before: u32,
    pub after: u32,
}

impl Report {
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns whether the verdict is `Equivalent` or `Pass`.
    pub fn holds(&self) -> bool {
        // SAFETY: a result of the library.
        unsafe { secequiv_result_holds(self.handle.0) == 1 }
    }

    /// Returns the command line's text for people.
    pub fn message(&self) -> Cow<'_, str> {
        self.handle.text(secequiv_result_message)
    }

    /// Returns notes for people, one in each line: what the answer does not cover. The message contains them, too.
    pub fn notes(&self) -> Cow<'_, str> {
        self.handle.text(secequiv_result_notes)
    }

    /// Returns the JSON document of the command of the same name, as text for any parser.
    pub fn json(&self) -> &str {
        // SAFETY: the result owns the text, if there is one.
        let text = unsafe {
            secequiv_result_json(self.handle.0)
                .as_ref()
                .map(|first| CStr::from_ptr(first))
        };
        text.map_or("", |text| text.to_str().unwrap_or_default())
    }

    /// Returns the JSON document.
    pub fn document(&self) -> Result<Value, Error> {
        Value::read(self.json().as_bytes()).map_err(Error)
    }

    /// Returns the program of `optimize`.
    pub fn program(&self) -> Filter {
        Filter {
            program: self.handle.program(),
            parsed: None,
        }
    }

    /// Returns an input that shows the difference, if there is one.
    pub fn witness(&self) -> Option<Witness> {
        let mut found = Witness {
            data: SeccompData::default(),
            before: 0,
            after: 0,
        };
        let data: *mut SeccompData = &mut found.data;
        // SAFETY: the library writes 64 bytes, the size of SeccompData.
        let shown = unsafe { secequiv_result_witness(self.handle.0, data.cast(), &mut found.before, &mut found.after) };
        (shown == 1).then_some(found)
    }

    /// Returns what the program of `evaluate` returns.
    pub fn value(&self) -> Option<u32> {
        let mut value = 0;
        // SAFETY: a result of the library, and a place for the value.
        (unsafe { secequiv_result_value(self.handle.0, &mut value) } == 1).then_some(value)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{:?}: {}", self.verdict, self.message())
    }
}

/// A program, or a policy that was compiled without optimization.
pub struct Filter {
    program: Vec<Insn>,
    /// Messages about parsed filters name lines of files.
    parsed: Option<Report>,
}

impl Filter {
    pub fn from_instructions<T: Instruction<O>, O>(program: &[T]) -> Filter {
        let program = program.iter().map(T::to_insn).collect();
        Filter { program, parsed: None }
    }

    /// Reads a program in any form (raw bytes, bpf_asm text, decimals, C), or a policy in any format. Messages use `name`; a name that begins
    /// with '<' does not name a file.
    pub fn parse(bytes: &[u8], name: &str, options: &Options) -> Result<Filter, Error> {
        let name = c_text(name)?;
        // SAFETY: the pointers are valid during the call.
        let parsed = options
            .call(|options| unsafe { secequiv_parse(bytes.as_ptr().cast(), bytes.len(), name.as_ptr(), options) })?;
        Ok(Filter {
            program: parsed.handle.program(),
            parsed: Some(parsed),
        })
    }

    /// Reads a file as `parse` does.
    pub fn read(path: impl AsRef<Path>, options: &Options) -> Result<Filter, Error> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| Error(format!("{}: {error}\n", path.display())))?;
        Filter::parse(&bytes, &path.to_string_lossy(), options)
    }

    pub fn instructions(&self) -> &[Insn] {
        &self.program
    }

    pub fn is_policy(&self) -> bool {
        // SAFETY: a result of the library.
        self.parsed
            .as_ref()
            .is_some_and(|parsed| unsafe { secequiv_result_is_policy(parsed.handle.0) } == 1)
    }

    /// Returns what parsing a policy left out, one note in each line.
    pub fn notes(&self) -> Cow<'_, str> {
        self.parsed.as_ref().map_or(Cow::Borrowed(""), Report::notes)
    }

    fn raw(&self) -> (*const Insn, usize) {
        (self.program.as_ptr(), self.program.len())
    }

    fn read_again(&self) -> Result<Read<'_>, Error> {
        if let Some(report) = &self.parsed {
            return Ok(Read::Kept(report));
        }
        let size = self.program.len() * std::mem::size_of::<Insn>();
        let form = if cfg!(target_endian = "little") { "raw" } else { "raw-be" };
        // SAFETY: instructions are plain old data of 8 bytes without padding.
        let bytes = unsafe { std::slice::from_raw_parts(self.program.as_ptr().cast(), size) };
        Filter::parse(bytes, "<memory>", &Options::new().form(form)).map(Read::Made)
    }

    fn handle(&self) -> Option<*const secequiv_result> {
        self.parsed.as_ref().map(|parsed| parsed.handle.0.cast_const())
    }
}

/// A result of `secequiv_parse` that belongs to the filter, or one that was made for it.
enum Read<'a> {
    Kept(&'a Report),
    Made(Filter),
}

impl Read<'_> {
    fn handle(&self) -> *const secequiv_result {
        match self {
            Read::Kept(report) => report.handle.0,
            Read::Made(filter) => filter.handle().unwrap_or(null()),
        }
    }
}

/// Returns the library's version, like "0.1.0".
pub fn version() -> Cow<'static, str> {
    // SAFETY: a constant of the library.
    unsafe { CStr::from_ptr(secequiv_version()) }.to_string_lossy()
}

/// Returns the version of the interface that the library has. `ABI_VERSION` is that of this crate.
pub fn abi_version() -> u32 {
    // SAFETY: the function has no conditions.
    unsafe { secequiv_abi_version() }
}

pub const ABI_VERSION: u32 = SECEQUIV_ABI_VERSION;

// SAFETY of the calls below: filters and texts live until the call returns, their lengths belong to the pointers, and `data` has 64 bytes.

/// Decides whether both are equivalent for all inputs or, with `refines`, whether `after` is never more permissive.
pub fn prove(before: &Filter, after: &Filter, options: &Options) -> Result<Report, Error> {
    compare(before, after, options, secequiv_prove, secequiv_prove_parsed)
}

/// Finds every difference between the two.
pub fn diff(before: &Filter, after: &Filter, options: &Options) -> Result<Report, Error> {
    compare(before, after, options, secequiv_diff, secequiv_diff_parsed)
}

type Compare =
    unsafe extern "C" fn(*const Insn, usize, *const Insn, usize, *const secequiv_options) -> *mut secequiv_result;
type CompareParsed = unsafe extern "C" fn(
    *const secequiv_result,
    *const secequiv_result,
    *const secequiv_options,
) -> *mut secequiv_result;

fn compare(
    before: &Filter,
    after: &Filter,
    options: &Options,
    raw: Compare,
    parsed: CompareParsed,
) -> Result<Report, Error> {
    options.call(|options| match (before.handle(), after.handle()) {
        (Some(before), Some(after)) => unsafe { parsed(before, after, options) },
        _ => unsafe { raw(before.raw().0, before.raw().1, after.raw().0, after.raw().1, options) },
    })
}

/// Decides whether the filter has a property for all inputs. `property` is a name of the library ("no-ptrace"), or clauses
/// ("refused: ptrace").
pub fn prove_property(filter: &Filter, property: &str, options: &Options) -> Result<Report, Error> {
    let property = c_text(property)?;
    let (program, length) = filter.raw();
    options.call(|options| match filter.handle() {
        Some(parsed) => unsafe { secequiv_prove_property_parsed(parsed, property.as_ptr(), options) },
        None => unsafe { secequiv_prove_property(program, length, property.as_ptr(), options) },
    })
}

fn bytes_of(data: &SeccompData) -> (*const c_void, usize) {
    let data: *const SeccompData = data;
    (data.cast(), std::mem::size_of::<SeccompData>())
}

/// Runs the filter on one input. `Report::value` gives the return value.
pub fn evaluate(filter: &Filter, data: &SeccompData, options: &Options) -> Result<Report, Error> {
    let ((program, length), (data, size)) = (filter.raw(), bytes_of(data));
    options.call(|options| unsafe { secequiv_evaluate(program, length, data, size, options) })
}

/// Checks whether the kernel would accept the program.
pub fn validate(filter: &Filter, options: &Options) -> Result<Report, Error> {
    let (program, length) = filter.raw();
    options.call(|options| unsafe { secequiv_validate(program, length, options) })
}

/// Finds out why the filter decides as it does about one input.
pub fn why(filter: &Filter, data: &SeccompData, options: &Options) -> Result<Report, Error> {
    let ((program, length), (data, size)) = (filter.raw(), bytes_of(data));
    options.call(|options| match filter.handle() {
        Some(parsed) => unsafe { secequiv_why_parsed(parsed, data, size, options) },
        None => unsafe { secequiv_why(program, length, data, size, options) },
    })
}

/// Finds the action of each system call, with conditions if it depends on arguments.
pub fn actions(filter: &Filter, options: &Options) -> Result<Report, Error> {
    let (program, length) = filter.raw();
    options.call(|options| unsafe { secequiv_actions(program, length, options) })
}

/// Counts the inputs that reach each instruction and outcome, or divides the inputs that reach one instruction into regions.
pub fn reach(filter: &Filter, instruction: Option<usize>, options: &Options) -> Result<Report, Error> {
    let (program, length) = filter.raw();
    let instruction = instruction.unwrap_or(SECEQUIV_ALL_INSTRUCTIONS);
    options.call(|options| unsafe { secequiv_reach(program, length, instruction, options) })
}

/// Computes how many instructions one or two filters execute for each system call. `profile` states how often each call is made (lines
/// "name calls", for example); without it, each call counts once.
pub fn cost(
    before: &Filter,
    after: Option<&Filter>,
    profile: Option<&str>,
    options: &Options,
) -> Result<Report, Error> {
    let profile = profile.map(c_text).transpose()?;
    let ((one, length), (two, other)) = (before.raw(), after.map_or((null(), 0), Filter::raw));
    options.call(|options| unsafe { secequiv_cost(one, length, two, other, pointer(&profile), options) })
}

/// Finds the calls that the kernel answers from its cache, and those that `after` loses.
pub fn cache(before: &Filter, after: Option<&Filter>, options: &Options) -> Result<Report, Error> {
    let ((one, length), (two, other)) = (before.raw(), after.map_or((null(), 0), Filter::raw));
    options.call(|options| unsafe { secequiv_cache(one, length, two, other, options) })
}

/// Writes the program: "asm", "ddd" or "c". `Report::message` has the text.
pub fn disassemble(filter: &Filter, form: &str, options: &Options) -> Result<Report, Error> {
    let (read, form) = (filter.read_again()?, c_text(form)?);
    options.call(|options| unsafe { secequiv_disassemble(read.handle(), form.as_ptr(), options) })
}

/// Turns the filter back into a policy that is proven to make the same decisions: "policy", "normal-form", "oci" or "text".
/// `Report::message` has the text.
pub fn lift(filter: &Filter, form: &str, options: &Options) -> Result<Report, Error> {
    let (read, form) = (filter.read_again()?, c_text(form)?);
    options.call(|options| unsafe { secequiv_lift(read.handle(), form.as_ptr(), options) })
}

/// Optimizes the filter, and proves that the result makes the same decisions. `Report::program` has the optimized program.
pub fn optimize(filter: &Filter, options: &Options) -> Result<Report, Error> {
    let read = filter.read_again()?;
    options.call(|options| unsafe { secequiv_optimize(read.handle(), options) })
}

/// Writes the page of the command `diff --html`. `Report::message` has the HTML document.
pub fn diff_page(before: &Filter, after: &Filter, options: &Options) -> Result<Report, Error> {
    let (before, after) = (before.read_again()?, after.read_again()?);
    options.call(|options| unsafe { secequiv_diff_page(before.handle(), after.handle(), options) })
}

/// Finds redundant rules of a policy and, with `strict`, doubtful ones. Reads the policy as `Filter::parse` does.
pub fn lint(bytes: &[u8], name: &str, strict: bool, options: &Options) -> Result<Report, Error> {
    let name = c_text(name)?;
    let (text, length) = (bytes.as_ptr().cast(), bytes.len());
    options.call(|options| unsafe { secequiv_lint(text, length, name.as_ptr(), c_int::from(strict), options) })
}
