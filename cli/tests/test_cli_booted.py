"""Tests kernels that another program boots (`--on`, `--oracle kernel:NAME`) with kernel_guest.py, which answers as kernels of several
architectures do, and mistakes that must be found. The real kernels are compared by scripts/kernel_matrix.
"""
import json
import os
import shlex
import struct
import sys
from pathlib import Path

import pytest
from cli_tool import PROGRAMS, ROOT, STATUS, fits, run

GUEST = Path(__file__).with_name("kernel_guest.py")
PLANTED = ROOT / "scripts" / "kernel" / "planted.py"
FILTER = PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf"
ENTRIES = {"x86_64": ["x86_64", "i386"], "s390x": ["s390x", "s390"], "aarch64": ["aarch64", "arm"], "arm": ["arm"], "mips64": ["mips64", "mips"]}


def guest(arch, bug=""):
    return "serve:" + shlex.join([sys.executable, str(GUEST), arch, *([bug] if bug else [])])


def planted(arch, bug):
    return "serve:" + shlex.join([sys.executable, str(PLANTED), bug, sys.executable, str(GUEST), arch])


def ask(on, *arguments, kind="kernel"):
    done = run("kernel", "--on", on, "--json", *arguments)
    document = json.loads(done.out)
    assert fits(document) == kind and done.status == STATUS[document["verdict"]], done
    return document


@pytest.mark.parametrize("arch", ENTRIES)
def test_random_programs_agree_on_every_architecture(arch):
    document = ask(guest(arch), "--random-programs", "400", kind="kernel-check")
    assert document["verdict"] == "pass" and document["release"] == "6.1.0-fake" and document["booted_as"] == arch
    assert document["programs"] == 400 and document["evaluations"] > 1000 and "lacking" not in document
    assert "Linux 6.1.0-fake (booted as %s), " % arch in run("kernel", "--on", guest(arch), "--random-programs", "4").out


@pytest.mark.parametrize("arch, entry", [(arch, entry) for arch, entries in ENTRIES.items() for entry in ["any", *entries]])
def test_real_calls_show_what_each_entry_shows(arch, entry, asm, tmp_path):
    """The program's value depends on all words, also on those that 32-bit entries and s390x cut or extend."""
    text = "ld [0]\n" + "".join("tax\nld [%d]\nmul #31\nxor x\n" % (4 * word) for word in range(1, 16)) + "ret a\n"
    (tmp_path / "inputs").write_bytes(struct.pack("<16I", 0x12345, 0, 0, 0, *[0x80000001, 0xFFFFFFFF] * 6))
    document = ask(guest(arch), asm(text), "--entry", entry, "--inputs", tmp_path / "inputs", "--max-inputs", "50", "--random", "50")
    assert document["verdict"] == "pass" and document["entry"] == entry and document["sides"][0]["inputs"] > 50


@pytest.mark.parametrize("arch", ENTRIES)
@pytest.mark.parametrize("bug", ["halves", "division", "length"])
def test_a_planted_mistake_of_the_model_is_found(arch, bug):
    if bug == "length":  # the naive evaluator needs long for these
        document = ask(planted(arch, bug), "--random-programs", "8", kind="kernel-check")
        assert document["verdict"] == "different" and document["kernel_accepts"] is False
    else:
        document = ask(planted(arch, bug), "--random-programs", "2000", kind="kernel-check")
        assert document["verdict"] == "different" and document["disagreement"]["model"] != document["disagreement"]["kernel"]


def test_a_wrong_architecture_is_found(asm):
    program = asm("ld [4]\nret a\n")
    assert ask(guest("aarch64"), program, "--entry", "arm")["verdict"] == "pass"
    document = ask(planted("aarch64", "arch"), program, "--entry", "arm")
    assert document["verdict"] == "different"
    done = run("kernel", "--on", planted("s390x", "audit"), "--random-programs", "4")
    assert done.status == 2 and "our table has arch 0x80000016 for s390x, but the kernel has 0x80000017" in done.err, done


def test_a_wrong_number_is_found(asm):
    document = ask(guest("s390x", "numbers"), asm("ld [0]\nret a\n"), "--entry", "s390x")
    assert document["verdict"] == "different" and "disagreement" in document["sides"][0]


def test_a_kernel_that_refuses_what_the_model_accepts_is_found(asm):
    document = ask(guest("arm", "short"), asm("ld [0]\n" + "tax\n" * 4050 + "ret a\n"), "--max-inputs", "0", "--random", "4")
    assert document["verdict"] == "different" and document["sides"][0]["refused"] is True


