"""Starts fuzz targets. If SECEQUIV_FUZZ_BIN names a folder (scripts/test fuzz sets it), these are the libFuzzer binaries in it.
Otherwise they are the replay binaries next to secequiv, which use the same mutations without libFuzzer."""

import os
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from naive import asm, naive  # noqa: E402

LIBFUZZER = "SECEQUIV_FUZZ_BIN" in os.environ


def binary(name):
    path = pathlib.Path(os.environ["SECEQUIV_FUZZ_BIN" if LIBFUZZER else "SECEQUIV_BIN"]).resolve() / name
    assert path.exists(), "%s is not built" % path
    return str(path)


def fuzz(target, folder, *arguments, runs=200000, seed=1):
    """Fuzzes with `arguments` (options of the targets, files, folders). Findings are stored in `folder`."""
    limit = ["--runs=%d" % runs]
    if LIBFUZZER:
        limit = ["-runs=%d" % runs, "-max_total_time=120", "-seed=%d" % seed, "-max_len=32768", "-artifact_prefix=%s/" % folder]
        files = [a for a in arguments if not a.startswith("--")]
        if any(os.path.isfile(a) for a in files):
            limit = []  # libFuzzer then only runs the files
    return subprocess.run(
        [binary(target), *arguments, *limit], cwd=folder, capture_output=True, text=True, timeout=300
    )


def programs(output):
    """Returns the two listings that a target prints for a failure: before, after."""
    parts = re.split(r"^(?:before|after) \(\d+ instructions\):\n", output, flags=re.MULTILINE)[1:]
    out = []
    for part in parts:
        lines = []
        for line in part.split("\n"):
            if not re.match(r"(\s+\S|L\d+:)", line):
                break
            lines.append(line)
        out.append(asm.assemble("\n".join(lines)))
    return out


BIG_ENDIAN = (0x80000008, 0x80000016)  # the values of arch of mips64 and s390x


def witness(output):
    """Returns the 64 bytes of the input that a target prints. On big-endian architectures the high half of a field comes first."""
    found = {name: int(value, 16) for name, value in re.findall(r"^  (\S+) +(?:\(.*\) )?= (0x[0-9a-f]{8})", output, re.MULTILINE)}
    swap = found.get("arch") in BIG_ENDIAN
    words = [0] * 16
    for name, value in found.items():
        field, _, half = name.partition(".")
        first = {"nr": 0, "arch": 1, "ip": 2}.get(field) if not field.startswith("args[") else 4 + 2 * int(field[5])
        words[first + ((half == "hi") != swap if half else 0)] = value
    return struct.pack("<16I", *words)


def raw(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def parsed(data):
    return [naive.Insn(*row) for row in struct.iter_unpack("<HBBI", data)]
