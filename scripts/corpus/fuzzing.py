"""Maintains corpora of fuzz targets: merges and minimizes them, and turns a finding into a regress file.

Owns the form of a corpus folder: its files are named by the SHA-1 of their content, as libFuzzer names them. It deletes files only
after all files that remain are complete. It must not know what inputs mean, except for fuzz_pair, whose inputs are
records of 64 bytes.
"""

import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

RECORD, MOST_RECORDS = 64, 16  # in inputs of fuzz_pair
TIMEOUT = 120  # seconds for one run of a target
HUNG = -1000  # status of a run that was stopped at TIMEOUT; no process ends with it


class CorpusError(Exception):
    """An operation failed; the message is one line."""


class Finding(NamedTuple):
    signature: str  # the failure, without numbers that change from run to run
    output: str
    hung: bool  # if so, every further attempt would also last until the time limit


def digest(content):
    return hashlib.sha1(content).hexdigest()


def write(path, content):
    """Writes a file whole or not at all, even if the machine stops."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".%s.%d" % (path.name, os.getpid()))
    try:
        with temporary.open("wb") as output:
            output.write(content)
            output.flush()
            os.fsync(output.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def files(folder):
    """Returns the inputs in a folder and its subfolders: regular files, except hidden ones, which may be partly written."""
    folder = Path(folder)
    if not folder.is_dir():
        raise CorpusError("%s: expected a folder" % folder)
    return sorted(path for path in folder.rglob("*") if path.is_file()
                  and not any(part.startswith(".") for part in path.relative_to(folder).parts))


def contents(source):
    """Returns the inputs of a folder, or of an archive from a fuzzing service."""
    source = Path(source)
    if source.suffix == ".zip" and source.is_file():
        try:
            with zipfile.ZipFile(source) as archive:
                return [archive.read(info) for info in archive.infolist() if not info.is_dir()]
        except (OSError, zipfile.BadZipFile) as error:
            raise CorpusError("%s: %s" % (source, error)) from None
    return [path.read_bytes() for path in files(source)]


def merge(sources, into):
    """Adds inputs that `into` does not have; returns (read, new). Reads everything before it writes anything."""
    read = [content for source in sources for content in contents(source)]
    into = Path(into)
    held = {digest(path.read_bytes()) for path in files(into)} if into.is_dir() else set()
    new = {digest(content): content for content in read}
    into.mkdir(parents=True, exist_ok=True)
    added = 0
    for name in sorted(set(new) - held):
        write(into / name, new[name])
        added += 1
    return len(read), added


def _run(command, cwd=None):
    try:
        return subprocess.run([str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, HUNG, "%s: stopped after %d s" % (Path(command[0]).name, TIMEOUT))
    except OSError as error:
        raise CorpusError("%s: %s" % (command[0], error.strerror)) from None


def _remove_all_but(folder, kept):
    """Deletes the files whose digest is not in `kept`, and all but one of the files that have the same content. Returns how many."""
    seen, removed = set(), 0
    for path in files(folder):
        name = digest(path.read_bytes())
        if name in kept and name not in seen:
            seen.add(name)
        else:
            path.unlink()
            removed += 1
    return removed


def minimize(binary, folder):
    """Keeps only the files that libFuzzer needs to reach the coverage of all files; returns the numbers of files (before, after)."""
    before = files(folder)
    with tempfile.TemporaryDirectory() as kept:
        done = _run([binary, "-merge=1", "-timeout=25", kept, Path(folder).resolve()])
        if done.returncode != 0:
            raise CorpusError("%s -merge=1: status %d: %s" % (binary, done.returncode, (done.stdout.strip().splitlines() or ["(it printed nothing)"])[-1]))
        names = {digest(path.read_bytes()) for path in files(kept)}
    if before and not names:
        raise CorpusError("%s -merge=1 kept none of %d files: nothing was deleted" % (binary, len(before)))
    missing = names - {digest(path.read_bytes()) for path in before}
    if missing:
        raise CorpusError("%s -merge=1 made %d files that are not in the corpus: nothing was deleted" % (binary, len(missing)))
    _remove_all_but(folder, names)
    return len(before), len(files(folder))


def records(content):
    """Returns the inputs in a file of fuzz_pair; the last one is padded with zeros."""
    rows = [content[at:at + RECORD].ljust(RECORD, b"\0") for at in range(0, len(content), RECORD)]
    return rows[:MOST_RECORDS]


def edges(secequiv, program, record):
    """Returns what one input covers in a program, as a set of (instruction, position). The position is that of the mark in the instruction's row of
    the state file."""
    with tempfile.TemporaryDirectory() as folder:
        given, state = Path(folder) / "input", Path(folder) / "state"
        given.write_bytes(record)
        done = _run([secequiv, "cover", program, "--inputs", given, "--no-derive", "--no-prove", "--state", state])
        if not state.is_file():
            raise CorpusError("secequiv cover: %s" % (done.stdout.strip().splitlines() or ["status %d" % done.returncode])[-1])
        rows = state.read_text().splitlines()[2:]
    return frozenset((pc, mark) for pc, row in enumerate(rows) for mark, covered in enumerate(row) if covered == "1")


def cover(sets):
    """Returns keys of `sets` ({key: set}) whose sets have the same union as all sets. Without any one of these keys, the union would be
    smaller. The choice is deterministic."""
    wanted = set().union(*sets.values()) if sets else set()
    chosen = []
    while wanted:
        best = max(sorted(sets), key=lambda key: len(sets[key] & wanted))
        chosen.append(best)
        wanted -= sets[best]
    for key in list(chosen):
        rest = set().union(*(sets[other] for other in chosen if other != key))
        if sets[key] <= rest:
            chosen.remove(key)
    return sorted(chosen)


def minimize_pair(secequiv, program, folder):
    """Replaces the files by files of one record each, at most one for each edge of `program`; returns (files before, records
    before, files after)."""
    before = files(folder)
    found = {digest(record): record for path in before for record in records(path.read_bytes())}
    kept = cover({name: edges(secequiv, program, record) for name, record in found.items()})
    for name in kept:
        write(Path(folder) / name, found[name])
    for path in before:
        if path != Path(folder) / path.name or path.name not in kept:
            path.unlink()
    return len(before), len(found), len(kept)


def finding(binary, content, arguments=()):
    """Returns the target's Finding for an input, or None if the target does not fail on it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(content)
        done = _run([binary, *arguments, path], cwd=folder)
    if done.returncode == 0:
        return None
    name = Path(binary).name
    for pattern in (r"^%s: (.+)$" % re.escape(name), r"^SUMMARY: (.+)$", r"^.*ERROR: (.+)$", r"^.*(runtime error: .+)$"):
        match = re.search(pattern, done.stdout, re.MULTILINE)
        if match:
            failure = match.group(1)
            break
    else:
        failure = "status %d" % done.returncode
    return Finding(re.sub(r"0x[0-9a-fA-F]+|\d+", "N", failure).strip(), done.stdout, done.returncode == HUNG)


