"""Tests the table files: their form, known values of each ABI, and that the generator still makes exactly these files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stored
from tables import constants as constant_tables
from tables import generate, output, selection, sources, syscalls

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT / "harness" / "seccomp" / "tables"
GEN_TABLES = ROOT / "scripts" / "gen_tables"
ARCHES = tuple(sources.SCMP_ARCHES)

SYSCALL = re.compile(r'SECEQUIV_SYSCALL\((0x[0-9a-f]+|[0-9]+), "([a-z0-9_]+)"\)')
CONSTANT = re.compile(r'SECEQUIV_CONSTANT\("(\w+)", (0x[0-9a-f]+)\)')
CONSTANT_ARCH = re.compile(r'SECEQUIV_CONSTANT_ARCH\((\w+), "(\w+)", (0x[0-9a-f]+)\)')


# The generator makes these from other sources; test_seen_bits.py tests them.
SEPARATE = (output.SEEN_BITS,)


def entries(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("//")]


def syscall_table(arch):
    found = [SYSCALL.fullmatch(line) for line in entries(TABLES / (arch + ".inc"))]
    assert all(found)
    return [(int(match.group(1), 0), match.group(2)) for match in found]


def constant_lines():
    return entries(TABLES / "constants.inc")


@pytest.fixture(scope="module")
def constants():
    common, per_arch = {}, {}
    for line in constant_lines():
        match = CONSTANT.fullmatch(line)
        if match:
            assert match.group(1) not in common, line
            common[match.group(1)] = int(match.group(2), 16)
            continue
        match = CONSTANT_ARCH.fullmatch(line)
        assert match, line
        key = match.group(1), match.group(2)
        assert key[0] in ARCHES and key not in per_arch, line
        per_arch[key] = int(match.group(3), 16)
    return common, per_arch


def value(constants, arch, name):
    common, per_arch = constants
    return per_arch.get((arch, name), common.get(name))


@pytest.fixture(scope="module")
def generated():
    try:
        return generate.generate()
    except sources.Missing as missing:
        pytest.skip("cannot regenerate the tables here: %s" % missing)


@pytest.mark.parametrize("arch", ARCHES)
def test_syscalls_are_sorted_and_unique(arch):
    table = syscall_table(arch)
    numbers = [number for number, _ in table]
    assert numbers == sorted(set(numbers))
    assert len({name for _, name in table}) == len(table)
    assert len(table) > 300


@pytest.mark.parametrize("arch, name, number", [
    ("x86_64", "read", 0), ("x86_64", "openat", 257), ("x86_64", "newfstatat", 262), ("x86_64", "_sysctl", 156),
    ("x86_64", "umount2", 166), ("x86_64", "sendfile", 40), ("x86_64", "seccomp", 317), ("x86_64", "clone3", 435),
    ("x86_64", "uretprobe", 335), ("x86_64", "uprobe", 336), ("x86_64", "mseal", 462),
    ("i386", "read", 3), ("i386", "openat", 295), ("i386", "_llseek", 140), ("i386", "socketcall", 102),
    ("i386", "socket", 359), ("i386", "sendfile64", 239), ("i386", "umount", 22), ("i386", "umount2", 52),
    ("i386", "seccomp", 354),
    ("x32", "read", 0x40000000), ("x32", "ioctl", 0x40000000 + 514), ("x32", "openat", 0x40000000 + 257),
    ("x32", "pwritev2", 0x40000000 + 547), ("x32", "fchmodat2", 0x40000000 + 452), ("x32", "mseal", 0x40000000 + 462),
    ("aarch64", "read", 63), ("aarch64", "openat", 56), ("aarch64", "fadvise64", 223), ("aarch64", "newfstatat", 79),
    ("aarch64", "sync_file_range", 84), ("aarch64", "seccomp", 277),
    ("arm", "read", 3), ("arm", "openat", 322), ("arm", "arm_sync_file_range", 341), ("arm", "arm_fadvise64_64", 270),
    ("arm", "restart_syscall", 0), ("arm", "seccomp", 383), ("arm", "breakpoint", 0x0F0001),
    ("arm", "cacheflush", 0x0F0002), ("arm", "usr26", 0x0F0003), ("arm", "usr32", 0x0F0004),
    ("arm", "set_tls", 0x0F0005), ("arm", "get_tls", 0x0F0006),
    ("riscv64", "read", 63), ("riscv64", "openat", 56), ("riscv64", "riscv_hwprobe", 258),
    ("riscv64", "riscv_flush_icache", 259),
    ("s390x", "read", 3), ("s390x", "openat", 288), ("s390x", "seccomp", 348),
    ("ppc64le", "read", 3), ("ppc64le", "openat", 286), ("ppc64le", "sync_file_range2", 308), ("ppc64le", "seccomp", 358),
    ("mips64", "read", 5000), ("mips64", "write", 5001), ("mips64", "openat", 5247), ("mips64", "seccomp", 5312),
])
def test_syscalls_have_known_numbers(arch, name, number):
    assert (number, name) in syscall_table(arch)


@pytest.mark.parametrize("arch, name", [
    ("aarch64", "open"), ("riscv64", "fork"), ("x86_64", "socketcall"), ("x32", "map_shadow_stack"), ("x32", "uretprobe"),
    *((arch, name) for arch, names in selection.NOT_SYSCALLS.items() for name in names),
])
def test_calls_that_an_architecture_lacks_are_absent(arch, name):
    assert name not in [have for _, have in syscall_table(arch)]


def test_calls_from_424_on_have_one_number_everywhere():
    reference = {name: number for number, name in syscall_table("x86_64") if 424 <= number < 512}
    for arch in ARCHES:
        base = {"x32": 0x40000000, "mips64": 5000}.get(arch, 0)
        found = {name: number - base for number, name in syscall_table(arch) if name in reference}
        assert found.items() <= reference.items(), arch
        assert {"io_uring_setup", "openat2", "mseal"} <= found.keys(), arch


@pytest.mark.parametrize("arch, name, number", [
    ("x86_64", "O_NOFOLLOW", 0x20000), ("aarch64", "O_NOFOLLOW", 0x8000), ("arm", "O_NOFOLLOW", 0x8000),
    ("x86_64", "O_CLOEXEC", 0x80000), ("mips64", "O_CREAT", 0x100), ("x32", "O_DIRECTORY", 0x10000),
    ("x86_64", "O_LARGEFILE", 0x8000), ("aarch64", "O_LARGEFILE", 0x20000), ("ppc64le", "O_LARGEFILE", 0x10000),
    ("i386", "F_GETLK", 5), ("i386", "F_GETLK64", 12), ("mips64", "F_GETLK", 14), ("x86_64", "F_DUPFD_CLOEXEC", 1030),
    ("x86_64", "AT_FDCWD", 2**64 - 100), ("i386", "AT_FDCWD", 2**64 - 100), ("x86_64", "AF_UNIX", 1),
    ("mips64", "SOCK_STREAM", 2), ("x86_64", "SOCK_STREAM", 1), ("mips64", "SOL_SOCKET", 0xFFFF),
    ("x86_64", "SO_REUSEADDR", 2), ("mips64", "SO_REUSEADDR", 4), ("x86_64", "MAP_ANONYMOUS", 0x20),
    ("mips64", "MAP_ANONYMOUS", 0x800), ("x86_64", "PROT_EXEC", 4), ("x86_64", "CLONE_NEWUSER", 0x10000000),
    ("x86_64", "FUTEX_WAIT_PRIVATE", 128), ("s390x", "FUTEX_PRIVATE_FLAG", 128), ("x86_64", "TCGETS", 0x5401),
    ("ppc64le", "TCGETS", 0x402C7413), ("mips64", "TCGETS", 0x540D), ("x86_64", "TIOCSTI", 0x5412),
    ("mips64", "TIOCSTI", 0x5472), ("aarch64", "FIONREAD", 0x541B), ("mips64", "FIONREAD", 0x467F),
    ("x86_64", "SIOCGIFCONF", 0x8912), ("x86_64", "PR_SET_NO_NEW_PRIVS", 38), ("x86_64", "ARCH_SET_FS", 0x1002),
    ("aarch64", "ARCH_SET_FS", None), ("aarch64", "MAP_32BIT", None), ("x32", "MAP_32BIT", 0x40),
    ("x86_64", "EPOLL_CTL_MOD", 3), ("x86_64", "GRND_NONBLOCK", 1), ("x86_64", "SECCOMP_RET_ALLOW", 0x7FFF0000),
    ("x86_64", "PTRACE_ATTACH", 16), ("x86_64", "RLIMIT_NOFILE", 7), ("mips64", "RLIMIT_NOFILE", 5),
    ("x86_64", "CLOCK_MONOTONIC", 1), ("x86_64", "SIGKILL", 9), ("x86_64", "SIGCHLD", 17), ("mips64", "SIGCHLD", 18),
    ("x86_64", "SIG_DFL", None), ("x86_64", "ENOSYS", 38), ("mips64", "ENOSYS", 89), ("x86_64", "PER_LINUX32", 8),
    ("x86_64", "UNAME26", 0x20000), ("x86_64", "ADDR_NO_RANDOMIZE", 0x40000), ("x86_64", "CAP_SYS_ADMIN", 21),
    ("x86_64", "BPF_PROG_LOAD", 5), ("x86_64", "IPC_RMID", 0), ("x86_64", "SHM_RDONLY", 0o10000),
    ("x86_64", "WNOHANG", 1), ("x86_64", "__WALL", 0x40000000), ("x86_64", "MEMBARRIER_CMD_PRIVATE_EXPEDITED", 8),
    ("x86_64", "UFFD_USER_MODE_ONLY", 1), ("x86_64", "S_ISUID", 0o4000), ("x86_64", "MSG_NOSIGNAL", 0x4000),
    ("x86_64", "LOCK_EX", 2), ("x86_64", "XATTR_CREATE", 1), ("x86_64", "RENAME_NOREPLACE", 1),
    ("x86_64", "IPPROTO_TCP", 6), ("x86_64", "TCP_NODELAY", 1), ("x86_64", "IPV6_V6ONLY", 26), ("x86_64", "MFD_CLOEXEC", 1),
])
def test_constants_have_known_values(constants, arch, name, number):
    assert value(constants, arch, name) == number


def test_constants_are_sorted_and_overrides_differ(constants):
    common, per_arch = constants
    names = [re.search(r'"(\w+)"', line).group(1) for line in constant_lines()]
    assert names == sorted(names)
    for (arch, name), number in per_arch.items():
        assert common.get(name) != number, "%s on %s repeats the common value" % (name, arch)
        # The common value of a name is x86_64's value. If a name has no common value, some architecture lacks it.
        if name in common:
            assert arch != "x86_64"
        else:
            assert not all((other, name) in per_arch for other in ARCHES), name


def test_every_constant_fits_and_belongs_to_a_family(constants):
    common, per_arch = constants
    for name in common.keys() | {name for _, name in per_arch}:
        assert any(re.fullmatch(pattern, name) for pattern, _, _ in selection.FAMILIES), name
    assert all(0 <= number < 2**64 for number in [*common.values(), *per_arch.values()])


def test_files_have_the_header_of_the_generator():
    files = [path for path in sorted(TABLES.glob("*.inc")) if path.name not in SEPARATE]
    assert {path.stem for path in files} >= {*ARCHES, "constants"}
    for path in files:
        text = path.read_text()
        assert text.startswith("// Generated by scripts/gen_tables; do not edit."), path.name
        assert "// Source" in text and sources.GO_VERSION in text, path.name


def test_regenerating_gives_identical_files(generated, tmp_path):
    stored.replace(generated, tmp_path, output.OWNED)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == \
        {path.name: path.read_bytes() for path in TABLES.glob("*.inc") if path.name not in SEPARATE}


def test_stale_tables_are_named(generated, tmp_path):
    stored.replace(generated, tmp_path, output.OWNED)
    assert stored.differences(generated, tmp_path, output.OWNED) == []
    edited = tmp_path / "arm.inc"
    edited.write_text(edited.read_text().replace('(3, "read")', '(4, "read")'))
    (tmp_path / "i386.inc").unlink()
    (tmp_path / "constants_99.inc").write_text("")
    reasons = stored.differences(generated, tmp_path, output.OWNED)
    assert len(reasons) == 3
    assert re.match(r"arm\.inc:\d+: differs at byte ", reasons[0])
    assert reasons[1] == "i386.inc: missing"
    assert reasons[2] == "constants_99.inc: no longer generated"
    stored.replace(generated, tmp_path, output.OWNED)
    assert stored.differences(generated, tmp_path, output.OWNED) == []


def test_check_has_the_documented_exit_statuses(generated, tmp_path):
    assert run_check(TABLES).returncode == 0
    stale = run_check(tmp_path)
    assert stale.returncode == 1 and "stale: x86_64.inc: missing" in stale.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_source_gives_exit_status_2(tmp_path):
    run = run_check(tmp_path, env={"PATH": str(tmp_path)})
    assert run.returncode == 2
    assert run.stderr.startswith("gen_tables: go is not installed")


def run_check(folder, env=None):
    return subprocess.run([sys.executable, str(GEN_TABLES), "--check", "--output", str(folder)], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_failed_write_changes_nothing(tmp_path):
    (tmp_path / "a.inc").write_text("old")
    with pytest.raises(TypeError):
        stored.replace({"a.inc": b"new", "b.inc": None}, tmp_path, output.OWNED)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.inc": "old"}


@pytest.mark.parametrize("numbers, by_name, by_number, message", [
    ({"read": 0, "peruse": 0}, {}, {}, "both"),
    ({"read": 0}, {"read": 1}, {}, "read is 0 here, 1 in libseccomp"),
    ({"read": 0}, {"read": 0}, {0: "write"}, "0 is read here, write in libseccomp"),
])
def test_disagreeing_sources_are_an_error(numbers, by_name, by_number, message):
    with pytest.raises(sources.TableError, match=message):
        syscalls.check("x86_64", numbers, by_name, by_number)


class FakeGo:
    """A Go module with a few constants of the real one, among them the exceptions of selection.py."""

    kernel_version = "0"

    def __init__(self, **extra):
        self._extra = {("", name): text for name, text in extra.items()}

    def constants(self, arch):
        found = {("", name): "0xffff" for name in selection.KERNEL_VALUES}
        return {**found, ("", "TIOCINQ"): "0x1", ("", "AT_FDCWD"): "-0x64", **self._extra}


class FakeHeaders:
    def __init__(self, **extra):
        self._values = {name: (7, "asm-generic/fcntl.h") for name in selection.GENERIC_ASM} | extra

    def names(self, abi):
        return {name: (header, str(number)) for name, (number, header) in self._values.items()}

    def values(self, abi, names):
        return {name: self._values[name][0] for name in names}


@pytest.mark.parametrize("go, headers, message", [
    ({"F_DUPFD": "0x0"}, {"F_DUPFD": (1, "asm-generic/fcntl.h")}, "F_DUPFD on i386 is 0x0 here, 0x1 in the headers"),
    ({"SEEK_SET": "banana"}, {}, "SEEK_SET is banana, not a number"),
    ({"O_LARGEFILE": "0x8000"}, {}, "O_LARGEFILE on x86_64 has the same value in the Go module"),
    ({}, {}, "HEADER_DISAGREES: .* has the same value in the headers"),
])
def test_constants_that_no_rule_covers_are_an_error(go, headers, message):
    with pytest.raises(sources.TableError, match=message):
        constant_tables.build(FakeGo(**go), FakeHeaders(**headers))
