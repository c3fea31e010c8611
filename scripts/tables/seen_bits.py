"""Makes the table of the bits of arguments that the kernel looks at: one code of letters for each call.

Owns how types become bits, which definition an entry point is, and how the kernels for one architecture are merged.
It must not know how the kernel's files are parsed (kernel_source.py), nor the exceptions (seen_selection.py).

Where there is doubt, the kernel looks at everything: a call without a known definition has no row.
"""

import itertools
import re
from typing import NamedTuple

from .seen_selection import ALIASES, CONFIG, DEFINED, LONG_LONG, TRUNCATED, TYPES, UNISTD_NAMES, UNKNOWN
from .sources import TableError

# A letter describes one argument: "-" no such argument; "h" 16 bits; "u" 32 bits; "i" 32 bits with a sign; "L" 64 bits; "l" 64 bits
# with a sign.
WIDTH = {"-": 0, "h": 16, "u": 32, "i": 32, "L": 64, "l": 64}
NARROW = {"L": "u", "l": "i"}  # in 32-bit registers


class Route(NamedTuple):
    """How a kernel reaches the definitions of an architecture's calls."""

    kernel: str  # the folder below arch/, and its bits
    registers: int  # bits of a register that a definition gets

    @property
    def folder(self):
        return self.kernel.split()[0]

    @property
    def pairs(self):
        """Whether a 64-bit parameter takes two registers, the first of which has an even number (AAPCS)."""
        return self.kernel == "arm 32"


# If several kernels run the calls of an architecture, the table contains what any of them looks at. The compat entry points of 64-bit
# kernels get 32 bits of each register: SC_IA32_REGS_TO_ARGS in arch/x86/include/asm/syscall_wrapper.h. On arm64, the registers of 32-bit
# programs have 32 bits.
ROUTES = {
    "x86_64": (Route("x86 64", 64),),
    "i386": (Route("x86 32", 32), Route("x86 64", 32)),
    "x32": (Route("x86 64", 64),),
    "aarch64": (Route("arm64 64", 64),),
    "arm": (Route("arm 32", 32), Route("arm64 64", 32)),
    "riscv64": (Route("riscv 64", 64),),
    "s390x": (Route("s390 64", 64),),
    "ppc64le": (Route("powerpc 64", 64),),
    "mips64": (Route("mips 64", 64),),
}
# Each row: the file; how many entry points a line has that we use; the architecture, the ABIs of its lines, and its first number.
TABLES = (
    ("arch/x86/entry/syscalls/syscall_64.tbl", 1, "x86_64", ("common", "64"), 0),
    ("arch/x86/entry/syscalls/syscall_64.tbl", 1, "x32", ("common", "x32"), 0x40000000),
    ("arch/x86/entry/syscalls/syscall_32.tbl", 2, "i386", ("i386",), 0),
    ("arch/arm/tools/syscall.tbl", 1, "arm", ("common", "eabi"), 0),
    ("arch/s390/kernel/syscalls/syscall.tbl", 1, "s390x", ("common", "64"), 0),
    ("arch/powerpc/kernel/syscalls/syscall.tbl", 1, "ppc64le", ("common", "nospu", "64"), 0),
    ("arch/mips/kernel/syscalls/syscall_n64.tbl", 1, "mips64", ("n64",), 5000),
)
UNISTD = (
    ("aarch64", "include/uapi/asm-generic/unistd.h"),
    ("riscv64", "include/uapi/asm-generic/unistd.h"),
    ("riscv64", "arch/riscv/include/uapi/asm/unistd.h"),
)


def build(source, names):
    """Returns {arch: {number: code}}. `names` is {arch: {number: name}}, from the tables of calls. Raises TableError."""
    for path, line in sorted({rule[1:] for rule in (*ALIASES.values(), *DEFINED.values(), *TRUNCATED.values())}):
        source.require(path, line)
    definitions = {}
    for definition in source.definitions():
        definitions.setdefault("%s_%s" % (definition.kind, definition.name), []).append(definition)
    table, used = {}, set()
    for arch, calls in entry_points(source).items():
        table[arch] = {}
        for number, (name, points) in sorted(calls.items()):
            if number not in names[arch] and arch in dict(UNISTD):  # asm-generic/unistd.h also has calls of other architectures
                continue
            if names[arch].get(number) != name:
                raise TableError("%s: %d is %s in the kernel, but %s here" % (arch, number, name, names[arch].get(number)))
            codes = [code(route, point, definitions, used) for route, point in zip(ROUTES[arch], points) if point != "sys_ni_syscall"]
            if codes and None not in codes:
                table[arch][number] = merge(codes)
    for unused in sorted(str(key) for key in (ALIASES.keys() | DEFINED.keys() | TRUNCATED.keys() | UNKNOWN.keys() - {"sys_ni_syscall"}) - used):
        raise TableError("seen_selection.py: no table has the entry point %s; remove the entry" % unused)
    return table


