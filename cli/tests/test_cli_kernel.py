"""Tests `secequiv kernel`, and the running kernel as an evaluator: agreement with the model, and the messages if seccomp is not
permitted."""
import ctypes
import errno
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import time

import pytest
from cli_tool import FULL, POLICIES, PROGRAMS, STATUS, agrees, binary, fits, run, shown_on, some

SYSTRAP = [str(PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side)) for side in ("before", "after")]
SYS_SECCOMP, SYS_PTRACE, ERRNO, ALLOW = 317, 101, 0x50000, 0x7FFF0000
CAP_SYS_RESOURCE = 24


def ask(*arguments, kind="kernel", **options):
    done = run("kernel", "--json", *arguments, **options)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        pytest.skip(done.err)
    assert fits(document) == kind and done.status == STATUS[document["verdict"]], done
    return document


def test_the_kernel_and_the_model_agree_on_a_real_pair():
    document = ask(*SYSTRAP)
    assert document["verdict"] == "pass" and document["release"] == os.uname().release
    assert [side["instructions"] for side in document["sides"]] == [1702, 447]
    assert all(side["inputs"] > 100000 and side["skipped"] == 0 for side in document["sides"])


def test_the_kernel_and_the_model_agree_on_every_real_filter():
    asked = 0
    for path in some(sorted(PROGRAMS.glob("*/*.bpf")), 4):
        if path.stat().st_size <= 4096 * 8:
            document = ask(path, "--max-inputs", "2000", "--random", "1024")
            assert document["verdict"] == "pass", (path, document)
            asked += 1
    assert asked >= (14 if FULL else 3)


def test_the_kernel_and_the_model_agree_on_random_programs():
    document = ask("--random-programs", "3000", "--seed", "9", kind="kernel-check")
    assert document["verdict"] == "pass" and document["programs"] == 3000 and document["seed"] == 9
    assert document["accepted"] > 1500 and document["evaluations"] == 64 * document["evaluated"] > 20000
    assert document["opcodes"] == document["legal_opcodes"] and document["no_room"] == 0
    again = ask("--random-programs", "3000", "--seed", "9", kind="kernel-check")
    assert {**again, "seconds": 0} == {**document, "seconds": 0}
    assert ask("--random-programs", "3000", "--seed", "10", kind="kernel-check")["accepted"] != document["accepted"]
    text = run("kernel", "--random-programs", "400")
    assert text.status == 0 and "400 programs" in text.out and "verdict   pass" in text.out


def test_ctrl_c_still_gives_a_report():
    ask("--random-programs", "400", kind="kernel-check")  # skips the test if the kernel is not available
    process = subprocess.Popen([binary(), "kernel", "--random-programs", "1000000000", "--json"], stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    document = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 3 and fits(document) == "kernel-check"
    assert document["verdict"] == "unknown" and 0 < document["programs"] < 1000000000


@pytest.mark.parametrize("entry", ["x86_64", "i386"])
def test_real_calls_agree_with_the_model(entry, tmp_path):
    uprobe = tmp_path / "uprobe"  # this call bypasses every filter
    uprobe.write_bytes(struct.pack("<16I", 336, *[0] * 15))
    document = ask(SYSTRAP[1], "--entry", entry, "--inputs", uprobe)
    assert document["verdict"] == "pass" and document["entry"] == entry
    side, = document["sides"]
    assert side["inputs"] > 100000 and side["skipped"] == (1 if entry == "x86_64" else 0)


@pytest.mark.parametrize("entry", ["any", "x86_64"])
def test_a_difference_is_shown_with_a_witness(getpid, getpid_enoent, entry):
    document = ask(getpid, getpid_enoent, "--entry", entry)
    assert document["verdict"] == "different" and all("disagreement" not in side for side in document["sides"])
    agrees(document["witness"])
    if entry == "any":
        assert document["witness"]["data"]["words"][4:] == [0] * 12
    text = run("kernel", getpid, getpid_enoent, "--entry", entry)
    assert text.status == 1 and "verdict   different: the kernel's answers differ" in text.out


def test_given_inputs_are_run(asm, tmp_path):
    rare = asm("ld [48]\nmul #0x9e3779b1\njeq #0x12345678, a1, b1\na1: ret #0\nb1: ret #0x7fff0000\n")
    never = asm("ret #0x7fff0000\n")
    solution = 0x12345678 * pow(0x9E3779B1, -1, 1 << 32) % (1 << 32)
    (tmp_path / "inputs").write_bytes(struct.pack("<16I", *[0] * 12, solution, 0, 0, 0))
    quiet = ["--max-inputs", "0", "--random", "8"]
    assert ask(rare, never, *quiet)["verdict"] == "pass"
    assert ask(rare, never, *quiet, "--inputs", str(tmp_path / "inputs"))["verdict"] == "different"


def test_a_program_that_the_kernel_refuses_is_rejected(asm):
    done = run("kernel", asm("ld [1]\nret a\n"))
    assert done.status == 4 and "instruction 0" in done.err and not done.out


def forbid(call, number=errno.EPERM):
    """Returns a function for preexec_fn: in the child process, `call` then fails with this error."""
    def install():
        program = struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, call, 0x06, 0, 0, ERRNO | number, 0x06, 0, 0, ALLOW)
        buffer = ctypes.create_string_buffer(program, len(program))
        fprog = struct.pack("@HP", 4, ctypes.addressof(buffer))
        libc = ctypes.CDLL(None)
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.syscall(SYS_SECCOMP, 1, 0, fprog) == 0
    return install


