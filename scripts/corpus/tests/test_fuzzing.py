"""Tests the maintenance of fuzzing corpora: merging loses nothing, minimizing keeps all coverage, and a reduced finding fails in
the same way.

The targets are scripts that behave as libFuzzer binaries; fuzz/targets/tests/test_corpus.py tests the real ones.
"""

import hashlib
import os
import random
import sys
import zipfile
from pathlib import Path

import pytest

import as_module
from corpus import fuzzing

SCRIPT = Path(__file__).resolve().parents[1] / "fuzz"


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return as_module.load(SCRIPT)


def name(content):
    return hashlib.sha1(content).hexdigest()


def fill(folder, inputs):
    for file, content in inputs.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    return folder


def held(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def executable(path, body):
    path.write_text("#!%s\n%s" % (sys.executable, body))
    path.chmod(0o755)
    return path


def test_merge_adds_new_inputs(tmp_path, command, capsys):
    one = fill(tmp_path / "one", {"a": b"1", "b": b"2", ".half-written": b"x", "deeper/c": b"3"})
    two = tmp_path / "two.zip"
    with zipfile.ZipFile(two, "w") as archive:
        archive.writestr("z", b"2")
        archive.writestr("y", b"4")
    into = fill(tmp_path / "into", {"by-hand": b"1"})
    assert command.main(["merge", str(one), str(two), "--into", str(into)]) == 0
    assert held(into) == {"by-hand": b"1", name(b"2"): b"2", name(b"3"): b"3", name(b"4"): b"4"}
    assert capsys.readouterr().out == "%s: 5 inputs read, 3 new, 4 in all\n" % into
    before = held(into)
    assert command.main(["merge", str(one), str(two), "--into", str(into)]) == 0
    assert held(into) == before
    assert held(one) == {"a": b"1", "b": b"2", ".half-written": b"x", "deeper/c": b"3"}


def test_merge_works_into_a_new_folder_and_into_itself(tmp_path):
    one = fill(tmp_path / "one", {"a": b"1", "b": b"1"})
    assert fuzzing.merge([one], tmp_path / "new/folder") == (2, 1)
    assert fuzzing.merge([one], one) == (2, 0)
    assert held(one) == {"a": b"1", "b": b"1"}


def test_merge_reads_all_before_it_writes(tmp_path, command, capsys):
    one = fill(tmp_path / "one", {"a": b"1"})
    (tmp_path / "two.zip").write_bytes(b"no archive")
    for bad in ("two.zip", "missing"):
        assert command.main(["merge", str(one), str(tmp_path / bad), "--into", str(tmp_path / "into")]) == 2
        assert bad in capsys.readouterr().err
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, step):
    target = tmp_path / "file"
    fuzzing.write(target, b"before")

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(OSError):
        fuzzing.write(target, b"after")
    assert held(tmp_path) == {"file": b"before"}


# The -merge=1 of this target keeps each file whose first byte is new.
MERGES = """
import hashlib, pathlib, sys
folders = [a for a in sys.argv[1:] if not a.startswith("-")]
assert "-merge=1" in sys.argv
seen = set()
for path in sorted(pathlib.Path(folders[1]).iterdir()):
    content = path.read_bytes()
    if content[:1] not in seen:
        seen.add(content[:1])
        pathlib.Path(folders[0], hashlib.sha1(content).hexdigest()).write_bytes(content)
"""


def test_minimize_keeps_what_libfuzzer_merges(tmp_path, command, capsys):
    folder = fill(tmp_path / "corpus", {"1": b"aa", "2": b"ab", "3": b"b", "4": b"aa"})
    executable(tmp_path / "fuzz_x", MERGES)
    assert command.main(["--bin", str(tmp_path), "minimize", "fuzz_x", str(folder)]) == 0
    assert held(folder) == {"1": b"aa", "3": b"b"}
    assert capsys.readouterr().out == "%s: 4 files, 2 kept\n" % folder


@pytest.mark.parametrize("body", [
    "raise SystemExit(1)\n",
    "pass\n",  # this target keeps nothing
    "import sys\nopen([a for a in sys.argv[1:] if a[0] != '-'][0] + '/new', 'w').write('other')\n",
])
def test_minimize_deletes_nothing_after_a_failed_merge(tmp_path, command, capsys, body):
    folder = fill(tmp_path / "corpus", {"1": b"aa", "2": b"ab"})
    executable(tmp_path / "fuzz_x", body)
    assert command.main(["--bin", str(tmp_path), "minimize", "fuzz_x", str(folder)]) == 2
    assert held(folder) == {"1": b"aa", "2": b"ab"}
    assert "fuzz minimize: " in capsys.readouterr().err


def test_cover_keeps_every_edge_and_no_superfluous_key():
    assert fuzzing.cover({}) == []
    assert fuzzing.cover({"a": {1, 2}, "b": {2, 3}, "c": {1, 2, 3}}) == ["c"]
    # The function chooses the largest set first, and finds at the end that it is superfluous.
    assert fuzzing.cover({"large": {1, 2, 3, 4}, "x": {1, 2, 5}, "y": {3, 4, 6}}) == ["x", "y"]
    generator = random.Random(1)
    for _ in range(200):
        sets = {key: set(generator.sample(range(30), generator.randrange(12))) for key in range(20)}
        kept = fuzzing.cover(sets)
        everything = set().union(*sets.values())
        assert set().union(*(sets[key] for key in kept)) == everything
        for key in kept:
            assert set().union(*(sets[other] for other in kept if other != key)) != everything


# In this `secequiv cover`, a record that starts with the bytes N and M covers outcome M of instruction N.
COVERS = """
import pathlib, sys
record = pathlib.Path(sys.argv[sys.argv.index("--inputs") + 1]).read_bytes()
assert len(record) == 64 and sys.argv[1] == "cover"
rows = ["000"] * 4
rows[record[0]] = "1" + ("10" if record[1] else "01")
pathlib.Path(sys.argv[sys.argv.index("--state") + 1]).write_text("secequiv coverage 1\\nprogram 0 4\\n" + "\\n".join(rows) + "\\n")
"""


def record(*values):
    return bytes(values).ljust(64, b"\0")


def test_minimize_of_pairs_keeps_one_input_for_each_edge(tmp_path, command, capsys):
    executable(tmp_path / "secequiv", COVERS)
    after = fill(tmp_path, {"after.bpf": b""}) / "after.bpf"
    several = record(0, 0) + record(0, 1) + record(1, 0, 9)[:10]
    folder = fill(tmp_path / "corpus", {"several": several, "again": record(0, 1, 7), name(record(2, 1)): record(2, 1)})
    arguments = ["minimize", "fuzz_pair", str(folder), "--after", str(after), "--secequiv", str(tmp_path)]
    assert command.main(arguments) == 0
    assert capsys.readouterr().out == "%s: 3 files with 5 different records, 4 kept: one for each edge\n" % folder
    kept = held(folder)
    assert all(name(content) == file and len(content) == 64 for file, content in kept.items())
    assert sorted(content[:2] for content in kept.values()) == [bytes((0, 0)), bytes((0, 1)), bytes((1, 0)), bytes((2, 1))]
    assert command.main(arguments) == 0
    assert held(folder) == kept


def test_minimize_of_pairs_deletes_nothing_without_coverage(tmp_path, command, capsys):
    executable(tmp_path / "secequiv", "print('no such program')\nraise SystemExit(2)\n")
    folder = fill(tmp_path / "corpus", {"a": record(1)})
    after = fill(tmp_path, {"after.bpf": b""}) / "after.bpf"
    assert command.main(["minimize", "fuzz_pair", str(folder), "--after", str(after), "--secequiv", str(tmp_path)]) == 2
    assert "secequiv cover: no such program" in capsys.readouterr().err
    assert held(folder) == {"a": record(1)}
    assert command.main(["minimize", "fuzz_pair", str(folder), "--after", str(tmp_path / "none"), "--secequiv", str(tmp_path)]) == 2


# This target fails on inputs with BUG, in a different way on inputs with OTHER, and in a new way each time on inputs with RANDOM.
FAILS = """
import pathlib, random, sys
content = pathlib.Path(sys.argv[-1]).read_bytes()
if b"BUG" in content:
    print("fuzz_x: wrong at %d of %#x" % (len(content), id(content)), file=sys.stderr)
    sys.exit(77)
if b"OTHER" in content:
    print("ERROR: other", file=sys.stderr)
    sys.exit(77)
if b"RANDOM" in content:
    print("fuzz_x: " + "abcdefgh"[random.randrange(8)] * random.randrange(1, 99))
    sys.exit(1)
if b"ARGUMENT" in content and "--argument" in sys.argv:
    sys.exit(5)
"""


