#!/usr/bin/env python3
"""Check corpus/known.toml, the list of known faults in other projects' code: known.py [--file FILE] [--list].

Owns the format of that file. An entry that is out of date is a problem, like a malformed one: somebody has to check it again, and then
give it a new date or remove it. Exit status: 0 no problems; 1 problems; 2 wrong usage or an unreadable file.
"""

import argparse
import datetime
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from naive.accept import accept  # noqa: E402
from naive.asm import AsmError, assemble  # noqa: E402
from naive.vectors import parse_input  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "corpus" / "known.toml"

REQUESTS = ("optimize", "compile", "evaluate", "profile")
POLICIES = ("compile", "profile")  # requests whose file is a policy
# for each kind of fault: whether an entry of this kind has an input, with the right and the wrong number for it
KINDS = {"wrong-answer": True, "evaluator": True, "refused-output": False, "refused": False, "slow": False, "hang": False, "crash": False, "hole": True}
LONGEST = datetime.timedelta(days=184)  # six months


class Known(NamedTuple):
    id: str
    adapter: str
    request: str
    kind: str
    project: str
    version: str
    function: str
    owner: str
    first_seen: datetime.date
    expires: datetime.date
    file: Path  # absolute
    path: str  # `file`, relative to corpus
    ours: object  # a 32-bit number if the entry has an input, otherwise text
    theirs: object
    what: str
    reported: str  # where somebody reported it, or "no"
    arguments: tuple = ()  # for the adapter
    input: str = ""  # fields of struct seccomp_data
    data: bytes = b""  # struct seccomp_data
    other: str = ""  # of a hole: another input that the kernel cannot tell from `input`
    other_data: bytes = b""
    answer: object = None  # the path of the wrong program that the project's code returned, if the kind has one

    def program(self):
        """Returns the instructions in `file`, for requests that have a program."""
        return assemble(self.file.read_text())


class KnownError(Exception):
    """The file has problems; `problems` is a list of sentences."""

    def __init__(self, problems):
        super().__init__("\n".join(problems))
        self.problems = problems


def load(path=FILE, corpus=None, adapters=None, today=None):
    """Returns the entries of the file, in its order. Raises KnownError with all problems, or OSError if there is no file.

    File names are relative to `corpus`; `adapters` lists the valid values of `adapter`.
    """
    path = Path(path)
    corpus = Path(corpus or path.parent)
    if adapters is None:
        adapters = [step.parent.name for step in (ROOT / "adapters").glob("*/build")]
    today = today or datetime.date.today()
    try:
        document = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KnownError(["%s: %s" % (path.name, error)]) from None
    problems, entries = [], []
    for key in document:
        if key != "known":
            problems.append("%s: unknown table %r" % (path.name, key))
    for at, table in enumerate(document.get("known", []), 1):
        found = []
        entry = _entry(table, corpus, adapters, today, found)
        name = table.get("id", "entry %d" % at)
        problems += ["%s: %s" % (name, problem) for problem in found]
        if any(other.id == entry.id for other in entries):
            problems.append("%s: the id is given twice" % name)
        entries.append(entry)
    if problems:
        raise KnownError(problems)
    return entries


