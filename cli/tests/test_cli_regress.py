"""Tests programs that once showed a bug: every command answers for them, and the answers are consistent."""

import pytest
from cli_tool import ROOT, evaluate, read_raw, report, run, words_bytes

PROGRAMS = sorted((ROOT / "corpus" / "regress" / "programs").glob("*.asm"))
CALLS = [[0] * 16, [1, 2] + [3] * 14, [0] * 4 + [7] + [0] * 11, [0xFFFFFFFF] * 16, list(range(16))]
ALL = 1 << 512


def test_the_corpus_has_regression_programs():
    assert len(PROGRAMS) >= 3


def test_optimizer_passes_terminate_on_regression_programs():
    undoing = ROOT / "corpus" / "regress" / "programs" / "undoing-passes.asm"
    for passes in ("merge-equal-code,skip-decided-tests", "skip-decided-tests,merge-equal-code"):
        assert run("optimize", undoing, "--passes", passes).err == ""


@pytest.mark.parametrize("path", sorted((ROOT / "corpus/regress/profiles").glob("*.json")), ids=lambda path: path.stem)
def test_profiles_decide_as_the_programs_that_libseccomp_made(path):
    # libseccomp 2.5.4 made the program
    assert run("prove", path, path.with_suffix(".bpf")).status == 0


def test_a_policy_for_x32_alone_is_an_error():
    """Reports said that it kills other architectures, but it decided the calls of x86_64 like those of x32."""
    path = ROOT / "corpus/regress/policies/x32-alone.json"
    for command in (["import", path, "--as", "text"], ["run", path, "--nr", "101", "--call-arch", "x86_64"], ["dis", path], ["lint", path]):
        done = run(*command)
        assert done.status == 2 and "arches: x32 needs x86_64 beside it: both have the same architecture value" in done.err, done


@pytest.mark.parametrize("path", sorted((ROOT / "corpus/regress/direction").glob("*.txt")), ids=lambda path: path.stem)
def test_the_first_line_states_what_became_more_permissive(path):
    """Earlier versions printed a first line for these pairs that was incomplete or false, or none."""
    for command in ("check", "prove", "diff"):
        done = run(command, path.with_suffix(".before.asm"), path.with_suffix(".after.asm"))
        assert done.status == 1 and done.out.startswith(path.read_text()), (command, done)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_command_answers_for_regression_programs(path, tmp_path):
    raw, constant = tmp_path / "program.bpf", tmp_path / "constant.asm"
    assert run("asm", path, "-o", raw).status == 0
    insns = read_raw(raw.read_bytes())
    document, done = report("reach", path)
    assert done.status == 0 and all(int(row["count"]) <= ALL for row in document["obligations"])
    rets = [row for row in document["obligations"] if insns[row["instruction"]].code & 7 == 6]
    assert sum(int(row["count"]) for row in rets) == ALL
    for call in CALLS:
        value = evaluate(insns, words_bytes(call))
        document, done = report("why", path, "--words", ",".join(map(str, call)))
        assert done.status == 0 and int(document["result"]["value"], 16) == value
        constant.write_text("ret #%d\n" % value)
        proof, done = report("prove", path, constant, "--assume", document["condition"], "--engine", "both")
        assert (done.status, proof["verdict"]) == (0, "equivalent"), document["condition"]
        assert report("prove", path, constant)[1].status == 1
        difference, done = report("diff", path, constant)
        assert done.status == 1
        same = ALL - int(difference["count"])
        assert int(document["count"]) <= same
