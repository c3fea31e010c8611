"""Tests that scripts/lib/outcomes.py reads what ctest, pytest and GoogleTest write, and fails runs in which tests are skipped or lost."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))

import outcomes  # noqa: E402


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree with the lists and the records of runs."""
    monkeypatch.setattr(outcomes, "ROOT", tmp_path)
    monkeypatch.setattr(outcomes, "ALL", tmp_path / "all.txt")
    monkeypatch.setattr(outcomes, "MAY_SKIP", tmp_path / "may_skip.txt")
    monkeypatch.delenv("SECEQUIV_COMPLETE", raising=False)
    outcomes._annex_of_file.cache_clear()
    (tmp_path / "may_skip.txt").write_text("")
    return tmp_path


def run(tree, preset, ctest=(), pytest=(), googletest=()):
    """Writes the records of a run: (name, status) for ctest, and one file of (name, outcome) for each executable."""
    folder = tree / "build/outcomes" / preset
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ctest.xml").write_text("<testsuite>%s</testsuite>" % "".join('<testcase name="%s" status="%s"/>' % case for case in ctest))
    for number, cases in enumerate(pytest):
        (folder / ("x.tests.test_%d.py.pytest" % number)).write_text("".join("%s\t%s\twhy\n" % case for case in cases))
    for number, cases in enumerate(googletest):
        suites = [{"name": name.partition(".")[0], "testsuite": [dict({"name": name.partition(".")[2], "status": "RUN", "result": "COMPLETED"}, **more)]} for name, more in cases]
        (folder / ("tests.part_%d.json" % number)).write_text(json.dumps({"testsuites": suites}))


def judged(tree, capsys, *presets, known):
    (tree / "all.txt").write_text("".join(name + "\n" for name in known))
    status = outcomes.main(["judge", *presets])
    shown = capsys.readouterr()
    return status, shown.out.splitlines(), shown.err


def counts(passed=0, failed=0, permitted=0, skipped=0, lost=0, new=0):
    return "tests: %d passed, %d failed, %d skipped as permitted, %d skipped without permission, %d not collected, %d not listed" % (passed, failed, permitted, skipped, lost, new)


def test_the_counts_of_all_presets_are_added_up(tree, capsys):
    run(tree, "dev", [("A.B", "run"), ("pytest.x.0", "run")], pytest=[[("x/test_x.py::one", "passed"), ("x/test_x.py::two", "passed")]])
    run(tree, "asan", [("tests.part_0", "run"), ("A.B", "run")], googletest=[[("C.D", {}), ("Not.Run", {"status": "NOTRUN"})]])
    assert judged(tree, capsys, "dev", "asan", known=["A.B", "C.D", "x/test_x.py::one", "x/test_x.py::two"]) == (
        0, [counts(passed=4), "100% tests passed, 0 tests failed out of 4"], "")


@pytest.mark.parametrize("failed, total, line", [(1, 412, "99% tests passed, 1 tests failed out of 412"), (2, 2, "0% tests passed, 2 tests failed out of 2"),
                                                 (1, 1000, "99% tests passed, 1 tests failed out of 1000")])
def test_failures_are_never_rounded_away(tree, capsys, failed, total, line):
    names = ["t%d" % number for number in range(total)]
    run(tree, "dev", [(name, "fail" if number < failed else "run") for number, name in enumerate(names)])
    status, out, _ = judged(tree, capsys, "dev", known=names)
    assert (status, out[-1]) == (1, line)


@pytest.mark.parametrize("presets", [("dev", "asan"), ("asan", "dev")])
def test_a_failure_in_one_preset_is_a_failure(tree, capsys, presets):
    run(tree, "dev", [("A.B", "run")])
    run(tree, "asan", [("tests.part_0", "fail")], googletest=[[("A.B", {"failures": [{}]})]])
    assert judged(tree, capsys, *presets, known=["A.B"])[:2] == (1, [counts(failed=1), "50% tests passed, 1 tests failed out of 2"])


def test_a_file_that_died_is_named(tree, capsys):
    run(tree, "dev", [("A.B", "run"), ("pytest.x.9", "fail")])
    (tree / "x/tests").mkdir(parents=True)
    (tree / "x/tests/test_9.py").write_text("")
    status, out, _ = judged(tree, capsys, "dev", known=["A.B", "x/tests/test_9.py::one"])
    assert status == 3 and out[:2] == ["Ended without saying what its tests did:", "  pytest.x.9"]


SKIPS = {"ctest": {"ctest": [("A.B", "notrun"), ("C.D", "run")]}, "disabled": {"ctest": [("A.B", "disabled"), ("C.D", "run")]},
         "pytest": {"ctest": [("pytest.x.0", "run")], "pytest": [[("A.B", "skipped")]]},
         "googletest": {"ctest": [("tests.part_0", "run")], "googletest": [[("A.B", {"result": "SKIPPED"})]]}}


