"""Tests scripts/corpus/fuzz with the real targets: minimizing preserves the coverage of their corpora, and a finding becomes a
regress file."""

import os
import pathlib
import random
import re
import struct
import subprocess
import sys

import pytest
import running
from running import LIBFUZZER, ROOT

from corpus import fuzzing  # noqa: E402

AFTER = ROOT / "corpus/programs/gvisor/systrap.after.bpf"
SCRIPT = ROOT / "scripts/corpus/fuzz"


def call(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)


def edges_of(output):
    """Returns the coverage that libFuzzer reports for a corpus."""
    return int(re.findall(r"\b(?:INITED|DONE) +cov: (\d+)", output)[-1])


@pytest.mark.skipif(not LIBFUZZER, reason="the preset fuzz runs this test, because it needs libFuzzer's -merge=1")
def test_minimize_keeps_all_coverage(tmp_path):
    target = running.binary("fuzz_parsers")
    folder = tmp_path / "corpus"
    assert call("merge", ROOT / "corpus/seeds/parsers", ROOT / "corpus/policies/seed", "--into", folder).returncode == 0
    for number, path in enumerate(sorted(folder.iterdir())):
        (folder / ("again%d" % number)).write_bytes(path.read_bytes() + b"\n")
    before = len(list(folder.iterdir()))

    def coverage():
        return edges_of(subprocess.run([target, "-runs=0", str(folder)], stderr=subprocess.PIPE, text=True, check=True, timeout=300).stderr)

    covered = coverage()
    done = call("--bin", target, "minimize", "fuzz_parsers", folder)
    assert done.returncode == 0, done.stdout
    assert 0 < len(list(folder.iterdir())) < before
    assert coverage() == covered


def test_minimize_keeps_all_coverage_of_pairs(tmp_path):
    if "SECEQUIV_BIN" not in os.environ:
        pytest.skip("the preset dev runs this test, because it needs the command line")
    secequiv = pathlib.Path(os.environ["SECEQUIV_BIN"]) / "secequiv"
    generator = random.Random(1)
    folder = tmp_path / "corpus"
    for number in range(20):
        rows = [struct.pack("<16I", generator.randrange(330), 0xC000003E, *(generator.randrange(4) for _ in range(14))) for _ in range(16)]
        fuzzing.write(folder / str(number), b"".join(rows))
    every = [record for path in fuzzing.files(folder) for record in fuzzing.records(path.read_bytes())]
    covered = set().union(*(fuzzing.edges(secequiv, AFTER, record) for record in every))
    done = call("minimize", "fuzz_pair", folder, "--after", AFTER, "--secequiv", secequiv)
    assert done.returncode == 0, done.stdout
    kept = [path.read_bytes() for path in fuzzing.files(folder)]
    sets = [fuzzing.edges(secequiv, AFTER, record) for record in kept]
    assert set().union(*sets) == covered
    assert len(kept) < len(every) and all(len(record) == 64 for record in kept)
    for index in range(len(sets)):
        assert set().union(*sets[:index], *sets[index + 1:]) != covered


def test_finding_becomes_a_regress_file(tmp_path):
    before, after = tmp_path / "before.asm", tmp_path / "after.asm"
    before.write_text("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    after.write_text("ld [0]\njeq #38, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    finding = tmp_path / "crash-1"
    finding.write_bytes(struct.pack("<16I", 1, *range(15)) + struct.pack("<16I", 39, *range(15)))
    pair = ["--argument=--before=%s" % before, "--argument=--after=%s" % after]
    arguments = ["--bin", running.binary("fuzz_pair"), "regress", "fuzz_pair", finding, "--corpus", tmp_path / "regress", "--attempts", "60", *pair]
    done = call(*arguments)
    assert done.returncode == 0, done.stdout
    stored = [path for path in (tmp_path / "regress/pair").iterdir()]
    assert len(stored) == 1 and 0 < len(stored[0].read_bytes()) < 128
    assert subprocess.run([running.binary("fuzz_pair"), "--before=%s" % before, "--after=%s" % after, str(stored[0])], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=60).returncode != 0
    assert "`pair/%s`" % stored[0].name in (tmp_path / "regress/FINDINGS.md").read_text()
    harmless = tmp_path / "harmless"
    harmless.write_bytes(struct.pack("<16I", 1, *range(15)))
    arguments[arguments.index(finding)] = harmless
    assert call(*arguments).returncode == 1
