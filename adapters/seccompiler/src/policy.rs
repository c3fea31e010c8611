//! Reads our policy format (corpus/policies/schema.json) into plain numbers. The harness has checked a policy before it asks
//! about it, so that only what would be misread is refused. Must not know what anyone compiles a policy to.

use crate::names;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub struct Policy {
    pub arches: Vec<String>, // canonical names, the primary one first
    pub default_action: u32,
    pub bad_arch_action: u32,
    pub has_x32_action: bool,
    pub rule_sets: Vec<RuleSet>,
}

/// Rules of the primary architecture, by number.
pub struct RuleSet {
    pub action: u32,
    pub vsyscall: bool,
    pub rules: BTreeMap<u32, Rule>,
}

pub enum Rule {
    MatchAll,
    AnyOf(Vec<Rule>),
    AllOf(Vec<Rule>),
    Args(Vec<(Field, Matcher)>),
}

#[derive(Clone, Copy, PartialEq)]
pub enum Field {
    Argument(u8),
    InstructionPointer,
}

pub struct Matcher {
    pub operator: String, // the format's word for it
    pub value: u64,
    pub mask: u64,
    pub low_half: bool,
}

type Read<T> = Result<T, String>;

struct Reader {
    arch: String,
    variables: BTreeMap<String, u64>,
}

pub fn read(text: &[u8]) -> Read<Policy> {
    let mut json = serde_json::Deserializer::from_slice(text);
    json.disable_recursion_limit(); // rules nest deeply, and the harness has counted how deeply
    let document = Value::deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    let document = object(&document)?;
    if document.get("version") != Some(&Value::from(1)) {
        return Err("expected version 1".into());
    }
    let arches: Vec<String> = array(member(document, "arches")?)?
        .iter()
        .map(|name| name.as_str().map(names::arch).ok_or("not an architecture".to_string()))
        .collect::<Read<_>>()?;
    let mut reader = Reader {
        arch: arches.first().cloned().ok_or("no architectures")?,
        variables: BTreeMap::new(),
    };
    if let Some(variables) = document.get("variables") {
        for (name, value) in object(variables)? {
            let value = value.as_u64().ok_or("a variable that is no number")?;
            reader.variables.insert(name.clone(), value);
        }
    }
    let mut policy = Policy {
        default_action: action(member(document, "default_action")?)?,
        bad_arch_action: document.get("bad_arch_action").map_or(Ok(0x8000_0000), action)?,
        has_x32_action: document.contains_key("x32_action"),
        rule_sets: Vec::new(),
        arches,
    };
    if policy.arches.len() > 1 || !names::ARCHES.contains(&reader.arch.as_str()) {
        return Ok(policy); // beyond seccompiler: nothing else matters
    }
    for set in array(member(document, "rule_sets")?)? {
        policy.rule_sets.push(reader.rule_set(object(set)?)?);
    }
    Ok(policy)
}

fn object(value: &Value) -> Read<&Map<String, Value>> {
    value.as_object().ok_or_else(|| format!("not an object: {value}"))
}

fn array(value: &Value) -> Read<&Vec<Value>> {
    value.as_array().ok_or_else(|| format!("not an array: {value}"))
}

fn member<'a>(map: &'a Map<String, Value>, key: &str) -> Read<&'a Value> {
    map.get(key).ok_or_else(|| format!("the key '{key}' is missing"))
}

fn only(map: &Map<String, Value>) -> Read<(&str, &Value)> {
    match (map.len(), map.iter().next()) {
        (1, Some((key, value))) => Ok((key, value)),
        _ => Err(format!("expected one key, found {}", map.len())),
    }
}

fn action(value: &Value) -> Read<u32> {
    let wrong = || format!("not an action: {value}");
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).map_err(|_| wrong());
    }
    let text = value.as_str().ok_or_else(wrong)?.to_uppercase();
    if let Some(number) = names::unsigned(&text) {
        return u32::try_from(number).map_err(|_| wrong());
    }
    let (name, data) = match text.split_once('(') {
        Some((name, data)) => (name, Some(data.strip_suffix(')').ok_or_else(wrong)?)),
        None => (text.as_str(), None),
    };
    let base: u32 = match name {
        "KILL_PROCESS" => 0x8000_0000,
        "KILL_THREAD" | "KILL" => 0,
        "TRAP" => 0x0003_0000,
        "ERRNO" => 0x0005_0000,
        "USER_NOTIF" => 0x7fc0_0000,
        "TRACE" => 0x7ff0_0000,
        "LOG" => 0x7ffc_0000,
        "ALLOW" => 0x7fff_0000,
        _ => return Err(wrong()),
    };
    let data = match data {
        Some(text) => names::unsigned(text)
            .or_else(|| names::constant("x86_64", text))
            .ok_or_else(wrong)?,
        None => 0,
    };
    u16::try_from(data)
        .map(|data| base | u32::from(data))
        .map_err(|_| wrong())
}

