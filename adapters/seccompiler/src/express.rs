//! Decides which policies seccompiler can express, and turns them into its filters. It must not know how seccompiler
//! compiles them.

use crate::frames::Failure;
use crate::names;
use crate::policy::{number, Matcher, Policy, Rule, Test, Tree};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use serde_json::{json, Value};
use std::collections::BTreeMap;

const ARCHES: [&str; 3] = ["x86_64", "aarch64", "riscv64"];
const MAX_ALTERNATIVES: usize = 256; // for one system call

/// One comparison.
#[derive(Clone)]
pub struct Condition {
    argument: u8,
    low_half: bool,
    operator: SeccompCmpOp,
    value: u64,
}

/// All conditions must hold.
type Conjunction = Vec<Condition>;

pub struct Spec {
    arch: String,
    default_action: SeccompAction,
    match_action: SeccompAction,
    rules: BTreeMap<u32, Vec<Conjunction>>, // alternatives; an empty conjunction always holds
}

type Expressed<T> = Result<T, String>;

pub fn express(policy: &Policy) -> Expressed<Spec> {
    let arch = match policy.arches.as_slice() {
        [one] if ARCHES.contains(&one.as_str()) => one.clone(),
        _ => return Err("seccompiler compiles for exactly one of x86_64, aarch64 and riscv64".into()),
    };
    if policy.bad_arch_action != 0x8000_0000 {
        return Err("seccompiler always kills the process for other architectures".into());
    }
    if policy.x32_action.is_some() {
        return Err("seccompiler has no rules for ranges of system call numbers (x32_action)".into());
    }
    let mut match_action = None;
    let mut rules: BTreeMap<u32, Vec<Conjunction>> = BTreeMap::new();
    for set in policy.rule_sets.iter().filter(|set| !set.rules.is_empty()) {
        if set.vsyscall {
            return Err("seccompiler cannot compare the instruction pointer (vsyscall)".into());
        }
        if *match_action.get_or_insert(set.action) != set.action {
            return Err("seccompiler gives all rules of a filter the same action".into());
        }
        for (call, rule) in &set.rules {
            let entry = rules.entry(number(call)?).or_default();
            entry.extend(alternatives(rule)?);
            if entry.len() > MAX_ALTERNATIVES {
                return Err("the rule has too many alternatives".into());
            }
        }
    }
    rules.retain(|_, list| !list.is_empty()); // an empty list would always match
    let match_action = match_action.unwrap_or(if policy.default_action == 0x7fff_0000 {
        0
    } else {
        0x7fff_0000
    });
    if match_action == policy.default_action {
        return Err("seccompiler refuses rules whose action is the default action".into());
    }
    Ok(Spec {
        arch,
        default_action: action(policy.default_action)?,
        match_action: action(match_action)?,
        rules,
    })
}

fn action(value: u32) -> Expressed<SeccompAction> {
    let data = value & 0xffff;
    match (value & 0xffff_0000, data) {
        (0x8000_0000, 0) => Ok(SeccompAction::KillProcess),
        (0, 0) => Ok(SeccompAction::KillThread),
        (0x0003_0000, 0) => Ok(SeccompAction::Trap),
        (0x0005_0000, _) => Ok(SeccompAction::Errno(data)),
        (0x7ff0_0000, _) => Ok(SeccompAction::Trace(data)),
        (0x7ffc_0000, 0) => Ok(SeccompAction::Log),
        (0x7fff_0000, 0) => Ok(SeccompAction::Allow),
        _ => Err(format!("seccompiler has no name for the action {value:#010x}")),
    }
}

fn alternatives(rule: &Rule) -> Expressed<Vec<Conjunction>> {
    let mut out = Vec::new();
    let tree = match rule {
        Rule::MatchAll(true) => return Ok(vec![Vec::new()]),
        Rule::MatchAll(false) => return Err("seccompiler cannot express a rule that matches nothing".into()),
        Rule::If(tree) => tree,
    };
    match tree {
        Tree::AnyOf(children) => {
            for child in children {
                out.extend(alternatives(child)?);
            }
        }
        Tree::AllOf(children) => {
            out.push(Vec::new());
            for child in children {
                let right = alternatives(child)?;
                out = out
                    .iter()
                    .flat_map(|left| {
                        right
                            .iter()
                            .map(move |more| [left.as_slice(), more.as_slice()].concat())
                    })
                    .collect();
                if out.len() > MAX_ALTERNATIVES {
                    return Err("the rule has too many alternatives".into());
                }
            }
        }
        Tree::Args(matchers) => {
            let mut all = Vec::new();
            for (field, matcher) in matchers {
                match condition(field, matcher)? {
                    Some(condition) => all.push(condition),
                    None => return Ok(out),
                }
            }
            out.push(all);
        }
    }
    Ok(out)
}

