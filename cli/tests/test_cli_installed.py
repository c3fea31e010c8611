"""Tests that the policy which secequiv reads from a container profile decides as the filter that libseccomp makes from the profile."""

import collections
import json
import random

import pytest
from cli_tool import FULL, POLICIES, ROOT, binary, fits, report, run

from corpus import installed, mistakes, oci, profiles
from naive.naive import Insn

NUMBER = 313 if FULL else 8  # profiles of each kind: 5,008 in the development build
# In profiles of the other kinds, libseccomp 2.5.4 merges some conditions wrongly, or several entries with different actions match one input.
EXACT = ["safe", "masks", "repeated arguments", "x32", "arm", "multiplexed, i386", "multiplexed, x32", "multiplexed, i386, two entries",
         "multiplexed, s390x", "multiplexed, ppc64le", "multiplexed, i386 alone"]
REAL = sorted((POLICIES / "oci").glob("*.json"))
CASES = ROOT / "corpus" / "regress" / "profiles"


@pytest.mark.parametrize("kind", profiles.KINDS)
def test_random_profiles(kind, library, tmp_path):
    """Where secequiv and libseccomp differ, a third evaluation finds that secequiv is right, and a mistake of libseccomp must have a known shape."""
    numbers = random.Random(kind)
    counts = collections.Counter()
    for _ in range(NUMBER):
        profile = profiles.profile(numbers, profiles.KINDS[kind])
        found = installed.compare(binary(), library, profile, tmp_path)
        why = installed.explain(binary(), library, profile, tmp_path, found)
        assert why.outcome in installed.EXPLAINED, "%s\n%s\n%s\n%s" % (json.dumps(profile), why.outcome, why.detail, found.detail)
        assert kind not in EXACT or why.outcome not in ("choice", "mistake"), "%s\n%s" % (json.dumps(profile), why)
        counts[why.outcome] += 1
    assert counts["equal"] >= NUMBER * (9 if kind in EXACT else 4) // 10, counts


# On a little-endian machine, libseccomp makes wrong long programs for s390x: it swaps the bytes of some return values twice.
@pytest.mark.parametrize("path, arch", [pytest.param(path, arch, id="%s-%s" % (arch, path.stem)) for arch in ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64", "SCMP_ARCH_RISCV64")
                                        for path in REAL if arch in oci.hosts(json.loads(path.read_text()))])
def test_real_profiles(arch, path, library, tmp_path):
    profile = json.loads(path.read_text())
    found = installed.compare(binary(), library, profile, tmp_path, arch)
    assert found.outcome == "equal", found.detail
    assert len(found.unknown) < 40 and not {"read", "openat", "clone3", "socketcall"} & set(found.unknown)


def test_another_reading_is_different(library, tmp_path, monkeypatch):
    """The comparison can fail."""
    profile = json.loads((CASES / "alg-enosys.json").read_text())
    assert installed.compare(binary(), library, profile, tmp_path).outcome == "equal"
    plain = installed.without
    monkeypatch.setattr(installed, "without", lambda profile, names: plain(profile, (*names, "socketcall")))
    found = installed.compare(binary(), library, profile, tmp_path)
    assert found.outcome == "different" and "socketcall (some arguments) on i386" in found.detail, found


def explained(name, library, folder):
    profile = json.loads((ROOT / "corpus" / "regress" / "known" / (name + ".json")).read_text())
    arch = "SCMP_ARCH_X86_64"
    return installed.explain(binary(), library, profile, folder, installed.compare(binary(), library, profile, folder, arch), arch)


def test_a_mistake_of_libseccomp_is_named(library, tmp_path):
    why = explained("below-or-far-below", library, tmp_path)
    assert (why.outcome, why.mistakes) == ("mistake", ("libseccomp-below-or-far-below",)) and "permitted ['0x7fff0000']" in why.detail


def test_a_mistake_without_a_known_shape_is_reported(library, tmp_path, monkeypatch):
    monkeypatch.setattr(mistakes, "names", lambda *_: [])
    assert explained("below-or-far-below", library, tmp_path).outcome == "unexplained"


def test_a_mistake_of_secequiv_is_not_blamed_on_libseccomp(library, tmp_path, monkeypatch):
    """Here secequiv repeats libseccomp's mistake, and then makes another one."""
    monkeypatch.setattr(installed, "_compiled", lambda _, folder, arch: installed._program(folder / "library.bpf", arch))
    assert explained("below-or-far-below", library, tmp_path).outcome == "ours"
    monkeypatch.setattr(installed, "_compiled", lambda *_: [Insn(6, 0, 0, 0x7FFF0000)])
    assert explained("below-or-far-below", library, tmp_path).outcome == "ours"


def test_a_choice_among_entries_is_no_mistake(library, tmp_path):
    profile = json.loads(MIXED.read_text())
    assert installed.explain(binary(), library, profile, tmp_path, installed.compare(binary(), library, profile, tmp_path)).outcome == "choice"


