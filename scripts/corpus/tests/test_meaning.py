"""Tests of the third evaluation of container profiles, and that it finds libseccomp's known mistakes under their names."""

import json
import random
import struct

import pytest

from corpus import known, meaning, mistakes, oci, programs
from naive.naive import Insn, run

NUMBERS = {"x86_64": {"read": 0, "socket": 41, "recvfrom": 45}, "x86": {"read": 3, "socket": 359, "socketcall": 102, "ipc": 117},
           "s390x": {"read": 3, "socket": 359, "socketcall": 102}}
ALLOW, REFUSE = 0x7FFF0000, 0x00050001
MISTAKES = [entry for entry in known.load() if entry.project == "libseccomp" and (entry.request, entry.kind) == ("profile", "wrong-answer")]


def rules(*lines, arches=("x86_64", "x86")):
    text = ["default %#x" % REFUSE, *("arch " + arch for arch in arches), *("rule %#x %s" % (ALLOW, line) for line in lines)]
    return meaning.Rules("\n".join(text), NUMBERS.get)


def permitted(given, arch, name, *args):
    return given.permitted(meaning.Input(arch, name, given.numbers[arch][name], (*args, *[0] * (6 - len(args)))))


@pytest.mark.parametrize("test, right, wrong", [
    ("0 eq 5 0", 5, 6), ("0 ne 5 0", 6, 5), ("0 lt 5 0", 4, 5), ("0 le 5 0", 5, 6), ("0 ge 5 0", 5, 4), ("0 gt 5 0", 6, 5), ("0 masked_eq 6 5", 0xFD, 2)])
def test_operators(test, right, wrong):
    given = rules("read " + test)
    assert permitted(given, "x86_64", "read", right) == {ALLOW} and permitted(given, "x86_64", "read", wrong) == {REFUSE}


def test_all_tests_of_a_rule_hold_together_and_rules_are_alternatives():
    given = rules("read 0 eq 1 0 1 eq 2 0", "read 2 eq 3 0")
    assert [permitted(given, "x86_64", "read", *args) for args in ((1, 2), (1, 0), (0, 0, 3))] == [{ALLOW}, {REFUSE}, {ALLOW}]


def test_a_32_bit_abi_ignores_high_halves():
    given = rules("read 0 eq 0x100000005 0")
    assert permitted(given, "x86", "read", 5) == {ALLOW} and permitted(given, "x86_64", "read", 5) == {REFUSE}


def test_operations_of_multiplexers():
    given = rules("socket 0 eq 2 0 1 eq 7 0")
    assert permitted(given, "x86", "socketcall", 1, 7) == {ALLOW}, "the operation replaces the test of the first argument"
    assert permitted(given, "x86", "socketcall", 2, 7) == permitted(given, "x86", "socketcall", 1) == permitted(given, "x86", "ipc", 1, 7) == {REFUSE}


def test_a_rule_without_tests_replaces_those_of_operations():
    given = meaning.Rules("default %#x\narch x86\nrule %#x socket\nrule 0x50026 socketcall\n" % (REFUSE, ALLOW), NUMBERS.get)
    assert permitted(given, "x86", "socketcall", 1) == {0x50026}


def test_several_actions_are_all_permitted():
    given = meaning.Rules("default %#x\narch x86_64\nrule %#x read 0 eq 1 0\nrule 0 read 1 eq 1 0\n" % (REFUSE, ALLOW), NUMBERS.get)
    assert permitted(given, "x86_64", "read", 1, 1) == {ALLOW, 0}


@pytest.mark.parametrize("arch", ["x86_64", "s390x"])
def test_data_can_be_read_back(arch):
    given = rules("read 1 eq 0x100000002 0", arches=(arch,))
    one = meaning.Input(arch, "read", NUMBERS[arch]["read"], (0, 0x100000002, 0, 0, 0, 0))
    words = struct.unpack("<16I", one.data())
    assert given.read(words) == one and words[6:8] == ((1, 2) if arch == "s390x" else (2, 1))


def test_inputs_lie_beside_the_values():
    found = {given.args[0] for given in rules("read 0 eq 5 0").inputs(random.Random(1), 60)}
    assert {4, 5, 6, 0x100000005} <= found


def test_every_name_of_a_mistake_is_known():
    assert set(mistakes.ALL_NAMES) <= {entry.id for entry in known.load()}


@pytest.mark.parametrize("entry", MISTAKES, ids=lambda entry: entry.id)
def test_it_finds_the_known_mistakes(entry, library):
    text = oci.rules(json.loads(entry.file.read_text()), "SCMP_ARCH_X86_64", programs.KERNEL)
    given = meaning.Rules(text, library.numbers)
    raw = library.compile(text, "tree" if "--tree" in entry.arguments else "linear")
    program = [Insn(*each) for each in struct.iter_unpack("<HBBI", raw)]
    one = given.read(struct.unpack("<16I", entry.data))
    assert (given.permitted(one), run(program, one.data())) == ({entry.ours}, entry.theirs)
    default_decides = all(run(program, each.data()) == given.default for each in given.inputs(random.Random(1), 60) if each.arch == one.arch)
    found = mistakes.names(given, one.arch, one.name, default_decides)
    assert entry.id in found if entry.id in mistakes.ALL_NAMES else found
