"""Tests that commands under test have no network and no privileges. If the machine does not permit a measure, secequiv reports this and
runs the command without the measure."""
# This test also runs in the preset asan.

import ctypes
import json
import os
import platform
import socket
import struct
import sys
import tempfile
from pathlib import Path

import pytest
from cli_tool import run

# Reports which operations succeeded, then prints a program.
PROBE = """
import ctypes, json, os, resource, socket, sys
port, where = int(sys.argv[1]), sys.argv[2]
def connects():
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError as error:
        return error.errno
def of(process="self"):
    return dict(line.split(":", 1) for line in open("/proc/%s/status" % process))
def error_of(what):
    try:
        what()
        return 0
    except OSError as error:
        return error.errno
def called(*call):
    if libc.syscall(*call) < 0:
        raise OSError(ctypes.get_errno(), "")
tool, libc = os.getppid(), ctypes.CDLL(None, use_errno=True)
while of(tool)["Name"].strip() != "secequiv":
    tool = int(of(tool)["PPid"])
status = of()
json.dump({"reads_tool": [error_of(lambda: open("/proc/%d/%s" % (tool, file), "rb").read(1)) for file in ("mem", "environ")],
           "traces": [error_of(lambda: called(*call)) for call in ((101, 9999, tool, 0, 0), (310, os.getpid(), 0, 0, 0, 0, 0))],
           "vsock": error_of(lambda: socket.socket(40, 1)), "uring": error_of(lambda: called(425, 1, 0)),
           "connects": connects(), "caps": [status[key].strip() for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
           "bounding": status["CapBnd"].strip(), "no_new_privs": status["NoNewPrivs"].strip(), "uid": [os.getuid(), os.geteuid()],
           "file_bytes": resource.getrlimit(resource.RLIMIT_FSIZE)[0], "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
           "unix": socket.socketpair()[0].fileno() > 0}, open(where, "w"))
print("ret #0")
"""
NONE = ["0" * 16] * 4
EPERM, EACCES, ENOSYS = 1, 13, 38
NOBODY = 65534
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # a Python that every user may run


@pytest.fixture
def probe():
    """Runs the probe as --before-cmd, with these options; returns what the probe could do, and the run."""
    folder = tempfile.TemporaryDirectory()  # not tmp_path, which other users cannot enter
    tmp_path = Path(folder.name)
    tmp_path.chmod(0o777)
    script = tmp_path / "probe.py"
    script.write_text(PROBE)
    listener = socket.create_server(("127.0.0.1", 0))

    def go(*options, **popen):
        where = tmp_path / "found.json"
        command = "%s %s %d %s" % (PYTHON, script, listener.getsockname()[1], where)
        done = run("check", "--before-cmd", command, *options, cwd=tmp_path, **popen)
        assert done.status == 0, done
        found = json.loads(where.read_text())
        where.unlink()
        return found, done
    yield go
    listener.close()
    folder.cleanup()


def confined(found):
    assert found["connects"] is not True, found
    assert found["caps"] == NONE and found["no_new_privs"] == "1", found
    assert found["file_bytes"] == 1 << 30 and found["core"] == 1 and found["unix"], found
    assert found["reads_tool"] == [EACCES] * 2, found
    assert found["vsock"] == EACCES and (found["uring"] == ENOSYS or platform.machine() != "x86_64"), found


def test_a_command_has_no_network_and_no_privileges(probe):
    found, done = probe()
    confined(found)
    assert found["uid"] == [os.getuid(), os.geteuid()]
    assert "note" not in done.err, done
    if os.geteuid() == 0 and "3fffffff" in open("/proc/self/status").read().split("CapEff:")[1].split()[0]:
        assert found["bounding"] == NONE[0]


def test_no_sandbox_keeps_network_and_privileges(probe):
    found, done = probe("--no-sandbox")
    assert found["connects"] is True and found["file_bytes"] == -1, found
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    assert found["no_new_privs"] == status["NoNewPrivs"].strip() and found["bounding"] == status["CapBnd"].strip()
    assert "note" not in done.err


def as_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user takes root")
def test_an_unprivileged_user_can_confine_commands(probe):
    found, done = probe(preexec_fn=as_nobody)
    confined(found)
    assert found["uid"] == [NOBODY, NOBODY] and "note" not in done.err, (found, done)


def refuse(*numbers):
    """Makes these system calls fail with EPERM, in this process and its children."""
    code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, nr) for i, nr in enumerate(numbers)]
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x50001)]
    insns = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *insn) for insn in code))
    program = struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(insns))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0


UNSHARE, SETNS, SECCOMP, CAPSET = 272, 308, 317, 126
x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86_64")


@x86_64
@pytest.mark.parametrize("refused", [(UNSHARE,), (SETNS,)])
def test_without_namespaces_a_filter_cuts_the_network_off(refused, probe):
    found, done = probe(preexec_fn=lambda: refuse(*refused))
    confined(found)
    assert found["connects"] == EACCES and "note" not in done.err, (found, done)


@x86_64
@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user takes root")
def test_a_filter_alone_keeps_other_processes_away(probe):
    def without():
        as_nobody()
        refuse(UNSHARE)
    found, _ = probe(preexec_fn=without)
    confined(found)
    assert found["connects"] == EACCES and found["traces"] == [EPERM] * 2, found


@x86_64
def test_a_reachable_af_vsock_is_reported_if_filters_are_forbidden(probe):
    found, done = probe(preexec_fn=lambda: refuse(SECCOMP))
    assert found["connects"] is not True and done.err.count("can use AF_VSOCK") == 1, (found, done)


@x86_64
def test_a_missing_confinement_is_reported_once(probe):
    found, done = probe("--after-cmd", "echo 'ret #0'", preexec_fn=lambda: refuse(UNSHARE, SECCOMP, CAPSET))
    assert found["connects"] is True, found
    assert done.err.count("have network access") == 1 and done.err.count("keep capabilities") == 1, done
    assert probe("--no-sandbox", preexec_fn=lambda: refuse(UNSHARE, SECCOMP, CAPSET))[1].err == ""


def test_optimizers_and_served_commands_are_confined(tmp_path):
    seen = tmp_path / "seen"
    for spec in ("grep NoNewPrivs /proc/self/status >> %s; cat" % seen, "serve:grep NoNewPrivs /proc/self/status >> %s; exit 1" % seen):
        run("fuzz", "--optimizer", spec, "--trials", "1", "--no-scaling", cwd=tmp_path)
    assert set(seen.read_text().split("\n")) == {"NoNewPrivs:\t1", ""}


def test_a_replay_keeps_the_option_no_sandbox(tmp_path):
    done = run("fuzz", "--optimizer", "exit 1", "--trials", "1", "--no-scaling", "--no-sandbox", "--save", "found", cwd=tmp_path)
    assert done.status == 5
    assert any("--no-sandbox" in path.read_text(errors="replace") for path in (tmp_path / "found").rglob("*") if path.is_file())
