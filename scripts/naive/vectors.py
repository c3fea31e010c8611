"""Reads the vector files of corpus/FORMAT.md and checks each vector against the naive evaluator.

Owns the file grammar and the meaning of a vector. It uses the evaluator only through run, run_stack, same and accept.
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

from . import naive
from .accept import accept
from .asm import AsmError, assemble, parse_number

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_DIRECTORIES = (ROOT / "corpus" / "vectors", ROOT / "corpus" / "regress")

RULES = (
    "length", "unknown_code", "div_by_zero", "shift_range", "mem_index", "jump_range", "ancillary",
    "last_not_ret", "mem_unset", "load_offset", "not_seccomp",
)

ARCH_X86_64 = 0xC000003E


class VectorError(Exception):
    """A malformed vector file; str() is `file:line: message`."""

    def __init__(self, path, line, message):
        super().__init__("%s:%d: %s" % (path, line, message))


@dataclass
class Run:
    line: int
    data: bytes  # 64 bytes of seccomp_data
    expected: int


@dataclass
class Same:
    line: int
    notion: str
    first: int
    second: int
    expected: bool


@dataclass
class Vector:
    path: str
    line: int
    name: str
    programs: list = field(default_factory=list)  # newest first
    runs: list = field(default_factory=list)
    sames: list = field(default_factory=list)
    has_accept: bool = False
    refusal: tuple = None  # (rule, pc), or None for "accept: yes"


def find_files(directories=DEFAULT_DIRECTORIES):
    """Returns every `*.vec` directly inside `directories`, sorted; a directory that does not exist has none."""
    return [path for directory in directories for path in sorted(Path(directory).glob("*.vec"))]


def load(path):
    """Returns the vectors of one file, or raises VectorError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise VectorError(path, 1, "not UTF-8 at byte %d" % error.start) from None
    return parse(text, path)


def parse(text, path):
    """Returns the vectors of `text`; `path` is only for messages."""
    lines = text.split("\n")
    vectors = []
    current = None
    index = 0
    while index < len(lines):
        number = index + 1
        line = lines[index].rstrip()
        index += 1
        if not line or line.startswith("#"):
            continue
        key, colon, value = line.partition(":")
        value = value.strip()
        if not colon:
            raise VectorError(path, number, "expected `key: value`, got %r" % line)
        if key == "vector":
            if current is not None:
                _finish(current)
            if not value:
                raise VectorError(path, number, "a vector needs a name")
            if any(vector.name == value for vector in vectors):
                raise VectorError(path, number, "vector %r is defined twice" % value)
            current = Vector(str(path), number, value)
            vectors.append(current)
            continue
        if current is None:
            raise VectorError(path, number, "expected `vector:` first, got %r" % line)
        try:
            if key == "program":
                if value:
                    raise ValueError("expected nothing after `program:` on its line")
                end = _find_end(lines, index)
                try:
                    body = ["" if text_line.startswith("#") else text_line for text_line in lines[index:end]]
                    current.programs.append(assemble("\n".join(body)))
                except AsmError as error:
                    raise VectorError(path, number + error.line, error.message) from None
                index = end + 1
            elif key == "run":
                current.runs.append(_parse_run(number, value))
            elif key == "accept":
                if current.has_accept:
                    raise ValueError("expected at most one `accept:` in a vector")
                current.has_accept = True
                current.refusal = _parse_accept(value)
            elif key == "same":
                current.sames.append(_parse_same(number, value))
            else:
                raise ValueError("unknown key %r" % key)
        except ValueError as error:
            raise VectorError(path, number, str(error)) from None
    if current is not None:
        _finish(current)
    if not vectors:
        raise VectorError(path, 1, "no vector in this file")
    return vectors


def _find_end(lines, index):
    for end in range(index, len(lines)):
        if lines[end].strip() == "end":
            return end
        if lines[end].startswith("vector:"):
            break
    raise ValueError("`program:` without `end`")


