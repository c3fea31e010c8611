"""Runs the tests of the Go module that contains secequiv as WebAssembly, with the module of the preset wasm and this build's command line."""
# Annex: wasm

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api/tests"), str(ROOT / "scripts")]

from api_build import binary  # noqa: E402
import pinned  # noqa: E402

MODULE = ROOT / "build/wasm/bin/secequiv.wasm"
SOURCES = ROOT / "api/go/wasm"


@pytest.mark.full
def test_the_go_module_with_webassembly_passes_its_tests(tmp_path):
    if not MODULE.exists():
        pytest.skip("%s is not built (cmake --preset wasm && cmake --build --preset wasm)" % MODULE.relative_to(ROOT))
    version, checksum = re.search(r"wazero (v\S+) (h1:\S+)", (SOURCES / "go.sum").read_text()).groups()
    try:
        pinned.go_module("github.com/tetratelabs/wazero", version, checksum)
    except pinned.Missing as why:
        pytest.skip(str(why))
    folder = tmp_path / "api/go/wasm"  # tests find the corpus from there
    shutil.copytree(SOURCES, folder)
    shutil.copy(MODULE, folder)
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    environment = {**os.environ, "SECEQUIV": binary(), "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly", "GOPROXY": "off"}
    done = subprocess.run(["go", "test", "-count=1", "-vet=all", "-v", "."], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "requires go >=" in done.stdout:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^--- PASS: Test", done.stdout, re.MULTILINE)) == 9 and "--- SKIP" not in done.stdout, done.stdout