@pytest.mark.parametrize("records", SKIPS.values(), ids=SKIPS)
@pytest.mark.parametrize("environment, pattern, complete, permitted", [
    ("without nothing", "A.B", False, True), ("without nothing", "A.*", False, True), ("without nothing", "A.C", False, False), ("elsewhere", "A.B", False, False),
    ("without nothing", "A.B", True, False), ("here", "A.B", True, True)])
def test_a_skip_needs_a_line_for_an_environment_that_this_is(tree, capsys, monkeypatch, records, environment, pattern, complete, permitted):
    monkeypatch.setattr(outcomes, "ENVIRONMENTS", {"without nothing": lambda _: True, "elsewhere": lambda _: False, "here": lambda _: True})
    if complete:
        monkeypatch.setenv("SECEQUIV_COMPLETE", "1")
    run(tree, "gcc", **records)
    (tree / "may_skip.txt").write_text("# comment\n\n[%s] reason\n%s\n" % (environment, pattern))
    status, out, _ = judged(tree, capsys, "gcc", known=["A.B", "C.D"])
    assert status == (0 if permitted else 3), out
    assert ("1 skipped as permitted, 0" in out[-2]) == permitted and ("  A.B" in "\n".join(out)) != permitted
    assert out[-1].startswith("100% tests passed" if permitted else "no closing line")


def test_what_another_preset_runs_is_not_skipped(tree, capsys, monkeypatch):
    monkeypatch.setattr(outcomes, "ENVIRONMENTS", {"the preset x runs": lambda _: False, "without x": lambda _: False})
    (tree / "may_skip.txt").write_text("[the preset x runs] reason\nA.B\n")
    run(tree, "dev", [("A.B", "notrun"), ("C.D", "run")])
    run(tree, "fuzz", pytest=[[("A.B", "passed")]])
    (tree / "build/outcomes/fuzz/ctest.xml").unlink()
    for presets in (("dev", "fuzz"), ("fuzz", "dev")):
        assert judged(tree, capsys, *presets, known=["A.B", "C.D"])[:2] == (0, [counts(passed=2), "100% tests passed, 0 tests failed out of 1"])
    assert judged(tree, capsys, "dev", known=["A.B", "C.D"])[0] == 3
    (tree / "may_skip.txt").write_text("[without x] reason\nA.B\n")
    assert judged(tree, capsys, "dev", "fuzz", known=["A.B", "C.D"])[0] == 3


def test_a_bracket_in_a_pattern_is_an_ordinary_character():
    assert outcomes.matches("a::b[x-y]", "a::b[x-y]") and outcomes.matches("a::b[x-y]", "a::b[*") and not outcomes.matches("a::bx", "a::b[x-y]")


@pytest.mark.parametrize("preset, lost", [("house", ["h/test_h.py::lost", "Lost.Lost"]), ("dev", ["h/test_h.py::lost", "Lost.Lost", "g/test_g.py::lost"]), ("gcc", []),
                                          ("wasm", ["w/test_w.py::lost"]), ("proved", [])])
def test_each_preset_must_have_its_tests(tree, capsys, preset, lost):
    for name, annex in (("h/test_h.py", ""), ("g/test_g.py", "# Annex: languages\n"), ("w/test_w.py", "# Annex: wasm\n")):
        (tree / name).parent.mkdir()
        (tree / name).write_text('"""Text."""\n%simport os\n' % annex)
    run(tree, preset, [("A.B", "run")])
    status, out, _ = judged(tree, capsys, preset, known=["A.B", "h/test_h.py::lost", "g/test_g.py::lost", "w/test_w.py::lost", "Lost.Lost"])
    assert status == (3 if lost else 0) and out[-2] == counts(passed=1, lost=len(lost))
    assert {line.strip() for line in out if line.startswith("  ")} == set(lost)


def test_a_test_that_is_not_listed_fails(tree, capsys):
    for preset in ("dev", "gcc"):
        run(tree, preset, [("A.B", "run"), ("New.New", "run")])
    status, out, _ = judged(tree, capsys, "dev", known=["A.B"])
    assert (status, out[-2]) == (3, counts(passed=2, new=1)) and "  New.New" in out
    assert judged(tree, capsys, "gcc", known=["A.B"])[0] == 0  # it has fewer cases, with other numbers


@pytest.mark.parametrize("break_it, message", [
    (lambda folder: (folder / "ctest.xml").unlink(), "ctest did not finish"),
    (lambda folder: (folder / "ctest.xml").write_text("<testsuite><testcase"), "ctest did not finish"),
    (lambda folder: [(folder / "ctest.xml").write_text("<testsuite/>"), (folder / "x.tests.test_0.py.pytest").unlink()], "preset dev: no test ran"),
        (lambda folder: (folder / "x.tests.test_0.py.pytest").unlink(), "preset dev: pytest.x.0 passed, but did not write what each of its tests did"),
])
def test_incomplete_records_give_no_closing_line(tree, capsys, break_it, message):
    run(tree, "dev", [("pytest.x.0", "run")], pytest=[[("x/test_x.py::one", "passed")]])
    known = ["x/test_x.py::one"]
    assert judged(tree, capsys, "dev", known=known)[0] == 0
    break_it(tree / "build/outcomes/dev")
    status, out, error = judged(tree, capsys, "dev", known=known)
    assert (status, out) == (2, []) and message in error


