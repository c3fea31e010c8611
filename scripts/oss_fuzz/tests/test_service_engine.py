"""Tests what scripts/oss_fuzz_check --clusterfuzz requires of the results of ClusterFuzz's engine. The engine itself is not run."""

import copy

import pytest

from oss_fuzz import service_engine

GOOD = {
    "targets": ["fuzz_check", "fuzz_plugin"],
    "healthy": {"fuzz_check": {"arguments": [], "crashes": 0, "runs": 500, "log": "log", "corpus": 40, "merged": 30, "merged_edges": 900}},
    "planted": {"fuzz_plugin": {"crashes": 1, "log": "log", "bytes": 80, "status": 77, "output": "fuzz_plugin: different: ALLOW became KILL", "smaller": 24,
                                "smaller_status": 77, "smaller_output": "fuzz_plugin: different: ALLOW became KILL"}},
}
TARGETS = ["fuzz_check", "fuzz_plugin"]


def test_a_good_report_has_no_problems():
    assert service_engine.problems_of(GOOD, TARGETS, 500) == []


@pytest.mark.parametrize("part, changed, problem", [
    ("healthy", {"crashes": 1}, "fuzz_check with ClusterFuzz: crashes: log"), ("healthy", {"runs": 499}, "499 runs, expected 500 or more"),
    ("healthy", {"corpus": 0}, "no corpus"), ("healthy", {"merged": 0}, "merging left 0 of 40"),
    ("healthy", {"merged": 41}, "merging left 41 of 40"), ("healthy", {"merged_edges": 0}, "with 0 edges"),
    ("planted", {"crashes": 0}, "fuzz_plugin with ClusterFuzz and a planted bug: no crash: log"), ("planted", {"status": 0}, "is not reproduced (status 0)"),
    ("planted", {"output": "another error"}, "is not reproduced"), ("planted", {"smaller": None}, "its input of 80 bytes was not minimized"),
    ("planted", {"smaller": 80}, "was not minimized"), ("planted", {"smaller_status": 0}, "the minimized input does not reproduce the crash (status 0)"),
    ("planted", {"smaller_output": "another error"}, "does not reproduce"),
])
def test_each_wrong_result_is_a_problem(part, changed, problem):
    report = copy.deepcopy(GOOD)
    next(iter(report[part].values())).update(changed)
    problems = service_engine.problems_of(report, TARGETS, 500)
    assert problems and any(problem in one for one in problems), problems


def test_missing_steps_are_problems():
    assert "expected fuzz_a" in service_engine.problems_of(GOOD, ["fuzz_a"], 500)[0]
    for part in ("healthy", "planted"):
        assert service_engine.problems_of({**GOOD, part: {}}, TARGETS, 500) == ["ClusterFuzz's engine ran no %s target" % part]


def test_every_requirement_is_pinned_with_hashes():
    lines = [line for line in service_engine.PINS.read_text().splitlines() if not line.startswith(("#", "    --hash=sha256:"))]
    assert len(lines) > 40 and all("==" in line and line.endswith(" \\") for line in lines)
    assert any(line.startswith("clusterfuzz==") for line in lines)
