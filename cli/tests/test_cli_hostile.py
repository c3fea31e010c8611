"""Tests endless, deeply nested and malformed inputs: each reader refuses them with status 2 and names its limit (SECURITY.md)."""
# This test also runs in the preset asan.

import os

import pytest
from cli_tool import FULL, run

LARGE = "16777216"
READERS = {
    "program": lambda path, ok: ["dis", path], "raw": lambda path, ok: ["dis", "--from", "raw", path], "asm": lambda path, ok: ["dis", "--from", "asm", path],
    "ddd": lambda path, ok: ["dis", "--from", "ddd", path], "c": lambda path, ok: ["dis", "--from", "c", path], "policy": lambda path, ok: ["check", path],
    "lint": lambda path, ok: ["lint", path], "import": lambda path, ok: ["import", path], "check --policy": lambda path, ok: ["check", ok, "--policy", path],
    "rules": lambda path, ok: ["prove-rule", path], "profile": lambda path, ok: ["cost", ok, "--profile", path], "expected": lambda path, ok: ["diff", ok, ok, "--expect", path],
    "precompile": lambda path, ok: ["precompile", path], "state": lambda path, ok: ["cover", ok, "--state", path],
    "stack": lambda path, ok: ["prove", "%s,%s" % (ok, path), ok],
}
SOME = list(READERS) if FULL else ["program", "policy", "rules"]
DEEP = {
    "json": ('{"a":' * 2000 + "1" + "}" * 2000, ["policy", "lint", "import", "precompile", "expected"], "nested deeper than 1000 levels"),
    "arrays": ('{"rule_sets":' + "[" * 100000 + "]" * 100000 + "}", ["policy"], "nested deeper than 1000 levels"),
    "c": ("{ 0x20, 0, 0, " + "(" * 5000 + "4" + ")" * 5000 + " },", ["c"], "parentheses nest deeper than 64"),
    "rule": ("rule deep\n  before:\n    ld #" + "(" * 5000 + "$a" + ")" * 5000 + "\n  after:\n    ld #$a\n", ["rules"], "nested deeper than 200 levels"),
}


def fails(reader, path, ok, **options):
    done = run(*READERS[reader](str(path), ok), **options)
    assert done.status == 2 and done.out == "" and done.err.startswith("secequiv: "), (reader, done)
    assert len(done.err) < 5000, reader
    return done.err


@pytest.mark.parametrize("reader", SOME)
def test_every_reader_refuses_endless_and_unreadable_files(reader, getpid, tmp_path):
    ok = str(getpid)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)  # sparse
    assert LARGE in fails(reader, large, ok)
    assert LARGE in fails(reader, "/dev/zero", ok)
    assert "directory" in fails(reader, tmp_path, ok)
    assert "cannot" in fails(reader, "/proc/self/mem", ok)
    read, write = os.pipe()
    os.close(write)
    fails(reader, "/dev/fd/%d" % read, ok, pass_fds=(read,)) if reader not in ("rules", "profile", "state") else None
    os.close(read)


@pytest.mark.parametrize("name, reader", [(name, reader) for name, (_, readers, _) in DEEP.items() for reader in readers])
def test_every_reader_limits_nesting(name, reader, getpid, tmp_path):
    text, _, words = DEEP[name]
    path = tmp_path / "deep"
    path.write_text(text)
    assert words in fails(reader, path, str(getpid))


def test_long_malformed_files_are_errors(getpid, tmp_path):
    path = tmp_path / "long"
    for reader, text in (("asm", "x" * (4 << 20)), ("c", "{" * (1 << 20)), ("ddd", "9" * (1 << 20)), ("policy", '{"' + "k" * (4 << 20)), ("rules", "rule " + "r" * (1 << 20)),
                         ("profile", "x" * (4 << 20) + " y\n")):
        path.write_text(text)
        fails(reader, path, str(getpid))


def test_long_and_deep_assumptions_are_errors(getpid):
    deep = run("prove", getpid, getpid, "--assume", "!(" * 5000 + "nr == 1" + ")" * 5000)
    assert deep.status == 2 and "at most 200 nested '(' and '!'" in deep.err
    assert run("prove", getpid, getpid, "--assume", "nr == " + "a" * 100000).status == 2


def test_a_policy_at_the_nesting_limit_is_read(tmp_path):
    rule = '{"any_of":[' * 490 + "true" + "]}" * 490  # each any_of adds two levels
    path = tmp_path / "policy.json"
    path.write_text('{"version":1,"arches":["x86_64"],"default_action":"errno(1)","rule_sets":[{"action":"allow","rules":{"read":%s}}]}' % rule)
    assert run("validate", path).status == 0


@pytest.mark.full
def test_a_fifo_without_a_writer_times_out(getpid, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert "nothing was written to this FIFO for 5 seconds" in fails("program", tmp_path / "fifo", str(getpid))
