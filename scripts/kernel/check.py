"""Compares a kernel with the naive evaluator (scripts/naive): which programs it accepts, what programs return, and which calls it
allows without running them."""

import random
import struct
import time
from typing import NamedTuple

from naive import naive, random_programs, vectors

ERRNO = 0x00050000
MIPS, AUDIT_64BIT = 8, 0x80000000  # in values of seccomp_data.arch
KILLED = 0xFFFFFFFF
LOAD, JUMP, RET_K, RET_A = 0x20, 0x05, 0x06, 0x16
POINTER = (8, 12)  # offsets of the instruction pointer in seccomp_data
LIMIT = 300  # seconds for one request


class Result(NamedTuple):
    """What was compared for one entry."""

    entry: str
    accepted: int  # programs whose acceptance was compared
    programs: int
    evaluations: int
    per_second: float
    bitmap: str  # whether the kernel's bitmap of allowed calls was compared: yes, none, or unknown
    differences: list  # texts


ALLOW = 0x7FFF0000
BITS = 256  # calls whose bits are compared; every architecture has more


def raw(program):
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def ask_frame(entry, program, calls):
    return struct.pack("<cBI", b"Q", entry, len(program)) + raw(program) + b"".join(calls)


def programs_frame(kind, programs):
    return struct.pack("<cI", kind, len(programs)) + b"".join(struct.pack("<I", len(program)) + raw(program) for program in programs)


def accept_frame(programs):
    return programs_frame(b"A", programs)


def seen(entry, big_endian, call):
    """Returns the seccomp_data that filters see for a call; the instruction pointer is left 0."""
    words = list(struct.unpack("<16I", call))
    words[0] &= entry["nr_mask"]
    words[1], words[2], words[3] = entry["audit"], 0, 0
    for i in range(4, 16, 2):
        high, low = (i, i + 1) if big_endian else (i + 1, i)
        if entry["high_words"] == "zero":
            words[high] = 0
        elif entry["high_words"] == "sign":
            words[high] = 0xFFFFFFFF if words[low] >> 31 else 0
    return struct.pack("<16I", *words)


def determined(entry, call):
    """Returns the call, with another number if this MIPS entry shows filters the caller's stack: a 64-bit program passes the last arguments of calls of the
    32-bit ABI there, and the first argument of `syscall` (4000) is a number. Source: arch/mips/kernel/scall64-o32.S."""
    number, = struct.unpack_from("<I", call)
    wide = entry["audit"] & AUDIT_64BIT
    if entry["audit"] & 0xFFFF != MIPS or not (4000 <= number < 5000 if wide else number == 4000):
        return call
    return struct.pack("<I", number | 1 << 13) + call[4:]


def expected(program, data):
    """Returns the answer to `Q` if the kernel evaluates as the naive evaluator does."""
    value = naive.run(program, data)
    return KILLED if value == 0 else min(value & 0xFFFF, 4095)


def askable(source, program):
    """Returns the program with other ends: it returns 12 bits of A in place of A, a random error number in place of a constant, or 0 by a division. It does
    not load the instruction pointer, which only the kernel knows."""
    end, out = len(program), []
    for pc, (code, jt, jf, k) in enumerate(program):
        if code == RET_A:
            out.append(naive.Insn(JUMP, 0, 0, end - pc - 1))
        elif code == RET_K:
            out.append(naive.Insn(code, 0, 0, ERRNO | source.randrange(0x2000)))
        elif code == LOAD and k in POINTER:
            out.append(naive.Insn(code, 0, 0, k + 8))
        else:
            out.append(naive.Insn(code, jt, jf, k))
    tail = [(0x74, 0, 0, source.choice((0, 12, 20))), (0x54, 0, 0, 0xFFF), (0x44, 0, 0, ERRNO), (RET_A, 0, 0, 0)]
    return out + [naive.Insn(*insn) for insn in tail]


def find_frame(programs, bits):
    """Asks where the kernel's memory has the bits while a process has the filters, the oldest one first."""
    return programs_frame(b"C", programs) + bytes(255 - byte for byte in bits)


