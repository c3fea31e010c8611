"""Tests the asker as an ordinary process, against the running kernel."""

import json
import os
import platform
import struct
import subprocess

import pytest

from kernel import check, image
from naive.naive import Insn

from .conftest import Process

ERRNO = check.ERRNO
KILLED = check.KILLED
RETURN_7 = [Insn(0x06, 0, 0, ERRNO | 7)]
ALLOW = [Insn(0x06, 0, 0, 0x7FFF0000)]


def call(nr=0, **words):
    """A call whose words are given as w4 to w15."""
    return struct.pack("<16I", nr, 0, 0, 0, *(words.get("w%d" % i, 0) for i in range(4, 16)))


def answers(served, program, calls, entry=0):
    status, body = served.ask(check.ask_frame(entry, program, calls))
    assert status == 0, body
    return list(struct.unpack("<%dI" % len(calls), body))


def refusal(served, request, status=2):
    got, body = served.ask(request)
    assert got == status
    return body.decode()


def test_information_comes_from_the_running_kernel(served):
    status, body = served.ask(b"I")
    info = json.loads(body)
    assert status == 0
    assert (info["arch"], info["release"], info["version"]) == ("native", platform.release(), platform.version())
    entry, = info["entries"]
    assert entry["name"] == "native"
    audit = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine())
    if audit is not None:
        assert entry == {"name": "native", "audit": audit, "long_bits": 64, "nr_mask": 0xFFFFFFFF, "high_words": "own"}
        assert info["big_endian"] is False


def test_acceptance_of_the_corpus_is_that_of_the_kernel(served):
    count, differences = check.acceptance(served.ask)
    assert count > 100
    assert differences == []


def test_acceptance_of_lengths_that_the_interface_cannot_express(served):
    longest = [Insn(0x00, 0, 0, 1)] * 4095 + RETURN_7
    frame = check.accept_frame([longest, [Insn(0x00, 0, 0, 1)] + longest, [], RETURN_7 * 65536, RETURN_7 * 65537, RETURN_7])
    assert served.ask(frame) == (0, bytes([1, 0, 0, 0, 0, 1]))


def test_random_programs_return_what_the_naive_evaluator_says(served):
    info = json.loads(served.ask(b"I")[1])
    evaluations, differences = check.evaluation(served.ask, info, 0, programs=40, calls=50, seed=5)
    assert evaluations == 2000
    assert differences == []


def test_every_word_that_a_caller_chooses_reaches_the_filter(served):
    words = {"w%d" % i: 0x10203040 * i & 0xFFFFFFFF for i in range(4, 16)}
    for i in (0, *range(4, 16)):
        program = [Insn(0x20, 0, 0, 4 * i), Insn(0x54, 0, 0, 0xFFF), Insn(0x44, 0, 0, ERRNO), Insn(0x16, 0, 0, 0)]
        assert answers(served, program, [call(0xABCDE, **words)]) == [(0xABCDE if i == 0 else words["w%d" % i]) & 0xFFF]


def test_error_numbers_end_at_4095(served):
    for value, want in ((0, 0), (1, 1), (4095, 4095), (4096, 4095), (0xFFFF, 4095)):
        assert answers(served, [Insn(0x06, 0, 0, ERRNO | value)], [call()]) == [want]


def test_a_division_by_zero_kills_and_the_next_call_goes_on(served):
    program = [Insn(0x20, 0, 0, 16), Insn(0x07, 0, 0, 0), Insn(0x00, 0, 0, 12), Insn(0x3C, 0, 0, 0), Insn(0x44, 0, 0, ERRNO), Insn(0x16, 0, 0, 0)]
    calls = [call(w4=value) for value in (0, 3, 0, 0, 4, 12, 0)]
    assert answers(served, program, calls) == [KILLED, 4, KILLED, KILLED, 3, 1, KILLED]


