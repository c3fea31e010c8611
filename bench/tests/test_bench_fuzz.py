"""Tests that scripts/bench fuzz reads the output of libFuzzer and of the targets."""

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(Path(__file__).resolve().parents[1])]

import bench_fuzz  # noqa: E402

STATISTICS = "Done 120 runs in 1 second(s)\nstat::number_of_executed_units: 120\nstat::average_exec_per_sec: 120\n"


def test_reads_runs_answers_and_proofs():
    assert bench_fuzz.executed(STATISTICS) == (120, None)
    output = STATISTICS + "fuzz_program: 118 answers, 110 proven, 8 undecided, 0 unsupported\n"
    assert bench_fuzz.executed(output) == (120, (118, 110))


def test_missing_statistics_are_an_error():
    with pytest.raises(AttributeError):
        bench_fuzz.executed("Done 120 runs")


def test_without_an_adapter_there_is_no_reference(tmp_path):
    assert bench_fuzz.reference(tmp_path, tmp_path / "inputs") is None
