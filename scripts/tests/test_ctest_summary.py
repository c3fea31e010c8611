"""Tests that scripts/lib/ctest_summary.py adds up ctest logs, both logs made by hand and logs of the real ctest."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).resolve().parents[1] / "lib" / "ctest_summary.py"


def log(failed, total, percent=None, not_run=(), before=""):
    percent = (total - failed) * 100 // total if percent is None else percent
    lines = "".join("\t  %d - %s\n" % (i, text) for i, text in enumerate(not_run, 1))
    return "%s\n%d%% tests passed, %d tests failed out of %d\n\nTotal Test time (real) =   0.02 sec\n%s" % (
        before, percent, failed, total, "\nThe following tests did not run:\n" + lines if lines else "")


def combine(tmp_path, *texts):
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / ("log%d" % number))
        paths[-1].write_text(text)
    return subprocess.run([sys.executable, str(COMMAND), *map(str, paths)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("texts,line", [
    ([log(0, 412)], "100% tests passed, 0 tests failed out of 412"),
    ([log(0, 200), log(0, 1), log(0, 11)], "100% tests passed, 0 tests failed out of 212"),
])
def test_counts_are_added_up(tmp_path, texts, line):
    done = combine(tmp_path, *texts)
    assert (done.returncode, done.stdout, done.stderr) == (0, line + "\n", "")


@pytest.mark.parametrize("texts,line", [
    ([log(1, 412)], "99% tests passed, 1 tests failed out of 412"),
    ([log(1, 100000), log(0, 100000)], "99% tests passed, 1 tests failed out of 200000"),
    ([log(0, 3), log(1, 1)], "75% tests passed, 1 tests failed out of 4"),
    ([log(3, 287)], "99% tests passed, 3 tests failed out of 287"),
    ([log(2, 2)], "0% tests passed, 2 tests failed out of 2"),
    (["\n0% tests passed, 1 test failed out of 1\n\nTotal Test time (real) = 1 sec\n"], "0% tests passed, 1 tests failed out of 1"),
])
def test_failures_are_never_rounded_away(tmp_path, texts, line):
    done = combine(tmp_path, *texts)
    assert (done.returncode, done.stdout) == (1, line + "\n")


@pytest.mark.parametrize("texts", [
    [],
    [""],
    ["No tests were found!!!\n"],
    [log(0, 5), "ninja: build stopped\n"],
    [log(0, 5), log(0, 5).replace("Total Test time", "")],
    [log(0, 5, before="").replace("100% tests", "100 % tests")],
    ["100% tests passed, 0 tests failed out of 9\n"],
    ["100% tests passed, 0 tests failed out of 0\n\nTotal Test time (real) = 0\n"],
    [log(0, 2, not_run=["a (Skipped)", "b (Skipped)"])],
    ["50% tests passed, 3 tests failed out of 2\n\nTotal Test time (real) = 0\n"],
])
def test_logs_without_counts_give_no_closing_line(tmp_path, texts):
    done = combine(tmp_path, *texts)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("ctest_summary: ")


def test_an_unreadable_log_is_an_error(tmp_path):
    done = subprocess.run([sys.executable, str(COMMAND), str(tmp_path / "none")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (2, "")


def test_skipped_tests_are_named_and_not_counted(tmp_path):
    done = combine(tmp_path, log(0, 10, not_run=["kernel.live (Skipped)", "old.one (Disabled)"]), log(0, 5))
    assert done.returncode == 0
    assert done.stdout == ("not counted: kernel.live (skipped)\nnot counted: old.one (disabled)\n"
                           "100% tests passed, 0 tests failed out of 14\n")


def test_output_of_a_failed_test_is_not_taken_for_the_closing_line(tmp_path):
    done = combine(tmp_path, log(1, 4, before="100% tests passed, 0 tests failed out of 999\n\t  1 - a (Skipped)\n"))
    assert (done.returncode, done.stdout) == (1, "75% tests passed, 1 tests failed out of 4\n")


@pytest.mark.skipif(shutil.which("ctest") is None, reason="no ctest")
def test_logs_of_the_real_ctest_are_read(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text(
        'add_test(good "/bin/sh" "-c" "true")\n'
        'add_test(skipped "/bin/sh" "-c" "exit 77")\n'
        "set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n"
        'add_test(disabled "/bin/sh" "-c" "true")\n'
        "set_tests_properties(disabled PROPERTIES DISABLED TRUE)\n"
        'add_test(bad "/bin/sh" "-c" "echo \'100% tests passed, 0 tests failed out of 999\'; exit 1")\n'
        'add_test(absent "/nonexistent/program")\n')
    real = subprocess.run(["ctest", "--output-on-failure"], cwd=str(tmp_path), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True).stdout
    done = combine(tmp_path, real)
    assert done.returncode == 1, real
    assert done.stdout == ("not counted: skipped (skipped)\nnot counted: disabled (disabled)\n"
                           "33% tests passed, 2 tests failed out of 3\n")
