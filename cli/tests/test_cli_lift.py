"""Tests `secequiv lift`: Z3 and the naive evaluator confirm that the policy decides as the filter does."""

import json
import random
import subprocess
import sys

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, evaluate, read_raw, report, run, words_bytes

ARGUMENT = "ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njeq #0, yes, n\nn: jeq #1, low, no\nlow: ld [16]\njeq #7, high, no\nhigh: ld [20]\njeq #0, yes, no\n" \
    "yes: ret #0x7fff0000\nno: ret #0x50001\nbad: ret #0x80000000\n"
INSTALL = """
import ctypes, sys
raw = open(sys.argv[1], "rb").read()
code = ctypes.create_string_buffer(raw)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(raw) // 8, ctypes.addressof(code))
libc = ctypes.CDLL(None)
failed = libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program))
print("failed" if failed else "ready", flush=True)
sys.stdin.read()
"""


def rules(path):
    """Returns {action: rules} of a policy whose actions are distinct."""
    policy = json.loads(path.read_text())
    return {part["action"]: part["rules"] for part in policy["rule_sets"]}


def test_the_policy_is_written_with_its_size(asm, tmp_path):
    out = tmp_path / "policy.json"
    done = run("lift", asm(ARGUMENT), "-o", out)
    assert done.status == 0 and done.out == ""
    assert done.err == "secequiv: note: proven equivalent: 12 instructions became 2 rules for 1 architecture, with 1 condition\n"
    policy = json.loads(out.read_text())
    assert (policy["arches"], policy["default_action"], policy["bad_arch_action"]) == (["x86_64"], "errno(EPERM)", "kill_process")
    assert rules(out) == {"allow": {"read": True, "write": {"args": {"0": {"eq": 7}}}}}
    assert run("lift", asm(ARGUMENT)).out == out.read_text()


@pytest.mark.parametrize("name", ["gvisor/kvm.after.bpf", "gvisor/systrap.before.bpf", "libseccomp/docker-x86_64.tree.bpf", "libseccomp/docker-aarch64.linear.bpf"])
def test_z3_and_the_naive_evaluator_confirm_the_policy(name, tmp_path):
    out = tmp_path / "policy.json"
    assert run("lift", PROGRAMS / name, "-o", out).status == 0
    document, done = report("prove", PROGRAMS / name, out, "--engine", "z3")
    assert document["verdict"] == "equivalent", done
    before = read_raw((PROGRAMS / name).read_bytes())
    after = read_raw(run("asm", out, "--to", "raw", raw=True).out)
    pick = random.Random(1)
    for _ in range(400):
        nr = pick.choice([pick.randrange(450), 0xFFFFFFFF, 0x40000000, 0x80000000])
        arch = pick.choice([0xC000003E, 0x40000003, 0xC00000B7, 7])
        data = words_bytes([nr, arch] + [pick.choice([0, 1, 2, 7, 0xFFFFFFFF]) for _ in range(14)])
        assert evaluate(before, data) == evaluate(after, data)


DUMPED = sorted((ROOT / "corpus" / "dumped").glob("*.bpf"))


@pytest.mark.parametrize("path", [path for path in DUMPED if path.stem != "firejail-protocol"], ids=lambda path: path.stem)
def test_filters_of_debian_packages_become_policies(path, tmp_path):
    """The optimizer makes each of them shorter, and the kernel still answers the same calls from its cache."""
    out, short = tmp_path / "policy.json", tmp_path / "short.bpf"
    assert run("lift", path, "-o", out).status == 0
    assert report("prove", path, out, "--engine", "sat")[0]["verdict"] == "equivalent"
    done = run("optimize", path, "--to", "raw", "-o", short)
    assert done.status == 0 and done.err == ""
    assert short.stat().st_size < path.stat().st_size
    assert report("prove", path, short)[0]["verdict"] == "equivalent"


@pytest.mark.parametrize("path", DUMPED, ids=lambda path: path.stem)
def test_the_kernel_installs_the_optimized_filter_and_agrees(path, tmp_path):
    short = tmp_path / "short.bpf"
    assert run("optimize", path, "--to", "raw", "-o", short).status == 0
    done = run("kernel", short, "--max-inputs", "2000", "--random", "200")
    if done.status == 3:
        pytest.skip(done.err)
    assert done.status == 0 and "instructions, accepted; " in done.out, done


