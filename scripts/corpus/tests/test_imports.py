"""Tests that the formats' own tools, if they are installed, make exactly the files in corpus/imports."""
# Annex: adapters

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "imports"


def test_the_stored_files_are_up_to_date():
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], stderr=subprocess.PIPE, text=True)
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
