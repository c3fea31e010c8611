"""Tests `secequiv fuzz --jobs` for code under test: one report has the counts and findings of all processes, and no process is
lost silently or outlives the first one."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from cli_tool import binary, report as reported, run

BROKEN = "broken:reload-removed-behind-stx"
# Leaves the program in the file BEFORE unchanged, and makes all other programs allow everything.
ALLOW = """
import pathlib, struct, sys
data = sys.stdin.buffer.read()
same = data == pathlib.Path(sys.argv[1]).read_bytes()
sys.stdout.buffer.write(data if same else struct.pack('<HBBI', 6, 0, 0, 0x7fff0000))
"""


def report(*args):
    return reported(*args)[0]


def children(pid):
    return [int(one) for one in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()]


def workers(pid):
    """Returns the processes that `fuzz` forked. Only these catch SIGUSR1."""
    def catches(one):
        try:
            status = pathlib.Path("/proc/%d/status" % one).read_text()
        except OSError:
            return False
        return int(re.search(r"^SigCgt:\s*(\w+)", status, re.M)[1], 16) >> (signal.SIGUSR1 - 1) & 1
    return [one for one in children(pid) if catches(one)]


def wait_until(condition, process):
    for _ in range(1200):
        if condition():
            return
        assert process.poll() is None
        time.sleep(0.05)
    raise AssertionError("the condition did not become true within a minute")


@pytest.mark.parametrize("kind, subjects", [("optimizer", []), ("compiler", []), ("evaluator", []), ("optimizer", ["--no-prove"])])
def test_the_counts_of_all_processes_are_added(kind, subjects):
    done = report("fuzz", "--" + kind, "secequiv", "--trials", "200", "--jobs", "3", "--no-scaling", *subjects)
    assert done["trials_of_processes"] == [68, 66, 66] and done["trials"] == 200
    assert done["verdict"] == "pass", done["reason"]
    assert done["answered"] + done["unsupported"] == 200
    assert done["evaluations"] == 24 * done["answered"]
    assert done["undecided"] == (done["answered"] if "--no-prove" in subjects else 0)
    assert done["proven"] == (0 if kind == "evaluator" else done["answered"] - done["undecided"])
    if kind == "optimizer":
        assert sum(done["shapes"]["instructions"].values()) == 200


def test_every_process_tries_different_programs():
    alone = report("fuzz", "--optimizer", "identity", "--trials", "100", "--no-scaling")
    both = report("fuzz", "--optimizer", "identity", "--trials", "200", "--jobs", "2", "--no-scaling")
    assert "trials_of_processes" not in alone
    doubled = {group: {name: 2 * count for name, count in row.items()} for group, row in alone["shapes"].items()}
    assert both["trials_of_processes"] == [100, 100] and both["shapes"] != doubled


@pytest.fixture
def allows(tmp_path):
    """Returns a program and an optimizer that is right only for this program."""
    source = tmp_path / "given.asm"
    source.write_text("ld [0]\njeq #1, yes, no\nyes: ret #0\nno: ret #0x50001\n")
    raw = tmp_path / "given.bpf"
    raw.write_bytes(run("asm", str(source), raw=True).out)
    tool = tmp_path / "tool.py"
    tool.write_text(ALLOW)
    return raw, " ".join(map(shlex.quote, [sys.executable, str(tool), str(raw)]))


def test_a_finding_of_another_process_is_reported(allows, tmp_path):
    program, tool = allows
    options = ["--optimizer", tool, "--programs", str(program), "--no-scaling", "--no-sandbox"]
    assert report("fuzz", *options, "--trials", "1")["verdict"] == "pass"
    done = report("fuzz", *options, "--trials", "2", "--jobs", "2", "--save", str(tmp_path / "found"))
    assert done["trials_of_processes"] == [1, 1] and done["verdict"] == "different"
    (finding,) = [one for one in done["findings"] if one["kind"] == "different"]
    assert finding["subject"].endswith(", process 2") and finding["reduced"] and len(finding["before"]) == 1
    assert "secequiv check" in pathlib.Path(finding["file"]).read_text()


def test_findings_of_several_processes_with_one_cause_are_merged(tmp_path):
    folder = tmp_path / "found"
    alone = report("fuzz", "--optimizer", BROKEN, "--trials", "500", "--no-scaling")
    done = report("fuzz", "--optimizer", BROKEN, "--trials", "1500", "--jobs", "3", "--no-scaling", "--save", str(folder))
    (one,), (known,) = [[one for one in each["findings"] if one["kind"] == "different"] for each in (done, alone)]
    assert one["count"] > known["count"] > 0
    assert {str(one) for one in folder.iterdir()} == {one["file"] for one in done["findings"]}


def test_all_processes_end_at_the_first_failure():
    done = report("fuzz", "--optimizer", BROKEN, "--trials", "1000000000", "--jobs", "2", "--stop-at-first", "--no-scaling")
    assert done["verdict"] == "different" and len(done["trials_of_processes"]) == 2


def test_a_lost_process_is_never_a_pass(tmp_path):
    go = tmp_path / "go"
    tool = "while ! test -e %s; do sleep 0.01; done; cat" % shlex.quote(str(go))
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", tool, "--trials", "8", "--jobs", "2", "--json", "--no-scaling",
                                "--request-timeout", "600"], stdout=subprocess.PIPE)
    others = []
    wait_until(lambda: others or others.extend(workers(process.pid)), process)
    os.kill(others[0], signal.SIGKILL)
    go.write_text("")
    output, _ = process.communicate(timeout=300)
    done = json.loads(output)
    assert (process.returncode, done["verdict"], done["trials_of_processes"]) == (3, "unknown", [4, 0])
    assert "a fuzzing process ended with signal 9" in done["reason"]


def test_a_killed_run_leaves_complete_findings_and_no_process(tmp_path):
    folder = tmp_path / "found"
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", BROKEN, "--duration", "600", "--jobs", "3", "--save", str(folder)],
                               stdout=subprocess.DEVNULL)
    wait_until(lambda: list(folder.glob("different-*.asm")), process)
    others = workers(process.pid)
    assert len(others) == 2
    process.kill()
    process.wait()
    for _ in range(1200):
        if not any(os.path.exists("/proc/%d" % one) for one in others):
            break
        time.sleep(0.05)
    assert not any(os.path.exists("/proc/%d" % one) for one in others)
    for file in folder.glob("different-*.asm"):
        assert report("check", "--optimizer", BROKEN, str(file))["verdict"] == "different"
    # The next run knows these findings.
    done = report("fuzz", "--optimizer", BROKEN, "--trials", "500", "--jobs", "2", "--known", str(folder), "--save", str(folder),
                  "--no-scaling")
    assert any(one["known"] and one["kind"] == "different" for one in done["findings"])


def test_ctrl_c_ends_every_process_and_still_gives_the_report():
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", "identity", "--duration", "600", "--jobs", "2", "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    others = []
    wait_until(lambda: others or others.extend(workers(process.pid)), process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    done = json.loads(output)
    assert (process.returncode, done["verdict"], done["interrupted"]) == (3, "unknown", True)
    assert "lost" not in done["reason"] and "ended with" not in done["reason"]
    assert not any(os.path.exists("/proc/%d" % one) for one in others)

def test_known_findings_stay_known_in_every_process(tmp_path):
    """Each process knows the findings of earlier runs and finds new ones; reports list new findings first."""
    tool = ["--optimizer", "broken:twin-merge-equal-code", "--no-scaling"]
    report("fuzz", *tool, "--trials", "1500", "--save", str(tmp_path / "found"))
    known = sorted((tmp_path / "found").glob("different-*.asm"))[0]
    done = report("fuzz", *tool, "--trials", "3000", "--jobs", "3", "--known", str(known))
    differences = [one for one in done["findings"] if one["kind"] == "different"]
    assert len([one for one in differences if one["known"]]) == 1 and [one for one in differences if not one["known"]]
    # Each difference is the known one, or a failure, or may be the known one.
    assert all(one["known"] + one["failure"] + one.get("may_be_known", False) == 1 for one in differences)
