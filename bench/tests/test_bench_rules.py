"""Tests scripts/bench rules: selection and targets, with reports written by hand; nothing is proven."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_rules as bench  # noqa: E402


def report(**seconds):
    return {"rules": [{"name": name, "seconds": each, "verdict": "equivalent"} for name, each in seconds.items()]}


def test_counts_the_fastest_run_of_each_rule():
    assert bench.fastest([report(a=0.5, b=0.01), report(a=0.25, b=0.02)]) == {"a": (250.0, "equivalent"), "b": (10.0, "equivalent")}


def test_compares_with_targets():
    rows = bench.rows(bench.fastest([report(a=0.25, b=0.01, c=0.015)]))
    assert rows == [["median of 3", None, "15.0", 20, "met"], ["a", "equivalent", "250.0", 100, "missed"],
                    ["c", "equivalent", "15.0", 100, "met"], ["b", "equivalent", "10.0", 100, "met"]]
    many = bench.rows(bench.fastest([report(**{"r%d" % i: i / 1000 for i in range(40)})]))
    assert [row[0] for row in many] == ["median of 40"] + ["r%d" % i for i in range(39, 39 - bench.SHOWN, -1)]
    assert many[0][2] == "19.5" and bench.rows({})[0][-1] == "not measured"


def test_without_reports_there_is_no_table(tmp_path, capsys):
    failing = tmp_path / "secequiv"
    failing.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    failing.chmod(0o755)
    assert bench.suite(tmp_path, 1, lambda target: failing, None) == ["%s prove-rule: status 1: no" % failing]
    assert capsys.readouterr().out == ""
