//! Decides which policies the crate kafel can express, and turns them into its policies. It must not know how they are compiled.

use kafel::{Action, CmpOp, Expr, PolicyEntry};
use secequiv::normal_form::{Condition, Op, Policy, Rule, INSTRUCTION_POINTER};
use std::collections::BTreeSet;

const X86_64: u32 = 0xc000_003e;
const LARGEST_NUMBER: u32 = 1023;

type Expressed<T> = Result<T, String>;

pub fn express(policy: &Policy) -> Expressed<kafel::Policy> {
    if policy.arches.len() != 1 || policy.arches[0].audit != X86_64 {
        return Err("kafel compiles only for x86_64".into());
    }
    if policy.bad_arch_action != 0x8000_0000 {
        return Err("kafel always kills the process for other architectures".into());
    }
    if !policy.ranges.is_empty() {
        return Err("kafel has no rules for ranges of system call numbers".into());
    }
    let mut entries = Vec::new();
    let mut decided = BTreeSet::new(); // calls with a rule that always matches; kafel would still try later rules first
    for rule in &policy.rules {
        if rule.nr > LARGEST_NUMBER {
            return Err(format!(
                "kafel covers the numbers up to {LARGEST_NUMBER}, not {}",
                rule.nr
            ));
        }
        if decided.contains(&rule.nr) {
            continue;
        }
        if rule.always() {
            decided.insert(rule.nr);
        }
        entries.push(PolicyEntry {
            syscall_number: rule.nr,
            action: action(rule.action)?,
            filter: filter(rule)?,
        });
    }
    Ok(kafel::Policy {
        entries,
        default_action: action(policy.default_action)?,
    })
}

fn action(value: u32) -> Expressed<Action> {
    let data = value & 0xffff;
    match (value & 0xffff_0000, data) {
        (0x8000_0000, 0) => Ok(Action::KillProcess),
        (0, 0) => Ok(Action::Kill),
        (0x0003_0000, _) => Ok(Action::Trap(data)),
        (0x0005_0000, _) => Ok(Action::Errno(data)),
        (0x7fc0_0000, 0) => Ok(Action::UserNotif),
        (0x7ff0_0000, _) => Ok(Action::Trace(data)),
        (0x7ffc_0000, 0) => Ok(Action::Log),
        (0x7fff_0000, 0) => Ok(Action::Allow),
        _ => Err(format!("kafel has no name for the action {value:#010x}")),
    }
}

/// Returns no filter for a rule that always matches.
fn filter(rule: &Rule) -> Expressed<Option<Expr>> {
    if rule.always() {
        return Ok(None);
    }
    let mut any: Option<Expr> = None;
    for conditions in &rule.any_of {
        let mut all: Option<Expr> = None;
        for each in conditions {
            let next = condition(each)?;
            all = Some(match all {
                None => next,
                Some(left) => Expr::And(Box::new(left), Box::new(next)),
            });
        }
        any = match (any, all) {
            (Some(left), Some(next)) => Some(Expr::Or(Box::new(left), Box::new(next))),
            (left, next) => left.or(next),
        };
    }
    Ok(any)
}

fn condition(c: &Condition) -> Expressed<Expr> {
    if c.field == INSTRUCTION_POINTER {
        return Err("kafel cannot compare the instruction pointer".into());
    }
    let op = match c.op {
        Op::Eq | Op::MaskedEq => CmpOp::Eq,
        Op::Ne => CmpOp::Ne,
        Op::Gt => CmpOp::Gt,
        Op::Ge => CmpOp::Ge,
        Op::Lt => CmpOp::Lt,
        Op::Le => CmpOp::Le,
    };
    let rhs = Box::new(Expr::Constant(c.value));
    if c.op != Op::MaskedEq && c.bits == 64 {
        return Ok(Expr::Compare(Box::new(Expr::Arg(c.field)), op, rhs));
    }
    if op != CmpOp::Eq && op != CmpOp::Ne {
        return Err("kafel compares whole arguments by order, not 32 bits".into());
    }
    Ok(Expr::MaskedCompare {
        arg_index: c.field,
        mask: Box::new(Expr::Constant(c.mask)),
        op,
        rhs,
    })
}