def _entry(table, corpus, adapters, today, problems):
    def take(key, kind, what, optional=None):
        value = table.get(key, optional)
        # In Python, a datetime is also a date, and a bool is also a number.
        if not isinstance(value, kind) or isinstance(value, (datetime.datetime, bool)):
            problems.append("%s: expected %s, found %r" % (key, what, value))
            return None
        return value

    texts = {key: take(key, str, "text") or "" for key in (
        "id", "adapter", "request", "kind", "project", "version", "function", "owner", "what", "file", "reported")}
    for key in sorted(set(table) - set(texts) - {"first_seen", "expires", "ours", "theirs", "input", "other", "family", "arguments"}):
        problems.append("%s: unknown key" % key)
    for key, text in texts.items():
        if key in table and isinstance(table[key], str) and not text.strip():
            problems.append("%s: empty" % key)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", texts["id"]):
        problems.append("id: expected lower case and hyphens, found %r" % texts["id"])
    for key, allowed in (("adapter", sorted(adapters)), ("request", REQUESTS), ("kind", tuple(KINDS))):
        if texts[key] not in allowed:
            problems.append("%s: expected one of %s, found %r" % (key, ", ".join(allowed), texts[key]))
    first, last = take("first_seen", datetime.date, "a date"), take("expires", datetime.date, "a date")
    if first and last:
        if first > today + datetime.timedelta(days=1):  # time zones: today may already be tomorrow elsewhere
            problems.append("first_seen: %s has not come yet" % first)
        if not first < last <= first + LONGEST and not first < last <= today + LONGEST:
            problems.append("expires: expected a day within six months, found %s" % last)
        if last < today:
            problems.append("expires: %s is past: check whether the fault still exists" % last)
    differs = KINDS.get(texts["kind"], False)
    values = [take(key, int if differs else str, "a 32-bit number" if differs else "text") for key in ("ours", "theirs")]
    if differs and None not in values:
        if not all(0 <= value < 1 << 32 for value in values):
            problems.append("ours, theirs: expected 32-bit numbers")
        if values[0] == values[1]:
            problems.append("ours, theirs: expected different values")
    inputs = {"input": b"", "other": b""}
    for key, applies in (("input", differs), ("other", texts["kind"] == "hole")):
        if applies:
            try:
                inputs[key] = parse_input((take(key, str, "text") or "").split())
            except ValueError as error:
                problems.append("%s: %s" % (key, error))
        elif key in table:
            problems.append("%s: does not apply to this kind" % key)
    if (texts["kind"] == "hole") and texts["request"] != "profile":
        problems.append("kind: a hole needs the request profile")
    # An entry for a slow optimizer names the family of programs in the report of fuzz, and excuses no other family.
    if (texts["kind"], texts["request"]) == ("slow", "optimize"):
        take("family", str, "text")
    elif "family" in table:
        problems.append("family: does not apply to this kind")
    arguments = take("arguments", list, "a list of texts", [])
    answer = corpus / "regress/answers" / (texts["id"] + ".bpf") if texts["kind"] in ("wrong-answer", "refused-output") else None
    entry = Known(first_seen=first, expires=last, data=inputs["input"], other_data=inputs["other"], other=str(table.get("other", "")), ours=values[0], theirs=values[1], arguments=tuple(arguments or ()),
                  input=str(table.get("input", "")), path=texts["file"], answer=answer, **{**texts, "file": corpus / texts["file"]})
    _check_file(entry, problems)
    return entry


def _check_file(entry, problems):
    if not entry.file.is_file():
        problems.append("file: there is no %s" % entry.file)
    elif (entry.file.suffix == ".asm") != (entry.request not in POLICIES):
        problems.append("file: expected %s" % ("a policy (.json)" if entry.request in POLICIES else "a program (.asm)"))
    elif entry.request not in POLICIES:
        try:
            refusal = accept(entry.program())
        except (AsmError, UnicodeDecodeError) as error:
            problems.append("file: %s" % error)
        else:
            if refusal is not None:
                problems.append("file: the kernel refuses it: %s at %d" % refusal)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Check corpus/known.toml, the list of known faults in other projects' code.",
                                     epilog="exit status: 0 no problems, 1 problems, 2 wrong usage or an unreadable file")
    parser.add_argument("--file", default=str(FILE), help="read another file (default: corpus/known.toml)")
    parser.add_argument("--list", action="store_true", help="print one line for each entry")
    options = parser.parse_args(argv)
    try:
        entries = load(options.file)
    except OSError as error:
        print("known: %s" % error, file=sys.stderr)
        return 2
    except KnownError as error:
        print("\n".join("known: %s" % problem for problem in error.problems), file=sys.stderr)
        return 1
    for entry in entries if options.list else ():
        print("%-32s %-14s %-12s %s %s, until %s" % (entry.id, entry.kind, entry.adapter, entry.project, entry.version, entry.expires))
    print("known: %d entries" % len(entries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
