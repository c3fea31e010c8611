"""The Z3 query that people write by hand for two filters, as the reference for scripts/bench. It executes each program once,
merges states by If where paths meet, and asks a plain Solver whether the return values can differ. The kernel must accept the programs. Needs the
module z3 (Debian: python3-z3).

Run as a script: naive_z3.py BEFORE AFTER prints the answer and the seconds, including the encoding.
"""
import struct
import sys
import time

import z3

ALU = {0x00: lambda a, b: a + b, 0x10: lambda a, b: a - b, 0x20: lambda a, b: a * b, 0x30: z3.UDiv,
       0x40: lambda a, b: a | b, 0x50: lambda a, b: a & b, 0x60: lambda a, b: a << (b & 31),
       0x70: lambda a, b: z3.LShR(a, b & 31), 0xA0: lambda a, b: a ^ b}
TESTS = {0x10: lambda a, b: a == b, 0x20: z3.UGT, 0x30: z3.UGE, 0x40: lambda a, b: (a & b) != 0}


def word(value):
    return z3.BitVecVal(value, 32)


def either(condition, then, otherwise):
    return then if then.eq(otherwise) else z3.If(condition, then, otherwise)


def returned(raw, data):
    """Returns the return value of the program in `raw` as a term over the 16 words `data`."""
    program = list(struct.iter_unpack("<HBBI", raw))
    states = {0: (z3.BoolVal(True), word(0), word(0), {})}  # condition, A, X, M[] before each instruction
    out = word(0)  # a division by zero returns 0
    for pc, (code, jt, jf, k) in enumerate(program):
        if pc not in states:
            continue
        here, a, x, memory = states.pop(pc)
        operand = x if code & 8 else word(k)
        if code & 7 == 6:  # RET
            out = z3.If(here, a if code == 0x16 else word(k), out)
            continue
        targets = [(pc + 1, here)]
        if code == 0x05:
            targets = [(pc + 1 + k, here)]
        elif code & 7 == 5:
            condition = TESTS[code & 0xF0](a, operand)
            targets = [(pc + 1 + jt, z3.And(here, condition)), (pc + 1 + jf, z3.And(here, z3.Not(condition)))]
        elif code == 0x84:
            a = -a
        elif code & 7 == 4:
            if code == 0x3C:
                targets = [(pc + 1, z3.And(here, x != 0))]
            a = ALU[code & 0xF0](a, operand)
        elif code == 0x20:
            a = data[k // 4]
        elif code in (0x00, 0x80, 0x60):
            a = {0x00: word(k), 0x80: word(64), 0x60: memory.get(k)}[code]
        elif code in (0x01, 0x81, 0x61):
            x = {0x01: word(k), 0x81: word(64), 0x61: memory.get(k)}[code]
        elif code in (0x02, 0x03):
            memory = {**memory, k: a if code == 0x02 else x}
        elif code == 0x07:
            x = a
        elif code == 0x87:
            a = x
        for to, condition in targets:
            if to not in states:
                states[to] = (condition, a, x, memory)
                continue
            other, other_a, other_x, other_memory = states[to]
            merged = {slot: either(condition, memory.get(slot, word(0)), other_memory.get(slot, word(0)))
                      for slot in {**memory, **other_memory}}
            states[to] = (z3.Or(condition, other), either(condition, a, other_a), either(condition, x, other_x), merged)
    return out


def decide(before, after):
    """Returns (answer of Z3, seconds) for two raw programs."""
    start = time.perf_counter()
    data = [z3.BitVec("word%d" % i, 32) for i in range(16)]
    solver = z3.Solver()
    solver.add(returned(before, data) != returned(after, data))
    answer = str(solver.check())
    return answer, time.perf_counter() - start


if __name__ == "__main__":
    programs = []
    for path in sys.argv[1:3]:
        with open(path, "rb") as file:
            programs.append(file.read())
    print(*decide(*programs))
