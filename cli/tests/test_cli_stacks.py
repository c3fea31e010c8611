"""Tests each command with a stack of filters (A,B): the command treats the stack as the kernel does, or refuses it and states the reason."""

import json
import re

import pytest
from cli_tool import report, run
from test_cli_streams import COMMANDS

REFUSED = "cannot open: No such file or directory; expected one filter, not a stack"
# For each command: its inputs, its exit status, and a part of the last line of its answer or refusal. The stack A,B
# returns ERRNO(1) for every call but getpid, which it kills.
TABLE = {
    "prove": (["AB", "A"], 1, "different ("), "diff": (["AB", "A"], 1, "different: "), "why": (["AB", "--nr", "getpid"], 0, "kill.asm:3 (after the test in line 2)"),
    "actions": (["AB"], 0, "decided by number"), "guard": (["AB"], 0, "no way around this filter found"), "lift": (["AB"], 2, "it does not test the architecture; inputs: nr == 39"), "run": (["AB", "--nr", "getpid"], 0, "KILL_THREAD"), "cost": (["AB"], 0, "and 6 in the worst case: "),
    "cache": (["AB"], 0, "461: calls whose action depends only on their number"), "bench": (["AB", "--profile", "calls", "--rounds", "2", "--max-inputs", "10"], (0, 3), ""),
    **{command: (["AB"], 2, REFUSED) for command in ("check", "mutate", "cover", "reach", "lint", "find-rules", "kernel", "import", "precompile", "asm", "dis", "validate")},
    "optimize": (["AB"], 2, "it does not test the architecture; inputs: nr == 39"),
    "merge": (["AB", "AB", "--union"], 2, REFUSED),
    "fuzz": (["AB", "A", "--trials", "10"], 2, REFUSED), "prove-rule": (["AB"], 2, "cannot open: No such file or directory"),
    "bisect": (["AB"], 2, "Try 'secequiv bisect --help'."), "dump": (["--", "AB"], 2, "cannot be started: No such file or directory")}


@pytest.fixture
def place(getpid, asm):
    kill = asm(getpid.read_text().replace("0x7fff0000", "0"), "kill.asm")
    asm("getpid 1\n", "calls")
    return lambda words: [{"A": str(getpid), "AB": "%s,%s" % (getpid, kill), "calls": str(getpid.parent / "calls")}.get(word, word) for word in words]


def test_the_table_has_every_command():
    assert set(TABLE) == set(COMMANDS)


@pytest.mark.parametrize("command", TABLE)
def test_a_stack_works_or_is_refused(command, place):
    args, status, expected = TABLE[command]
    done = run(command, *place(args))
    if isinstance(status, tuple):  # this machine may forbid it
        assert done.status in status, done
        return
    text = done.err if status == 2 else done.out
    assert done.status == status and expected in text.strip().splitlines()[-1], done
    assert bool(done.out) == (status != 2)


def test_the_refusal_of_a_stack_names_the_commands_that_accept_stacks(place):
    advice = run("lint", *place(["AB"])).err.strip().split("; ")[-1]
    named = re.fullmatch("(.*) accept stacks", advice).group(1)
    assert set(re.split(", | and ", named)) == {command for command, (_, _, expected) in TABLE.items() if expected != REFUSED} - {"prove-rule", "bisect", "dump"}


def test_stacks_in_other_places_are_refused(place):
    for args in (["check", "A", "--policy", "AB"], ["fuzz", "--optimizer", "identity", "--programs", "AB", "--trials", "1", "--no-scaling"]):
        done = run(*place(args))
        assert done.status == 2 and "not a stack" in done.err, done


def test_run_accepts_a_stack_in_either_notation(place):
    stack, = place(["AB"])
    for arguments in (["--nr", "getpid"], ["--nr", "read"]):
        one, _ = report("run", stack, *arguments)
        several, _ = report("run", *stack.split(","), *arguments)
        assert one == several and len(one["filters"]) == 2


def test_bench_times_the_whole_stack(place):
    stack, calls = place(["AB", "calls"])
    done = run("bench", stack, "--profile", calls, "--rounds", "2", "--max-inputs", "10", "--json")
    document = json.loads(done.out)
    if document.get("error") != "unavailable":
        assert [one["name"] for one in document["stacks"][0]["filters"]] == stack.split(",") and document["variants"][2]["instructions"] >= 8
