"""Fixtures that run adapters and the built secequiv."""

import os
import subprocess
from pathlib import Path

import pytest

from built_adapters import built
from frames import Served


@pytest.fixture
def served():
    """served(NAME, ARGUMENT...): starts an adapter and returns it. When the test ends, the adapter must end by itself and without
    an error."""
    running = []

    def start(name, *arguments, seconds=60):
        running.append(Served([built(name), *arguments], seconds))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            assert one.close() == 0


@pytest.fixture
def secequiv():
    """secequiv(ARGUMENT...): runs the command line and returns the finished process."""
    folder = os.environ["SECEQUIV_BIN"]

    def run(*arguments):
        command = [str(Path(folder).resolve() / "secequiv")] + [str(argument) for argument in arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    return run


@pytest.fixture
def normal_form(secequiv, tmp_path):
    """normal_form(TEXT): returns the policy in the form that the harness sends to a compiler (harness/adapter/PROTOCOL.md)."""

    def write(text):
        file = tmp_path / "policy-for-compiler.json"
        file.write_text(text)
        done = secequiv("import", "--as", "normal-form", file)
        assert done.returncode == 0, "%s\n%s" % (text, done.stderr)
        return done.stdout

    return write
