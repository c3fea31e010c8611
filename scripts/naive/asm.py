"""Turns the bpf_asm text of vector files into instructions.

Owns only the text syntax of corpus/FORMAT.md: it encodes any program, including programs that the kernel refuses. It
resolves labels, `.repeat` and jump distances. A distance that does not fit is an error and is never truncated.
"""

import re

from .naive import Insn


class AsmError(Exception):
    """The program text is wrong. `line` counts from 1 within the text."""

    def __init__(self, line, message):
        super().__init__("line %d: %s" % (line, message))
        self.line = line
        self.message = message


NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0|[1-9][0-9]*")
LABEL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*:")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REGISTERS = ("a", "x")

# mnemonic -> code with K; X adds 0x08
ALU = {
    "add": 0x04, "sub": 0x14, "mul": 0x24, "div": 0x34, "or": 0x44, "and": 0x54,
    "lsh": 0x64, "rsh": 0x74, "mod": 0x94, "xor": 0xA4,
}
JUMPS = {"jeq": 0x15, "jgt": 0x25, "jge": 0x35, "jset": 0x45}
INVERSE_JUMPS = {"jne": 0x15, "jneq": 0x15, "jlt": 0x35, "jle": 0x25}
PLAIN = {"tax": 0x07, "txa": 0x87, "neg": 0x84}


def parse_number(text, bits=32):
    """Returns the value of a decimal or 0x number, or raises ValueError. A decimal must not start with a zero, because bpf_asm
    reads it as octal."""
    if NUMBER.fullmatch(text) is None:
        raise ValueError("expected a decimal or 0x number, got %r" % text)
    value = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    if value >= 1 << bits:
        raise ValueError("%s does not fit in %d bits" % (text, bits))
    return value


def assemble(text):
    """Returns `text` as a list of Insn, or raises AsmError."""
    statements, labels = _statements(_without_comments(text))
    program = []
    for pc, (line, words) in enumerate(statements):
        try:
            program.append(_encode(pc, words, labels))
        except ValueError as error:
            raise AsmError(line, str(error)) from None
    return program


def _without_comments(text):
    """Blanks out `/* */` and `;` comments and keeps every line where it was."""
    out = []
    pos = 0
    while pos < len(text):
        if text.startswith("/*", pos):
            close = text.find("*/", pos + 2)
            if close < 0:
                raise AsmError(text.count("\n", 0, pos) + 1, "comment is not closed")
            out.append(" " + "\n" * text.count("\n", pos, close))
            pos = close + 2
        elif text[pos] == ";":
            newline = text.find("\n", pos)
            pos = len(text) if newline < 0 else newline
        else:
            out.append(text[pos])
            pos += 1
    return "".join(out)


def _statements(text):
    """Returns ([(line, instruction text)], {label: pc}) with repetition already unrolled."""
    statements = []
    labels = {}
    repeat = None  # (line, count, index of the first repeated statement)
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        while True:
            match = LABEL.match(line)
            if match is None:
                break
            if repeat is not None:
                raise AsmError(number, "label inside .repeat")
            if match.group(1) in REGISTERS:
                raise AsmError(number, "label %r is a register's name" % match.group(1))
            if match.group(1) in labels:
                raise AsmError(number, "label %r is defined twice" % match.group(1))
            labels[match.group(1)] = len(statements)
            line = line[match.end():].strip()
        if not line:
            continue
        words = line.split()
        if words[0] == ".repeat":
            if repeat is not None:
                raise AsmError(number, ".repeat inside .repeat")
            if len(words) != 2:
                raise AsmError(number, "expected .repeat N")
            try:
                repeat = (number, parse_number(words[1], 20), len(statements))
            except ValueError as error:
                raise AsmError(number, str(error)) from None
        elif words[0] == ".endrepeat":
            if repeat is None or len(words) != 1:
                raise AsmError(number, ".endrepeat without .repeat" if repeat is None else "expected nothing after .endrepeat")
            body = statements[repeat[2]:]
            del statements[repeat[2]:]
            statements.extend(body * repeat[1])
            repeat = None
        else:
            statements.append((number, line))
    if repeat is not None:
        raise AsmError(repeat[0], ".repeat without .endrepeat")
    return statements, labels


