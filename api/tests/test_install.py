"""Tests that an installation works for a project outside the tree (api/cmake/sample), even after it was moved."""
# Annex: bindings

import json
import os
import re
import shutil
import sys

import pytest
from api_build import BUILD, ROOT, fits, run

pytestmark = pytest.mark.full
FUNCTIONS = ROOT / "api" / "cmake" / "secequivFunctions.cmake"
EXPECTED = {"same": "Passed", "wrong": "Failed", "stricter": "Passed", "elsewhere": "Passed", "optimizer": "Passed", "wrong_optimizer": "Failed",
            "property": "Passed", "wrong_property": "Failed", "library": "Passed"}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved here")


@pytest.fixture(scope="module")
def sample(prefix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "sample"
    shutil.copytree(ROOT / "api" / "cmake" / "sample", folder)
    run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", "-D", "CMAKE_PREFIX_PATH=%s" % prefix)
    run("cmake", "--build", folder / "build")
    return folder


def outcomes(sample):
    output = run("ctest", "--test-dir", sample / "build", "--output-on-failure", "-j2", status=None)
    return dict(re.findall(r"Test +#\d+: (\w+) \.+ *\**(Passed|Failed)", output)), output


def test_a_cmake_project_uses_the_installation(sample):
    results, output = outcomes(sample)
    assert results == EXPECTED, output
    assert "witness: nr=39" in output and "before: 0x7fff0000 ALLOW" in output  # the test `wrong` prints this
    assert "fail" in output
    document = json.loads((sample / "build" / "same.json").read_text())
    assert document["verdict"] == "equivalent"
    fits(document)


def test_the_verdict_unknown_fails_the_tests(sample, prefix):
    program = prefix / "bin" / "secequiv"
    kept = program.rename(prefix / "bin" / "kept")
    try:
        program.write_text("#!/bin/sh\necho '{\"verdict\": \"unknown\"}'\nexit 3\n")
        program.chmod(0o755)
        results, output = outcomes(sample)
    finally:
        kept.rename(program)
    assert {name for name, result in results.items() if result == "Passed"} == {"library"}, output
    assert results.keys() == EXPECTED.keys()


def test_pkg_config_gives_the_flags(prefix, tmp_path):
    (tmp_path / "prefix").symlink_to(prefix)  # because `flags.split()` would split a path with blanks
    flags = run("pkg-config", "--cflags", "--libs", "secequiv", env=dict(os.environ, PKG_CONFIG_PATH=str(tmp_path / "prefix/lib/pkgconfig")))
    run("cc", ROOT / "api" / "cmake" / "sample" / "library.c", *flags.split(), "-o", tmp_path / "program")
    assert run(tmp_path / "program", env=dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))) == ""


def test_one_call_of_a_validator_accepts_a_report(prefix, tmp_path):
    """No installed schema needs another file. For example, the schema of `check` includes that of `prove`, to which it refers."""
    schemas = prefix / "share" / "secequiv" / "schemas"
    assert sorted(path.name.removesuffix(".schema.json") for path in schemas.iterdir()) == run(prefix / "bin" / "secequiv", "--print-schema").split()
    program = tmp_path / "p.asm"
    program.write_text("ld [0]\nret a\n")
    for name in ("check", "prove", "diff"):
        report = tmp_path / (name + ".json")
        report.write_text(run(prefix / "bin" / "secequiv", name, program, program, "--json"))
        run(sys.executable, "-W", "ignore", "-m", "jsonschema", "-i", report, schemas / (name + ".schema.json"))
        report.write_text("{}")
        run(sys.executable, "-W", "ignore", "-m", "jsonschema", "-i", report, schemas / (name + ".schema.json"), status=1)
    policy = ROOT / "corpus" / "policies" / "seed" / "ten-syscalls.json"
    run(sys.executable, "-W", "ignore", "-m", "jsonschema", "-i", policy, schemas / "policy.schema.json")


def test_the_package_depends_on_no_other(prefix):
    """The installed files mention neither the source tree nor the packages that the library was built with."""
    files = list((prefix / "lib").rglob("cmake/secequiv/*.cmake")) + list((prefix / "lib").rglob("*.pc"))
    assert len(files) >= 6
    for file in files:
        text = file.read_text()
        assert "find_dependency" not in text and not re.search(r"\b(fmt|z3|gmp|nlohmann)\b|%s" % re.escape(str(ROOT)), text), file


def test_a_cmake_project_without_languages_can_use_it(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(none NONE)\nenable_testing()\nfind_package(secequiv REQUIRED)\n"
        "secequiv_add_proof(NAME one BEFORE a AFTER a,a)\n")
    (tmp_path / "a").write_text("ret #0x50001\n")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-D", "CMAKE_PREFIX_PATH=%s" % prefix)
    assert "100% tests passed" in run("ctest", "--test-dir", tmp_path / "build", "--output-on-failure")


def test_reports_appear_whole_or_not_at_all(tmp_path):
    """The files appear whole or not at all, replace old ones, and their folders are created."""
    report = tmp_path / "out" / "report.json"
    for script, status, expected in (("echo '[1; 2]'", 0, "[1; 2]\n"), ("echo no; exit 1", 1, "no\n"), ("exit 3", 1, None), ("kill -9 $$", 1, None)):
        run("cmake", "-D", "OUTPUT=%s" % report, "-P", FUNCTIONS.parent / "secequivToFile.cmake", "--", "sh", "-c", script, status=status)
        assert (report.read_text() if report.exists() else None) == expected
        assert sorted(report.parent.iterdir()) == ([report] if expected else [])


@pytest.mark.parametrize("call, message", [
    ("secequiv_add_proof(NAME a BEFORE b)", "secequiv_add_proof: AFTER is missing"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER)", "expected a value after AFTER"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c d)", "unexpected 'd'"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c SAME cooked)", "expected SAME raw, behaviour or effect, found 'cooked'"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c TIMEOUT -5)", "expected TIMEOUT in seconds, found '-5'"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c TIMEOUT 0)", "expected TIMEOUT in seconds, found '0'"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c ASSUME \"${not_set}\")", "expected a value after ASSUME"),
    ("secequiv_add_proof(BEFORE b AFTER c)", "NAME is missing"),
    ("secequiv_add_property(NAME a FILTER b)", "PROPERTY is missing"),
    ("secequiv_add_property(NAME a PROPERTY b)", "FILTER is missing"),
    ("secequiv_add_check(NAME a POLICY b)", "OPTIMIZER is missing"),
    ("secequiv_add_check(NAME a OPTIMIZER b)", "POLICY is missing"),
    ("secequiv_add_check(NAME a POLICY b OPTIMIZER)", "expected a value after OPTIMIZER"),
    ("secequiv_add_check(NAME a POLICY b OPTIMIZER sh -c [[one; two]])", "expected arguments without ';', found 'one; two'"),
    ("secequiv_add_check(NAME a POLICY b OPTIMIZER sh -c \"one\\;two\")", "expected arguments without ';', found 'one"),
    ("secequiv_add_proof(NAME a BEFORE \"b;c\" AFTER d)", "expected arguments without ';', found 'b;c'"),
    ("secequiv_add_proof(NAME a BEFORE b AFTER c ASSUME \"nr == 1;\")", "expected arguments without ';', found 'nr == 1;'"),
])
def test_wrong_arguments_of_cmake_functions_are_errors(call, message, tmp_path):
    script = tmp_path / "call.cmake"
    script.write_text("cmake_minimum_required(VERSION 3.22)\ninclude(%s)\n%s\n" % (FUNCTIONS, call))
    output = " ".join(run("cmake", "-P", script, status=1).split())
    assert message in output
