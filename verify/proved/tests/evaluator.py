"""Runs secequiv-evaluate: acceptance, return values, and what a process can observe of them."""

import os
import struct
import subprocess

LONG = bool(os.environ.get("SECEQUIV_LONG"))  # scripts/test proved sets it; dev runs fewer random cases


def raw(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def _run(built, arguments, stdin):
    done = subprocess.run([str(built / "secequiv-evaluate"), *map(str, arguments)], input=stdin, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr.decode()


def acceptance(built, programs):
    """Returns None or (rule, instruction) for each program."""
    status, out, _ = _run(built, ["--accept"], b"".join(struct.pack("<I", 8 * len(program)) + raw(program) for program in programs))
    assert status == 0
    return [_refusal(line) for line in out.decode().splitlines()]


def _refusal(line):
    if line == "yes":
        return None
    no, rule, at, pc = line.split(" ")
    assert (no, at) == ("no", "at")
    return rule, int(pc)


def evaluate(built, folder, program, inputs):
    """Returns the values for all inputs, or the (rule, instruction) for which the program cannot run."""
    return evaluate_stack(built, folder, [program], inputs)


def evaluate_stack(built, folder, programs, inputs):
    """The same for a stack of programs, newest first."""
    paths = [folder / ("program%d" % at) for at in range(len(programs))]
    for path, program in zip(paths, programs):
        path.write_bytes(raw(program))
    status, out, errors = _run(built, [",".join(map(str, paths)), "-"], b"".join(inputs))
    if status == 4:
        return _refusal("no " + errors.strip().split(": refused: ")[1])
    assert status == 0, errors
    return list(struct.unpack("<%dI" % len(inputs), out))


def observed(built, values):
    status, out, _ = _run(built, ["--observed"], struct.pack("<%dI" % len(values), *values))
    assert status == 0
    return list(struct.unpack("<%dI" % len(values), out))
