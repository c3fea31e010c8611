"""Tests bench/measure.py: the comparison with targets, tables, the choice of the fastest repetition, and tools that fail."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure  # noqa: E402


@pytest.mark.parametrize("limits, result", [
    ([(500, "<=", 500)], "met"),
    ([(500.1, "<=", 500)], "missed"),
    ([(400, ">=", 400)], "met"),
    ([(399.9, ">=", 400)], "missed"),
    ([(1, "<=", 2), (1, ">=", 2)], "missed"),
    ([(None, "<=", 2), (1, ">=", 2)], "not measured"),
    ([(None, None, None)], "not measured"),
    ([(0, None, None)], None),
    ([(1, "<=", 2), (7, None, None)], "met"),
])
def test_a_target_is_met_missed_or_not_measured(limits, result):
    assert measure.compare(*limits) == result


def test_aligns_tables():
    assert measure.table("title", ["pair", "us", ""], [["a", "1.5", "met"], ["long", None, "not measured"]]) == (
        "title\npair   us\na     1.5           met\nlong    -  not measured\n")


def row(name, time, unit="us", **more):
    return {"name": name, "run_type": "iteration", "real_time": time, "time_unit": unit, **more}


def test_takes_the_fastest_repetition():
    times, counters, errors = measure.fastest([
        row("dd/a", 7), row("dd/a", 5), row("dd/a", 6), row("z3/a/iterations:1/repeats:3", 2, "ms"),
        {**row("dd/a", 1), "run_type": "aggregate"},
        row("random/optimized/iterations:1", 9, median=3.0, p90=8.0, decided=10, exhausted=1, other=1),
        row("random/optimized/iterations:1", 9, median=2.0, p90=9.0, decided=10, exhausted=1)])
    assert times == {"dd/a": 5, "z3/a": 2000, "random/optimized": 9}
    assert counters["random/optimized"] == {"median": 2.0, "p90": 8.0, "decided": 10, "exhausted": 1}
    assert errors == {}


@pytest.mark.parametrize("order", [1, -1])
def test_failed_repetition_means_not_measured(order):
    failed = {"name": "dd/a", "error_occurred": True, "error_message": "different", "run_type": "iteration"}
    times, counters, errors = measure.fastest([row("dd/a", 5), failed][::order])
    assert (times, counters, errors) == ({}, {}, {"dd/a": "different"})


def rated(name, rate, **more):
    return {"name": name, "run_type": "iteration", "items_per_second": rate, "family_index": 0, **more}


def test_returns_fastest_rows_and_failures():
    best, problems = measure.fastest_rows([rated("a", 10.0), rated("a", 30.0), rated("a", 20.0), {"name": "a", "run_type": "aggregate"}])
    assert best == {"a": rated("a", 30.0)} and problems == []
    assert measure.fastest_rows([{"name": "a", "error_occurred": True, "error_message": "gone"}]) == ({}, ["a: gone"])


@pytest.mark.parametrize("unit", [1, 1000])
def test_compares_growth_of_each_doubling(unit):
    times = {"growth/scattered/128": 10, "growth/scattered/256": 25, "growth/scattered/512": 63, "growth/dense/256": 1}
    rows = measure.growth_rows(("scattered", "dense"), [128, 256, 512], times, unit, 2, 2.5)
    assert [(line[2], line[-1]) for line in rows[:3]] == [(None, None), ("2.50", "met"), ("2.52", "missed")]
    assert rows[1][1] == "%.2f" % (25 / unit) and [line[-1] for line in rows[3:]] == ["not measured"] * 3


def test_reports_rows_that_were_not_measured(capsys):
    assert measure.show(("one: two", ["", ""], [["a", "met"], ["b", "not measured"]]), ("three (four)", [""], [["not measured"]])) == [
        "one: b: not measured", "three: not measured: not measured"]
    assert capsys.readouterr().out == "one: two\n\na           met\nb  not measured\n\nthree (four)\n\nnot measured\n"


def test_failing_command_is_an_error():
    with pytest.raises(RuntimeError, match="status 3: why"):
        measure.finished(["sh", "-c", "echo why; exit 3"])
    assert measure.finished(["sh", "-c", "exit 3"], allowed=(0, 3)).returncode == 3
