"""Tests that the limits of a command hold on large inputs, where every pass over a program is long, and for the processes that it starts."""

import json
import os
import resource
import subprocess
import sys

import pytest
from cli_tool import HARD_AFTER, HARD_BEFORE, ROOT, binary, report, run

sys.path.insert(0, str(ROOT / "corpus" / "regress" / "limits"))

import large_policies  # noqa: E402

MIB = 24
COMMANDS = json.loads(run("--list-options").out)["commands"]
RUNS = ["check BEFORE AFTER", "check BEFORE AFTER --html PAGE", "check BEFORE", "prove BEFORE AFTER", "prove BEFORE AFTER --same effect", "prove BEFORE AFTER --refines",
        "prove BEFORE AFTER --engine z3", "prove BEFORE AFTER --engine sat", "prove BEFORE AFTER --engine all", "prove BEFORE --property arch-closed",
        "prove BEFORE BEFORE --certificate PAGE", "diff BEFORE AFTER --rules", "mutate BEFORE", "cover BEFORE", "why BEFORE --nr read", "actions BEFORE", "reach BEFORE", "lint BEFORE",
        "guard BEFORE", "guard BEFORE --fix", "lift BEFORE", "run BEFORE --nr read", "cost BEFORE AFTER", "cost BEFORE --bound", "cache BEFORE AFTER", "import BEFORE", "import BEFORE --as oci",
        "merge BEFORE AFTER --intersect", "optimize BEFORE", "optimize BEFORE --print-rules", "precompile BEFORE -o PAGE"]
STACKS = ["prove STACK STACK", "prove STACK --property arch-closed", "diff STACK STACK", "why STACK --nr read", "cost STACK", "lift STACK", "run STACK --nr read", "cache STACK", "optimize STACK"]
LINEAR = ["asm BEFORE", "dis BEFORE", "validate BEFORE AFTER"]  # these need no limit
LOOPS = {"fuzz", "find-rules", "prove-rule"}  # the limits are those of each proof
OTHER_LIMITS = {"bisect", "bench", "kernel", "dump"}


def test_every_command_has_both_limits_or_needs_none():
    limited = {words.split()[0] for words in RUNS}
    linear = {words.split()[0] for words in LINEAR}
    for command in COMMANDS:
        names = {option["names"][-1] for option in command["options"] if option["names"]}
        has = [limit in names for limit in ("--timeout", "--max-memory")]
        assert has == [command["name"] in limited | LOOPS] * 2, command["name"]
        assert has[0] or command["name"] in linear | OTHER_LIMITS, command["name"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return large_policies.write(tmp_path_factory.mktemp("large"), 20000)


@pytest.fixture(scope="module")
def validated(pair):
    """The seconds of CPU and the bytes that `validate` needs for the pair."""
    return used("validate", *pair)[1:]


def filled(words, pair, tmp_path):
    names = {"BEFORE": pair[0], "AFTER": pair[1], "STACK": "%s,%s" % tuple(pair), "PAGE": tmp_path / "page"}
    return [str(names.get(word, word)) for word in words.split()]


def used(*args):
    """Returns the exit status, the seconds of CPU and the most bytes that the command or a process of it had."""
    process = subprocess.Popen([binary(), *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


@pytest.mark.parametrize("words", RUNS + STACKS + LINEAR)
def test_without_time_a_command_takes_not_much_longer_than_validate(words, pair, validated, tmp_path):
    status, seconds, most = used(*filled(words, pair, tmp_path), *([] if words in LINEAR else ["--timeout", "0.000001"]))
    assert status in (0, 1, 2, 3)
    files = words.count("BEFORE") + words.count("AFTER") + 2 * words.count("STACK")
    assert seconds <= 2 * max(files, 2) * validated[0], (seconds, validated)  # CPU time, so other processes matter little
    assert words not in LINEAR or most <= 2 * validated[1]


@pytest.mark.parametrize("words", RUNS + STACKS)
def test_the_memory_limit_is_of_the_whole_command(words, pair, validated, tmp_path):
    status, _, most = used(*filled(words, pair, tmp_path), "--max-memory", MIB)
    assert status in (0, 1, 2, 3)
    assert most <= validated[1] + (2 * MIB << 20), (most >> 20, validated[1] >> 20)


@pytest.mark.parametrize("words", ["prove BEFORE AFTER", "prove BEFORE AFTER --engine z3", "diff BEFORE AFTER", "mutate BEFORE", "why BEFORE --nr read", "lift BEFORE", "optimize BEFORE"])
def test_the_answer_names_the_limit(words, pair, tmp_path):
    done = run(*filled(words, pair, tmp_path), "--timeout", "0.000001")
    assert done.status == 3, done.out[-500:]
    assert "time limit of 1e-06 s reached" in done.out + done.err


def test_an_answer_that_was_known_is_reported_and_the_page_says_what_is_missing(pair, tmp_path):
    page = tmp_path / "page.html"
    document, done = report("check", *pair, "--max-memory", MIB, "--html", page)
    assert (document["verdict"], done.status) == ("different", 1)
    text = page.read_text()
    assert "parts of this page are missing" in text and "memory limit" in text
    assert len(text) < 1 << 20


@pytest.mark.parametrize("command", ["check", "prove"])
def test_one_time_limit_covers_all_phases(command, tmp_path):
    # Some words decide edges that are hard to prove, and others the result, which is hard to compare.
    def program(name, text):
        path = tmp_path / name
        for word in ("16", "20", "24"):
            text = text.replace("[%s]" % word, "[%d]" % (int(word) + 16))
        path.write_text(HARD_BEFORE + "st M[1]\n" + HARD_AFTER + "ldx M[1]\nsub x\njeq #0, n0\nret #1\nn0:" + text + "ret a\n")
        return path
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(command, program("a.asm", HARD_BEFORE), program("b.asm", HARD_AFTER), "--timeout", 2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status == 3
    assert after.ru_utime - before.ru_utime < 3, done


HOG = "python3 -c \"x = b'x' * (300 << 20)\""


@pytest.mark.parametrize("args", [["check", "A", "--optimizer", HOG], ["check", "--before-cmd", HOG, "--after-cmd", "cat a.asm"], ["prove", "A", "B", "--engine", "smt:" + HOG]])
def test_the_memory_limit_covers_the_processes_of_a_command(args, tmp_path):
    (tmp_path / "a.asm").write_text(HARD_BEFORE + "ret a\n")
    (tmp_path / "b.asm").write_text(HARD_AFTER + "ret a\n")
    names = {"A": tmp_path / "a.asm", "B": tmp_path / "b.asm"}
    words = [names.get(arg, arg) for arg in args]
    done = run(*words, "--max-memory", 64, "--timeout", 30, cwd=tmp_path)
    assert (done.status, "memory limit of 64 MiB reached" in done.out + done.err) == (3, True), done
    assert used(*words, "--max-memory", 64, "--timeout", 30)[2] < 200 << 20


def test_the_time_limit_covers_a_command_under_test(tmp_path):
    (tmp_path / "a.asm").write_text("ret a\n")
    done = run("check", tmp_path / "a.asm", "--optimizer", "sleep 600", "--request-timeout", 600, "--timeout", 0.5)
    assert done.status == 3 and "time limit of 0.5 s reached" in done.err, done
