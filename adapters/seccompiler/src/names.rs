//! Names and what they stand for, from the harness's own tables (harness/seccomp/tables).

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../harness/seccomp/tables/",
            $name,
            ".inc"
        ))
    };
}

const CONSTANTS: [&str; 4] = [
    table!("constants"),
    table!("constants_2"),
    table!("constants_3"),
    table!("constants_4"),
];

/// Those that seccompiler has.
pub const ARCHES: [&str; 3] = ["x86_64", "aarch64", "riscv64"];

const ALIASES: [(&str, &str); 6] = [
    ("amd64", "x86_64"),
    ("x86", "i386"),
    ("386", "i386"),
    ("i686", "i386"),
    ("arm64", "aarch64"),
    ("ppc64el", "ppc64le"),
];

/// The canonical name of an architecture; unknown names stay as they are.
pub fn arch(text: &str) -> String {
    let name = match text.strip_prefix("SCMP_ARCH_") {
        Some(scmp) => scmp.to_lowercase(),
        None => text.to_string(),
    };
    match ALIASES.iter().find(|(alias, _)| *alias == name) {
        Some((_, canonical)) => canonical.to_string(),
        None => name,
    }
}

fn syscalls(arch: &str) -> &'static str {
    match arch {
        "x86_64" => table!("x86_64"),
        "aarch64" => table!("aarch64"),
        "riscv64" => table!("riscv64"),
        _ => "",
    }
}

/// `SECEQUIV_SYSCALL(0, "read")`: what is within the parentheses, split.
fn fields<'a>(line: &'a str, head: &str) -> Option<Vec<&'a str>> {
    let inner = line.strip_prefix(head)?.strip_prefix('(')?.strip_suffix(')')?;
    Some(inner.split(", ").map(|field| field.trim_matches('"')).collect())
}

fn numbered(arch: &str) -> impl Iterator<Item = (u32, &'static str)> {
    syscalls(arch).lines().filter_map(|line| {
        let fields = fields(line, "SECEQUIV_SYSCALL")?;
        Some((u32::try_from(unsigned(fields[0])?).ok()?, fields[1]))
    })
}

pub fn syscall_number(arch: &str, name: &str) -> Option<u32> {
    numbered(arch)
        .find(|(_, known)| *known == name)
        .map(|(number, _)| number)
}

pub fn syscall_name(arch: &str, number: u32) -> Option<&'static str> {
    numbered(arch).find(|(known, _)| *known == number).map(|(_, name)| name)
}

pub fn constant(arch: &str, name: &str) -> Option<u64> {
    let lines = || CONSTANTS.iter().flat_map(|part| part.lines());
    let special = lines()
        .filter_map(|line| fields(line, "SECEQUIV_CONSTANT_ARCH"))
        .find(|entry| entry[0] == arch && entry[1] == name)
        .map(|entry| entry[2]);
    let general = || {
        lines()
            .filter_map(|line| fields(line, "SECEQUIV_CONSTANT"))
            .find(|entry| entry[0] == name)
            .map(|entry| entry[1])
    };
    special.or_else(general).and_then(unsigned)
}

/// A decimal or 0x number.
pub fn unsigned(text: &str) -> Option<u64> {
    if text.starts_with('+') {
        return None; // Rust takes it, the format does not
    }
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// The same, or a negative number as its two's complement.
pub fn signed(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(digits) => unsigned(digits)
            .filter(|value| *value <= 1 << 63)
            .map(u64::wrapping_neg),
        None => unsigned(text),
    }
}