/// Returns None for a test that no value can pass.
fn condition(field: &str, matcher: &Matcher) -> Expressed<Option<Condition>> {
    let argument = field
        .parse()
        .map_err(|_| "seccompiler cannot compare the instruction pointer".to_string())?;
    let low_half = matcher.low_half();
    let all = if low_half { 0xffff_ffff } else { u64::MAX };
    let (operator, value) = match matcher.test {
        Test::Eq(value) => (SeccompCmpOp::Eq, value),
        Test::Ne(value) => (SeccompCmpOp::Ne, value),
        Test::Gt(value) => (SeccompCmpOp::Gt, value),
        Test::Ge(value) => (SeccompCmpOp::Ge, value),
        Test::Lt(value) => (SeccompCmpOp::Lt, value),
        Test::Le(value) => (SeccompCmpOp::Le, value),
        // seccompiler masks both sides, so a value with bits outside the mask would match. In a
        // policy, such a matcher never matches.
        Test::MaskedEq { mask, value } if value & !mask != 0 => return Ok(None),
        Test::MaskedEq { mask, value } => (SeccompCmpOp::MaskedEq(mask), value),
        Test::BitsAllowlist(mask) => (SeccompCmpOp::MaskedEq(all & !mask), 0),
        Test::NonNegativeFd(false) => return Err("expected true for non_negative_fd, found false".into()),
        Test::NonNegativeFd(true) => (SeccompCmpOp::MaskedEq(all & !0x7fff_ffff), 0),
    };
    Ok(Some(Condition {
        argument,
        low_half,
        operator,
        value,
    }))
}

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::Unsupported(error.to_string())
}

/// Returns the rules as seccompiler expects them: a call without rules always matches.
fn chain(alternatives: &[Conjunction]) -> Option<&[Conjunction]> {
    let always = alternatives.iter().any(|conditions| conditions.is_empty());
    (!always).then_some(alternatives)
}

pub fn compile(spec: &Spec) -> Result<BpfProgram, Failure> {
    let mut rules = BTreeMap::new();
    for (number, alternatives) in &spec.rules {
        let mut list = Vec::new();
        for conditions in chain(alternatives).unwrap_or_default() {
            let mut all = Vec::new();
            for c in conditions {
                let length = if c.low_half {
                    SeccompCmpArgLen::Dword
                } else {
                    SeccompCmpArgLen::Qword
                };
                all.push(SeccompCondition::new(c.argument, length, c.operator.clone(), c.value).map_err(refused)?);
            }
            list.push(SeccompRule::new(all).map_err(refused)?);
        }
        rules.insert(i64::from(*number), list);
    }
    let arch = TargetArch::try_from(spec.arch.as_str()).map_err(refused)?;
    let filter =
        SeccompFilter::new(rules, spec.default_action.clone(), spec.match_action.clone(), arch).map_err(refused)?;
    BpfProgram::try_from(filter).map_err(refused)
}

/// Compiles through seccompiler's own JSON format, in which calls have names.
pub fn compile_json(spec: &Spec) -> Result<BpfProgram, Failure> {
    let mut filter = Vec::new();
    for (number, alternatives) in &spec.rules {
        let name = names::syscall_name(&spec.arch, *number)
            .ok_or_else(|| Failure::Unsupported(format!("seccompiler has no name for system call {number}")))?;
        match chain(alternatives) {
            None => filter.push(json!({ "syscall": name })),
            Some(list) => filter.extend(list.iter().map(|conditions| {
                json!({ "syscall": name, "args": conditions.iter().map(condition_json).collect::<Vec<_>>() })
            })),
        }
    }
    let document = json!({ "main": {
        "mismatch_action": action_json(&spec.default_action),
        "match_action": action_json(&spec.match_action),
        "filter": filter,
    }});
    let arch = TargetArch::try_from(spec.arch.as_str()).map_err(refused)?;
    let mut compiled = seccompiler::compile_from_json(document.to_string().as_bytes(), arch).map_err(refused)?;
    compiled
        .remove("main")
        .ok_or_else(|| refused("compile_from_json lost the filter"))
}

/// Compiles one filter of a file in seccompiler's JSON. A filter that is not in an object of filters has no name.
pub fn compile_file(text: &[u8], arch: &str, name: &str) -> Result<BpfProgram, String> {
    let document: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let filters = if name.is_empty() {
        json!({ "": document })
    } else {
        document
    };
    let arch = TargetArch::try_from(arch).map_err(|error| error.to_string())?;
    let mut compiled =
        seccompiler::compile_from_json(filters.to_string().as_bytes(), arch).map_err(|error| error.to_string())?;
    compiled.remove(name).ok_or_else(|| format!("no filter '{name}'"))
}

fn condition_json(c: &Condition) -> Value {
    let operator = match c.operator {
        SeccompCmpOp::Eq => json!("eq"),
        SeccompCmpOp::Ne => json!("ne"),
        SeccompCmpOp::Gt => json!("gt"),
        SeccompCmpOp::Ge => json!("ge"),
        SeccompCmpOp::Lt => json!("lt"),
        SeccompCmpOp::Le => json!("le"),
        SeccompCmpOp::MaskedEq(mask) => json!({ "masked_eq": mask }),
    };
    let length = if c.low_half { "dword" } else { "qword" };
    json!({ "index": c.argument, "type": length, "op": operator, "val": c.value })
}

fn action_json(action: &SeccompAction) -> Value {
    match action {
        SeccompAction::Allow => json!("allow"),
        SeccompAction::Errno(data) => json!({ "errno": data }),
        SeccompAction::KillThread => json!("kill_thread"),
        SeccompAction::KillProcess => json!("kill_process"),
        SeccompAction::Log => json!("log"),
        SeccompAction::Trace(data) => json!({ "trace": data }),
        SeccompAction::Trap => json!("trap"),
    }
}
