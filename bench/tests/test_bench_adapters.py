"""Tests scripts/bench adapters: which run of each command counts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_adapters  # noqa: E402


def test_the_fastest_run_of_each_command_counts():
    assert bench_adapters.fastest([("a", 2.0), ("b", 9.0), ("a", 3.0)]) == {"a": 3.0, "b": 9.0}
