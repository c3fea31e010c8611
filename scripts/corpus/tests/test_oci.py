"""Tests that oci.py turns profiles into the rules that runc would make."""

import pytest

from corpus import oci

ARCH_MAP = [
    {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
    {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
]
READ = "rule 0x7fff0000 read"


def lines(entries, arch="SCMP_ARCH_X86_64", kernel=(6, 1), capabilities=frozenset(), **profile):
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "archMap": ARCH_MAP, "syscalls": entries, **profile}
    return oci.rules(profile, arch, kernel, capabilities).splitlines()


def allowing(**entry):
    return {"names": ["read"], "action": "SCMP_ACT_ALLOW", **entry}


def made(entry, **options):
    return [line for line in lines([entry], **options) if line.startswith("rule")]


def test_the_rules_start_with_default_and_architectures():
    assert lines([]) == ["default 0x00050001", "arch x86_64", "arch x86", "arch x32"]
    assert lines([], arch="SCMP_ARCH_AARCH64", defaultErrnoRet=38) == ["default 0x00050026", "arch aarch64", "arch arm"]


def test_each_name_becomes_one_rule():
    assert made(allowing(names=["read", "write"])) == [READ, "rule 0x7fff0000 write"]
    assert made(allowing(args=None)) == [READ]
    assert made(allowing(args=[])) == [READ]


def test_conditions_on_different_arguments_hold_together():
    args = [{"index": 0, "value": 16, "op": "SCMP_CMP_NE"},
            {"index": 2, "value": 0x7E020000, "valueTwo": 5, "op": "SCMP_CMP_MASKED_EQ"}]
    assert made(allowing(args=args)) == [READ + " 0 ne 0x10 0x0 2 masked_eq 0x7e020000 0x5"]


def test_two_conditions_on_one_argument_make_every_condition_a_rule():
    args = [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 2, "op": "SCMP_CMP_EQ"},
            {"index": 1, "value": 3, "op": "SCMP_CMP_LT"}]
    assert made(allowing(args=args)) == [READ + " 0 eq 0x1 0x0", READ + " 0 eq 0x2 0x0", READ + " 1 lt 0x3 0x0"]


def test_entries_with_the_default_action_are_omitted():
    assert made({"names": ["read"], "action": "SCMP_ACT_ERRNO"}) == []
    assert made({"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}) == []
    assert made({"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}) == ["rule 0x00050026 read"]


@pytest.mark.parametrize("condition, options, applies", [
    ({"includes": {"arches": ["amd64", "x32"]}}, {}, True),
    ({"includes": {"arches": ["amd64"]}}, {"arch": "SCMP_ARCH_AARCH64"}, False),
    ({"includes": {"arches": ["arm64"]}}, {"arch": "SCMP_ARCH_AARCH64"}, True),
    ({"excludes": {"arches": ["amd64"]}}, {}, False),
    ({"excludes": {"arches": ["s390x"]}}, {}, True),
    ({"includes": {"caps": ["CAP_A"]}}, {}, False),
    ({"includes": {"caps": ["CAP_A"]}}, {"capabilities": {"CAP_A"}}, True),
    ({"includes": {"caps": ["CAP_A", "CAP_B"]}}, {"capabilities": {"CAP_A"}}, False),
    ({"excludes": {"caps": ["CAP_A", "CAP_B"]}}, {"capabilities": {"CAP_A"}}, False),
    ({"excludes": {"caps": ["CAP_A"]}}, {}, True),
    ({"includes": {"minKernel": "4.8"}}, {}, True),
    ({"includes": {"minKernel": "6.1"}}, {}, True),
    ({"includes": {"minKernel": "6.2"}}, {}, False),
    ({"includes": {"minKernel": "6.1"}}, {"kernel": (5, 10)}, False),
    ({"excludes": {"minKernel": "6.1"}}, {}, False),
    ({"excludes": {"minKernel": "6.2"}}, {}, True),
    ({"includes": {}, "excludes": {}}, {}, True),
])
def test_conditions_include_or_exclude_an_entry(condition, options, applies):
    assert made(allowing(**condition), **options) == ([READ] if applies else [])


def test_flat_gives_every_call_the_same_action():
    assert oci.flat(0x50001, 0x7FFF0000, "x86_64", ["read"]) == "default 0x00050001\narch x86_64\n%s\n" % READ


def test_a_profile_without_architectures_is_for_the_host_alone():
    assert lines([], archMap=None) == ["default 0x00050001", "arch x86_64"]
    assert oci.hosts({"archMap": ARCH_MAP}) == ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"]
    assert "SCMP_ARCH_S390X" in oci.hosts({"architectures": ["SCMP_ARCH_X86"]})
