"""Interpreters under test must agree with the naive evaluator on random programs without instructions that have known bugs."""
# Annex: adapters

from random import Random

import frames
import pytest
from built_adapters import FULL

from naive import random_programs
from naive.naive import Insn, run

PROGRAMS = 4000 if FULL else 400
INPUTS = 8
TAX, TXA, NEG, RET_A, SHIFTS_BY_X, DIV_X = 0x07, 0x87, 0x84, 0x16, (0x6C, 0x7C), 0x3C
LD_LEN, LDX_LEN, JUMPS_BY_X = 0x80, 0x81, (0x1D, 0x2D, 0x3D, 0x4D)

# Instructions that an evaluator does not implement (README.md of the adapter) or that have a known bug (corpus/known.toml)
EVALUATORS = {"bpfvm": {TAX, TXA, NEG, DIV_X, LD_LEN, LDX_LEN, *JUMPS_BY_X}, "gvisor": {TAX, TXA, *SHIFTS_BY_X}, "libpcap": set(SHIFTS_BY_X),
              "lightbpf": {RET_A}, "netbpf": {NEG, LDX_LEN, *SHIFTS_BY_X}}


def without(*codes):
    """Returns the evaluators that run these instructions correctly."""
    return sorted(name for name, wrong in EVALUATORS.items() if not wrong & set(codes))


@pytest.mark.parametrize("name", sorted(EVALUATORS))
def test_results_of_random_programs_are_right(served, name):
    adapter, random = served(name), Random(20261121)
    tried = 0
    while tried < PROGRAMS:
        program = random_programs.program(random, random.randrange(1, 20))
        if any(insn.code in EVALUATORS[name] for insn in program):
            continue
        tried += 1
        inputs = random_programs.inputs(random, program, INPUTS)
        status, body = adapter.ask(frames.evaluate(program, inputs))
        assert status == frames.ANSWERED, (program, body)
        assert frames.values(body) == [run(program, data) for data in inputs], program


@pytest.mark.parametrize("name", without(DIV_X))
def test_division_by_zero_ends_the_program(served, name):
    program = [Insn(0x00, 0, 0, 5), Insn(0x3C, 0, 0, 0), Insn(0x06, 0, 0, 7)]
    assert served(name).ask(frames.evaluate(program, [bytes(64)])) == (frames.ANSWERED, bytes(4))


@pytest.mark.parametrize("name", without(RET_A))
def test_reads_every_word(served, name):
    """Checks byte order and offsets: each word is returned as it was sent."""
    adapter = served(name)
    data = bytes(range(1, 65))
    for at in range(0, 64, 4):
        _, body = adapter.ask(frames.evaluate([Insn(0x20, 0, 0, at), Insn(0x16, 0, 0, 0)], [data]))
        assert body == data[at:at + 4]


@pytest.mark.parametrize("name", without(RET_A, LD_LEN))
def test_loads_of_the_length_give_64(served, name):
    assert served(name).ask(frames.evaluate([Insn(LD_LEN, 0, 0, 0), Insn(RET_A, 0, 0, 0)], [bytes(64)])) == (0, b"\x40\0\0\0")


@pytest.mark.parametrize("name", without(RET_A))
@pytest.mark.parametrize("count", [0, 1, 5000])
def test_returns_one_value_for_each_input(served, name, count):
    status, body = served(name).ask(frames.evaluate([Insn(0x20, 0, 0, 0), Insn(0x16, 0, 0, 0)],
                                                    [i.to_bytes(4, "little") + bytes(60) for i in range(count)]))
    assert (status, frames.values(body)) == (frames.ANSWERED, list(range(count)))
