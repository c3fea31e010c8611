//! Reads resolved policies: our format with numbers in place of names (harness/adapter/PROTOCOL.md). The harness has
//! already checked each policy that it sends. This file must not know how policies are compiled.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub struct Policy {
    version: u32,
    pub arches: Vec<String>, // the first one is the primary architecture
    pub default_action: u32,
    pub bad_arch_action: u32,
    pub x32_action: Option<u32>,
    pub rule_sets: Vec<RuleSet>,
}

#[derive(Deserialize)]
pub struct RuleSet {
    pub action: u32,
    #[serde(default)]
    pub vsyscall: bool,
    pub rules: BTreeMap<String, Rule>, // by call: "x86_64:39"
}

/// `true`, or a tree of conditions.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Rule {
    MatchAll(bool),
    If(Tree),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tree {
    AnyOf(Vec<Rule>),
    AllOf(Vec<Rule>),
    Args(BTreeMap<String, Matcher>), // by field: "0" to "5", "ip"
}

#[derive(Deserialize)]
pub struct Matcher {
    #[serde(flatten)]
    pub test: Test,
    #[serde(default)]
    bits: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    Eq(u64),
    Ne(u64),
    Gt(u64),
    Ge(u64),
    Lt(u64),
    Le(u64),
    MaskedEq { mask: u64, value: u64 },
    BitsAllowlist(u64),
    NonNegativeFd(bool),
}

impl Matcher {
    /// Returns whether the test concerns only the low 32 bits.
    pub fn low_half(&self) -> bool {
        self.bits == 32
    }
}

pub fn read(text: &[u8]) -> Result<Policy, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    json.disable_recursion_limit(); // rules nest deeply; the harness has limited the depth
    let policy = Policy::deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    if policy.version != 1 || policy.arches.is_empty() {
        return Err("expected version 1 and architectures".into());
    }
    Ok(policy)
}

/// Returns the number in a call: 39 for "x86_64:39".
pub fn number(call: &str) -> Result<u32, String> {
    call.split_once(':')
        .and_then(|(_, digits)| digits.parse().ok())
        .ok_or_else(|| format!("'{call}' is not ARCH:NUMBER"))
}
