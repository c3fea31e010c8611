"""`--explain`: every word that a report can contain has two to five sentences."""

import json
import os
import pty
import re
import subprocess

import pytest
from cli_tool import ROOT, SCHEMAS, binary, fits, run, shown_on


def enumerated(header, enum, after=""):
    """Returns the members of a C++ enumeration as words of reports: kUnknownCode becomes unknown_code."""
    text = (ROOT / header).read_text()
    body = re.search(r"enum class %s\b[^{]*\{(.*?)\n *\};" % enum, text[text.index(after):], re.DOTALL).group(1)
    names = re.findall(r"^\s*k(\w+),?", body, re.MULTILINE)
    assert len(names) >= 2
    return {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in names}


WORDS = {"error": enumerated("harness/base/result.h", "ErrorCode"), "verdict": enumerated("harness/compare/verdict.h", "Verdict"),
         "rule": enumerated("harness/bpf/refusal.h", "RefusalRule"),
         "lint": enumerated("harness/report/lint.h", "Kind") | enumerated("harness/report/lint.h", "Kind", "struct DoubtfulRule") | {"unknown_name"},
         "finding": {word.replace("_", "-") for word in enumerated("harness/compare/hunt_report.h", "FindingKind")}}
GLOSSARY = dict(re.findall(r"^\| ([^|]+?) \| (.+) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)[1:])


def listed():
    rows = [(line[:8].strip(), line[9:27].strip()) for line in run("--explain").out.splitlines()]
    return {kind: {row[1] for row in rows if row[0] == kind} for kind in {row[0] for row in rows}}


def test_the_glossary_is_explained():
    """The documents and --explain share one source of the glossary."""
    for word, meaning in GLOSSARY.items():
        done = run("--explain", word.upper())
        entries = re.split(r"^(\S.*) \((\w+)\)\n", done.out, flags=re.MULTILINE)[1:]
        texts = [" ".join(text.split()) for name, kind, text in zip(entries[::3], entries[1::3], entries[2::3]) if (name, kind) == (word, "word")]
        assert texts == [meaning.replace("*", "").replace("\\", "") + "."], done
        assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("word", ["LOOSER", "stricter", "witness", "region", "stack", "obligation", "derived input", "decision diagram",
                                  "killed", "undecided", "lost call", "direction"])
def test_words_of_reports_are_in_the_glossary(word):
    assert word.lower() in GLOSSARY and run("--explain", word).status == 0


def test_every_word_is_explained():
    every = {**WORDS, "word": set(GLOSSARY)}
    assert listed() == every
    for word in sorted(set().union(*WORDS.values())):
        done = run("--explain", word)
        assert done.status == 0 and done.err == "", done
        entries = re.split(r"^(\S+) \((\w+)\)\n", done.out, flags=re.MULTILINE)[1:]
        assert {kind for kind in every if word in every[kind]} == set(entries[1::3]) and set(entries[::3]) == {word}
        for kind, text in zip(entries[1::3], entries[2::3]):
            assert kind == "word" or 2 <= len(re.findall(r"[.](?:\s|$)", text)) <= 6, (word, text)
            assert max(map(len, text.splitlines())) <= 80


def test_every_kind_of_lint_finding_is_explained(tmp_path):
    """docs/reference/lint.md lists exactly these words; a reported finding begins with its place and its word."""
    reference = (ROOT / "docs" / "reference" / "lint.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \| ", reference.split("## Details")[1], re.MULTILINE)) == WORDS["lint"]
    profile = tmp_path / "profile.json"
    profile.write_text('{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["raed"], "action": "SCMP_ACT_ALLOW"}]}')
    word, = re.findall(r"^warning: .*?\): (\w+): ", run("lint", profile).out, re.MULTILINE)
    assert word == "unknown_name" and run("--explain", word).status == 0


def test_explained_errors_match_the_schema():
    listed = re.findall(r'"enum": (\[[^]]*"usage"[^]]*\])', (SCHEMAS / "error.schema.json").read_text())
    assert listed and set().union(*map(json.loads, listed)) == WORDS["error"]


def test_explanations_as_json():
    """The JSON has the same words and sentences as the text."""
    for word in ([], ["unknown"], ["LOOSER"], ["derived input"]):
        done = run("--explain", *word, "--json")
        document = json.loads(done.out)
        assert (done.status, done.err, fits(document)) == (0, "", "explain")
        rows = [(row["word"], row["kind"], row["text"]) for row in document["words"]]
        text = " ".join(run("--explain", *word).out.split())
        if word:
            assert text == " ".join("%s (%s) %s" % row for row in rows)
        else:
            assert {kind: {row[0] for row in rows if row[1] == kind} for kind in {row[1] for row in rows}} == listed()
    done = run("--explain", "unknown_cod", "--json")
    document = json.loads(done.out)
    assert (done.status, fits(document), document["error"]) == (2, "error", "usage") and "did you mean unknown_code?" in done.err
    assert run("--explain=unknown", "--json").out == run("--explain", "unknown", "--json").out


def test_an_unknown_word_gets_a_suggestion():
    done = run("--explain", "unknown_cod")
    assert done.status == 2 and done.out == "" and "did you mean unknown_code?" in done.err


def test_the_word_true_is_not_read_as_a_flag():
    done = run("--explain", "true")
    assert done.status == 2 and done.out == "" and "there is no explanation of the word 'true'" in done.err
    assert run("--print-schema", "true").status == 2
    assert run("--explain=").out == run("--explain", "").out == run("--explain").out


def test_on_a_terminal_errors_point_to_explain(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([binary(), "dis", str(tmp_path / "nowhere")], stderr=theirs, stdout=subprocess.DEVNULL)
    assert process.wait(timeout=60) == 2
    os.close(theirs)
    assert b"hint: secequiv --explain io\r\n" in shown_on(ours)
    os.close(ours)
    assert "hint" not in run("dis", tmp_path / "nowhere").err


def test_explain_with_a_command_is_refused(getpid, getpid_enoent):
    """The command would not run, and exit status 0 would look like a pass."""
    for option in (["--explain"], ["--explain", "different"], ["--list-options"], ["--color", "never", "--explain=different"]):
        done = run(*option, "check", getpid, getpid_enoent)
        assert done.status == 2 and "expected no command" in done.err, done
