"""Tests that scripts/check_docs finds wrong outputs, statuses, options, forms and links, and accepts times and widths that vary."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from as_module import load  # noqa: E402

check_docs = load(ROOT / "scripts" / "check_docs")
pytestmark = pytest.mark.full

# This secequiv prints its arguments; it does not know the option --wrong.
SECEQUIV = """#!/bin/sh
if [ "$1" = --wrong ]; then echo "unknown option --wrong" >&2; exit 2; fi
echo "verdict   $* (in $$ ms)"
[ "$1" != different ]
"""


@pytest.fixture
def check(tmp_path):
    """Returns a function that checks a document with this text, in a tree with one file, and returns the messages."""
    binaries, root = tmp_path / "bin", tmp_path / "root"
    binaries.mkdir()
    (root / "corpus").mkdir(parents=True)
    (root / "corpus" / "a.bpf").write_text("a\n")
    (binaries / "secequiv").write_text(SECEQUIV)
    (binaries / "secequiv").chmod(0o755)

    def checked(text):
        document = root / "README.md"
        document.write_text(text)
        messages, _ = check_docs.check(document, binaries, root)
        assert sorted(path.name for path in (root / "corpus").iterdir()) == ["a.bpf"]  # examples write into another folder
        return messages
    return checked


def fence(info, *lines):
    return "\n".join(["```" + info, *lines, "```", ""])


@pytest.mark.parametrize("lines", [
    ("$ secequiv pass", "verdict pass (in 7 ms)"),  # times and column widths may differ
    ("$ secequiv pass", "..."),
    ("$ secequiv pass; echo end", "...", "end"),
    ("$ secequiv pass; echo a; echo b", "verdict ... (in 1 ms)", "a", "...", "b"),
    ("$ secequiv different  # exit status 1", "verdict different (in 1.5 ms)"),
    ("$ echo a \\", "  b", "a b"),
    ("$ cat corpus/a.bpf; echo b > corpus/b; cat corpus/b", "a", "b"),
    ("$ build/release/bin/secequiv pass", "..."),
    ("$ cd corpus", "$ cat a.bpf", "a"),
])
def test_correct_console_blocks_pass(check, lines):
    assert check(fence("console", *lines)) == []


@pytest.mark.parametrize("lines,message", [
    (("$ secequiv pass", "verdict fail (in 7 ms)"), "-verdict fail"),
    (("$ secequiv pass",), "+verdict pass"),
    (("$ secequiv pass", "verdict pass (in 7 ms)", "more"), "-more"),
    (("$ secequiv different", "..."), "exit status 1, expected 0"),
    (("$ secequiv pass  # exit status 1", "..."), "exit status 0, expected 1"),
    (("$ secequiv --wrong", "..."), "exit status 2, expected 0"),
    (("$ secequiv --wrong", "..."), "unknown option --wrong"),
    (("$ false | cat",), "exit status 1"),
    (("$ exit 0",), "exit status missing"),
])
def test_wrong_console_blocks_are_reported(check, lines, message):
    messages = check(fence("console", *lines))
    assert len(messages) == 1 and message in messages[0], messages
    assert messages[0].startswith("README.md:2: ")


def test_commands_of_sh_blocks_are_run(check):
    assert check(fence("sh", "# a comment", "", "a=1", "test $a = 1", "secequiv different    # exit status 1")) == []
    assert "exit status 2, expected 0" in check(fence("sh", "secequiv --wrong"))[0]
    assert check(fence("sh not-run: needs Docker", "docker --wrong")) == []


def test_file_blocks_are_stored(check):
    assert check(fence("json file: deep/x.json", "{}") + fence("console", "$ cat deep/x.json", "{}")) == []


def test_blocks_run_only_if_their_requirements_are_met(check):
    text = fence("go file: a/b.go", "package b") + fence("console needs: test -e %s", "$ cat a/b.go", "package a")
    assert "-package a" in check(text % "a/b.go")[0]
    assert check(text % "a/c.go") == []


def test_broken_links_are_reported(check):
    assert check("[a](corpus/a.bpf) [b](https://example.org) [c](#here)\n" + fence("text", "[x](nowhere)")) == []
    assert check("[a](corpus/b.bpf)\n") == ["README.md: no such file: corpus/b.bpf"]


@pytest.mark.parametrize("text,message", [
    (fence("", "secequiv pass"), "1: a block of ''"),
    (fence("bash", "secequiv pass"), "1: a block of 'bash'"),
    (fence("text", "a", "$ secequiv pass"), "1: '$ secequiv pass' looks like a command"),
    (fence("sh not-run"), "none of 'not-run: REASON'"),
    (fence("sh not-run:"), "none of 'not-run: REASON'"),
    (fence("go", "package main"), "1: a block of 'go' must be a file"),
    (fence("rust needs: true", "fn main() {}"), "1: a block of 'rust' must be a file"),
    (fence("console", "output"), "2: output before"),
    (fence("sh", "# nothing"), "1: a block without commands"),
    ("a\n```sh\nls\n", "2: this block has no end"),
    (fence("json file: ../x.json", "{}"), "1: '../x.json' is not in the folder"),
    (fence("json file: corpus/a.bpf", "{}"), "1: 'corpus/a.bpf' is not in the folder"),
])
def test_blocks_of_unknown_form_are_errors(check, text, message):
    with pytest.raises(check_docs.BadDocument, match=re.escape(message)):
        check(text)


def alive(pid):
    """Returns whether the process runs and is not a zombie."""
    stat = Path("/proc") / pid / "stat"
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_slow_documents_are_killed(tmp_path, capsys, monkeypatch):
    """The document is killed with its children, and the other documents still run."""
    (tmp_path / "secequiv").write_text(SECEQUIV)
    (tmp_path / "secequiv").chmod(0o755)
    hanging, other = tmp_path / "hanging.md", tmp_path / "other.md"
    hanging.write_text(fence("console", "$ echo a", "b", "$ sleep 1000 & echo $! >%s/pid; wait" % tmp_path, "$ echo c", "$ echo d"))
    other.write_text(fence("console", "$ echo e", "f"))
    monkeypatch.setattr(check_docs, "SECONDS", 2)
    assert check_docs.main(["--bin", str(tmp_path), str(hanging), str(other)]) == 1
    message = capsys.readouterr().out
    assert "hanging.md:4: sleep" in message and "still running after 2 s, the limit for a document, and killed; 2 later commands did not run" in message
    assert "hanging.md:2: echo a" in message and "other.md:2: echo e" in message and "5 commands, 0 blocks not run, 3 failures" in message
    assert not alive((tmp_path / "pid").read_text().strip())


def test_update_replaces_changed_outputs(tmp_path, capsys):
    (tmp_path / "secequiv").write_text(SECEQUIV)
    (tmp_path / "secequiv").chmod(0o755)
    document = tmp_path / "a.md"
    document.write_text("a\n" + fence("console", "$ echo a \\", "b", "wrong", "$ echo c", "...", "d", "$ echo e") + "end\n")
    assert check_docs.main(["--bin", str(tmp_path), "--update", str(document)]) == 1
    assert document.read_text() == "a\n" + fence("console", "$ echo a \\", "b", "a b", "$ echo c", "...", "d", "$ echo e", "e") + "end\n"
    assert "3 commands, 0 blocks not run, 3 failures" in capsys.readouterr().out