def test_no_call_is_run(served, tmp_path):
    """mkdir with a pointer to nothing would fail with EFAULT; under the guard the error is 4095."""
    mkdir = {"x86_64": 83}.get(platform.machine(), 34)
    assert answers(served, ALLOW, [call(mkdir), call(0xFFFFFFFF)]) == [4095, 4095]
    returned = [Insn(0x20, 0, 0, 16), Insn(0x16, 0, 0, 0)]
    assert answers(served, returned, [call(mkdir, w4=0x7FFF0000), call(mkdir, w4=0x7FFC0000), call(mkdir, w4=ERRNO | 9)]) == [4095, 4095, 9]


def test_a_program_that_the_kernel_refuses_is_refused_with_its_reason(served):
    assert refusal(served, check.ask_frame(0, [Insn(0x20, 0, 0, 64)] + RETURN_7, [call()])) == "Invalid argument"
    assert refusal(served, check.ask_frame(0, [], [call()])) == "Invalid argument"
    assert refusal(served, check.ask_frame(0, RETURN_7 * 70000, [call()])) == "a program of this length cannot be given to the kernel"
    assert answers(served, RETURN_7, [call()]) == [7]


def test_a_request_without_calls_only_installs_the_program(served):
    assert answers(served, RETURN_7, []) == []
    assert refusal(served, check.ask_frame(0, [Insn(0x99, 0, 0, 0)], [])) == "Invalid argument"


@pytest.mark.parametrize("request_", [b"Q", b"Q\0", b"Q\0\1\0\0", b"Q\0\xff\xff\xff\xff", b"Q\0\1\0\0\0" + bytes(7), b"Q\0\0\0\0\0" + bytes(63), b"A", b"A\1\0\0",
                                      b"A\xff\xff\xff\xff", b"A\1\0\0\0\xff\xff\xff\xff", b"A\1\0\0\0\2\0\0\0" + bytes(8), b"A\0\0\0\0\0", b"K", b"K" + bytes(11), b"K" + bytes(8) + b"\xff" * 4, b"C", b"C\0\0\0\0", b"C\0\0\0\0" + bytes(7), b"C\0\0\0\0" + bytes(520),
                                      b"C\1\0\0\0" + bytes(8)[:3], b"C\xff\xff\xff\xff" + bytes(8)])
def test_garbage_is_refused_and_the_next_request_is_answered(served, request_):
    assert refusal(served, request_)
    assert answers(served, RETURN_7, [call()]) == [7]


def test_unknown_kinds_and_entries(served):
    assert refusal(served, b"") == "the request is empty"
    assert refusal(served, b"z", status=1) == "unknown kind of request: 122"
    assert refusal(served, check.ask_frame(1, RETURN_7, [call()])) == "there is no such entry: this kernel has 1"
    assert refusal(served, check.ask_frame(255, RETURN_7, [call()])) == "there is no such entry: this kernel has 1"


def test_a_frame_that_is_too_long_is_skipped(served):
    most = 16 << 20
    assert refusal(served, b"z" * most, status=1) == "unknown kind of request: 122"
    assert refusal(served, b"z" * (most + 1)) == "a request has at most %d bytes" % most
    assert answers(served, RETURN_7, [call()]) == [7]


@pytest.mark.parametrize("rest", [b"", b"\5\0", b"\5\0\0\0Q", b"\xff\xff\xff\xffQ", b"\xff\xff\xff\xff"])
def test_input_that_ends_within_a_frame_ends_the_asker(served, rest):
    assert answers(served, RETURN_7, [call()]) == [7]
    served.send(rest)
    served.process.stdin.close()
    assert served.process.stdout.read() == b""
    assert served.process.wait() == 0


def test_requests_may_wait_in_the_pipe(served):
    frames = [check.ask_frame(0, [Insn(0x06, 0, 0, ERRNO | i)], [call()] * i) for i in range(1, 20)]
    served.send(b"".join(struct.pack("<I", len(frame)) + frame for frame in frames))
    for i in range(1, 20):
        assert served.read() == (0, struct.pack("<I", i) * i)