def _finish(vector):
    def wrong(message):
        raise VectorError(vector.path, vector.line, "vector %r: %s" % (vector.name, message))

    if not vector.runs and not vector.sames and not vector.has_accept:
        wrong("needs at least one of run, accept, same")
    if vector.has_accept and len(vector.programs) != 1:
        wrong("accept needs exactly one program, got %d" % len(vector.programs))
    if vector.runs and not vector.programs:
        wrong("run needs a program")
    if vector.runs and vector.refusal is not None:
        wrong("a refused program cannot be run")
    if vector.programs and not vector.runs and not vector.has_accept:
        wrong("nothing uses the program")


def _split_arrow(value):
    left, arrow, right = value.partition("->")
    if not arrow:
        raise ValueError("expected `-> VALUE`")
    return left.split(), parse_number(right.strip())


def parse_input(fields):
    """Converts a list of `name=value` to the 64 bytes of seccomp_data; raises ValueError if it is malformed."""
    given = {}
    for item in fields:
        name, equals, text = item.partition("=")
        if not equals or name not in ("nr", "arch", "ip", "args", "words"):
            raise ValueError("unknown field %r" % item)
        if name in given:
            raise ValueError("field %r is given twice" % name)
        given[name] = text
    if "words" in given:
        if len(given) != 1:
            raise ValueError("words= cannot be combined with other fields")
        words = [parse_number(text) for text in given["words"].split(",")]
        if len(words) != 16:
            raise ValueError("words= takes 16 words, got %d" % len(words))
        return struct.pack("<16I", *words)
    nr = parse_number(given.get("nr", "0"))
    arch = parse_number(given["arch"]) if "arch" in given else ARCH_X86_64
    ip = parse_number(given.get("ip", "0"), 64)
    args = [parse_number(text, 64) for text in given["args"].split(",")] if "args" in given else []
    if len(args) > 6:
        raise ValueError("args= takes at most 6 values, got %d" % len(args))
    args += [0] * (6 - len(args))
    return struct.pack("<IIQ6Q", nr, arch, ip, *args)


def _parse_run(number, value):
    fields, expected = _split_arrow(value)
    return Run(number, parse_input(fields), expected)


def _parse_accept(value):
    words = value.split()
    if words == ["yes"]:
        return None
    if len(words) == 4 and words[0] == "no" and words[2] == "at":
        if words[1] not in RULES:
            raise ValueError("unknown rule %r" % words[1])
        if not words[3].isdigit():
            raise ValueError("expected a decimal instruction index, got %r" % words[3])
        return (words[1], int(words[3]))
    raise ValueError("expected `yes` or `no RULE at PC`, got %r" % value)


def _parse_same(number, value):
    words = value.split()
    if len(words) != 4 or words[0] not in ("raw", "behaviour") or words[3] not in ("yes", "no"):
        raise ValueError("expected `raw|behaviour A B yes|no`, got %r" % value)
    return Same(number, words[0], parse_number(words[1]), parse_number(words[2]), words[3] == "yes")


def check(vector):
    """Returns a list of messages `file:line: …`, one for each wrong result of the evaluator on `vector`."""
    failures = []

    def fail(line, message):
        failures.append("%s:%d: %s: %s" % (vector.path, line, vector.name, message))

    if vector.has_accept:
        got = accept(vector.programs[0])
        if got != vector.refusal:
            fail(vector.line, "expected %s, got %s" % (_verdict(vector.refusal), _verdict(got)))
    else:
        for program in vector.programs:
            # A program that breaks only the length rule can still be run, because optimizers often have such inputs.
            got = accept(program, forgive_length=True)
            if got is not None:
                fail(vector.line, "a program to run must be accepted, got %s" % _verdict(got))
    if not failures:
        for item in vector.runs:
            try:
                if len(vector.programs) == 1:
                    got = naive.run(vector.programs[0], item.data)
                else:
                    got = naive.run_stack(vector.programs, item.data)
            except naive.EvaluationError as error:
                fail(item.line, str(error))
                continue
            if got != item.expected:
                fail(item.line, "expected 0x%08x, got 0x%08x" % (item.expected, got))
    for item in vector.sames:
        got = naive.same(item.notion, item.first, item.second)
        if got != item.expected:
            fail(item.line, "expected %s, got %s" % (_yes(item.expected), _yes(got)))
    return failures


def _verdict(refusal):
    return "yes" if refusal is None else "no %s at %d" % refusal


def _yes(value):
    return "yes" if value else "no"
