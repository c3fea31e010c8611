"""Reads the sources of numbers: the Go module golang.org/x/sys, the kernel's user-space headers, and libseccomp.

Finds each source in its pinned version and turns it into plain dicts. It must not know which
names are wanted or how sources are merged. If a source is absent, or has another version than the pinned one, the functions
raise Missing: the tables can then neither be generated nor checked.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pinned import LIBSECCOMP_VERSION, Missing, go_module

# The tables depend only on these three versions. For the headers, major.minor is enough, because a
# kernel's user-space interface does not change in stable releases.
GO_MODULE = "golang.org/x/sys"
GO_VERSION = "v0.49.0"
GO_SUM = "h1:XbzkgYJHdqh/8m2Uu0W/dQv8nktxx4BFHp1M0gROTXA="
HEADERS_VERSION = "6.1"

GO_ARCHES = {
    "x86_64": "amd64", "i386": "386", "aarch64": "arm64", "arm": "arm", "riscv64": "riscv64", "s390x": "s390x",
    "ppc64le": "ppc64le", "mips64": "mips64",
}
ABI_FLAGS = {"x86_64": "-m64", "i386": "-m32", "x32": "-mx32"}

# scmp_arch tokens (seccomp.h): AUDIT_ARCH_* except for x32
SCMP_ARCHES = {
    "x86_64": 0xC000003E, "i386": 0x40000003, "x32": 0x4000003E, "aarch64": 0xC00000B7, "arm": 0x40000028,
    "riscv64": 0xC00000F3, "s390x": 0x80000016, "ppc64le": 0xC0000015, "mips64": 0x80000008,
}
# Every number in a table lies in one of these ranges.
NUMBER_RANGES = {
    "x32": range(0x40000000, 0x40000400), "mips64": range(5000, 6000),
    "arm": [*range(0x400), *range(0x0F0000, 0x0F0100)],
}


class TableError(Exception):
    """The sources contradict each other, or contain something that no rule covers."""


def _run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def _last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


class GoModule:
    """The package unix of golang.org/x/sys, which the go command takes from its cache or downloads."""

    def __init__(self):
        self._folder = go_module(GO_MODULE, GO_VERSION, GO_SUM) / "unix"
        recipe = (self._folder / "linux" / "Dockerfile").read_text()
        version = re.search(r"--branch v([0-9.]+) .*/linux\b", recipe)
        if version is None:
            raise TableError("%s: unix/linux/Dockerfile names no kernel version" % GO_MODULE)
        self.kernel_version = version.group(1)

    def syscalls(self, arch):
        """Returns {name: number} as in zsysnum_linux_<goarch>.go, names in lower case."""
        text = (self._folder / self.syscall_file(arch)).read_text()
        found = re.findall(r"^\tSYS_(\w+)\s+= (\d+)$", text, re.MULTILINE)
        if not found or len(found) != text.count("\tSYS_"):
            raise TableError("%s: expected only lines `SYS_NAME = number`" % self.syscall_file(arch))
        return {name.lower(): int(number) for name, number in found}

    @staticmethod
    def syscall_file(arch):
        return "zsysnum_linux_%s.go" % GO_ARCHES[arch]

    def constants(self, arch):
        """Returns {(kind, name): text} of every constant of `arch`; kind is "Errno", "Signal" or "" (untyped)."""
        found = {}
        for stem in ("zerrors_linux", "ztypes_linux"):
            for suffix in ("", "_" + GO_ARCHES[arch]):
                text = (self._folder / (stem + suffix + ".go")).read_text()
                for name, kind, value, plain in re.findall(
                        r"^\t([A-Za-z_]\w*) += (?:syscall\.(Errno|Signal)\((\w+)\)|(\S.*))$", text, re.MULTILINE):
                    found[(kind, name)] = value or plain
        return found


class Headers:
    """The kernel's user-space headers for the three x86 ABIs, read through the C compiler; nothing is executed."""

    def __init__(self, includes):
        self._compiler = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None)
        if self._compiler is None:
            raise Missing("no C compiler (cc, gcc or clang) to read the kernel headers with")
        # asm-generic/socket.h chooses constants by the size of time_t. The kernel's old type selects those of classic C libraries.
        self._source = "#include <linux/types.h>\ntypedef __kernel_old_time_t time_t;\n" + "".join(
            "#include <%s>\n" % name for name in includes)
        self._search = []
        version = self._preprocess("x86_64", "#include <linux/version.h>\nLINUX_VERSION_MAJOR LINUX_VERSION_PATCHLEVEL\n")
        found = ".".join(version.split()[-2:])
        if found != HEADERS_VERSION:
            raise Missing("the kernel headers (linux-libc-dev) have version %s, but the tables are made from version %s"
                          % (found, HEADERS_VERSION))
        # All three ABIs use the x86 folder `asm`, but the compiler searches it only for its default ABI.
        asm = re.search(r'"(/[^"\n]*)/asm/unistd_x32\.h"', self._preprocess("x86_64", "#include <asm/unistd_x32.h>\n"))
        self._search = ["-isystem", asm.group(1)]

    def x32_syscalls(self):
        """Returns {name: number} of asm/unistd_x32.h; the numbers include __X32_SYSCALL_BIT."""
        text = self._preprocess("x32", "#include <asm/unistd_x32.h>\n", "-dD")
        found = re.findall(r"^#define __NR_(\w+) \(__X32_SYSCALL_BIT \+ (\d+)\)$", text, re.MULTILINE)
        if not found or len(found) != text.count("#define __NR_"):
            raise TableError("asm/unistd_x32.h: expected only numbers `__X32_SYSCALL_BIT + n`")
        return {name: 0x40000000 + int(number) for name, number in found}

    def names(self, abi):
        """Returns {name: (header, kind)} for object-like macros with a body (`kind` is the body) and for enumerators (`enum tag`)."""
        macros, text, current = {}, {}, ""
        for line in self._preprocess(abi, self._source, "-dD").splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            define = re.match(r"#define (\w+)(?: (.*))?$", line)
            if marker:
                current = re.sub(r"^.*/(?=(?:linux|asm|asm-generic)/)", "", marker.group(1))
            elif define:
                macros[define.group(1)] = (current, define.group(2) or "")
            elif line.startswith("#undef "):
                macros.pop(line.split()[1], None)
            elif not line.startswith("#"):
                text[current] = text.get(current, "") + line + "\n"
        found = {}
        for header, body in text.items():
            for tag, members in re.findall(r"\benum\s*(\w*)\s*\{([^}]*)\}", body):
                for member in re.findall(r"(?:^|,)\s*(\w+)", members):
                    found[member] = (header, "enum " + tag)
        # `#define NAME NAME` beside an enumerator only makes it visible to #ifdef
        found.update((name, at) for name, at in macros.items() if at[1] and not (name in found and at[1] == name))
        return found

    def values(self, abi, names):
        """Returns {name: value}; values are unsigned 64-bit, after sign extension of signed types. Every name must be an integer
        constant."""
        names = list(names)
        mark = b"secequiv constants:"
        cells = "".join('#line 1 "the value of %s"\nCELLS(%s)\n' % (name, name) for name in names)
        source = self._source + (
            "#define BYTE(v, n) (unsigned char)((unsigned long long)(long long)(v) >> (8 * n)),\n"
            "#define CELLS(v) BYTE(v, 0) BYTE(v, 1) BYTE(v, 2) BYTE(v, 3) BYTE(v, 4) BYTE(v, 5) BYTE(v, 6) BYTE(v, 7)\n"
            "const unsigned char table[] = {%s\n%s};\n" % ("".join("%d," % byte for byte in mark), cells))
        with tempfile.TemporaryDirectory() as folder:
            image = Path(folder) / "table.o"
            self._compile(abi, source, ["-c", "-w", "-o", str(image)])
            raw = image.read_bytes()
        start = raw.index(mark) + len(mark)
        return {name: int.from_bytes(raw[start + 8 * at:start + 8 * at + 8], "little") for at, name in enumerate(names)}

    def _preprocess(self, abi, source, *options):
        return self._compile(abi, source, ["-E", *options])

    def _compile(self, abi, source, options):
        with tempfile.TemporaryDirectory() as folder:
            # linux/shm.h includes the C library's unistd.h. It exists for the default ABI only, and its content is not needed.
            (Path(folder) / "unistd.h").write_text("")
            done = _run([self._compiler, ABI_FLAGS[abi], "-I", folder, *self._search, "-x", "c", *options, "-"], input=source)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error:" in line] or [_last_line(done.stderr)]
            if "No such file" in errors[0] or "-m" in errors[0]:
                raise Missing("%s cannot read the x86 kernel headers (linux-libc-dev): %s" % (self._compiler, errors[0]))
            culprit = re.search(r"the value of \w+", done.stderr)
            raise TableError("kernel headers, %s%s: %s" % (abi, culprit and ", " + culprit.group() or "", errors[0]))
        return done.stdout


