"""Tests scripts/bench fuzz_loop: targets and the table, with rows written by hand; nothing is timed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_fuzz_loop as bench  # noqa: E402


def row(name, rate, **more):
    return {"name": name, "run_type": "iteration", "items_per_second": rate, "family_index": 0, **more}


def test_compares_with_targets():
    shares = {"proven_%": 99.5, "by_diagrams_%": 0.25, "undecided_%": 0.5}
    best = {"policy/loop_mutated": row("policy/loop_mutated", 1999.0, family_index=9), "program/check": row("program/check", 2e6),
            "program/loop_mutated": row("program/loop_mutated", 50_000.0, family_index=1, **shares)}
    assert bench.lines(best) == [
        ["program/check", "2000000", "0.50", None, None, None, None, None],
        ["program/loop_mutated", "50000", "20.00", "99.50", "0.25", "0.50", ">= 50000", "met"],
        ["policy/loop_mutated", "1999", "500.25", None, None, None, ">= 2000", "missed"],
        ["program/loop_generated", None, None, None, None, None, ">= 50000", "not measured"],
        ["policy/loop_generated", None, None, None, None, None, ">= 2000", "not measured"],
    ]


def test_reports_failures(capsys):
    problems = bench.suite(None, 1, lambda target: target,
                           lambda *_: [{"name": "program/prove", "error_occurred": True, "error_message": "no"}])
    assert problems == ["program/prove: no"]
    assert capsys.readouterr().out.count("not measured") == len(bench.TARGETS)
