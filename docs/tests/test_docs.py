"""Every command in the documents runs, with the output and exit status that the document shows."""
# This test also runs in the preset asan.

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from as_module import load  # noqa: E402

check_docs = load(ROOT / "scripts" / "check_docs")

FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"  # the development build
DOCUMENTS = check_docs.documents()
TUTORIALS = {"is-my-pass-right", "what-changed-in-this-profile", "what-does-this-profile-allow", "fuzz-my-optimizer-in-ci", "read-a-report", "how-the-proof-works", "tests-in-my-language", "trust"}
MOST_NOT_RUN = 13  # blocks that need Docker, root, minutes or other things that tests do not have
FOLDERS = ("adapters", "analyze", "api", "bench", "cli", "corpus", "docs", "fuzz", "harness", "scripts", "verify")
LINKED = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
COMMAND = re.compile(r"\bsecequiv ([a-z][a-z-]+)")


def name(path):
    return str(path.relative_to(ROOT))


def test_every_tutorial_exists():
    assert TUTORIALS <= {path.stem for path in DOCUMENTS}


def test_the_page_of_findings_is_current():
    findings = load(ROOT / "scripts" / "gen_findings")
    assert findings.PAGE.read_text() == findings.page(findings.known.load())


def test_most_blocks_are_run():
    left_out = [(name(path), block.line, block.argument) for path in DOCUMENTS
                for block in check_docs.blocks(path.read_text()) if block.kind == "not-run"]
    assert len(left_out) <= MOST_NOT_RUN, left_out


@pytest.mark.parametrize("document", LINKED, ids=name)
def test_every_link_has_a_target(document):
    assert check_docs.broken_links(document, document.read_text()) == []


def named_paths(text):
    """Returns the files and folders that a document names in backticks: paths below this project's folders, but no patterns."""
    return re.findall(r"`((?:%s)/[\w./-]+)`" % "|".join(FOLDERS), text)


@pytest.mark.parametrize("document", [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")], ids=name)
def test_named_files_exist(document):
    gone = [each for each in named_paths(document.read_text()) if not any((ROOT / (each + ending)).exists() for ending in ("", ".h", ".cc"))]
    assert not gone


@pytest.mark.full
@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_commands_print_what_the_document_shows(document):
    messages, ran = check_docs.check(document, os.environ["SECEQUIV_BIN"])
    assert ran, "no commands"
    assert not messages, "\n".join(messages)


@pytest.mark.full
def test_screencast_is_up_to_date():
    assert load(ROOT / "scripts" / "screencast").main(["--bin", os.environ["SECEQUIV_BIN"], "--check"]) == 0


@pytest.mark.full
def test_options_in_prose_exist():
    """Every option of secequiv that a document mentions exists, even if no command of the document uses it."""
    binary = os.path.join(os.environ["SECEQUIV_BIN"], "secequiv")
    shown = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z][a-z-]+)  ", shown[shown.index("Check and prove:"):], re.MULTILINE)
    for command in commands:
        shown += subprocess.run([binary, command, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--[a-z][a-z-]+", shown))
    unknown = []
    for document in DOCUMENTS:
        for number, line in enumerate(document.read_text().splitlines(), 1):
            for span in re.findall(r"`([^`]+)`", line):
                if re.match(r"--[a-z]", span):
                    unknown += ["%s:%d: %s" % (name(document), number, each)
                                for each in re.findall(r"(?<!\S)--[a-z][a-z-]+", span) if each not in known]
                for command in COMMAND.findall(span):
                    if command not in [*commands, "help"]:
                        unknown.append("%s:%d: secequiv %s" % (name(document), number, command))
    assert not unknown, "\n".join(unknown)
