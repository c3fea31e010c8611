"""Tests that the workflow for pull requests parses, covers every preset, and calls only presets and scripts that exist."""
# This test also runs in the preset asan.

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())


def names(kind):
    return {preset["name"] for preset in PRESETS[kind] if not preset.get("hidden")}


def commands(text):
    """Returns every line that the workflow runs, once for each value of a matrix."""
    for job in yaml.safe_load(text)["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            if set(step) - {"run", "uses", "name", "if"}:
                raise ValueError("a step has %s" % ", ".join(sorted(set(step))))
            for line in step.get("run", "").splitlines():
                used = re.findall(r"\$\{\{ *matrix\.(\w+) *\}\}", line)
                for value in matrix[used[0]] if used else [None]:
                    yield re.sub(r"\$\{\{ *matrix\.\w+ *\}\}", str(value), line)


def problem(line):
    """Returns the fault of a line that the workflow runs, or None."""
    words = shlex.split(line)
    if words[0] in ("cmake", "ctest"):
        kind = "testPresets" if words[0] == "ctest" else "buildPresets" if "--build" in words else "configurePresets"
        if "--preset" not in words or words[words.index("--preset") + 1] not in names(kind):
            return "%s: not one of the presets %s" % (line, ", ".join(sorted(names(kind))))
        return None
    script = ROOT / words[0]
    if not words[0].startswith("scripts/") or not os.access(script, os.X_OK):
        return "%s: neither a preset nor a script" % line
    if words[0] == "scripts/test" and set(words[1:]) - names("configurePresets"):
        return "%s: no such preset" % line
    return None


def test_the_workflow_exists():
    assert [path.name for path in WORKFLOWS] == ["pull-request.yml"]


def test_the_workflow_calls_only_presets_and_scripts():
    lines = list(commands(WORKFLOWS[0].read_text()))
    assert [found for found in map(problem, lines) if found] == []
    assert {"scripts/test " + preset for preset in ("dev", "asan", "gcc", "tidy", "fuzz", "proved", "wasm")} <= set(lines)
    assert any(line.startswith("ctest --preset dev") and "replay_" in line for line in lines)


def test_the_workflow_runs_for_pull_requests():
    document = yaml.safe_load(WORKFLOWS[0].read_text())
    assert "pull_request" in document[True]  # YAML reads `on` as a truth value
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert [step["uses"] for step in job["steps"] if "uses" in step] == ["actions/checkout@v4"]


@pytest.mark.parametrize("line", [
    "make", "scripts/none", "scripts/lib/setup.sh", "cmake --preset none", "cmake -S . -B build", "cmake --build build", "ctest --preset tidy",
    "scripts/test nightly", "bash -c true"])
def test_commands_that_the_workflow_must_not_call_are_refused(line):
    assert problem(line) is not None


def test_every_value_of_a_matrix_is_checked():
    text = "jobs: {a: {strategy: {matrix: {p: [x, y]}}, steps: [{run: 'scripts/test ${{ matrix.p }}'}]}}"
    assert list(commands(text)) == ["scripts/test x", "scripts/test y"]
    with pytest.raises(ValueError):
        list(commands("jobs: {a: {steps: [{run: x, shell: pwsh}]}}"))