def test_the_error_for_a_policy_that_is_too_long_suggests_optimize():
    profile = POLICIES / "oci" / "docker-default.json"
    done = run("kernel", profile)
    assert done.status == 4 and "expected at most 4096 instructions" in done.err, done
    assert "'secequiv optimize %s -o FILE' can write a shorter program" % profile in done.err


@pytest.mark.parametrize("call, message", [(SYS_SECCOMP, "seccomp is not permitted here"), (SYS_PTRACE, "ptrace is not permitted here")])
@pytest.mark.parametrize("command", [["kernel"], ["fuzz", "--evaluator", "kernel", "--trials", "5"]])
def test_forbidden_system_calls_give_unknown(getpid, call, message, command):
    ask(getpid)  # skips the test if the kernel is not available
    arguments = command + ([str(getpid)] if command == ["kernel"] else [])
    done = run(*arguments, preexec_fn=forbid(call))
    assert done.status == 3 and message in done.err and not done.out, done


@pytest.mark.parametrize("command", [["kernel", "-"], ["kernel"], ["kernel", "-", "--max-inputs", "0", "--random", "0"],
                                     ["prove", "-", SYSTRAP[0], "--oracle", "kernel"]], ids=" ".join)
@pytest.mark.parametrize("number", [errno.EINVAL, errno.EPERM, errno.ENOSYS])
def test_an_error_from_a_sandbox_is_not_a_refusal(getpid, command, number):
    """A sandbox may forbid seccomp with EINVAL, which the kernel also returns for a bad program. The command must distinguish these."""
    ask(getpid)
    done = run(*command, stdin=getpid.read_bytes(), preexec_fn=forbid(SYS_SECCOMP, number))
    assert done.status == 3 and "seccomp is not permitted here" in done.err and not done.out, done


def test_a_core_limit_of_0_does_not_disturb_the_oracle(getpid):
    ask(getpid)

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.CDLL(None).prctl(24, CAP_SYS_RESOURCE)  # PR_CAPBSET_DROP, so that the child cannot raise the limit again
    for more in ([], ["--entry", "x86_64"]):
        done = run("kernel", getpid, *more, preexec_fn=limit)
        assert done.status == 0 and "verdict   pass" in done.out, done


@pytest.mark.parametrize("entry", ["any", "x86_64"])
def test_without_inputs_the_verdict_is_unknown(getpid, getpid_enoent, tmp_path, entry):
    nothing = ["--entry", entry, "--max-inputs", "0", "--random", "0"]
    if entry == "x86_64":  # this input bypasses every filter, so it is not run
        (tmp_path / "uprobe").write_bytes(struct.pack("<16I", 335, *[0] * 15))
        nothing += ["--inputs", str(tmp_path / "uprobe")]
    for programs in ([getpid], [getpid, getpid_enoent]):
        document = ask(*programs, *nothing)
        assert document["verdict"] == "unknown" and document["reason"] == "no input was run"
        assert [side["inputs"] for side in document["sides"]] == [0] * len(programs)
        text = run("kernel", *programs, *nothing)
        assert text.status == 3 and text.out.count(": no input was run\n") == len(programs) + 1 and "accepted" not in text.out


