"""scripts/bench adapters: which findings the naive evaluator confirms."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(Path(__file__).resolve().parents[1])]

import bench_adapters  # noqa: E402

RET_0, RET_1, NEVER_SET = [6, 0, 0, 0], [6, 0, 0, 1], [0x60, 0, 0, 3]


def finding(kind, before, after, values=("0x0", "0x1")):
    sides = dict(zip(("before", "after"), ({"value": value} for value in values)))
    return {"kind": kind, "before": before, "after": after, "witness": {"data": {"words": [0] * 16}, **sides}}


def test_a_difference_is_confirmed_by_running_both():
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_1]), "optimizer") is True
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_0]), "optimizer") is False
    assert bench_adapters.confirmed(finding("different", [RET_1], [RET_1]), "optimizer") is False
    assert bench_adapters.confirmed(finding("different", [RET_0], [RET_1], ("0x0", "0x0")), "optimizer") is False


def test_for_an_evaluator_our_value_must_be_right():
    assert bench_adapters.confirmed(finding("different", [RET_0], None), "evaluator") is True
    assert bench_adapters.confirmed(finding("different", [RET_1], None), "evaluator") is False


def test_the_kernels_check_must_refuse_a_refused_output():
    assert bench_adapters.confirmed(finding("rejected", [RET_0], [NEVER_SET, RET_0]), "optimizer") is True
    assert bench_adapters.confirmed(finding("rejected", [RET_0], [RET_1]), "optimizer") is False
    assert bench_adapters.confirmed(finding("rejected", [NEVER_SET, RET_0], [NEVER_SET, RET_0]), "optimizer") is False


def test_findings_about_other_things_are_neither():
    assert bench_adapters.confirmed(finding("slow", [], None), "optimizer") is None
    assert bench_adapters.confirmed(finding("garbage", [RET_0], None), "optimizer") is False