def shorten(content, fails, attempts):
    """Removes parts of an input and then sets bytes to zero, as long as it still `fails` (bytes -> bool), in at most `attempts` tries."""
    def attempt(candidate):
        nonlocal attempts
        if attempts <= 0 or candidate == content:
            return False
        attempts -= 1
        return fails(candidate)

    size = max(len(content) // 2, 1)
    while size >= 1 and content:
        at, shorter = 0, False
        while at < len(content):
            candidate = content[:at] + content[at + size:]
            if attempt(candidate):
                content, shorter = candidate, True
            else:
                at += size
        size = size if shorter and size > 1 else size // 2
    for at in range(len(content)):
        if content[at] != 0:
            candidate = content[:at] + b"\0" + content[at + 1:]
            if attempt(candidate):
                content = candidate
    return content


def slug(signature):
    words = re.findall(r"[a-z]+", signature.lower())
    return "-".join(words)[:48].strip("-") or "finding"


def regress(binary, source, folder, name=None, attempts=400, arguments=(), origin=""):
    """Reduces a finding, stores it in `folder`, and adds a line to FINDINGS.md in the parent folder; returns (path, Finding, size before).

    Raises CorpusError if the input does not fail twice in the same way, or if another file has this name.
    """
    source, folder = Path(source), Path(folder)
    content = source.read_bytes()
    first, second = finding(binary, content, arguments), finding(binary, content, arguments)
    if first is None or second is None:
        raise CorpusError("%s: %s runs it without a failure" % (source, Path(binary).name))
    if first.signature != second.signature:
        raise CorpusError("%s: fails in a different way each time: '%s', then '%s'" % (source, first.signature, second.signature))

    def fails(candidate):
        seen = finding(binary, candidate, arguments)
        return seen is not None and seen.signature == first.signature

    small = content if first.hung else shorten(content, fails, attempts)
    path = folder / (name or "%s-%s" % (slug(first.signature), digest(small)[:8]))
    if path.exists() and path.read_bytes() != small:
        raise CorpusError("%s: there is another file of that name; choose a name with --name" % path)
    notes = folder.parent / "FINDINGS.md"
    known = notes.read_text() if notes.exists() else ("This file has a line for each file in the folders of fuzz targets here: the failure, and the origin of the input.\n"
                                                      "scripts/corpus/fuzz regress adds these lines.\n\n")
    line = "- `%s/%s`: %s (%d bytes, from %s)\n" % (folder.name, path.name, first.signature, len(small), origin or "%s, %d bytes" % (source.name, len(content)))
    write(path, small)
    if "- `%s/%s`:" % (folder.name, path.name) not in known:
        write(notes, (known + line).encode())
    return path, first, len(content)
