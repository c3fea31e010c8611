"""Tests `prove --engine` with each engine, and with diagrams and Z3 together, which must agree."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from cli_tool import MANIFEST, PROGRAMS, binary, confirmed, program, report, run

PAIRS = [(pair["name"], PROGRAMS / pair["before"], PROGRAMS / pair["after"]) for pair in MANIFEST["pairs"]]
ABOVE_4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n"
FROM_6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n"
ARITHMETIC = "ld [0]\nadd #1\njgt #5, y, n\ny: ret #1\nn: ret #2\n"
# Neither program reads arch, so the input shown is a call of x86_64.
FSTAT = [5, 0xC000003E] + [0] * 14
PRODUCT = "ld [%d]\ntax\nld [%d]\nmul x\njeq #%#x, y, n\ny: ret #1\nn: ret #2\n"


@pytest.mark.parametrize("name, before, after", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_all_engines_prove_every_real_pair(name, before, after):
    for engine, name in (("both", "dd and z3"), ("sat", "sat")):
        document, done = report("prove", before, after, "--engine", engine)
        assert (done.status, document["verdict"], document["engine"]) == (0, "equivalent", name)


@pytest.mark.parametrize("engine, name", [("z3", "z3"), ("dd", "dd"), ("both", "dd and z3")])
def test_every_engine_shows_the_same_witness(engine, name, asm):
    before, after = asm(ABOVE_4), asm(FROM_6)
    document, done = report("prove", before, after, "--engine", engine)
    assert (done.status, document["engine"], document["minimal"]) == (1, name, True)
    assert confirmed(document, program(ABOVE_4), program(FROM_6)) == [1, 2]
    assert document["witness"]["data"]["words"] == FSTAT


def test_diagrams_decide_first(asm):
    before, after = asm(ABOVE_4), asm(FROM_6)
    assert report("prove", before, after)[0]["engine"] == "dd"
    assert report("check", before, before)[0]["proof"]["engine"] == "dd"


def test_diagrams_support_arithmetic(asm):
    before, after = asm(ARITHMETIC), asm(ARITHMETIC.replace("#5", "#6"))
    for engine, name in (("dd", "dd"), ("both", "dd and z3")):
        document, done = report("prove", before, before, "--engine", engine)
        assert (done.status, document["engine"]) == (0, name)
        document, done = report("prove", before, after, "--engine", engine)
        assert (done.status, document["engine"], document["minimal"]) == (1, name, True)
        assert confirmed(document, program(ARITHMETIC), program(ARITHMETIC.replace("#5", "#6"))) == [1, 2]
        assert document["witness"]["data"]["words"] == FSTAT


@pytest.fixture
def product(asm):
    """Returns a function that writes a program, which compares a product of two input words with a constant. The product is too large for
    diagrams, and easy for the solver."""
    def write(first, second, k):
        return asm(PRODUCT % (first, second, k))
    return write


def test_the_solver_decides_beyond_the_limits_of_diagrams(product):
    one, turned, other = product(16, 24, 0x1234567), product(24, 16, 0x1234567), product(16, 24, 0x1234569)
    for engine, name in (("dd", "walk"), ("sat", "sat"), ("z3", "z3")):  # both programs compute the same terms
        document, done = report("prove", one, turned, "--engine", engine)
        assert (done.status, document["engine"]) == (0, name)
    document, done = report("prove", one, turned, "--engine", "both")
    assert (done.status, document["verdict"]) == (3, "unknown")
    assert "limit" in document["detail"] and "z3 alone answers 'equivalent'" in document["detail"]
    for engine, name in (("dd", "sat"), ("sat", "sat"), ("both", "z3")):  # one engine suffices, because the witness is replayed
        document, done = report("prove", one, other, "--engine", engine)
        assert (done.status, document["engine"]) == (1, name)
        values = confirmed(document, program(PRODUCT % (16, 24, 0x1234567)), program(PRODUCT % (16, 24, 0x1234569)))
        assert sorted(values) == [1, 2]


@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
def test_an_exhausted_memory_limit_is_unknown(engine, product, asm):
    one = product(16, 24, 0x1234567)
    same = asm((PRODUCT % (16, 24, 0x1234567)).replace("mul x", "add #1\nmul x\nsub x"))  # the product walk does not show it
    document, done = report("prove", one, same, "--engine", engine, "--max-memory", 1, "--timeout", 1)
    assert (done.status, document["verdict"]) == (3, "unknown")
    assert "memory" in document["detail"] or "limit" in document["detail"]


def test_the_memory_limit_applies_to_other_commands(product):
    one, other = product(16, 24, 0x1234567), product(16, 24, 0x1234569)
    document, done = report("diff", one, other, "--max-memory", 1)
    assert (done.status, document["error"], document["verdict"]) == (3, "budget", "unknown")
    for args in (["cover", one], ["check", one, other], ["check", one, one]):
        done = report(*args, "--max-memory", 1, "--timeout", 1)[1]
        assert done.status in (0, 1, 3), done  # the solver or an input may still decide


@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
def test_every_engine_proves_edges_infeasible(engine, asm):
    # The two conditions exclude each other, so the true outcome of the second one is infeasible.
    path = asm("ld [0]\njgt #5, big, n\nbig: jeq #3, y, n\ny: ret #1\nn: ret #2\n")
    document, done = report("cover", path, "--no-derive", "--engine", engine)
    assert done.status == 1 and (len(document["feasible"]), len(document["infeasible"])) == (7, 2), document
    document, done = report("check", path, path, "--engine", engine)
    assert done.status == 0 and len(document["coverage"]["infeasible"]) == 2
    assert document["proof"]["engine"] == {"both": "dd and z3"}.get(engine, engine)


def test_an_unknown_engine_is_refused(asm):
    done = run("prove", asm(ABOVE_4), asm(FROM_6), "--engine", "magic")
    assert done.status == 2 and "--engine" in done.err


STUB = """
import sys
behaviour, query = sys.argv[1], sys.stdin.read()
model = " ".join("(word%d #x%08x)" % (i, {0: 5, 1: 0xc000003e}.get(i, 0)) for i in range(16))
answer = {"right": "sat", "hang": "", "garbage": "Parse error at 1.1"}.get(behaviour, behaviour)
if behaviour == "hang":
    import time
    time.sleep(1000)
