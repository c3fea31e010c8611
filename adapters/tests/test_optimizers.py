"""Optimizers under test preserve the decisions of random programs and of real ones."""
# Annex: adapters

from random import Random

import frames
import pytest
from built_adapters import FULL, ROOT

from naive import random_programs
from naive.accept import accept
from naive.naive import Insn, run

PROGRAMS = 3000 if FULL else 300
INPUTS = 12
REAL = sorted((ROOT / "corpus/programs").glob("*/*.bpf"))
if not FULL:
    REAL = REAL[:2]

# Known bugs (corpus/known.toml) affect TXA and loads of memory words (gvisor, lightbpf), and LDX of the length (netbpf).
OPTIMIZERS = {"gvisor": {0x87, 0x60, 0x61}, "lightbpf": {0x60, 0x61}, "netbpf": {0x81}}
UNCHANGED = {"netbpf"}  # it disassembles and reassembles the program, which may clear unused fields


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_preserves_the_decisions_of_random_programs(served, name):
    adapter, random = served(name), Random(20261121)
    tried = shorter = 0
    while tried < PROGRAMS:
        program = random_programs.program(random, random.randrange(1, 24), words=2)
        if any(insn.code in OPTIMIZERS[name] for insn in program):
            continue
        tried += 1
        status, body = adapter.ask(frames.optimize(program))
        assert status == frames.ANSWERED, (program, body)
        after = [Insn(*insn) for insn in frames.decode(body)]
        assert accept(after) is None, (program, after)
        for data in random_programs.inputs(random, program, INPUTS):
            assert run(after, data) == run(program, data), (program, after, data)
        assert len(after) == len(program) or name not in UNCHANGED
        shorter += len(after) < len(program)
    assert name in UNCHANGED or shorter > PROGRAMS // 10  # it optimizes at least some programs


# The known bug lightbpf-jump-to-jump affects nearly every real program.
@pytest.mark.parametrize("name", sorted(set(OPTIMIZERS) - {"lightbpf"}))
@pytest.mark.parametrize("file", REAL, ids=lambda file: file.stem)
def test_preserves_the_decisions_of_real_programs(served, secequiv, tmp_path, name, file):
    status, body = served(name).ask(b"O" + file.read_bytes())
    assert status == frames.ANSWERED, body
    after = tmp_path / "after.bpf"
    after.write_bytes(body)
    done = secequiv("prove", file, after)
    assert done.returncode == 0, done.stdout + done.stderr
