"""Tests that `secequiv bench` measures everything and executes no call. No test checks a time."""
import json
import os
import pty
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest
from cli_tool import PROGRAMS, ROOT, binary, fits, run, shown_on
from test_cli_kernel import SYS_SECCOMP, forbid

SYSTRAP = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
POSTGRES = ROOT / "corpus" / "profiles" / "postgres.txt"
QUICK = ["--rounds", "2", "--max-inputs", "100"]
SYS_UNUSED = 1000


@pytest.fixture
def few(tmp_path):
    """Returns a profile of one call."""
    (tmp_path / "few").write_text("getpid 1\n")
    return tmp_path / "few"


def bench(*arguments):
    done = run("bench", "--json", *arguments)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        pytest.skip(done.err)
    assert done.status == 0 and fits(document) == "bench", done
    return document


def test_every_variant_and_call_is_measured():
    document = bench(*SYSTRAP, "--profile", POSTGRES, *QUICK)
    names = [row["name"] for row in document["variants"]]
    assert names == ["no filter", "empty filter", *map(str, SYSTRAP)]
    for row in document["variants"]:
        calls = {call["name"]: call for call in row["calls"]}
        assert calls["futex"]["calls"] == 870063 and len(calls) == 21
        weighted = sum(call["ns"] * call["calls"] for call in row["calls"]) / sum(call["calls"] for call in row["calls"])
        assert row["ns"] == pytest.approx(weighted) and row["error"] >= 0
    assert 2 <= document["rounds"] <= 8 and not document["interrupted"]
    assert document["noise"] is None if document["rounds"] < 8 else document["noise"] >= 0.005


def test_calls_that_the_filter_allows_are_not_executed(asm, tmp_path):
    # The filter allows exit_group, kill and unlink. If bench executed them, it would end itself or delete files.
    allow = asm("ld [0]\njeq #231, yes, n1\nn1: jeq #62, yes, n2\nn2: jeq #87, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    (tmp_path / "profile").write_text("exit_group 1\nkill 1\nunlink 1\nabort_of_none 1\n")
    document = bench(allow, "--profile", tmp_path / "profile", *QUICK)
    assert [call["name"] for call in document["variants"][0]["calls"]] == ["exit_group", "kill", "unlink"]


def test_stacks_option_times_up_to_four_copies(asm, few):
    slow = asm("ld [0]\n" + "add #1\n" * 100 + "ret #0x7fff0000\n")
    rows = bench(slow, "--stacks", "--profile", few, *QUICK)["variants"]
    assert [row["name"] for row in rows] == ["no filter", "empty filter", *(str(slow) + suffix for suffix in ("", " x2", " x3", " x4"))]
    assert [row["instructions"] for row in rows] == [0, 1, 102, 204, 306, 408]


def test_stacks_on_the_command_line_are_timed(asm, few):
    slow = asm("ld [16]\n" + "add #1\n" * 100 + "ret #0x7fff0000\n", "slow.asm")
    document = bench(slow, "%s,%s" % (slow, slow), "--profile", few, *QUICK)
    rows = document["variants"][2:]
    assert [row["name"] for row in rows] == [str(slow), "%s,%s" % (slow, slow)]
    assert [row["instructions"] for row in rows] == [102, 204]


def test_a_policy_is_timed_as_its_optimized_program(few):
    """Nobody installs an unoptimized program, so `bench` times the optimized one, as `cost` counts it."""
    docker = ROOT / "corpus" / "policies" / "oci" / "docker-default.json"
    quick = ["--profile", few, *QUICK]
    for options in ([], ["--passes", "none"], ["--compiler", "secequiv"], ["--optimizer", "identity"]):
        document = bench(docker, *options, *quick)
        counted, = json.loads(run("cost", docker, "--profile", few, "--json", *options).out)["sides"]
        assert document["stacks"] == [{"name": str(docker), "filters": counted["filters"]}]
        assert document["variants"][2]["name"] == str(docker)
    text = run("bench", docker, *quick).out
    assert text.startswith("%s, compiled and optimized by the built-in passes: 301 instructions\n" % docker)
    done = run("bench", docker, "--compiler", "false", *quick)
    assert done.status == 5 and "crashed" in done.err


def of_length(asm, count, name):
    return asm("ret #0x7fff0000\n" * count, name)


def test_a_filter_without_room_for_added_instructions_is_rejected(asm, few):
    full, fits, top = of_length(asm, 4093, "full.asm"), of_length(asm, 4092, "fits.asm"), of_length(asm, 4096, "top.asm")
    for arguments in ([full, "--stacks"], ["%s,%s" % (top, full)]):
        done = run("bench", *arguments, "--profile", few, *QUICK)
        assert done.status == 4 and "full.asm: expected at most 4092" in done.err and "adds 4" in done.err and "found 4093" in done.err
        assert not done.out
    assert len(bench("%s,%s" % (top, fits), "--profile", few, *QUICK)["variants"]) == 3


def test_stacks_that_exceed_the_kernels_total_limit_are_rejected(asm, few):
    bench(SYSTRAP[1], "--profile", few, *QUICK)  # skips the test if the kernel is not available
    stack = ",".join([str(of_length(asm, 4000, "long.asm"))] * 9)
    done = run("bench", stack, "--profile", few, *QUICK)
    assert done.status == 4 and "long.asm," in done.err and "32768" in done.err and "found 9 filters" in done.err and not done.out


def test_bench_times_the_executed_part_of_a_filter_that_is_too_long():
    pair = [PROGRAMS / "gvisor" / ("systrap-everything.%s.bpf" % side) for side in ("before", "after")]
    quick = ["--profile", POSTGRES, "--rounds", "2", "--max-inputs", "2000"]
    document = bench(*pair, *quick)
    before, after = document["variants"][2:]
    assert before["executed_part_of"] == 6422 and 20 < before["instructions"] < 4096
    assert "executed_part_of" not in after and after["instructions"] == 1382
    text = run("bench", *pair, *quick)
    assert "the kernel refuses 6422 instructions" in text.out


def test_chart_names_every_variant(getpid, few, tmp_path):
    chart = tmp_path / "c&<.svg"
    bench(getpid, "--chart", chart, "--profile", few, *QUICK)
    tree = xml.etree.ElementTree.parse(chart)
    words = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"no filter", "empty filter", str(getpid)} <= set(words)
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + 2 * 3


