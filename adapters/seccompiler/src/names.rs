//! Provides the names of system calls for seccompiler's own JSON, from the harness's tables (harness/seccomp/tables).

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

/// Each line of a table has the form `SECEQUIV_SYSCALL(0, "read")`.
pub fn syscall_name(arch: &str, number: u32) -> Option<&'static str> {
    let table = match arch {
        "x86_64" => table!("x86_64"),
        "aarch64" => table!("aarch64"),
        "riscv64" => table!("riscv64"),
        _ => return None,
    };
    let head = format!("SECEQUIV_SYSCALL({number}, \"");
    table
        .lines()
        .find_map(|line| line.strip_prefix(&head)?.strip_suffix("\")"))
}
