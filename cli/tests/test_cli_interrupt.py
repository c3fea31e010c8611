"""Tests Ctrl-C and progress on terminals: long commands stop soon and report the results so far, and a pass only if it was
proven; a second signal ends them at once."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time

import pytest
from cli_tool import FULL, ROOT, STATUS, binary, caught, fits, shown_on

POLICY = ROOT / "corpus" / "policies" / "gvisor" / "systrap.json"
# The rule is right, but a solver cannot prove the 32-bit division and multiplication in minutes.
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


def interrupted(*args):
    """Sends SIGINT once the command handles it; returns exit status, report and standard error."""
    process = started(*args, "--json", stderr=subprocess.PIPE)
    while not caught(process) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    assert process.poll() is None, "the command ended before the signal"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, json.loads(out), err.decode()


def jobs(hard):
    long = ["--timeout", "1000"]
    return {"prove": ["prove", *hard, "--engine", "z3", *long], "check": ["check", *hard, "--engine", "z3", *long],
            "mutate": ["mutate", POLICY, "--fuzz-seconds", "100", *long]}


@pytest.mark.parametrize("command", ["prove", "check", "mutate"] if FULL else ["prove"])
def test_ctrl_c_still_gives_a_report(command, hard):
    status, document, err = interrupted(*jobs(hard)[command])
    assert fits(document) == command
    assert status == 3 and document["verdict"] == "unknown", document
    assert "secequiv: interrupted" in err


@pytest.mark.full
def test_ctrl_c_ends_the_proof_of_a_rule(tmp_path):
    (tmp_path / "hard.rule").write_text(RULE)
    status, document, err = interrupted("prove-rule", tmp_path / "hard.rule", "--timeout", "1000")
    assert status == STATUS[document["verdict"]] == 3 and "interrupted" in json.dumps(document) and "interrupted" in err


OPTIMIZER = "echo started >&2; sleep 1000"


@pytest.mark.parametrize("args, where", [
    (["check", POLICY, "--optimizer", OPTIMIZER, "--request-timeout", "1000"], "'%s'" % OPTIMIZER),
    (["cost", POLICY, "--compiler", "serve:sleep 1000", "--request-timeout", "1000"], "'serve:sleep 1000'"),
    (["check", "--before-cmd", OPTIMIZER, "--cmd-timeout", "1000"], "command '%s'" % OPTIMIZER),
    (["check", POLICY, "--after-cmd", OPTIMIZER, "--cmd-timeout", "1000"], "command '%s'" % OPTIMIZER)])
def test_ctrl_c_stops_a_command_under_test_and_still_gives_a_report(args, where, tmp_path):
    """Without the signal, the command under test would run longer than the test waits."""
    more = ["--junit", tmp_path / "junit.xml"] if args[0] == "check" else []
    status, document, err = interrupted(*args, *more)
    assert fits(document) == "error" and (status, document["error"]) == (3, "budget"), document
    assert (document["where"], document["detail"]) == (where, "the interrupt stopped this command")
    assert "secequiv: interrupted" in err
    assert not more or "<error " in (tmp_path / "junit.xml").read_text()


def test_ctrl_c_stops_the_derivation_of_inputs():
    """Deriving all of this program's millions of inputs takes seconds. After the signal, the report has only those that the kernel ran."""
    status, document, err = interrupted("kernel", ROOT / "corpus" / "programs" / "gvisor" / "systrap-everything.after.bpf")
    if document.get("error") == "unavailable":
        pytest.skip(document["detail"])
    assert status == 3 and document["verdict"] == "unknown" and "interrupted" in document["reason"], document


@pytest.mark.parametrize("args", [["cover", "-"], ["check", POLICY, POLICY, "--policy", "-"], ["mutate", POLICY, "--policy", "-"]],
                         ids=lambda args: args[0])
def test_ctrl_c_ends_the_wait_for_standard_input(args):
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w"):  # nothing is ever written
        process = started(*args, "--json", stdin=reading, stderr=subprocess.PIPE)
        while not open("/proc/%d/syscall" % process.pid).read().startswith("0 0x0 "):  # read() of standard input
            assert process.poll() is None
            time.sleep(0.01)
        assert caught(process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and json.loads(out)["error"] == "budget"


def test_a_second_signal_ends_the_process_at_once():
    process = started("mutate", POLICY, stderr=subprocess.DEVNULL)  # after the first signal, this command needs seconds to stop
    while not caught(process):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)  # two signals at the same time count as one
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode in (3, -signal.SIGTERM)  # 3 if it stopped before the second signal arrived


def runs(pid, words):
    """Returns whether a child or grandchild of this process has this command line. (A child that has not called exec has our own.)"""
    try:
        children = [int(child) for task in os.listdir("/proc/%d/task" % pid) for child in open("/proc/%d/task/%s/children" % (pid, task)).read().split()]
        return any(open("/proc/%d/cmdline" % child).read().replace("\0", " ").strip() == words or runs(child, words) for child in children)
    except OSError:  # one of them has just ended
        return False


