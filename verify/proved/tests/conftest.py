"""Builds verify/proved once for all tests, in build/proved. Where Coq or OCaml is missing, the tests are skipped."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1]
ROOT = FOLDER.parents[1]
BUILT = ROOT / "build" / "proved"
MISSING = 77  # exit status of the build if a tool is missing
for path in ("scripts", "cli/tests", "adapters/tests"):
    sys.path.append(str(ROOT / path))


@pytest.fixture(scope="session")
def built():
    """Returns the folder with the programs and with theorems.txt."""
    done = subprocess.run([str(FOLDER / "build"), str(BUILT)], capture_output=True, text=True)
    if done.returncode == MISSING:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILT
