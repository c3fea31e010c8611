"""Tests the matrix of kernels: that it runs every part, notices every kind of disagreement, and keeps what it did not run again. A guest
that exists only in Python stands for the kernels."""

import json
import os
import struct
import sys
from pathlib import Path

import pytest

from kernel import boards, matrix, planted, tables

ROOT = Path(__file__).resolve().parents[3]
GUEST = ROOT / "cli/tests/kernel_guest.py"
BINARY = Path(os.environ.get("SECEQUIV_BIN", ROOT / "build/dev/bin")) / "secequiv"

OK = {
    "arch": "arm64", "date": "2026-01-02", "release": "6.1.0", "seconds": {"random": 5},
    "random": {"verdict": "pass", "programs": 100000, "evaluations": 1234567},
    "filters": {"verdict": "pass", "filters": 3, "evaluations": 4000},
    "entries": {"arm": {"numbers": {"verdict": "pass", "numbers": 900, "skipped": 0, "unfiltered": []}, "calls": {"verdict": "pass", "filters": 1, "evaluations": 70}}},
    "planted": {"halves": "found", "length": "found"},
    "tables": {"arm": {"ours": 5, "headers": 4, "wrong": {}, "newer": 1}},
    "bitmaps": {"arm": {"filters": 1, "calls": 33, "wrong": []}},
}


def changed(path, value):
    """Returns the good result with one value replaced."""
    out = json.loads(json.dumps(OK))
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return out


def test_a_good_result_has_no_problems():
    assert matrix.problems(OK) == []


@pytest.mark.parametrize("path, value, message", [
    (["random", "verdict"], "different", "random: different"),
    (["filters", "verdict"], "unknown", "filters: unknown"),
    (["entries", "arm", "calls", "verdict"], "different", "calls by arm: different"),
    (["entries", "arm", "numbers", "unfiltered"], [{"number": 335}], "entry arm: filters do not see 335"),
    (["planted", "length"], "missed", "the planted mistake 'length' was missed"),
    (["tables", "arm", "wrong"], {"getpid": [20, 39]}, "table arm: "),
    (["bitmaps", "arm", "wrong"], ["docker.bpf"], "the kernel's bitmap of docker.bpf is not that of the model"),
    (["bitmaps"], "not compared: no memory", "bitmaps: not compared"),
])
def test_every_kind_of_disagreement_is_a_problem(path, value, message):
    problem, = matrix.problems(changed(path, value))
    assert message in problem
    assert message in matrix.page([changed(path, value)])


def test_a_part_that_was_not_run_is_named():
    without = {key: value for key, value in OK.items() if key != "tables"}
    assert matrix.problems(without) == ["tables: not run"]


