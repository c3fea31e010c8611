"""Tests --quiet, colours, and that output is reproducible."""

import json
import os
import pty
import re
import subprocess

import pytest
from cli_tool import POLICIES, binary, run, shown_on, some

TEN = str(POLICIES / "seed" / "ten-syscalls.json")
# For each command: arguments that pass, arguments that fail, and the start of the line that --quiet prints for the failure.
VERDICTS = {
    "check": (["A", "A"], ["A", "B"], "verdict   different: "), "prove": (["A", "A"], ["A", "B"], "different ("), "diff": (["A", "A"], ["A", "B"], "different: "),
    "fuzz": (["A", "A", "--trials", "100"], ["A", "B", "--trials", "100"], "verdict   different: "), "lint": ([TEN], ["LINT"], "fail: "), "guard": ([TEN], ["HOLE"], "fail: "),
    "cover": (["A"], ["A", "--no-derive"], "fail: "), "mutate": (["A"], ["XOR", "--fuzz-seconds", "0"], "fail: "),
    "cache": (["A", "A"], ["CACHED", "A"], "verdict   fail: "), "validate": (["A"], ["BAD"], "BAD: rejected: "),
}


@pytest.fixture
def place(asm, getpid, getpid_enoent):
    rule = {"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"0": {"eq": 1}}}]}
    policy = {"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": [{"action": "allow", "rules": {"read": rule}}]}
    paths = {"A": getpid, "B": getpid_enoent, "BAD": asm("ld [0]\n", "bad.asm"), "LINT": asm(json.dumps(policy), "lint.json"),
             "HOLE": asm("ld [16]\njeq #38, high, ok\nhigh: ld [20]\njeq #0, number, ok\nnumber: ld [0]\njeq #41, bad, ok\nok: ret #0x7fff0000\nbad: ret #0x50001\n", "hole.asm"),
             "CACHED": asm("ld [4]\njeq #0xc000003e, n, bad\nn: ld [0]\njeq #39, ok\njeq #40, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n", "cached.asm"),
             "XOR": asm("ld [16]\nxor #0x12345678\njeq #1, in, out\nin: ret #0\nout: ret #0x7fff0000\n", "xor.asm")}
    return lambda words: [str(paths.get(word, word)) for word in words]


@pytest.mark.parametrize("command", some(VERDICTS, 4))
def test_quiet_prints_only_the_direction_and_the_verdict(command, place):
    good, bad, begins = VERDICTS[command]
    done = run(command, *place(good), "--quiet")
    assert (done.status, done.out, done.err) == (0, "", ""), done
    loud, done = run(command, *place(bad)), run(command, *place(bad), "--quiet")
    *direction, verdict = done.out.splitlines()
    assert loud.status == done.status != 0 and done.err == "" and done.out.endswith("\n"), done
    assert len(direction) <= 1 and all(re.match("LOOSER: |only |stricter: ", line) for line in direction), done
    assert bool(direction) == (command in ("check", "diff", "prove", "fuzz")), done
    assert verdict.startswith(place([begins.split(":")[0]])[0] if command == "validate" else begins), done
    if command not in ("mutate", "fuzz", "check", "prove"):  # their verdict line contains times
        assert (loud.out.startswith if command in ("lint", "guard") else loud.out.endswith)(verdict + "\n")
    assert json.loads(run(command, *place(good), "--quiet", "--json").out)


def test_quiet_prints_no_more_if_other_outputs_are_written(place, tmp_path):
    done = run("prove", *place(["A", "B"]), "--quiet", "--certificate", tmp_path / "proof")
    direction, verdict = done.out.splitlines()
    assert done.status == 1 and direction.startswith("only ") and verdict.startswith("different ("), done


def test_quiet_keeps_errors(getpid):
    done = run("check", getpid.parent / "nowhere", "--quiet")
    assert done.status == 2 and done.err


def test_notes_follow_the_answer_and_quiet_drops_them(tmp_path):
    """Each warning follows the answer once; --quiet keeps warnings."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path, action in ((old, "ALLOW"), (new, "LOG")):
        path.write_text('{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_MIPSEL"],'
                        '"syscalls":[{"names":["read","keyctll"],"action":"SCMP_ACT_%s"}]}' % action)
    note, warning = "secequiv: %s: skipped architecture SCMP_ARCH_MIPSEL" % new, "secequiv: warning: %s:1 (syscalls[0]): no architecture has " % new

    def shown(*args):
        return subprocess.run([binary(), *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60).stdout
    for args in (["diff", old, new], ["check", old, new], ["prove", old, new], ["why", new, "--nr", "read"], ["run", new], ["actions", new], ["lint", new]):
        lines = shown(*args).splitlines()
        places = [number for number, line in enumerate(lines) if line.startswith(note)]
        answer = max(number for number, line in enumerate(lines) if not line.startswith("secequiv: "))
        assert places and answer < min(places), (args, lines)
        warnings = [number for number, line in enumerate(lines) if line.startswith(warning)]
        assert len(warnings) == 1 and answer < warnings[0] or args[0] == "lint", (args, lines)
    for command in ("diff", "check", "prove"):
        quiet = shown(command, old, new, "--quiet")
        assert note not in quiet and warning in quiet and quiet != shown(command, old, new)


def on_terminal(*args, **environment):
    """Returns the output of a command on a terminal."""
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen([binary(), *map(str, args)], stdout=theirs, stderr=subprocess.DEVNULL, env={**env, "TERM": "xterm", **environment})
    process.wait(timeout=60)
    os.close(theirs)
    shown = shown_on(ours).decode().replace("\r\n", "\n")
    os.close(ours)
    return shown


def test_colour_appears_only_on_terminals_and_on_request(getpid, getpid_enoent, tmp_path):
    pair = [getpid, getpid_enoent]
    shown = on_terminal("check", *pair)
    assert "\n\x1b[1m\x1b[31mverdict   different: " in shown
    assert "\n\x1b[1m\x1b[32mverdict   pass: " in on_terminal("check", getpid)
    assert shown.count("\x1b") == 6 and "\n\x1b[1m\x1b[31mdifferent: " in on_terminal("diff", *pair)
    # The direction: opened red, closed green, otherwise yellow.
    (tmp_path / "denied.asm").write_text("ret #0x50001\n")
    denied = tmp_path / "denied.asm"
    for first, colour, text in (([denied, getpid], 31, "LOOSER: "), ([getpid, denied], 32, "only stricter: "), (pair, 33, "only the data ")):
        shown = on_terminal("diff", *first)
        assert shown.startswith("\x1b[1m\x1b[%dm%s" % (colour, text)), shown
    # There are no colours in pipes, with NO_COLOR, on a dumb terminal, or with --color=never. An empty NO_COLOR has no effect.
    assert "\x1b" not in run("check", *pair, env={"TERM": "xterm"}).out
    for quiet in (on_terminal("check", *pair, NO_COLOR="1"), on_terminal("check", *pair, TERM="dumb"), on_terminal("--color=never", "check", *pair)):
        assert "\x1b" not in quiet and "verdict   different: " in quiet
    assert "\x1b" in on_terminal("check", *pair, NO_COLOR="")
    assert "\x1b[31mverdict   different: " in run("--color", "always", "check", *pair, env={"NO_COLOR": "1"}).out
    assert "\x1b" not in run("--color=always", "check", *pair, "--json").out
    assert "did you mean always?" in run("--color", "allways", "check", *pair).err


def test_expected_differences_that_are_missing_are_red(getpid, getpid_enoent, tmp_path):
    run("diff", getpid, getpid_enoent, "--write-expect", tmp_path / "expected.json")
    out = run("--color=always", "diff", getpid, getpid, "--expect", tmp_path / "expected.json").out
    assert re.search("^\x1b\\[31m- .*\x1b\\[0m$", out, re.MULTILINE), out


def without_times(text):
    text = re.sub(r'("\w*seconds\w*"|"solve"|"encode"): [0-9.e+-]+', r"\1: 0", text)
    return re.sub(r"\b[0-9.]+(e-?[0-9]+)? (ms|s)\b", "0 s", text)


JOBS = [["check", TEN], ["prove", "A", "B"], ["diff", "A", "B"], ["cover", TEN], ["mutate", "A", "--fuzz-seconds", "0"], ["lint", TEN], ["guard", "A"], ["why", "A"], ["reach", "A"],
        ["actions", TEN], ["cost", "A"], ["cache", "A"], ["optimize", TEN], ["fuzz", "--optimizer", "broken:jump-offset-truncated", "--trials", "100", "--no-scaling"]]


@pytest.mark.parametrize("job", some(JOBS, 5), ids=[job[0] for job in some(JOBS, 5)])
def test_the_same_input_gives_the_same_output(job, place):
    first, second = run(*place(job)), run(*place(job))
    assert (first.status, without_times(first.out), first.err) == (second.status, without_times(second.out), second.err)
    assert first.out.strip()


def test_the_same_seed_gives_the_same_report():
    first, second = (run("kernel", "--random-programs", "20", "--seed", "5", "--json") for _ in range(2))
    assert first.status in (0, 3) and without_times(first.out) == without_times(second.out)
