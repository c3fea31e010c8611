"""Tests what commands answer about container profiles that some runtimes do not load, and compares the answers with the runtimes themselves."""

import json
import os
import shutil
import subprocess

import pytest
from cli_tool import ROOT, fits, report, run

CASES = ROOT / "corpus" / "regress" / "loading"
RUNTIMES = ("runc", "crun", "youki", "podman")

# The runtimes that refuse each profile. For runc, see InitSeccomp() and matchCall() (libcontainer/seccomp/seccomp_linux.go) and ConvertStringToArch() (config.go); for crun,
# libcrun_generate_seccomp() (src/libcrun/seccomp.c); for youki, check_seccomp() (crates/libcontainer/src/seccomp/mod.rs) and the enumeration Arch of oci-spec-rs; for libseccomp,
# sys_chk_seccomp_action() (src/system.c), db_col_db_add() and _db_tree_add() (src/db.c). Podman uses crun.
REFUSED = {
    "errno-9000": RUNTIMES, "mixed-endian": RUNTIMES, "unknown-architecture": RUNTIMES, "unknown-flag": RUNTIMES, "arch-native": ("runc", "crun", "podman"),
    "errno-on-allow": ("crun", "podman"), "notify-default": ("runc", "youki"), "notify-write": ("runc", "youki"), "empty-name": ("runc",), "largest-errno": (),
    "errno-69630": (), "errno-69631": RUNTIMES, "equal-conditions": RUNTIMES, "equal-conditions-after-fewer": (), "equal-conditions-socketcall": RUNTIMES,
    "equal-upper-half": RUNTIMES, "equal-upper-half-and-condition": RUNTIMES, "other-upper-half": (),
}
PARTLY = sorted(name for name, runtimes in REFUSED.items() if 0 < len(runtimes) < len(RUNTIMES))
NEVER = sorted(name for name, runtimes in REFUSED.items() if runtimes == RUNTIMES)


def test_every_profile_is_listed():
    assert sorted(path.stem for path in CASES.glob("*.json")) == sorted(REFUSED)


@pytest.mark.parametrize("name", NEVER)
@pytest.mark.parametrize("command", ["lint", "validate", "check", "dis", "why", "guard", "import", "prove", "diff"])
def test_a_profile_that_no_runtime_loads_is_rejected(command, name):
    path = CASES / (name + ".json")
    done = run(command, path, *{"why": ["--nr", "read"], "prove": [path], "diff": [path]}.get(command, []))
    assert done.status == 4 and "runc, crun, youki and podman do not load this profile: " in done.err, done


def test_the_report_about_a_rejected_profile():
    document, done = report("prove", CASES / "errno-9000.json", CASES / "errno-9000.json")
    assert (document["error"], done.status) == ("rejected", 4), done
    assert document["where"].endswith("errno-9000.json:2") and document["detail"].endswith("libseccomp refuses errnos above 4094 (EINVAL), found 9000")


def test_runtimes_keep_the_lower_half_of_an_errno(tmp_path):
    text = (CASES / "errno-69630.json").read_text()
    (same := tmp_path / "same.json").write_text(text.replace("69630", "4094"))
    assert run("prove", CASES / "errno-69630.json", same).status == 0
    done = run("why", CASES / "errno-69630.json", "--nr", "mount")
    assert "ERRNO(4094" in done.out and "runtimes keep its lower 16 bits, 4094" in done.err, done
    (large := tmp_path / "large.json").write_text(text.replace("69630", "4294967296"))
    done = run("validate", large)
    assert done.status == 2 and "expected an errno below 2^32" in done.err, done


@pytest.mark.parametrize("name", PARTLY)
def test_a_profile_that_some_runtimes_refuse_is_a_finding(name):
    path = CASES / (name + ".json")
    document, done = report("lint", path)
    assert (document["verdict"], done.status) == ("fail", 1), done
    failure, = document["not_loaded"]
    assert failure["runtimes"] == list(REFUSED[name])
    assert "error: %s" % failure["text"].replace(": ", ": not_loaded: ", 1) in run("lint", path).out.splitlines()
    assert failure["text"] in run("lint", path, "--quiet").err
    document, done = report("validate", path)
    assert done.status == 1 and document["results"][0]["not_loaded"] == [failure], done
    text = run("validate", path)
    assert text.status == 1 and failure["text"].replace(": ", ": fail: ", 1) + "\n" == text.out and failure["text"] not in text.err
    document, done = report("check", path)
    assert (document["verdict"], done.status, document["reason"], document["not_loaded"]) == ("fail", 1, failure["text"], [failure]), done


@pytest.mark.parametrize("name", PARTLY)
def test_other_reports_name_the_runtimes_and_answer_for_the_rest(name, tmp_path):
    path = CASES / (name + ".json")
    for command, *more in (("dis",), ("why", "--nr", "read"), ("import",)):
        done = run(command, path, *more)
        assert done.status == 0 and "%s not load this profile" % ("does" if name == "empty-name" else "do") in done.err, done
    for command, *more in (("prove", path), ("diff", path), ("why", "--nr", "read"), ("guard",), ("cost",), ("cache",)):
        document, done = report(command, path, *more)
        assert done.status in (0, 1) and document["not_loaded"][0]["runtimes"] == list(REFUSED[name]), (command, done)
    document = json.loads(run("prove", path, "--property", "refused: ptrace", "--json").out)
    assert fits(document) == "prove-property" and document["not_loaded"][0]["runtimes"] == list(REFUSED[name])
    run("guard", path, "--markdown", tmp_path / "guard.md")
    assert "not load this profile" in (tmp_path / "guard.md").read_text()


