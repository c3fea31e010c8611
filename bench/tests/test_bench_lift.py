"""Tests scripts/bench lift: which policy is the reference, and which rows have targets; nothing is measured."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_lift as bench  # noqa: E402

PROGRAMS = Path(__file__).resolve().parents[2] / "corpus" / "programs"


def test_the_reference_is_the_policy_of_the_pair():
    known = bench.policies(PROGRAMS)
    assert known["gvisor/kvm.after.bpf"] == known["gvisor/kvm.before.bpf"] == "../policies/gvisor/kvm.json"
    assert "libseccomp/allow306.tree.bpf" not in known and len(known) == 16


@pytest.mark.parametrize("name,ms,sizes,expected", [
    ("gvisor/kvm.after", 9, (105, 100), "met"), ("gvisor/kvm.after", 9, (106, 100), "missed"), ("gvisor/kvm.after", 51, (100, 100), "missed"),
    ("gvisor/kvm.before", 9, (200, 100), "met"), ("libseccomp/docker-x86_64.tree", 9, (300, None), "met"),
    ("libseccomp/docker-x86_64.tree", 9, (301, None), "missed"), ("libseccomp/podman-x86_64.tree", 9, (400, None), "met")])
def test_each_target_can_be_missed(name, ms, sizes, expected, monkeypatch):
    monkeypatch.setattr(bench, "milliseconds", lambda command, repetitions: ms)
    monkeypatch.setattr(bench, "instructions", lambda binary, source, folder: sizes[source == "policy"])
    row = bench.row("secequiv", PROGRAMS / (name + ".bpf"), "policy" if sizes[1] else None, 1, "folder")
    assert row[0] == name and row[-1] == expected


def test_the_slowest_pair_of_each_way_to_merge_has_the_target(monkeypatch):
    monkeypatch.setattr(bench, "milliseconds", lambda command, repetitions: 51 if command[1:3] == ["merge", "--union"] and "b" in command[3:][1].stem else 20)
    rows = bench.merges("secequiv", [Path("a.json"), Path("b.json"), Path("c.json")], 1)
    assert rows == [["intersect", 3, rows[0][2], "20.0", "met"], ["union", 3, "a b", "51.0", "missed"]]