def test_a_profile_that_libseccomp_refuses_has_no_filter(library, tmp_path):
    test = [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]
    profile = {"defaultAction": "SCMP_ACT_KILL", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [
        {"names": ["read"], "action": action, "args": test} for action in ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG")]}
    found = installed.compare(binary(), library, profile, tmp_path)
    assert found.outcome == installed.REFUSED and "File exists" in found.detail


def proven(path, text):
    """Returns the report about a property, and the exit status."""
    done = run("prove", path, "--property", text, "--json")
    document = json.loads(done.out)
    assert fits(document) == "prove-property", done
    return document, done.status


SOCKETCALL = "when arch == i386 && nr == socketcall: refused"


@pytest.mark.parametrize("name, status", [("alg-none", 1), ("alg-eperm", 1), ("alg-enosys", 0)])
def test_socketcall_creates_the_sockets_that_an_entry_for_socket_denies(name, status):
    """The first public fixes for CVE-2026-31431 denied AF_ALG and AF_VSOCK like this."""
    path = CASES / (name + ".json")
    document, found = proven(path, SOCKETCALL)
    assert found == status, document
    if status:
        assert document["clauses"][0]["witness"]["rule"]["condition"] == "also for socketcall"
    document, done = report("guard", path)
    assert ("socketcall" in json.dumps(document["doors"])) == bool(status), done.out


def test_a_denied_socket_is_denied_through_socketcall():
    path = CASES / "deny-one-family.json"
    done = run("why", path, "--call-arch", "i386", "--nr", "socketcall", "--arg", "0=1")
    assert "ERRNO(97" in done.out and "also for socketcall" in done.out, done
    assert "socketcall" not in json.dumps(report("guard", path)[0]["doors"])


def test_lint_gives_no_advice_about_rules_that_libseccomp_adds(tmp_path):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], "syscalls": [
        {"names": ["bind"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]} for value in (1, 2)] + [
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 1, "value": 7, "op": "SCMP_CMP_EQ"}]}]}))
    assert run("lint", path, "--strict").out.splitlines() == ["pass: 0 redundant rules"]


def test_an_imported_profile_is_written_without_the_rules_that_libseccomp_adds():
    path = CASES / "alg-none.json"
    done = run("import", path, "--as", "oci")
    assert done.status == 0 and "socketcall" not in done.out, done


CHOICES = ROOT / "corpus" / "regress" / "choices"
MIXED = CHOICES / "several-actions.json"
CHOICE = "read on x86_64: libseccomp chooses one of the entries at "


@pytest.fixture
def first_meaning(tmp_path):
    """Returns the policy in which the first entry that matches decides."""
    return imported(json.loads(MIXED.read_text()), tmp_path)


def imported(profile, folder):
    """Returns the policy that secequiv reads from a profile in which libseccomp has a choice."""
    path, out = folder / "profile.json", folder / "policy.json"
    path.write_text(json.dumps(profile))
    done = run("import", path, "-o", out)
    assert done.status == 3 and "warning: " in done.err and CHOICE in done.err, done
    return out


@pytest.mark.parametrize("command", [("prove",), ("check",), ("diff",), ("prove", "--refines"), ("prove", "--same", "effect")])
def test_a_success_about_entries_among_which_libseccomp_chooses_is_unknown(command, first_meaning):
    name, *options = command
    document, done = report(name, MIXED, first_meaning, *options)
    assert (document["verdict"], done.status) == ("unknown", 3), done
    choice, = document["choices"]
    assert (choice["arch"], choice["syscall"], choice["input"]["nr"]) == ("x86_64", "read", 0)
    assert [entry["line"] for entry in choice["entries"]] == [2, 3, 4]
    done = run(name, MIXED, first_meaning, *options)
    assert done.status == 3 and CHOICE in done.out + done.err, done


@pytest.mark.parametrize("command", ["prove", "check", "diff"])
def test_a_difference_only_where_libseccomp_chooses_is_unknown(command, tmp_path):
    profile = json.loads(MIXED.read_text())
    profile["syscalls"].reverse()
    document, done = report(command, MIXED, imported(profile, tmp_path))
    assert (document["verdict"], done.status, len(document["choices"])) == ("unknown", 3, 1), done


@pytest.mark.parametrize("command", ["prove", "check", "diff"])
def test_a_difference_elsewhere_is_a_difference(command, tmp_path):
    profile = json.loads(MIXED.read_text())
    profile["syscalls"] = [*reversed(profile["syscalls"]), {"names": ["write"], "action": "SCMP_ACT_TRAP"}]
    document, done = report(command, MIXED, imported(profile, tmp_path))
    assert (document["verdict"], done.status, len(document["choices"])) == ("different", 1, 1), done
    assert document["direction"]["summary"] == "LOOSER: write: KILL_THREAD -> TRAP(0) (apart from inputs for which libseccomp chooses)"
    assert not document["direction"]["complete"]
    if command != "diff":
        assert document["witness"]["data"]["nr"] == 1, document


