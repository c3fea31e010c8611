"""Tests scripts/bench adapters: which findings the naive evaluator confirms."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(Path(__file__).resolve().parents[1])]

import bench_adapters  # noqa: E402

RET_0, RET_1, NEVER_SET = [6, 0, 0, 0], [6, 0, 0, 1], [0x60, 0, 0, 3]


def finding(kind, before, after, values=("0x0", "0x1")):
    sides = dict(zip(("before", "after"), ({"value": value} for value in values)))
    return {"kind": kind, "before": before, "after": after, "witness": {"data": {"words": [0] * 16}, **sides}}


def test_running_both_programs_confirms_a_difference():
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_1]), "optimizer") is True
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_0]), "optimizer") is False
    assert bench_adapters.confirmed(finding("different", [RET_1], [RET_1]), "optimizer") is False
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_1], ("0x0", "0x0")), "optimizer") is False


def test_a_finding_about_an_evaluator_is_confirmed_only_if_our_value_is_right():
    assert bench_adapters.confirmed(finding("different", [RET_0], None), "evaluator") is True
    assert bench_adapters.confirmed(finding("different", [RET_1], None), "evaluator") is False


def test_the_kernels_check_confirms_a_refused_answer():
    assert bench_adapters.confirmed(finding("rejected", [RET_0], [NEVER_SET, RET_0]), "optimizer") is True
    assert bench_adapters.confirmed(finding("rejected", [RET_0], [RET_1]), "optimizer") is False
    assert bench_adapters.confirmed(finding("rejected", [NEVER_SET, RET_0], [NEVER_SET, RET_0]), "optimizer") is False


def test_findings_not_about_values_are_not_confirmed():
    assert bench_adapters.confirmed(finding("slow", [], None), "optimizer") is None
    assert bench_adapters.confirmed(finding("garbage", [RET_0], None), "optimizer") is False


def test_the_fastest_run_of_each_command_counts():
    assert bench_adapters.fastest([("a", 2.0), ("b", 9.0), ("a", 3.0)]) == {"a": 3.0, "b": 9.0}