def test_the_report_appears_even_if_the_chart_cannot_be_written(getpid, few, tmp_path):
    bench(getpid, "--profile", few, *QUICK)  # skips the test if the kernel is not available
    arguments = ["bench", getpid, "--chart", tmp_path / "none" / "c.svg", "--profile", few, *QUICK]
    done = run(*arguments)
    assert done.status == 2 and "none/c.svg" in done.err and "ns a call" in done.out
    done = run(*arguments, "--json")
    assert done.status == 2 and "none/c.svg" in done.err and fits(json.loads(done.out)) == "bench"


def test_the_option_real_makes_only_calls_that_do_nothing(getpid):
    document = bench(getpid, "--real", *QUICK)
    assert document["real"] and [call["name"] for call in document["variants"][0]["calls"]] == ["getpid"]


@pytest.mark.parametrize("text, message", [
    ("getuid 1\nread 5\n", "the first filter allows none of the profile's calls that do nothing"),
    ("read 5\n", "expected a profile that has some of the calls that do nothing"),
    ("getpid 0\nread 5\n", "expected a profile that has some of the calls that do nothing"),
])
def test_the_option_real_needs_a_profile_with_a_harmless_call(getpid, tmp_path, text, message):
    (tmp_path / "profile").write_text(text)
    done = run("bench", getpid, "--real", "--profile", tmp_path / "profile", *QUICK)
    assert done.status == 2 and message in done.err and not done.out


@pytest.mark.parametrize("command", ["bench", "cost"])
def test_a_profile_without_calls_is_an_error(getpid, tmp_path, command):
    (tmp_path / "profile").write_text("getpid 0\nread 0\nsocketcall 3\n")
    done = run(command, getpid, "--profile", tmp_path / "profile")
    assert done.status == 2 and "%s: expected a system call of x86_64 with a count above 0" % (tmp_path / "profile") in done.err
    assert not done.out


