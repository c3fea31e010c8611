"""Tests that a wrong command line gives one error and one line with the command for help. Also tests the command `help` and the layout of
--help."""

import json
import os
import pty
import re
import subprocess

import pytest
from cli_tool import binary, run

WRONG = [
    ([], "expected a command, found none", ""), (["foo"], "'foo' is not a command", ""), (["foo", "--help"], "'foo' is not a command", ""),
    (["version"], "'version' is not a command; did you mean --version?", ""), (["explain", "x"], "'explain' is not a command; did you mean why or --explain?", ""),
    (["run", "A", "--nr"], "--nr: expected a value, found none", "run"), (["help", "foo"], "'foo' is not a command", ""), (["--nosuch"], "'--nosuch' is not an option of secequiv", ""),
    (["--timeout", "5", "check"], "'--timeout' must follow the command check", "check"),
    (["run", "A", "--color", "always"], "'--color' must precede the command run", "run"),
    (["prove", "A"], "prove: the argument 'after' is required", "prove"), (["validate"], "validate: the argument 'input' is required", "validate"),
    (["prove", "A", "--engin", "z3"], "'--engin' is not an option of prove; did you mean --engine?", "prove"),
    (["check", "A", "--nosuch", "--nosuch"], "'--nosuch' is not an option of check", "check"),
    (["dis", "A", "-x"], "'-x' is not an option of dis", "dis"), (["dis", "A", "B"], "dis takes no further argument, found 'B'", "dis"),
    (["check", "A", "A", "A"], "input: expected at most 2 values, found 3", "check"),
    (["dis", "A", "-o", "x", "-o", "y"], "--output: expected at most 1 value, found 2", "dis"),
    (["check", "A", "--engine"], "--engine: expected a value (dd|sat|z3|both|all|smt:COMMAND), found none", "check"),
    (["check", "A", "--max-inputs", "many"], "--max-inputs: expected a whole number from 0 to 1000000000, found 'many'", "check"),
    (["mutate", "A", "--seed", "-1"], "--seed: expected a whole number from 0 to 18446744073709551615, found '-1'", "mutate"),
    (["mutate", "A", "--seed", "010"], "--seed: expected a whole number from 0 to 18446744073709551615, found '010'", "mutate"),
    (["cost", "A", "--passes", "none", "--optimizer", "identity"], "--optimizer cannot be combined with --passes", "cost"),
    (["--explain", "derived", "input"], "--explain: expected no command together with this option; a value of several words needs quotation marks", ""),
    (["--explain", "--quiet"], "--explain: expected no other option, found '--quiet'", ""),
    (["--color=never", "--explain=different", "--quiet"], "--explain: expected no other option, found '--quiet'", ""),
    (["--json", "--explain"], "'--json' is not an option of secequiv", ""), (["--list-options", "x"], "--list-options: expected no command together with this option; a value of several words needs quotation marks", ""),
]


@pytest.mark.parametrize("args, problem, command", WRONG, ids=[" ".join(args) for args, _, _ in WRONG])
def test_wrong_usage_gives_one_error_and_one_hint(args, problem, command):
    done = run(*args)
    assert (done.status, done.out) == (2, "")
    assert done.err == "secequiv: %s\nTry 'secequiv%s --help'.\n" % (problem, command and " " + command)


def test_json_and_text_have_the_same_error():
    done = run("check", "--json", "--max-inputs", "x")
    document = json.loads(done.out)
    assert (document["error"], document["detail"]) == ("usage", "--max-inputs: expected a whole number from 0 to 1000000000, found 'x'")
    assert "secequiv: %s\n" % document["detail"] in done.err


def test_help_is_a_command_too():
    assert run("help").out == run("--help").out != ""
    for command in ("check", "prove-rule"):
        done = run("help", command)
        assert (done.status, done.err, done.out) == (0, "", run(command, "--help").out)
        assert done.out == run("--help", command).out == run("-h", command).out
        assert "\nUsage: secequiv %s [OPTION...] " % command in done.out
    assert "secequiv help COMMAND" in run("--help").out


