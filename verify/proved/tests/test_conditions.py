"""Tests that the proven checker and the Python checkers give the same answers with `--allowed-by`."""
# Annex: coq

import itertools
import shutil
import struct

import pytest
import test_cli_certificate_assume as suite
from certificate_tool import BEFORE, ENGINES, certify
from cli_tool import Insn, accept, assemble, some
from test_checker import proven

ALLOW, ALSO_ALLOW = "ret #0x7fff0000", "ret #0x7fff0001"
CODES = {"ld [0]": Insn(0x20, 0, 0, 0), "ret a": Insn(0x16, 0, 0, 0), "st M[0]": Insn(0x02, 0, 0, 0), "stx M[0]": Insn(0x03, 0, 0, 0),
         ALSO_ALLOW: Insn(0x06, 0, 0, 0x7FFF0001), "ret #0": Insn(0x06, 0, 0, 0), "jeq #5, 1, 0": Insn(0x15, 1, 0, 5),
         "jeq #5, 0, 1": Insn(0x15, 0, 1, 5), "div x": Insn(0x3C, 0, 0, 0), ALLOW: Insn(0x06, 0, 0, 0x7FFF0000)}


def packed(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


@pytest.fixture
def both(built, monkeypatch):
    """The functions of the suite ask both checkers. Returns the exit statuses."""
    statuses, original = [], suite.check

    def check(engine, folder, *arguments):
        status, output = original(engine, folder, *arguments)
        statuses.append(status)
        got, printed = proven(built, folder, *arguments)
        assert got == status and (status != 0 or printed == output), (printed, output)
        return status, output

    monkeypatch.setattr(suite, "check", check)
    return statuses


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("condition", some(suite.CONDITIONS, 3))
def test_certificates_under_an_assumption(both, engine, condition, tmp_path):
    suite.test_a_certificate_under_an_assumption_needs_its_condition(engine, condition, tmp_path)
    assert both == [0, 1, 1, 1]


@pytest.mark.parametrize("files", [["walk.cert"], ["query.cnf", "proof.lrat"]])
def test_a_condition_that_also_returns_ALLOW_with_data_is_refused(built, files, tmp_path):
    for name in files:
        shutil.copy(suite.ALSO_ALLOWS / name, tmp_path)
    status, output = proven(built, tmp_path, *suite.ALSO_ALLOWS_ARGUMENTS)
    assert status == 1 and suite.ONLY_THE_LAST in output, output
    assert proven(built, tmp_path)[0] == 0


def test_which_programs_are_conditions(both, tmp_path):
    """For every short program, a certificate whose programs run it first. Only conditions fit such a certificate."""
    program = assemble(BEFORE)
    programs = [lines for size in (1, 2, 3) for lines in itertools.islice(itertools.product(CODES, repeat=size), 0, None, 7 if size == 3 else 1)
                if lines[-1] in (ALLOW, ALSO_ALLOW, "ret #0")]
    fitting = []
    for lines in programs:
        condition = [CODES[line] for line in lines]
        if accept(condition, forgive_length=True) is not None:
            continue
        first = condition[:-1] + [Insn(0, 0, 0, 0), Insn(1, 0, 0, 0)]
        (tmp_path / "longer").write_bytes(packed(first + program))
        (tmp_path / "condition").write_bytes(packed(condition))
        (tmp_path / "program").write_bytes(packed(program))
        folder = certify(tmp_path, "dd", tmp_path / "longer", tmp_path / "longer")
        status, _ = suite.check("dd", folder, tmp_path / "program", tmp_path / "program", "--allowed-by", tmp_path / "condition")
        if status == 0:
            fitting.append(lines)
    assert all(lines[-1] in (ALLOW, ALSO_ALLOW) and not {ALLOW, ALSO_ALLOW, "ret a", "st M[0]", "stx M[0]"} & set(lines[:-1]) for lines in fitting)
    assert len(fitting) > 8 and len(both) - len(fitting) > 12
