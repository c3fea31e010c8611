"""Tests the comparison of two vector runners: every disagreement is a failure."""

import pytest

from .. import compare_counts


def runner(tmp_path, *lines):
    script = tmp_path / "runner.sh"
    script.write_text("#!/bin/sh\n" + "".join("echo '%s'\n" % line for line in lines))
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    "first, second, expected",
    [
        ((200, 0), (200, 0), None),
        (None, (200, 0), "no count"),
        ((200, 0), None, "no count"),
        ((200, 0), (199, 0), "disagree"),
        ((199, 1), (200, 0), "disagree"),
        ((199, 1), (199, 1), "1 vectors failed"),
        ((149, 0), (149, 0), "only 149"),
    ],
)
def test_different_or_low_counts_are_disagreements(first, second, expected):
    problem = compare_counts.disagreement(first, second, 150)
    assert problem is None if expected is None else expected in problem


def test_the_count_is_read_from_the_last_line(tmp_path):
    command = [runner(tmp_path, "x.vec:3: something", "vectors: 7 passed, 1 failed")]
    assert compare_counts.count(command) == (7, 1)


@pytest.mark.parametrize("lines", [(), ("vectors: 7 passed, 0 failed", "more"), ("vectors: many passed, 0 failed",)])
def test_output_without_a_count_gives_none(tmp_path, lines):
    assert compare_counts.count([runner(tmp_path, *lines)]) is None


def test_main_fails_on_a_runner_that_misses_a_vector(tmp_path, capsys):
    vectors = tmp_path / "vectors"
    vectors.mkdir()
    (vectors / "one.vec").write_text("vector: one\nsame: raw 1 1 yes\n")
    good = runner(tmp_path, "vectors: 1 passed, 0 failed")
    assert compare_counts.main([good, str(vectors), str(tmp_path / "absent"), "--minimum", "1"]) == 0
    assert "both runners: vectors: 1 passed" in capsys.readouterr().out
    bad = runner(tmp_path, "vectors: 2 passed, 0 failed")
    assert compare_counts.main([bad, str(vectors), "--minimum", "1"]) == 1
    assert "disagree" in capsys.readouterr().err
