"""Compares the acceptance check, and the programs of every vector, with the running kernel."""

import random

import pytest

from .. import live, vectors
from ..accept import KNOWN_ANCILLARY, SKF_AD_OFF, accept
from ..asm import assemble
from ..naive import Insn

CORPUS = [(vector, program) for path in vectors.find_files() for vector in vectors.load(path) for program in vector.programs]
GOOD = assemble("ld [0]\nret #0x7fff0000")
# These two rules belong to seccomp_check_filter. The kernel does not apply this check to socket filters, so it accepts such programs there.
SECCOMP_ONLY = ("load_offset", "not_seccomp")


@pytest.fixture(scope="module", autouse=True)
def _seccomp_is_permitted():
    try:
        good = live.accepts(GOOD)
    except live.LiveError as error:
        pytest.skip("seccomp filters are not permitted here: %s" % error)
    assert good, "the kernel refuses even a filter of one RET"


@pytest.fixture(scope="module")
def _socket_filters_are_permitted():
    try:
        live.classic_accepts(GOOD)
    except live.LiveError as error:
        pytest.skip("socket filters are not permitted here: %s" % error)


def test_the_kernel_refuses_bad_programs():
    assert not live.accepts(assemble("ld [2]\nret #0"))
    assert not live.accepts([])
    assert not live.accepts(GOOD * 40000)


def test_the_kernel_agrees_with_every_vector():
    wrong = []
    for (vector, program), got in zip(CORPUS, live.accepts_all([program for _, program in CORPUS])):
        if vector.has_accept:
            expected = vector.refusal is None
        else:
            expected = len(program) <= 4096
        if got != expected:
            wrong.append("%s:%d: %s: the kernel %s it" % (vector.path, vector.line, vector.name, "accepts" if got else "refuses"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("_socket_filters_are_permitted")
def test_socket_filters_lack_the_two_rules_of_seccomp():
    wrong = []
    for vector, program in CORPUS:
        if not vector.has_accept or len(program) > 1000:  # the memory limit of a socket (optmem_max) forbids long filters
            continue
        expected = vector.refusal is None or vector.refusal[0] in SECCOMP_ONLY
        if live.classic_accepts(program) != expected:
            wrong.append("%s:%d: %s" % (vector.path, vector.line, vector.name))
    assert not wrong, "\n".join(wrong)


def assert_agreement(programs):
    wrong = []
    for program, got in zip(programs, live.accepts_all(programs)):
        expected = accept(program)
        if got != (expected is None):
            wrong.append("%s: the kernel %s, accept() returns %s" % (program, "accepts" if got else "refuses", expected))
    assert not wrong, "\n".join(wrong[:10])


def test_the_kernel_agrees_about_all_codes():
    """Tests every 16-bit code with K = 0, and every 8-bit code with operands at the limits of the checks."""
    frame = [Insn(0x02, 0, 0, 0), Insn(0x02, 0, 0, 15)]
    last = [Insn(0x06, 0, 0, 0)]
    assert_agreement([frame + [Insn(code, 0, 0, 0)] + last for code in range(0x10000)])
    edges = (1, 3, 4, 15, 16, 31, 32, 60, 63, 64, 0xFFFFEFFF, SKF_AD_OFF, SKF_AD_OFF + 1, 0xFFFFFFFF)
    assert_agreement([frame + [Insn(code, 0, 0, k)] + last for code in range(0x100) for k in edges])


@pytest.mark.usefixtures("_socket_filters_are_permitted")
def test_the_kernel_agrees_about_all_ancillary_offsets():
    for code in (0x20, 0x28, 0x30):
        for offset in range(0, 80):
            program = [Insn(code, 0, 0, SKF_AD_OFF + offset), Insn(0x16, 0, 0, 0)]
            assert live.classic_accepts(program) == (offset in KNOWN_ANCILLARY)


def test_the_kernel_agrees_about_random_programs():
    """Tests short programs of stores, reads, jumps and returns, because check_load_and_stores examines these."""
    pick = random.Random(20)
    programs = []
    for _ in range(20000):
        length = pick.randint(2, 10)
        program = []
        for pc in range(length - 1):
            left = max(length - pc - 2, 0)
            code = pick.choice((0x02, 0x02, 0x03, 0x60, 0x61, 0x05, 0x15, 0x1D, 0x25, 0x45, 0x06, 0x16, 0x20))
            k = pick.randint(0, left) if code == 0x05 else pick.choice((0, 4)) if code == 0x20 else pick.randint(0, 1)
            program.append(Insn(code, pick.randint(0, left), pick.randint(0, left), k))
        programs.append(program + [Insn(pick.choice((0x06, 0x16)), 0, 0, 0)])
    accepted = sum(accept(program) is None for program in programs)
    assert 4000 < accepted < 16000, "lop-sided: %d of %d" % (accepted, len(programs))
    assert_agreement(programs)