def entry_points(source):
    """Returns {arch: {number: (name, (the entry point of each route))}}."""
    found = {arch: {} for arch in ROUTES}
    for path, columns, arch, abis, base in TABLES:
        for number, abi, name, *points in source.table(path):
            points = [point for point in points[:columns] if point != "-"]
            if points and abi in abis:
                found[arch][base + int(number)] = (name, (points[0], points[-1]))
    for arch, path in UNISTD:
        for number, name, macro, points in source.entries(path):
            # __SC_3264(number, 32-bit, 64-bit), __SC_COMP(number, native, compat), __SC_COMP_3264(number, 32-bit, 64-bit, compat)
            point = points[1 if macro.endswith("3264") else 0]
            found[arch][number] = (UNISTD_NAMES.get(name, name), (point,))
    compat = {number: points[0] for number, _, _, points in source.entries("arch/arm64/include/asm/unistd32.h")}
    for number, (name, points) in found["arm"].items():
        found["arm"][number] = (name, (points[0], compat.get(number, "sys_ni_syscall")))
    return found


def code(route, point, definitions, used=None):
    """Returns the letters of an entry point, or None if nothing is known about it."""
    used = set() if used is None else used
    key = (route.kernel, point)
    if key in DEFINED:
        used.add(key)
        return letters(route, DEFINED[key][0])
    if key in ALIASES:
        used.add(key)
        point = ALIASES[key][0]
    found = [definition.types for definition in definitions.get(point, ())
             if definition.arch in ("", route.folder) and possible(definition.conditions, route.kernel)]
    if found:
        seen = merge([letters(route, types) for types in found])
        if (route.kernel, point) not in TRUNCATED:
            return seen
        used.add((route.kernel, point))
        at = TRUNCATED[route.kernel, point][0]
        return seen[:at] + "u" + seen[at + 1:]
    if point not in UNKNOWN:
        raise TableError("%s: no definition of %s, and no rule covers this" % key)
    used.add(point)
    return None


def letters(route, types):
    """Returns the code of a definition with these types."""
    found = ""
    for text in types:
        text = re.sub(r"^const | ?const$", "", text)
        if "*" not in text and text not in TYPES:
            raise TableError("no rule for the type %s" % text)
        if route.pairs and text in LONG_LONG:
            found += "-" * (len(found) % 2) + "uu"
            continue
        if route.kernel.endswith("32") and text in LONG_LONG:
            raise TableError("%s: no rule for %s in 32-bit registers" % (route.kernel, text))
        letter = "L" if "*" in text else TYPES[text]
        found += NARROW.get(letter, letter) if route.registers == 32 else letter
    if len(found) > 6:
        raise TableError("%s needs more than six registers" % (types,))
    return found


def merge(codes):
    """Returns the code of what any of these codes looks at. Between two signs, the first one stands."""
    return "".join(max(column, key=WIDTH.get) for column in itertools.zip_longest(*codes, fillvalue="-"))


def possible(conditions, kernel):
    """Returns whether a configuration of `kernel` fulfils these #if conditions."""
    tests = [test for branches in conditions for test in _tests(branches)]
    atoms = sorted({atom for test, _ in tests for atom in re.findall(r"\w+", test)})
    fixed = {atom: kernel in CONFIG[atom] for atom in atoms if atom in CONFIG}
    free = [atom for atom in atoms if atom not in CONFIG]
    return any(all(_holds(test, {**fixed, **dict(zip(free, values))}) == wanted for test, wanted in tests)
               for values in itertools.product((False, True), repeat=len(free)))


def _tests(branches):
    """Returns [(expression of symbols, !, && and ||; the value it must have)] for the last of these branches of an #if."""
    found = []
    for at, branch in enumerate(branches):
        directive, _, rest = branch.partition(" ")
        if directive == "else":
            continue
        test = re.sub(r"\b(?:defined|IS_ENABLED)\s*\(\s*(\w+)\s*\)|\bdefined (\w+)", r"\1\2", rest)
        if not re.fullmatch(r"[\w\s!&|()]+", test) or re.search(r"\w\s+\w", test):
            test = "text_" + re.sub(r"\W", "_", test)  # an expression that we do not read is a symbol of its own
        found.append(("!" * (directive == "ifndef") + test, at == len(branches) - 1))
    return found


def _holds(test, values):
    text = re.sub(r"\w+", lambda symbol: str(values[symbol.group()]), test)
    return eval(text.replace("&&", " and ").replace("||", " or ").replace("!", " not "), {"__builtins__": {}})
