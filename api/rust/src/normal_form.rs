//! Reads the policies that secequiv sends to compilers under test: numbers only, and each rule as alternatives of conjunctions
//! (harness/adapter/PROTOCOL.md). It must not know how policies are compiled.

use crate::json::Value;

/// A policy. The first matching range decides, then the first matching rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub name: String,
    /// The filter's return value if no rule matches.
    pub default_action: u32,
    /// The return value for all other values of `seccomp_data.arch`.
    pub bad_arch_action: u32,
    pub arches: Vec<Arch>,
    pub ranges: Vec<Range>,
    /// Frequent calls: value of arch, number.
    pub hot: Vec<(u32, u32)>,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arch {
    pub name: String,
    pub audit: u32,
    pub big_endian: bool,
}

/// An action for all system calls from `first` to `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub audit: u32,
    pub first: u32,
    pub last: u32,
    pub action: u32,
}

/// Matches a call if all conditions of at least one alternative hold. An empty alternative always holds, and is then the only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub action: u32,
    pub audit: u32,
    pub nr: u32,
    pub any_of: Vec<Vec<Condition>>,
}

impl Rule {
    pub fn always(&self) -> bool {
        self.any_of.iter().any(Vec::is_empty)
    }
}

/// The field after the six arguments.
pub const INSTRUCTION_POINTER: u8 = 6;

/// An unsigned test of a field (an argument, 0 to 5, or the instruction pointer), or of its low 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub field: u8,
    pub bits: u8,
    pub op: Op,
    /// All ones, except for `MaskedEq`.
    pub mask: u64,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    /// `field & mask == value`
    MaskedEq,
}

impl Policy {
    /// Reads a policy. The error is a sentence.
    pub fn read(text: &[u8]) -> Result<Policy, String> {
        let whole = Value::read(text)?;
        let arches = whole.list("arches", |each| {
            Ok(Arch {
                name: each.text("name")?,
                audit: each.number("audit")?,
                big_endian: each.truth("big_endian")?,
            })
        })?;
        if whole.number::<u32>("normal_form")? != 1 || arches.is_empty() {
            return Err("expected a policy with normal_form 1 and architectures".into());
        }
        Ok(Policy {
            name: whole.text("name")?,
            default_action: whole.number("default_action")?,
            bad_arch_action: whole.number("bad_arch_action")?,
            arches,
            ranges: whole.list("ranges", |each| {
                Ok(Range {
                    audit: each.number("audit")?,
                    first: each.number("first")?,
                    last: each.number("last")?,
                    action: each.number("action")?,
                })
            })?,
            hot: whole.list("hot", |each| Ok((each.number("audit")?, each.number("nr")?)))?,
            rules: whole.list("rules", rule)?,
        })
    }
}

fn rule(read: &Value) -> Result<Rule, String> {
    Ok(Rule {
        action: read.number("action")?,
        audit: read.number("audit")?,
        nr: read.number("nr")?,
        any_of: read.list("any_of", |all_of| match all_of {
            Value::List(items) => items.iter().map(condition).collect(),
            _ => Err("any_of: expected lists of conditions".into()),
        })?,
    })
}

fn condition(read: &Value) -> Result<Condition, String> {
    let op = match read.text("op")?.as_str() {
        "eq" => Op::Eq,
        "ne" => Op::Ne,
        "gt" => Op::Gt,
        "ge" => Op::Ge,
        "lt" => Op::Lt,
        "le" => Op::Le,
        "masked_eq" => Op::MaskedEq,
        other => return Err(format!("unknown operator '{other}'")),
    };
    Ok(Condition {
        field: read.number("field")?,
        bits: read.number("bits")?,
        op,
        mask: read.number("mask")?,
        value: read.number("value")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"normal_form": 1, "name": "a\"\u000a", "default_action": 327681, "bad_arch_action": 2147483648,
        "arches": [{"name": "s390x", "audit": 2147483670, "big_endian": true}],
        "ranges": [{"audit": 2147483670, "first": 5, "last": 9, "action": 7}], "hot": [{"audit": 2147483670, "nr": 3}],
        "rules": [{"action": 0, "audit": 2147483670, "nr": 3, "any_of": [[]]}, {"action": 1, "audit": 2147483670, "nr": 4, "any_of": [
            [{"field": 6, "bits": 32, "op": "masked_eq", "mask": 4294967295, "value": 2}]]}]}"#;

    #[test]
    fn reads_every_member() {
        let audit = 0x8000_0016;
        let condition = Condition {
            field: INSTRUCTION_POINTER,
            bits: 32,
            op: Op::MaskedEq,
            mask: 0xffff_ffff,
            value: 2,
        };
        let expected = Policy {
            name: "a\"\n".into(),
            default_action: 0x50001,
            bad_arch_action: 0x8000_0000,
            arches: vec![Arch {
                name: "s390x".into(),
                audit,
                big_endian: true,
            }],
            ranges: vec![Range {
                audit,
                first: 5,
                last: 9,
                action: 7,
            }],
            hot: vec![(audit, 3)],
            rules: vec![
                Rule {
                    action: 0,
                    audit,
                    nr: 3,
                    any_of: vec![vec![]],
                },
                Rule {
                    action: 1,
                    audit,
                    nr: 4,
                    any_of: vec![vec![condition]],
                },
            ],
        };
        assert!(expected.rules[0].always() && !expected.rules[1].always());
        assert_eq!(Policy::read(TEXT.as_bytes()), Ok(expected));
    }

    #[test]
    fn refuses_other_text() {
        let deep = "[".repeat(100_000);
        for wrong in [
            "",
            "[]",
            "{",
            &deep,
            &format!("{TEXT}{{}}"),
            &TEXT.replacen('1', "2", 1),
            &TEXT.replace("\"nr\"", "\"number\""),
            &TEXT.replace("327681", "18446744073709551616"),
            &TEXT.replace("327681", "4294967296"),
            &TEXT.replace("masked_eq", "mask"),
            &TEXT[..TEXT.len() - 1],
        ] {
            assert!(Policy::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
