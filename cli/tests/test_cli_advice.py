"""Tests that following the advice of `secequiv lint` about a container profile does not change the filter that libseccomp makes from it."""

import collections
import json
import random

import pytest
from cli_tool import FULL, POLICIES, ROOT, binary

from corpus import advice, installed, profiles

NUMBER = 30 if FULL else 2  # profiles of each kind
# "mistake": libseccomp's filter is wrong before or after the change.
ANSWERS = ("equal", "mistake", installed.REFUSED, installed.ENDLESS)
CASES = sorted((ROOT / "corpus" / "regress" / "lint").glob("advice-*.json"))


def tried(profile, library, folder):
    return advice.tried(binary(), library, profile, folder, random.Random(1))


@pytest.mark.parametrize("kind", profiles.KINDS)
def test_random_profiles(kind, library, tmp_path):
    numbers = random.Random(kind)
    counts = collections.Counter()
    for _ in range(NUMBER):
        for one in tried(profiles.profile(numbers, profiles.KINDS[kind]), library, tmp_path):
            assert one.outcome in ANSWERS, one
            counts[one.outcome] += 1
    assert counts["mistake"] <= counts["equal"] // 10 and (counts["equal"] or not FULL), counts


@pytest.mark.parametrize("path", sorted((POLICIES / "oci").glob("*.json")), ids=lambda path: path.stem)
def test_real_profiles(path, library, tmp_path):
    arch = "SCMP_ARCH_X86_64"
    assert all(one.outcome == "equal" for one in advice.tried(binary(), library, json.loads(path.read_text()), tmp_path, random.Random(1), arch))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_profiles_about_which_lint_once_gave_wrong_advice(path, library, tmp_path):
    profile = json.loads(path.read_text())
    assert all(one.outcome == "equal" for one in tried(profile, library, tmp_path))
    assert bool(advice.given(binary(), profile, tmp_path, "SCMP_ARCH_X86_64")) == (path.stem == "advice-each-alone")


def test_wrong_advice_is_found(library, tmp_path, monkeypatch):
    """Here lint also advises to remove an entry that has an effect."""
    profile = json.loads((CASES[0].parent / "advice-each-alone.json").read_text())
    right = advice.given(binary(), profile, tmp_path, "SCMP_ARCH_X86_64")
    wrong = [advice.Advice("redundant", (advice.Edit(i, "read", times=1),)) for i in range(3)]
    monkeypatch.setattr(advice, "given", lambda *_: right + wrong)
    outcomes = {one.kinds: one.outcome for one in tried(profile, library, tmp_path)}
    assert outcomes["pair: redundant"] == outcomes["all findings"] == "changed", outcomes
