"""Tests `secequiv import`: compares imported container profiles with filters that libseccomp and gVisor made from the same rules."""

import json
import re
import subprocess

import jsonschema
import pytest
from cli_tool import POLICIES, PROGRAMS, binary, report, run

OCI = POLICIES / "oci"
PROFILES = sorted(OCI.glob("*.json"))
SCHEMA = jsonschema.Draft202012Validator(json.loads((POLICIES / "schema.json").read_text()))
GVISOR = sorted((POLICIES / "gvisor").glob("*.json"))


def imported(profile, tmp_path, *options, name="policy.json"):
    out = tmp_path / name
    done = run("import", profile, "-o", out, *options)
    assert done.status == 0 and done.out == "", done
    policy = json.loads(out.read_text())
    document, validated = report("validate", out)
    assert validated.status == 0 and document["results"][0]["kind"] == "policy"
    return out, policy


def allowed(policy):
    """Returns the names of calls that some rule set allows for all arguments."""
    return {name.split(":")[-1] for rules in policy["rule_sets"] if rules["action"] == "allow"
            for name, rule in rules["rules"].items() if rule is True}


@pytest.mark.parametrize("arch", ["x86_64", "aarch64", "s390x", "i386"])
@pytest.mark.parametrize("profile", PROFILES, ids=[path.name for path in PROFILES])
def test_imported_profiles_are_equivalent_to_the_originals(profile, arch, tmp_path):
    path, policy = imported(profile, tmp_path, "--arch", arch)
    assert policy["arches"][0] == arch
    assert policy["default_action"] in ("errno(EPERM)", "errno(ENOSYS)") and {"read", "futex"} <= allowed(policy)
    # Podman allows reboot in every container.
    assert not allowed(policy) & ({"kexec_load", "init_module", "reboot"} - ({"reboot"} if "podman" in profile.name else set()))
    # The profile and the imported policy are equivalent.
    assert report("prove", path, profile, "--arch", arch)[1].status == 0


@pytest.mark.parametrize("profile", PROFILES, ids=[path.name for path in PROFILES])
def test_imported_policies_match_the_schema(profile, tmp_path):
    errors = ["/".join(map(str, error.absolute_path)) for error in SCHEMA.iter_errors(imported(profile, tmp_path)[1])]
    assert errors == []


def test_sub_architectures_follow_the_host(tmp_path):
    docker = OCI / "docker-default.json"
    assert imported(docker, tmp_path)[1]["arches"] == ["x86_64", "i386", "x32"]
    assert imported(docker, tmp_path, "--arch", "aarch64")[1]["arches"] == ["aarch64", "arm"]


def test_capabilities_add_the_expected_calls(tmp_path):
    docker = OCI / "docker-default.json"
    path, without = imported(docker, tmp_path)
    admin_path, admin = imported(docker, tmp_path, "--cap", "CAP_SYS_ADMIN", name="admin.json")
    gained = allowed(admin) - allowed(without)
    assert {"mount", "umount2", "unshare", "setns", "bpf", "fsopen", "quotactl", "sethostname", "clone"} <= gained
    assert not allowed(without) - allowed(admin)
    assert not gained & {"reboot", "init_module", "ptrace", "settimeofday", "kexec_load"}
    for name in ("mount", "setns", "bpf"):
        assert run("run", path, "--nr", name).out.splitlines()[-1].endswith("ERRNO(1 EPERM)")
        assert run("run", admin_path, "--nr", name).out.splitlines()[-1].endswith("ALLOW")
    # clone3 returns ENOSYS, so that callers fall back to clone, unless the container has CAP_SYS_ADMIN.
    assert run("run", path, "--nr", "clone3").out.splitlines()[-1].endswith("ERRNO(38 ENOSYS)")
    assert run("run", admin_path, "--nr", "clone3").out.splitlines()[-1].endswith("ALLOW")
    assert run("run", path, "--nr", "clone", "--arg", "0=CLONE_NEWUSER").out.splitlines()[-1].endswith("EPERM)")
    assert run("run", path, "--nr", "clone", "--arg", "0=CLONE_VM").out.splitlines()[-1].endswith("ALLOW")
    assert report("prove", path, admin_path)[1].status == 1
    boot = imported(docker, tmp_path, "--cap", "CAP_SYS_BOOT", "--cap", "CAP_SYS_TIME", name="boot.json")[1]
    assert {"reboot", "settimeofday"} <= allowed(boot) - allowed(without)


