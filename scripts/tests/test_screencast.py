"""Tests that scripts/screencast draws the output of the commands, and reports a stale drawing."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from as_module import load  # noqa: E402

screencast = load(ROOT / "scripts" / "screencast")
pytestmark = pytest.mark.full


@pytest.fixture
def tool(tmp_path):
    """Returns a function that makes a folder with a fake secequiv. The fake prints `text`, and fails for those commands that have to
    fail in the session."""
    def made(text, ends="[ $1 = check ]"):
        path = tmp_path / "secequiv"
        path.write_text("#!/bin/sh\necho '%s'\n%s\n" % (text, ends))
        path.chmod(0o755)
        return str(tmp_path)
    return made


def test_a_stale_drawing_is_noticed(tool, tmp_path, capsys):
    svg = str(tmp_path / "a.svg")
    assert screencast.main(["--bin", tool("a <b> in 1 ms"), "--check", "-o", svg]) == 1  # there is no drawing yet
    assert screencast.main(["--bin", tool("a <b> in 1 ms"), "-o", svg]) == 0
    assert screencast.main(["--bin", tool("a <b> in 1 ms"), "--check", "-o", svg]) == 0
    assert screencast.main(["--bin", tool("a <b> in 17.25 ms"), "--check", "-o", svg]) == 0
    assert screencast.main(["--bin", tool("a <c> in 1 ms"), "--check", "-o", svg]) == 1
    assert screencast.main(["--bin", tool("a <b> in 1 ms", "true"), "--check", "-o", svg]) == 1  # a command ends with an unexpected status
    assert "stale" in capsys.readouterr().err


def test_the_drawing_has_every_line():
    lines = [("$ a & b", True), ("<different>", False), ("", False), ("x" * (screencast.COLUMNS + 5), False)]
    root = ElementTree.fromstring(screencast.drawing(lines))
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["$ a & b", "<different>", "", "x" * screencast.COLUMNS, "x" * 5]
    assert [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}text")][:2] == ["command", "bad"]
