"""Makes the table of named argument constants: one {architecture: value} per name, merged from the Go module and the kernel headers.

Owns the merging and the cross-checks. It must not know where sources live or how tables are written.
"""

import re
from typing import NamedTuple

from . import sources
from .selection import FAMILIES, GENERIC_ASM, GO_NAMES, HEADER_DISAGREES, KERNEL_VALUES, X86_ONLY
from .sources import TableError

MASK = 0xFFFFFFFFFFFFFFFF
ARCHES = tuple(sources.SCMP_ARCHES)


def _pattern(patterns):
    return re.compile("|".join("(?:%s)" % pattern for pattern in patterns))


# These patterns select names: one for each kind of Go constant, and one for each header.
FROM_GO = {kind: _pattern(family[0] for family in FAMILIES if family[1] == kind) for kind in ("", "Errno", "Signal")}
FROM_HOME = {home: _pattern(family[0] for family in FAMILIES if home in family[2])
             for home in {home for family in FAMILIES for home in family[2]}}


class ConstantTable(NamedTuple):
    values: dict  # name -> {arch: value}; the key None has the value of all architectures that are not listed
    origin: str  # the sources, for the header comment


class HeaderConstant(NamedTuple):
    value: int
    header: str
    body: str  # the macro's text, or `enum tag`


def build(go, headers):
    """Returns the ConstantTable; raises TableError if the sources contradict each other or no rule covers a name."""
    tables = _from_go(go)
    seen = {abi: _from_headers(headers, abi) for abi in sources.ABI_FLAGS}
    _cross_check(tables, seen)
    values = {}
    for arch, table in tables.items():
        for name, value in table.items():
            values.setdefault(name, {})[arch] = value
    for name, per_arch in _only_in_headers(values, seen).items():
        values[name] = per_arch
    if values["FIONREAD"] != values["TIOCINQ"]:  # these two names have the same number on every architecture
        raise TableError("FIONREAD and TIOCINQ differ")
    origin = "%s %s (Linux %s); Linux %s headers" % (
        sources.GO_MODULE, sources.GO_VERSION, go.kernel_version, sources.HEADERS_VERSION)
    return ConstantTable({name: _fold(per_arch) for name, per_arch in values.items()}, origin)


def _fold(per_arch):
    if len(per_arch) < len(ARCHES):
        return per_arch
    common = per_arch["x86_64"]
    return {None: common, **{arch: value for arch, value in per_arch.items() if value != common}}


def _from_go(go):
    """Returns {arch: {name: value}} of the selected constants, with the kernel's names and values."""
    tables = {}
    for arch in sources.GO_ARCHES:
        everything = {(kind, GO_NAMES.get(name, name)): text for (kind, name), text in go.constants(arch).items()}
        tables[arch] = {name: _number(arch, name, text) for (kind, name), text in everything.items()
                        if FROM_GO[kind].fullmatch(name)}
    for name, values in KERNEL_VALUES.items():
        for arch, value in values.items():
            if tables[arch].get(name, value) == value:
                raise TableError("KERNEL_VALUES: %s on %s has the same value in the Go module; remove the entry" % (name, arch))
            tables[arch][name] = value
    tables["x32"] = dict(tables["x86_64"])
    return tables


def _number(arch, name, text):
    if re.fullmatch(r"-?(?:0x[0-9a-f]+|[0-9]+)", text) is None:
        raise TableError("%s: the Go constant %s is %s, not a number" % (arch, name, text))
    return int(text, 0) & MASK


def _from_headers(headers, abi):
    """Returns {name: HeaderConstant} of the selected constants that the headers define for `abi`."""
    taken = {}
    for name, (header, body) in headers.names(abi).items():
        if any(home in FROM_HOME and FROM_HOME[home].fullmatch(name) for home in (header, body)):
            taken[name] = (header, body)
    values = headers.values(abi, taken)
    return {name: HeaderConstant(values[name], *at) for name, at in taken.items()}


def _cross_check(tables, seen):
    wrong = {(abi, name) for abi, constants in seen.items() for name, constant in constants.items()
             if name in tables[abi] and tables[abi][name] != constant.value}
    known = set().union(*tables.values())
    for abi, constants in seen.items():
        for name in sorted(constants.keys() & known - tables[abi].keys()):
            raise TableError("%s: the headers define it for %s, but the Go module defines it for other architectures only" % (name, abi))
    expected = {(abi, name) for name, abis in HEADER_DISAGREES.items() for abi in abis}
    for abi, name in sorted(wrong - expected):
        raise TableError("%s on %s is 0x%x here, 0x%x in the headers" % (name, abi, tables[abi][name], seen[abi][name].value))
    for abi, name in sorted(expected - wrong):
        raise TableError("HEADER_DISAGREES: %s on %s has the same value in the headers; remove the entry" % (name, abi))


def _only_in_headers(known, seen):
    """Returns {name: {arch: value}} of the header constants that Go lacks on every architecture."""
    found = {}
    for name, constant in seen["x86_64"].items():
        if name in known:
            continue
        if any(seen[abi].get(name, constant).value != constant.value for abi in seen):
            raise TableError("%s: the x86 ABIs differ, and no rule covers this" % name)
        if constant.header == X86_ONLY:
            found[name] = {abi: constant.value for abi in seen}
            continue
        if constant.header.startswith("linux/"):
            if re.search(r"\b_IO[A-Z]*\(", constant.body):  # each architecture encodes ioctl numbers in its own way
                raise TableError("%s is an ioctl number, and no rule covers this" % name)
            differing = {}
        elif name in GENERIC_ASM:
            differing = GENERIC_ASM[name]
        else:
            raise TableError("%s: %s, but no rule for the other architectures (GENERIC_ASM)" % (constant.header, name))
        values = {arch: differing.get(arch, constant.value) for arch in ARCHES}
        found[name] = {arch: value for arch, value in values.items() if value is not None}
    for name in sorted(GENERIC_ASM.keys() - found.keys()):
        raise TableError("GENERIC_ASM: %s is not needed" % name)
    return found