print(answer)
if "get-value" in query:
    print("(%s)" % model.replace("#x00000005", "#x00000007" if behaviour == "sat" else "#x00000005"))
sys.exit(int(behaviour == "crash"))
"""


@pytest.fixture
def solver(tmp_path):
    (tmp_path / "stub solver.py").write_text(STUB)
    return lambda behaviour: "smt:%s '%s' %s" % (sys.executable, tmp_path / "stub solver.py", behaviour)


def test_a_foreign_solver_decides_and_its_model_is_replayed(asm, solver):
    document, done = report("prove", asm(ABOVE_4), asm(ABOVE_4.replace("jgt #4", "jge #5")), "--engine", solver("unsat"))
    assert (done.status, document["verdict"], document["engine"]) == (0, "equivalent", solver("unsat"))
    document, done = report("prove", asm(ABOVE_4), asm(FROM_6), "--engine", solver("right"))
    assert (done.status, document["verdict"], document["engine"]) == (1, "different", solver("right"))
    assert confirmed(document, program(ABOVE_4), program(FROM_6)) == [1, 2]


@pytest.mark.parametrize("behaviour, reason", [("sat", "this solver is wrong"), ("unknown", "answers 'unknown'"), ("unsupported", "unsupported"),
                                               ("garbage", "Parse error"), ("crash", "exited with status 1"), ("hang", "time limit of 1 s")])
def test_a_foreign_solver_that_misbehaves_gives_no_verdict(behaviour, reason, product, solver):
    document, done = report("prove", product(16, 24, 0x1234567), product(24, 16, 0x1234567), "--engine", solver(behaviour), "--timeout", 1)
    assert (done.status, document["verdict"]) == (3, "unknown")
    assert reason in document["detail"], document["detail"]


def test_a_foreign_solver_cannot_hide_what_inputs_show(asm, solver):
    done = run("prove", asm(ABOVE_4), asm(FROM_6), "--engine", solver("unsat"))
    assert done.status == 2 and "returns 'equivalent' and inputs returns 'different'" in done.err
    document, done = report("prove", asm(ABOVE_4), asm(FROM_6), "--engine", solver("crash"))
    assert (done.status, document["engine"]) == (1, "inputs")


def test_all_engines_run_side_by_side(product, solver):
    one, turned, other = product(16, 24, 0x1234567), product(24, 16, 0x1234567), product(16, 24, 0x1234569)
    for after, verdict in ((turned, "equivalent"), (other, "different")):
        document, done = report("prove", one, after, "--engine", "all", "--engine", solver("hang"), "--engine", solver("garbage"))
        assert document["verdict"] == verdict and not document["engine"].startswith("smt:")


@pytest.mark.parametrize("engines", [["dd", "sat"], ["dd", "smt:false"], ["smt:false", "smt:true"], ["all", "dd"]])
def test_only_the_engine_all_can_be_combined_with_foreign_solvers(engines, asm):
    done = run("prove", asm(ABOVE_4), asm(FROM_6), *[word for engine in engines for word in ("--engine", engine)])
    assert done.status == 2 and "expected one engine" in done.err


@pytest.mark.parametrize("name", ["smt:", "smt: "])
def test_a_foreign_solver_needs_a_command(name, asm):
    assert run("prove", asm(ABOVE_4), asm(FROM_6), "--engine", name).status == 2


def test_z3_is_loaded_only_when_it_is_needed(asm, tmp_path):
    pair = asm("ret #0x7fff0000\n"), asm("ld [0]\nret #0x7fff0000\n")
    (tmp_path / "libz3.so.4").write_text("not a library")
    broken = {"env": {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}}
    assert run("prove", *pair, **broken).status == 0
    for engine in ("z3", "both"):
        done = run("prove", "--engine", engine, *pair, **broken)
        assert done.status == 3 and not done.out and "unknown: Z3 cannot be loaded: %s/libz3.so.4: " % tmp_path in done.err, done


def test_z3_of_pypi_beside_the_command_is_found(asm, tmp_path):
    pair = asm("ret #0x7fff0000\n"), asm("ld [0]\nret #0x7fff0000\n")
    command, package = tmp_path / "bin/secequiv", tmp_path / "lib/python3.9/site-packages/z3/lib"
    for folder in (command.parent, package):
        folder.mkdir(parents=True)
    shutil.copy(binary(), command)
    (tmp_path / "libz3.so.4").write_text("not a library")
    loaded = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, env={"PATH": "/usr/sbin:/sbin"}).stdout
    (found,) = re.findall(r"libz3\.so\.4 .* => (\S+)", loaded)
    for status in (3, 0):
        done = subprocess.run([str(command), "prove", "--engine", "z3", *map(str, pair)], env={"LD_LIBRARY_PATH": str(tmp_path)}, capture_output=True)
        assert done.returncode == status, done
        if status == 3:
            (package / "libz3.so").symlink_to(found)
