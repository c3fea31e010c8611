"""Runs the tests of the Go module that contains secequiv as WebAssembly, with the module of the preset wasm and this build's command line."""
# Annex: wasm

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api/tests"), str(ROOT / "scripts")]

from api_build import binary, go_test, installed_go, oldest_go, passes_go_tests, require_go  # noqa: E402
import pinned  # noqa: E402

MODULE = ROOT / "build/wasm/bin/secequiv.wasm"
SOURCES = ROOT / "api/go/wasm"


def modules():
    """Returns the folders of the modules that go.sum pins, by name."""
    require_go(SOURCES)
    try:
        return {name: pinned.go_module(name, version, checksum)
                for name, version, checksum in re.findall(r"^(\S+) (v[^\s/]+) (h1:\S+)$", (SOURCES / "go.sum").read_text(), re.MULTILINE)}
    except pinned.Missing as why:
        pytest.skip(str(why))


@pytest.mark.full
def test_wazero_is_not_much_older_than_go():
    """Compiled code calls Go's own memmove. That of Go 1.24 changes another register, on some processors only, so wazero 1.8 broke there alone."""
    supported = oldest_go(modules()["github.com/tetratelabs/wazero"])[1] + 1  # wazero's policy: the newest Go and the one before it
    assert installed_go()[1] <= supported + 1, "pin a newer wazero in api/go/wasm: this one was made for Go 1.%d" % supported


@pytest.mark.full
def test_the_go_module_with_webassembly_passes_its_tests(tmp_path):
    if not MODULE.exists():
        pytest.skip("%s is not built (cmake --preset wasm && cmake --build --preset wasm)" % MODULE.relative_to(ROOT))
    modules()
    folder = tmp_path / "api/go/wasm"  # tests find the corpus from there
    shutil.copytree(SOURCES, folder)
    shutil.copy(MODULE, folder)
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    passes_go_tests(go_test(folder, "-count=1", "-vet=all", "-v", ".", SECEQUIV=binary()), 10)