def _encode(pc, text, labels):
    name, *rest = text.split(None, 1)
    operands = [part.strip() for part in rest[0].split(",")] if rest else []

    if name == ".raw":
        _expect(name, operands, (4,))
        return Insn(parse_number(operands[0], 16), parse_number(operands[1], 8),
                    parse_number(operands[2], 8), parse_number(operands[3], 32))
    if name == "ld":
        _expect(name, operands, (1,))
        return _load(operands[0], 0x20, 0x00, 0x60, 0x80)
    if name == "ldx":
        _expect(name, operands, (1,))
        return _load(operands[0], None, 0x01, 0x61, 0x81)
    if name in ("ldi", "ldxi"):
        _expect(name, operands, (1,))
        return Insn(0x00 if name == "ldi" else 0x01, 0, 0, _immediate(operands[0]))
    if name in ("st", "stx"):
        _expect(name, operands, (1,))
        return Insn(0x02 if name == "st" else 0x03, 0, 0, _memory(operands[0]))
    if name in PLAIN:
        _expect(name, operands, (0,))
        return Insn(PLAIN[name], 0, 0, 0)
    if name in ALU:
        _expect(name, operands, (1,))
        source, k = _source(operands[0])
        return Insn(ALU[name] | source, 0, 0, k)
    if name in ("ja", "jmp"):
        _expect(name, operands, (1,))
        return Insn(0x05, 0, 0, _distance(pc, operands[0], labels, 0xFFFFFFFF))
    if name in JUMPS:
        _expect(name, operands, (2, 3))
        source, k = _source(operands[0])
        jt = _distance(pc, operands[1], labels, 255)
        jf = _distance(pc, operands[2], labels, 255) if len(operands) == 3 else 0
        return Insn(JUMPS[name] | source, jt, jf, k)
    if name in INVERSE_JUMPS:
        _expect(name, operands, (2,))
        source, k = _source(operands[0])
        return Insn(INVERSE_JUMPS[name] | source, 0, _distance(pc, operands[1], labels, 255), k)
    if name == "ret":
        _expect(name, operands, (1,))
        if operands[0] in ("a", "%a"):
            return Insn(0x16, 0, 0, 0)
        return Insn(0x06, 0, 0, _immediate(operands[0]))
    raise ValueError("unknown instruction %r" % name)


def _expect(name, operands, counts):
    if len(operands) not in counts:
        wanted = " or ".join(str(count) for count in counts)
        raise ValueError("%s takes %s operand(s), got %d" % (name, wanted, len(operands)))


def _load(operand, absolute, immediate, memory, length):
    if operand == "#len":
        return Insn(length, 0, 0, 0)
    if operand.startswith("#"):
        return Insn(immediate, 0, 0, _immediate(operand))
    if operand.startswith("M"):
        return Insn(memory, 0, 0, _memory(operand))
    if absolute is not None and operand.startswith("[") and operand.endswith("]"):
        return Insn(absolute, 0, 0, parse_number(operand[1:-1].strip()))
    raise ValueError("cannot load %r" % operand)


def _immediate(operand):
    if not operand.startswith("#"):
        raise ValueError("expected #k, got %r" % operand)
    return parse_number(operand[1:].strip())


def _memory(operand):
    match = re.fullmatch(r"M\s*\[\s*(\S+?)\s*\]", operand)
    if match is None:
        raise ValueError("expected M[k], got %r" % operand)
    return parse_number(match.group(1))


def _source(operand):
    if operand in ("x", "%x"):
        return 0x08, 0
    return 0x00, _immediate(operand)


def _distance(pc, name, labels, limit):
    if NAME.fullmatch(name) is None:
        raise ValueError("expected a label, got %r" % name)
    if name not in labels:
        raise ValueError("label %r is not defined" % name)
    distance = labels[name] - pc - 1
    if distance < 0:
        raise ValueError("jump back to %r" % name)
    if distance > limit:
        raise ValueError("jump of %d to %r, at most %d" % (distance, name, limit))
    return distance
