"""Tests that corpus/known.toml has no problems today, and that known.py reports the problems of other files."""

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from corpus import known  # noqa: E402

TODAY = datetime.date(2026, 12, 1)
GOOD = {
    "id": '"a-b"', "adapter": '"one"', "request": '"evaluate"', "kind": '"evaluator"', "project": '"p"', "version": '"1"',
    "function": '"f"', "owner": '"o"', "first_seen": "2026-11-21", "expires": "2027-05-21", "file": '"regress/a.asm"',
    "input": '"nr=3"', "ours": "1", "theirs": "2", "what": '"w"', "reported": '"no"',
}


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "regress").mkdir()
    (tmp_path / "regress/a.asm").write_text("ld [0]\nret a\n")
    (tmp_path / "regress/bad.asm").write_text("ld #x\n")
    (tmp_path / "regress/refused.asm").write_text("ld M[0]\nret a\n")
    (tmp_path / "regress/p.json").write_text("{}\n")
    return tmp_path


def problems(corpus, *tables, today=TODAY):
    text = "".join("[[known]]\n" + "".join("%s = %s\n" % item for item in table.items()) for table in tables)
    (corpus / "known.toml").write_text(text)
    try:
        known.load(corpus / "known.toml", adapters=["one", "two"], today=today)
    except known.KnownError as error:
        return error.problems
    return []


def changed(**changes):
    return {key: value for key, value in {**GOOD, **changes}.items() if value is not None}


def test_known_toml_has_no_problems_today():
    entries = known.load()
    assert entries, "no entries are left, so the file and the code that reads it can be deleted"


def test_every_file_of_the_folder_belongs_to_an_entry():
    used = {entry.file for entry in known.load() if entry.kind != "hole"}  # holes are in profiles of corpus/policies
    there = {path for path in (ROOT / "corpus/regress/known").iterdir()}
    assert {entry.answer for entry in known.load() if entry.answer} == set((ROOT / "corpus/regress/answers").iterdir())
    assert there == used


def test_a_good_entry_has_no_problems(corpus):
    assert problems(corpus, GOOD) == []
    entry, = known.load(corpus / "known.toml", adapters=["one"], today=TODAY)
    assert entry.data[:8] == b"\x03\0\0\0\x3e\0\0\xc0" and len(entry.program()) == 2 and entry.ours == 1
    assert entry.expires == datetime.date(2027, 5, 21)


def test_some_kinds_of_entries_have_no_input(corpus):
    assert problems(corpus, changed(request='"compile"', kind='"hang"', file='"regress/p.json"', input=None, ours='"a"',
                                    theirs='"b"', arguments='["--tree"]')) == []


def test_a_hole_has_two_inputs(corpus):
    assert problems(corpus, changed(request='"profile"', kind='"hole"', file='"regress/p.json"', other='"nr=4"')) == []
    entry, = known.load(corpus / "known.toml", adapters=["one"], today=TODAY)
    assert (entry.data[0], entry.other_data[0]) == (3, 4)


@pytest.mark.parametrize("day,expired", [("2027-05-20", False), ("2027-05-21", False), ("2027-05-22", True)])
def test_an_expired_entry_is_a_problem(corpus, day, expired):
    found = problems(corpus, GOOD, today=datetime.date.fromisoformat(day))
    assert found == (["a-b: expires: 2027-05-21 is past: check whether the fault still exists"] if expired else [])


def test_a_renewed_entry_counts_from_today(corpus):
    renewed = changed(expires="2027-11-01")
    assert problems(corpus, renewed, today=datetime.date(2027, 5, 10)) == []
    assert problems(corpus, renewed) == ["a-b: expires: expected a day within six months, found 2027-11-01"]