def test_calls_that_were_not_made_are_not_timed(getpid, tmp_path):
    (tmp_path / "profile").write_text("getpid 3\nread 0\n")
    document = bench(getpid, "--profile", tmp_path / "profile", *QUICK)
    assert [call["name"] for call in document["variants"][0]["calls"]] == ["getpid"]


def test_only_calls_of_x86_64_are_timed(getpid):
    done = run("bench", getpid, "--arch", "aarch64", *QUICK)
    assert done.status == 3 and "--arch: expected x86_64, the only architecture whose calls can be timed, found aarch64" in done.err and not done.out


def test_an_existing_filter_of_the_process_is_reported(getpid, few):
    bench(getpid, "--profile", few, *QUICK)  # skips the test if the kernel is not available
    arguments = ["bench", getpid, "--profile", few, *QUICK]
    done = run(*arguments, "--json", preexec_fn=forbid(SYS_UNUSED))
    assert done.status == 0 and json.loads(done.out)["filtered_already"] is True
    assert "already has a seccomp filter" in run(*arguments, preexec_fn=forbid(SYS_UNUSED)).out


def interrupted(program, few, *arguments, stdout=None):
    """Sends SIGINT to the process group after some rounds, as a terminal does; returns status and outputs. Standard error is a terminal."""
    ours, theirs = pty.openpty()
    command = [binary(), "bench", str(program), "--rounds", "100000", "--profile", str(few), "--max-inputs", "100", *arguments]
    with subprocess.Popen(command, start_new_session=True, stdout=stdout or theirs, stderr=theirs) as process:
        os.close(theirs)
        errors = b""
        late = time.monotonic() + 60
        while not re.search(rb"sample \d\d", errors) and time.monotonic() < late:
            errors += os.read(ours, 4096)
        time.sleep(0.05)  # the line is shown between samples
        os.killpg(process.pid, signal.SIGINT)
        output = process.stdout.read() if process.stdout else b""
        errors += shown_on(ours)
    os.close(ours)
    return process.returncode, output.decode(), errors.decode()


@pytest.mark.parametrize("form", ["text", "json"])
def test_ctrl_c_on_a_terminal_still_reports_the_measurements(asm, few, form):
    # The runs of this filter take nearly all of the time, so the signal arrives during one.
    slow = asm("ld [16]\n" + "add #1\n" * 3000 + "ret #0x7fff0000\n")
    slow = "%s,%s" % (slow, slow)
    bench(slow, "--profile", few, *QUICK)  # skips the test if the kernel is not available
    status, output, errors = interrupted(slow, few, *["--json"] * (form == "json"), stdout=subprocess.PIPE)
    assert status == 3 and "secequiv:" not in errors
    if form == "json":
        document = json.loads(output)
        assert fits(document) == "bench" and document["interrupted"] and 2 <= document["rounds"] < 100000
    else:
        assert output.startswith("the measurement was interrupted after ") and " of 100000 rounds\n" in output


def test_the_status_line_is_erased_before_the_report(getpid, few):
    bench(getpid, "--profile", few, *QUICK)  # skips the test if the kernel is not available
    *status, report = interrupted(getpid, few)[2].split("\r\x1b[K")
    assert report.startswith("the measurement was interrupted after ") and "noise: " in report
    assert " (at least 300000)" in status[-1] and "\n" not in "".join(status)


def test_forbidden_seccomp_gives_unknown(getpid, few):
    bench(getpid, "--profile", few, *QUICK)  # skips the test if the kernel is not available
    done = run("bench", getpid, "--profile", few, *QUICK, preexec_fn=forbid(SYS_SECCOMP))
    assert done.status == 3 and "seccomp is not permitted here" in done.err and not done.out


@pytest.mark.parametrize("arguments, message", [([], "input"), (["/nowhere"], "/nowhere"), ([SYSTRAP[1], "--rounds", "1"], "--rounds")])
def test_wrong_usage_is_an_error(arguments, message):
    done = run("bench", *arguments)
    assert done.status == 2 and message in done.err and not done.out
