"""Tests `secequiv fuzz` of a pair: the prover's inputs first, then libFuzzer, then the report of `check`."""
# This test also runs in the preset asan.
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import time

import pytest

from cli_tool import PROGRAMS, ROOT, STATUS, agrees, binary, fits, run

SYSTRAP = [str(PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side)) for side in ("before", "after")]
# WRONG lacks the tests of the first argument. Inputs that cover its edges therefore do not show the difference; only a mutation of
# the argument does.
RIGHT = "ld [0]\njeq #1, low, no\nlow: ld [16]\nand #0xff\njeq #0x5a, high, yes\nhigh: ld [20]\njset #0x40, no, yes\nyes: ret #0x7fff0000\nno: ret #0\n"
WRONG = "ld [0]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n"
# In this program, fuzzing has to find the edges without the prover, because the diagrams run out of time.
LUCK = str(ROOT / "corpus" / "regress" / "fuzz" / "luck.asm")
ONE = "ld [16]\nmul #0x9e3779b1\ntax\nld [20]\nmul #0x85ebca6b\nxor x\njeq #0x12345678, yes, no\nno: ret #0x50001\nyes: ret #0x7fff0000\n"
UNPROVEN = ("--engine", "dd", "--timeout", "1e-9", "--no-prove", "--max-inputs", "0")


@pytest.fixture
def luck():
    return [LUCK, LUCK, *UNPROVEN]


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


def test_the_provers_inputs_complete_the_coverage_before_fuzzing(tmp_path):
    status, report = fuzz(*SYSTRAP, "--trials", "20000", "--corpus", str(tmp_path / "corpus"))
    assert (status, report["verdict"]) == (0, "pass")
    seeds = report["fuzz"]
    feasible = report["coverage"]["obligations"] - len(report["coverage"]["infeasible"])
    assert seeds["seeds_met"] == feasible > 1000 and not report["coverage"]["open"]
    assert 0 < seeds["seed_seconds"] < seeds["derived_seconds"]
    assert seeds["last_edge_seconds"] == 0
    # A run evaluates up to 16 inputs, and then a batch of at most 2048.
    assert 20000 <= seeds["evaluations"] < 40000 and seeds["runs"] >= 20000 / (16 + 2048)
    # The stored inputs alone cover all edges.
    stored = sorted(pathlib.Path(tmp_path / "corpus").glob("seed-*"))
    assert 0 < len(stored) <= feasible and all(one.stat().st_size == 64 for one in stored)
    inputs = tmp_path / "inputs"
    inputs.write_bytes(b"".join(one.read_bytes() for one in stored))
    cover = run("cover", SYSTRAP[1], "--inputs", str(inputs), "--no-derive", "--json")
    assert json.loads(cover.out)["covered"] == feasible


def test_fuzzing_finds_a_difference_that_no_edge_shows(pair, tmp_path):
    corpus = tmp_path / "corpus"
    status, report = fuzz(*pair, "--no-prove", "--max-inputs", "0", "--duration", "60", "--corpus", str(corpus))
    assert (status, report["verdict"]) == (1, "different")
    assert "found by fuzzing" in report["reason"] and "proof" not in report
    words = report["witness"]["data"]["words"]
    assert report["fuzz"]["evaluations"] > 0 and "not_run" not in report["fuzz"]
    # The input is stored, and the next run starts with it.
    found = [one.read_bytes() for one in corpus.glob("finding-*")]
    assert struct.pack("<16I", *words) in found
    status, report = fuzz(*pair, "--no-prove", "--max-inputs", "0", "--duration", "60", "--corpus", str(corpus))
    assert status == 1 and report["fuzz"]["not_run"] and report["fuzz"]["evaluations"] == 0


def test_a_proven_difference_skips_the_fuzzing(pair):
    status, report = fuzz(*pair, "--max-inputs", "0", "--duration", "60")
    assert status == 1 and report["fuzz"]["not_run"] == "the programs are proven to differ"


def test_without_a_proof_a_run_without_a_difference_passes(pair):
    status, report = fuzz(pair[0], pair[0], "--no-prove", "--trials", "1000")
    assert (status, report["verdict"]) == (0, "pass")
    assert "proof" not in report and "no proof of equivalence was requested" in report["reason"]