@pytest.mark.parametrize("changes,message", [
    ({"id": '"A b"'}, "id: expected lower case"),
    ({"id": None}, "id: expected text, found None"),
    ({"adapter": '"three"'}, "adapter: expected one of one, two"),
    ({"request": '"ask"'}, "request: expected one of optimize"),
    ({"kind": '"odd"'}, "kind: expected one of wrong-answer"),
    ({"owner": '" "'}, "owner: empty"),
    ({"reported": None}, "reported: expected text"),
    ({"version": "1"}, "version: expected text, found 1"),
    ({"extra": "1"}, "extra: unknown key"),
    ({"first_seen": '"2026-11-21"'}, "first_seen: expected a date"),
    ({"first_seen": "2026-11-21T00:00:00"}, "first_seen: expected a date"),
    ({"first_seen": "2026-12-24", "expires": "2027-01-01"}, "first_seen: 2026-12-24 has not come yet"),
    ({"expires": "2026-11-21"}, "expires: expected a day within six months"),
    ({"expires": "2028-01-01"}, "expires: expected a day within six months"),
    ({"ours": "2"}, "ours, theirs: expected different values"),
    ({"ours": "true"}, "ours: expected a 32-bit number"),
    ({"theirs": "4294967296"}, "ours, theirs: expected 32-bit numbers"),
    ({"theirs": '"two"'}, "theirs: expected a 32-bit number"),
    ({"input": '"number=3"'}, "input: unknown field"),
    ({"input": None}, "input: expected text, found None"),
    ({"kind": '"hang"', "ours": '"a"', "theirs": '"b"'}, "input: does not apply to this kind"),
    ({"file": '"regress/none.asm"'}, "file: there is no"),
    ({"file": '"regress"'}, "file: there is no"),
    ({"file": '"regress/p.json"'}, "file: expected a program"),
    ({"request": '"compile"'}, "file: expected a policy"),
    ({"file": '"regress/bad.asm"'}, "file: line 1: "),
    ({"file": '"regress/refused.asm"'}, "file: the kernel refuses it: mem_unset at 0"),
    ({"arguments": '"--tree"'}, "arguments: expected a list"),
    ({"kind": '"slow"', "request": '"optimize"', "ours": '"a"', "theirs": '"b"', "input": None}, "family: expected text, found None"),
    ({"family": '"scratch"'}, "family: does not apply to this kind"),
    ({"other": '"nr=3"'}, "other: does not apply to this kind"),
    ({"kind": '"hole"'}, "other: expected text, found None"),
    ({"kind": '"hole"', "other": '"nr=three"'}, "other: "),
    ({"kind": '"hole"', "other": '"nr=3"'}, "kind: a hole needs the request profile"),
])
def test_each_malformed_entry_is_a_problem(corpus, changes, message):
    found = problems(corpus, changed(**changes))
    assert any(message in problem for problem in found), found


def test_an_id_given_twice_is_a_problem(corpus):
    assert problems(corpus, GOOD, GOOD) == ["a-b: the id is given twice"]


def test_every_problem_is_reported(corpus):
    assert len(problems(corpus, changed(owner='""', ours="2"), changed(id='"c"', file='"x.asm"'))) == 3


def test_a_file_that_is_not_toml_is_an_error(corpus):
    (corpus / "known.toml").write_text("[[known]\n")
    with pytest.raises(known.KnownError, match="known.toml"):
        known.load(corpus / "known.toml")


def test_an_unknown_table_is_an_error(corpus):
    (corpus / "known.toml").write_text("[knwon]\n")
    with pytest.raises(known.KnownError, match="unknown table 'knwon'"):
        known.load(corpus / "known.toml")


@pytest.mark.parametrize("text,status,message", [
    (None, 2, "No such file"), ("[[known]\n", 1, "known: "), ("", 0, "known: 0 entries")])
def test_the_command_has_the_documented_statuses(tmp_path, text, status, message):
    if text is not None:
        (tmp_path / "k.toml").write_text(text)
    done = subprocess.run([sys.executable, str(ROOT / "scripts/corpus/known.py"), "--file", str(tmp_path / "k.toml")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode, message in done.stdout) == (status, True), done.stdout


def test_the_list_has_a_line_for_each_entry():
    done = subprocess.run([sys.executable, str(ROOT / "scripts/corpus/known.py"), "--list"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(known.load()) + 1
