"""Tests scripts/bench alarms: which findings the naive evaluator confirms, and the sums over campaigns."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(Path(__file__).resolve().parents[1])]

import bench_alarms  # noqa: E402

RET_0, RET_1, NEVER_SET = [6, 0, 0, 0], [6, 0, 0, 1], [0x60, 0, 0, 3]


def finding(kind, before, after, values=("0x0", "0x1")):
    sides = dict(zip(("before", "after"), ({"value": value} for value in values)))
    return {"kind": kind, "before": before, "after": after, "witness": {"data": {"words": [0] * 16}, **sides}}


def test_running_both_programs_confirms_a_difference():
    assert bench_alarms.confirmed(finding("different", [RET_0], [RET_1]), "optimizer") is True
    assert bench_alarms.confirmed(finding("different", [RET_0], [RET_0]), "optimizer") is False
    assert bench_alarms.confirmed(finding("different", [RET_1], [RET_1]), "optimizer") is False
    assert bench_alarms.confirmed(finding("different", [RET_0], [RET_1], ("0x0", "0x0")), "optimizer") is False


def test_a_finding_about_an_evaluator_is_confirmed_only_if_our_value_is_right():
    assert bench_alarms.confirmed(finding("different", [RET_0], None), "evaluator") is True
    assert bench_alarms.confirmed(finding("different", [RET_1], None), "evaluator") is False


def test_the_kernels_check_confirms_a_refused_answer():
    assert bench_alarms.confirmed(finding("rejected", [RET_0], [NEVER_SET, RET_0]), "optimizer") is True
    assert bench_alarms.confirmed(finding("rejected", [RET_0], [RET_1]), "optimizer") is False
    assert bench_alarms.confirmed(finding("rejected", [NEVER_SET, RET_0], [NEVER_SET, RET_0]), "optimizer") is False


def test_findings_not_about_values_are_not_confirmed():
    assert bench_alarms.confirmed(finding("slow", [], None), "optimizer") is None
    assert bench_alarms.confirmed(finding("garbage", [RET_0], None), "optimizer") is False


def test_a_refusal_is_confirmed_if_the_kernel_accepts_the_program():
    assert bench_alarms.confirmed(finding("refused", [RET_0], None), "evaluator") is True
    assert bench_alarms.confirmed(finding("refused", [NEVER_SET, RET_0], None), "optimizer") is False
    assert bench_alarms.confirmed(finding("refused", [RET_0], None), "compiler") is None


def test_counts_of_campaigns_are_added_up():
    known = {**finding("different", [RET_0], [RET_1]), "known": True, "failure": False}
    new = {**finding("different", [RET_0], [RET_0]), "known": False, "failure": True}
    one = {"evaluations": 5, "answered": 2, "seconds": 1.5, "findings": [known]}
    totals, false = bench_alarms.count([one, {**one, "findings": [known, new]}], "optimizer")
    assert totals == {"evaluations": 10, "answered": 4, "seconds": 3.0, "known": 2, "new": 1, "confirmed": 2} and false == [new]