@pytest.mark.parametrize("name", sorted(REFUSED))
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_only_the_chosen_runtimes_count(runtime, name):
    done = run("validate", CASES / (name + ".json"), "--runtime", runtime)
    assert (done.status, "%s does not load" % runtime in done.err) == ((4, True) if runtime in REFUSED[name] else (0, False)), done


def test_several_runtimes_are_chosen_by_a_list_or_by_repetition():
    path = CASES / "errno-on-allow.json"
    for options in (["--runtime", "runc,crun"], ["--runtime", "crun", "--runtime", "runc"]):
        done = run("lint", path, *options)
        assert done.status == 1 and "crun does not load this profile" in done.out, done
    done = run("lint", path, "--runtime", "docker")
    assert done.status == 2 and "runc,crun,youki,podman" in done.err, done


def test_a_file_with_an_error_takes_precedence(tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{")
    partly, never = CASES / "errno-on-allow.json", CASES / "errno-9000.json"
    assert [run("validate", *files).status for files in ((partly, never), (never, partly), (partly, wrong, never))] == [4, 4, 2]


# What the runtimes print when they refuse a profile, by the case and the runtime.
SAYS = {
    ("arch-native", "crun"): "seccomp unknown architecture NATIVE", ("arch-native", "runc"): "string SCMP_ARCH_NATIVE is not a valid arch for seccomp",
    ("empty-name", "runc"): "empty string is not a valid syscall",
    ("errno-9000", "crun"): "seccomp_rule_add `mount`: Invalid argument", ("errno-9000", "runc"): "error adding seccomp filter rule for syscall mount",
    ("errno-69631", "crun"): "seccomp_rule_add `mount`: Invalid argument", ("errno-69631", "runc"): "error adding seccomp filter rule for syscall mount",
    ("equal-conditions", "crun"): "seccomp_rule_add_array: File exists", ("equal-conditions", "runc"): "error adding seccomp rule for syscall personality",
    ("equal-conditions-socketcall", "crun"): "seccomp_rule_add_array: File exists", ("equal-conditions-socketcall", "runc"): "error adding seccomp rule for syscall socket",
    ("equal-upper-half", "crun"): "seccomp_rule_add_array: File exists", ("equal-upper-half", "runc"): "error adding seccomp rule for syscall personality",
    ("equal-upper-half-and-condition", "crun"): "seccomp_rule_add_array: File exists",
    ("equal-upper-half-and-condition", "runc"): "error adding seccomp rule for syscall personality",
    ("errno-on-allow", "crun"): "errno value specified for action `SCMP_ACT_ALLOW`",
    ("mixed-endian", "crun"): "seccomp adding architecture: Numerical argument out of domain", ("mixed-endian", "runc"): "error adding architecture to seccomp filter",
    ("notify-default", "runc"): "SCMP_ACT_NOTIFY cannot be used as default action", ("notify-write", "runc"): "SCMP_ACT_NOTIFY cannot be used for the write syscall",
    ("unknown-architecture", "crun"): "seccomp unknown architecture X86_46", ("unknown-architecture", "runc"): "string SCMP_ARCH_X86_46 is not a valid arch for seccomp",
    ("unknown-flag", "crun"): "unknown seccomp option", ("unknown-flag", "runc"): "flag",
}
LOADED = "/none"  # the runtime loads the profile, and then finds no program


def output_of(runtime, profile, folder):
    """Returns what the runtime prints when it starts a container with this profile, without a program.

    Without no_new_privs, runtimes load the filter before they look for the program, except for flags, which crun reads when it starts the program. They want cgroups of
    version 2, which a mount namespace of its own can have.
    """
    for name in ("proc", "dev"):
        (folder / "rootfs" / name).mkdir(parents=True)
    if "flags" in profile:
        (folder / "rootfs" / "none").touch(mode=0o755)
    powers = {kind: ["CAP_SYS_ADMIN"] for kind in ("bounding", "effective", "permitted")}
    (folder / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True}, "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        "process": {"user": {"uid": 0, "gid": 0}, "args": ["/none"], "cwd": "/", "noNewPrivileges": False, "capabilities": powers},
        "linux": {"namespaces": [{"type": "mount"}, {"type": "pid"}], "seccomp": profile}}))
    container = "secequiv-%d" % os.getpid()
    command = "%s %s --root state run %s" % (runtime, "--cgroup-manager=disabled" if runtime == "crun" else "", container)
    script = "mount -t cgroup2 none /sys/fs/cgroup || exit 1; %s; %s --root state delete -f %s 2>/dev/null" % (command, runtime, container)
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.stderr


@pytest.mark.parametrize("name", sorted(REFUSED))
@pytest.mark.parametrize("runtime", ["crun", "runc"])
def test_the_runtime_agrees(runtime, name, tmp_path):
    if shutil.which(runtime) is None:
        pytest.skip("%s is not installed" % runtime)
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no container can be started without a mount namespace")
    profile = json.loads((CASES / (name + ".json")).read_text())
    # With this action, the runtime itself could not go on.
    if profile["defaultAction"] == "SCMP_ACT_ERRNO":
        profile["defaultAction"] = "SCMP_ACT_LOG"
    output = output_of(runtime, profile, tmp_path)
    assert (SAYS[name, runtime] if runtime in REFUSED[name] else LOADED) in output
