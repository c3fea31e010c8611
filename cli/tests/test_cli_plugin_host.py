"""Tests plugin-host, the subcommand that runs plugins: it is hidden, and it exchanges frames."""
# This test also runs in the preset asan.

import os
import struct
import subprocess
from pathlib import Path

from cli_tool import binary, run

EXAMPLE = Path(os.environ.get("SECEQUIV_BIN", ".")).resolve().parent / "adapter_subjects" / "plugin_example.so"


def frame(body):
    return struct.pack("<I", len(body)) + body


def test_the_command_is_hidden_from_the_help():
    assert "plugin-host" not in run("--help").out


def test_requests_are_answered_until_the_input_ends():
    program = struct.pack("<HBBI", 6, 0, 0, 7)
    done = run("plugin-host", EXAMPLE, stdin=frame(b"F") + frame(b"O" + program + program) + frame(b"S" + program) + frame(b"X"), raw=True)
    assert (done.status, done.err) == (0, "")
    assert done.out == (frame(b"\0OCE") + frame(b"\0" + program) + frame(b"\1it does not report its passes") +
                        frame(b"\1expected a request of kind O, S, R, C or E, found kind 0x58"))


def test_malformed_requests_are_errors():
    for stdin, detail in [(b"\5", "expected a complete request, found only a part"),
                          (frame(b"O1234")[:-1], "expected a complete request, found only a part"),
                          (b"\xff\xff\xff\xff", "expected a request of at most 268435456 bytes, found 4294967295")]:
        done = run("plugin-host", EXAMPLE, stdin=stdin, raw=True)
        assert (done.status, done.out) == (2, b"") and detail in done.err
    empty = run("plugin-host", EXAMPLE, stdin=frame(b""), raw=True)
    assert empty.out == frame(b"\2expected a request, found an empty frame")


def test_a_missing_plugin_is_an_error(tmp_path):
    done = run("plugin-host", tmp_path / "none.so", stdin=frame(b"F"), raw=True)
    assert done.status == 2 and b"cannot open shared object file" in done.out
    assert done.err.startswith("secequiv: %s: " % (tmp_path / "none.so"))
    assert run("plugin-host").status == 2


def test_an_unwritable_output_is_an_error():
    with open("/dev/full", "wb") as full:
        process = subprocess.run([binary(), "plugin-host", EXAMPLE], input=frame(b"F"), stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert process.returncode == 2 and b"cannot write: No space left on device" in process.stderr
