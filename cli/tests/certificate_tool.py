"""Pairs of programs, their certificates, and the checkers, for tests."""

import hashlib
import os
import subprocess

import pytest
from cli_tool import ROOT, report, run

FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"
CHECKERS = {"dd": ROOT / "scripts" / "check_certificate", "z3": ROOT / "scripts" / "check_cnf_certificate"}
ENGINES = ["dd", "z3"]

BEFORE = """ld [4]
jeq #0xc000003e, ok
ret #0
ok: ld [0]
jeq #0, arg
jeq #1, arg
jeq #5, arg
jset #0x40000000, no, c
c: jgt #300, no, d
d: and #0xf
jeq #3, b
no: ret #0x50001
arg: ld [20]
jeq #0, b2
ret #0x50001
b2: ld [16]
jgt #7, no2
b: ret #0x7fff0000
no2: ret #0x50001
"""
AFTER = """ld [4]
jeq #0xc000003e, ok
ret #0
ok: ld [0]
jgt #300, no
jgt #5, rest
jeq #5, arg
jgt #1, rest
arg: ld [20]
jeq #0, b2, no
b2: ld [16]
jgt #7, no, yes
rest: and #0xf
jeq #3, yes
no: ret #0x50001
yes: ret #0x7fff0000
"""
# In these two programs, paths meet again after a combination of conditions, so the certificate has lemmas.
JOINS = "ld [16]\n%sret #0x50001\nyes: ret #0x7fff0000\n"


def joins(step):
    tests = ["ld [%d]\njeq #1, n%d\nld [%d]\njeq #2, n%d\nret #0\nn%d: " % (16 + 4 * i, i, 20 + 4 * i, i, i) for i in range(0, 10, step)]
    return JOINS % ("".join(tests) + "ld [56]\njgt #9, yes\n")


def check(engine, folder, *programs):
    """Runs the checker; returns its exit status and output."""
    done = subprocess.run([str(CHECKERS[engine]), str(folder), *map(str, programs)], capture_output=True, text=True, timeout=100)
    assert done.stderr == "" or done.returncode == 2, done.stderr
    return done.returncode, done.stdout + done.stderr


def raw(path, text):
    done = run("asm", "-", "--to", "raw", "-o", path, stdin=text)
    assert done.status == 0, done
    return path


@pytest.fixture
def pair(tmp_path):
    return raw(tmp_path / "before.bpf", BEFORE), raw(tmp_path / "after.bpf", AFTER)


def certify(tmp_path, engine, *arguments, name="certificate"):
    folder = tmp_path / name
    document, done = report("prove", *arguments, "--engine", engine, "--certificate", folder)
    assert done.status == 0 and document["certificate"]["written"], done
    return folder


def sealed(lines):
    """Returns the text of a certificate with these lines and a correct digest."""
    above = "".join(line + "\n" for line in lines[:-1])
    return above + "end %s\n" % hashlib.sha256(above.encode("latin-1")).hexdigest()