@pytest.mark.parametrize("text, message", [("[nowhere] reason\n", "may_skip.txt:1: unknown environment 'nowhere'"), ("A.B\n", "may_skip.txt:1: expected a line")])
def test_wrong_lists_are_errors(tree, capsys, text, message):
    run(tree, "dev", [("A.B", "run")])
    (tree / "may_skip.txt").write_text(text)
    status, _, error = judged(tree, capsys, "dev", known=["A.B"])
    assert status == 2 and message in error


def test_wrong_usage(capsys):
    assert outcomes.main([]) == outcomes.main(["judge"]) == outcomes.main(["list", "more"]) == 2
    assert "outcomes.py judge PRESET..." in capsys.readouterr().err


def test_the_real_ctest_is_read(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text(
        'add_test(good "/bin/sh" "-c" "true")\n'
        'add_test(skipped "/bin/sh" "-c" "exit 77")\n'
        "set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n"
        'add_test(said "/bin/sh" "-c" "echo SKIPPED")\n'
        'set_tests_properties(said PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")\n'
        'add_test(disabled "/bin/sh" "-c" "true")\n'
        "set_tests_properties(disabled PROPERTIES DISABLED TRUE)\n"
        'add_test(bad "/bin/sh" "-c" "printf \'\\\\033[1m]]></testsuite>\'; exit 1")\n'
        'add_test(absent "/nonexistent/program")\n')
    subprocess.run(["ctest", "--output-junit", str(tmp_path / "out.xml")], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {name: how for name, how, _ in outcomes.ctest(tmp_path / "out.xml")}
    assert found == {"good": "passed", "skipped": "skipped", "said": "skipped", "disabled": "skipped", "bad": "failed", "absent": "skipped"}


TESTS = '''"""Tests."""
import os
import pytest

@pytest.fixture
def broken():
    yield
    assert False

@pytest.mark.parametrize("value", ["a b", "c\\nd"])
def test_good(value): pass
def test_bad(): assert False
def test_skipped(): pytest.skip("a  reason\\nin lines")
def test_torn_down(broken): pass
@pytest.mark.full
def test_full(): assert "SECEQUIV_OUTCOMES" not in os.environ
'''


@pytest.mark.parametrize("full", ["0", "1"])
def test_pytest_writes_what_each_test_did(tmp_path, full):
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_none.py").write_text("import pytest\n\n\n@pytest.mark.full\ndef test_full(): pass\n")
    (tmp_path / "test_module.py").write_text("import pytest\npytest.skip('whole file', allow_module_level=True)\n")

    def started(file, *options):
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, *options], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "SECEQUIV_OUTCOMES": str(tmp_path / "out"), "SECEQUIV_FULL_TESTS": full})

    assert started("test_it.py").returncode == 1
    found = {name.partition("::")[2]: (how, why) for name, how, why in outcomes.pytest(tmp_path / "out/test_it.py.pytest")}
    assert found == {"test_good[a b]": ("passed", ""), "test_good[c\\nd]": ("passed", ""), "test_bad": ("failed", ""), "test_skipped": ("skipped", "Skipped: a reason in lines"),
                     "test_torn_down": ("failed", ""), **({"test_full": ("passed", "")} if full == "1" else {})}
    assert started("test_none.py").returncode == 0  # another build has its tests
    assert len(list(outcomes.pytest(tmp_path / "out/test_none.py.pytest"))) == int(full)
    assert started("test_it.py", "-k", "nothing").returncode == 5
    started("test_module.py")
    assert list(outcomes.pytest(tmp_path / "out/test_module.py.pytest")) == [("test_module.py", "skipped", "Skipped: whole file")]
    assert started("test_it.py", "--collect-only").returncode == 0
    assert [how for _, how, _ in outcomes.pytest(tmp_path / "out/test_it.py.pytest")] == ["collected"] * (5 + int(full))


def test_the_lists_name_tests_that_exist():
    names = outcomes.ALL.read_text().splitlines()
    assert names == sorted(set(names)) and len(names) > 4000
    for name in names:
        assert str(ROOT) not in name and "/tmp/" not in name, name
        file, colons, _ = name.partition("::")
        assert not colons or (ROOT / file).is_file(), name
    for environment, patterns in outcomes.may_skip().items():
        assert patterns, environment
        for pattern in patterns:
            assert any(outcomes.matches(name, pattern) for name in names), pattern
