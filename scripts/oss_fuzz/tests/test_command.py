"""Tests scripts/oss_fuzz_check: selection, output, exit status, the matrix, and the sources of libc++. Nothing is built."""

import subprocess
import sys
from pathlib import Path

import pytest

import as_module
from oss_fuzz import check, libcxx, matrix, toolchain

SCRIPT = Path(__file__).resolve().parents[2] / "oss_fuzz_check"


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return as_module.load(SCRIPT)


@pytest.fixture
def outcomes(command, monkeypatch):
    """Returns (results, checked). `results` maps configurations, as text, to the results of their checks; all others pass. `checked`
    records the calls of check()."""
    kinds, seen = {}, []

    def fake(root, configuration, folder, limits, plain=False):
        seen.append((str(configuration), folder.name, limits, plain))
        kind = kinds.get(str(configuration), check.PASSED)
        problems = {check.PASSED: (), check.FAILED: ("fuzz_a: is wrong",), check.NOT_AVAILABLE: ("no such engine",)}[kind]
        return check.Result(kind, 1.5, problems, {"fuzz_a": {"asan": 2000, "edges": 300}, "fuzz_b": {"asan": 1500, "edges": 400}}
                            if kind == check.PASSED else {})

    monkeypatch.setattr(check, "check", fake)
    monkeypatch.setattr(command.shutil, "which", lambda name: "/usr/bin/" + name)
    return kinds, seen


def run(command, tmp_path, *arguments):
    return command.main(["--folder", str(tmp_path), *arguments])


def test_all_configurations_are_checked_and_listed(command, outcomes, tmp_path, capsys):
    assert run(command, tmp_path) == 0
    assert [row[0] for row in outcomes[1]] == [str(each) for each in matrix.MATRIX]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["engine", "sanitizer", "arch", "result", "seconds"]
    assert lines[1].split(None, 5) == ["libfuzzer", "address", "x86_64", "passed", "2", "2 targets, asan >= 1500, edges >= 300"]
    assert len(lines) == 1 + len(matrix.MATRIX)


def test_a_failed_configuration_gives_status_1(command, outcomes, tmp_path, capsys):
    outcomes[0]["afl-address-x86_64"] = check.FAILED
    assert run(command, tmp_path) == 1
    printed = capsys.readouterr()
    assert "  fuzz_a: is wrong\n" in printed.err and "FAILED" in printed.out


def test_not_available_never_counts_as_passed(command, outcomes, tmp_path, capsys):
    outcomes[0]["libfuzzer-memory-x86_64"] = check.NOT_AVAILABLE
    assert run(command, tmp_path) == 0
    row = [line for line in capsys.readouterr().out.splitlines() if " memory " in line]
    assert len(row) == 1 and "not available" in row[0] and row[0].endswith("no such engine") and "passed" not in row[0]
    assert run(command, tmp_path, "--require") == 1
    assert run(command, tmp_path, "--sanitizer", "memory") == 1
    assert "nothing passed" in capsys.readouterr().err


def test_short_checks_one_configuration(command, outcomes, tmp_path):
    assert run(command, tmp_path, "--short") == 0
    assert outcomes[1] == [("libfuzzer-address-x86_64", "short", command.SHORT, True)]


def test_options_select_configurations(command, outcomes, tmp_path):
    assert run(command, tmp_path, "--engine", "libfuzzer", "--architecture", "i386") == 0
    assert run(command, tmp_path, "--sanitizer", "undefined", "--sanitizer", "coverage") == 0
    assert [row[0] for row in outcomes[1]] == ["libfuzzer-address-i386", "libfuzzer-undefined-x86_64", "libfuzzer-coverage-x86_64"]


@pytest.mark.parametrize("arguments", [["--short", "--engine", "afl"], ["--engine", "none"], ["--engine", "afl", "--sanitizer", "memory"]])
def test_wrong_usage_is_an_error(command, outcomes, tmp_path, arguments):
    with pytest.raises(SystemExit) as stopped:
        run(command, tmp_path, *arguments)
    assert stopped.value.code == 2 and not outcomes[1]


def test_missing_packages_are_reported(command, outcomes, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command.shutil, "which", lambda name: None if name in ("ninja", toolchain.CXX) else name)
    assert run(command, tmp_path) == 2
    assert "not installed: ninja clang++-19; --set-up" in capsys.readouterr().err


def test_a_library_that_cannot_be_built_gives_status_2(command, outcomes, tmp_path, monkeypatch, capsys):
    def fails(folder):
        raise toolchain.NotAvailable("no sources")

    monkeypatch.setattr(libcxx, "make", fails)
    assert run(command, tmp_path, "--libcxx") == 2
    assert "no sources" in capsys.readouterr().err and not outcomes[1]


def test_a_failed_set_up_gives_status_2(command, outcomes, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(command.subprocess, "run", lambda words, **more: asked.append(words[-2:]) or subprocess.CompletedProcess(words, 2))
    assert run(command, tmp_path, "--set-up") == 2
    assert asked == [["all", "oss_fuzz"]] and not outcomes[1]


def test_missing_mount_namespaces_are_reported(command, outcomes, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command.sandbox, "namespaces", lambda: None)
    assert run(command, tmp_path, "--short") == 0
    assert "no mount namespaces here" in capsys.readouterr().err


def test_flags_are_those_of_the_builder():
    flags = {str(each): matrix.flags(each).split() for each in matrix.MATRIX if each.engine in matrix.FEEDBACK}
    assert "-fsanitize=address" in flags["libfuzzer-address-x86_64"] and "-fsanitize=fuzzer-no-link" in flags["libfuzzer-address-x86_64"]
    assert "-m32" in flags["libfuzzer-address-i386"] and "-m32" not in flags["libfuzzer-address-x86_64"]
    assert "-fsanitize=memory" in flags["libfuzzer-memory-x86_64"]
    assert any(flag.startswith("-fno-sanitize-recover=") for flag in flags["libfuzzer-undefined-x86_64"])
    assert not any("fuzzer" in flag for flag in flags["afl-address-x86_64"] + flags["libfuzzer-coverage-x86_64"])
    assert "-fcoverage-mapping" in flags["libfuzzer-coverage-x86_64"]
    assert not any("march" in flag for each in flags.values() for flag in each)


def test_source_lists_are_read_in_both_forms():
    new = "Types: deb\nURIs: http://a/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /k.gpg\n\n" \
          "Types: deb\nURIs: http://b/other\nSuites: x\nComponents: main\n"
    old = "deb http://c/debian bookworm main\ndeb [arch=amd64] https://d/other x main\n# deb http://e/debian x main\n"
    assert libcxx.source_lists([new, old]) == [
        "deb-src [signed-by=/k.gpg] http://a/debian bookworm main", "deb-src [signed-by=/k.gpg] http://a/debian bookworm-updates main",
        "deb-src http://c/debian bookworm main"]


def test_an_existing_library_is_not_built_again(tmp_path):
    (tmp_path / "libcxx-msan/lib").mkdir(parents=True)
    (tmp_path / "libcxx-msan/lib/libc++.a").write_bytes(b"")
    assert libcxx.make(tmp_path) == tmp_path / "libcxx-msan"
