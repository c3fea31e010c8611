//! Reads the policies that secequiv sends to compilers under test: numbers only, and each rule as alternatives of conjunctions
//! (harness/adapter/PROTOCOL.md). It must not know how policies are compiled.

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

/// The field behind the six arguments.
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
        let mut json = Json { text, at: 0 };
        let whole = json.value(0)?;
        json.blank();
        if json.at != text.len() {
            return Err("expected the end after the policy, found more text".into());
        }
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

/// The part of JSON that occurs in the normal form.
enum Value {
    Number(u64),
    Text(String),
    Truth(bool),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    fn member(&self, name: &str) -> Result<&Value, String> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
        .ok_or_else(|| format!("expected an object with '{name}'"))
    }

    fn number<T: TryFrom<u64>>(&self, name: &str) -> Result<T, String> {
        match self.member(name)? {
            Value::Number(value) => T::try_from(*value).ok(),
            _ => None,
        }
        .ok_or_else(|| format!("{name}: expected a number that fits"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        match self.member(name)? {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(format!("{name}: expected text")),
        }
    }

    fn truth(&self, name: &str) -> Result<bool, String> {
        match self.member(name)? {
            Value::Truth(value) => Ok(*value),
            _ => Err(format!("{name}: expected true or false")),
        }
    }

    fn list<T>(&self, name: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, String> {
        match self.member(name)? {
            Value::List(items) => items.iter().map(read).collect(),
            _ => Err(format!("{name}: expected a list")),
        }
    }
}

struct Json<'a> {
    text: &'a [u8],
    at: usize,
}

const DEEPEST: usize = 6;

impl Json<'_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Skips blanks and takes `expected` if it is next.
    fn take(&mut self, expected: &str) -> bool {
        self.blank();
        let found = self.text[self.at..].starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        if self.take(expected) {
            return Ok(());
        }
        Err(format!("expected '{expected}' at byte {}", self.at))
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.blank();
        match self.text.get(self.at) {
            _ if depth > DEEPEST => Err(format!("expected at most {DEEPEST} levels at byte {}", self.at)),
            Some(b'0'..=b'9') => self.number(),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'[') => self.items("[", "]", |json| json.value(depth + 1)).map(Value::List),
            Some(b'{') => self
                .items("{", "}", |json| {
                    json.blank();
                    let key = json.string()?;
                    json.expect(":")?;
                    Ok((key, json.value(depth + 1)?))
                })
                .map(Value::Object),
            _ if self.take("true") => Ok(Value::Truth(true)),
            _ if self.take("false") => Ok(Value::Truth(false)),
            _ => Err(format!("expected a value at byte {}", self.at)),
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        digits
            .parse()
            .map(Value::Number)
            .map_err(|_| format!("expected a number of 64 bits at byte {start}"))
    }

    fn items<T>(
        &mut self,
        open: &str,
        close: &str,
        read: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut out = Vec::new();
        self.expect(open)?;
        if self.take(close) {
            return Ok(out);
        }
        loop {
            out.push(read(self)?);
            if self.take(close) {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        let wrong = || format!("expected text in quotes at byte {start}");
        if self.text.get(start) != Some(&b'"') {
            return Err(wrong());
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let byte = *self.text.get(self.at).ok_or_else(wrong)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(out).map_err(|_| wrong()),
                b'\\' => out.extend(self.escaped().ok_or_else(wrong)?.to_string().as_bytes()),
                _ => out.push(byte),
            }
        }
    }

    /// Reads the rest of an escape sequence. The normal form escapes only quotes, backslashes and control characters.
    fn escaped(&mut self) -> Option<char> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
                self.at += 4;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            b'"' | b'\\' | b'/' => char::from(byte),
            _ => return None,
        })
    }
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
