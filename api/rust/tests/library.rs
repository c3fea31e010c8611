//! Calls every function of the library.
#![cfg(feature = "library")]

use std::time::Duration;

use secequiv::json::Value;
use secequiv::*;

const X86_64: u32 = 0xc000_003e;
const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;

fn insn(code: u16, jt: u8, jf: u8, k: u32) -> Insn {
    Insn { code, jt, jf, k }
}

/// Returns `action` for getpid, and ERRNO(1) for other calls.
fn getpid(action: u32) -> Filter {
    let (load, test) = (insn(0x20, 0, 0, 0), insn(0x15, 0, 1, 39));
    Filter::from_instructions(&[load, test, insn(6, 0, 0, action), insn(6, 0, 0, 0x50001)])
}

fn text(program: &str) -> Filter {
    Filter::parse(program.as_bytes(), "<text>", &Options::new()).expect("a program")
}

fn call(nr: i32) -> SeccompData {
    SeccompData {
        nr,
        arch: X86_64,
        ..SeccompData::default()
    }
}

fn verdict(report: Result<Report, Error>) -> Verdict {
    report.expect("a report").verdict()
}

/// Returns the name of the report's schema.
fn schema(report: Result<Report, Error>) -> String {
    report.unwrap().document().unwrap().text("schema").unwrap()
}

#[test]
fn the_library_has_the_versions_of_this_crate() {
    assert_eq!((abi_version(), &*version()), (ABI_VERSION, env!("CARGO_PKG_VERSION")));
}

#[test]
fn equivalence_and_refinement_are_proven() {
    let (allow, kill, options) = (getpid(ALLOW), getpid(KILL), Options::new());
    let report = prove(&allow, &allow, &options).unwrap();
    assert_eq!(
        (report.verdict(), report.holds(), report.witness()),
        (Verdict::Equivalent, true, None)
    );
    assert_eq!(report.document().unwrap().text("verdict").unwrap(), "equivalent");
    let report = prove(&allow, &kill, &options).unwrap();
    assert_eq!((report.verdict(), report.holds()), (Verdict::Different, false));
    let witness = report.witness().unwrap();
    assert_eq!((witness.data.nr, witness.before, witness.after), (39, ALLOW, KILL));
    assert!(report.message().contains("witness: nr=39"), "{report:?}");
    assert_eq!(verdict(prove(&allow, &kill, &options.clone().refines())), Verdict::Pass);
    assert_eq!(verdict(prove(&kill, &allow, &options.refines())), Verdict::Different);
}

#[test]
fn options_reach_the_library() {
    let (one, two) = (getpid(ALLOW), getpid(ALLOW + 1)); // ALLOW ignores the low bits
    let proven = |options: Options| verdict(prove(&one, &two, &options));
    assert_eq!(proven(Options::new()), Verdict::Different);
    assert_eq!(proven(Options::new().same(Same::Behaviour)), Verdict::Equivalent);
    assert_eq!(proven(Options::new().same(Same::Effect)), Verdict::Equivalent);
    assert_eq!(proven(Options::new().assume("nr != 39")), Verdict::Equivalent);
    assert_eq!(
        proven(Options::new().assume("nr != getpid").arch("aarch64")),
        Verdict::Different
    ); // it has another number there
    let soon = Options::new().engine(Engine::Z3).timeout(Duration::ZERO);
    assert_eq!(verdict(prove(&one, &one, &soon)), Verdict::Unknown);
    let engine = prove(&one, &one, &Options::new().engine(Engine::Sat)).unwrap();
    assert!(engine.message().contains("(sat"), "{engine:?}");
    let oci = |name| Filter::read(format!("../../corpus/policies/oci/{name}"), &Options::new()).unwrap();
    let (old, new) = (oci("docker-default-0.1.0.json"), oci("docker-default.json"));
    let regions = |options: Options| diff(&old, &new, &options).unwrap().message().lines().count();
    assert!(regions(Options::new().max_regions(1).max_memory_mib(100)) < regions(Options::new()));
    let long = Filter::from_instructions(&[vec![insn(0, 0, 0, 0); 5000], vec![insn(6, 0, 0, 0)]].concat());
    assert_eq!(verdict(validate(&long, &Options::new())), Verdict::Rejected);
    assert_eq!(verdict(validate(&long, &Options::new().any_length())), Verdict::Pass);
}

#[test]
fn files_are_parsed() {
    let oci = "../../corpus/policies/oci/docker-default.json";
    let read = |options: Options| Filter::read(oci, &options).unwrap();
    let (plain, admin) = (read(Options::new()), read(Options::new().capabilities("CAP_SYS_ADMIN")));
    assert!(
        plain.is_policy() && plain.notes().contains("skipped"),
        "{}",
        plain.notes()
    );
    assert!(verdict(prove(&plain, &admin, &Options::new())) == Verdict::Different);
    assert!(verdict(prove(&plain, &read(Options::new().kernel("4.0")), &Options::new())) == Verdict::Different);
    let report = prove(&plain, &admin, &Options::new()).unwrap();
    assert!(report.message().contains("docker-default.json:"), "{report:?}"); // both were parsed, so lines are known
    let assembled = text("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n");
    assert_eq!(
        (assembled.instructions(), assembled.is_policy()),
        (getpid(ALLOW).instructions(), false)
    );
    let mixed = diff(&assembled, &getpid(KILL), &Options::new()).unwrap();
    assert_eq!(mixed.verdict(), Verdict::Different);
    let raw = [6, 0, 0, 0, 0, 0, 0, 0];
    let bytes = |form| Filter::parse(&raw, "<bytes>", &Options::new().form(form));
    assert_eq!(bytes("raw").unwrap().instructions(), [insn(6, 0, 0, 0)]);
    assert!(bytes("asm").is_err());
    let refused = Filter::parse(
        b"{\"version\": 1}",
        "p.json",
        &Options::new().policy_format("seccompiler"),
    );
    assert!(refused.err().unwrap().to_string().contains("p.json"));
}

