"""`secequiv kernel` and evaluators that are the running kernel: what it says, and what is said where it may not be asked."""
import ctypes
import json
import os
import signal
import struct
import subprocess
import time

import pytest
from cli_tool import PROGRAMS, STATUS, agrees, binary, fits, run

SYSTRAP = [str(PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side)) for side in ("before", "after")]
SYS_SECCOMP, SYS_PTRACE, ERRNO_EPERM, ALLOW = 317, 101, 0x50001, 0x7FFF0000


def ask(*arguments, kind="kernel", **options):
    done = run("kernel", "--json", *arguments, **options)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        if os.environ.get("SECEQUIV_REQUIRE_KERNEL"):
            pytest.fail(done.err)
        pytest.skip(document["detail"])
    assert fits(document) == kind and done.status == STATUS[document["verdict"]], done
    return document


def test_the_kernel_says_what_the_model_says():
    document = ask(*SYSTRAP)
    assert document["verdict"] == "pass" and document["release"] == os.uname().release
    assert [side["instructions"] for side in document["sides"]] == [1702, 447]
    assert all(side["inputs"] > 100000 and side["skipped"] == 0 for side in document["sides"])


def test_every_real_filter_in_the_corpus():
    asked = 0
    for path in sorted(PROGRAMS.glob("*/*.bpf")):
        if path.stat().st_size <= 4096 * 8:
            document = ask(path, "--max-inputs", "2000", "--random", "1024")
            assert document["verdict"] == "pass", (path, document)
            asked += 1
    assert asked >= 14


def test_random_programs_without_input():
    document = ask("--programs", "3000", "--seed", "9", kind="kernel-check")
    assert document["verdict"] == "pass" and document["programs"] == 3000 and document["seed"] == 9
    assert document["accepted"] > 1500 and document["evaluations"] == 64 * document["evaluated"] > 20000
    assert document["opcodes"] == document["legal_opcodes"] and document["no_room"] == 0
    again = ask("--programs", "3000", "--seed", "9", kind="kernel-check")
    assert {**again, "seconds": 0} == {**document, "seconds": 0}
    assert ask("--programs", "3000", "--seed", "10", kind="kernel-check")["accepted"] != document["accepted"]
    text = run("kernel", "--programs", "400")
    assert text.status == 0 and "400 programs" in text.out and "verdict   pass" in text.out


def test_ctrl_c_says_what_is_known():
    ask("--programs", "400", kind="kernel-check")  # or it is skipped
    process = subprocess.Popen([binary(), "kernel", "--programs", "1000000000", "--json"], stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    document = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 3 and fits(document) == "kernel-check"
    assert document["verdict"] == "unknown" and 0 < document["programs"] < 1000000000


@pytest.mark.parametrize("entry", ["x86_64", "i386"])
def test_real_calls(entry, tmp_path):
    uprobe = tmp_path / "uprobe"  # no filter sees it
    uprobe.write_bytes(struct.pack("<16I", 336, *[0] * 15))
    document = ask(SYSTRAP[1], "--entry", entry, "--inputs", uprobe)
    assert document["verdict"] == "pass" and document["entry"] == entry
    side, = document["sides"]
    assert side["inputs"] > 100000 and side["skipped"] == (1 if entry == "x86_64" else 0)


@pytest.mark.parametrize("entry", ["any", "x86_64"])
def test_a_difference_is_shown(getpid, getpid_enoent, entry):
    document = ask(getpid, getpid_enoent, "--entry", entry)
    assert document["verdict"] == "different" and all("disagreement" not in side for side in document["sides"])
    agrees(document["witness"])
    if entry == "any":
        assert document["witness"]["data"]["words"][4:] == [0] * 12
    text = run("kernel", getpid, getpid_enoent, "--entry", entry)
    assert text.status == 1 and "verdict   different: the kernel's answers differ" in text.out


def test_given_inputs_are_asked(asm, tmp_path):
    rare = asm("ld [48]\nmul #0x9e3779b1\njeq #0x12345678, a1, b1\na1: ret #0\nb1: ret #0x7fff0000\n")
    never = asm("ret #0x7fff0000\n")
    solution = 0x12345678 * pow(0x9E3779B1, -1, 1 << 32) % (1 << 32)
    (tmp_path / "inputs").write_bytes(struct.pack("<16I", *[0] * 12, solution, 0, 0, 0))
    quiet = ["--max-inputs", "0", "--random", "8"]
    assert ask(rare, never, *quiet)["verdict"] == "pass"
    assert ask(rare, never, *quiet, "--inputs", str(tmp_path / "inputs"))["verdict"] == "different"


def test_a_refused_program(asm):
    done = run("kernel", asm("ld [1]\nret a\n"))
    assert done.status == 4 and "instruction 0" in done.err and not done.out


def forbid(call):
    """A child in which `call` fails with EPERM."""
    def install():
        program = struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, call, 0x06, 0, 0, ERRNO_EPERM, 0x06, 0, 0, ALLOW)
        buffer = ctypes.create_string_buffer(program, len(program))
        fprog = struct.pack("@HP", 4, ctypes.addressof(buffer))
        libc = ctypes.CDLL(None)
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.syscall(SYS_SECCOMP, 1, 0, fprog) == 0
    return install


@pytest.mark.parametrize("call, says", [(SYS_SECCOMP, "seccomp is not permitted here"), (SYS_PTRACE, "ptrace is not permitted here")])
@pytest.mark.parametrize("command", [["kernel"], ["fuzz", "--evaluator", "kernel", "--trials", "5"]])
def test_where_it_is_not_permitted(getpid, call, says, command):
    ask(getpid)  # or it is skipped
    arguments = command + ([str(getpid)] if command == ["kernel"] else [])
    done = run(*arguments, preexec_fn=forbid(call))
    assert done.status == 3 and says in done.err and not done.out, done


def test_a_process_with_a_filter_is_not_asked_about_real_calls(getpid):
    ask(getpid)
    done = run("kernel", getpid, "--entry", "x86_64", preexec_fn=forbid(1 << 30))
    assert done.status == 3 and "has a seccomp filter already" in done.err
    assert run("kernel", getpid, preexec_fn=forbid(1 << 30)).status == 0


def test_the_kernel_as_an_evaluator(getpid):
    ask(getpid)
    done = run("fuzz", "--evaluator", "kernel", "--trials", "300", "--json")
    document = json.loads(done.out)
    assert done.status == 0 and document["verdict"] == "pass" and document["answered"] > 290, document


@pytest.mark.parametrize("arguments, says", [
    (["--programs", "0"], "--programs"),
    (["a", "b", "c"], "input"),
    (["/nowhere"], "/nowhere"),
    ([SYSTRAP[1], "--entry", "arm"], "--entry"),
    ([SYSTRAP[1], "--inputs", SYSTRAP[1] + "x"], "x: "),
])
def test_wrong_usage(arguments, says):
    done = run("kernel", *arguments)
    assert done.status == 2 and says in done.err and not done.out
