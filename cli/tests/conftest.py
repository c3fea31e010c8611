"""Fixtures of the command line's tests."""

import signal

import cli_tool
import pytest


def pytest_sessionstart(session):
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # shells ignore SIGINT in background jobs, and child processes would inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        cli_tool.binary()
    except RuntimeError as error:
        pytest.exit(str(error), returncode=1)


@pytest.fixture
def asm(tmp_path):
    """Returns a function that writes bpf_asm text to a new file and returns the path."""
    def write(text, name="p%d.asm"):
        path = tmp_path / (name % len(list(tmp_path.iterdir())) if "%" in name else name)
        path.write_text(text if text.endswith("\n") else text + "\n")
        return path
    return write


@pytest.fixture
def getpid(asm):
    """Returns a filter that allows getpid and returns EPERM for all other calls."""
    return asm("ld [0]\njeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n", "getpid.asm")


@pytest.fixture
def getpid_enoent(asm):
    """Returns the filter of `getpid` with ENOENT instead of EPERM."""
    return asm("ld [0]\njeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50002\n", "getpid-enoent.asm")


@pytest.fixture
def hard(asm):
    """Returns two equivalent programs; the solver needs longer to prove this than a test may run."""
    return asm(cli_tool.HARD_BEFORE + "ret a\n", "hard1.asm"), asm(cli_tool.HARD_AFTER + "ret a\n", "hard2.asm")
