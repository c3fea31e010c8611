"""Tests that every adapter follows the served protocol: it sends the right statuses in the order of requests, and never hangs."""
# Annex: adapters

import struct
import subprocess

import frames
import pytest
from built_adapters import ROOT, built

NAMES = sorted(step.parent.name for step in (ROOT / "adapters").glob("*/build"))
KINDS = {"bpfvm": "E", "ceccomp": "O", "elastic": "C", "gvisor": "OCE", "kafel": "C", "libpcap": "E", "libseccomp": "C", "lightbpf": "OE",
         "netbpf": "OE", "podman": "C", "runc": "C", "seccompiler": "C", "seccompy": "C"}
AARCH64 = ("libseccomp", "seccompiler")  # compilers for this architecture
RET = [(0x06, 0, 0, 0x7FFF0000)]
POLICY = ('{"normal_form": 1, "name": "%s", "default_action": %d, "bad_arch_action": 2147483648,'
          ' "arches": [{"name": "aarch64", "audit": 3221225655, "big_endian": false}], "ranges": [], "hot": [], "rules": []}')
REQUESTS = {
    "O": frames.optimize(RET),
    "C": frames.compile_policy(POLICY % ("", 196608)),
    "E": frames.evaluate(RET, [bytes(64)]),
}


def ended(name, raw):
    """Returns (exit status, standard output) of an adapter that receives only these bytes."""
    done = subprocess.run([str(built(name))], input=raw, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    return done.returncode, done.stdout


def frame(body):
    return struct.pack("<I", len(body)) + body


def test_every_adapter_is_tested():
    assert sorted(KINDS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_requests_that_an_adapter_does_not_implement_are_unsupported(served, name):
    """An adapter answers "unsupported" to kinds of requests that it does not implement."""
    adapter = served(name)
    for kind in "OE":
        status, body = adapter.ask(REQUESTS[kind])
        assert status == (frames.ANSWERED if kind in KINDS[name] else frames.UNSUPPORTED), body
        assert kind in KINDS[name] or body.decode().strip()
    assert "C" in KINDS[name] or adapter.ask(REQUESTS["C"])[0] == frames.UNSUPPORTED


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("request_", [b"", b"o", b"\0" * 10, b"X" + b"1" * 8, b"S" + frames.encode(RET)], ids=repr)
def test_unknown_kinds_of_requests_are_unsupported(served, name, request_):
    """An adapter answers "unsupported" to an unknown kind, because the protocol may get more kinds."""
    adapter = served(name)
    status, body = adapter.ask(request_)
    assert status == (frames.UNSUPPORTED if request_ else frames.REFUSED) and body.decode().strip()
    assert adapter.ask(b"X")[0] == frames.UNSUPPORTED  # it still answers


BAD_PROGRAMS = [b"", b"1234567", frames.encode(RET) + b"1"]
BAD_EVALUATIONS = [b"", b"\1\0\0", struct.pack("<I", 2) + frames.encode(RET), struct.pack("<I", 0),
                   struct.pack("<I", 0xFFFFFFFF) + bytes(64), struct.pack("<I", 1) + frames.encode(RET) + bytes(63)]


@pytest.mark.parametrize("name", [name for name in NAMES if "O" in KINDS.get(name, "")])
@pytest.mark.parametrize("body", BAD_PROGRAMS, ids=repr)
def test_refuses_bytes_that_are_not_a_program(served, name, body):
    assert served(name).ask(b"O" + body)[0] == frames.REFUSED


@pytest.mark.parametrize("name", [name for name in NAMES if "E" in KINDS.get(name, "")])
@pytest.mark.parametrize("body", BAD_EVALUATIONS, ids=lambda body: repr(body[:12]))
def test_refuses_malformed_evaluation_requests(served, name, body):
    assert served(name).ask(b"E" + body)[0] == frames.REFUSED


@pytest.mark.parametrize("name", NAMES)
def test_answers_many_requests_in_order(served, name):
    """Neither all requests nor all answers fit into a pipe at once."""
    expected = None
    if KINDS[name] == "O":
        requests = [frames.optimize([(0x06, 0, 0, 0x50000 + i)]) for i in range(60)]
    elif "E" in KINDS[name]:
        requests = [frames.evaluate([(0x06, 0, 0, i)], [bytes(64)] * 50) for i in range(200)]
        expected = [[i] * 50 for i in range(200)]
    else:
        numbers = [0x50000 + 100 + i for i in range(60)]
        requests = [frames.compile_policy(POLICY % ("-" * 4000, number)) for number in numbers]
    answers = served(name).ask_many(requests)
    if expected is not None:
        assert [frames.values(body) for _, body in answers] == expected
    elif KINDS[name] == "O":
        assert [frames.optimize(frames.decode(body)) for _, body in answers] == requests
    elif name in AARCH64:
        for number, (status, body) in zip(numbers, answers):
            assert status == frames.ANSWERED
            assert number in [insn[3] for insn in frames.decode(body)]


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_exits_when_its_input_ends(name):
    assert ended(name, b"") == (0, b"")
    status, out = ended(name, frame(b"X"))
    assert status == 0 and len(out) > 5 and out[4] == frames.UNSUPPORTED


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("raw", [b"\1", b"\1\0\0", b"\2\0\0\0O", struct.pack("<I", 0x10000000) + b"E",
                                 struct.pack("<I", 0xFFFFFFFF) + b"C" * 100], ids=lambda raw: repr(raw[:8]))
def test_fails_if_input_ends_within_a_frame(name, raw):
    status, out = ended(name, raw)
    assert (status, out) == (2, b"")


@pytest.mark.parametrize("name", NAMES)
def test_refuses_unknown_arguments(name):
    done = subprocess.run([str(built(name)), "--nonsense"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=30)
    assert (done.returncode, done.stdout) == (2, b"") and done.stderr
