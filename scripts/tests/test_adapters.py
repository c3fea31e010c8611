"""Tests scripts/adapters with fake build steps, and the functions that real build steps share."""

import os
import shutil

import pytest

from test_commands import BUILDS, adapter


def built(sandbox):
    folder = sandbox.root / "build/adapters"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_without_names_every_adapter_is_built(sandbox):
    adapter(sandbox, "one", BUILDS)
    adapter(sandbox, "two", BUILDS)
    done = sandbox.run("bash", "scripts/adapters")
    assert (done.returncode, done.stdout) == (0, "")
    assert [line[:22] for line in done.stderr.splitlines()] == ["adapters: one: built i", "adapters: two: built i"]
    assert built(sandbox) == ["one", "one.log", "two", "two.log"]
    assert os.access(sandbox.root / "build/adapters/one", os.X_OK)
    assert (sandbox.root / "build/adapters/one.log").read_text() == "building\n"


@pytest.mark.parametrize("arguments", [["two"], ["build", "two"]])
def test_a_named_adapter_is_built_alone(sandbox, arguments):
    adapter(sandbox, "one", "exit 1")
    adapter(sandbox, "two", BUILDS)
    done = sandbox.run("bash", "scripts/adapters", *arguments)
    assert done.returncode == 0, done.stderr
    assert built(sandbox) == ["two", "two.log"]


def test_a_failed_build_shows_its_log(sandbox):
    adapter(sandbox, "bad", "echo error: no such thing; echo half >\"$1\"; exit 1")
    adapter(sandbox, "good", BUILDS)
    done = sandbox.run("bash", "scripts/adapters")
    assert done.returncode == 1
    assert "error: no such thing\nadapters: bad: the build failed (status 1); the whole log is in" in done.stderr
    assert done.stderr.endswith("adapters: not built: bad\n")
    assert built(sandbox) == ["bad.log", "good", "good.log"]


def test_a_missing_toolchain_is_named(sandbox):
    adapter(sandbox, "bad", "echo one thing; echo 'no compiler for it' >&2; exit 77")
    done = sandbox.run("bash", "scripts/adapters")
    assert done.returncode == 1
    assert done.stderr == "adapters: bad: cannot be built: no compiler for it\nadapters: not built: bad\n"
    assert (sandbox.root / "build/adapters/bad.missing").read_text() == "no compiler for it\n"
    adapter_step = sandbox.root / "adapters/bad/build"
    adapter_step.write_text("#!%s\n%s\n" % (shutil.which("bash"), BUILDS))
    assert sandbox.run("bash", "scripts/adapters").returncode == 0
    assert built(sandbox) == ["bad", "bad.log"]


@pytest.mark.parametrize("step", ["exit 1", "exit 77", "exit 0"])
def test_an_old_build_is_removed(sandbox, step):
    """None of these steps makes a program. So each step counts as failed, even if it succeeds, and the old program is removed."""
    adapter(sandbox, "one", step)
    (sandbox.root / "build/adapters").mkdir(parents=True)
    old = sandbox.root / "build/adapters/one"
    old.write_text("old")
    assert sandbox.run("bash", "scripts/adapters", "one").returncode == 1
    assert not old.exists()


def test_list_shows_the_state_of_each_adapter(sandbox):
    for name, step in (("built", BUILDS), ("failed", "exit 1"), ("missing", "echo no go; exit 77"), ("not-yet", BUILDS)):
        adapter(sandbox, name, step)
    sandbox.run("bash", "scripts/adapters", "built", "failed", "missing")
    done = sandbox.run("bash", "scripts/adapters", "--list")
    assert done.returncode == 0
    assert [line.split(None, 1) for line in done.stdout.splitlines()] == [
        ["built", "built"], ["failed", "not built"], ["missing", "cannot be built: no go"], ["not-yet", "not built"]]


@pytest.mark.parametrize("arguments", [["none"], ["--all"], ["one", "none"], ["--list", "one"]])
def test_wrong_usage_builds_nothing(sandbox, arguments):
    adapter(sandbox, "one", BUILDS)
    done = sandbox.run("bash", "scripts/adapters", *arguments)
    assert done.returncode == 2 and done.stderr
    assert built(sandbox) == []


def shared(sandbox, call, **environment):
    return sandbox.run("bash", "-c", "set -euo pipefail; . scripts/lib/adapters.sh; " + call, **environment)


def test_a_missing_compiler_is_named(sandbox):
    done = shared(sandbox, "adapters_cxx")
    assert (done.returncode, done.stderr) == (77, "no C++ compiler (Debian and Ubuntu: clang-19 or g++)\n")


def test_a_missing_header_is_named_with_its_package(sandbox):
    sandbox.fake("g++", "exit 1")
    done = shared(sandbox, "adapters_cxx; adapters_header a/b.h libb-dev")
    assert (done.returncode, done.stderr) == (77, "no <a/b.h> (Debian and Ubuntu: libb-dev)\n")


@pytest.mark.parametrize("version,status", [(None, 77), ("go1.26.2", 77), ("go1.9", 77), ("go1.26.3", 0), ("go1.100.0", 0)])
def test_a_missing_or_old_go_is_named(sandbox, version, status):
    folder = sandbox.root / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module m\n\ngo 1.26.3\n")
    if version:
        sandbox.fake("go", 'if [ "$1" = env ]; then echo %s; fi' % version)
    done = shared(sandbox, 'adapters_go "$PWD/module" "$PWD/out"')
    assert done.returncode == status, done.stderr
    assert ("go build" in " ".join(sandbox.noted("go"))) == (status == 0)
    if status:
        assert "go" in done.stderr.splitlines()[-1]
