"""Makes the tables of system calls: one {name: number} per architecture, cross-checked against libseccomp in both directions.

Owns the merging. It must not know where sources live or how tables are written.
"""

from typing import NamedTuple

from . import sources
from .selection import NOT_SYSCALLS, X32_ABSENT
from .sources import TableError


class SyscallTable(NamedTuple):
    numbers: dict  # name -> number as in seccomp_data.nr
    origin: tuple  # the sources and their files, for the header comment
    added: int  # the number of names that only libseccomp has


def build(go, headers, libseccomp):
    """Returns {arch: SyscallTable}; raises TableError if the sources contradict each other."""
    answers = libseccomp.syscalls()
    tables = {}
    for arch in sources.SCMP_ARCHES:
        numbers, origin = _x32(go, headers) if arch == "x32" else _from_go(go, arch)
        only_libseccomp = {name: number for name, number in answers[arch][0].items() if name not in numbers}
        numbers.update(only_libseccomp)
        check(arch, numbers, *answers[arch])
        tables[arch] = SyscallTable(numbers, origin, len(only_libseccomp))
    return tables


def _go_origin(go, arch):
    return "%s %s (Linux %s), unix/%s" % (sources.GO_MODULE, sources.GO_VERSION, go.kernel_version, go.syscall_file(arch))


def _from_go(go, arch):
    numbers = go.syscalls(arch)
    for name in NOT_SYSCALLS.get(arch, ()):
        if numbers.pop(name, None) is None:
            raise TableError("%s: NOT_SYSCALLS names %s, which the source does not have" % (arch, name))
    return numbers, (_go_origin(go, arch),)


def _x32(go, headers):
    numbers = headers.x32_syscalls()
    # Only x32 uses the numbers 512 to 547 (syscall_64.tbl); smaller numbers are common to x32 and x86_64.
    last = max(number & 0x3FFFFFFF for number in numbers.values() if number & 0x3FFFFFFF < 512)
    newer = {name: 0x40000000 + number for name, number in go.syscalls("x86_64").items() if number > last}
    for name in X32_ABSENT:
        if newer.pop(name, None) is None:
            raise TableError("x32: X32_ABSENT names %s, which is not newer than the headers" % name)
    numbers.update(newer)
    return numbers, ("Linux %s headers, asm/unistd_x32.h" % sources.HEADERS_VERSION,
                     "%s, for the %d calls after %d, common with x86_64" % (_go_origin(go, "x86_64"), len(newer), last))


def check(arch, numbers, by_name, by_number):
    """Raises TableError unless `numbers` is one to one and agrees with libseccomp in both directions."""
    names = {}
    for name, number in numbers.items():
        if names.setdefault(number, name) != name:
            raise TableError("%s: %d is both %s and %s" % (arch, number, names[number], name))
    wrong = ["%s is %d here, %d in libseccomp" % (name, numbers[name], number)
             for name, number in by_name.items() if numbers[name] != number]
    wrong += ["%d is %s here, %s in libseccomp" % (number, names.get(number, "nothing"), name)
              for number, name in by_number.items() if names.get(number) != name]
    if wrong:
        raise TableError("%s: %s" % (arch, "; ".join(wrong)))
