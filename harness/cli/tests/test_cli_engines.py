"""prove --engine: decision diagrams, the solver, and both, which must agree."""

import pytest
from cli_tool import MANIFEST, PROGRAMS, confirmed, program, report, run

PAIRS = [(pair["name"], PROGRAMS / pair["before"], PROGRAMS / pair["after"]) for pair in MANIFEST["pairs"]]
ABOVE_4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n"
FROM_6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n"
ARITHMETIC = "ld [0]\nadd #1\njgt #5, y, n\ny: ret #1\nn: ret #2\n"


@pytest.mark.parametrize("name, before, after", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_both_prove_every_real_pair(name, before, after):
    document, done = report("prove", before, after, "--engine", "both")
    assert (done.status, document["verdict"], document["engine"]) == (0, "equivalent", "dd and z3")


@pytest.mark.parametrize("engine, name", [("z3", "z3"), ("dd", "dd"), ("both", "dd and z3")])
def test_a_difference_is_the_same_for_every_engine(engine, name, asm):
    before, after = asm(ABOVE_4), asm(FROM_6)
    document, done = report("prove", before, after, "--engine", engine)
    assert (done.status, document["engine"], document["minimal"]) == (1, name, True)
    assert confirmed(document, program(ABOVE_4), program(FROM_6)) == [1, 2]
    assert document["witness"]["data"]["words"] == [5] + [0] * 15


def test_what_diagrams_do_not_handle(asm):
    before = asm(ARITHMETIC)
    document, done = report("prove", before, before, "--engine", "dd")
    assert (done.status, document["engine"]) == (0, "z3")
    document, done = report("prove", before, before, "--engine", "both")
    assert (done.status, document["verdict"]) == (3, "unknown")
    assert "z3 alone says: equivalent" in document["detail"]


def test_an_unknown_engine_is_refused(asm):
    done = run("prove", asm(ABOVE_4), asm(FROM_6), "--engine", "magic")
    assert done.status == 2 and "--engine" in done.err
