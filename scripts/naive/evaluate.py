#!/usr/bin/env python3
"""Evaluates one raw program on many inputs, for cross-checking: evaluate.py PROGRAM INPUTS [OUTPUT].

PROGRAM is little-endian `struct sock_filter`s (8 bytes each), INPUTS little-endian `struct seccomp_data` records
(64 bytes each), OUTPUT one little-endian u32 per record. `-` is stdin or stdout; OUTPUT defaults to `-`. A program
of more than 4096 instructions is evaluated, too. Exit status: 0 done; 2 wrong usage or input; 4 the kernel would refuse
the program for a reason other than its length (stderr names the rule and the instruction).
"""

import argparse
import struct
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from naive.accept import accept  # noqa: E402
from naive.naive import EvaluationError, Insn, run  # noqa: E402


def read_program(raw, name):
    """Returns the instructions in the bytes `raw`; raises ValueError if they are not whole instructions."""
    if not raw or len(raw) % 8:
        raise ValueError("%s: offset %d: expected whole 8-byte instructions, at least one" % (name, len(raw) // 8 * 8))
    return [Insn(*fields) for fields in struct.iter_unpack("<HBBI", raw)]


def read_inputs(raw, name):
    """Returns the 64-byte records in `raw`; raises ValueError if they are not whole records."""
    if len(raw) % 64:
        raise ValueError("%s: offset %d: expected whole 64-byte records" % (name, len(raw) // 64 * 64))
    return [raw[at:at + 64] for at in range(0, len(raw), 64)]


def main(argv=None):
    parser = argparse.ArgumentParser(description="Evaluate a raw seccomp program on raw seccomp_data records.")
    parser.add_argument("program", help="raw little-endian sock_filter file, or -")
    parser.add_argument("inputs", help="raw little-endian seccomp_data records, or -")
    parser.add_argument("output", nargs="?", default="-", help="one little-endian u32 per record (default: -)")
    options = parser.parse_args(argv)
    if options.program == "-" and options.inputs == "-":
        parser.error("only one of PROGRAM and INPUTS can be stdin")
    try:
        program = read_program(_read(options.program), options.program)
        inputs = read_inputs(_read(options.inputs), options.inputs)
    except (OSError, ValueError) as error:
        print("evaluate: %s" % error, file=sys.stderr)
        return 2
    # For a program that is too long, only the rule `length` is ignored; all other rules apply.
    refusal = accept(program, forgive_length=True)
    if refusal is not None:
        print("evaluate: %s: refused: %s at %d" % ((options.program,) + refusal), file=sys.stderr)
        return 4
    try:
        results = [run(program, data) for data in inputs]
    except EvaluationError as error:
        print("evaluate: %s: %s" % (options.program, error), file=sys.stderr)
        return 2
    try:
        _write(options.output, struct.pack("<%dI" % len(results), *results))
    except OSError as error:
        print("evaluate: %s" % error, file=sys.stderr)
        return 2
    return 0


def _read(name):
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def _write(name, raw):
    if name == "-":
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    else:
        Path(name).write_bytes(raw)


if __name__ == "__main__":
    sys.exit(main())
