"""Tests scripts/bench cost: selection and tables, with reports written by hand; nothing is counted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_cost as bench  # noqa: E402


def call(name, mean, allowed=True, exact=True):
    return {"name": name, "mean": mean, "exact": exact, **({"over": {"allowed": allowed}} if exact else {})}


def report(calls=bench.CALLS, **more):
    """Returns a report on two filters: in the list, call number N executes 5 + N instructions; in the tree, it executes 10 or 11.
    Both filters deny one more call."""
    return {"sides": [{"calls": [call("c%d" % n, how(n), **more) for n in reversed(range(calls))] + [call("no", 999, False)]}
                      for how in (lambda n: 5 + n, lambda n: 10 + n % 2)]}


def test_selects_calls_by_their_place_in_the_list():
    assert bench.call_rows(report()) == [
        ["first", "c0", "5.0", "10.0", "2.00", 256, 312, "1.47", None],
        ["middle", "c153", "158.0", "11.0", "0.07", 516, 312, "0.46", None],
        ["last", "c305", "310.0", "11.0", "0.04", 1942, 312, "0.10", None],
        ["mean", "all 306", "157.5", "10.5", "0.07", None, None, None, None]]


@pytest.mark.parametrize("broken", [None, report(305), report(exact=False)])
def test_unexpected_filters_are_not_measured(broken):
    rows = bench.call_rows(broken)
    assert [row[-1] for row in rows] == ["not measured"] * 4 and all(row[2] is None for row in rows)


def side(instructions, mean, uncached, exact=True):
    return {"instructions": instructions, "mean": mean, "mean_uncached": uncached, "exact": exact}


def test_compares_pairs():
    assert bench.pair_row("a", {"sides": [side(900, 10, 20), side(300, 6, 15)]}) == [
        "a", 900, 300, "3.00", "10.00", "6.00", "40.0", "20.00", "15.00", "25.0", "about 29 %, more than 4 times", None]


@pytest.mark.parametrize("broken", [None, {"sides": [side(900, 10, 20), side(300, 6, 15, exact=False)]}])
def test_inexact_pairs_are_not_measured(broken):
    row = bench.pair_row("a", broken)
    assert row[0] == "a" and row[1:10] == [None] * 9 and row[-1] == "not measured"


def test_reports_failures_of_the_tool(tmp_path, capsys):
    tool = tmp_path / "secequiv"
    tool.write_text("#!/bin/sh\necho no such file >&2\nexit 2\n")
    tool.chmod(0o755)
    problems = bench.suite(tmp_path, 1, lambda target: tmp_path / target, None)
    assert len(problems) == 1 + len(bench.CONFIGURATIONS) + 4 + len(bench.CONFIGURATIONS)
    assert "status 2: no such file" in problems[0] and capsys.readouterr().out.count("not measured") == 4 + len(bench.CONFIGURATIONS)