def test_a_second_entry_is_asked_through_the_first(asker, seccomp):
    served = Process([str(asker), "one", "two=%s" % asker, "absent=/nonexistent/asker", "three=%s" % asker], stderr=subprocess.PIPE)
    try:
        info = json.loads(served.ask(b"I")[1])
        assert [entry["name"] for entry in info["entries"]] == ["one", "two", "three"]
        assert info["entries"][0] == {**info["entries"][1], "name": "one"}
        for entry in range(3):
            assert answers(served, RETURN_7, [call()] * 3, entry) == [7] * 3
        assert "there is no such entry" in refusal(served, check.ask_frame(3, RETURN_7, [call()]))
        assert refusal(served, check.ask_frame(1, [], [call()])) == "Invalid argument"
    finally:
        assert served.close() == 0
    assert served.process.stderr.read() == b"asker: no entry absent: /nonexistent/asker cannot be run\n"
    served.process.stderr.close()


def test_a_32_bit_entry_sees_its_own_arguments(asker, seccomp, compiler, tmp_path):
    """Needs a C library for 32 bits, which few machines have; scripts/kernels check tests the same in emulated machines."""
    program = tmp_path / "asker32"
    if subprocess.run([compiler, "-m32", "-static", *image.FLAGS, "-o", str(program), *map(str, image.sources())], capture_output=True).returncode != 0:
        pytest.skip("no C library for 32-bit programs")
    served = Process([str(asker), "native", "compat=%s" % program])
    try:
        entry = json.loads(served.ask(b"I")[1])["entries"][1]
        assert (entry["name"], entry["long_bits"], entry["high_words"]) == ("compat", 32, "zero")
        high = [Insn(0x20, 0, 0, 20), Insn(0x54, 0, 0, 0xFFF), Insn(0x44, 0, 0, ERRNO), Insn(0x16, 0, 0, 0)]
        assert answers(served, high, [call(w5=5)], 1) == [0]
        assert answers(served, high, [call(w5=5)], 0) == [5]
    finally:
        served.close()


def test_usage_without_a_name(asker):
    done = subprocess.run([str(asker)], stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 2
    assert done.stderr == b"usage: asker NAME [NAME=PROGRAM]...\n"


@pytest.mark.skipif(os.access("/proc/kcore", os.R_OK), reason="this kernel shows its memory; scripts/kernels check reads bitmaps there")
def test_without_the_kernels_memory_bitmaps_are_unsupported(served):
    assert refusal(served, b"K" + bytes(8) + b"\1\0\0\0", status=1) == "/proc/kcore cannot be opened"
    assert refusal(served, check.find_frame([RETURN_7], bytes(32)), status=1) in ("/proc/kcore cannot be opened", "seccomp cannot be suspended for a process")
    assert check.bitmap(served.ask, json.loads(served.ask(b"I")[1]), 0, True, 1) == ("unknown", [])
    assert answers(served, RETURN_7, [call()]) == [7]


def test_bitmaps_are_compared(served):
    """The kernel is replaced by one that has exactly one bitmap."""
    info = json.loads(served.ask(b"I")[1])
    kept = []

    def has_the_first(request, _):
        kept.append(request)
        return 0, bytes(8) * (request == kept[0])

    assert check.bitmap(has_the_first, info, 0, True, 1) == ("yes", [])
    for always, has_bitmap, text in ((bytes(8), True, "differs in one bit"), (b"", True, "lacks the bitmap"), (bytes(8), False, "has the bitmap")):
        compared, (difference,) = check.bitmap(lambda *_, always=always: (0, always), info, 0, has_bitmap, 1)
        assert compared == "no" and text in difference
    assert check.bitmap(lambda *_: (0, b""), info, 0, False, 1) == ("none", [])
