"""Finds built adapters, and decides whether tests of missing adapters fail or are skipped.

Tests of an adapter that is not built are skipped if its toolchain is missing, and in every test run that is not full. In a full test run
(SECEQUIV_FULL_TESTS), all other such tests fail.
"""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "adapters"
FULL = bool(os.environ.get("SECEQUIV_FULL_TESTS"))

sys.path.insert(0, str(ROOT / "scripts"))


def built(name):
    """Returns the path of a built adapter. Ends the test if it is not built."""
    program, missing = BUILT / name, BUILT / (name + ".missing")
    if os.access(program, os.X_OK):
        return program
    if missing.is_file():
        pytest.skip("%s cannot be built here: %s" % (name, missing.read_text().strip()))
    why = "build/adapters/%s is not there: scripts/adapters %s builds it" % (name, name)
    if FULL:
        pytest.fail(why)
    pytest.skip(why)
