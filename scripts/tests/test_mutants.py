"""Tests that the planted mistakes of scripts/mutants still fit this tree, and how it judges their tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from as_module import load  # noqa: E402

PATCHES = sorted((ROOT / "scripts/tests/mutants").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_mutant_states_its_mistake_and_applies(patch):
    assert patch.read_text().startswith("# ") and patch.read_text().partition("\n")[0].endswith(".")
    done = subprocess.run(["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, "change the patch, so that it plants the same mistake in the new code\n" + done.stderr


def test_there_are_mutants_in_every_part_of_the_product():
    parts = {line.removeprefix("+++ b/").split("/")[0] for patch in PATCHES for line in patch.read_text().splitlines() if line.startswith("+++ b/")}
    assert len(PATCHES) == 40 and parts == {"adapters", "analyze", "api", "ci", "cli", "fuzz", "harness", "scripts", "verify"}


@pytest.fixture
def mutants():
    return load(ROOT / "scripts/mutants")


class Clone:
    """Three tests; `fails` says which of them fail if the mutant is there, and which without it."""

    def __init__(self, fails, fails_without=()):
        self.fails, self.fails_without, self.mutated, self.ran = fails, set(fails_without), False, []
        self.tests = [{"name": name} for name in ("near", "far", "other")]

    def call(self, *command):
        self.mutated = command[1] == "apply" or (self.mutated and command[1] != "checkout")
        return "harness/base/text.cc\n"

    def build(self):
        return 1.0

    def stages(self, changed):
        assert changed == {"harness/base/text.cc"}
        return {"beside": [1], "depends": [2], "others": [3]}

    def run(self, numbers):
        self.ran += numbers
        bad = self.fails if self.mutated else self.fails_without
        return [self.tests[number - 1]["name"] for number in numbers if self.tests[number - 1]["name"] in bad]


@pytest.mark.parametrize("fails, without, stage, ran, status, row", [
    ({"near", "far"}, (), "beside", [1, 1], 0, "| one | near | 1 (beside) | 1 |"),
    ({"far"}, (), "depends", [1, 2, 2], 0, "| one | far | 2 (depends) | 1 |"),
    ({"other"}, (), "others", [1, 2, 3, 3], 0, "| one | other | 3 (others) | 1 |"),
    (set(), (), "survived", [1, 2, 3], 1, "| one | **nothing** | 3 (survived) | 1 |"),
    ({"far"}, {"far"}, "depends", [1, 2, 2], 1, "| one | **nothing** | 2 (depends) | 1 |"),  # it fails without the mutant, too
])
def test_a_mutant_is_found_only_by_a_test_that_passes_without_it(mutants, monkeypatch, capsys, tmp_path, fails, without, stage, ran, status, row):
    clone = Clone(fails, without)
    monkeypatch.setattr(mutants, "Clone", lambda _: clone)
    monkeypatch.setattr(mutants, "names", lambda _: [tmp_path / "one.patch"])
    monkeypatch.setattr(sys, "argv", ["mutants", "--output", str(tmp_path / "table")])
    assert mutants.main() == status
    shown = capsys.readouterr()
    assert row in shown.out and (tmp_path / "table").read_text() == shown.out and "one: " + stage in shown.err
    assert clone.ran == ran
