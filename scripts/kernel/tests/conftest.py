"""Builds the asker for this machine and talks to it, as to an ordinary process: it then asks the running kernel."""

import ctypes
import errno
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kernel import image  # noqa: E402

LIMIT = 600  # seconds for the end of a process


class Process:
    """A served program: sends requests and reads answers."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)

    def send(self, raw):
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def read(self):
        length, = struct.unpack("<I", self.process.stdout.read(4))
        body = self.process.stdout.read(length)
        return body[0], body[1:]

    def ask(self, request, _limit=None):
        self.send(struct.pack("<I", len(request)) + request)
        return self.read()

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture(scope="session")
def compiler():
    return next(name for name in ("clang-19", "gcc", "cc") if shutil.which(name))


@pytest.fixture(scope="session")
def asker(tmp_path_factory, compiler):
    """The asker for this machine."""
    program = tmp_path_factory.mktemp("asker") / "asker"
    subprocess.run([compiler, *image.FLAGS, "-o", str(program), *map(str, image.sources())], check=True)
    return program


@pytest.fixture(scope="session")
def seccomp():
    """Skips a test where filters cannot be installed."""
    # A null pointer: EFAULT means that the kernel would read a program.
    ctypes.CDLL(None, use_errno=True).prctl(22, 2, None)
    if ctypes.get_errno() != errno.EFAULT:
        pytest.skip("seccomp is not permitted here")


@pytest.fixture
def served(asker, seccomp):
    process = Process([str(asker), "native"])
    yield process
    process.close()
