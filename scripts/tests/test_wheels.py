"""Tests the checks of wheels (scripts/wheels): each accepts a correct wheel, and finds the fault that it exists for. No wheel is built."""
# Annex: packaging

import json
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from wheels import check, compare  # noqa: E402

COMMAND = "secequiv-0.1.0.data/scripts/secequiv"
ANY = (99,)
PROGRAM = Path("/bin/sh")


@pytest.fixture
def wheel(tmp_path):
    def make(without=None, mode=0o755, program=PROGRAM, more=b"", platform="linux_x86_64"):
        path = tmp_path / ("secequiv-0.1.0-py3-none-%s.whl" % platform)
        with zipfile.ZipFile(path, "w") as archive:
            for name in sorted(check.wanted(path, COMMAND) - {without}):
                info = zipfile.ZipInfo(name)
                info.external_attr = mode << 16
                archive.writestr(info, program.read_bytes() if name in (COMMAND, "secequiv/libsecequiv.so") else b"")
            archive.writestr("more", more)
        return path
    return make


def test_a_complete_wheel_has_no_problems(wheel):
    assert check.problems(wheel(), ANY) == []
    assert check.problems(wheel(platform="any"), ANY) == []
    assert check.problems(wheel(platform="any", without="secequiv/secequiv.wasm"), ANY) == ["it lacks secequiv/secequiv.wasm"]


@pytest.mark.parametrize("name", [COMMAND, "secequiv/libsecequiv.so", "secequiv/py.typed"])
def test_missing_files_are_problems(wheel, name):
    assert check.problems(wheel(without=name), ANY) == ["it lacks " + name]


def test_other_faults_are_problems(wheel):
    assert check.problems(wheel(mode=0o644), ANY) == [COMMAND + " is not executable"]
    assert check.problems(wheel(more=bytes(check.MOST_BYTES)), ANY)[0].endswith("at most %d are allowed" % check.MOST_BYTES)
    found = check.problems(wheel(), (2, 1))
    assert len(found) == 2 and all(" needs glibc 2." in text for text in found)


def test_foreign_libraries_are_problems(wheel, monkeypatch):
    monkeypatch.setattr(check, "SYSTEM", set())
    assert COMMAND + " needs libc.so.6" in check.problems(wheel(), ANY)


def command(path, **report):
    path.write_text("#!/bin/sh\nprintf '%%s' '%s'\n" % json.dumps(report))
    path.chmod(0o755)
    return path


def test_answers_are_compared_without_times(tmp_path, monkeypatch):
    assert len(compare.pairs()) >= 69
    monkeypatch.setattr(compare, "pairs", lambda: [(compare.CORPUS / "one", compare.CORPUS / "two")])
    native = command(tmp_path / "native", verdict="different", count="7", seconds=1)
    questions = len(list(compare.questions("one", "two")))
    assert compare.different_answers([command(tmp_path / "same", verdict="different", count="7", seconds=2)], native) == ([], questions)
    found, count = compare.different_answers([command(tmp_path / "other", verdict="different", count="8", seconds=1)], native)
    assert len(found) == count == questions
    assert compare.different_answers([tmp_path / "same"], native, engines=False) == ([], questions - 2)


def test_without_a_build_to_compare_with_nothing_passes(tmp_path):
    (message,) = compare.problems(tmp_path / "a.whl", "x86_64", tmp_path / "none", tmp_path / "work")
    assert "scripts/demo" in message
