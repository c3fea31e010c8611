"""Tests the table of the bits that the kernel looks at: its form, its rules, and the types of the running kernel.

Only one test needs the kernel's source, a package of 130 MB. Where the package is missing, the test is skipped. The other tests still
notice if the rules or the table changed without the other.
"""

import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tables import generate, kernel_source, output, seen_bits, sources
from tables.seen_selection import TYPES

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT / "harness" / "seccomp" / "tables"
GEN_TABLES = ROOT / "scripts" / "gen_tables"
ROW = re.compile(r'SECEQUIV_SEEN\((\w+), (0x[0-9a-f]+|[0-9]+), "([a-z0-9_]+)", "([-huiLl]*)"\)')
X86_64 = seen_bits.ROUTES["x86_64"][0]


def rows():
    """Returns [(arch, number, name, code)], in the order of the file."""
    lines = [line for line in (TABLES / output.SEEN_BITS).read_text().splitlines() if not line.startswith("//")]
    found = [ROW.fullmatch(line) for line in lines]
    assert all(found)
    return [("x32" if macro == "X86_64" and int(number, 0) >= 0x40000000 else macro.lower(), int(number, 0), name, code)
            for macro, number, name, code in (match.groups() for match in found)]


def code_of(arch, wanted):
    return {name: code for row_arch, _, name, code in rows() if row_arch == arch}.get(wanted)


def test_rows_belong_to_calls_and_are_sorted():
    names = generate.stored_names(TABLES)
    table = rows()
    assert all(names[arch][number] == name for arch, number, name, _ in table)
    keys = [(sources.SCMP_ARCHES["x86_64" if arch == "x32" else arch], number) for arch, number, _, _ in table]
    assert keys == sorted(set(keys))
    assert all(len(code) <= 6 and not code.endswith("-") for _, _, _, code in table)
    assert {arch for arch, _, _, _ in table} == set(sources.SCMP_ARCHES)


@pytest.mark.parametrize("arch, name, code", [
    ("x86_64", "read", "uLL"), ("x86_64", "openat", "iLih"), ("x86_64", "getpid", ""), ("x86_64", "ptrace", "llLL"),
    ("i386", "openat", "iuih"), ("i386", "chown", "uhh"), ("i386", "pread64", "uuuuu"), ("i386", "sigsuspend", "iiu"),
    ("x32", "ioctl", "uuu"), ("x32", "readv", "LLL"), ("aarch64", "clone", "uLLLL"), ("s390x", "clone", "LuLLL"), ("arm", "truncate64", "uuuu"),
    ("riscv64", "riscv_flush_icache", "LLL"), ("s390x", "ipc", "uiLLL"), ("ppc64le", "ipc", "uiLLLl"), ("mips64", "cachectl", "Lii"),
    ("x86_64", "vserver", None), ("x86_64", "mseal", None), ("arm", "rt_sigreturn", None), ("mips64", "rt_sigreturn", None),
])
def test_known_calls(arch, name, code):
    assert code_of(arch, name) == code


def test_the_table_is_made_by_these_rules():
    recorded = re.search(r"^// Rules: .* SHA-256 ([0-9a-f]{64})\.$", (TABLES / output.SEEN_BITS).read_text(), re.MULTILINE)
    assert recorded.group(1) == generate.rules_hash(), \
        "a script of output.RULES changed: install %s and run scripts/gen_tables --seen-bits" % kernel_source.SOURCE_PACKAGE


def test_regenerating_gives_the_same_table():
    try:
        made = generate.generate_seen_bits(TABLES, kernel_source.SOURCE_PATH)
    except sources.Missing as missing:
        pytest.skip("cannot regenerate %s here: %s" % (output.SEEN_BITS, missing))
    assert made == {output.SEEN_BITS: (TABLES / output.SEEN_BITS).read_bytes()}


