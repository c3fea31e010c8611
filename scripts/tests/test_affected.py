"""Tests which tests scripts/lib/affected.py chooses for a change, in this tree: `scripts/test --changed` runs them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts/lib")]

import affected  # noqa: E402
from layers import check  # noqa: E402

UNITS = ("harness/base/text_test.cc", "harness/bpf/refusal_test.cc", "verify/dd/diagram_test.cc", "verify/sat/words_test.cc", "analyze/lint_test.cc")
SCRIPTS = ("cli/tests/test_cli_prove.py", "docs/tests/test_docs.py", "scripts/layers/tests/test_layers.py", "scripts/naive/tests/test_naive.py", "scripts/tests/test_setup.py",
           "scripts/kernel/tests/test_guest.py", "ci/tests/test_workflow.py")
ANNEXES = ("api/go/tests/test_go.py", "adapters/tests/test_frames.py")


@pytest.fixture(scope="module")
def knows():
    files = check.list_files(ROOT)
    assert set(SCRIPTS + ANNEXES) <= set(files)
    return affected.Tests(ROOT, files)


@pytest.fixture(scope="module")
def tests(knows):
    """A test of ctest for each of these files, and two that belong to no file; with the paths of the tests in C++."""
    assert set(UNITS) <= knows.files
    out = [{"name": path, "command": ["tests"]} for path in UNITS]
    out += [{"name": "pytest." + path, "command": ["python3", path], "properties": [{"name": "LABELS", "value": ["pytest"] + ["annex"] * (path in ANNEXES)}]}
            for path in SCRIPTS + ANNEXES]
    out += [{"name": name, "command": [name]} for name in ("layers", "replay_fuzz_pair", "api_test")]
    return out, {path: path for path in UNITS}


@pytest.fixture
def chosen(knows, tests):
    def choose(*changed):
        numbers = affected.affected(tests[0], knows, set(changed), tests[1])
        return {tests[0][number - 1]["name"].removeprefix("pytest.") for number in numbers}
    return choose


def test_a_low_layer_affects_all_that_is_above(chosen, tests):
    found = chosen("harness/base/text.cc")
    assert set(tests[1]) <= found and {"cli/tests/test_cli_prove.py", "docs/tests/test_docs.py", "layers", "replay_fuzz_pair", "api_test"} <= found
    assert not {"scripts/layers/tests/test_layers.py", "scripts/tests/test_setup.py", *ANNEXES} & found


def test_a_high_layer_does_not_affect_what_is_below(chosen):
    found = chosen("cli/prove.cc")
    assert "cli/tests/test_cli_prove.py" in found and not set(UNITS) & found and not {"replay_fuzz_pair", "api_test"} & found
    found = chosen("verify/dd/diagram.cc")
    assert "verify/dd/diagram_test.cc" in found and "harness/base/text_test.cc" not in found and "verify/sat/words_test.cc" not in found


def test_a_test_affects_only_itself(chosen):
    assert chosen("harness/bpf/refusal_test.cc") == {"harness/bpf/refusal_test.cc", "layers"}
    assert chosen("cli/tests/test_cli_prove.py") == {"cli/tests/test_cli_prove.py", "layers"}


def test_a_module_affects_the_tests_that_import_it(chosen):
    found = chosen("scripts/naive/naive.py")
    assert {"scripts/naive/tests/test_naive.py", "cli/tests/test_cli_prove.py"} <= found and "scripts/layers/tests/test_layers.py" not in found and not set(UNITS) & found
    assert "cli/tests/test_cli_prove.py" in chosen("cli/tests/cli_tool.py")


def test_documents_affect_the_tests_of_documents(chosen):
    found = chosen("docs/trust.md")
    assert "docs/tests/test_docs.py" in found and not set(UNITS) & found and "scripts/naive/tests/test_naive.py" not in found


def test_documents_and_data_that_are_compiled_affect_the_layers_above(chosen):
    assert {"analyze/lint_test.cc", "cli/tests/test_cli_prove.py"} <= chosen("docs/glossary.md") and "harness/base/text_test.cc" not in chosen("docs/glossary.md")
    assert "analyze/lint_test.cc" in chosen("corpus/properties/no-ptrace.property")


def test_a_module_that_was_removed_affects_the_tests_that_import_it(tests):
    files = [path for path in check.list_files(ROOT) if path != "scripts/naive/naive.py"]
    numbers = affected.affected(tests[0], affected.Tests(ROOT, {*files, "scripts/naive/naive.py"}), {"scripts/naive/naive.py"}, tests[1])
    assert "pytest.cli/tests/test_cli_prove.py" in {tests[0][number - 1]["name"] for number in numbers}


def test_data_affect_what_reads_them(chosen):
    found = chosen("corpus/programs/manifest.json")
    assert {"cli/tests/test_cli_prove.py", "replay_fuzz_pair"} <= found and "scripts/tests/test_setup.py" not in found


@pytest.mark.parametrize("path", ["CMakePresets.json", "cmake/options.cmake", "cmake/tests/CMakeLists.txt", "conftest.py", ".clang-tidy"])
def test_a_change_that_nobody_owns_affects_everything_but_annexes(chosen, tests, path):
    assert chosen(path) == {test["name"].removeprefix("pytest.") for test in tests[0]} - set(ANNEXES)


def test_an_annex_runs_if_it_changed_itself(chosen):
    assert "api/go/tests/test_go.py" in chosen("api/go/serve/serve.go")
    assert "api/go/tests/test_go.py" in chosen("api/go/tests/test_go.py")


def test_changed_files_are_those_of_git(tmp_path):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-C", str(tmp_path)]
    for name in ("a", "b", "c d"):
        (tmp_path / name).write_text("old")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    assert affected.changed_since("HEAD", tmp_path) == set()
    (tmp_path / "c d").write_text("new")
    (tmp_path / "b").unlink()
    (tmp_path / "e").write_text("new")
    assert affected.changed_since("HEAD", tmp_path) == {"b", "c d", "e"}
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "two"], check=True)
    assert affected.changed_since("HEAD", tmp_path) == set() and affected.changed_since("HEAD~1", tmp_path) == {"b", "c d", "e"}


def test_the_selection_is_what_ctest_reads(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text("".join('add_test(t%d "true")\n' % number for number in range(1, 6)))
    (tmp_path / "list").write_text(affected.selection([2, 5]))
    done = subprocess.run(["ctest", "-N", "-I", str(tmp_path / "list")], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines() if re.match(r" *Test *#", line)] == ["t2", "t5"]
    assert affected.selection([]) == ""