def test_help_shows_values_and_defaults():
    text = run("check", "--help").out
    assert re.search(r"^  --engine dd\|sat\|z3\|both\|all\|smt:COMMAND\s+Prove with dd .* \(default: dd\)$", text, re.MULTILINE)
    assert re.search(r"^  --max-inputs N +Derive .* \(default: 4000000\)$", text, re.MULTILINE)
    assert not re.search("TEXT:|UINT|FLOAT|1x", text)


def test_capabilities_are_named_as_in_docker(getpid):
    """Docker's --cap-add accepts capabilities with and without CAP_, in upper or lower case."""
    wanted = run("run", getpid, "--cap", "CAP_SYS_ADMIN")
    for name in ("SYS_ADMIN", "sys_admin", "cap_sys_admin"):
        done = run("run", getpid, "--cap", name)
        assert (done.status, done.out) == (0, wanted.out), done
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}}]}
    path = getpid.parent / "profile.json"
    path.write_text(json.dumps(profile))
    assert "ALLOW" in run("run", path, "--nr", "mount", "--cap", "sys_admin").out
    assert "did you mean CAP_SYS_ADMIN?" in run("run", path, "--cap", "SYS_ADMN").err


def test_a_note_states_that_standard_input_is_read_from_a_terminal(getpid):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([binary(), "dis"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(ours, getpid.read_bytes() + b"\x04")
    out, err = process.communicate(timeout=60)
    os.close(ours), os.close(theirs)
    assert process.returncode == 0 and err == b"secequiv: note: reading standard input (Ctrl-D ends it)\n" and out == run("dis", getpid).out.encode()
    assert run("dis", stdin=getpid.read_text()).err == ""


def test_a_file_in_place_of_a_stored_difference_is_named(getpid):
    done = run("diff", getpid, getpid, "--expect", getpid)
    assert done.status == 2 and "%s:1:1: expected a stored difference, found no JSON: " % getpid in done.err, done


RECORD = "type=SECCOMP msg=audit(1.1:1): sig=31 arch=c000003e syscall=39 compat=0 ip=0x7 code=0x80000000\n"


def test_files_and_records_are_not_confused(getpid):
    folder = getpid.parent
    (folder / "a log").write_text(RECORD)
    for command in ("run", "why"):
        done = run(command, getpid, "--audit", "a log", cwd=folder)
        assert done.status == 2 and "found the name of a file; to read the file, use --audit - < 'a log'" in done.err, done
        done = run(command, "a log", cwd=folder)
        assert done.status == 2 and "a log: expected a program or a policy, found a record of the audit log; `why` and `run` read it with --audit" in done.err
        assert run(command, getpid, "--audit", "-", stdin=RECORD).status == 0
        assert run(command, getpid, "--audit", RECORD).status == 0
        done = run(command, getpid, "--audit", "no such file")
        assert done.status == 2 and "with type=SECCOMP, found none" in done.err


def test_a_file_in_place_of_a_folder_is_named(getpid):
    for args in (["fuzz", "--optimizer", "identity", "--trials", "1", "--no-scaling", "--save"], ["fuzz", getpid, getpid, "--trials", "1", "--corpus"]):
        done = run(*args, getpid)
        assert (done.status, done.out, done.err) == (2, "", "secequiv: %s: cannot use it as a folder: Not a directory\n" % getpid)


def test_very_long_values_are_errors():
    done = run("check", "--timeout", "x" * 100000)
    assert done.status == 2 and "--timeout" in done.err, done.status


def test_a_mistyped_option_is_named_even_if_its_value_looks_like_an_argument(tmp_path):
    for name in ("a.asm", "b.asm"):
        (tmp_path / name).write_text("ret #0\n")
    done = run("check", "--htlm", "out.html", "a.asm", "b.asm", cwd=tmp_path)
    assert done.status == 2 and "'--htlm' is not an option of check" in done.err, done
