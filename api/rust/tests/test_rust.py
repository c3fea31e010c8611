"""Runs the Rust crate's own tests with this build's command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "api" / "tests"))

from api_build import BUILD, in_full  # noqa: E402


@in_full
def test_the_rust_crate_passes_its_tests():
    if not shutil.which("cargo"):
        pytest.skip("cargo is not installed (Debian and Ubuntu: cargo, or rustup)")
    environment = dict(os.environ, SECEQUIV=str(BUILD / "bin" / "secequiv"))
    done = subprocess.run(["cargo", "test", "--offline", "--locked", "--target-dir", str(BUILD / "rust")], cwd=ROOT / "api" / "rust",
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    assert "17 passed" in done.stdout, done.stdout
