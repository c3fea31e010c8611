"""Tests `--oracle kernel`: the running kernel evaluates every input of a command, and the report names the inputs that it could not run.

The kernel never disagrees here. analyze/check_pair_test.cc uses a wrong oracle to test that a disagreement fails.
"""
import json
import os
import struct

import pytest
from cli_tool import PROGRAMS, STATUS, agrees, fits, run
from test_cli_kernel import SYS_PTRACE, SYS_SECCOMP, ask, forbid
from test_cli_reports import Reports

SYSTRAP = [str(PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side)) for side in ("before", "after")]
EVERYTHING = [str(PROGRAMS / "gvisor" / ("systrap-everything.%s.bpf" % side)) for side in ("before", "after")]
ORACLE = ["--oracle", "kernel"]


@pytest.fixture(autouse=True)
def permitted(getpid):
    ask(getpid)  # skips the test if the kernel is not available


def report(command, *args, kind=None):
    done = run(command, *args, *ORACLE, "--json")
    document = json.loads(done.out)
    assert fits(document) == (kind or command) and done.status == STATUS[document["verdict"]], done
    if "witness" in document:
        agrees(document["witness"])
    assert document["oracle"]["who"] == "Linux " + os.uname().release
    return document


def asked(document):
    return [program["inputs"] for program in document["oracle"]["programs"]]


def test_check_runs_every_input_in_the_kernel():
    document = report("check", *SYSTRAP)
    assert document["verdict"] == "pass" and "oracle" not in json.loads(run("check", *SYSTRAP, "--json").out)
    assert [row["name"] for row in document["oracle"]["programs"]] == SYSTRAP
    assert asked(document) == [document["inputs"]["evaluations"]] * 2 and asked(document)[0] > 100000
    text = run("check", *SYSTRAP, *ORACLE)
    assert text.status == 0
    for name, inputs in zip(SYSTRAP, asked(document)):
        assert "oracle    Linux %s on %s: %d inputs, the same results as our interpreter\n" % (os.uname().release, name, inputs) in text.out


def test_check_runs_the_provers_inputs_in_the_kernel(getpid, getpid_enoent):
    document = report("check", getpid, getpid, "--max-inputs", "0")
    assert document["verdict"] == "pass" and document["inputs"]["derived"] == 0
    assert asked(document) == [document["inputs"]["evaluations"]] * 2 != [0, 0]
    document = report("check", getpid, getpid_enoent, "--max-inputs", "0")
    # In addition to the evaluated inputs, the kernel runs the input that was found and the one that is shown.
    assert document["verdict"] == "different" and asked(document) == [document["inputs"]["evaluations"] + 2] * 2


def test_fuzz_runs_its_inputs_in_the_kernel(getpid):
    document = report("fuzz", getpid, getpid, "--trials", "500", kind="check")
    assert document["verdict"] == "pass" and asked(document) == [document["inputs"]["evaluations"]] * 2


def test_a_program_too_long_to_be_installed_is_left_out():
    document = report("check", *EVERYTHING)
    before, after = document["oracle"]["programs"]
    assert document["verdict"] == "pass" and after["inputs"] == document["inputs"]["evaluations"]
    assert before["inputs"] == 0 and "4096" in before["not_asked"]
    assert document["reason"].endswith("did not run %s" % EVERYTHING[0])


def test_a_program_without_room_for_added_instructions_is_unknown(asm):
    full = asm("ld [0]\n" + "tax\n" * 4093 + "ret a\n", "full.asm")
    document = report("check", asm("ld [0]\nret a\n"), full, "--max-inputs", "0")
    assert document["verdict"] == "unknown" and document["proof"]["verdict"] == "equivalent"
    assert "no room" in document["oracle"]["programs"][1]["not_asked"] and "did not run" in document["reason"]
    done = run("run", full, *ORACLE)
    assert done.status == 4 and "no room" in done.err and str(full) in done.err and not done.out


def test_run_compares_the_result_with_the_kernel(getpid, getpid_enoent):
    document = report("run", getpid, getpid_enoent, "--nr", "getpid")
    assert document["verdict"] == "pass" and asked(document) == [1, 1]
    assert "verdict" not in json.loads(run("run", getpid, "--json").out)
    text = run("run", getpid, "--nr", "getpid", *ORACLE)
    assert text.out.splitlines()[-2:] == ["0x7fff0000 ALLOW", "oracle    Linux %s on %s: 1 input, the same results as our interpreter"
                                          % (os.uname().release, getpid)]


