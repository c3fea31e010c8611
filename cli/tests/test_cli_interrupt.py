"""Ctrl-C: what takes long stops soon and says what is known, a pass only if it was proven by then; a second one ends it at once. Progress on terminals."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import time

import pytest
from cli_tool import FULL, ROOT, STATUS, binary, fits, shown_on

POLICY = ROOT / "corpus" / "policies" / "gvisor" / "systrap.json"
# True, but a division and a multiplication of 32 bits are more than a solver gets through in minutes.
RULE = """rule hard
  live: A
  where: $b != 0
  before:
    ld #$a
    ldx #$b
    div x
    mul x
    tax
    ld #$a
    jge x, yes, no
  after:
    ld #$a
    ja yes
"""


def started(*args, **popen):
    return subprocess.Popen([binary(), *map(str, args)], stdout=subprocess.PIPE, **popen)


def caught(process, number=signal.SIGINT, what="SigCgt:"):
    """Does the process have a handler?"""
    status = open("/proc/%d/status" % process.pid).read()
    return int(status.split(what)[1].split()[0], 16) >> (number - 1) & 1


def interrupted(*args):
    """Ctrl-C once the command heeds it: exit status, the report and what it says."""
    process = started(*args, "--json", stderr=subprocess.PIPE)
    while not caught(process) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    assert process.poll() is None, "it is not hard enough"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, json.loads(out), err.decode()


def jobs(hard):
    long = ["--timeout", "1000"]
    return {"prove": ["prove", *hard, "--engine", "z3", *long], "check": ["check", *hard, "--engine", "z3", *long],
            "mutate": ["mutate", POLICY, "--fuzz-seconds", "100", *long]}


@pytest.mark.parametrize("command", ["prove", "check", "mutate"] if FULL else ["prove"])
def test_ctrl_c_gives_what_is_known(command, hard):
    status, document, err = interrupted(*jobs(hard)[command])
    assert fits(document) == command
    assert status == 3 and document["verdict"] == "unknown", document
    assert "secequiv: interrupted" in err


@pytest.mark.skipif(not FULL, reason="the same code again")
def test_a_rule(tmp_path):
    (tmp_path / "hard.rule").write_text(RULE)
    status, document, err = interrupted("prove-rule", tmp_path / "hard.rule", "--timeout", "1000")
    assert status == STATUS[document["verdict"]] == 3 and "interrupted" in json.dumps(document) and "interrupted" in err


def test_a_second_one_ends_it_at_once():
    process = started("mutate", POLICY, stderr=subprocess.DEVNULL)  # which takes seconds to come to an end by itself
    while not caught(process):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)  # two that arrive together are one
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


def test_what_was_ignored_stays_ignored(hard):
    process = started("prove", *hard, "--engine", "z3", "--timeout", "1000", stderr=subprocess.DEVNULL,
                      preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # as nohup does
    try:
        while not caught(process, signal.SIGTERM):
            time.sleep(0.01)
        assert not caught(process, signal.SIGHUP) and caught(process, signal.SIGHUP, "SigIgn:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 3
    finally:
        process.kill()
        process.communicate()


def on_terminal(*args, seconds):
    """What a command shows on a terminal of its own in so many seconds, and until Ctrl-C there ends it."""
    ours, theirs = pty.openpty()

    def own():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    process = started(*args, stdin=theirs, stderr=theirs, preexec_fn=own)
    os.close(theirs)
    time.sleep(seconds)
    os.write(ours, b"\x03")
    out = process.communicate(timeout=60)[0]
    shown = shown_on(ours).decode()
    os.close(ours)
    return process.returncode, out.decode(), shown


def test_progress_on_a_terminal(hard):
    status, out, shown = on_terminal("prove", *hard, "--engine", "z3", "--timeout", "1000", seconds=2.2)
    assert status == 3 and "unknown" in out
    assert "\r\x1b[Kproving: 1 s of at most 1000 s" in shown, shown
    assert shown.rindex("\r\x1b[K") > shown.rindex("proving") and "secequiv: interrupted" in shown


@pytest.mark.skipif(not FULL, reason="the same code again")
def test_progress_is_counted():
    status, out, shown = on_terminal("mutate", POLICY, "--fuzz-seconds", "100", seconds=4)
    assert status == 3, (out, shown)
    assert " s left" in shown and " of " in shown and "/s" in shown, shown