def test_the_second_signal_of_timeout_does_not_lose_the_report():
    """timeout(1) sends its signal to the process and then to the group. Two signals less than a second apart count as such a pair."""
    apart = None
    while apart is None or apart > 0.5:
        process = started("fuzz", "--optimizer", OPTIMIZER, "--request-timeout", "1000", "--json", stderr=subprocess.DEVNULL)
        while not runs(process.pid, "sleep 1000"):
            time.sleep(0.01)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        time.sleep(0.01)  # two signals at the same time count as one
        process.send_signal(signal.SIGTERM)
        apart = time.monotonic() - begin
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and json.loads(out)["interrupted"], (process.returncode, out)


def test_ctrl_c_twice_ends_the_process_at_once():
    """Unlike timeout(1), a terminal sends each Ctrl-C only once, so the second one counts, however soon it follows."""
    status, out, _ = on_terminal("mutate", POLICY, "--fuzz-seconds", "100", until=b" s left", keys=[b"\x03", b"\x03"])
    assert status in (3, -signal.SIGINT), (status, out)  # 3 if it stopped before the second one arrived


def test_ignored_signals_stay_ignored(hard):
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


def on_terminal(*args, until, keys=(b"\x03",)):
    """Runs a command on a new terminal and sends `keys` (Ctrl-C) once it shows `until`; returns exit status, standard output and the terminal's
    content."""
    ours, theirs = pty.openpty()

    def own():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    process = started(*args, stdin=theirs, stderr=theirs, preexec_fn=own)
    os.close(theirs)
    before = b""
    while until not in before and process.poll() is None:
        before += os.read(ours, 4096)
    for key in keys:
        os.write(ours, key)
        time.sleep(0.05)
    out = process.communicate(timeout=60)[0]
    shown = (before + shown_on(ours)).decode()
    os.close(ours)
    return process.returncode, out.decode(), shown


def test_progress_appears_on_a_terminal(hard):
    status, out, shown = on_terminal("prove", *hard, "--engine", "z3", "--timeout", "1000", until=b" s of at most")
    assert status == 3 and "unknown" in out
    assert re.search(r"\r\x1b\[Kproving: \d+ s of at most 1000 s", shown), shown
    assert shown.rindex("\r\x1b[K") > shown.rindex("proving") and "secequiv: interrupted" in shown


@pytest.mark.full
def test_progress_shows_counts_and_rates():
    status, out, shown = on_terminal("mutate", POLICY, "--fuzz-seconds", "100", until=b" s left")
    assert status == 3, (out, shown)
    assert " s left" in shown and " of " in shown and "/s" in shown, shown


@pytest.mark.parametrize("when", [0, 0.3, 1.5])
def test_a_score_is_unknown_after_an_interrupt(when):
    process = started("mutate", POLICY, "--fuzz-seconds", "100", stderr=subprocess.PIPE)
    while not caught(process):
        time.sleep(0.01)
    time.sleep(when)
    process.send_signal(signal.SIGINT)
    out, err = (stream.decode() for stream in process.communicate(timeout=60))
    assert process.returncode == 3 and "secequiv: interrupted" in err, (process.returncode, err)
    assert "score     unknown: the run was interrupted " in out
    assert " %" not in out and "all mutants were tried" not in out and "survived" not in out.splitlines()[-1]


def seconds(usage):
    return usage.ru_utime + usage.ru_stime


@pytest.fixture(scope="module")
def paged(tmp_path_factory):
    """Returns a command that needs about two seconds of processor time, and the time that it needs on this machine."""
    pair = [ROOT / "corpus" / "programs" / "gvisor" / ("systrap-everything.%s.bpf" % side) for side in ("before", "after")]
    command = ["check", *pair, "--html", tmp_path_factory.mktemp("page") / "page.html"]
    process = started(*command)
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return command, seconds(usage)


def interrupted_after(command, after):
    """Interrupts a command once it used `after` seconds of processor time, or ended; returns its status, its output, and the processor time
    that it used from then on."""
    process = started(*command, stderr=subprocess.PIPE)

    def used():
        fields = open("/proc/%d/stat" % process.pid).read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), fields[0] == "Z"
    while used()[0] < after and not used()[1]:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGINT)  # send_signal() would reap a process that has ended
    at, _ = used()
    out = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, out, seconds(usage) - at


@pytest.mark.full
@pytest.mark.parametrize("when", [0.1, 0.3, 0.8])  # while inputs are derived, run, or marked on the page
def test_an_interrupted_page_appears_soon_and_names_its_gaps(paged, when):
    command, whole = paged
    for share in (when, when * 0.8, when * 0.6, when * 0.4):  # the command may need less than `whole` and end before the signal
        status, out, rest = interrupted_after(command, share * whole)
        if status != 0:
            break
    assert rest < 1, "seconds of processor time after the signal"
    page = command[-1].read_text()
    assert status == 3 and "undecided: interrupted" in out
    assert "The run was interrupted, so parts of this page are missing." in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))
    # If the report counts an obligation as covered, the page must not show it as undecided. It must not show costs from a few inputs.
    assert [side["obligations"] for side in data["sides"]] == [0, 0] and '<section id="cost">' not in page
    assert "unknown: interrupted" in page
