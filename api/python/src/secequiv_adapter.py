"""Puts a Python optimizer, compiler or evaluator of seccomp filters under test: `serve(optimize=..., compile=..., evaluate=...)`.

secequiv runs the program with `--optimizer`, `--compiler` or `--evaluator 'serve:python3 FILE'`. This file implements the frames and reads
policies in their normal form, as harness/adapter/PROTOCOL.md describes both. It needs only the standard library, so it may be copied. It must not
know how requests are answered: an exception other than `Unsupported` and `Refused` ends the process with a trace.
"""

import json
import struct
import sys
from typing import BinaryIO, Callable, List, NamedTuple, Optional, Sequence, Tuple

INSTRUCTION_POINTER = 6  # the field after the six arguments


class Unsupported(Exception):
    """The request is valid, but the code under test cannot express it; the message has the reason."""


class Refused(Exception):
    """The code under test considers the request invalid; the message has the reason."""


class Insn(NamedTuple):
    """A struct sock_filter."""

    code: int
    jt: int
    jf: int
    k: int


class Arch(NamedTuple):
    """A value of seccomp_data.arch."""

    name: str
    audit: int
    big_endian: bool


class Range(NamedTuple):
    """An action for all system calls from `first` to `last`."""

    audit: int
    first: int
    last: int
    action: int


class Condition(NamedTuple):
    """An unsigned test of a field (an argument, 0 to 5, or INSTRUCTION_POINTER), or of its low 32 bits.

    `op` is eq, ne, gt, ge, lt, le or masked_eq, which means `field & mask == value`. The other operators have a mask of all ones.
    """

    field: int
    bits: int
    op: str
    mask: int
    value: int


class Rule(NamedTuple):
    """Matches a system call if all conditions of at least one alternative hold.

    An empty alternative always holds, and is then the only one.
    """

    action: int
    audit: int
    nr: int
    any_of: List[List[Condition]]


class Policy(NamedTuple):
    """The actions are return values of the filter. The first matching range decides; if there is none, the first matching rule decides."""

    name: str
    default_action: int
    bad_arch_action: int
    arches: List[Arch]
    ranges: List[Range]
    hot: List[Tuple[int, int]]  # frequent calls: value of arch, number
    rules: List[Rule]


def read_policy(text: bytes) -> Policy:
    """Reads a policy in its normal form. Raises Refused."""
    try:
        read = json.loads(text)
        if read.pop("normal_form") != 1 or not read["arches"]:
            raise Refused("expected a policy with normal_form 1 and architectures")
        for rule in read["rules"]:
            rule["any_of"] = [[Condition(**condition) for condition in all_of] for all_of in rule["any_of"]]
        read["hot"] = [(call["audit"], call["nr"]) for call in read["hot"]]
        for name, kind in (("arches", Arch), ("ranges", Range), ("rules", Rule)):
            read[name] = [kind(**members) for members in read[name]]
        return Policy(**read)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused("expected a policy in its normal form: %s" % error) from None


def serve(optimize: Optional[Callable[[List[Insn]], Sequence[Tuple[int, int, int, int]]]] = None,
          compile: Optional[Callable[[Policy], Sequence[Tuple[int, int, int, int]]]] = None,
          evaluate: Optional[Callable[[List[Insn], List[bytes]], Sequence[int]]] = None) -> None:
    """Answers requests until standard input ends. `evaluate` gets inputs of 64 bytes and returns one number for each. Requests for a
    missing function are answered as unsupported. Exits with 2 if the input ends within a frame, or if the program got arguments."""
    if len(sys.argv) > 1:
        print("usage: %s (it takes no arguments and reads requests from standard input)" % sys.argv[0], file=sys.stderr)
        sys.exit(2)
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # the code under test must not print into the answers
    while (frame := _frame(requests)) is not None:
        try:
            body = b"\0" + _answer(frame, optimize, compile, evaluate)
        except Unsupported as why:
            body = b"\1" + str(why).encode()
        except Refused as why:
            body = b"\2" + str(why).encode()
        answers.write(struct.pack("<I", len(body)) + body)
        answers.flush()


def _frame(requests: BinaryIO) -> Optional[bytes]:
    head = requests.read(4)
    if not head:
        return None
    length = struct.unpack("<I", head)[0] if len(head) == 4 else 0
    frame = b""
    while len(head) == 4 and len(frame) < length:  # in pieces, so that a wrong length costs no memory
        piece = requests.read(min(length - len(frame), 1 << 20))
        if not piece:
            break
        frame += piece
    if len(head) < 4 or len(frame) < length:
        print("standard input ended within a frame", file=sys.stderr)
        sys.exit(2)
    return frame


def _answer(frame, optimize, compile, evaluate) -> bytes:
    if not frame:
        raise Refused("expected a request, found an empty frame")
    kind, body = frame[:1], frame[1:]
    if kind == b"O" and optimize:
        return encode(optimize(decode(body)))
    if kind == b"C" and compile:
        return encode(compile(read_policy(body)))
    if kind == b"E" and evaluate:
        count = struct.unpack_from("<I", body)[0] if len(body) >= 4 else 0
        program, inputs = decode(body[4:4 + 8 * count]), body[4 + 8 * count:]
        if len(program) != count or len(inputs) % 64:
            raise Refused("expected %d instructions and inputs of 64 bytes each" % count)
        values = evaluate(program, [inputs[at:at + 64] for at in range(0, len(inputs), 64)])
        return struct.pack("<%dI" % len(values), *values)
    raise Unsupported("this command does not answer requests of kind %r" % kind.decode("latin-1"))


def decode(raw: bytes) -> List[Insn]:
    """Reads struct sock_filter, 8 little-endian bytes each. Raises Refused."""
    if not raw or len(raw) % 8:
        raise Refused("expected whole instructions of 8 bytes, at least one, found %d bytes" % len(raw))
    return [Insn(*fields) for fields in struct.iter_unpack("<HBBI", raw)]


def encode(program: Sequence[Tuple[int, int, int, int]]) -> bytes:
    """Writes struct sock_filter. Raises struct.error for a number that does not fit."""
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)