def test_a_missing_source_gives_exit_status_2(tmp_path):
    run = subprocess.run([sys.executable, str(GEN_TABLES), "--seen-bits", "--check", "--kernel-source", str(tmp_path / "none.tar.xz")],
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.returncode == 2
    assert run.stderr == "gen_tables: %s/none.tar.xz does not exist (Debian: linux-source-6.1)\n" % tmp_path


def test_kernel_source_belongs_to_seen_bits():
    run = subprocess.run([sys.executable, str(GEN_TABLES), "--check", "--kernel-source", "x"], text=True, stderr=subprocess.PIPE)
    assert run.returncode == 2 and "--kernel-source has no effect without --seen-bits" in run.stderr


def archive(path, files):
    with tarfile.open(path, "w:xz") as out:
        for name, text in files.items():
            member = tarfile.TarInfo("linux/" + name)
            member.size = len(text.encode())
            out.addfile(member, io.BytesIO(text.encode()))
    return path


def test_another_version_is_missing(tmp_path):
    path = archive(tmp_path / "linux.tar.xz", {"Makefile": "VERSION = 6\nPATCHLEVEL = 12\n"})
    with pytest.raises(sources.Missing, match="has version 6.12, but the table is made from version 6.1"):
        kernel_source.KernelSource(path)
    path.write_bytes(b"no archive")
    with pytest.raises(sources.Missing, match="is not the archive of linux-source-6.1"):
        kernel_source.KernelSource(path)


def test_an_exception_needs_its_line(tmp_path):
    text = "SYSCALL_DEFINE0(x)\n\tsys_mmap2:\n  str r5\n"
    source = kernel_source.KernelSource(archive(tmp_path / "linux.tar.xz", {"Makefile": "VERSION = 6\nPATCHLEVEL = 1\n", "arch/arm/a.S": text}))
    source.require("arch/arm/a.S", "sys_mmap2: str r5")
    with pytest.raises(sources.TableError, match="a.S no longer contains `str r6`"):
        source.require("arch/arm/a.S", "str r6")


C_SOURCE = """
/* SYSCALL_DEFINE1(comment, int, a) */
#ifdef CONFIG_CLONE_BACKWARDS
SYSCALL_DEFINE1(pick, int, a)
#elif defined(CONFIG_OTHER)
SYSCALL_DEFINE2(pick, int, a, // SYSCALL_DEFINE1(
\t\tint, b)
#else
SYSCALL_DEFINE3(pick, const  char
\t__user *, a, umode_t, b, int, c)
#endif
#define SYSCALL_DEFINE1(name, ...) SYSCALL_DEFINEx(1, _##name, __VA_ARGS__)
SYSCALL32_DEFINE3(split, int, a, SC_ARG64(mask))
COMPAT_SYSCALL_DEFINE4(arg, compat_arg_u64_dual(pos), int, a, compat_ulong_t, b)
"""


def test_definitions_are_read():
    found = kernel_source.definitions("arch/x86/a.c", C_SOURCE)
    assert [(d.kind, d.name, d.types, d.arch, d.where) for d in found] == [
        ("sys", "pick", ("int",), "x86", "arch/x86/a.c:4"),
        ("sys", "pick", ("int", "int"), "x86", "arch/x86/a.c:6"),
        ("sys", "pick", ("const char __user *", "umode_t", "int"), "x86", "arch/x86/a.c:9"),
        ("compat_sys", "split", ("int", "u32", "u32"), "x86", "arch/x86/a.c:13"),
        ("sys", "split", ("int", "u32", "u32"), "x86", "arch/x86/a.c:13"),
        ("compat_sys", "arg", ("u32", "u32", "int", "compat_ulong_t"), "x86", "arch/x86/a.c:14"),
    ]
    picks = {kernel: [len(d.types) for d in found if d.name == "pick" and seen_bits.possible(d.conditions, kernel)]
             for kernel in ("x86 32", "x86 64")}
    assert picks == {"x86 32": [1], "x86 64": [2, 3]}


@pytest.mark.parametrize("line", ["SYSCALL_DEFINE2(few, int, a)", "SYSCALL_DEFINE1(many, int, a, int, b)", "SYSCALL_DEFINE1(open, int, a"])
def test_an_unreadable_definition_is_an_error(line):
    with pytest.raises(sources.TableError, match=r"a.c:1: cannot read this SYSCALL_DEFINE"):
        kernel_source.definitions("a.c", line)


@pytest.mark.parametrize("conditions, kernel, answer", [
    ((), "x86 64", True),
    ((("ifdef CONFIG_CLONE_BACKWARDS",),), "x86 64", False),
    ((("ifndef CONFIG_CLONE_BACKWARDS",),), "x86 64", True),
    ((("ifdef CONFIG_CLONE_BACKWARDS", "else"),), "x86 32", False),
    ((("if defined(CONFIG_ARCH_SPLIT_ARG64) || defined(CONFIG_COMPAT)",), ("ifndef CONFIG_COMPAT",)), "x86 64", False),
    ((("if defined(CONFIG_ARCH_SPLIT_ARG64) || defined(CONFIG_COMPAT)",), ("ifndef CONFIG_COMPAT",)), "x86 32", True),
    ((("if BITS_PER_LONG == 32",),), "x86 64", True),  # not read, so both are possible
    ((("if BITS_PER_LONG == 32", "else"),), "x86 64", True),
    ((("if BITS_PER_LONG == 32",), ("if BITS_PER_LONG == 32", "else")), "x86 64", False),
])
def test_conditions(conditions, kernel, answer):
    assert seen_bits.possible(conditions, kernel) == answer


@pytest.mark.parametrize("kernel, registers, types, code", [
    ("x86 64", 64, ("int", "const size_t", "const void __user *const", "umode_t", "loff_t"), "iLLhl"),
    ("x86 64", 32, ("long", "loff_t", "u64", "struct x __user *", "old_uid_t"), "iiuuh"),
    ("arm 32", 32, ("int", "loff_t", "size_t"), "i-uuu"),
    ("arm 32", 32, ("int", "int", "u64"), "iiuu"),
])
def test_types_become_letters(kernel, registers, types, code):
    assert seen_bits.letters(seen_bits.Route(kernel, registers), types) == code


@pytest.mark.parametrize("route, types, message", [
    (X86_64, ("banana_t",), "no rule for the type banana_t"),
    (seen_bits.Route("x86 32", 32), ("loff_t",), "no rule for loff_t in 32-bit registers"),
    (seen_bits.Route("arm 32", 32), ("int", "u64", "int", "u64"), "more than six registers"),
])
def test_types_that_no_rule_covers_are_an_error(route, types, message):
    with pytest.raises(sources.TableError, match=message):
        seen_bits.letters(route, types)


def test_merging_keeps_what_any_kernel_looks_at():
    assert seen_bits.merge(["i-h", "uuLi"]) == "iuLi"


def test_an_entry_point_without_definition_is_an_error():
    with pytest.raises(sources.TableError, match="no definition of sys_banana"):
        seen_bits.code(X86_64, "sys_banana", {})
    assert seen_bits.code(X86_64, "sys_lookup_dcookie", {}) is None
    foreign = kernel_source.definitions("arch/arm/a.c", "SYSCALL_DEFINE1(banana, int, a)")
    with pytest.raises(sources.TableError, match="no definition of sys_banana"):
        seen_bits.code(X86_64, "sys_banana", {"sys_banana": foreign})


EVENTS = "/sys/kernel/tracing/events/syscalls"
# The kernel's functions have other names than their calls (syscall_64.tbl).
FUNCTIONS = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "umount2": "umount", "sendfile": "sendfile64"}


