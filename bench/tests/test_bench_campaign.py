"""Tests scripts/bench campaign: which finding belongs to which bug, and the medians, with values written by hand; nothing is fuzzed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_campaign as bench  # noqa: E402


def finding(kind, *codes, seconds=1.0, failure=True):
    return {"kind": kind, "failure": failure, "before": [[code, 0, 0, 0] for code in codes], "seconds": seconds}


def test_findings_belong_to_bugs_by_kind_and_instruction():
    seconds, others = bench.causes([finding("different", 0x20, bench.TXA), finding("different", bench.STX, bench.LD_MEM, seconds=3.0),
                                    finding("rejected", 0x20), finding("grew", 0x20, failure=False), finding("different", 0x15)], bench.OPTIMIZER)
    assert seconds == {"gvisor-load-after-txa": [1.0], "gvisor-load-after-store": [3.0], "gvisor-return-before-load": [1.0]}
    assert [other["before"][0][0] for other in others] == [0x15]


def test_a_median_needs_a_result_from_most_of_the_runs():
    assert bench.median([1.0, 3.0, 2.0], 5) == 3.0
    assert bench.median([1.0, 2.0], 5) is None
    assert bench.median([1.0, 2.0, 4.0, 5.0, 3.0], 5) == 3.0


def test_the_slowest_pair_comes_first():
    rows = bench.pairs(["a x 1 0.10 0.20 2 70", "a x 2 0.10 0.40 3 90", "a x 3 0.10 0.30 2 80", "a y 1 0.10 - 9 700", "b x 1 0.5 11.0 2 900"])
    assert [row[0] for row in rows] == ["y behind a", "x behind b", "x behind a"]
    assert [row[-1] for row in rows] == ["missed", "missed", "met"]
    assert rows[0][1:4] == ["0/1", None, None]
    assert rows[2][1:5] == ["3/3", "0.30", "80", 3]


def test_bugs_that_are_hunted_alone_have_their_own_targets():
    rows = bench.alone(["alone reload-removed-at-join 1 0.50 100", "alone reload-removed-at-join 2 3.00 300", "alone list-jumps-truncated 1 3.00 400",
                        "alone list-jumps-truncated 2 - 9000", "alone another 1 11.00 5000"])
    assert [row[-1] for row in rows] == ["met", "missed", "missed"]
    assert rows[0][1:4] == ["2/2", "1.75", "200"] and rows[1][1:4] == ["1/2", None, None]