def test_results_of_other_parts_and_kernels_stay(tmp_path):
    path = tmp_path / "kernels.json"
    matrix.keep(path, OK)
    matrix.keep(path, {**OK, "release": "6.12.0"})
    matrix.keep(path, {"arch": "arm64", "date": "2026-01-03", "release": "6.1.0", "seconds": {"tables": 1}, "tables": {}})
    old, new = json.loads(path.read_text())["kernels"]
    assert old["random"] == OK["random"] and old["tables"] == {} and old["seconds"] == {"random": 5, "tables": 1} and new["release"] == "6.12.0"
    matrix.write_page(path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| arm64 | Linux 6.1.0 | 100,000 | 1,234,567 | 4,000 | `halves`, `length` |" in text and "2026-01-02 to 2026-01-03" in text
    assert "| arm64 | 6.12.0 | `arm` | 70 | 900 | 4 of 4 | 33 calls of 1 filters |" in text


def test_numbers_that_bypass_filters_are_in_every_bitmap(tmp_path, monkeypatch):
    command = tmp_path / "secequiv"
    command.write_text("#!/bin/sh\necho '%s'\n" % json.dumps({"arches": [{"arch": "x86_64", "cached": ["read", "mmap"]}]}))
    command.chmod(0o755)
    monkeypatch.setattr(matrix.tables, "our_table", lambda arch: {"read": 0, "mmap": 9, "uretprobe": 335, "late": 460})
    asked = matrix.Secequiv(command, "amd64", tmp_path)
    for passing in ((), (335,), (335, 336, 460)):
        bits = int.from_bytes(matrix.cached_bits(asked, "x", "x86_64", passing), "little")
        assert bits == sum(1 << number for number in (0, 9, *passing) if number != 460)


def test_wrong_tables_are_noticed():
    theirs = {"read": 0, "write": 1, "open": 2, "fsync2": 7, "fsync": 7}
    same = tables.compare({"read": 0, "write": 1, "open": 2, "fsync": 7, "later": 9}, theirs)
    assert same.wrong == {} and same.newer == ["later"]
    assert tables.compare({**theirs, "read": 1, "write": 0}, theirs).wrong == {"read": (1, 0), "write": (0, 1)}
    assert tables.compare({"read": 0, "write": 1, "fsync": 7}, theirs).wrong == {"open": (None, 2)}
    assert tables.compare({**theirs, "other": 2}, theirs).wrong == {"other": (2, None)}


def test_the_numbers_include_every_edge():
    found = matrix.numbers()
    assert found == sorted(set(found)) and {0, 466, 6400, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x40000000, 0xF0002, 0xFFFFFFFF} <= set(found)


def frames(bodies):
    return b"".join(struct.pack("<I", len(body)) + body for body in bodies)


def test_planted_mistakes_change_what_they_should():
    program = struct.pack("<HBBI", 6, 0, 0, 0x50001)
    ask = b"Q\1" + struct.pack("<I", 1) + program + struct.pack("<16I", *range(16))
    head, same, calls = planted.split(planted.Halves().request(ask))
    assert (head, same) == (ask[:6], program) and struct.unpack("<16I", calls) == (0, 1, 2, 3, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
    assert planted.Arch().request(ask)[:2] == b"Q\0"
    assert planted.Division().answer(ask, b"\0" + struct.pack("<2I", 5, 0xFFFFFFFF)) == b"\0" + struct.pack("<2I", 5, 1)
    accept = b"A" + struct.pack("<II", 2, 1) + program + struct.pack("<I", 4096) + 4096 * program
    assert planted.Length().answer(accept, b"\0\1\1") == b"\0\1\0"


@pytest.fixture
def python_guest(monkeypatch):
    monkeypatch.setattr(matrix, "RANDOM_PROGRAMS", 40000)
    monkeypatch.setattr(matrix, "corpus_programs", lambda: [(matrix.PROGRAMS / "libseccomp/docker-aarch64.tree.bpf", "aarch64")])
    monkeypatch.setattr(matrix, "PROFILES", [])
    monkeypatch.setattr(matrix, "numbers", lambda: [0, 1, 0x10000])

    def start(secequiv, binary, arch, folder):
        secequiv.binary = binary
        secequiv.serve = [sys.executable, str(GUEST), {"arm64": "aarch64"}.get(arch, arch), *secequiv.bug]
    monkeypatch.setattr(matrix.Secequiv, "bug", [], raising=False)
    monkeypatch.setattr(matrix.Secequiv, "__init__", start)


def test_the_matrix_runs_on_a_guest(python_guest, tmp_path):
    result = matrix.run("arm64", BINARY, tmp_path, ("random", "filters", "entries", "planted"), short=True)
    assert matrix.problems({**result, "tables": {}, "bitmaps": {}}) == []
    assert result["release"] == "6.1.0-fake" and result["random"]["programs"] == 400 and result["random"]["evaluations"] > 1000
    assert set(result["planted"]) == set(planted.BUGS) and set(result["entries"]) == {"aarch64", "arm"}
    assert result["entries"]["arm"]["numbers"] == {"verdict": "pass", "numbers": 3, "skipped": 0, "unfiltered": []}


def test_numbers_that_filters_do_not_see_are_listed(python_guest, tmp_path, monkeypatch):
    monkeypatch.setattr(matrix.Secequiv, "bug", ["numbers"])
    result = matrix.run("arm64", BINARY, tmp_path, ("entries",), short=True)
    assert [row["number"] for row in result["entries"]["aarch64"]["numbers"]["unfiltered"]] == [0, 1, 0x10000]
    assert any("filters do not see 0, 1, 65536" in problem for problem in matrix.problems(result))


def test_a_kernel_that_does_not_answer_is_not_available(python_guest, tmp_path, monkeypatch):
    monkeypatch.setattr(matrix.Secequiv, "bug", ["dies"])
    with pytest.raises(boards.NotAvailable):
        matrix.run("arm64", BINARY, tmp_path, ("random",), short=True)