def test_run_does_not_run_calls_with_unknown_arguments_in_the_kernel(asm):
    path = asm("ld [0]\njeq #41, s, n\ns: ld [16]\njeq #1, n, y\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    record = "type=SECCOMP msg=audit(1.2:3): sig=0 arch=c000003e syscall=%d compat=0 ip=0x7f code=0x50000"
    done = run("run", path, "--audit", record % 41, *ORACLE)
    assert done.status == 3 and not done.out, done
    assert "%s: the oracle cannot run this call, because the result depends on arguments that the audit record does not have" % path in done.err
    assert report("run", path, "--audit", record % 39)["verdict"] == "pass"  # for call 39, the result does not depend on the arguments


def test_the_kernel_runs_inputs_that_no_call_can_have(asm):
    """The inputs have values of nr, arch and instruction pointer that occur on no machine; a division by zero ends the process."""
    words = [0x12345678, 0x9ABCDEF0, 1, 2] + [0] * 12
    path = asm("ld [0]\nst M[0]\nld [4]\nldx M[0]\nxor x\nst M[1]\nld [12]\nldx M[1]\nmul x\nret a\n")
    document = report("run", path, "--words", ",".join(map(str, words)))
    assert document["verdict"] == "pass" and int(document["result"]["value"], 16) == (words[0] ^ words[1]) * 2 % (1 << 32)
    document = report("run", asm("ldx #0\nld #1\ndiv x\nret #0x7fff0000\n"))
    assert document["verdict"] == "pass" and document["result"]["value"] == "0x00000000"


def test_prove_runs_the_witness_in_the_kernel(getpid, getpid_enoent):
    document = report("prove", getpid, getpid_enoent)
    assert document["verdict"] == "different" and asked(document) == [1, 1]
    document = report("prove", getpid, "%s,%s" % (getpid, getpid_enoent))
    assert document["verdict"] == "equivalent" and asked(document) == [0, 0, 0]
    assert all("no input" in row["not_asked"] for row in document["oracle"]["programs"])
    text = run("prove", getpid, getpid, *ORACLE)
    assert text.status == 0 and "Linux %s was not used: there is no witness\n" % os.uname().release in text.out
    text = run("prove", getpid, getpid_enoent, *ORACLE)
    assert text.status == 1 and text.out.count(": 1 input, the same results as our interpreter\n") == 2


def test_diff_runs_one_input_of_each_region_in_the_kernel(getpid, getpid_enoent, tmp_path):
    document = report("diff", getpid, getpid_enoent)
    regions = sum(len(change["regions"]) for change in document["changes"])
    assert document["verdict"] == "different" and asked(document) == [regions] * 2
    assert report("diff", getpid, getpid)["verdict"] == "equivalent"
    expected = tmp_path / "expected.json"
    assert run("diff", getpid, getpid_enoent, "--write-expect", expected, *ORACLE).status == 1
    assert "oracle" not in json.loads(expected.read_text())
    assert report("diff", getpid, getpid_enoent, "--expect", expected)["verdict"] == "pass"
    text = run("diff", getpid, getpid_enoent, "--expect", expected, *ORACLE)
    assert text.status == 0 and text.out.count(", the same results as our interpreter\n") == 2


@pytest.mark.parametrize("command", ["diff", "prove"])
def test_an_oracle_without_inputs_is_skipped(command, tmp_path):
    cases, results = Reports(tmp_path).run(command, "before.asm", "before.asm", *ORACLE, status=0)
    assert cases["oracle"].tag == "skipped" and results == []


def test_an_expected_difference_that_the_kernel_cannot_run_is_unknown(asm, tmp_path):
    pair = [asm("ret #0x7fff0000\n", "short.asm"), asm("ld #0\n" + "tax\n" * 4094 + "ret a\n", "full.asm")]
    reports, expected = Reports(tmp_path), tmp_path / "expected.json"
    assert run("diff", *pair, "--write-expect", expected).status == 1
    assert run("diff", *pair, "--expect", expected).status == 0
    done = run("diff", *pair, "--expect", expected, *ORACLE)
    assert done.status == 3 and done.out.splitlines()[-1].startswith("unknown: "), done
    cases, results = reports.run("diff", *pair, "--expect", expected, *ORACLE, status=3)
    assert cases["oracle"].tag == "error" and len(results) == 1
    # An unexpected difference fails, whatever the kernel ran. If nothing differs, there is nothing to run.
    nothing = tmp_path / "nothing.json"
    assert run("diff", pair[0], pair[0], "--write-expect", nothing).status == 0
    done = run("diff", *pair, "--expect", nothing, *ORACLE)
    assert done.status == 1 and done.out.splitlines()[-1].startswith("fail: not the same difference as in "), done
    done = run("diff", pair[0], pair[0], "--expect", nothing, *ORACLE)
    assert done.status == 0 and done.out.splitlines()[-1] == "pass: the difference is the expected one", done


COMMANDS = [["check"], ["fuzz", "--trials", "5"], ["prove"], ["diff"], ["run"]]


@pytest.mark.parametrize("call, message", [(SYS_SECCOMP, "seccomp is not permitted here"), (SYS_PTRACE, "ptrace is not permitted here")])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_forbidden_system_calls_give_unknown(getpid, command, call, message):
    done = run(*command, getpid, getpid, *ORACLE, preexec_fn=forbid(call))
    assert done.status == 3 and message in done.err and not done.out, done


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["kernle", "secequiv", "KERNEL", ""])
def test_an_unknown_oracle_is_an_error(getpid, command, name):
    done = run(*command, getpid, getpid, "--oracle", name)
    assert done.status == 2 and "--oracle" in done.err and not done.out
    assert "kernel" in done.err


def test_the_oracle_option_needs_a_pair(getpid):
    done = run("fuzz", "--optimizer", "identity", *ORACLE)
    assert done.status == 2 and "--oracle: applies only to a pair of programs" in done.err


def test_the_kernel_runs_programs_that_read_all_words(asm):
    """The program reads all 16 words, so some become constants, and the program is installed once for each combination."""
    text = "ld [0]\n" + "".join("tax\nld [%d]\nxor x\n" % (4 * word) for word in range(1, 16)) + "ret a\n"
    document = report("run", asm(text), "--words", ",".join(str(struct.unpack("<I", os.urandom(4))[0]) for _ in range(16)))
    assert document["verdict"] == "pass"