def test_the_kernel_version_adds_the_expected_calls(tmp_path):
    docker = OCI / "docker-default.json"
    new, old = (allowed(imported(docker, tmp_path, "--kernel-version", version)[1]) for version in ("4.8", "4.7"))
    assert new - old == {"ptrace", "process_vm_readv", "process_vm_writev"} and not old - new


def test_skipped_names_are_reported():
    done = run("import", OCI / "docker-default.json")
    assert done.status == 0 and json.loads(done.out)
    found, = [line for line in done.err.splitlines() if "of other architectures" in line]
    assert re.fullmatch(r"secequiv: \S+docker-default.json: skipped \d+ system calls? of other architectures: [a-z0-9_, ]+", found), found
    assert "warning" not in done.err


def test_a_warning_about_both_filters_appears_once_after_the_verdict(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[\n{"names":["keyctll"],"action":"SCMP_ACT_ERRNO"}]}')
    lines = subprocess.run([binary(), "diff", profile, profile], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60).stdout.splitlines()
    assert len(lines) == 2 and lines[0].startswith("equivalent: ") and "warning: " in lines[1], lines


def test_misspelled_names_are_warnings_or_errors(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[\n{"names":["keyctll"],"action":"SCMP_ACT_ERRNO"}]}')
    problem = "no architecture has a system call 'keyctll'; did you mean keyctl?"
    for command in (["import", profile], ["dis", profile], ["actions", profile], ["check", profile], ["why", profile]):
        done = run(*command)
        assert "secequiv: warning: %s:2 (syscalls[0]): %s\n" % (profile, problem) in done.err
        assert done.status == 0, done
        done = run(*command, "--strict-names")
        assert done.status == 2 and "%s:2: %s (--strict-names)" % (profile, problem) in done.err, done
    done = run("lint", profile)
    assert done.status == 1 and problem not in done.err, done
    assert "error: %s:2 (syscalls[0]): unknown_name: %s\n" % (profile, problem) in done.out
    assert run("lint", profile, "--strict-names").status == 2
    document, _ = report("lint", profile)
    assert document["errors"][0]["origin"] == {"file": str(profile), "line": 2, "path": "syscalls[0]"}


def test_unknown_keys_are_reported(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"defaultAction":"SCMP_ACT_ERRNO","archMap":[{"architecture":"SCMP_ARCH_X86_46"}],"syscall":[]}')
    key = "unknown key 'syscall', which runtimes ignore; did you mean syscalls?"
    arch = "unknown architecture 'SCMP_ARCH_X86_46'; did you mean SCMP_ARCH_X86_64?"
    both = "secequiv: warning: %s:1 (syscall): %s\nsecequiv: warning: %s:1 (archMap[0].architecture): %s\n" % (profile, key, profile, arch)
    for command in (["import", profile], ["dis", profile], ["check", profile, "--quiet"], ["diff", profile, profile, "--quiet"]):
        done = run(*command)
        assert done.status == 0 and done.err in (both, both + both), done
        done = run(*command, "--strict-names")
        assert done.status == 2 and done.err == "secequiv: %s:1: %s (--strict-names)\n" % (profile, key), done
    done = run("lint", profile, "--strict")
    assert done.status == 1 and done.out.splitlines() == [
        "fail: 0 redundant rules, 1 error, 1 warning",
        "error: %s:1 (syscall): unknown_name: %s" % (profile, key), "warning: %s:1 (archMap[0].architecture): unknown_name: %s" % (profile, arch)]


def test_notes_name_the_file_once(tmp_path):
    profile = tmp_path / "p.json"
    entries = ['{"names":["read"],"action":"SCMP_ACT_%s","args":[{"index":%d,"value":1,"op":"SCMP_CMP_EQ"}]}' % (action, i)
               for i, action in enumerate(["ALLOW", "TRAP", "KILL"])]
    profile.write_text('{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[\n%s]}' % ",\n".join(entries))
    notes = run("import", profile).err.splitlines()
    assert all(note.count(str(profile)) == 1 for note in notes) and len(notes) == 1, notes
    assert notes[0] == ("secequiv: warning: %s: read on x86_64: libseccomp chooses one of the entries at line 3 (syscalls[1]), line 4 (syscalls[2]), regardless of "
                        "their order, for inputs such as nr=0 (read) arch=0xc000003e (x86_64) ip=0x0 args=[0x0, 0x1, 0x1]; this command uses the first" % profile)


