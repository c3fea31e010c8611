"""Tests that the policy which secequiv reads from a container profile decides as the filter that libseccomp makes from the profile."""

import json
import random

import pytest
from cli_tool import FULL, POLICIES, binary

from corpus import installed, oci, profiles, sources
from pinned import Missing

NUMBER = 80 if FULL else 8
# In profiles of the other kinds, libseccomp 2.5.4 merges some conditions wrongly, or several entries with different actions match one input.
EXACT = ["safe", "masks", "repeated arguments", "x32", "arm"]
REAL = sorted((POLICIES / "oci").glob("*.json"))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    try:
        return sources.Libseccomp(tmp_path_factory.mktemp("libseccomp"))
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("kind", EXACT)
def test_random_profiles(kind, library, tmp_path):
    numbers = random.Random(kind)
    made = 0
    for _ in range(NUMBER):
        profile = profiles.profile(numbers, profiles.KINDS[kind])
        found = installed.compare(binary(), library, profile, tmp_path)
        assert found.outcome in ("equal", installed.REFUSED, installed.ENDLESS), "%s\n%s" % (json.dumps(profile), found.detail)
        made += found.outcome == "equal"
    assert made >= NUMBER * 9 // 10


@pytest.mark.parametrize("path", REAL, ids=[path.stem for path in REAL])
@pytest.mark.parametrize("arch", ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64", "SCMP_ARCH_RISCV64"])
def test_real_profiles(arch, path, library, tmp_path):
    profile = json.loads(path.read_text())
    if arch not in oci.hosts(profile):
        pytest.skip("the profile is not for this architecture")
    found = installed.compare(binary(), library, profile, tmp_path, arch)
    assert found.outcome == "equal", found.detail
    assert len(found.unknown) < 40 and not {"read", "openat", "clone3", "socketcall"} & set(found.unknown)


def test_another_reading_is_different(library, tmp_path, monkeypatch):
    """The comparison can fail."""
    plain = installed.without
    monkeypatch.setattr(installed, "without", lambda profile, names: plain(profile, (*names, "read")))
    found = installed.compare(binary(), library, json.loads(REAL[0].read_text()), tmp_path)
    assert found.outcome == "different" and "read" in found.detail, found


def test_a_profile_that_libseccomp_refuses_has_no_filter(library, tmp_path):
    test = [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]
    profile = {"defaultAction": "SCMP_ACT_KILL", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [
        {"names": ["read"], "action": action, "args": test} for action in ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG")]}
    found = installed.compare(binary(), library, profile, tmp_path)
    assert found.outcome == installed.REFUSED and "File exists" in found.detail
