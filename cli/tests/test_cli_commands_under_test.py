"""Tests --before-cmd and --after-cmd: `check` ends with status 5 and a reason, or with a correct verdict, for any behaviour of
the command."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_tool import binary, listed, report, run, write_raw, program


def alive(pid):
    """Returns whether the process exists and is not a zombie."""
    try:
        return Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid):
    for _ in range(200):
        if not alive(pid):
            return True
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return False


def crashes(getpid, command, *args):
    """Runs `check` with this --after-cmd; it must end with status 5. Returns the report's `detail`."""
    document, done = report("check", getpid, "--after-cmd", command, *args, cwd=getpid.parent)
    assert (done.status, document["error"]) == (5, "adapter"), done
    assert command in document["where"]
    assert command in done.err
    return document["detail"]


@pytest.mark.parametrize("command, detail", [
    ("exit 1", "it exited with status 1"), ("exit 255", "it exited with status 255"),
    ("kill -SEGV $$", "it was ended by signal 11 (Segmentation fault)"),
    ("kill -KILL $$", "it was ended by signal 9 (Killed)"),
    ("cat getpid.asm; exit 3", "it exited with status 3"),
    ("cat getpid.asm; kill -TERM $$", "it was ended by signal 15 (Terminated)"),
    *((command, "expected a program on its standard output, but it exited with status 0 and printed nothing") for command in ("true", "echo")),
    ("echo oops >&2", "expected a program on its standard output, but it exited with status 0 and printed nothing; its standard error ends: oops"),
    ("echo garbage", "expected an instruction, found 'garbage'"),
    ("printf '\\006\\0\\0'", "expected 8 bytes (struct sock_filter), found 3"),
    ("head -c 8000 /dev/urandom | tr '\\000' '\\001'", None), ("echo '{\"version\": 1}'", None),
])
def test_a_failing_command_is_a_crash(command, detail, getpid):
    found = crashes(getpid, command)
    assert detail is None or found == detail


def test_the_end_of_standard_error_is_shown(getpid):
    assert crashes(getpid, "echo first >&2; echo last words >&2; exit 1") == (
        "it exited with status 1; its standard error ends:\nfirst\nlast words")
    found = crashes(getpid, "seq 100000 >&2; exit 1")
    assert found.endswith("99999\n100000") and len(found) < 2200 and "\n1\n" not in found


@pytest.mark.parametrize("option", ["--after-cmd", "--optimizer"])
@pytest.mark.parametrize("command", ["not-a-command", "./getpid.asm"])
def test_a_command_that_cannot_be_started_is_a_wrong_command_line(option, command, getpid):
    document, done = report("check", getpid, option, command, cwd=getpid.parent)
    assert (done.status, document["error"]) == (2, "usage") and command in document["detail"], done


def test_standard_error_of_a_good_command_is_not_a_failure(getpid):
    assert report("check", getpid, "--after-cmd", "seq 100000 >&2; cat getpid.asm", cwd=getpid.parent)[1].status == 0


@pytest.mark.parametrize("command", [
    "sleep 60", "exec sleep 60", "cat getpid.asm; sleep 60", "exec >&-; sleep 60", "exec >&- 2>&-; sleep 60", "yes >&2",
    "sh -c 'sleep 60; :'; :", "trap '' TERM INT HUP; sleep 60; sleep 60", "kill -STOP $$",
])
def test_a_hanging_command_is_a_crash(command, getpid):
    assert "it was still running after 0.5 s and was killed" in crashes(getpid, command, "--cmd-timeout", "0.5")


def test_endless_output_is_a_crash(getpid):
    assert crashes(getpid, "yes") == "it wrote more than 16777216 bytes and was killed"


def test_a_child_that_keeps_the_output_open_is_a_hang(getpid):
    found = crashes(getpid, "sleep 61 & echo $! >child; cat getpid.asm", "--cmd-timeout", "1")
    assert found == "it was still running after 1 s and was killed"
    assert gone(int((getpid.parent / "child").read_text()))


def test_a_child_left_behind_is_killed(getpid):
    command = "sleep 62 >&- 2>&- & echo $! >child; cat getpid.asm"
    document, done = report("check", getpid, "--after-cmd", command, cwd=getpid.parent)
    assert done.status == 0
    assert gone(int((getpid.parent / "child").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_command_is_killed_when_the_tool_ends(number, getpid):
    process = subprocess.Popen([binary(), "check", getpid, "--after-cmd", "sleep 63 & echo $! >child; wait"],
                               cwd=getpid.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child = getpid.parent / "child"
    for _ in range(1000):
        if child.exists() and child.read_text().endswith("\n"):
            break
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=10)
    assert process.returncode == 3  # with a report that it was interrupted
    assert gone(int(child.read_text()))


def test_both_programs_can_come_from_commands(getpid, getpid_enoent):
    folder = getpid.parent
    same, done = report("check", "--before-cmd", "cat getpid.asm", "--after-cmd", "cat getpid.asm", cwd=folder)
    assert done.status == 0 and same["before"]["name"] == same["after"]["name"] == "'cat getpid.asm'"
    other, done = report("check", "--before-cmd", "cat getpid.asm", "--after-cmd", "cat getpid-enoent.asm", cwd=folder)
    assert done.status == 1
    assert (other["witness"]["before"]["action"], other["witness"]["after"]["action"]) == (
        "ERRNO(1 EPERM)", "ERRNO(2 ENOENT)")
    file_first, done = report("check", getpid, "--after-cmd", "cat getpid-enoent.asm", cwd=folder)
    assert file_first["before"]["name"] == str(getpid) and done.status == 1
    file_second, done = report("check", getpid_enoent, "--before-cmd", "cat getpid.asm", cwd=folder)
    assert file_second["after"]["name"] == str(getpid_enoent) and done.status == 1
    only, done = report("check", "--before-cmd", "cat getpid.asm", cwd=folder)
    assert only["after"]["name"] == "built-in optimizer" and done.status == 0


def test_a_command_may_print_any_form(getpid, tmp_path):
    raw = write_raw(program(getpid.read_text()))
    (tmp_path / "raw").write_bytes(raw)
    for form in ("raw", "raw-be", "asm", "ddd", "c"):
        assert run("asm", getpid, "--to", form, "-o", tmp_path / form).status == 0
        _, done = report("check", getpid, "--after-cmd", "cat " + form, cwd=tmp_path)
        assert done.status == 0, form
    _, done = report("check", getpid, "--after-cmd", "cat raw-be", "--from", "asm", cwd=tmp_path)
    assert done.status == 5


def test_a_command_that_prints_a_policy_is_a_crash(getpid):
    document, done = report("check", "--before-cmd", "echo '{\"version\": 1}'", cwd=getpid.parent)
    assert done.status == 5 and document["detail"] == "expected a program, found a policy; policies must come from files"


def test_an_illegal_program_is_rejected(getpid):
    document, done = report("check", getpid, "--after-cmd", "echo 'ld [1]'")
    assert done.status == 4
    assert document["after"]["refusal"]["rule"] == "last_not_ret"


def test_no_files_are_left_behind(getpid):
    before = listed(getpid.parent)
    crashes(getpid, "yes | head -c 1000000")
    assert listed(getpid.parent) == before
