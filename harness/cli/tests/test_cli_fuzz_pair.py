"""`secequiv fuzz` of a pair: the prover's inputs first, then libFuzzer, then the account of `check`."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import time

import pytest

from cli_tool import PROGRAMS, STATUS, agrees, binary, fits, run

SYSTRAP = [str(PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side)) for side in ("before", "after")]
# The wrong one has no test for one bit of the first argument, so its edges say nothing about it: an
# input has to be changed the right way.
RIGHT = "ld [0]\njeq #1, low, no\nlow: ld [16]\nand #0xff\njeq #0x5a, high, yes\nhigh: ld [20]\njset #0x40, no, yes\nyes: ret #0x7fff0000\nno: ret #0\n"
WRONG = "ld [0]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n"


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "right.asm").write_text(RIGHT)
    (tmp_path / "wrong.asm").write_text(WRONG)
    return [str(tmp_path / "right.asm"), str(tmp_path / "wrong.asm")]


def fuzz(*arguments, **options):
    done = run("fuzz", "--json", *arguments, **options)
    report = json.loads(done.out)
    assert fits(report) == "check" and done.status == STATUS[report["verdict"]], done
    if "witness" in report:
        agrees(report["witness"])
    return done.status, report


def test_coverage_is_complete_before_the_first_change(tmp_path):
    status, report = fuzz(*SYSTRAP, "--trials", "20000", "--corpus", str(tmp_path / "corpus"))
    assert (status, report["verdict"]) == (0, "pass")
    seeds = report["fuzz"]
    feasible = report["coverage"]["obligations"] - len(report["coverage"]["infeasible"])
    assert seeds["seeds_met"] == feasible > 1000 and not report["coverage"]["open"]
    assert 0 < seeds["seed_seconds"] < seeds["derived_seconds"]
    assert seeds["last_edge_seconds"] == 0
    assert 20000 <= seeds["evaluations"] < 40000 and seeds["runs"] > 1000
    # What is stored is enough for all of them, by itself.
    stored = sorted(pathlib.Path(tmp_path / "corpus").glob("seed-*"))
    assert 0 < len(stored) <= feasible and all(one.stat().st_size == 64 for one in stored)
    inputs = tmp_path / "inputs"
    inputs.write_bytes(b"".join(one.read_bytes() for one in stored))
    cover = run("cover", SYSTRAP[1], "--inputs", str(inputs), "--no-derive", "--json")
    assert json.loads(cover.out)["covered"] == feasible


def test_fuzzing_finds_what_no_input_shows(pair, tmp_path):
    corpus = tmp_path / "corpus"
    status, report = fuzz(*pair, "--no-prove", "--max-inputs", "0", "--time", "60", "--corpus", str(corpus))
    assert (status, report["verdict"]) == (1, "different")
    assert "found by fuzzing" in report["reason"] and "proof" not in report
    words = report["witness"]["data"]["words"]
    assert report["fuzz"]["evaluations"] > 0 and "not_run" not in report["fuzz"]
    # It is on disk, and the next run starts with it.
    found = [one.read_bytes() for one in corpus.glob("finding-*")]
    assert struct.pack("<16I", *words) in found
    status, report = fuzz(*pair, "--no-prove", "--max-inputs", "0", "--time", "60", "--corpus", str(corpus))
    assert status == 1 and report["fuzz"]["not_run"] and report["fuzz"]["evaluations"] == 0


def test_the_proof_spares_the_fuzzing(pair):
    status, report = fuzz(*pair, "--max-inputs", "0", "--time", "60")
    assert status == 1 and report["fuzz"]["not_run"] == "they are proven to differ"


def test_nothing_differs_and_nothing_is_proven(pair):
    status, report = fuzz(pair[0], pair[0], "--no-prove", "--trials", "1000")
    assert (status, report["verdict"]) == (0, "pass")
    assert "proof" not in report and "not asked for" in report["reason"]


def test_jobs_share_the_folder_and_each_runs(pair, tmp_path):
    status, report = fuzz(pair[0], pair[0], "--trials", "40000", "--jobs", "3", "--corpus", str(tmp_path / "c"))
    assert status == 0 and report["fuzz"]["jobs"] == 3
    assert 39000 <= report["fuzz"]["evaluations"] < 60000


def test_same_seed_same_runs(pair):
    reports = [fuzz(pair[0], pair[0], "--trials", "5000", "--seed", seed)[1]["fuzz"] for seed in ("7", "7")]
    assert reports[0]["runs"] == reports[1]["runs"] and reports[0]["evaluations"] == reports[1]["evaluations"]


def test_one_input_for_each_edge_is_left(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(40):
        (corpus / ("old%d" % number)).write_bytes(number.to_bytes(4, "little") * 16)
    (corpus / "short").write_bytes(b"\x01\x02")
    status, report = fuzz(*SYSTRAP, "--trials", "1000", "--corpus", str(corpus), "--minimize")
    assert status == 0 and report["fuzz"]["corpus"]["read"] == 41
    left = list(corpus.iterdir())
    assert len(left) == report["fuzz"]["corpus"]["left"] < 400
    _, again = fuzz(*SYSTRAP, "--trials", "1000", "--corpus", str(corpus), "--minimize", "--max-inputs", "0")
    assert again["fuzz"]["corpus"]["left"] == len(left)
    assert again["coverage"]["open"] == []


def wait_for_files(folder, count, process):
    for _ in range(600):
        if folder.exists() and len(list(folder.iterdir())) >= count:
            return
        assert process.poll() is None
        time.sleep(0.05)
    raise AssertionError("no inputs were written")


def children(pid):
    return [int(one) for one in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_run_loses_nothing(tmp_path, jobs):
    corpus = tmp_path / "corpus"
    command = [binary(), "fuzz", *SYSTRAP, "--time", "600", "--corpus", str(corpus), "--jobs", jobs]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_files(corpus, 250, process)
    for _ in range(600):
        workers = children(process.pid)
        if len(workers) == int(jobs):
            break
        time.sleep(0.05)
    assert len(workers) == int(jobs)
    before = {one.name: one.read_bytes() for one in corpus.iterdir() if one.name.startswith("seed-")}
    process.send_signal(signal.SIGKILL)
    process.wait()
    for _ in range(100):  # what it started is gone, too
        if not any(os.path.exists("/proc/%d" % worker) for worker in workers):
            break
        time.sleep(0.05)
    assert not any(os.path.exists("/proc/%d" % worker) for worker in workers)
    after = {one.name: one.read_bytes() for one in corpus.iterdir()}
    assert before and all(after[name] == data for name, data in before.items())
    status, report = fuzz(*SYSTRAP, "--trials", "1000", "--corpus", str(corpus), "--max-inputs", "0")
    assert status == 0 and report["fuzz"]["corpus"]["read"] >= len(before)


def test_ctrl_c_ends_with_the_report(tmp_path):
    corpus = tmp_path / "corpus"
    command = [binary(), "fuzz", *SYSTRAP, "--time", "600", "--json", "--corpus", str(corpus)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_files(corpus, 250, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    report = json.loads(output)
    assert report["fuzz"]["interrupted"] and report["verdict"] == "pass" and process.returncode == 0, errors


def test_interrupted_without_a_proof_is_no_pass(tmp_path, pair):
    command = [binary(), "fuzz", pair[0], pair[0], "--time", "600", "--no-prove", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if children(process.pid):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(output)["verdict"]) == (3, "unknown")


@pytest.mark.parametrize("arguments, says", [
    (["--optimizer", "identity", "--corpus", "x"], "--corpus: is for a pair of programs"),
    (["PAIR", "--optimizer", "identity"], "--optimizer: is not for a pair"),
    (["PAIR", "--generate"], "--generate: is not for a pair"),
    (["PAIR", "--minimize"], "--minimize: expected --corpus, too"),
    (["PAIR", "--jobs", "0"], "--jobs"),
    (["PAIR", "--corpus", "/proc/nowhere"], "/proc/nowhere: "),
])
def test_wrong_usage(pair, arguments, says):
    arguments = [pair[0] if argument == "PAIR" else argument for argument in arguments]
    done = run("fuzz", *arguments)
    assert done.status == 2 and says in done.err and not done.out


def test_a_file_where_the_folder_should_be(pair, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("fuzz", pair[0], "--corpus", str(tmp_path / "file"))
    assert done.status == 2 and str(tmp_path / "file") in done.err


def test_a_program_that_is_refused(tmp_path):
    (tmp_path / "bad.asm").write_text("ld [0]\n")
    status, report = fuzz(SYSTRAP[0], str(tmp_path / "bad.asm"), "--time", "1")
    assert (status, report["verdict"]) == (4, "rejected") and report["fuzz"]["not_run"]
