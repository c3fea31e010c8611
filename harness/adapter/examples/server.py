#!/usr/bin/env python3
"""A served optimizer and evaluator (PROTOCOL.md): --optimizer 'serve:python3 harness/adapter/examples/server.py'.

Replace PASSES and evaluate() with your own code; the rest is the protocol. Uses only the standard library.
"""

import struct
import sys

LD_ABS, JEQ_K, JA, RET_K, RET_A = 0x20, 0x15, 0x05, 0x06, 0x16


class Unsupported(Exception):
    """The request is valid, but this adapter cannot express it; the message has the reason."""


class Refused(Exception):
    """The request is invalid; the message has the reason."""


def enter_later(program):
    """If the program starts with a jump, drops the instructions that it skips. Instructions are (code, jt, jf, k)."""
    return program[1 + program[0][3]:] if program[0][0] == JA else program


def cut_behind_return(program):
    """If the program starts with a return, drops the instructions after it."""
    return program[:1] if program[0][0] == RET_K else program


PASSES = (("enter-later", enter_later), ("cut-behind-return", cut_behind_return))


def stages(program):
    """Returns (name, program after it) of each pass that changed something."""
    for name, run in PASSES:
        before, program = program, run(program)
        if program != before:
            yield name, program


def optimize(program):
    for _, after in stages(program):
        program = after
    return program


def evaluate(program, words):
    """Returns the program's return value; words[i] is what `ld [4*i]` loads."""
    a, pc = 0, 0
    while True:
        code, jt, jf, k = program[pc]
        if code == LD_ABS:
            a = words[k // 4]
        elif code == JEQ_K:
            pc += jt if a == k else jf
        elif code in (RET_K, RET_A):
            return k if code == RET_K else a
        else:
            raise Unsupported("instruction %d has code %#x, which is not known here" % (pc, code))
        pc += 1


def unpack(raw):
    if not raw or len(raw) % 8:
        raise Refused("expected 8 bytes for each instruction, found %d" % len(raw))
    return list(struct.iter_unpack("<HBBI", raw))


def pack(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def answer(request):
    kind, body = request[:1], request[1:]
    if kind == b"O":
        return pack(optimize(unpack(body)))
    if kind == b"S":
        named = ((name.encode(), program) for name, program in stages(unpack(body)))
        return b"".join(struct.pack("<I", len(name)) + name + struct.pack("<I", len(program)) + pack(program)
                        for name, program in named)
    if kind == b"E":
        end = 4 + 8 * struct.unpack_from("<I", body)[0]
        program = unpack(body[4:end])
        return b"".join(struct.pack("<I", evaluate(program, words)) for words in struct.iter_unpack("<16I", body[end:]))
    raise Unsupported("this is an optimizer and an evaluator")


def main():
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while length := requests.read(4):
        try:
            body = b"\0" + answer(requests.read(struct.unpack("<I", length)[0]))
        except Unsupported as why:
            body = b"\1" + str(why).encode()
        except Refused as why:
            body = b"\2" + str(why).encode()
        answers.write(struct.pack("<I", len(body)) + body)
        answers.flush()  # write the answer before reading the next request


if __name__ == "__main__":
    main()
