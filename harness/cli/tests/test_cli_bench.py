"""`secequiv bench`: what is measured is not judged here, only that everything is measured and nothing is run."""
import json
import os
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest
from cli_tool import PROGRAMS, ROOT, binary, fits, run
from test_cli_kernel import SYS_SECCOMP, forbid

SYSTRAP = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
POSTGRES = ROOT / "corpus" / "profiles" / "postgres.txt"
QUICK = ["--rounds", "4", "--max-inputs", "2000"]


def bench(*arguments):
    done = run("bench", "--json", *arguments)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        if os.environ.get("SECEQUIV_REQUIRE_KERNEL"):
            pytest.fail(done.err)
        pytest.skip(document["detail"])
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
        assert row["ns"] == pytest.approx(weighted) and 0 <= row["error"] < row["ns"]
    assert 4 <= document["rounds"] <= 16 and document["noise"] >= 0.005


def test_nothing_is_run(asm, tmp_path):
    # exit_group, kill of this process and unlink of a file are allowed, so they would be timed.
    allow = asm("ld [0]\njeq #231, yes, n1\nn1: jeq #62, yes, n2\nn2: jeq #87, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    (tmp_path / "profile").write_text("exit_group 1\nkill 1\nunlink 1\nabort_of_none 1\n")
    document = bench(allow, "--profile", tmp_path / "profile", *QUICK)
    assert [call["name"] for call in document["variants"][0]["calls"]] == ["exit_group", "kill", "unlink"]


def test_stacks_cost_more_than_one(asm):
    slow = asm("ld [0]\n" + "add #1\n" * 2000 + "ret #0x7fff0000\n")
    document = bench(slow, "--stacks", "--profile", POSTGRES, *QUICK)
    times = {row["name"]: row["ns"] for row in document["variants"]}
    ladder = [times["no filter"]] + [times[str(slow) + suffix] for suffix in ("", " x2", " x3", " x4")]
    assert ladder == sorted(ladder)


def test_given_stacks(asm):
    slow = asm("ld [16]\n" + "add #1\n" * 2000 + "ret #0x7fff0000\n", "slow.asm")
    document = bench(slow, "%s,%s" % (slow, slow), "--profile", POSTGRES, *QUICK)
    rows = document["variants"][2:]
    assert [row["name"] for row in rows] == [str(slow), "%s,%s" % (slow, slow)]
    assert [row["instructions"] for row in rows] == [2002, 4004] and rows[0]["ns"] < rows[1]["ns"]


def test_of_a_filter_that_is_too_long_the_executed_part_is_timed():
    pair = [PROGRAMS / "gvisor" / ("systrap-everything.%s.bpf" % side) for side in ("before", "after")]
    document = bench(*pair, "--profile", POSTGRES, *QUICK)
    before, after = document["variants"][2:]
    assert before["executed_part_of"] == 6422 and 20 < before["instructions"] < 4096
    assert "executed_part_of" not in after and after["instructions"] == 1382
    text = run("bench", *pair, "--profile", POSTGRES, *QUICK)
    assert "6422 instructions, more than the kernel takes" in text.out


def test_a_difference_is_told_and_none_is_not(asm):
    slow = asm("ld [16]\n" + "add #1\n" * 3000 + "ret #0x7fff0000\n", "slow.asm")
    quick = asm("ld [16]\nret #0x7fff0000\n", "quick.asm")
    bench(slow, *QUICK)  # or it is skipped
    assert "% faster;" in run("bench", slow, quick, "--profile", POSTGRES, *QUICK).out
    assert "% slower" in run("bench", quick, slow, "--profile", POSTGRES, *QUICK).out


def test_chart(getpid, tmp_path):
    chart = tmp_path / "c&<.svg"
    bench(getpid, "--chart", chart, *QUICK)
    tree = xml.etree.ElementTree.parse(chart)
    words = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"no filter", "empty filter", str(getpid)} <= set(words)
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + 2 * 3
    done = run("bench", getpid, "--chart", tmp_path / "none" / "c.svg", *QUICK)
    assert done.status == 2 and "none/c.svg" in done.err


def test_real_calls_are_those_that_do_nothing(getpid):
    document = bench(getpid, "--real", *QUICK)
    assert document["real"] and [call["name"] for call in document["variants"][0]["calls"]] == ["getpid"]


def test_real_calls_need_one(asm):
    done = run("bench", asm("ret #0\n"), "--real", *QUICK)
    assert done.status == 2 and "do nothing" in done.err


def test_ctrl_c_ends_it():
    process = subprocess.Popen([binary(), "bench", *map(str, SYSTRAP), "--rounds", "100000", "--max-inputs", "100", "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode in (0, 3), errors
    assert json.loads(output)["schema"] in ("secequiv.bench/1", "secequiv.error/1")


def test_where_it_is_not_permitted(getpid):
    bench(getpid, *QUICK)  # or it is skipped
    done = run("bench", getpid, *QUICK, preexec_fn=forbid(SYS_SECCOMP))
    assert done.status == 3 and "seccomp is not permitted here" in done.err and not done.out


@pytest.mark.parametrize("arguments, says", [([], "input"), (["/nowhere"], "/nowhere"), ([SYSTRAP[1], "--rounds", "1"], "--rounds")])
def test_wrong_usage(arguments, says):
    done = run("bench", *arguments)
    assert done.status == 2 and says in done.err and not done.out
