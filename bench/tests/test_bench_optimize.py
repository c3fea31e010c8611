"""Tests scripts/bench optimize: targets and tables, with measurements written by hand; nothing is timed."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_optimize as bench  # noqa: E402

NOTHING = {"lost": 0, "gained": 0}


def beside_gvisor(size, weighted, uncached=1.0):
    return {"name": "a", "compiled": 900, "gvisor": {"size": 100, "weighted": 6.5, "uncached": 12.0},
            "ours": {"size": size, "weighted": weighted, "uncached": uncached},
            "cache_gvisor": {"lost": 1, "gained": 2}, "cache_compiled": NOTHING}


@pytest.mark.parametrize("size, weighted, result", [
    (100, 6.5, "met"), (101, 6.5, "missed"), (100, 6.501, "missed"), (1, 1, "met"),
])
def test_compares_with_gvisor(size, weighted, result):
    assert bench.gvisor_rows([beside_gvisor(size, weighted, 99.0)]) == [
        ["a", 900, "100", str(size), "6.50", "%.2f" % weighted, "12.00", "99.00", "-1 +2", "-0 +0", "<= gvisor's", result]]


def test_missing_counts_are_not_measured():
    failed = [{"name": "a", "error": "different"}]
    assert bench.gvisor_rows(failed)[0][-1] == "not measured"
    assert bench.libseccomp_rows(failed)[0][-1] == "not measured"
    assert bench.request_rows(failed)[0][-1] == "not measured"
    assert bench.named([{"name": "b", "size": 1}], ["a", "b"]) == [{"name": "a"}, {"name": "b", "size": 1}]


def test_the_table_shows_libseccomp():
    row = {"name": "a", "inputs": 9, "left_out": 2, "assumed": "true",
           **{whose: {"size": size, "executed": size / 2, "uncached": size * 2, "most": size + 1}
              for whose, size in (("linear", 10), ("tree", 20), ("ours", 30))}}
    assert bench.libseccomp_rows([row]) == [
        ["a", "10", "20", "30", "5.00", "10.00", "15.00", "20.00", "40.00", "60.00", "11", "21", "31", 9, 2, None, None]]
    assert bench.libseccomp_rows([{**row, "assumed": "nr < 9"}])[0][-2:] == ["nr < 9", None]


def test_compares_times_with_the_target():
    limit = bench.LARGEST_MS * 1000
    for micros, result in ((limit, "met"), (limit + 1, "missed"), (None, "not measured")):
        times = {"optimize/other": 1e9}
        if micros is not None:
            times["optimize/" + bench.LARGEST] = micros
        assert [row[-1] for row in bench.time_rows([bench.LARGEST, "other"], times)] == [result, None]


def test_shows_the_share_of_each_kind_of_pass():
    rows = bench.split_rows({"split/rules": 6000, "split/layout": 1000, "split/bytecode": 1000})
    assert rows == [["rules", "6.00", "75", None], ["layout", "1.00", "12", None], ["bytecode", "1.00", "12", None]]
    assert [row[-1] for row in bench.split_rows({"split/rules": 1})] == [None, "not measured", "not measured"]


def stand_in(path, counts, status=0):
    """Returns a program that prints `counts` as optimize_bench does."""
    path.write_text("#!/bin/sh\ncat <<'END'\n%s\nEND\nexit %d\n" % (json.dumps(counts), status))
    path.chmod(0o755)
    return path


def whole(tmp_path, counts, status=0, spoil=()):
    """Returns the problems that the suite reports if each of its measurements is 1 ms (for growth: 1 ms for 64 rules)."""
    policies = tmp_path / "corpus/policies/gvisor"
    policies.mkdir(parents=True)
    (policies / "a.json").write_text("{}")
    names = ["optimize/a", "split/rules", "split/layout", "split/bytecode"]
    rows = {name: 1 for name in names}
    rows.update({"growth/%s/%d" % (kind, n): n / 64 for kind in ("calls", "requests") for n in bench.LENGTHS})
    rows = [{"name": name, "run_type": "iteration", "real_time": time, "time_unit": "ms"} for name, time in rows.items()
            if name not in spoil]
    return bench.suite(tmp_path, 1, lambda _: stand_in(tmp_path / "bench", counts, status), lambda *_: rows)


def good():
    numbers = {"size": 1, "executed": 1.0, "uncached": 1.0, "most": 1}
    return {"gvisor": [beside_gvisor(1, 1)],
            "libseccomp": [{"name": name, "inputs": 1, "left_out": 0, "assumed": "true", "linear": numbers, "tree": numbers,
                            "ours": numbers} for name in bench.FILTERS],
            "requests": [{"name": name, **numbers} for name in ("without", "with")]}


def test_reports_no_problems_if_all_is_measured(tmp_path, capsys):
    assert whole(tmp_path, good()) == []
    assert capsys.readouterr().out.count("met") >= 13


def test_a_missed_target_is_not_a_failure(tmp_path, capsys):
    assert whole(tmp_path, {**good(), "gvisor": [beside_gvisor(101, 7)]}) == []
    assert "missed" in capsys.readouterr().out


def test_a_pair_that_is_not_equivalent_is_a_failure(tmp_path):
    problems = whole(tmp_path, {**good(), "gvisor": [{"name": "a", "error": "ours: not proven equivalent"}]})
    assert problems[0] == "a: ours: not proven equivalent" and len(problems) == 2 and problems[1].endswith("a: not measured")


def test_missing_rows_and_times_are_failures(tmp_path):
    problems = whole(tmp_path, {**good(), "libseccomp": []}, spoil=("split/rules", "optimize/a"))
    assert len(problems) == len(bench.FILTERS) + 2 and all(problem.endswith("not measured") for problem in problems)


def test_a_program_that_fails_is_a_failure(tmp_path):
    problems = whole(tmp_path, good(), status=3)
    assert len(problems) == 1 and "status 3" in problems[0]
