#!/usr/bin/env python3
"""A booted kernel that does not exist: it answers the requests of harness/kernel/PROTOCOL.md with the naive evaluator (scripts/naive).

Usage: kernel_guest.py ARCH [BUG]. It lays out seccomp_data as Linux does on ARCH. BUG makes it a kernel that differs from ours.
"""
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from kernel.planted import read_frame, write_frame  # noqa: E402
from naive.accept import accept  # noqa: E402
from naive.naive import Insn, run  # noqa: E402

RET_ERRNO, KILLED = 0x00050000, 0xFFFFFFFF
POINTER = 0x3FFA1B2C3D4  # where all calls come from


class Entry:
    def __init__(self, name, audit, bits, number_mask=0xFFFFFFFF, signed=False):
        self.name, self.audit, self.bits, self.number_mask, self.signed = name, audit, bits, number_mask, signed

    def argument(self, value):
        """Returns what the kernel stores for an argument."""
        if self.bits == 32:
            value &= 0xFFFFFFFF
            if self.signed and value >> 31:
                value |= 0xFFFFFFFF00000000
        return value


GUESTS = {  # byte order and entries
    "x86_64": ("<", [Entry("x86_64", 0xC000003E, 64), Entry("i386", 0x40000003, 32)]),
    "s390x": (">", [Entry("s390x", 0x80000016, 64, 0xFFFF), Entry("s390", 0x16, 32, 0xFFFF)]),
    "aarch64": ("<", [Entry("aarch64", 0xC00000B7, 64), Entry("arm", 0x40000028, 32)]),
    "arm": ("<", [Entry("arm", 0x40000028, 32)]),
    "mips64": (">", [Entry("mips64", 0x80000008, 64), Entry("mips", 0x8, 32, signed=True)]),
}


def seccomp_data(order, entry, number, arguments):
    return struct.pack(order + "IIQ6Q", number & entry.number_mask, entry.audit, POINTER, *map(entry.argument, arguments))


def words_of(order, data):
    """Returns the words that `ld [4*i]` loads, as little-endian bytes for the naive evaluator."""
    return struct.pack("<16I", *struct.unpack(order + "16I", data))


def take_program(body):
    count, = struct.unpack_from("<I", body)
    return [Insn(*row) for row in struct.iter_unpack("<HBBI", body[4:4 + 8 * count])], body[4 + 8 * count:]


class Guest:
    def __init__(self, arch, bug):
        self.arch, self.bug = arch, bug
        self.order, self.entries = GUESTS[arch]

    def info(self):
        rows = [{"name": entry.name, "audit": entry.audit + (self.bug == "audit"), "long_bits": entry.bits} for entry in self.entries]
        return json.dumps({"arch": self.arch, "release": "4.9.0-fake" if self.bug == "old" else "6.1.0-fake", "version": "#1",
                           "big_endian": self.order == ">", "entries": rows}).encode()

    def accepts(self, program):
        if self.bug == "short" and len(program) > 4000:
            return False
        return accept(program) is None

    def accept(self, body):
        count, body, out = *struct.unpack_from("<I", body), body[4:], b""
        for _ in range(count):
            program, body = take_program(body)
            out += bytes([self.accepts(program)])
        return out

    def ask(self, body):
        entry = self.entries[body[0]]
        program, body = take_program(body[1:])
        if not self.accepts(program):
            raise ValueError("EINVAL")
        return b"".join(self.call(entry, program, call) for call in self.calls(body))

    def calls(self, body):
        """Returns number and arguments of each call. The words of an argument are in the order of this machine."""
        for words in struct.iter_unpack("<16I", body):
            yield (words[0], *struct.unpack(self.order + "6Q", struct.pack(self.order + "12I", *words[4:])))

    def call(self, entry, program, call):
        data = words_of(self.order, seccomp_data(self.order, entry, call[0], call[1:]))
        if self.bug == "numbers":  # the table of another entry
            data = struct.pack("<I", struct.unpack_from("<I", data)[0] ^ 1) + data[4:]
        value = run(program, data)
        if value == 0:
            return struct.pack("<I", KILLED)
        assert value >> 16 == RET_ERRNO >> 16, hex(value)
        return struct.pack("<I", value & 0xFFFF)

    def answer(self, request):
        kind, body = request[:1], request[1:]
        if self.bug == "dies" and kind == b"Q":
            sys.exit("panic: the guest is gone")
        if self.bug == "garbage" and kind == b"Q":
            return b"\0abc"
        if kind == b"I":
            return b"\0" + (b"{" if self.bug == "info" else self.info())
        if kind == b"A":
            return b"\0" + self.accept(body)
        if kind == b"Q":
            try:
                return b"\0" + self.ask(body)
            except ValueError as why:
                return b"\2" + str(why).encode()
        return b"\1unknown request"


def main():
    guest = Guest(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    while (request := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, guest.answer(request))


if __name__ == "__main__":
    main()
