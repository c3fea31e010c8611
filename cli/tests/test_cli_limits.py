"""Tests `unknown` (status 3), `rejected` (status 4), and interruption: no pass, no delay, and no files left behind."""

import os
import signal
import subprocess
import time

import pytest
from cli_tool import HARD_AFTER, HARD_BEFORE, accept, binary, listed, program, report, run, write_raw


@pytest.mark.parametrize("command", ["prove", "check"])
@pytest.mark.parametrize("limit", [0.001, 1])
def test_a_time_limit_gives_unknown(command, limit, hard):
    document, done = report(command, *hard, "--timeout", limit)
    assert (document["verdict"], done.status) == ("unknown", 3)
    reason = document["detail" if command == "prove" else "reason"]
    # Diagrams get half of the time, so in a short time their own limit may be the last one reached.
    assert "time limit of %s s" % limit in reason or (limit < 1 and "limit of nodes, steps or time" in reason)
    text = run(command, *hard, "--timeout", limit)
    assert text.status == 3 and "unknown" in text.out.splitlines()[-1]


def test_proofs_of_edges_share_one_time_limit(asm):
    # The difference of the two is 0, so three branches are infeasible. This is hard to prove.
    text = HARD_BEFORE + "st M[1]\n" + HARD_AFTER + "ldx M[1]\nsub x\n" + "".join(
        "jeq #0, n%d\nret #%d\nn%d: add #1\nsub #1\n" % (i, i, i) for i in range(3)) + "ret #0x7fff0000\n"
    path = asm(text)
    document, done = report("cover", path, "--timeout", 1)
    assert (document["verdict"], done.status) == ("unknown", 3)
    assert len(document["open"]) == 6 and document["feasible"] == [] and document["infeasible"] == []
    document, done = report("check", path, path, "--timeout", 4)
    assert done.status == 3 and document["proof"]["verdict"] == "equivalent"  # both sides have the same terms, so only edges are undecided
    assert document["reason"].endswith("neither covered nor proven infeasible: no time left")
    assert len(document["coverage"]["open"]) == 6
    text = run("cover", path, "--timeout", 0.5)
    assert text.status == 3 and text.out.count("undecided: instruction") == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_proof_is_unknown(number, hard, tmp_path):
    smt2 = tmp_path / "query.smt2"
    process = subprocess.Popen([binary(), "prove", *hard, "--timeout", "600", "--emit-smt2", smt2], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(1000):
        if smt2.exists():  # written before the solver starts
            break
        time.sleep(0.01)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and b"unknown" in out and b"interrupted" in err
    assert listed(tmp_path) == ["hard1.asm", "hard2.asm", "query.smt2"]


ILLEGAL = {
    "last_not_ret": ("ld [0]", 0), "unknown_code": (".raw 0xff, 0, 0, 0\nret a", 0), "div_by_zero": ("div #0\nret a", 0),
    "shift_range": ("ld [0]\nlsh #32\nret a", 1), "mem_index": ("st M[16]\nret a", 0), "mem_unset": ("ld M[3]\nret a", 0),
    "jump_range": (".raw 0x15, 0, 9, 0\nret a", 0), "load_offset": ("ld [2]\nret a", 0), "not_seccomp": ("mod #3\nret a", 0),
    "ancillary": (".raw 0x20, 0, 0, 0xfffff001\nret a", 0),
}


@pytest.mark.parametrize("rule", ILLEGAL)
def test_illegal_programs_are_rejected_by_every_command(rule, asm, getpid):
    text, pc = ILLEGAL[rule]
    assert accept(program(text)) == (rule, pc)
    path = asm(text)
    document, done = report("validate", path)
    refusal = document["results"][0]["refusal"]
    assert (done.status, refusal["rule"], refusal["instruction"]) == (4, rule, pc)
    where = "%s at instruction %d" % (rule, pc)
    for args in (["prove", path, getpid], ["prove", getpid, path], ["run", path], ["run", getpid, path], ["cover", path],
                 ["check", path], ["check", path, getpid], ["check", getpid, path]):
        document, done = report(*args)
        assert done.status == 4, args
        assert where in document.get("detail", document.get("reason", "")), args
        text = run(*args)
        assert text.status == 4 and where in text.out + text.err, args
    text = run("optimize", path)
    assert text.status == 4 and where in text.err and text.out == ""
    assert run("dis", path).status == run("asm", path, raw=True).status == 0  # disassembling it is allowed


def test_an_optimized_program_that_is_too_long_is_rejected(tmp_path, getpid):
    long = tmp_path / "long.bpf"
    long.write_bytes(write_raw(program("ld [0]\n.repeat 4095\nadd #0\n.endrepeat\nret a\n")))
    short = tmp_path / "short.bpf"
    short.write_bytes(write_raw(program("ld [0]\nret a\n")))
    document, done = report("check", short, long)
    assert (done.status, document["verdict"]) == (4, "rejected")
    assert document["after"]["refusal"]["rule"] == "length" and "4097" in document["reason"]
    assert report("check", short, long, "--any-length")[1].status == 0
    document, done = report("check", long, short)
    assert done.status == 0 and not document["before"]["installable"]
    document, done = report("prove", short, long)
    note = "secequiv: note: %s has 4097 instructions, more than the 4096 that the kernel accepts; secequiv examines it anyway\n" % long
    assert done.status == 0 and done.err == note
    assert document["before"] == [{"name": str(short), "instructions": 2, "installable": True}]
    (after,) = document["after"]
    assert (after["installable"], after["refusal"]["rule"]) == (False, "length")
    for args in (["run", long], ["cover", long], ["validate", "--any-length", long]):
        assert run(*args).err == note
    assert run("validate", long).err == "" and run("cover", short).err == ""
    assert run("optimize", long, "--passes", "thread-jumps").err == note + note.replace(str(long), "the result")
    assert report("validate", long)[1].status == 4
    assert report("validate", long, "--any-length")[1].status == 0
    assert report("run", long)[1].status == report("cover", long)[1].status == 0
    longest = tmp_path / "longest.bpf"
    longest.write_bytes(write_raw(program("ld [0]\n.repeat 4094\nadd #0\n.endrepeat\nret a\n")))
    assert report("validate", longest)[1].status == report("check", short, longest)[1].status == 0


def test_a_program_of_200000_instructions_is_read(tmp_path):
    path = tmp_path / "many.asm"
    path.write_text("ret a\n" * 200000)
    document, done = report("validate", path)
    assert done.status == 4 and document["results"][0]["instructions"] == 200000
    assert os.path.getsize(path) < 16 << 20


# Copies its input if it can map 1,500 MiB, which it does not touch. Otherwise it fails silently.
MAPS_MUCH = """#!/usr/bin/env python3
import mmap, os, sys
program = sys.stdin.buffer.read()
try:
    mmap.mmap(-1, 1500 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
except OSError:
    os._exit(1)
sys.stdout.buffer.write(program)
"""


def test_only_a_given_memory_limit_is_one_of_commands_under_test(tmp_path, getpid):
    optimizer = tmp_path / "optimizer"
    optimizer.write_text(MAPS_MUCH)
    optimizer.chmod(0o755)
    command = ("check", getpid, "--optimizer", optimizer, "--form", "raw")
    done = run(*command)
    assert done.status == 0, done
    done = run(*command, "--max-memory", 500)
    assert done.status != 0 and "the limit of all work left it" in done.out + done.err, done
