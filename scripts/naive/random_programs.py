"""Generates random programs that the kernel accepts, with every instruction that seccomp allows, and inputs near their constants.

scripts/naive/accept.py decides acceptance. Programs that it refuses are discarded.
"""

import struct

from naive.accept import accept
from naive.naive import Insn

VALUES = (0, 1, 2, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x7FFF0000, 0x50001)
ALU = (0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74, 0xA4)
JUMPS = (0x15, 0x25, 0x35, 0x45)
ENDS = ((0x06, 0), (0x06, 1), (0x06, 0x7FFF0000), (0x16, 0))


def word(random):
    kind = random.randrange(4)
    if kind == 0:
        return random.getrandbits(32)
    return (random.choice(VALUES) + (random.choice((-1, 1)) if kind == 1 else 0)) & 0xFFFFFFFF


def program(random, length, memory=4, words=16):
    """Returns a list of about `length` Insn. They use few words of input and memory, so that instructions affect each other."""
    while True:
        insns = [instruction(random, length - pc, memory, words) for pc in range(length)]
        code, k = random.choice(ENDS)
        insns.append(Insn(code, 0, 0, k))
        if accept(insns, forgive_length=True) is None:
            return insns


def instruction(random, left, memory, words):
    """Returns one instruction; at most `left` others follow it."""
    kind = random.randrange(20)
    if kind < 5:
        return Insn(0x20, 0, 0, 4 * random.randrange(words))
    if kind < 7:
        return Insn(random.choice((0x02, 0x03)), 0, 0, random.randrange(memory))
    if kind < 9:
        return Insn(random.choice((0x60, 0x61)), 0, 0, random.randrange(memory))
    if kind < 11:
        return Insn(random.choice((0x00, 0x01, 0x80, 0x81)), 0, 0, word(random))
    if kind < 12:
        return Insn(random.choice((0x07, 0x87)), 0, 0, 0)
    if kind < 14:
        code = random.choice(ALU) | random.choice((0, 0, 8))
        k = word(random)
        if code in (0x64, 0x74):
            k %= 32
        return Insn(code, 0, 0, max(k, 1) if code == 0x34 else k) if random.randrange(8) else Insn(0x84, 0, 0, 0)
    if kind < 18:
        distance = min(left - 1, 255)
        if distance < 0:
            return Insn(0x06, 0, 0, 0)
        near = lambda: min(distance, random.choice((0, 0, 1, 1, 2, 3, random.randrange(distance + 1))))  # noqa: E731
        return Insn(random.choice(JUMPS) | random.choice((0, 0, 0, 8)), near(), near(), word(random))
    if kind < 19:
        return Insn(0x05, 0, 0, random.randrange(max(1, min(left - 1, 6)))) if left > 1 else Insn(0x06, 0, 0, 0)
    code, k = random.choice(ENDS)
    return Insn(code, 0, 0, k)


def inputs(random, insns, count):
    """Returns `count` struct seccomp_data. Their words have few different values, many of them constants of the program or near them."""
    constants = [insn.k for insn in insns if insn.code & 7 in (0, 1, 4, 5)] + list(VALUES)
    out = []
    for _ in range(count):
        words = [(random.choice(constants) + random.choice((0, 0, 0, 1, -1))) & 0xFFFFFFFF if random.randrange(4) else
                 random.getrandbits(32) for _ in range(16)]
        out.append(struct.pack("<16I", *words))
    return out
