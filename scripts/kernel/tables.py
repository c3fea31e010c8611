"""Compares our tables of system calls with the headers of a kernel (Debian's linux-libc-dev of that architecture).

Owns the comparison. It must not know how the tables are made (scripts/tables) nor how the headers get here (image.py).
"""

import re
from pathlib import Path
from typing import NamedTuple

from . import apt, image

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "harness/seccomp/tables"
# Tables of another byte order that has the same numbers.
SAME_NUMBERS = {"mips64el": "mips64"}
# Macros of the headers that name no call: the first or last number of a range, or a number's base.
NO_CALLS = re.compile(r"(arch_specific_syscall|sync_file_range2?_.*|BASE|Linux(_syscalls)?|(O32|64|N32)_Linux(_syscalls)?|SYSCALL_BASE|SYSCALL_MASK|OABI_SYSCALL_BASE|syscalls)$")


class Comparison(NamedTuple):
    ours: int  # calls in our table
    theirs: int  # calls in the headers
    wrong: dict  # name -> (our number, theirs), None where one side has no such name
    newer: list  # our calls whose numbers the headers do not use: newer kernels have them


def our_table(arch, folder=TABLES):
    """Returns {name: number}, or None if we have no table for the entry."""
    path = folder / (SAME_NUMBERS.get(arch, arch) + ".inc")
    if not path.exists():
        return None
    return {name: int(number, 0) for number, name in re.findall(r'^SECEQUIV_SYSCALL\((\w+), "(\w+)"\)$', path.read_text(), re.M)}


def header_table(entry, sysroot):
    """Returns {name: number} of <asm/unistd.h>."""
    headers = sysroot / "usr/include"
    command = [image.CLANG, "--target=" + entry.target, *entry.flags, "-nostdlibinc", "-isystem",
               str(image.only_path(headers, "*/asm/unistd.h").parents[1]), "-isystem", str(headers), "-E", "-x", "c"]
    defined = apt.run([*command, "-dM", "-include", "asm/unistd.h", "/dev/null"])
    names = re.findall(r"^#define (__(?:ARM_)?NR_(\w+)) ", defined, re.M)
    lines = "".join("@%s %s\n" % (name, macro) for macro, name in names)
    source = sysroot / "numbers.c"
    source.write_text("#include <asm/unistd.h>\n" + lines)
    try:
        expanded = apt.run([*command, "-P", str(source)])
    finally:
        source.unlink()
    values = re.findall(r"^@(\w+) ([0-9a-fx+() ]+)$", expanded, re.M)
    return {name: sum(int(term, 0) for term in re.findall(r"[0-9a-fx]+", text)) for name, text in values if not NO_CALLS.match(name)}


def compare(ours, theirs):
    numbers = set(theirs.values())
    # The headers have two names for some numbers. One of them is enough.
    named = {theirs[name] for name, number in ours.items() if theirs.get(name) == number}
    wrong = {name: (ours.get(name), number) for name, number in theirs.items()
             if ours.get(name) != number and (name in ours or number not in named)}
    newer = sorted(name for name in ours if name not in theirs and ours[name] not in numbers)
    for name, number in ours.items():
        if name not in theirs and number in numbers:
            wrong.setdefault(name, (number, None))
    return Comparison(len(ours), len(theirs), wrong, newer)
