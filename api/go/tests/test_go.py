"""Runs the Go module's own tests with this build's command line."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "api" / "tests"))

from api_build import BUILD, in_full  # noqa: E402

MODULE = ROOT / "api" / "go"


@in_full
def test_the_go_module_passes_its_tests():
    if not shutil.which("go"):
        pytest.skip("go is not installed (Debian and Ubuntu: golang-go)")
    environment = dict(os.environ, SECEQUIV=str(BUILD / "bin" / "secequiv"), GOTOOLCHAIN="local", GOWORK="off", GOFLAGS="-mod=readonly",
                       CGO_ENABLED="0", GOPROXY="off")
    done = subprocess.run(["go", "test", "-count=1", "-vet=all", "-v", "./..."], cwd=MODULE, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if "requires go >=" in done.stdout:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^--- PASS: Test", done.stdout, re.MULTILINE)) == 17, done.stdout
