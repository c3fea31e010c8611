"""Evaluates the rules of a container profile on single inputs, the slow, obvious way.

Owns which actions the rules permit for an input: rules as text, as oci.rules returns it. It is a third reading, beside secequiv's and libseccomp's, so it must
share no code with either.
"""

import itertools
import operator
import struct
from typing import NamedTuple

AUDIT = {"x86_64": 0xC000003E, "x86": 0x40000003, "x32": 0xC000003E, "aarch64": 0xC00000B7, "arm": 0x40000028, "s390x": 0x80000016, "ppc64le": 0xC0000015}
NARROW = ("x86", "x32", "arm")  # libseccomp compares only the low halves of arguments
MULTIPLEXING = ("x86", "s390x", "ppc64le")
BIG_ENDIAN = ("s390x",)
X32_BIT = 0x40000000
# The operations of the two multiplexers: linux/net.h and linux/ipc.h.
OPERATIONS = {
    "socketcall": {name: 1 + i for i, name in enumerate((
        "socket", "bind", "connect", "listen", "accept", "getsockname", "getpeername", "socketpair", "send", "recv", "sendto", "recvfrom", "shutdown",
        "setsockopt", "getsockopt", "sendmsg", "recvmsg", "accept4", "recvmmsg", "sendmmsg"))},
    "ipc": {"semop": 1, "semget": 2, "semctl": 3, "semtimedop": 4, "msgsnd": 11, "msgrcv": 12, "msgget": 13, "msgctl": 14, "shmat": 21, "shmdt": 22, "shmget": 23,
            "shmctl": 24},
}
COMPARE = {"ne": operator.ne, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ge": operator.ge, "gt": operator.gt}
LOW, ALL = 2**32 - 1, 2**64 - 1


def bits_of(arch):
    """Returns the bits of an argument that libseccomp compares."""
    return LOW if arch in NARROW else ALL


class Test(NamedTuple):
    index: int
    op: str
    value: int  # the mask of masked_eq
    second: int

    def holds(self, args, bits):
        argument, value, second = args[self.index] & bits, self.value & bits, self.second & bits
        if self.op == "masked_eq":
            return argument & value == second & value
        return COMPARE[self.op](argument, value)

    def has_effect(self, bits):
        """Returns whether the test is more than a mask without bits, which libseccomp ignores."""
        return self.op != "masked_eq" or self.value & bits != 0


class Rule(NamedTuple):
    action: int
    tests: tuple  # all must hold

    def always_holds(self, bits):
        return not any(test.has_effect(bits) for test in self.tests)


class Input(NamedTuple):
    arch: str
    name: str
    nr: int
    args: tuple

    def data(self):
        """Returns seccomp_data as 16 words in this machine's order, as scripts/naive reads it."""
        halves = [word for value in self.args for word in _in_order(self.arch, value & LOW, value >> 32)]
        return struct.pack("<16I", self.nr, AUDIT[self.arch], 0, 0, *halves)


class Rules:
    """What the rules permit. `numbers(architecture)` returns {name: number}."""

    def __init__(self, text, numbers):
        self.arches, self.calls = [], {}
        for line in text.splitlines():
            word, *fields = line.split()
            if word == "default":
                self.default = int(fields[0], 0)
            elif word == "arch":
                self.arches.append(fields[0])
            else:
                action, name, *tests = fields
                made = tuple(Test(int(tests[i]), tests[i + 1], int(tests[i + 2], 0), int(tests[i + 3], 0)) for i in range(0, len(tests), 4))
                self.calls.setdefault(name, []).append(Rule(int(action, 0), made))
        self.numbers = {arch: numbers(arch) for arch in self.arches}

    def rules(self, arch, name):
        """Returns the rules for the call. For socketcall and ipc, these include the ones that libseccomp adds."""
        own = self.calls.get(name, [])
        if arch not in MULTIPLEXING or name not in OPERATIONS or any(rule.always_holds(bits_of(arch)) for rule in own):
            return own
        return own + [Rule(rule.action, (Test(0, "eq", operation, 0), *(test for test in rule.tests if test.index != 0)))
                      for call, operation in OPERATIONS[name].items() for rule in self.calls.get(call, ())]

    def permitted(self, given):
        """Returns the actions of all rules that match, because libseccomp keeps no order among them; if there are none, the default action."""
        bits = bits_of(given.arch)
        return {rule.action for rule in self.rules(given.arch, given.name) if all(test.holds(given.args, bits) for test in rule.tests)} or {self.default}

    def inputs(self, random, number):
        """Returns up to `number` inputs for each call with rules, with arguments beside the values of the tests."""
        found = []
        for arch in self.arches:
            multiplexers = [name for name in OPERATIONS if arch in MULTIPLEXING and any(call in self.calls for call in OPERATIONS[name])]
            for name in dict.fromkeys([*self.calls, *multiplexers]):
                if name in self.numbers[arch]:
                    values = [sorted(_beside(self.rules(arch, name), index)) for index in range(6)]
                    few = 1
                    for choices in values:
                        few *= len(choices)
                    chosen = itertools.product(*values) if few <= number else ([random.choice(choices) for choices in values] for _ in range(number))
                    found += [Input(arch, name, self.numbers[arch][name], tuple(args)) for args in chosen]
        return found

    def read(self, words):
        """Returns the input in the 16 words of seccomp_data, or None if no architecture of the rules has such a call."""
        nr, audit = words[:2]
        for arch in self.arches:
            if audit == AUDIT[arch] and (arch == "x32") == (audit == AUDIT["x32"] and bool(nr & X32_BIT)):
                pairs = (_in_order(arch, *words[i:i + 2]) for i in range(4, 16, 2))
                args = tuple(low | high << 32 for low, high in pairs)
                return next((Input(arch, name, nr, args) for name, number in self.numbers[arch].items() if number == nr), None)
        return None


def _in_order(arch, low, high):
    """Returns the halves of a value in the order of the architecture, or from that order."""
    return (high, low) if arch in BIG_ENDIAN else (low, high)


def _beside(rules, index):
    values = {0}
    for rule in rules:
        for test in rule.tests:
            if test.index == index:
                whole = test.second | ~test.value if test.op == "masked_eq" else test.value
                near = test.second & test.value if test.op == "masked_eq" else test.value
                values |= {(each + change) & ALL for each in (whole, near) for change in (-1, 0, 1, 2**32)}
    return values
