"""What every test of adapters needs: the built adapters, the built secequiv, the second evaluator.

In the full test run an adapter that is not built fails its tests, unless its toolchain is missing; elsewhere it is skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILT = ROOT / "build" / "adapters"
FULL = bool(os.environ.get("SECEQUIV_FULL_TESTS"))

sys.path.insert(0, str(ROOT / "scripts"))

from frames import Served  # noqa: E402


def built(name):
    """Path of a built adapter; ends the test if there is none."""
    program, missing = BUILT / name, BUILT / (name + ".missing")
    if os.access(program, os.X_OK):
        return program
    if missing.is_file():
        pytest.skip("%s cannot be built here: %s" % (name, missing.read_text().strip()))
    why = "build/adapters/%s is not there: scripts/adapters %s builds it" % (name, name)
    if FULL:
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture
def served():
    """served(NAME, ARGUMENT...): a running adapter. It must end by itself, without an error, when the test does."""
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
    """secequiv(ARGUMENT...): a finished run of the command line."""
    folder = os.environ.get("SECEQUIV_BIN")
    if not folder:
        pytest.skip("SECEQUIV_BIN names no folder with a built secequiv")

    def run(*arguments):
        command = [str(Path(folder).resolve() / "secequiv")] + [str(argument) for argument in arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    return run