def test_jobs_share_the_folder_and_the_trials(pair, tmp_path):
    status, report = fuzz(pair[0], pair[0], "--trials", "40000", "--jobs", "3", "--corpus", str(tmp_path / "c"))
    assert status == 0 and report["fuzz"]["jobs"] == 3
    assert 39000 <= report["fuzz"]["evaluations"] < 60000


def test_a_job_uses_inputs_that_others_add_to_the_folder(tmp_path):
    (tmp_path / "one.asm").write_text(ONE)
    corpus = tmp_path / "corpus"
    command = [binary(), "fuzz", *[str(tmp_path / "one.asm")] * 2, *UNPROVEN, "--duration", "600", "--json", "--corpus", str(corpus)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    wait_for_files(corpus, 1, process)
    time.sleep(1)
    there = len(list(corpus.iterdir()))
    solution = 0x12345678 * pow(0x9E3779B1, -1, 1 << 32) % (1 << 32)
    (tmp_path / "solution").write_bytes(struct.pack("<16I", 0, 0, 0, 0, solution, *[0] * 11))
    os.rename(tmp_path / "solution", corpus / "solution")
    wait_for_files(corpus, there + 2, process)  # the job stores the input under its own name, because it covers something new
    process.send_signal(signal.SIGINT)
    report = json.loads(process.communicate(timeout=60)[0])
    assert report["fuzz"]["last_edge_seconds"] > 0.5 and not report["coverage"]["open"]


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_the_same_seed_gives_the_same_inputs(luck, tmp_path):
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        fuzz(*luck, "--trials", "20000", "--seed", seed, "--corpus", str(tmp_path / name))
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")


@pytest.mark.parametrize("trials", ["500", "2000", "4500", "7000"])
def test_inputs_with_new_coverage_are_stored(luck, tmp_path, trials):
    _, report = fuzz(*luck, "--trials", trials, "--corpus", str(tmp_path / "c"))
    met = report["coverage"]["obligations"] - len(report["coverage"]["open"])
    assert (met > report["fuzz"]["seeds_met"]) == (report["fuzz"]["last_edge_seconds"] > 0)
    _, again = fuzz(*luck, "--trials", "1", "--corpus", str(tmp_path / "c"))
    assert again["coverage"]["obligations"] - len(again["coverage"]["open"]) >= met


def test_a_full_disk_is_an_error(luck, tmp_path):
    fuzz(*luck, "--trials", "1", "--corpus", str(tmp_path / "c"))
    done = run("fuzz", *luck, "--trials", "40000", "--corpus", str(tmp_path / "c"),
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert done.status == 2 and "cannot be written" in done.err and not done.out, done


def test_ignored_sigchld_does_not_disturb_fuzzing(pair):
    done = run("fuzz", pair[0], pair[0], "--trials", "1000", timeout=60, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.status == 0, done


def test_a_folder_name_may_look_like_an_option(luck, tmp_path):
    _, report = fuzz(*luck, "--trials", "20000", "--corpus=-runs=0", cwd=tmp_path)
    assert report["fuzz"]["evaluations"] >= 20000
    assert len(list((tmp_path / "-runs=0").iterdir())) > report["fuzz"]["seeds"]


def test_unusual_files_in_the_folder_are_read_or_skipped(pair, tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "deeper").mkdir(parents=True)
    os.mkfifo(corpus / "pipe")
    (corpus / "nothing").write_bytes(b"")
    (corpus / "notes.txt").write_text("mine\n")
    with open(corpus / "large", "wb") as large:
        large.truncate(17 << 20)
    status, report = fuzz(pair[0], pair[0], "--trials", "1000", "--corpus", str(corpus), "--minimize")
    assert status == 0 and report["fuzz"]["corpus"]["read"] == 2  # the text of the notes, and the first inputs of the large file
    assert {"deeper", "pipe", "nothing", "notes.txt", "large"} <= {one.name for one in corpus.iterdir()}


def test_minimize_leaves_one_input_for_each_edge(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(40):
        (corpus / ("%040x" % number)).write_bytes(number.to_bytes(4, "little") * 16)
    (corpus / "seed-short").write_bytes(b"\x01\x02")
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
def test_a_killed_run_loses_no_stored_input(tmp_path, jobs):
    corpus = tmp_path / "corpus"
    command = [binary(), "fuzz", *SYSTRAP, "--duration", "600", "--corpus", str(corpus), "--jobs", jobs]
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
    for _ in range(100):  # its child processes end, too
        if not any(os.path.exists("/proc/%d" % worker) for worker in workers):
            break
        time.sleep(0.05)
    assert not any(os.path.exists("/proc/%d" % worker) for worker in workers)
    after = {one.name: one.read_bytes() for one in corpus.iterdir()}
    assert before and all(after[name] == data for name, data in before.items())
    status, report = fuzz(*SYSTRAP, "--trials", "1000", "--corpus", str(corpus), "--max-inputs", "0")
    assert status == 0 and report["fuzz"]["corpus"]["read"] >= len(before)


def test_inputs_found_by_fuzzing_survive_a_kill(luck, tmp_path):
    corpus = tmp_path / "corpus"
    process = subprocess.Popen([binary(), "fuzz", *luck, "--duration", "600", "--corpus", str(corpus)], stdout=subprocess.DEVNULL)
    wait_for_files(corpus, 20, process)
    process.kill()
    process.wait()
    _, report = fuzz(*luck, "--trials", "1", "--corpus", str(corpus))
    met = report["coverage"]["obligations"] - len(report["coverage"]["open"])
    assert met >= report["fuzz"]["seeds_met"] + 10


def test_ctrl_c_still_gives_the_report(tmp_path):
    corpus = tmp_path / "corpus"
    command = [binary(), "fuzz", *SYSTRAP, "--duration", "600", "--json", "--corpus", str(corpus)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_files(corpus, 250, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    report = json.loads(output)
    assert report["fuzz"]["interrupted"] and report["verdict"] == "pass" and process.returncode == 0, errors


# For this pair, the diagrams run out of steps, and Z3 needs minutes.
@pytest.mark.parametrize("engine", ["dd", "z3", "both"])
@pytest.mark.parametrize("delay", [0, 0.3, 2])
def test_ctrl_c_starts_no_proof(engine, delay, hard):
    process = subprocess.Popen([binary(), "fuzz", *map(str, hard), "--engine", engine, "--duration", "600", "--timeout", "1000", "--json"],
                               stdout=subprocess.PIPE, text=True)
    while not int(open("/proc/%d/status" % process.pid).read().split("SigCgt:")[1].split()[0], 16) >> (signal.SIGINT - 1) & 1:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=100)  # much less than a proof takes
    report = json.loads(output)
    assert fits(report) == "check" and report["fuzz"]["interrupted"]
    assert (process.returncode, report["verdict"]) == (3, "unknown") and "interrupted" in report["reason"], report


def test_an_interrupt_without_a_proof_is_unknown(tmp_path, pair):
    command = [binary(), "fuzz", pair[0], pair[0], "--duration", "600", "--no-prove", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if children(process.pid):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(output)["verdict"]) == (3, "unknown")


@pytest.mark.parametrize("arguments, message", [
    (["--optimizer", "identity", "--corpus", "x"], "--corpus: applies only to a pair of programs"),
    (["PAIR", "--optimizer", "identity"], "--optimizer: does not apply to a pair"),
    (["PAIR", "--generate"], "--generate: does not apply to a pair"),
    (["PAIR", "--minimize"], "--minimize: expected --corpus as well"),
    (["PAIR", "--jobs", "0"], "--jobs"),
    (["PAIR", "--corpus", "/proc/nowhere"], "/proc/nowhere: "),
])
def test_wrong_usage_is_an_error(pair, arguments, message):
    arguments = [pair[0] if argument == "PAIR" else argument for argument in arguments]
    done = run("fuzz", *arguments)
    assert done.status == 2 and message in done.err and not done.out


def test_a_file_in_place_of_the_folder_is_an_error(pair, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("fuzz", pair[0], "--corpus", str(tmp_path / "file"))
    assert done.status == 2 and str(tmp_path / "file") in done.err


def test_a_program_that_the_kernel_refuses_is_rejected(tmp_path):
    (tmp_path / "bad.asm").write_text("ld [0]\n")
    status, report = fuzz(SYSTRAP[0], str(tmp_path / "bad.asm"), "--duration", "1")
    assert (status, report["verdict"]) == (4, "rejected") and report["fuzz"]["not_run"]