@pytest.fixture
def target(tmp_path):
    return executable(tmp_path / "fuzz_x", FAILS)


def regress(command, tmp_path, *arguments):
    return command.main(["--bin", str(tmp_path), "regress", "fuzz_x", "--corpus", str(tmp_path / "regress"), *map(str, arguments)])


def test_regress_stores_the_reduced_finding(tmp_path, command, target, capsys):
    finding = fill(tmp_path, {"crash-1": b"some text before BUG and OTHER after"}) / "crash-1"
    assert regress(command, tmp_path, finding, "--origin", "a run of 2 hours") == 0
    stored = held(tmp_path / "regress")
    file = "x/wrong-at-n-of-n-%s" % name(b"BUG")[:8]
    assert set(stored) == {file, "FINDINGS.md"}
    assert stored[file] == b"BUG"
    notes = stored["FINDINGS.md"].decode()
    assert notes.endswith("\n\n- `%s`: wrong at N of N (3 bytes, from a run of 2 hours)\n" % file)
    assert capsys.readouterr().out == "%s: wrong at N of N (3 bytes of %d)\n" % (tmp_path / "regress" / file, len(finding.read_bytes()))
    assert regress(command, tmp_path, finding) == 0  # a second run changes nothing
    assert held(tmp_path / "regress") == stored


def test_regress_never_replaces_another_file(tmp_path, command, target, capsys):
    one, two = (fill(tmp_path, {file: content}) / file for file, content in (("one", b"1BUG"), ("two", b"OTHER")))
    assert regress(command, tmp_path, one, "--name", "lost") == 0
    assert held(tmp_path / "regress")["x/lost"] == b"BUG"
    assert regress(command, tmp_path, two, "--name", "lost") == 1
    assert "another file of that name" in capsys.readouterr().err
    assert held(tmp_path / "regress")["x/lost"] == b"BUG"
    assert regress(command, tmp_path, one, two, "--name", "lost") == 2


def test_regress_refuses_inputs_without_a_stable_failure(tmp_path, command, target, capsys):
    files = fill(tmp_path, {"harmless": b"nothing", "random": b"RANDOM"})
    assert regress(command, tmp_path, files / "harmless") == 1
    assert "without a failure" in capsys.readouterr().err
    assert regress(command, tmp_path, files / "random") == 1
    assert "fails in a different way each time" in capsys.readouterr().err
    assert not (tmp_path / "regress").exists()


def test_regress_passes_arguments_to_the_target(tmp_path, command, target):
    files = fill(tmp_path, {"argument": b"xxARGUMENTxx"})
    assert regress(command, tmp_path, files / "argument") == 1
    assert regress(command, tmp_path, files / "argument", "--argument=--argument") == 0
    assert b"ARGUMENT" in held(tmp_path / "regress").values()


def test_shorten_stops_after_the_given_attempts():
    tried = []

    def fails(content):
        tried.append(content)
        return b"x" in content

    assert fuzzing.shorten(b"a" * 100 + b"x", fails, 5) != b""
    assert len(tried) == 5
    assert fuzzing.shorten(b"12x34", lambda content: b"x" in content, 100) == b"x"
    assert fuzzing.shorten(b"12345", lambda content: len(content) == 5, 100) == b"\0" * 5
    assert fuzzing.shorten(b"", lambda content: True, 100) == b""


@pytest.mark.parametrize("arguments", [[], ["merge", "a"], ["minimize", "fuzz_x"], ["regress", "fuzz_x"], ["other"]])
def test_wrong_usage_is_an_error(command, arguments):
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2


def test_a_target_that_is_not_built_is_an_error(tmp_path, command, capsys):
    fill(tmp_path / "corpus", {"a": b""})
    assert command.main(["--bin", str(tmp_path), "minimize", "fuzz_none", str(tmp_path / "corpus")]) == 2
    assert "fuzz_none is not built" in capsys.readouterr().err


def test_regress_does_not_reduce_a_hang(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "TIMEOUT", 0.5)
    tries = tmp_path / "tries"
    target = executable(tmp_path / "fuzz_slow", "import time\nopen(%r, 'a').write('x')\ntime.sleep(60)\n" % str(tries))
    (tmp_path / "slow").write_bytes(b"some input")
    path, found, size = fuzzing.regress(target, tmp_path / "slow", tmp_path / "regress" / "slow")
    assert "stopped after" in found.signature and size == 10
    assert path.read_bytes() == b"some input" and len(tries.read_text()) == 2
