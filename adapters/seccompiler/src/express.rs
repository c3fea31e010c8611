//! Decides which policies seccompiler can express, and turns them into its filters. It must not know how seccompiler
//! compiles them.

use crate::names;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use secequiv::adapter::Failure;
use secequiv::normal_form::{self, Op, Policy, INSTRUCTION_POINTER};
use serde_json::{json, Value};
use std::collections::BTreeMap;

const ARCHES: [(u32, &str); 3] = [
    (0xc000_003e, "x86_64"),
    (0xc000_00b7, "aarch64"),
    (0xc000_00f3, "riscv64"),
];
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
    arch: &'static str,
    default_action: SeccompAction,
    match_action: SeccompAction,
    rules: BTreeMap<u32, Vec<Conjunction>>, // alternatives; an empty conjunction always holds
}

type Expressed<T> = Result<T, String>;

pub fn express(policy: &Policy) -> Expressed<Spec> {
    let arch = match policy.arches.as_slice() {
        [one] => ARCHES.iter().find(|(audit, _)| *audit == one.audit),
        _ => None,
    };
    let Some((_, arch)) = arch else {
        return Err("seccompiler compiles for exactly one of x86_64, aarch64 and riscv64".into());
    };
    if policy.bad_arch_action != 0x8000_0000 {
        return Err("seccompiler always kills the process for other architectures".into());
    }
    if !policy.ranges.is_empty() {
        return Err("seccompiler has no rules for ranges of system call numbers".into());
    }
    let mut match_action = None;
    let mut rules: BTreeMap<u32, Vec<Conjunction>> = BTreeMap::new();
    for rule in &policy.rules {
        if *match_action.get_or_insert(rule.action) != rule.action {
            return Err("seccompiler gives all rules of a filter the same action".into());
        }
        let entry = rules.entry(rule.nr).or_default();
        for conditions in &rule.any_of {
            let all: Expressed<Option<Conjunction>> = conditions.iter().map(condition).collect();
            entry.extend(all?);
        }
        if entry.len() > MAX_ALTERNATIVES {
            return Err("the rule has too many alternatives".into());
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

/// Returns None for a test that no value can pass.
fn condition(c: &normal_form::Condition) -> Expressed<Option<Condition>> {
    if c.field == INSTRUCTION_POINTER {
        return Err("seccompiler cannot compare the instruction pointer".into());
    }
    // seccompiler masks both sides, so a value with bits outside the mask would match. In a policy,
    // such a condition never holds.
    if c.value & !c.mask != 0 {
        return Ok(None);
    }
    Ok(Some(Condition {
        argument: c.field,
        low_half: c.bits == 32,
        operator: match c.op {
            Op::Eq => SeccompCmpOp::Eq,
            Op::Ne => SeccompCmpOp::Ne,
            Op::Gt => SeccompCmpOp::Gt,
            Op::Ge => SeccompCmpOp::Ge,
            Op::Lt => SeccompCmpOp::Lt,
            Op::Le => SeccompCmpOp::Le,
            Op::MaskedEq => SeccompCmpOp::MaskedEq(c.mask),
        },
        value: c.value,
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
    let arch = TargetArch::try_from(spec.arch).map_err(refused)?;
    let filter =
        SeccompFilter::new(rules, spec.default_action.clone(), spec.match_action.clone(), arch).map_err(refused)?;
    BpfProgram::try_from(filter).map_err(refused)
}

/// Compiles through seccompiler's own JSON format, in which calls have names.
pub fn compile_json(spec: &Spec) -> Result<BpfProgram, Failure> {
    let mut filter = Vec::new();
    for (number, alternatives) in &spec.rules {
        let name = names::syscall_name(spec.arch, *number)
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
    let arch = TargetArch::try_from(spec.arch).map_err(refused)?;
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
