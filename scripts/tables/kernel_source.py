"""Reads the kernel's own source: the definitions of system calls and the tables that assign numbers to entry points.

Finds the source in its pinned version and turns it into plain values. It must not know which entry point an architecture uses, nor
how wide a type is. If the source is absent, or has another version than the pinned one, KernelSource raises Missing.
"""

import hashlib
import re
import tarfile
from pathlib import Path
from typing import NamedTuple

from pinned import Missing
from .sources import TableError

# As for the headers, major.minor is enough: the interface does not change in stable releases, and the table records a hash of
# all lines that were read.
SOURCE_VERSION = "6.1"
SOURCE_PACKAGE = "linux-source-" + SOURCE_VERSION
SOURCE_PATH = Path("/usr/src") / (SOURCE_PACKAGE + ".tar.xz")

# Folders of other architectures, of user-mode Linux (arch/x86/um) and of programs that run in user space define no call of ours.
_IGNORED = re.compile(r"tools/|samples/|Documentation/|arch/(?!(?:x86|arm|arm64|riscv|powerpc|s390|mips)/)|arch/x86/um/|scripts/")
_DEFINE = re.compile(r"\b((?:COMPAT_)?SYSCALL(?:32)?_DEFINE)([0-6])\s*\((.*)")
# SYSCALL32_DEFINE is one of the others (include/linux/syscalls.h).
_KINDS = {
    "SYSCALL_DEFINE": (("sys", ()),), "COMPAT_SYSCALL_DEFINE": (("compat_sys", ()),),
    "SYSCALL32_DEFINE": (("compat_sys", (("ifdef CONFIG_COMPAT",),)), ("sys", (("ifndef CONFIG_COMPAT",),))),
}
# These macros stand for two parameters, the halves of a 64-bit value.
_HALVES = re.compile(r"(?:compat_arg_u64(?:_dual)?|SC_ARG64|arg_u32p)\(\w+\)")
_ARCH_SPECIFIC = 244  # __NR_arch_specific_syscall, include/uapi/asm-generic/unistd.h
_DIRECTIVE = re.compile(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")


class Definition(NamedTuple):
    """One SYSCALL_DEFINE (`kind` "sys") or COMPAT_SYSCALL_DEFINE (`kind` "compat_sys")."""

    kind: str
    name: str
    types: tuple  # one for each parameter
    arch: str  # the folder below arch/, "" for definitions of all architectures
    conditions: tuple  # for each enclosing #if: its branches up to the one with the definition, such as ("ifdef A", "else")
    where: str  # file:line, to read


class KernelSource:
    """The files of the kernel that define system calls, with the hash of everything that the table depends on."""

    def __init__(self, path=SOURCE_PATH):
        if not Path(path).is_file():
            raise Missing("%s does not exist (Debian: %s)" % (path, SOURCE_PACKAGE))
        self._files = {}
        try:
            with tarfile.open(path, "r|xz") as archive:
                for member in archive:
                    name = member.name.partition("/")[2]
                    if member.isfile() and (name == "Makefile" or name.endswith((".c", ".h", ".S", ".tbl")) and not _IGNORED.match(name)):
                        self._keep(name, archive.extractfile(member).read())
        except (OSError, EOFError, tarfile.TarError) as error:
            raise Missing("%s is not the archive of %s: %s" % (path, SOURCE_PACKAGE, error)) from None
        version = dict(re.findall(r"^(VERSION|PATCHLEVEL) = (\d+)$", self._files.get("Makefile", ""), re.MULTILINE))
        found = "%s.%s" % (version.get("VERSION"), version.get("PATCHLEVEL"))
        if found != SOURCE_VERSION:
            raise Missing("%s has version %s, but the table is made from version %s" % (path, found, SOURCE_VERSION))
        self._read = hashlib.sha256()

    def _keep(self, name, content):
        if name.endswith(".tbl") or name == "Makefile" or b"sys_" in content or b"SYSCALL" in content:
            self._files[name] = content.decode(errors="replace")

    def hash(self):
        """Returns the hash of all definitions and lines that were handed out so far."""
        return self._read.hexdigest()

    def definitions(self):
        """Returns all definitions, in the order of their files."""
        found = []
        for path in sorted(self._files):
            if path.endswith(".c") and "SYSCALL" in self._files[path]:
                found += definitions(path, self._files[path])
        for definition in found:
            self._note(definition[:-1])
        return found

    def table(self, path):
        """Returns the rows of a syscall.tbl, each a tuple of its columns: number, ABI, name, entry points."""
        rows = [tuple(line.split()) for line in self._files[path].splitlines() if re.match(r"\d", line)]
        if not rows:
            raise TableError("%s: expected lines that start with a number" % path)
        for row in rows:
            self._note((path, *row))
        return rows

    def entries(self, path):
        """Returns [(number, name, macro, (entry points))] of an asm/unistd.h, whose macros are __SYSCALL, __SC_3264 and the like."""
        text = re.sub(r"/\*.*?\*/", "", self._files[path], flags=re.S).replace("\\\n", " ")
        numbers = dict(re.findall(r"^#define (__NR\w+)\s+(\d+|\(__NR_arch_specific_syscall \+ \d+\))\s*$", text, re.MULTILINE))
        rows = []
        for macro, name, points in re.findall(r"^\s*(__SYSCALL|__SC_\w+)\((\w+),\s*([^)]*)\)", text, re.MULTILINE):
            number = numbers.get(name, name)
            if number.startswith("("):
                number = _ARCH_SPECIFIC + int(re.search(r"(\d+)\)", number).group(1))
            rows.append((int(number), re.sub(r"^__NR(?:3264)?_", "", name), macro, tuple(point.strip() for point in points.split(","))))
        if not rows:
            raise TableError("%s: expected __SYSCALL(number, entry point)" % path)
        for row in rows:
            self._note((path, *row))
        return rows

    def require(self, path, text):
        """Raises TableError unless the file contains `text`, whatever its spaces: the line behind an exception made by hand."""
        if " ".join(text.split()) not in " ".join(self._files.get(path, "").split()):
            raise TableError("%s no longer contains `%s`, on which an exception rests" % (path, text))
        self._note((path, text))

    def _note(self, value):
        self._read.update(repr(value).encode())


def definitions(path, text):
    """Returns the definitions in the C source `text`."""
    folder = re.match(r"arch/(\w+)/", path)
    # Comments and continued lines keep their line breaks, so that lines keep their numbers.
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: re.sub(r"[^\n]", " ", comment.group()), text, flags=re.S)
    lines = text.split("\n")
    found, conditions = [], []
    for at, line in enumerate(lines):
        directive = _DIRECTIVE.match(line.lstrip())
        if directive:
            _nest(conditions, directive.group(1), " ".join(directive.group(2).split()))
            continue
        define = None if line.lstrip().startswith("#") else _DEFINE.search(line)
        if define is None or at and lines[at - 1].endswith("\\"):
            continue
        macro, arity = define.group(1), int(define.group(2))
        parts = _arguments(define.group(3) + "\n" + "\n".join(lines[at + 1:at + 20]))
        if parts is None or len(parts) != 2 * arity + 1 or not re.fullmatch(r"\w+", parts[0]):
            raise TableError("%s:%d: cannot read this %s%d" % (path, at + 1, macro, arity))
        nested = tuple(tuple(branches) for branches in conditions)
        found += [Definition(kind, parts[0], tuple(parts[1::2]), folder.group(1) if folder else "", nested + more, "%s:%d" % (path, at + 1))
                  for kind, more in _KINDS[macro]]
    return found


def _nest(conditions, directive, rest):
    if directive in ("if", "ifdef", "ifndef"):
        conditions.append(["%s %s" % (directive, rest)])
    elif directive == "endif":
        conditions.pop()
    else:
        conditions[-1].append(("%s %s" % (directive, rest)).strip())


def _arguments(text):
    """Returns the arguments of a macro from `text` behind its opening parenthesis: name, type, parameter, type, parameter..."""
    depth, parts = 1, [""]
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            break
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    else:
        return None
    flat = []
    for part in parts:
        part = " ".join(part.split())
        flat += ["u32", "half", "u32", "half"] if _HALVES.fullmatch(part) else [part]
    return flat