class Libseccomp:
    """Reads the shared library's own tables of names and numbers, without secequiv, which is built from the generated tables."""

    def __init__(self):
        try:
            self._library = ctypes.CDLL("libseccomp.so.2")
        except OSError:
            raise Missing("libseccomp.so.2 is not installed") from None
        self._by_name = self._library.seccomp_syscall_resolve_name_arch
        self._by_name.argtypes, self._by_name.restype = [ctypes.c_uint32, ctypes.c_char_p], ctypes.c_int
        self._by_number = self._library.seccomp_syscall_resolve_num_arch
        self._by_number.argtypes, self._by_number.restype = [ctypes.c_uint32, ctypes.c_int], ctypes.c_void_p
        self._free = ctypes.CDLL(None).free
        self._free.argtypes, self._free.restype = [ctypes.c_void_p], None
        version = self._library.seccomp_version
        version.argtypes, version.restype = [], ctypes.POINTER(ctypes.c_uint * 3)
        found = ".".join(map(str, version().contents))
        if found != LIBSECCOMP_VERSION:
            raise Missing("libseccomp has version %s, but the tables are made with version %s" % (found, LIBSECCOMP_VERSION))

    def syscalls(self):
        """Returns {arch: (by_name, by_number)}: two dicts, one for each direction in which the library resolves.

        The two differ if an architecture can also make a call through socketcall(2) or ipc(2). Such a call has a real
        number, but its name resolves to a negative pseudo number, so by_name lacks it.
        """
        by_number = {arch: self._names(token, NUMBER_RANGES.get(arch, range(0x400))) for arch, token in SCMP_ARCHES.items()}
        names = sorted({name for table in by_number.values() for name in table.values()})
        answers = {}
        for arch, token in SCMP_ARCHES.items():
            numbers = ((name, self._by_name(token, name.encode())) for name in names)
            answers[arch] = ({name: number for name, number in numbers if number >= 0}, by_number[arch])
        return answers

    def _names(self, token, numbers):
        found = {}
        for number in numbers:
            pointer = self._by_number(token, number)
            if pointer:
                found[number] = ctypes.string_at(pointer).decode()
                self._free(pointer)
        return found