def test_standard_input_and_output_are_the_default():
    text = (OCI / "podman-default.json").read_bytes()
    assert run("import", stdin=text).out == run("import", OCI / "podman-default.json").out


def test_conditions_become_rules(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_KILL_PROCESS", "syscalls": [
        {"names": ["openat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13,
         "args": [{"index": 2, "value": 3, "valueTwo": 1, "op": "SCMP_CMP_MASKED_EQ"}]},
        {"names": ["ioctl"], "action": "SCMP_ACT_ALLOW", "args": [
            {"index": 1, "value": 0x5401, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 2, "op": "SCMP_CMP_LE"}]},
        {"names": ["socket"], "action": "SCMP_ACT_LOG", "args": [
            {"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}]}))
    path, _ = imported(profile, tmp_path)

    def action(name, *args):
        done = run("run", path, "--nr", name, *[part for i, arg in args for part in ("--arg", "%d=%d" % (i, arg))])
        return done.out.splitlines()[-1].split(maxsplit=1)[1]

    assert action("openat", (2, 5)) == "ERRNO(13 EACCES)" and action("openat", (2, 6)) == "KILL_PROCESS"
    assert action("ioctl", (0, 2), (1, 0x5401)) == "ALLOW"  # conditions on different arguments must all hold
    assert action("ioctl", (0, 3), (1, 0x5401)) == action("ioctl", (0, 2), (1, 0x5402)) == "KILL_PROCESS"
    assert action("socket", (0, 1)) == action("socket", (0, 2)) == "LOG"  # if several conditions test one argument, one of them suffices
    assert action("socket", (0, 3)) == action("read") == "KILL_PROCESS"


def known_to_libseccomp(policy, library):
    """Returns the policy without the system calls that libseccomp does not know, and the names of these calls."""
    names = {key.split(":")[-1] for rules in policy["rule_sets"] for key in rules["rules"]}
    library.compile("default 0\n" + "".join("rule 0x7fff0000 %s\n" % name for name in names), "linear")
    for rules in policy["rule_sets"]:
        rules["rules"] = {key: rule for key, rule in rules["rules"].items() if key.split(":")[-1] not in library.unknown}
    return policy, set(library.unknown)


@pytest.mark.parametrize("profile, arch", [("docker", "x86_64"), ("docker", "aarch64"), ("podman", "x86_64")])
def test_imported_profiles_are_equivalent_to_libseccomps_filters(profile, arch, library, tmp_path):
    _, policy = imported(OCI / ("%s-default.json" % profile), tmp_path, "--arch", arch)
    policy, dropped = known_to_libseccomp(policy, library)
    assert len(dropped) < 40 and not dropped & {"read", "openat", "clone3", "socketcall"}, dropped
    restricted = tmp_path / "restricted.json"
    restricted.write_text(json.dumps(policy))
    for shape in ("linear", "tree"):
        document, done = report("prove", restricted, PROGRAMS / "libseccomp" / ("%s-%s.%s.bpf" % (profile, arch, shape)))
        assert done.status == 0, document
    document, done = report("check", restricted, PROGRAMS / "libseccomp" / ("%s-%s.linear.bpf" % (profile, arch)))
    assert done.status == 0, document["reason"]


def test_the_comparison_with_libseccomp_finds_a_wrong_action(library, tmp_path):
    _, policy = imported(OCI / "docker-default.json", tmp_path)
    policy, _ = known_to_libseccomp(policy, library)
    policy["bad_arch_action"] = "kill_process"
    restricted = tmp_path / "restricted.json"
    restricted.write_text(json.dumps(policy))
    document, done = report("prove", restricted, PROGRAMS / "libseccomp" / "docker-x86_64.linear.bpf")
    assert done.status == 1 and document["witness"]["after"]["action"] == "KILL_THREAD"


@pytest.mark.parametrize("policy", GVISOR, ids=[path.stem for path in GVISOR])
def test_gvisor_policies_are_equivalent_to_gvisors_filters(policy):
    document, done = report("prove", policy, PROGRAMS / "gvisor" / (policy.stem + ".before.bpf"))
    assert done.status == 0, document


def test_every_gvisor_configuration_has_a_policy():
    assert len(GVISOR) >= 8
