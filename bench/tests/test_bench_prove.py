"""Tests scripts/bench prove: targets and tables, with measurements written by hand; nothing is timed."""

import importlib
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(Path(__file__).resolve().parents[1])]

import as_module  # noqa: E402
import bench_prove as bench  # noqa: E402


def corpus(name, dd, alone, z3):
    times = {"dd/" + name: dd, "z3/" + name: z3}
    return bench.corpus_rows([name], times, {"dd/" + name: alone})[0][-1]


@pytest.mark.parametrize("dd, alone, z3, result", [
    (500, 500, 501, "met"), (501, 400, 500000, "missed"), (400, 501, 500000, "missed"),
    (400, None, 500000, "not measured"), (400, 400, None, "not measured"),
])
def test_largest_pair_has_its_own_target(dd, alone, z3, result):
    assert corpus(bench.LARGEST, dd, alone, z3) == result


def test_compares_with_the_naive_query():
    times = {"dd/" + bench.LARGEST: 1000, "dd/other": 100}
    for seconds, result in ((0.4, "met"), (0.399, "missed"), (None, "not measured")):
        assert [line[-1] for line in bench.naive_rows({bench.LARGEST: seconds, "other": 0.01}, times)] == [result, None]
    assert bench.naive_rows({"other": 0.01}, times) == [["other", "10", "100", None, None]]
    assert bench.naive_rows({"other": 0.01}, {})[0][-1] == "not measured"


@pytest.mark.parametrize("dd, alone, z3, result", [
    (400, 400, 401, "met"), (401, 300, 10**6, "missed"), (300, 401, 10**6, "missed"), (300, 300, None, "not measured"),
])
def test_other_pairs_share_one_time_goal(dd, alone, z3, result):
    assert corpus("other", dd, alone, z3) == result


def test_compares_processes_with_targets():
    rows = bench.process_rows(["a", "b", "c", "d"], {"a": 0.0015, "b": 0.0016, "c": 0.001, bench.EMPTY: 0.0005},
                              {"a": 32 * 1024, "b": 1024, "c": 33 * 1024})
    assert [line[-1] for line in rows] == ["met", "missed", "missed", "not measured"]
    assert rows[0][1:4] == ["1.50", "3.0", "32.0"] and rows[3][1:4] == [None, None, None]


def test_compares_random_programs_with_targets():
    rows = bench.random_rows({"median": 10.0, "p90": 50.0, "decided": 2000, "exhausted": 3})
    assert [line[-1] for line in rows] == ["met", None, "met", None]
    assert [line[-1] for line in bench.random_rows({"median": 10.1, "p90": 50.0, "decided": 1999, "exhausted": 3})] == [
        "missed", None, "missed", None]
    assert {line[-1] for line in bench.random_rows({})} == {"not measured"}


def test_failing_process_is_not_measured():
    assert bench.wall_seconds(["/bin/true"]) > 0
    assert bench.wall_seconds(["/bin/false"]) is None
    walls, peaks, _, problems = bench.processes({"a": ["/bin/false"], "b": ["/nonexistent"]}, 1)
    assert (walls, peaks, len(problems)) == ({}, {}, 2)


def test_memory_excludes_the_parent():
    floor, small = bench.peak_kib(["/bin/true"])
    _, large = bench.peak_kib([sys.executable, "-I", "-S", "-c", "b'x' * (64 << 20)"])
    assert 0 < floor < 6 << 10 and small < 6 << 10 < 64 << 10 < large
    assert bench.peak_kib(["/bin/false"]) == (None, None)


def test_script_can_be_imported():
    module = as_module.load(SCRIPTS / "bench")
    assert set(module.SUITES) == {"interpreter", "prove", "optimize", "lift", "mutate", "adapters", "alarms", "campaign", "certificate", "cost", "fuzz", "fuzz_loop", "hard", "kernel",
                                  "latency", "rules"}
    with pytest.raises(SystemExit):
        module.main(["nightly"])
    for suite in module.SUITES:
        assert callable(importlib.import_module("bench_" + suite).suite)
