"""Tests that `secequiv dump` prints the filters of processes and of commands, byte for byte."""
# This test also runs in the preset asan.
import signal
import struct
import subprocess
import sys
import time

import pytest
from cli_tool import binary, caught, run
from test_cli_kernel import SYS_PTRACE, forbid

# Installs one filter for each argument. The filter returns the argument as errno for call 1 << 30. Even arguments use seccomp(), odd ones
# prctl(). Then a child installs one more.
INSTALL = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
def program(number):
    return struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 1 << 30, 6, 0, 0, 0x50000 | number, 6, 0, 0, 0x7fff0000)
def install(number):
    raw = ctypes.create_string_buffer(program(number), 32)
    fprog = struct.pack("@HP", 4, ctypes.addressof(raw))
    done = libc.prctl(22, 2, fprog) if number % 2 else libc.syscall(317, 1, 0, fprog)
    assert done == 0
assert libc.prctl(38, 1, 0, 0, 0) == 0
bad = struct.pack("@HP", 1, ctypes.addressof(ctypes.create_string_buffer(struct.pack("=HBBI", 0x20, 0, 0, 1), 8)))
assert libc.syscall(317, 1, 0, bad) == -1  # refused: no filter
for argument in sys.argv[1:]:
    install(int(argument))
if os.fork() == 0:
    install(77)
    os._exit(0)
os.wait()
print("ready", flush=True)
sys.stdin.readline()
"""


def filter_of(number):
    return struct.pack("<" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 1 << 30, 6, 0, 0, 0x50000 | number, 6, 0, 0, 0x7FFF0000)


@pytest.fixture
def install(tmp_path):
    (tmp_path / "install.py").write_text(INSTALL)
    return [sys.executable, str(tmp_path / "install.py")]


def dump(*arguments, **options):
    done = run("dump", *arguments, **options)
    if done.status == 3:
        pytest.skip(done.err)
    return done


def test_filters_of_a_command_are_stored_in_order(install, tmp_path):
    done = dump("--to", "raw", "-o", tmp_path / "found.bpf", "--", *install, "2", "3")
    assert done.status == 0, done
    assert [(tmp_path / ("found.%d.bpf" % number)).read_bytes() for number in (1, 2, 3)] == [filter_of(number) for number in (2, 3, 77)]
    assert len(list(tmp_path.glob("found*"))) == 3 and "found.3.bpf: installed 3 of 3, by process" in done.err


def test_filters_are_printed_as_text(install, tmp_path):
    done = dump("--", *install, "5")
    assert done.status == 0 and "; installed 1 of 2, by process" in done.out and "return ERRNO(5 EIO)" in done.out
    assert "ready" in done.err  # the command's own output goes to standard error
    only = dump("--index", "1", "--to", "raw", "--", *install, "5", raw=True)
    assert only.out == filter_of(5)
    assert dump("--to", "c", "--", *install, "5").status == 2
    assert "expected 1 to 2, found 3" in dump("--index", "3", "--", *install, "5").err


def test_filters_of_a_process_are_stored_newest_first(install, tmp_path):
    process = subprocess.Popen([*install, "8", "9"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        done = dump("--pid", process.pid, "--to", "raw", "-o", tmp_path / "found")
        assert done.status == 0, done
        assert [(tmp_path / ("found.%d" % number)).read_bytes() for number in (1, 2)] == [filter_of(9), filter_of(8)]
        assert "filter 1 of 2 (the newest)" in done.err
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait(timeout=20) == 0  # the process continues
    finally:
        process.kill()


def test_a_process_without_filters_is_an_error(tmp_path):
    process = subprocess.Popen(["sleep", "60"])
    try:
        done = dump("--pid", process.pid)
        assert done.status == 2 and "process %d has no seccomp filter" % process.pid in done.err
    finally:
        process.kill()
        process.wait()
    done = dump("--pid", process.pid)
    assert done.status == 2 and "there is no such process" in done.err
    done = dump("--", "true")
    assert done.status == 2 and "true installed no seccomp filter" in done.err
    assert "ended with status 3" in dump("--", "sh", "-c", "exit 3").err
    done = dump("--", "/nowhere/command")
    assert done.status == 2 and "/nowhere/command: cannot be started: No such file" in done.err


def test_signals_and_stops_of_the_command_are_passed_on(tmp_path):
    script = "trap 'echo caught' USR1; kill -USR1 $$; (sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; echo end"
    done = dump("--", "sh", "-c", script, timeout=20)
    assert done.err.startswith("caught\nend\n") and done.status == 2


@pytest.mark.parametrize("round", range(5))
def test_an_interrupt_kills_the_command_and_is_reported(round, tmp_path):
    dump("--", "true")  # skips the test if the kernel is not available
    process = subprocess.Popen([binary(), "dump", "--", "sh", "-c", "while :; do /bin/true & /bin/true; wait; done"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not caught(process):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(round * 0.02)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 3 and not output and "interrupted after the command had installed 0 filters" in errors


def test_filters_installed_before_an_interrupt_are_stored(install, tmp_path):
    process = subprocess.Popen([binary(), "dump", "--to", "raw", "-o", tmp_path / "found.bpf", "--index", "2", "--", *install, "2", "3"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 3 and "interrupted after the command had installed 3 filters" in errors
    assert (tmp_path / "found.bpf").read_bytes() == filter_of(3)


def test_filters_are_read_without_process_vm_readv(install, tmp_path):
    done = dump("--index", "1", "--to", "raw", "--", *install, "2", raw=True, preexec_fn=forbid(310))
    assert done.out == filter_of(2)


def test_threads_with_other_filters_are_reported(tmp_path):
    script = tmp_path / "thread.py"
    script.write_text(INSTALL.split("bad =")[0] + """
import sys, threading
def other():
    install(6)
    print(threading.get_native_id(), flush=True)
    sys.stdin.readline()
threading.Thread(target=other).start()
""")
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        thread = process.stdout.readline().strip()
        done = dump("--pid", process.pid)
        assert "thread %s of process %d has 1 filter instead of 0" % (thread, process.pid) in done.err and done.status == 2
        done = dump("--pid", thread, "--to", "raw", raw=True)
        assert done.status == 0 and done.out == filter_of(6)
    finally:
        process.kill()
        process.wait()


def test_an_unwritable_output_is_reported_before_the_command_runs(tmp_path):
    done = dump("-o", tmp_path / "none" / "x.bpf", "--", "touch", tmp_path / "ran")
    assert done.status == 2 and "none/x.bpf" in done.err and not (tmp_path / "ran").exists()


def test_forbidden_ptrace_gives_unknown():
    done = run("dump", "--", "true", preexec_fn=forbid(SYS_PTRACE))
    assert done.status == 3 and "ptrace is not permitted here" in done.err and not done.out


@pytest.mark.parametrize("arguments, message", [
    ([], "expected --pid N, or a command after '--'"), (["--pid", "1", "--", "true"], "expected --pid N, or a command"),
    (["--pid", "0"], "--pid"), (["--pid", "x"], "--pid"), (["--pid", "1", "--index", "-5"], "--index"),
])
def test_wrong_usage_is_an_error(arguments, message):
    done = run("dump", *arguments)
    assert done.status == 2 and message in done.err and not done.out


def test_dumped_filters_can_be_proven_equivalent(install, tmp_path):
    dump("--index", "1", "--to", "asm", "-o", tmp_path / "one.asm", "--", *install, "2")
    (tmp_path / "two.bpf").write_bytes(filter_of(2))
    assert run("prove", tmp_path / "one.asm", tmp_path / "two.bpf").status == 0
