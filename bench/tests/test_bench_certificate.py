"""Tests the targets of scripts/bench certificate, with measurements written by hand."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_certificate as bench  # noqa: E402


def test_compares_with_targets():
    assert bench.row("a", 49.96, 1 << 20, 1.2)[1:4] + bench.row("a", 49.96, 1 << 20, 1.2)[-1:] == ["50.0", "1.000", "1.20", "met"]
    for values in ((51, 1, 1), (1, 11 << 20, 1), (1, 1, 2.1)):
        assert bench.row("a", *values)[-1] == "missed"
    assert bench.row("a", None, None, None)[1:4] == [None] * 3 and bench.row("a", None, None, None)[-1] == "not measured"
