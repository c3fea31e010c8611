"""Finds the build and runs commands for the tests of api. Slow tests run only in the development build."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cli" / "tests"))

from cli_tool import binary, fits  # noqa: E402, F401

BUILD = Path(binary()).parents[1]
LIBRARY = BUILD / "lib" / "libsecequiv.so"


GO = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly", "GOPROXY": "off"}


def require_go(module):
    """Skips the test if the installed Go is older than the module's go.mod allows."""
    if not shutil.which("go"):
        pytest.skip("go is not installed (Debian and Ubuntu: golang-go)")
    if installed_go() < oldest_go(module):
        pytest.skip("the installed Go is older than %s/go.mod allows" % module)


def installed_go():
    """Returns the version of the installed Go as numbers."""
    return _numbers(subprocess.run(["go", "env", "GOVERSION"], env={**os.environ, **GO}, stdout=subprocess.PIPE, text=True).stdout)


def oldest_go(module):
    """Returns the oldest Go that the module's go.mod allows."""
    return _numbers(re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)[1])


def _numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def go_test(module, *options, **variables):
    """Runs `go test` in the module's folder with the installed Go and without the network."""
    require_go(module)
    environment = {**os.environ, **GO, **variables}
    return subprocess.run(["go", "test", *options], cwd=module, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes_go_tests(done, count):
    """Asserts that all tests of `go test -v` passed and none was skipped."""
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^--- PASS: Test", done.stdout, re.MULTILINE)) == count and "--- SKIP" not in done.stdout, done.stdout


def run(*command, status=0, **options):
    """Runs a command that must exit with `status` (None: with any status); returns both outputs as one text."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert status is None or done.returncode == status, "%s: status %d\n%s" % (command, done.returncode, done.stdout)
    return done.stdout