impl Reader {
    fn rule_set(&self, map: &Map<String, Value>) -> Read<RuleSet> {
        let mut set = RuleSet {
            action: action(member(map, "action")?)?,
            vsyscall: map.get("vsyscall") == Some(&Value::Bool(true)),
            rules: BTreeMap::new(),
        };
        for (key, value) in object(member(map, "rules")?)? {
            let rule = self.rule(value)?;
            if set.rules.insert(self.number(key)?, rule).is_some() {
                return Err(format!("'{key}' is listed twice in a rule set"));
            }
        }
        Ok(set)
    }

    /// "read", "39", "x86_64:read"
    fn number(&self, key: &str) -> Read<u32> {
        let name = match key.split_once(':') {
            Some((arch, name)) if names::arch(arch) == self.arch => name,
            Some(_) => return Err(format!("'{key}' is of another architecture")),
            None => key,
        };
        names::unsigned(name)
            .and_then(|number| u32::try_from(number).ok())
            .or_else(|| names::syscall_number(&self.arch, name))
            .ok_or_else(|| format!("unknown system call '{key}'"))
    }

    fn rule(&self, value: &Value) -> Read<Rule> {
        if value == &Value::Bool(true) {
            return Ok(Rule::MatchAll);
        }
        let (key, inner) = only(object(value)?)?;
        let children = || {
            array(inner)?
                .iter()
                .map(|child| self.rule(child))
                .collect::<Read<Vec<_>>>()
        };
        match key {
            "any_of" => Ok(Rule::AnyOf(children()?)),
            "all_of" => Ok(Rule::AllOf(children()?)),
            "args" => {
                let matchers = object(inner)?.iter().map(|(field, matcher)| {
                    let field = match field.as_str() {
                        "ip" => Field::InstructionPointer,
                        digit => Field::Argument(digit.parse().map_err(|_| format!("unknown field '{digit}'"))?),
                    };
                    Ok((field, self.matcher(matcher)?))
                });
                Ok(Rule::Args(matchers.collect::<Read<_>>()?))
            }
            _ => Err(format!("unknown rule '{key}'")),
        }
    }

    fn matcher(&self, value: &Value) -> Read<Matcher> {
        let mut out = Matcher {
            operator: String::new(),
            value: 0,
            mask: 0,
            low_half: false,
        };
        if let Some(word) = value.as_str() {
            out.operator = word.to_string();
            return Ok(out);
        }
        let mut map = object(value)?.clone();
        out.low_half = map.remove("bits") == Some(Value::from(32));
        let (operator, operand) = only(&map)?;
        out.operator = operator.to_string();
        match operator {
            "non_negative_fd" => {}
            "bits_allowlist" => out.mask = self.value(operand)?,
            "masked_eq" => {
                let pair = object(operand)?;
                out.mask = self.value(member(pair, "mask")?)?;
                out.value = self.value(member(pair, "value")?)?;
            }
            _ => out.value = self.value(operand)?,
        }
        Ok(out)
    }

    /// A number, "$variable", or numbers and names of constants joined by |.
    fn value(&self, value: &Value) -> Read<u64> {
        let wrong = || format!("not a value: {value}");
        if let Some(number) = value.as_u64() {
            return Ok(number);
        }
        if let Some(number) = value.as_i64() {
            return Ok(number as u64); // two's complement
        }
        let text = value.as_str().ok_or_else(wrong)?;
        if let Some(name) = text.strip_prefix('$') {
            return self.variables.get(name).copied().ok_or_else(wrong);
        }
        text.split('|').try_fold(0, |sum, term| {
            let term = term.trim_matches(' ');
            let part = names::signed(term).or_else(|| names::constant(&self.arch, term));
            part.map(|part| sum | part).ok_or_else(wrong)
        })
    }
}
