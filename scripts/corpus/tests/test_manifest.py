"""Tests that the stored programs and the manifest agree, and that every file has the form of a program."""

import hashlib
import json
import struct
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[3] / "corpus" / "programs"
MANIFEST = json.loads((PROGRAMS / "manifest.json").read_text())
ENTRIES = {entry["file"]: entry for entry in MANIFEST["programs"]}
ARCHES = {"x86_64", "i386", "x32", "aarch64", "arm", "riscv64", "s390x", "ppc64le", "mips64"}
BPF_RET = 0x06  # the instruction class, in the low three bits of a code


def test_entries_have_the_expected_members():
    assert set(MANIFEST) == {"version", "programs", "pairs"}
    assert MANIFEST["version"] == 1
    for entry in MANIFEST["programs"]:
        assert set(entry) == {"file", "instructions", "sha256", "arch", "source", "how"}
        assert entry["arch"] in ARCHES
        assert entry["source"] and entry["how"]
    for pair in MANIFEST["pairs"]:
        assert {"name", "before", "after"} <= set(pair) <= {"name", "before", "after", "policy"}


def test_nothing_is_listed_twice():
    assert len(ENTRIES) == len(MANIFEST["programs"])
    names = [pair["name"] for pair in MANIFEST["pairs"]]
    assert len(names) == len(set(names))


def test_the_manifest_lists_exactly_the_stored_files():
    stored = {path.relative_to(PROGRAMS).as_posix() for path in PROGRAMS.rglob("*") if path.is_file()}
    assert stored - {"manifest.json", "README.md"} == set(ENTRIES)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_programs_match_their_entries(name):
    content = (PROGRAMS / name).read_bytes()
    assert content and len(content) % 8 == 0
    assert len(content) // 8 == ENTRIES[name]["instructions"]
    assert hashlib.sha256(content).hexdigest() == ENTRIES[name]["sha256"]
    (code,) = struct.unpack_from("<H", content, len(content) - 8)
    assert code & 7 == BPF_RET


@pytest.mark.parametrize("pair", MANIFEST["pairs"], ids=lambda pair: pair["name"])
def test_pairs_name_programs_of_one_architecture(pair):
    assert pair["before"] != pair["after"]
    assert ENTRIES[pair["before"]]["arch"] == ENTRIES[pair["after"]]["arch"]
    if "policy" in pair:
        policy = json.loads((PROGRAMS / pair["policy"]).read_text())
        assert policy["name"] == pair["name"]
        assert policy["arches"][0] == ENTRIES[pair["before"]]["arch"]


def test_every_gvisor_configuration_has_its_pair_and_policy():
    expected = {"gvisor-%s%s" % (platform, suffix)
                for platform in ("systrap", "kvm") for suffix in ("", "-hostnet", "-nvproxy", "-everything")}
    assert {pair["name"] for pair in MANIFEST["pairs"] if "policy" in pair} == expected


@pytest.mark.parametrize("platform", ["systrap", "kvm"])
def test_the_everything_variant_is_the_largest(platform):
    sizes = {stage: {suffix: ENTRIES["gvisor/%s%s.%s.bpf" % (platform, suffix, stage)]["instructions"]
                     for suffix in ("", "-hostnet", "-nvproxy", "-everything")} for stage in ("before", "after")}
    for by_suffix in sizes.values():
        assert max(by_suffix, key=by_suffix.get) == "-everything"
    assert all(sizes["after"][suffix] < sizes["before"][suffix] for suffix in sizes["before"])
