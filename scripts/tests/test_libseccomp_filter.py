"""Tests that libseccomp_filter writes a filter, and that it reports unreadable profiles and a library that does not answer."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from corpus import oci  # noqa: E402

KNOWN = ROOT / "corpus" / "regress" / "known"
GOOD = KNOWN / "two-lower-bounds.json"
CONDITION = {"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}


def run(*arguments, **environment):
    command = [sys.executable, ROOT / "scripts/libseccomp_filter", *arguments]
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment})


def profile_with(entry=None, row=None, **keys):
    """Returns the text of a profile that allows execve for one value of an argument. The parameters add or replace keys of the profile."""
    return json.dumps({
        "defaultAction": "SCMP_ACT_ERRNO",
        "archMap": [{"architecture": "SCMP_ARCH_X86_64", **(row or {})}],
        "syscalls": [{"names": ["execve"], "action": "SCMP_ACT_ALLOW", "args": [CONDITION], **(entry or {})}],
        **keys})


TO_ALLOW = 0x7FFF0000  # OR-ed into ERRNO, this gives ALLOW
# A name must not add a line to the rules that libseccomp gets.
TWO_LINES = "\nrule 0x7fff0000 execve"
UNREADABLE = {
    "missing file": (None, "No such file"),
    "empty file": ("", "expected a container profile"),
    "list": ("[]", "expected an object"),
    "empty object": ("{}", "expected a container profile"),
    "unknown action": ('{"defaultAction": "NONE"}', "unknown action NONE"),
    "deep nesting": ("[" * 100000, "expected a container profile"),
    "call with line break": (profile_with({"names": ["read" + TWO_LINES]}), "no system call is called 'read\\nrule"),
    "architecture with line break": (profile_with(row={"subArchitectures": ["SCMP_ARCH_X86" + TWO_LINES]}),
                                     "no architecture is called 'SCMP_ARCH_X86\\nrule"),
    "architecture with line break at the top": (profile_with(archMap=None, architectures=["SCMP_ARCH_X86" + TWO_LINES]),
                                                "no architecture is called 'SCMP_ARCH_X86\\nrule"),
    "architecture without prefix": (profile_with(row={"subArchitectures": ["x86"]}), "no architecture is called 'x86'"),
    "architecture that is a number": (profile_with(row={"subArchitectures": [3]}), "no architecture is called 3"),
    "errno with an action": (profile_with({"action": "SCMP_ACT_ERRNO", "errnoRet": TO_ALLOW}),
                             "an errno from 0 to 65535, found 2147418112"),
    "default errno with an action": (profile_with(defaultErrnoRet=TO_ALLOW), "an errno from 0 to 65535, found 2147418112"),
    "errno just too large": (profile_with(defaultErrnoRet=0x10000), "an errno from 0 to 65535, found 65536"),
    "negative errno": (profile_with(defaultErrnoRet=-1), "an errno from 0 to 65535, found -1"),
    "boolean errno": (profile_with(defaultErrnoRet=True), "an errno from 0 to 65535, found True"),
    "fractional errno": (profile_with(defaultErrnoRet=1.5), "an errno from 0 to 65535, found 1.5"),
    "unknown key of a profile": (profile_with(Architectures=["SCMP_ARCH_X86"]), "unknown key '/Architectures'"),
    "unknown key of an architecture": (profile_with(row={"subarchitectures": []}), "unknown key '/archMap/0/subarchitectures'"),
    "unknown key of an entry": (profile_with({"Args": [CONDITION]}), "unknown key '/syscalls/0/Args'"),
    "unknown key of an argument": (profile_with({"args": [{**CONDITION, "ValueTwo": 1}]}), "unknown key '/syscalls/0/args/0/ValueTwo'"),
    "unknown key of an entry for another host": (profile_with({"Args": [], "includes": {"arches": ["arm"]}}),
                                                 "unknown key '/syscalls/0/Args'"),
    "unknown key of a condition": (profile_with({"includes": {"Caps": []}}), "unknown key '/syscalls/0/includes/Caps'"),
    "names in a string": (profile_with({"names": "read"}), "expected a list at /syscalls/0/names"),
    "names in an object": (profile_with({"names": {"read": 1}}), "expected a list at /syscalls/0/names"),
    "names that are false beside a name": (profile_with({"name": "read", "names": False}), "expected a list at /syscalls/0/names"),
    "no names": (profile_with({"names": None}), "/syscalls/0 names no system call"),
    "name and names": (profile_with({"name": "read"}), "only one of 'name' and 'names' in /syscalls/0"),
    "call that is a number": (profile_with({"names": [0]}), "no system call is called 0"),
    "arguments in an object": (profile_with({"args": {}}), "expected a list at /syscalls/0/args"),
    "excluded capability outside a list": (profile_with({"excludes": {"caps": "CAP_A"}}), "expected a list at /syscalls/0/excludes/caps"),
    "condition outside an object": (profile_with({"includes": []}), "expected an object at /syscalls/0/includes"),
    "two lists of architectures": (profile_with(architectures=["SCMP_ARCH_X86"]), "only one of 'architectures' and 'archMap'"),
    "fractional index": (profile_with({"args": [{**CONDITION, "index": 0.9}]}), "an argument index from 0 to 5, found 0.9"),
    "index too large": (profile_with({"args": [{**CONDITION, "index": 6}]}), "an argument index from 0 to 5, found 6"),
    "negative value": (profile_with({"args": [{**CONDITION, "value": -1}]}), "value from 0 to 18446744073709551615, found -1"),
    "boolean second value": (profile_with({"args": [{**CONDITION, "valueTwo": True}]}), "18446744073709551615, found True"),
}


@pytest.mark.parametrize("text, message", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_profiles_are_errors(tmp_path, text, message):
    profile = tmp_path / "profile.json"
    if text is not None:
        profile.write_text(text)
    done = run(profile, "-o", tmp_path / "out.bpf")
    assert done.returncode == 2 and str(profile) in done.stderr and "Traceback" not in done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out.bpf").exists()


OCI_PROFILES = [
    path for folder in ("policies/oci", "regress/known", "regress/profiles") for path in sorted((ROOT / "corpus" / folder).glob("*.json"))
    if "defaultAction" in json.loads(path.read_text())]


@pytest.mark.parametrize("path", OCI_PROFILES, ids=lambda path: path.stem)
def test_profiles_of_the_corpus_are_readable(path):
    profile = json.loads(path.read_text())
    for arch in oci.GO_ARCHES if path.parent.name == "oci" else ["SCMP_ARCH_X86_64"]:
        if arch in oci.hosts(profile):
            assert "\nrule " in oci.rules(profile, arch, (6, 1))


def test_keys_without_effect_and_the_old_name_of_a_call_are_accepted():
    entry = {"names": [], "name": "read", "errno": "EPERM", "comment": "", "args": [{**CONDITION, "comment": ""}]}
    text = profile_with(entry, row={"comment": ""}, flags=[], listenerPath="", listenerMetadata="", comment="", defaultErrno="EPERM",
                        **{"$schema": ""})
    assert oci.rules(json.loads(text), "SCMP_ARCH_X86_64", (6, 1)).splitlines()[-1] == "rule 0x7fff0000 read 0 eq 0x1 0x0"


def test_names_of_files_cannot_control_a_terminal(tmp_path):
    done = run(tmp_path / "a\x1b[31m\u202e\n.json", "-o", tmp_path / "out.bpf")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not set("\x1b\u202e") & set(done.stderr)


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["same path", "symbolic link", "hard link"])
def test_the_output_never_overwrites_the_profile(tmp_path, link):
    profile, out = tmp_path / "profile.json", tmp_path / "out.bpf"
    shutil.copy(GOOD, profile)
    if link is None:
        out = profile
    else:
        link(profile, out)
    done = run(profile, "-o", out)
    assert done.returncode == 2 and "%s: the output is the profile" % out in done.stderr
    assert profile.read_bytes() == GOOD.read_bytes()


def test_an_error_names_the_file_that_has_it(tmp_path):
    program = tmp_path / "secequiv"
    program.write_text("")
    program.chmod(0o755)
    done = run(GOOD, "-o", tmp_path / "out.bpf", SECEQUIV_BIN=str(tmp_path))
    assert done.returncode == 2 and done.stderr == "libseccomp_filter: %s: Exec format error\n" % program


def test_each_capability_counts(tmp_path):
    profile, out = tmp_path / "profile.json", tmp_path / "out.bpf"

    def filter_of(text, *capabilities):
        profile.write_text(text)
        done = run(profile, "-o", out, *["--cap=" + name for name in capabilities])
        assert done.returncode == 0, done
        return out.read_bytes()
    guarded = profile_with({"includes": {"caps": ["CAP_SYS_ADMIN", "CAP_BPF"]}})
    assert filter_of(guarded, "CAP_SYS_ADMIN", "CAP_BPF") == filter_of(profile_with())
    assert filter_of(guarded, "CAP_BPF") == filter_of(profile_with(syscalls=[]))


def test_it_writes_the_filter_or_reports_that_libseccomp_does_not_answer(tmp_path):
    out = tmp_path / "out.bpf"
    assert run(GOOD, "-o", out).returncode == 0
    assert out.stat().st_size % 8 == 0
    assert "%s: No such file" % (tmp_path / "no/out") in run(GOOD, "-o", tmp_path / "no/out").stderr
    out.unlink()
    done = run(KNOWN / "bound-and-two-arguments.json", "-o", out, "--seconds", "2")
    assert done.returncode == 1 and "did not answer within 2 s" in done.stderr
    assert not out.exists()
