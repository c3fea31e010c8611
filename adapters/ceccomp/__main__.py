"""Puts ceccomp under test: its emulator as an evaluator, and its disassembler followed by its assembler as an optimizer. The two together
must not change a filter.

It serves requests as harness/adapter/PROTOCOL.md describes.
"""

import os
import pkgutil
import re
import struct
import subprocess

from secequiv_adapter import Refused, Unsupported, decode, encode, serve

RET_K, RET_A = 0x06, 0x16
LONGEST = 1024  # instructions
X86_64 = 0xC000003E
ACTIONS = {"KILL_PROCESS": 0x80000000, "KILL": 0x00000000, "TRAP": 0x00030000, "ERRNO": 0x00050000, "NOTIFY": 0x7FC00000,
           "TRACE": 0x7FF00000, "LOG": 0x7FFC0000, "ALLOW": 0x7FFF0000}
WITH_DATA = ("TRAP", "ERRNO", "TRACE")

binary = os.memfd_create("ceccomp", 0)
os.write(binary, pkgutil.get_data("ceccomp", "ceccomp"))


def ceccomp(text, *arguments):
    done = subprocess.run(["/proc/self/fd/%d" % binary, *arguments, "-c", "never", "-a", "x86_64"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, pass_fds=[binary])
    if done.returncode < 0:
        raise RuntimeError("ceccomp %s: signal %d" % (arguments[0], -done.returncode))
    if done.returncode or not done.stdout:
        raise Refused("ceccomp %s: %s" % (arguments[0], done.stderr.decode(errors="replace").strip() or "no output"))
    return done.stdout


def disassemble(program):
    if len(program) > LONGEST:
        raise Unsupported("ceccomp reads at most %d instructions" % LONGEST)
    for insn in program:
        if insn.code == RET_K and not any(insn.k == action or name in WITH_DATA and insn.k & 0xFFFF0000 == action
                                          for name, action in ACTIONS.items()):
            raise Unsupported("ceccomp prints actions by name and has no name for 0x%08x" % insn.k)
    return ceccomp(encode(program), "disasm")


def reassemble(program):
    return decode(ceccomp(disassemble(program), "asm", "-f", "raw"))


def evaluate(program, inputs):
    if any(insn.code == RET_A for insn in program):
        raise Unsupported("ceccomp's emulator does not print the value of A")
    text = disassemble(program)
    return [emulate(text, each) for each in inputs]


def emulate(text, data):
    nr, arch, ip, *arguments = struct.unpack("<IIQ6Q", data)
    if arch != X86_64:
        raise Unsupported("this adapter emulates only calls of x86_64")
    printed = ceccomp(text, "emu", "-q", "/dev/stdin", str(nr), *map(str, arguments), str(ip)).decode()
    found = re.fullmatch(r"return ([A-Z_]+)(?:\((\d+)\))?\n", printed)
    if not found:
        raise Refused("ceccomp emu printed %r" % printed)
    return ACTIONS[found.group(1)] | int(found.group(2) or 0)


serve(optimize=reassemble, evaluate=evaluate)
