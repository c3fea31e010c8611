"""Names libseccomp 2.5.4's mistakes by the shape of the rules that cause them.

Owns these shapes, the rows of the table in docs/libseccomp-2.5.4.md. Each has the name of its smallest profile in corpus/known.toml. It must not know profiles.
"""

from typing import NamedTuple

from .meaning import ALL, LOW, bits_of

UPPER, LOWER = ("lt", "le"), ("ge", "gt")
OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


class Both(NamedTuple):
    """Two rules that test one argument, seen from their tests of it."""

    wide: bool  # on a 64-bit ABI
    op: str
    value: int
    beside: list  # indices of the other arguments that the first rule tests
    op2: str
    value2: int
    beside2: list
    index: int  # of the argument

    def bounds(self, *directions):
        """Returns whether both tests are bounds in these directions."""
        return (self.op in UPPER or self.op in LOWER) and any(self.op in one and self.op2 in two for one, two in directions)

    def opposite_bounds(self):
        return self.bounds((UPPER, LOWER), (LOWER, UPPER))

    def equal_bounds(self):
        return self.bounds((UPPER, UPPER), (LOWER, LOWER))


# Shapes of two rules for one call. Several shapes may fit one mistake: which one the library made is not decided.
SHAPES = {
    "libseccomp-below-or-above": lambda it: it.wide and it.opposite_bounds() and max(it.value, it.value2) > LOW,
    "libseccomp-above-or-below": lambda it: it.wide and it.opposite_bounds() and it.beside,
    "libseccomp-above-or-below-on-i386": lambda it: not it.wide and it.opposite_bounds() and it.beside,
    "libseccomp-below-or-far-below": lambda it: it.wide and it.bounds((UPPER, UPPER)) and it.value >> 32 < it.value2 >> 32,
    "libseccomp-two-unequal": lambda it: it.op == "ne" and it.beside,
    "libseccomp-two-bounds-two-values": lambda it: it.equal_bounds() and it.beside and it.beside2,
    "libseccomp-two-lower-bounds": lambda it: it.wide and it.equal_bounds() and it.beside,
    "libseccomp-two-upper-bounds-on-i386": lambda it: not it.wide and it.equal_bounds() and it.beside,
    "libseccomp-value-or-another": lambda it: OPPOSITE.get(it.op) == it.op2 and any(index < it.index for index in it.beside),
}
# A shape of two rules for any calls, which may share a test. An operation of socketcall or ipc is a test, too.
ONE_TEST = "libseccomp-equal-alone-and-beside"
MISSING, MISSING_WITH_CONDITIONS = "libseccomp-missing-call", "libseccomp-missing-call-with-a-condition"
ALL_NAMES = (*SHAPES, ONE_TEST, MISSING, MISSING_WITH_CONDITIONS)


def names(rules, arch, call, default_decides):
    """Returns the mistakes whose shape the rules have. `call` is one that libseccomp's filter decides wrongly; `default_decides`: the filter gives the default
    action to all calls of `arch`."""
    missing = [rule for name, made in rules.calls.items() if name not in rules.numbers[arch] for rule in made]
    if default_decides and missing:
        return [MISSING if any(rule.always_holds(bits_of(arch)) for rule in missing) else MISSING_WITH_CONDITIONS]
    own = list(_pairs(rules.rules(arch, call), arch))
    found = [name for name, shape in SHAPES.items() if any(shape(pair) for pair in own)]
    everything = _pairs([rule for name in rules.numbers[arch] for rule in rules.rules(arch, name)], arch)
    if any(it.op == "eq" and it.beside and not it.beside2 for it in everything):
        found.append(ONE_TEST)
    return found


def _pairs(rules, arch):
    bits = bits_of(arch)
    tests = [_plain(rule, bits) for rule in rules]
    for first in tests:
        for second in tests:
            if first is not second:
                for index in first.keys() & second.keys():
                    yield Both(bits == ALL, *first[index], [each for each in first if each != index], *second[index], [each for each in second if each != index], index)


def _plain(rule, bits):
    """Returns {index: (operator, value)} without tests that have no effect. A mask of all bits makes an equality."""
    found = {}
    for test in rule.tests:
        if test.has_effect(bits):
            equal = test.op == "masked_eq" and test.value & bits == bits
            found[test.index] = ("eq", test.second & bits) if equal else (test.op, test.value & bits)
    return found