def test_each_program_is_compared_by_itself(asm):
    paths = sorted((PROGRAMS / "libseccomp").glob("*.tree.bpf"))
    document = ask(guest("s390x"), "--each", *paths, "--max-inputs", "40", "--random", "20")
    assert document["verdict"] == "pass" and [side["name"] for side in document["sides"]] == list(map(str, paths))
    assert "witness" not in document and document["reason"] == "the kernel and the model agree; nothing is proven"
    # Two programs that differ are no disagreement if each is compared by itself.
    pair = [asm("ret #0\n", "a.asm"), asm("ret #1\n", "b.asm")]
    assert ask(guest("s390x"), *pair)["verdict"] == "different"
    assert ask(guest("s390x"), "--each", *pair)["verdict"] == "pass"


def test_an_old_kernel_lacks_what_the_model_has():
    document = ask(guest("s390x", "old"), "--random-programs", "8", kind="kernel-check")
    assert {"since": "4.14", "what": "SECCOMP_RET_LOG"} in document["lacking"]
    assert "  before Linux 4.14, unlike the model: SECCOMP_RET_LOG\n" in run("kernel", "--on", guest("s390x", "old"), "--random-programs", "8").out


def test_an_oracle_can_be_a_booted_kernel(getpid):
    done = run("check", getpid, getpid, "--oracle", "kernel:" + guest("s390x"), "--json")
    document = json.loads(done.out)
    assert done.status == 0 and document["oracle"]["who"] == "Linux 6.1.0-fake" and document["oracle"]["programs"][0]["inputs"] > 10
    done = run("check", getpid, getpid, "--oracle", "kernel:" + planted("s390x", "halves"), "--json")
    assert done.status == 1 and json.loads(done.out)["verdict"] == "fail", done


def test_a_difference_that_the_oracle_contradicts_is_not_stored(asm, tmp_path):
    stored = tmp_path / "expected.json"
    pair = asm("ld [16]\njeq #5, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n", "before.asm"), asm("ret #0x50001\n", "after.asm")
    for before in None, "kept":
        if before:
            stored.write_text(before)
        done = run("diff", *pair, "--write-expect", stored, "--oracle", "kernel:" + planted("x86_64", "halves"))
        assert done.status == 1 and done.out.splitlines()[-1].startswith("fail: our interpreter may be wrong: "), done
        assert (stored.read_text() if stored.exists() else None) == before
    assert run("diff", *pair, "--write-expect", stored, "--oracle", "kernel:" + guest("x86_64")).status == 1
    assert json.loads(stored.read_text())["schema"] == "secequiv.diff/1"


def test_a_kernel_without_an_answer_is_unknown(getpid):
    done = run("kernel", "--on", guest("s390x", "dies"), getpid)
    assert done.status == 3 and "panic: the guest is gone" in done.err and not done.out, done
    done = run("kernel", "--on", "serve:echo no emulator >&2; exit 3", getpid)
    assert done.status == 3 and "no emulator" in done.err
    done = run("kernel", "--on", guest("s390x", "garbage"), getpid)
    assert done.status == 5 and "expected 1 replies of 4 bytes, found 3 bytes" in done.err, done
    done = run("kernel", "--on", guest("s390x", "info"), getpid)
    assert done.status == 5 and "in the description of the kernel" in done.err


def test_a_name_means_the_script_that_boots_kernels(getpid, tmp_path):
    script = tmp_path / "kernels"
    script.write_text('#!/bin/sh\nif [ "$*" = "serve s390x --version 5.10" ]; then exec %s %s s390x old; fi\necho "wrong: $*" >&2; exit 2\n' % (sys.executable, GUEST))
    script.chmod(0o755)
    environment = {**os.environ, "SECEQUIV_KERNELS": str(script)}
    done = run("kernel", "--on", "s390x@5.10", getpid, env=environment)
    assert done.status == 0 and "Linux 4.9.0-fake (booted as s390x)" in done.out, done
    done = run("kernel", "--on", "vax", getpid, env=environment)
    assert done.status == 2 and "wrong: serve vax" in done.err and not done.out


@pytest.mark.parametrize("arguments, message", [
    (["--on", "serve:", FILTER], "expected a command, found none"),
    (["--on", "../x", FILTER], "expected ARCH, ARCH@VERSION or serve:COMMAND"),
    (["--each"], "--each: applies only to given programs"),
    ([FILTER, FILTER, FILTER], "expected one or two programs; --each compares any number by themselves"),
    (["--on", guest("s390x"), FILTER, "--entry", "i386"], "--entry: expected one of any, s390x, s390, found 'i386'"),
])
def test_wrong_usage_is_an_error(arguments, message):
    done = run("kernel", *arguments)
    assert done.status == 2 and message in done.err and not done.out, done