def test_a_filter_for_unknown_architectures_is_refused():
    """firejail tests the number of i386's socket() on every architecture except x86_64."""
    done = run("lift", ROOT / "corpus" / "dumped" / "firejail-protocol.bpf")
    assert done.status == 2 and "its action for all other architectures depends on the call; inputs: arch != x86_64 && nr == 359" in done.err


def test_a_deny_list_with_an_x32_test_has_a_default_range(asm, tmp_path):
    out = tmp_path / "policy.json"
    program = asm("ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njge #0x40000000, bad, n\nn: jeq #165, bad, yes\nyes: ret #0x7fff0000\nbad: ret #0x80000000\n")
    assert run("lift", program, "-o", out).status == 0
    policy = json.loads(out.read_text())
    assert policy["default_action"] == "allow" and rules(out) == {"kill_process": {"mount": True}}
    assert policy["default_ranges"] == [{"arch": "x86_64", "first": 0x40000000, "last": 0xffffffff, "action": "kill_process"}]
    why = run("why", out, "--nr", "0xbfffffff").out
    assert why.startswith("KILL_PROCESS: no rule for number 3221225471\n") and "(default_ranges[0])\n" in why


def test_a_stack_becomes_one_policy(asm, tmp_path):
    out = tmp_path / "policy.json"
    deny_read = "ld [4]\njeq #0xc000003e, on, yes\non: ld [0]\njeq #0, no, yes\nyes: ret #0x7fff0000\nno: ret #0x5000d\n"
    stack = f"{asm(deny_read, 'new.asm')},{asm(ARGUMENT, 'old.asm')}"
    assert run("lift", stack, "-o", out).status == 0
    assert rules(out) == {"errno(EACCES)": {"read": True}, "allow": {"write": {"args": {"0": {"eq": 7}}}}}
    assert run("prove", stack, out).status == 0


def test_a_policy_is_lifted_from_its_own_filter(tmp_path):
    given = POLICIES / "oci" / "docker-default.json"
    out = tmp_path / "policy.json"
    assert run("lift", given, "-o", out).status == 0
    assert run("prove", given, out).status == 0


def test_filters_that_no_policy_can_express_are_refused(asm, tmp_path):
    out = tmp_path / "policy.json"
    done = run("lift", asm("ld [0]\nret a\n", "number.asm"), "-o", out)
    assert done.status == 2 and "no policy can express this filter: it returns a value that it computes from the input" in done.err
    done = run("lift", asm("ld [0]\njeq #39, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n", "every.asm"), "-o", out)
    assert done.status == 2 and "it does not test the architecture; inputs: nr == 39" in done.err
    assert not out.exists()


@pytest.mark.parametrize("name,arch", [("docker-x86_64.tree", "x86_64"), ("docker-aarch64.linear", "aarch64")])
def test_an_oci_profile_is_written_that_z3_proves_equivalent(name, arch, tmp_path):
    program, out = PROGRAMS / "libseccomp" / (name + ".bpf"), tmp_path / "profile.json"
    assert run("lift", program, "--as", "oci", "--arch", arch, "-o", out).status == 0
    profile = json.loads(out.read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO" and profile["defaultErrnoRet"] == 1
    assert {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38} in profile["syscalls"]
    document, done = report("prove", program, out, "--arch", arch, "--engine", "z3")
    assert document["verdict"] == "equivalent", done


def test_what_no_profile_can_express_is_an_error_that_names_the_region(asm, tmp_path):
    out = tmp_path / "profile.json"
    done = run("lift", asm(ARGUMENT), "--as", "oci", "-o", out)
    assert done.status == 2 and "all other architectures: the action is KILL_PROCESS, but container runtimes use KILL_THREAD" in done.err
    done = run("lift", asm(ARGUMENT.replace("0x80000000", "0")), "--as", "oci", "-o", out)
    assert done.status == 2 and "x32 calls: the action is ERRNO(1 EPERM)" in done.err
    assert not out.exists()


def test_a_policy_without_rules_is_written_as_a_profile(tmp_path):
    """All calls of x86_64, i386 and x32 are allowed, so the profile has to list x32, too."""
    given, out = ROOT / "corpus" / "regress" / "lift" / "no-entries.json", tmp_path / "profile.json"
    assert run("lift", given, "--as", "oci", "-o", out).status == 0
    assert json.loads(out.read_text())["architectures"] == ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]
    assert run("prove", given, out).status == 0
    assert run("import", out, "--as", "oci").status == 0  # nothing is lost


