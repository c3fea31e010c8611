"""Tests that output on a terminal contains no control sequences from inputs, and that its lines fit the width."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, binary, run, shown_on
from test_cli_streams import COMMANDS

EVIL = "a\x1b]0;title\x07\u202etxt.b\u2028\x9b31m\nverdict   pass"
DOCKER = POLICIES / "oci" / "docker-default.json"
OLD_DOCKER = POLICIES / "oci" / "docker-default-0.1.0.json"
CORPUS = PROGRAMS / "gvisor"


def harmless(text):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text), text
    assert "\nverdict   pass" not in text.replace("\nverdict   pass:", ""), text


@pytest.mark.parametrize("args", [
    ["check", EVIL], ["check", EVIL, "getpid-enoent.asm"], ["check", EVIL, "--quiet"], ["prove", EVIL, "bad.asm"], ["prove", "bad.asm", EVIL], ["prove", EVIL, EVIL],
    ["diff", EVIL, "getpid-enoent.asm"], ["fuzz", EVIL, EVIL, "--trials", "100"], ["fuzz", "--optimizer", "false", "--programs", EVIL, "--trials", "1"],
    ["mutate", EVIL], ["cover", EVIL], ["why", EVIL], ["actions", EVIL], ["reach", EVIL], ["run", EVIL, "getpid.asm", "--trace"], ["cost", EVIL],
    ["cost", EVIL, "getpid-enoent.asm"], ["cost", "getpid.asm", "--profile", EVIL], ["cost", EVIL + ",getpid.asm"], ["cache", EVIL], ["kernel", EVIL], ["kernel", EVIL, "getpid-enoent.asm"],
    ["validate", EVIL], ["validate", "bad.asm", EVIL], ["asm", EVIL, EVIL], ["run", EVIL[:-1]], ["lint", EVIL], ["import", EVIL], ["precompile", EVIL],
    ["check", "--before-cmd", "cat nothing; " + EVIL], ["prove-rule", EVIL], ["bench", EVIL, "--rounds", "2"]],
    ids=lambda args: " ".join(args).encode("unicode_escape").decode().replace("/", ""))
def test_file_names_cannot_control_a_terminal(args, getpid, getpid_enoent, asm):
    (getpid.parent / EVIL).write_text(getpid.read_text())
    asm("ld [0]\n", "bad.asm")
    for more in ([], ["--json"]):
        done = run(*args, *more, cwd=getpid.parent)
        if "option" in done.err and "--json" in more:
            continue
        harmless(done.out)
        harmless(done.err)
        if "--json" in more and done.out:
            json.loads(done.out)


def test_json_keeps_the_name(getpid):
    (getpid.parent / EVIL).write_text(getpid.read_text())
    (result,) = json.loads(run("validate", EVIL, "--json", cwd=getpid.parent).out)["results"]
    assert result["file"] == EVIL


NARROW = {
    "check": ["check"], "check-different": ["check", "getpid.asm", "getpid-enoent.asm"], "prove": ["prove", "getpid.asm", "getpid-enoent.asm"],
    "diff": ["diff", OLD_DOCKER, DOCKER], "diff-rules": ["diff", OLD_DOCKER, DOCKER, "--rules"], "cover": ["cover", "getpid.asm"], "mutate": ["mutate", "getpid.asm"],
    "fuzz": ["fuzz", "--optimizer", "identity", "--trials", "5", "--no-scaling"], "fuzz-list": ["fuzz", "--list"], "why": ["why", DOCKER, "--nr", "socket"],
    "actions": ["actions", DOCKER], "reach": ["reach", "getpid.asm"], "lint": ["lint", DOCKER], "guard": ["guard", DOCKER], "run": ["run", DOCKER, "--trace"],
    "cost": ["cost", CORPUS / "systrap.before.bpf"], "cache": ["cache", CORPUS / "systrap.before.bpf"], "validate": ["validate", DOCKER], "passes": ["optimize", "--list"],
    "steps": ["optimize", POLICIES / "seed" / "ten-syscalls.json", "--changes", "-o", "out"], "words": ["--explain"], "word": ["--explain", "unknown"],
    "precompile": ["precompile", POLICIES / "seed" / "ten-syscalls.json", "-o", "out"], "rules": ["prove-rule", ROOT / "verify" / "rules" / "library" / "bytecode.rule"], "help": ["--help"],
    "error": ["check", "/nonexistent/" + "long-name/" * 12], "option": ["check", "--no-such-option-of-a-remarkable-length", "--" + "x" * 80],
    "cost-two": ["cost", CORPUS / "systrap.before.bpf", CORPUS / "systrap.after.bpf"], "cache-two": ["cache", CORPUS / "systrap.before.bpf", CORPUS / "systrap.after.bpf"],
    "kernel": ["kernel", "getpid.asm"], "bench": ["bench", "getpid.asm", "--rounds", "2", "--max-inputs", "10"], "trace": ["why", "getpid.asm", "--trace"],
    "stack": ["cost", "getpid.asm,getpid-enoent.asm"], "no-command": [], "missing": ["prove", "getpid.asm"],
    **{"help-" + name: [name, "--help"] for name in COMMANDS}}


@pytest.mark.parametrize("name", NARROW)
def test_lines_fit_the_given_width(name, getpid, getpid_enoent):
    wide = run(*NARROW[name], cwd=getpid.parent)
    assert wide.status != 2 or name in ("error", "option", "no-command", "missing"), wide
    for columns in (80, 40):
        done = run(*NARROW[name], cwd=getpid.parent, env={**os.environ, "COLUMNS": str(columns)})
        assert done.status == wide.status
        assert [line for line in (done.out + done.err).splitlines() if len(line) > columns] == []
        if name in ("prove", "help", "reach", "mutate"):  # the other commands print times, or break long words
            words = [set(re.sub(r"[0-9.]+ m?s\b", "", " ".join(text.split())).split()) for text in (wide.out, done.out)]
            assert columns == 40 or words[0] - {"|"} == words[1] - {"|"}


@pytest.mark.parametrize("name", ["cost", "cost-two", "bench", "help", "help-check", "help-fuzz"])
def test_tables_and_options_fit_80_columns_as_they_are(name, getpid):
    """Each row of a table is one line. Line breaks occur only in file names and sentences. The names are short, wherever this tree is."""
    for path in (CORPUS / "systrap.before.bpf", CORPUS / "systrap.after.bpf"):
        (getpid.parent / path.name).symlink_to(path)
    words = [word.name if isinstance(word, Path) else word for word in NARROW[name]]
    out = run(*words, cwd=getpid.parent, env={**os.environ, "COLUMNS": "80"}).out
    wide = run(*words, cwd=getpid.parent).out
    rows = [re.findall(r"^(?: {0,6}--?[a-z]| *(?!and )[a-z_0-9]+ +(?:\| *)?\d| *\(\d\)).*", text, re.MULTILINE) for text in (wide, out)]
    assert len(rows[0]) == len(rows[1]) > 0
    if not name.startswith("help") and name != "bench":  # `bench` measures time
        assert rows[0] == rows[1]


@pytest.mark.parametrize("columns", ["80", "500"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_descriptions_of_options_form_a_column(command, columns):
    """A long name is alone on its line, so two blanks stand before each description."""
    rows = run(command, "--help", env={**os.environ, "COLUMNS": columns}).out.split("Options:\n")[1].splitlines()
    rows = [row for row in rows if row.startswith(" ")]  # no headings
    names = [row for row in rows if row.startswith("  -")]
    assert names and all(re.match(r".{28}  \S", row) or re.fullmatch(r"  -\S+( \S+)?", row) for row in names), names
    assert all(re.match(r" {30}\S", row) for row in rows if row not in names), rows


def test_two_traces_stand_one_above_the_other_if_there_is_no_room(getpid, getpid_enoent):
    def rows(columns):
        out = run("prove", "getpid.asm", "getpid-enoent.asm", cwd=getpid.parent, env={**os.environ, "COLUMNS": columns}).out
        return [line for line in out.splitlines() if "ret #0x5000" in line]
    assert len(rows("120")) == 1 and " | " in rows("120")[0]
    assert len(rows("80")) == 2 and "ret #0x50001" in rows("80")[0] and "ret #0x50002" in rows("80")[1]


def test_a_wide_table_becomes_several(getpid):
    out = run("mutate", "getpid.asm", cwd=getpid.parent, env={**os.environ, "COLUMNS": "80"}).out
    headings = [line.split() for line in out.splitlines() if line.startswith("operator ")]
    assert len(headings) == 2 and "mutants" in headings[0] and "unproven" in headings[1]
    assert len([line for line in out.splitlines() if line.startswith("total ")]) == 2


def test_lines_of_json_and_programs_are_not_wrapped(getpid):
    narrow = {**os.environ, "COLUMNS": "30"}
    for args in (["reach", getpid, "--json"], ["dis", getpid], ["--print-schema", "check"], ["check", getpid, "--json", "--no-such-option"]):
        assert run(*args, env=narrow).out == run(*args).out


def test_lines_fit_the_width_of_a_terminal(getpid):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 50, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen([binary(), "reach", getpid], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = shown_on(ours).decode()
    assert process.wait(timeout=60) == 0
    os.close(ours)
    assert max(map(len, shown.splitlines())) <= 50 and "for example" in shown


@pytest.mark.full
def test_a_progress_line_fits(hard):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 24, 0, 0))
    process = subprocess.Popen([binary(), "prove", *hard, "--engine", "z3", "--timeout", "3"], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = shown_on(ours).decode()
    assert process.wait(timeout=60) == 3
    os.close(ours)
    assert "proving" in shown and max(len(part) for part in re.split(r"[\r\n]|\x1b\[K", shown)) <= 24


def test_lists_of_calls_are_wrapped_once_at_80_columns():
    lines = run("actions", DOCKER, env={**os.environ, "COLUMNS": "80"}).out.splitlines()
    names = [line for line in lines if line.startswith(20 * " ")]
    assert len(names) > 100 and max(map(len, lines)) <= 80
    assert {len(line) - len(line.lstrip()) for line in names} == {28}