def test_ctrl_c_reports_the_inputs_run_so_far(getpid):
    ask(getpid)
    process = subprocess.Popen([binary(), "kernel", "--random", "100000000", "--json", getpid, getpid], stdout=subprocess.PIPE, text=True)
    time.sleep(3)
    with open("/proc/%d/status" % process.pid) as status:
        used, = (int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    process.send_signal(signal.SIGINT)
    document = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 3 and fits(document) == "kernel" and used < 1 << 20
    assert document["verdict"] == "unknown" and "the run was interrupted; the kernel's answers are the same so far" == document["reason"]
    first, second = document["sides"]
    assert 10000 < first["inputs"] == second["inputs"] < 200000000


def test_a_difference_in_a_later_block_is_found(asm, tmp_path):
    always, not_at_last = asm("ret #0x7fff0000\n"), asm("ld [16]\njeq #7, yes, no\nyes: ret #0\nno: ret #0x7fff0000\n")
    (tmp_path / "inputs").write_bytes(bytes(64 * 70000) + struct.pack("<16I", *[0] * 4, 7, *[0] * 11))
    document = ask(always, not_at_last, "--max-inputs", "0", "--random", "0", "--inputs", tmp_path / "inputs")
    assert document["verdict"] == "different" and document["witness"]["data"]["words"][4] == 7
    assert [side["inputs"] for side in document["sides"]] == [70001] * 2


def test_the_number_of_random_inputs_is_exact(getpid):
    for count in (1, 16384, 16385, 40000):
        first, second = ask(getpid, getpid, "--max-inputs", "0", "--random", str(count))["sides"]
        assert first["inputs"] == second["inputs"] == 2 * count


@pytest.mark.parametrize("arguments", [["--random-programs", "1000000000"], [str(SYSTRAP[0]), "--random", "100000000"]], ids=["model", "programs"])
def test_progress_is_erased_before_the_report(getpid, arguments):
    ask(getpid)
    terminal, other_end = pty.openpty()
    process = subprocess.Popen([binary(), "kernel", *arguments], stdout=other_end, stderr=other_end)
    os.close(other_end)
    shown = b""
    while b" of " not in shown and process.poll() is None:  # the first progress line, however long it takes
        shown += os.read(terminal, 4096)
    process.send_signal(signal.SIGINT)
    shown += shown_on(terminal)
    os.close(terminal)
    process.wait()
    status, _, text = shown.decode().rpartition("\r\033[K")
    assert " of " in status and "Linux" not in status and text.startswith("Linux ") and "verdict" in text, shown


def test_real_calls_need_a_process_without_filters(getpid):
    ask(getpid)
    done = run("kernel", getpid, "--entry", "x86_64", preexec_fn=forbid(1 << 30))
    assert done.status == 3 and "already has a seccomp filter" in done.err
    assert run("kernel", getpid, preexec_fn=forbid(1 << 30)).status == 0


def test_the_kernel_can_be_an_evaluator_under_test(getpid):
    ask(getpid)
    done = run("fuzz", "--evaluator", "kernel", "--trials", "300", "--json")
    document = json.loads(done.out)
    assert done.status == 0 and document["verdict"] == "pass" and document["answered"] > 290, document


@pytest.mark.parametrize("arguments, message", [
    (["--random-programs", "0"], "--random-programs"),
    (["a", "b", "c"], "input"),
    (["/nowhere"], "/nowhere"),
    ([SYSTRAP[1], "--entry", "arm"], "--entry"),
    ([SYSTRAP[1], "--inputs", SYSTRAP[1] + "x"], "x: "),
    (["--inputs", SYSTRAP[1]], "--inputs: applies only to given programs"),
    (["--random", "4096"], "--random: applies only to"),
    (["--entry", "any"], "--entry: applies only to"),
    (["--policy", "x.json"], "--policy: applies only to"),
    (["--max-inputs", "7"], "--max-inputs: applies only to"),
    (["--same", "raw"], "--same: applies only to"),
    ([SYSTRAP[1], "--random-programs", "20000"], "--random-programs: applies only to random programs"),
    (["%s,%s" % (SYSTRAP[1], SYSTRAP[1])], "expected one filter, not a stack"),
])
def test_wrong_usage_is_an_error(arguments, message):
    done = run("kernel", *arguments)
    assert done.status == 2 and message in done.err and not done.out