def test_the_text_shows_the_policy(asm):
    done = run("lift", asm(ARGUMENT), "--as", "text")
    assert done.out == """\
architectures        x86_64
calls without a rule ERRNO(1 EPERM)
other architectures  KILL_PROCESS

ALLOW
  read

ALLOW if a condition holds, else ERRNO(1 EPERM)
  write
      arg0 == 0x7
"""
    assert "12 instructions became 2 rules" in done.err


def test_import_writes_the_same_forms(tmp_path):
    given, out = POLICIES / "oci" / "docker-default.json", tmp_path / "profile.json"
    refused = run("import", given, "--as", "oci", "-o", out)
    assert refused.status == 2 and not out.exists()
    done = run("import", given, "--as", "oci", "--allow-loss", "-o", out)
    assert done.status == 0
    for text in (refused.err, done.err):
        assert all("SCMP_ARCH_%s (line " % arch in text for arch in ("AARCH64", "MIPS64", "S390X"))
        assert "includes CAP_SYS_PTRACE (line " in text and "excludes CAP_SYS_ADMIN" in text
    assert run("prove", given, out).status == 0
    assert run("import", out, "--as", "text").out == run("import", given, "--as", "text").out
    assert run("import", POLICIES / "seed" / "vsyscall.json", "--as", "oci").status == 2
    assert json.loads(run("import", given, "--as", "normal-form").out)["normal_form"] == 1


@pytest.mark.parametrize("direction", ["stricter", "looser"])
def test_the_nearest_policy_in_one_direction_is_written_and_proven(direction, tmp_path):
    program, out = ROOT / "corpus" / "dumped" / "firejail-protocol.bpf", tmp_path / "policy.json"
    done = run("lift", program, "--approximate", direction, "-o", out)
    assert done.status == 0 and "note: proven %s: " % direction in done.err, done
    assert "warning: %s than the filter: " % direction in done.err
    assert run("prove", program, out).status == 1
    sides = [program, out] if direction == "stricter" else [out, program]
    assert run("prove", *sides, "--refines").status == 0 and run("prove", *reversed(sides), "--refines").status == 1


def test_an_exact_policy_is_not_approximated(asm):
    done = run("lift", asm(ARGUMENT), "--approximate", "stricter")
    assert done.out == run("lift", asm(ARGUMENT)).out and "proven equivalent" in done.err and "warning" not in done.err


@pytest.mark.parametrize("options", [(), ("--approximate", "stricter")])
def test_a_policy_that_is_too_long_is_unknown(options, asm, tmp_path):
    out = tmp_path / "policy.json"
    text = "ld [4]\njeq #0xc000003e, on, no\non: ld [0]\njge #60000, no, t\nt: ld [16]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0x50001\n"
    done = run("lift", asm(text), *options, "-o", out)
    assert done.status == 3 and "unknown: " in done.err, done
    assert "a limit was reached: lift writes at most 100000 rules and conditions; inputs: arch == x86_64 && nr in {0xc000..0xc3ff}" in done.err
    assert not out.exists()


def test_the_limit_of_memory_is_reported(tmp_path):
    big, out = tmp_path / "big.json", tmp_path / "policy.json"
    pick = random.Random(1)
    tests = [{"args": {str(field): {"masked_eq": {"mask": pick.getrandbits(64), "value": 0}} for field in range(6)}} for _ in range(60)]
    big.write_text(json.dumps({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
                               "rule_sets": [{"action": "allow", "rules": {"read": {"any_of": tests}}}]}))
    done = run("lift", big, "--max-memory", "1", "-o", out)
    assert done.status == 3 and "reached their limit" in done.err, done
    assert not out.exists()


def test_the_filters_of_a_process_are_lifted(asm, tmp_path):
    out = tmp_path / "policy.json"
    no_getppid = asm("ld [4]\njeq #0xc000003e, on, yes\non: ld [0]\njeq #110, no, yes\nyes: ret #0x7fff0000\nno: ret #0x5000d\n")
    raw = tmp_path / "filter.bpf"
    assert run("asm", no_getppid, "--to", "raw", "-o", raw).status == 0
    process = subprocess.Popen([sys.executable, "-c", INSTALL, raw], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            pytest.skip("a process cannot install a filter here")
        done = run("lift", "--pid", process.pid, "-o", out)
    finally:
        process.communicate("")
    if done.status == 3:
        pytest.skip(done.err)
    assert done.status == 0 and rules(out) == {"errno(EACCES)": {"getppid": True}}, done
    assert run("prove", no_getppid, out).status == 0
