"""Tests that the limits of a command hold on large inputs, where every pass over a program is long."""

import os
import subprocess
import sys

import pytest
from cli_tool import ROOT, binary, report, run

sys.path.insert(0, str(ROOT / "corpus" / "regress" / "limits"))

import large_policies  # noqa: E402

NO_TIME = ("--timeout", "0.000001")
MIB = 24
COMMANDS = {
    "prove": ["prove", "BEFORE", "AFTER"], "effect": ["prove", "BEFORE", "AFTER", "--same", "effect"],
    "refines": ["prove", "BEFORE", "AFTER", "--refines"], "z3": ["prove", "BEFORE", "AFTER", "--engine", "z3"],
    "sat": ["prove", "BEFORE", "AFTER", "--engine", "sat"], "check": ["check", "BEFORE", "AFTER"],
    "page": ["check", "BEFORE", "AFTER", "--html", "PAGE"], "diff": ["diff", "BEFORE", "AFTER"],
    "cost": ["cost", "BEFORE", "AFTER"], "mutate": ["mutate", "BEFORE"],
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return large_policies.write(tmp_path_factory.mktemp("large"), 20000)


def filled(command, pair, tmp_path):
    names = {"BEFORE": pair[0], "AFTER": pair[1], "PAGE": tmp_path / "page.html"}
    return [str(names.get(word, word)) for word in COMMANDS[command]]


def peak(*args):
    """Returns the exit status and the most memory that the command had, in bytes."""
    process = subprocess.Popen([binary(), *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss << 10


@pytest.mark.parametrize("command", ["prove", "effect", "refines", "z3", "sat", "mutate", "diff"])
def test_no_time_gives_unknown_with_the_limit(command, pair, tmp_path):
    done = run(*filled(command, pair, tmp_path), *NO_TIME)
    assert done.status == 3, done.out[-500:]
    assert "time limit of 1e-06 s reached" in done.out + done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_memory_limit_is_of_the_whole_command(command, pair, tmp_path):
    arguments = filled(command, pair, tmp_path)
    read = peak(*arguments[:3], *NO_TIME)[1]  # both inputs, and nothing else
    status, most = peak(*arguments, "--max-memory", str(MIB))
    assert status in (0, 1, 3)
    assert most <= read + (2 * MIB << 20), (read >> 20, most >> 20)


def test_an_answer_that_was_known_is_reported_and_the_page_says_what_is_missing(pair, tmp_path):
    page = tmp_path / "page.html"
    document, done = report("check", *pair, "--max-memory", MIB, "--html", page)
    assert (document["verdict"], done.status) == ("different", 1)
    text = page.read_text()
    assert "parts of this page are missing" in text and "memory limit" in text
    assert len(text) < 1 << 20
