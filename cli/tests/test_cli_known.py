"""Tests `fuzz --known`: findings of earlier runs, saved or listed, do not fail, and they excuse nothing else."""

import struct

import pytest
from cli_tool import report, run
from test_cli_fuzz import FAST, JSET, SWAPS, programs  # noqa: F401

SHIFTS = r"sed 's/^100 0 0 1$/100 0 0 2/'"  # LSH by 1 becomes LSH by 2


def test_known_findings_do_not_fail(programs, tmp_path):  # noqa: F811
    saved = tmp_path / "found"
    swaps = ["--optimizer", SWAPS, "--form", "ddd", "--programs", programs]
    assert run("fuzz", *swaps, *FAST, "12", "--save", saved, "--known", tmp_path).status == 1
    document, done = report("fuzz", *swaps, *FAST, "40", "--known", saved)
    assert (done.status, document["verdict"], document["no_longer_fails"]) == (0, "pass", []), done
    assert document["reason"].startswith("no new failure in ")
    assert run("fuzz", *swaps, *FAST, "1", "--known", saved).out.count("\ndifferent (known): ") == len(list(saved.glob("different-*.asm")))
    known = [finding for finding in document["findings"] if finding["kind"] == "different"]
    assert known and all(finding["known"] and not finding["failure"] for finding in known)
    assert sum(finding["count"] for finding in known) > len(known)
    # Another bug of the same command still fails the run.
    (programs / "shift.asm").write_text("ld #1\nlsh #1\nret a\n")
    both = ["--optimizer", SWAPS + " | " + SHIFTS, "--form", "ddd", "--programs", programs]
    document, done = report("fuzz", *both, *FAST, "12", "--known", saved)
    assert (done.status, document["verdict"]) == (1, "different"), done
    failures = [finding for finding in document["findings"] if finding["failure"]]
    assert all("different (new): " in finding["text"] for finding in failures)
    assert failures and not any(JSET in [insn[0] for insn in finding["before"]] for finding in failures)
    # Known findings that no longer fail are listed.
    document, done = report("fuzz", "--optimizer", "cat", *FAST, "12", "--known", saved)
    assert done.status == 0 and sorted(document["no_longer_fails"]) == sorted(str(path) for path in saved.glob("*.asm"))


def test_a_run_without_time_for_a_trial_is_unknown(programs):  # noqa: F811
    """The time runs out before the known findings are tried."""
    options = ["--optimizer", "cat", "--duration", "1e-9"]
    known = run("fuzz", *options, "--known", programs / "masks.asm")
    assert known.status == 3 and known.out.endswith(
        "verdict: unknown (nothing was tested: the time ran out while the known findings were tried)\n"), known
    assert run("fuzz", *options).out.endswith("verdict: unknown (nothing was tested)\n")


def test_known_findings_of_an_evaluator_are_replayed_with_their_inputs(tmp_path):
    """The evaluator is wrong for one number, which no derived input of this program has."""
    program, inputs = tmp_path / "different-1.asm", tmp_path / "different-1.asm.inputs"
    program.write_text("ret #1\n")
    inputs.write_bytes(struct.pack("<2I", 12345, 0xc000003e) + bytes(56))
    wrong = ("python3 -c 'import sys; d = sys.stdin.buffer.read(); "
             "[print(2 if d[i:i + 2] == b\"90\" else 1) for i in range(0, len(d), 64)]' {program}")
    options = ["--evaluator", wrong, "--programs", program, *FAST, "1", "--known", program]
    document, done = report("fuzz", *options)
    assert done.status == 0 and [found["known"] for found in document["findings"]] == [True]
    assert document["no_longer_fails"] == []
    inputs.unlink()
    assert report("fuzz", *options)[0]["no_longer_fails"] == [str(program)]


def test_programs_in_a_list_of_known_findings_are_written_like_those_of_vectors(tmp_path):
    (tmp_path / "known.toml").write_text('[[known]]\nadapter = "cat"\nrequest = "optimize"\nkind = "crash"\nfile = "long.asm"\n')
    (tmp_path / "long.asm").write_text(".repeat 9\n.raw 0x20, 0, 0, 4\n.endrepeat\nret #1\n")
    document, done = report("fuzz", "--optimizer", "cat", *FAST, "1", "--known", tmp_path / "known.toml")
    assert done.status == 0 and document["no_longer_fails"] == [str(tmp_path / "long.asm")], done.err


@pytest.mark.parametrize("line, message", [
    ('kind = "slow', "found \"slow"), ('kind = "slow" x', "found \"slow\" x"), ("kind =", "for 'kind', found "), ("[[known]", "expected [[known]]")])
def test_a_list_of_known_findings_has_one_value_in_each_line(line, message, tmp_path):
    listed = tmp_path / "known.toml"
    good = '[[known]]  # a comment\nadapter = "cat" # not "sed"\nrequest = "optimize"\nkind = "slow"\nwhat = "a \\"#\\" in text"\nours = 1 # one\n'
    listed.write_text(good + 'arguments = ["--tree"] # a list\n')
    assert run("fuzz", "--optimizer", "cat", *FAST, "1", "--known", listed).status == 0
    listed.write_text(good + line + "\n")
    done = run("fuzz", "--optimizer", "cat", *FAST, "1", "--known", listed)
    assert done.status == 2 and "known.toml:7: " in done.err and message in done.err, done.err


def test_known_findings_can_be_entries_of_a_list(programs, tmp_path):  # noqa: F811
    (tmp_path / "masks.asm").write_text((programs / "masks.asm").read_text())
    (tmp_path / "known.toml").write_text(
        '# a comment\n[[known]]\nid = "swapped"\nadapter = "sed"\nrequest = "optimize"\nkind = "wrong-answer"\nfile = "masks.asm"\n\n'
        '[[known]]\nadapter = "other"\nrequest = "optimize"\nkind = "wrong-answer"\nfile = "missing.asm"\n')
    swaps = ["--optimizer", SWAPS, "--form", "ddd", "--programs", programs, *FAST, "2", "--allow", "cache-loss"]
    assert run("fuzz", *swaps).status == 1
    assert run("fuzz", *swaps, "--known", tmp_path / "known.toml").status == 0
    (tmp_path / "known.toml").write_text("[[known]]\nno value\n")
    done = run("fuzz", *swaps, "--known", tmp_path / "known.toml")
    assert done.status == 2 and "known.toml:2" in done.err