def test_what_libseccomp_chooses_makes_nothing_stricter(tmp_path):
    """libseccomp chooses ALLOW, so an answer that nothing became more permissive would be false."""
    entries = [{"names": ["ptrace"], "action": action, "args": [{"index": index, "value": 1, "op": "SCMP_CMP_EQ"}]}
               for index, action in enumerate(["SCMP_ACT_KILL_PROCESS", "SCMP_ACT_ALLOW"])]
    after = tmp_path / "after.json"
    after.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": entries}))
    policy = tmp_path / "policy.json"
    assert run("import", after, "-o", policy).status == 3
    before = json.loads(policy.read_text())
    before["rule_sets"].append({"action": "allow", "rules": {"write": True}})
    policy.write_text(json.dumps(before))
    for command in ("prove", "check", "diff"):
        document, done = report(command, policy, after)
        assert done.status == 1 and document["direction"]["summary"].startswith("stricter: write (apart from"), done
        assert "never more permissive" not in run(command, policy, after).out


def test_an_expected_difference_leaves_out_what_libseccomp_chooses(first_meaning, tmp_path):
    profile = json.loads(MIXED.read_text())
    profile["syscalls"].reverse()
    folder = tmp_path / "other"
    folder.mkdir()
    other = imported(profile, folder)
    expected = tmp_path / "expected.json"
    assert run("diff", MIXED, first_meaning, "--write-expect", expected).status == 3
    assert run("diff", MIXED, other, "--expect", expected).status == 3


def test_why_knows_a_choice_only_where_there_is_one():
    document, done = report("why", MIXED, "--nr", "read", "--arg", "2=600")
    assert done.status == 3 and len(document["choices"]) == 1, done
    document, done = report("why", MIXED, "--nr", "read", "--arg", "2=10")
    assert done.status == 0 and "choices" not in document, done
    assert [run("run", MIXED, "--nr", "read", "--arg", "2=%d" % value).status for value in (600, 10)] == [3, 0]


@pytest.mark.parametrize("command", ["actions", "cost", "cache", "guard"])
def test_documents_list_the_choices(command):
    document, _ = report(command, MIXED)
    assert [choice["syscall"] for choice in document["choices"]] == ["read"]


@pytest.mark.parametrize("command", ["optimize", "lift", "asm", "import", "precompile"])
def test_a_file_that_is_right_for_one_meaning_only_is_no_success(command, tmp_path):
    out = tmp_path / "out"
    done = run(command, MIXED, "-o", out)
    assert done.status == 3 and "warning: " in done.err and CHOICE in done.err and out.stat().st_size > 0, done


@pytest.mark.parametrize("command", ["prove", "check", "diff"])
def test_entries_of_both_sides_cancel(command, tmp_path):
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps(json.loads(MIXED.read_text()), indent=2))
    assert report(command, MIXED, copy)[1].status == 0


def test_a_choice_outside_the_assumption_does_not_matter(first_meaning):
    assert run("prove", MIXED, first_meaning, "--assume", "nr != read").status == 0
    assert run("prove", MIXED, first_meaning, "--assume", "arg2 <= 256").status == 0
    assert run("prove", MIXED, first_meaning, "--assume", "arg2 > 256").status == 3


def test_a_property_is_decided_where_the_profile_has_one_meaning():
    document, status = proven(MIXED, "when nr == read && arg2 == 600: refused\nrefused: write")
    assert status == 3 and [clause["verdict"] for clause in document["clauses"]] == ["unknown", "pass"], document
    assert CHOICE in document["clauses"][0]["detail"]


def test_guard_does_not_pass_such_a_profile():
    document, done = report("guard", MIXED)
    assert done.status in (1, 3) and (done.status == 1 or CHOICE in document["reason"]), done


def test_lint_gives_no_advice_about_such_entries():
    done = run("lint", MIXED)
    assert done.status == 0 and "0 redundant rules" in done.out and CHOICE in done.err, done


def test_entries_that_exclude_each_other_have_one_meaning():
    path = CASES / "disjoint.json"
    done = run("lint", path, "--strict")
    assert done.status == 0 and "libseccomp" not in done.err, done
    written = run("lift", path, "--as", "oci")
    assert written.status == 0 and len(json.loads(written.out)["syscalls"]) == 2, written


def test_an_edit_that_opens_an_address_family_is_not_proven(tmp_path):
    """The edit is equivalent only if the first entry decides. With libseccomp's choice, it allows AF_VSOCK."""
    done = run("prove", CHOICES / "podman-socket.json", CHOICES / "podman-socket-edited.json")
    assert done.status == 3 and "libseccomp chooses one of the entries" in done.out, done
