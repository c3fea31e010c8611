"""Finds the build and runs commands for the tests of api. Slow tests run only in the development build."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cli" / "tests"))

from cli_tool import binary, fits  # noqa: E402, F401

BUILD = Path(binary()).parents[1]
LIBRARY = BUILD / "lib" / "libsecequiv.so"


def run(*command, status=0, **options):
    """Runs a command that must exit with `status` (None: with any status); returns both outputs as one text."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert status is None or done.returncode == status, "%s: status %d\n%s" % (command, done.returncode, done.stdout)
    return done.stdout