def test_the_running_kernel_looks_at_no_other_bits():
    """Compares the types that tracefs shows, in a mount namespace of its own."""
    script = "[ -d %s ] || mount -t tracefs tracefs /sys/kernel/tracing; cd %s && grep -H field: sys_enter_*/format" % (EVENTS, EVENTS)
    try:
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        machine = subprocess.run(["uname", "-m"], text=True, stdout=subprocess.PIPE).stdout.strip()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    if done.returncode != 0 or machine != "x86_64":
        pytest.skip("no tracefs with system calls of x86_64 here (CONFIG_FTRACE_SYSCALLS, root): %s" % done.stderr.strip())
    types = {}
    for call, text, offset in re.findall(r"^sys_enter_(\w+)/format:\tfield:(.*);\toffset:(\d+);", done.stdout, re.MULTILINE):
        types.setdefault(call, [])
        if int(offset) >= 16:  # behind the number of the call
            types[call].append(re.sub(r"^const ", "", text[:text.rindex(" ")]))
    compared = 0
    for arch, _, name, code in rows():
        call = FUNCTIONS.get(name, name)
        if arch != "x86_64" or call not in types or name == "clone":  # the types of TRUNCATED say too much
            continue
        # A type that our table does not list could be wide.
        running = ["L" if "*" in text else TYPES.get(text, "L") for text in types[call]]
        known = code.ljust(len(running), "-")
        wider = [at for at, letter in enumerate(running) if seen_bits.WIDTH[letter] > seen_bits.WIDTH[known[at]]]
        assert not wider, "%s: the table has %s, the running kernel %s" % (name, code, types[call])
        compared += 1
    assert compared > 250