def allowing(entries, allowed):
    """Returns a program that allows the given calls of each entry and no others."""
    program = [naive.Insn(0x20, 0, 0, 4)]
    for entry, numbers in zip(entries, allowed, strict=True):
        block = [naive.Insn(0x20, 0, 0, 0)]
        for each in numbers:
            block += [naive.Insn(0x15, 0, 1, each), naive.Insn(0x06, 0, 0, ALLOW)]
        block.append(naive.Insn(0x06, 0, 0, ERRNO | 1))
        program += [naive.Insn(0x15, 1, 0, entry["audit"]), naive.Insn(0x05, 0, 0, len(block)), *block]
    return program + [naive.Insn(0x06, 0, 0, ERRNO | 1)]


def answered(status, body):
    if status != 0:
        raise ValueError("the kernel refused a request: %s" % body.decode(errors="replace"))
    return body


def acceptance(ask):
    """Compares the programs of corpus/vectors; returns their number and the differences."""
    known = [vector for path in vectors.find_files() for vector in vectors.load(path) if vector.has_accept]
    body = answered(*ask(accept_frame([vector.programs[0] for vector in known]), LIMIT))
    return len(known), ["vector %r: the kernel %s the program" % (vector.name, "accepts" if got else "refuses")
                        for vector, got in zip(known, body, strict=True) if bool(got) != (vector.refusal is None)]


def evaluation(ask, info, index, programs, calls, seed):
    """Compares random programs on random calls; returns the number of evaluations and the differences."""
    entry, differences = info["entries"][index], []
    source = random.Random("%s %s" % (seed, entry["name"]))
    for _ in range(programs):
        program = askable(source, random_programs.program(source, source.randrange(4, 60)))
        asked = [determined(entry, call) for call in random_programs.inputs(source, program, calls)]
        body = answered(*ask(ask_frame(index, program, asked), LIMIT))
        for call, got in zip(asked, struct.unpack("<%dI" % calls, body), strict=True):
            data = seen(entry, info["big_endian"], call)
            if got != (want := expected(program, data)):
                differences.append("entry %s: the kernel answers %d, expected %d: program %s, seccomp_data %s" % (entry["name"], got, want, raw(program).hex(), data.hex()))
    return programs * calls, differences


def speed(ask, index):
    """Returns how many calls per second a short program decides, with all costs of the way."""
    program = [naive.Insn(0x20, 0, 0, 16), naive.Insn(0x15, 0, 1, 5), naive.Insn(0x06, 0, 0, ERRNO | 7), naive.Insn(0x06, 0, 0, ERRNO | 8)]
    frame = ask_frame(index, program, [bytes(64)] * 32768)
    started = time.monotonic()
    answered(*ask(frame, LIMIT))
    return 32768 / (time.monotonic() - started)


def bitmap(ask, info, index, has_bitmap, seed):
    """Compares the bitmap of calls that the kernel allows without running filters; returns what was compared, and the differences."""
    source = random.Random("%s bitmaps" % seed)
    allowed = [source.sample(range(BITS), 60) for _ in info["entries"]]
    program, name = allowing(info["entries"], allowed), info["entries"][index]["name"]
    bits = sum(1 << number for number in allowed[index]).to_bytes(BITS // 8, "little")
    status, body = ask(find_frame([program], bits), LIMIT)
    if status == 1:
        return "unknown", []
    if bool(answered(status, body)) != has_bitmap:
        return "no", ["entry %s: the kernel %s the bitmap of %s" % (name, "lacks" if has_bitmap else "has", raw(program).hex())]
    # A search that finds everything would prove nothing.
    wrong = bytes([bits[0] ^ 1]) + bits[1:]
    if answered(*ask(find_frame([program], wrong), LIMIT)):
        return "no", ["entry %s: the kernel has a bitmap that differs in one bit from that of %s" % (name, raw(program).hex())]
    return "yes" if has_bitmap else "none", []


def compare(ask, info, programs, calls, seed, has_bitmap):
    """Compares everything; returns a Result per entry. `has_bitmap` is whether this kernel keeps bitmaps. `ask` sends a request and returns the status and body of its answer."""
    results = []
    for index, entry in enumerate(info["entries"]):
        accepted, differences = acceptance(ask) if index == 0 else (0, [])
        evaluations, more = evaluation(ask, info, index, programs, calls, seed)
        compared, wrong = bitmap(ask, info, index, has_bitmap, seed)
        results.append(Result(entry["name"], accepted, programs, evaluations, speed(ask, index), compared, differences + more + wrong))
    return results
