"""Runs the tests of the Python package with the library as WebAssembly, and tests what only this library does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api/tests"), str(ROOT / "scripts")]

from api_build import binary, in_full  # noqa: E402
import pinned  # noqa: E402

pytestmark = in_full
MODULE = ROOT / "build/wasm/bin/secequiv.wasm"
HERE = Path(__file__).parent
# These tests are about other engines, the process's memory, or the native library's file.
NATIVE = ("test_prove_compares_two_filters or test_prove_property_is_about_one_filter or test_memory_that_runs_out_is_unknown or "
          "test_the_wheel_works_in_a_new_environment")


@pytest.fixture(scope="module")
def environment():
    if not MODULE.exists():
        (pytest.fail if os.environ.get("SECEQUIV_REQUIRE_WASM") else pytest.skip)("%s is not built (cmake --preset wasm && cmake --build --preset wasm)" % MODULE.relative_to(ROOT))
    try:
        packages = pinned.python_packages(ROOT / "scripts/lib/wasmtime.txt", ROOT / "build/wasmtime")
    except pinned.Missing as why:
        pytest.skip(str(why))
    path = os.pathsep.join([str(packages), str(ROOT / "api/python/src")])
    return {**os.environ, "PYTHONPATH": path, "SECEQUIV_TEST_LIBRARY": str(MODULE), "SECEQUIV_LIBRARY": str(MODULE), "SECEQUIV": binary()}


def python(text, environment):
    return subprocess.run([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_package_works_as_with_the_native_library(environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not (%s)" % NATIVE, HERE / "test_package.py"],
                          cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and "31 passed, 5 deselected" in done.stdout, done.stdout


def test_other_engines_are_refused(environment):
    done = python("import secequiv\nprint(secequiv.prove('ld [0]\\nret a\\n', 'ld [0]\\nadd #0\\nret a\\n', engine='z3').verdict)", environment)
    assert done.returncode == 1 and "not in this build" in done.stdout, done.stdout


def test_a_filter_of_a_module_that_ended_is_refused(environment):
    """A module whose memory ran out starts again. Pointers into the old one must not be used."""
    done = python("""
import secequiv
from secequiv._library import LIBRARY
kept, other = secequiv.parse('ret #0\\n'), secequiv.parse('ret #1\\n')
LIBRARY._restart()
fresh = secequiv.parse('ret #0\\n')
try:
    print(secequiv.prove(kept, other).verdict)
except MemoryError as error:
    print(error)
del kept, other
print(secequiv.prove(fresh, 'ret #0\\n').verdict.name)
""", environment)
    assert done.stdout.splitlines() == ["this filter was lost when the module's memory ran out; read it again", "EQUIVALENT"], done.stdout


def test_memory_that_runs_out_is_an_error(environment):
    done = python("""
import secequiv
from secequiv._library import LIBRARY
for size in (1 << 31, 600 << 20):
    try:
        secequiv.parse(bytes(size))
    except MemoryError as error:
        print('memory')
print(secequiv.prove('ret #0\\n', 'ret #0\\n').verdict.name)
""", environment)
    assert done.stdout.splitlines() == ["memory", "memory", "EQUIVALENT"], done.stdout


def test_without_wasmtime_the_error_says_what_is_missing(environment):
    done = python("import secequiv", {**environment, "PYTHONPATH": str(ROOT / "api/python/src"), "PYTHONNOUSERSITE": "1"})
    assert done.returncode == 1 and "needs the package wasmtime (pip install wasmtime)" in done.stdout, done.stdout
