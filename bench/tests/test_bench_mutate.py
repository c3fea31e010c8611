"""Tests scripts/bench mutate: targets and the table, with reports written by hand; nothing is timed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_mutate as bench  # noqa: E402


def report(inputs, fuzzing=0, survived=0, undecided=0, unproven=0):
    return {"inputs": [{"inputs": 30}, {"inputs": 12}],
            "total": {"mutants": 1010, "equivalent": 10, "killed_by_inputs": inputs, "killed_by_fuzzing": fuzzing, "survived": survived,
                      "undecided": undecided, "proven_different": 1000 - unproven, "unproven": unproven}}


@pytest.mark.parametrize("made, seconds, shares, result", [
    (report(1000), 60.0, ["100.000", "100.000", "100.000"], "met"),
    (report(999, fuzzing=1), 1.0, ["99.900", "100.000", "100.000"], "met"),
    (report(998, fuzzing=2), 1.0, ["99.800", "100.000", "100.000"], "missed"),
    (report(999, survived=1), 1.0, ["99.900", "99.900", "100.000"], "missed"),
    (report(999, undecided=1), 1.0, ["99.900", "99.900", "100.000"], "missed"),
    (report(1000, unproven=1), 1.0, ["100.000", "100.000", "99.900"], "missed"),
    (report(1000), 60.1, ["100.000", "100.000", "100.000"], "missed"),
])
def test_compares_with_targets(made, seconds, shares, result):
    assert bench.row("a", made, seconds) == ["a", 1010, 10, 42, *shares, "%.1f" % seconds, ">= 99.9, 100, 100 %; <= 60 s", result]


def test_failures_are_not_measured(tmp_path, capsys):
    broken = tmp_path / "secequiv"
    broken.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    broken.chmod(0o755)
    problems = bench.suite(tmp_path, 1, lambda target: broken, None)
    assert problems == ["%s: %s mutate: status 2: no" % (name, broken) for name in bench.NAMES]
    assert capsys.readouterr().out.count("not measured") == len(bench.NAMES)


def test_unexpected_output_is_not_measured(tmp_path, capsys):
    broken = tmp_path / "secequiv"
    broken.write_text("#!/bin/sh\necho no\n")
    broken.chmod(0o755)
    assert len(bench.suite(tmp_path, 1, lambda target: broken, None)) == len(bench.NAMES)
    assert "not measured" in capsys.readouterr().out


def test_the_filters_exist():
    root = Path(__file__).resolve().parents[2]
    for name in bench.NAMES:
        assert (root / "corpus/programs/gvisor" / (name + ".after.bpf")).is_file()
        assert (root / "corpus/policies/gvisor" / (name + ".json")).is_file()
