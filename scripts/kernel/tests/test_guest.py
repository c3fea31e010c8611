"""Tests scripts/kernels serve and check with a fake QEMU, which runs the asker as an ordinary process."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from as_module import load
from kernel import boards, check, guest
from naive.naive import Insn

from .conftest import Process

ROOT = Path(__file__).resolve().parents[3]
QEMU = boards.BOARDS["s390x"].qemu
FOUR = check.ask_frame(0, [Insn(0x06, 0, 0, check.ERRNO | 7)], [bytes(64)] * 4)
SEVENS = (0, struct.pack("<4I", 7, 7, 7, 7))

# Runs BODY with the port as the variable `port`.
FAKE = """#!%s
import os, re, sys, time
port = int(re.search("fd=([0-9]+)", " ".join(sys.argv)).group(1))
open(%r, "w").write(str(os.getpid()))
print("the kernel's console", flush=True)
%s
"""
ANSWER = "os.dup2(port, 0); os.dup2(port, 1); os.execv(%r, ['asker', 's390x'])"

# serve and check of scripts/kernels, with kernels that need no preparation.
DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, %r)
from as_module import load
kernels = load(Path(%r))
from kernel import image
kernels.prepare = lambda root, name, version: image.Kernel(Path("/nonexistent"), "1.2.3-test", "1.2.3-1")
sys.exit(kernels.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("audit, number, asked", [(0x80000008, 4095, 12287), (0xA0000008, 4000, 12192), (0x80000008, 3999, 3999), (0x80000008, 5000, 5000),
                                                   (0x40000008, 4000, 12192), (0x40000008, 4001, 4001), (0xC000003E, 4000, 4000)])
def test_numbers_that_show_the_stack_are_not_asked(audit, number, asked):
    call = struct.pack("<16I", number, *range(1, 16))
    assert check.determined({"audit": audit}, call) == struct.pack("<16I", asked, *range(1, 16))


class Fake:
    def __init__(self, folder, asker):
        self.folder = folder
        self.asker = asker
        self.pid_file = folder / "pid"

    def qemu(self, body, names=(QEMU,)):
        for name in names:
            (self.folder / name).write_text(FAKE % (sys.executable, str(self.pid_file), body))
            (self.folder / name).chmod(0o755)

    def answering(self):
        self.qemu(ANSWER % str(self.asker))

    def command(self, *arguments):
        driver = DRIVER % (str(ROOT / "scripts"), str(ROOT / "scripts/kernels"))
        patient = [] if "--boot-limit" in arguments else ["--boot-limit", "600"]  # the machine may be busy
        return [sys.executable, "-c", driver, *arguments, *patient]

    def environment(self):
        return {**os.environ, "PATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), env=self.environment(), capture_output=True, **options)

    def serve(self, *arguments):
        return Process(self.command("serve", "s390x", *arguments), env=self.environment(), stderr=subprocess.PIPE)

    def pid(self):
        """Returns the process of QEMU, or 0 if it was killed before it could write its number."""
        return int(self.pid_file.read_text() or 0) if self.pid_file.exists() else 0


@pytest.fixture
def fake(tmp_path, asker, seccomp):
    return Fake(tmp_path, asker)


def framed(*requests):
    return b"".join(struct.pack("<I", len(request)) + request for request in requests)


INFO = framed(b"\0" + json.dumps({"release": "r", "version": "v", "entries": []}).encode())


def gone(pid):
    """Whether a process ends; it may be a child of nobody here, so this asks /proc."""
    for _ in range(6000 if pid else 0):
        try:
            if Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return not pid


def test_answers_reach_the_client_in_order(fake):
    fake.answering()
    served = fake.serve()
    assert [served.ask(FOUR) for _ in range(3)] == [SEVENS] * 3
    assert served.ask(b"z")[0] == 1
    assert served.close() == 0
    assert b"kernels: s390x: Linux " in served.process.stderr.read()
    served.process.stderr.close()
    assert gone(fake.pid())


def test_all_requests_in_a_pipe_are_answered_before_the_end(fake):
    fake.answering()
    done = fake.run("serve", "s390x", input=framed(*[FOUR] * 300))
    assert done.returncode == 0
    assert done.stdout == (struct.pack("<I", 17) + b"\0" + SEVENS[1]) * 300


def test_a_long_frame_passes_both_ways(fake):
    fake.answering()
    calls = 200000
    frame = check.ask_frame(0, [Insn(0x06, 0, 0, check.ERRNO | 7)], [bytes(64)] * calls)
    done = fake.run("serve", "s390x", input=framed(frame))
    assert done.returncode == 0
    assert done.stdout == struct.pack("<I", 1 + 4 * calls) + b"\0" + struct.pack("<I", 7) * calls


@pytest.mark.parametrize("rest", [b"\5", b"\5\0\0\0", b"\5\0\0\0Q"])
def test_input_that_ends_within_a_frame_is_status_2(fake, rest):
    fake.answering()
    done = fake.run("serve", "s390x", input=framed(FOUR) + rest)
    assert done.returncode == 2
    assert b"the input ends within a frame" in done.stderr
    assert done.stdout == struct.pack("<I", 17) + b"\0" + SEVENS[1]


def test_without_qemu_the_status_is_3(fake):
    done = fake.run("serve", "s390x", input=framed(FOUR))
    assert done.returncode == 3
    assert done.stdout == b""
    assert done.stderr == b"kernels: qemu-system-s390x is not installed (Debian: qemu-system-misc)\n"


def test_a_folder_that_cannot_be_made_is_status_3(tmp_path):
    (tmp_path / "file").touch()
    done = subprocess.run([sys.executable, str(ROOT / "scripts/kernels"), "--folder", str(tmp_path / "file"), "serve", "s390x"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stdout == "" and done.stderr.startswith("kernels: ") and "Not a directory" in done.stderr


def test_a_kernel_that_ends_at_boot_is_status_3_with_its_last_lines(fake):
    fake.qemu("print('Kernel panic - not syncing'); sys.exit(1)")
    done = fake.run("serve", "s390x", input=framed(FOUR))
    assert done.returncode == 3
    assert done.stdout == b""
    assert done.stderr == b"kernels: the kernel ended: Kernel panic - not syncing\n  | the kernel's console\n  | Kernel panic - not syncing\n"


def test_a_kernel_that_does_not_answer_is_status_3_and_killed(fake):
    fake.qemu("time.sleep(1000)")
    done = fake.run("serve", "s390x", "--boot-limit", "3", input=framed(FOUR))
    assert done.returncode == 3
    assert done.stderr.startswith(b"kernels: the kernel did not answer within 3 s\n")
    assert gone(fake.pid())


def test_a_kernel_that_cannot_be_asked_is_status_3(fake):
    fake.qemu("os.write(port, b'\\7\\0\\0\\0\\2reason')\ntime.sleep(1000)")
    done = fake.run("serve", "s390x", input=framed(FOUR))
    assert done.returncode == 3
    assert done.stderr == b"kernels: the kernel cannot be asked: reason\n"


def test_a_kernel_that_ends_during_work_is_status_1(fake):
    fake.qemu("os.write(port, %r)\nos.read(port, 5)\nos.read(port, 4)\nprint('Oops', flush=True)" % INFO)
    served = fake.serve()
    served.send(framed(FOUR))
    assert served.process.stdout.read() == b""
    assert served.close() == 1
    assert served.process.stderr.read().endswith(b"kernels: s390x: the kernel ended: Oops\n  | the kernel's console\n  | Oops\n")
    served.process.stderr.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_qemu_ends_with_the_script(fake, how):
    fake.qemu("os.write(port, %r)\ntime.sleep(1000)" % INFO)  # it does not notice the end of the port
    served = fake.serve()
    assert served.process.stderr.readline().startswith(b"kernels: s390x: Linux r, v; it answered after ")
    assert Path("/proc/%d" % fake.pid()).exists()
    served.process.send_signal(how)
    assert served.process.wait() == {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}[how]
    assert gone(fake.pid())
    served.close()
    served.process.stderr.close()


def test_qemu_ends_when_the_client_dies_during_the_boot(fake):
    fake.qemu("time.sleep(1000)")
    served = fake.serve("--boot-limit", "1000")
    while not fake.pid_file.exists() or not fake.pid_file.read_text():
        time.sleep(0.01)
    served.process.stdin.close()
    assert served.process.wait() == 3
    assert gone(fake.pid())
    served.close()
    served.process.stderr.close()


def test_check_prints_a_table(fake):
    fake.answering()
    done = fake.run("check", "s390x", "--programs", "3", "--calls", "5", text=True)
    assert done.returncode == 0, done.stderr
    head, row = done.stdout.splitlines()
    assert head.split() == ["arch", "kernel", "version", "entry", "boot", "s", "accept", "programs", "evaluated", "per", "second", "bitmap", "differences"]
    cells = row.split()
    assert cells[:4] == ["s390x", "1.2.3-test", "1.2.3-1", "s390x"]
    assert int(cells[5]) > 100 and cells[6:8] == ["3", "15"] and float(cells[8]) > 0 and cells[9] in ("yes", "unknown") and cells[10] == "0"


def test_check_reports_a_kernel_that_is_not_available_and_goes_on(fake):
    fake.answering()
    done = fake.run("check", "ppc64el", "s390x", "--programs", "1", "--calls", "1", text=True)
    assert done.returncode == 3
    assert done.stderr == "kernels: ppc64el: qemu-system-ppc64 is not installed (Debian: qemu-system-ppc)\n"
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [["ppc64el", "not", "available"], ["s390x", "1.2.3-test", "1.2.3-1"]]


# A kernel that evaluates wrongly: every answer of four bytes and more has its first bit changed.
LIAR = """
import subprocess
real = subprocess.Popen([%r, 's390x'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def read(file, size):
    got = b''
    while len(got) < size:
        part = file(size - len(got))
        if not part:
            sys.exit(0)
        got += part
    return got
while True:
    head = read(lambda size: os.read(port, size), 4)
    body = read(lambda size: os.read(port, size), int.from_bytes(head, 'little'))
    real.stdin.write(head + body)
    real.stdin.flush()
    head = read(real.stdout.read, 4)
    answer = bytearray(read(real.stdout.read, int.from_bytes(head, 'little')))
    if body[:1] == b'%s' and len(body) < 2000000:
        answer[1] ^= 1
    os.write(port, head + answer)
"""


@pytest.mark.parametrize("kind, text", [("Q", "entry s390x: the kernel answers "), ("A", "vector ")])
def test_check_finds_a_kernel_that_differs(fake, kind, text):
    fake.qemu(LIAR % (str(fake.asker), kind))
    done = fake.run("check", "s390x", "--programs", "2", "--calls", "5", text=True)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[1].split()[10] == ("2" if kind == "Q" else "1")
    assert done.stderr.startswith("kernels: s390x: " + text)


@pytest.mark.parametrize("arguments, text", [
    (["serve", "sparc"], "invalid choice: 'sparc'"), (["serve"], "required: ARCH"), (["check", "sparc"], "no architecture 'sparc'; there are: amd64, "),
    (["fetch", "sparc"], "no architecture 'sparc'"), (["check", "--short", "s390x"], "--short chooses the architectures"), ([], "required: COMMAND")])
def test_wrong_usage_is_status_2(arguments, text, capsys):
    kernels = load(ROOT / "scripts/kernels")
    with pytest.raises(SystemExit) as ended:
        kernels.main(arguments)
    assert ended.value.code == 2
    assert text in capsys.readouterr().err


def test_frames_are_counted_however_they_are_cut():
    stream = framed(b"", b"a", b"bc" * 300, b"")
    for size in (1, 2, 3, 5, 7, 1000):
        counted = guest.FrameCount()
        for at in range(0, len(stream), size):
            counted.feed(stream[at:at + size])
        assert (counted.complete, counted.within) == (4, False)
    for end in range(1, len(stream)):
        counted = guest.FrameCount()
        counted.feed(stream[:end])
        assert counted.within == (end not in (4, 9, 613))


def test_every_board_has_a_command_without_network():
    for name, board in boards.BOARDS.items():
        command = guest.command(board, "kernel", "initramfs", 7)
        assert command[0] == board.qemu
        assert " ".join(command).count("-nic none") == 1 and "-nodefaults" in command and "-no-reboot" in command
        assert command[command.index("-append") + 1].split(" -- ")[1].split()[0] == board.entries[0].name, name
