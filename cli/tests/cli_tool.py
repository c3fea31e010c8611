"""Runs secequiv, reads its reports, and evaluates programs with an independent evaluator.

Owns the path of the binary, the parsing of its output, and the schemas that every --json report must match. The evaluator
is scripts/naive, which shares no code with the binary.
"""

import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "harness" / "report" / "generated"
PROGRAMS = ROOT / "corpus" / "programs"
POLICIES = ROOT / "corpus" / "policies"
MANIFEST = json.loads((PROGRAMS / "manifest.json").read_text())

sys.path.insert(0, str(ROOT / "scripts"))

from naive.accept import accept  # noqa: E402, F401
from naive.asm import assemble  # noqa: E402
from naive.naive import Insn, run as evaluate, run_stack  # noqa: E402, F401

FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"  # the development build
STATUS = {"pass": 0, "equivalent": 0, "fail": 1, "different": 1, "unknown": 3, "rejected": 4, "crashed": 5}
BIG_ENDIAN = (0x80000016, 0x80000008)  # AUDIT_ARCH_S390X, AUDIT_ARCH_MIPS64; unknown architectures count as little-endian
ERROR_STATUS = {"rejected": 4, "budget": 3, "unavailable": 3, "adapter": 5}  # all other errors have status 2


def some(cases, every):
    """Returns all cases in the development build. In other builds (sanitizers), returns one of every `every` cases, because more would run
    the same code again."""
    return list(cases) if FULL else list(cases)[::every]


# Python's readline sets COLUMNS without changing os.environ, and secequiv would fit its outputs to that width.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")


def binary():
    folder = os.environ.get("SECEQUIV_BIN")
    if not folder:
        raise RuntimeError("SECEQUIV_BIN must name the folder that has the built secequiv, such as build/dev/bin")
    path = Path(folder).resolve() / "secequiv"
    if not os.access(path, os.X_OK):
        raise RuntimeError("SECEQUIV_BIN is %s, but there is no executable %s" % (folder, path))
    return str(path)


class Done:
    """A finished run: exit status (negative for a signal) and both outputs."""

    def __init__(self, process, raw):
        self.status = process.returncode
        self.out = process.stdout if raw else process.stdout.decode()
        self.err = process.stderr.decode(errors="replace")  # an error quotes its input, which may have any bytes

    def __repr__(self):
        return "status %d\n--- stdout\n%s\n--- stderr\n%s" % (self.status, self.out[-3000:], self.err[-3000:])


def run(*args, stdin=b"", cwd=None, timeout=600, raw=False, **popen):
    """Runs secequiv. `stdin` is bytes or text; with `raw`, `out` is bytes."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    command = [binary()] + [str(arg) for arg in args]
    if "preexec_fn" in popen and "env" not in popen:  # preexec_fn may forbid ptrace, without which the leak sanitizer fails
        popen["env"] = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    return Done(subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                               timeout=timeout, **popen), raw)


def shown_on(terminal):
    """Reads a pseudo-terminal until its other side is closed; returns everything written to it."""
    shown = b""
    try:
        while more := os.read(terminal, 4096):
            shown += more
    except OSError:
        pass
    return shown


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def _validators():
    made = {}
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        document = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(document)
        made[path.name.split(".")[0]] = jsonschema.Draft202012Validator(document)
    return made


VALIDATORS = _validators()


def fits(document):
    """Checks that a report matches the schema that it names; returns its kind."""
    kind = document["schema"].split("/")[0].replace("secequiv.", "")  # the schema fixes the version
    errors = ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message) for e in VALIDATORS[kind].iter_errors(document)]
    assert not errors, errors
    return kind


def report(command, *args, **options):
    """Runs `command --json`; returns the report and the run. The report must match its schema and agree with the exit status."""
    done = run(command, *args, "--json", **options)
    assert done.status in (0, 1, 2, 3, 4, 5), done
    document = json.loads(done.out, object_pairs_hook=_no_duplicates)
    kind = fits(document)
    if kind == "error":
        assert done.status == ERROR_STATUS.get(document["error"], 2), done
        assert document["detail"].split("\n")[0] in done.err, done
    else:
        assert kind == command
        if "verdict" in document:
            assert done.status == STATUS[document["verdict"]], done
    if "witness" in document:
        agrees(document["witness"])
    return document, done


def agrees(witness):
    """Checks that a witness's fields and its words are the same 64 bytes."""
    data = witness["data"]
    words = data["words"]
    big = words[1] in BIG_ENDIAN
    assert data["nr"] == words[0] and int(data["arch"], 16) == words[1]
    for value, at in [(data["ip"], 2)] + [(arg, 4 + 2 * i) for i, arg in enumerate(data["args"])]:
        first, second = words[at], words[at + 1]
        assert int(value, 16) == (first << 32 | second if big else second << 32 | first), data


def read_raw(raw):
    return [Insn(*fields) for fields in struct.iter_unpack("<HBBI", raw)]


def write_raw(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def words_bytes(words):
    return struct.pack("<16I", *words)


def confirmed(document, before, after):
    """Checks a report's witness with the naive evaluator: it computes the same two values, and they differ. Returns them."""
    witness = document["witness"]
    data = words_bytes(witness["data"]["words"])
    claimed = [int(witness[side]["value"], 16) for side in ("before", "after")]
    assert claimed == [evaluate(before, data), evaluate(after, data)], witness
    return claimed


def program(text):
    return assemble(text)


def pairs():
    """Returns the manifest's pairs as (name, before, after, policy or None), with full paths."""
    return [(pair["name"], PROGRAMS / pair["before"], PROGRAMS / pair["after"],
             (PROGRAMS / pair["policy"]).resolve() if "policy" in pair else None) for pair in MANIFEST["pairs"]]


def all_programs():
    return [PROGRAMS / entry["file"] for entry in MANIFEST["programs"]]


def listed(folder):
    """Returns the names of all files in a folder, to check that nothing is left behind."""
    return sorted(path.name for path in Path(folder).iterdir())


# a * b = (a & c) * b + (a & ~c) * b. No engine can prove this in the time that a test may take.
HARD_BEFORE = """
ld [20]
tax
ld [16]
mul x
"""
HARD_AFTER = """
ld [24]
tax
ld [16]
and x
st M[0]
ld [24]
xor #0xffffffff
tax
ld [16]
and x
st M[2]
ld [20]
tax
ld M[0]
mul x
st M[0]
ld M[2]
mul x
ldx M[0]
add x
"""


def assembled(path, tmp_path, *options):
    """Optimizes a policy or program with the built-in optimizer; returns the instructions and the path of the result."""
    out = tmp_path / (Path(path).name + ".bpf")
    assert run("optimize", path, "-o", out, "--to", "raw", *options).status == 0
    return read_raw(out.read_bytes()), out


def inside(region, words):
    """Returns whether an input (16 words) satisfies the conditions of a region of `diff`; a second, independent implementation."""
    def meets(cube, value):
        return value & cube["mask"] == cube["value"]
    for row in region["words"]:
        value = words[row["word"]]
        listed = any(first <= value <= last for first, last in row["intervals"]) or any(meets(c, value) for c in row["cubes"])
        if listed == row["negated"] or row["negated"] and not meets(row["base"], value):
            return False
    return True


def caught(process, number=signal.SIGINT, what="SigCgt:"):
    """Returns whether the process has a handler for the signal."""
    status = open("/proc/%d/status" % process.pid).read()
    return int(status.split(what)[1].split()[0], 16) >> (number - 1) & 1