#[test]
fn every_analysis_answers() {
    let (allow, kill, options) = (getpid(ALLOW), getpid(KILL), Options::new());
    let parsed = text("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n");
    assert_eq!(evaluate(&allow, &call(39), &options).unwrap().value(), Some(ALLOW));
    assert_eq!(evaluate(&allow, &call(40), &options).unwrap().value(), Some(0x50001));
    assert_eq!(prove(&allow, &allow, &options).unwrap().value(), None);
    for filter in [&allow, &parsed] {
        assert_eq!(verdict(prove_property(filter, "no-ptrace", &options)), Verdict::Pass);
        assert_eq!(
            verdict(prove_property(filter, "refused: getpid", &options)),
            Verdict::Fail
        );
        assert_eq!(schema(why(filter, &call(39), &options)), "secequiv.why/1");
    }
    assert_eq!(verdict(validate(&allow, &options)), Verdict::Pass);
    assert_eq!(schema(actions(&allow, &options)), "secequiv.actions/1");
    let all = reach(&allow, None, &options).unwrap();
    let one = reach(&allow, Some(2), &options).unwrap();
    assert!(all.json() != one.json() && all.holds() && one.holds());
    let cost_of = |after, profile| cost(&allow, after, profile, &options).unwrap().json().to_owned();
    assert_ne!(cost_of(None, None), cost_of(Some(&kill), None));
    assert_ne!(cost_of(None, None), cost_of(None, Some("getpid 7\n")));
    assert_eq!(verdict(cache(&allow, None, &options)), Verdict::Pass);
    assert_eq!(verdict(cache(&allow, Some(&kill), &options)), Verdict::Fail);
    let rule = r#"{"names": ["read"], "action": "SCMP_ACT_ALLOW"}"#;
    let policy = |rules: &str| format!(r#"{{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{rules}]}}"#);
    let linted = |rules: &str, strict| verdict(lint(policy(rules).as_bytes(), "p.json", strict, &options));
    assert_eq!(linted(rule, true), Verdict::Pass);
    assert_eq!(linted(&[rule, rule].join(","), false), Verdict::Fail);
    let test = |index, value, op| format!(r#"{{"index": {index}, "value": {value}, "op": "{op}"}}"#);
    let socket = |args: &str| format!(r#"{{"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{args}]}}"#);
    let (both, one) = (
        test(0, 1, "SCMP_CMP_NE") + "," + &test(1, 1, "SCMP_CMP_NE"),
        test(0, 2, "SCMP_CMP_EQ"),
    );
    let doubtful = [socket(&both), socket(&one)].join(","); // only the first rule checks arg1
    assert_eq!(
        (linted(&doubtful, false), linted(&doubtful, true)),
        (Verdict::Pass, Verdict::Fail)
    );
}

#[test]
fn errors_name_what_is_wrong() {
    let (allow, options) = (getpid(ALLOW), Options::new());
    let message = |report: Result<Report, Error>| report.expect_err("it passed").to_string();
    let assumed = message(prove(&allow, &allow, &options.clone().assume("nr == nonesuch")));
    assert!(assumed.contains("nonesuch"), "{assumed}");
    assert!(message(prove(&allow, &allow, &options.clone().arch("a\0b"))).contains("without NUL"));
    assert!(message(prove_property(&allow, "no-such-property", &options)).contains("no-such-property"));
    let nothing = Filter::from_instructions::<Insn, Insn>(&[]);
    assert_eq!(verdict(prove(&allow, &nothing, &options)), Verdict::Rejected);
    assert!(Filter::read("no/such/file", &options)
        .err()
        .unwrap()
        .to_string()
        .contains("no/such/file"));
    assert!(!message(lint(b"{", "bad.json", true, &options)).is_empty());
}

#[test]
fn reports_move_between_threads() {
    let report = prove(&getpid(ALLOW), &getpid(KILL), &Options::new()).unwrap();
    let document = std::thread::spawn(move || report.document().unwrap()).join().unwrap();
    assert!(matches!(document.member("witness").unwrap(), Value::Object(_)));
}

#[test]
fn programs_are_transformed() {
    let options = Options::new();
    let long = Filter::parse(
        b"ld [0]\nld [4]\njne #0xc000003e, no\nld [0]\njeq #39, yes\nno: ret #0x50001\nyes: ret #0x7fff0000\n",
        "<text>",
        &options,
    )
    .unwrap();
    let plain = Filter::from_instructions(long.instructions());
    for filter in [&long, &plain] {
        let optimized = optimize(filter, &options).unwrap().program();
        assert!(optimized.instructions().len() < filter.instructions().len());
        let text = disassemble(filter, "c", &options).unwrap().message().into_owned();
        let policy = lift(filter, "policy", &options).unwrap().message().into_owned();
        let read = |text: &str| Filter::parse(text.as_bytes(), "<text>", &options).unwrap();
        for other in [optimized, read(&text), read(&policy)] {
            assert_eq!(verdict(prove(filter, &other, &options)), Verdict::Equivalent);
        }
        assert!(lift(filter, "odd", &options).is_err());
        let page = diff_page(filter, &getpid(KILL), &options).unwrap();
        assert!(page.message().starts_with("<!DOCTYPE html>") && page.json().is_empty());
    }
}
