"""Tests that fuzz_pair, starting without inputs, finds a planted miscompilation of a real filter and prints an input that shows it.

It runs the libFuzzer binary if SECEQUIV_FUZZ_BIN names its folder (scripts/test fuzz sets it). Otherwise it runs the replay binary
next to secequiv, which uses the same mutations without libFuzzer.
"""
import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from naive import naive  # noqa: E402

BEFORE = ROOT / "corpus/programs/gvisor/systrap.before.bpf"
AFTER = ROOT / "corpus/programs/gvisor/systrap.after.bpf"
ALLOW = 0x7FFF0000


def program(path):
    return [tuple(row) for row in struct.iter_unpack("<HBBI", path.read_bytes())]


def command(before, after, folder):
    libfuzzer = os.environ.get("SECEQUIV_FUZZ_BIN")
    base = pathlib.Path(libfuzzer or os.environ["SECEQUIV_BIN"]).resolve() / "fuzz_pair"
    assert base.exists(), "%s is not built" % base
    limit = ["-max_total_time=60", "-seed=1", "-artifact_prefix=%s/" % folder] if libfuzzer else ["--runs=3000000"]
    return [str(base), "--before=%s" % before, "--after=%s" % after] + limit


def fuzz(before, after, folder):
    return subprocess.run(command(before, after, folder), cwd=folder, capture_output=True, text=True, timeout=300)


def nr_test(code):
    """Returns the index, in the optimized program, of a JEQ with a constant and two different targets, to plant a bug there; `code` (0 to 3) selects one."""
    rows = program(AFTER)
    places = [pc for pc, row in enumerate(rows) if row[0] == 0x15 and row[1] != row[2]]
    return places[len(places) * code // 4]


def swap_targets(rows):
    pc = nr_test(1)
    code, jt, jf, k = rows[pc]
    rows[pc] = (code, jf, jt, k)


def neighbour_constant(rows):
    pc = nr_test(2)
    code, jt, jf, k = rows[pc]
    rows[pc] = (code, jt, jf, k ^ 1)


def lost_mask_bit(rows):
    pc = next(pc for pc, row in enumerate(rows) if row[0] == 0x45 and row[3] == 0x80000000)
    rows[pc] = (0x45, rows[pc][1], rows[pc][2], 0x40000000)


def deny_becomes_allow(rows):
    last = max(pc for pc, row in enumerate(rows) if row[0] == 0x06 and row[3] != ALLOW)
    rows[last] = (0x06, 0, 0, ALLOW)


@pytest.mark.parametrize("plant", [swap_targets, neighbour_constant, lost_mask_bit, deny_becomes_allow])
def test_planted_miscompile_is_found(plant, tmp_path):
    rows = program(AFTER)
    plant(rows)
    assert rows != program(AFTER)
    mutant = tmp_path / "mutant.bpf"
    mutant.write_bytes(b"".join(struct.pack("<HBBI", *row) for row in rows))
    done = fuzz(BEFORE, mutant, tmp_path)
    assert done.returncode != 0, done.stdout[-2000:] + done.stderr[-2000:]
    words = [0] * 16
    names = {"nr": 0, "arch": 1, "ip.lo": 2, "ip.hi": 3}
    names.update({"args[%d].%s" % (i, half): 4 + 2 * i + high for i in range(6) for high, half in enumerate(("lo", "hi"))})
    for name, value in re.findall(r"^  (\S+) +(?:\(.*\) )?= (0x[0-9a-f]{8})", done.stderr, re.MULTILINE):
        words[names[name]] = int(value, 16)
    data = struct.pack("<16I", *words)
    before, after = naive.run(program(BEFORE), data), naive.run(rows, data)
    assert before != after
    assert "before: 0x%08x" % before in done.stderr
    assert "after:  0x%08x" % after in done.stderr


def test_correct_pair_passes(tmp_path):
    libfuzzer = os.environ.get("SECEQUIV_FUZZ_BIN")
    arguments = command(BEFORE, AFTER, tmp_path)[:3] + (["-runs=50000", "-seed=1"] if libfuzzer else ["--runs=50000"])
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
