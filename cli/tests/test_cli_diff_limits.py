"""Tests that listing a huge difference ends at a limit of memory or time, or with Ctrl-C."""

import json
import resource
import signal
import subprocess
import time

import pytest
from cli_tool import binary, run

GIB = 1 << 30


@pytest.fixture
def sums(asm):
    """Returns two small filters that differ by three changes of 4^11 regions each: the first filter adds up two bits of each argument word
    and tests the sum."""
    add = "".join("ld [%d]\nand #3\nadd x\ntax\n" % (16 + 4 * word) for word in range(12))
    tests = "".join("jeq #%d, is%d, not%d\nis%d: ret #%#x\nnot%d: " % (n, n, n, n, 0x50000 + n, n) for n in range(3))
    return asm("ldx #0\n%sand #3\n%sret #0x50003\n" % (add, tests), "sums.asm"), asm("ret #0x50000\n", "one.asm")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))


@pytest.mark.parametrize("more", [["--max-regions", "1000000"], ["--write-expect", "stored.json"], ["--max-regions", "100000", "--json"]])
def test_a_list_that_exceeds_the_memory_limit_is_refused(more, sums, tmp_path):
    done = run("diff", *sums, "--max-memory", "200", *more, cwd=tmp_path, preexec_fn=limited)
    assert done.status == 3, done
    assert "the listed regions would need more memory than the limit" in done.err
    assert not (tmp_path / "stored.json").exists()


def test_expecting_a_difference_that_exceeds_the_memory_limit_is_refused(sums, getpid, getpid_enoent, tmp_path):
    assert run("diff", getpid, getpid_enoent, "--write-expect", "stored.json", cwd=tmp_path).status == 1
    done = run("diff", *sums, "--max-memory", "200", "--expect", "stored.json", cwd=tmp_path, preexec_fn=limited)
    assert done.status == 3 and "need more memory than the limit" in done.err, done


def test_a_list_below_the_memory_limit_does_not_exceed_it(sums):
    done = run("diff", *sums, "--max-memory", "700", "--max-regions", "4000", "--json", preexec_fn=limited)
    assert done.status == 1, done


def test_the_time_limit_gives_unknown(sums):
    done = run("diff", *sums, "--timeout", "1e-9")
    assert done.status == 3, done
    assert done.err == "secequiv: unknown: time limit of 1e-09 s reached (limits: --timeout, --max-memory)\n", done
    document = json.loads(run("diff", *sums, "--timeout", "1e-9", "--json").out)
    assert (document["error"], document["verdict"]) == ("budget", "unknown")


def test_ctrl_c_ends_the_listing_of_regions(sums):
    process = subprocess.Popen([binary(), "diff", *sums, "--max-regions", "1000000", "--max-memory", "100000"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB)))
    while not int(open("/proc/%d/status" % process.pid).read().split("SigCgt:")[1].split()[0], 16) >> (signal.SIGINT - 1) & 1:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == -signal.SIGINT or (process.returncode == 3 and "interrupted" in err), (process.returncode, err)
