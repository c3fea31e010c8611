"""Puts the peephole optimizer and the emulator of LightBPF under test. It serves requests as harness/adapter/PROTOCOL.md describes."""

import struct
import sys
import types
from pathlib import Path

from secequiv_adapter import serve

# The modules of the package import each other as parts of LightPacket, which the package does not contain.
parent = types.ModuleType("LightPacket")
parent.__path__ = [str(Path(__file__).parent)]
sys.modules["LightPacket"] = parent

from LightPacket.LightBPF.CompilerSet.Emulator import BpfEmulator  # noqa: E402
from LightPacket.LightBPF.CompilerSet.Instruction import Instruction  # noqa: E402
from LightPacket.LightBPF.CompilerSet.Peephole import optimize as peephole  # noqa: E402


def optimize(program):
    return [(insn.code, insn.jt, insn.jf, insn.k) for insn in peephole([Instruction(*insn) for insn in program])]


def evaluate(program, inputs):
    """Swaps the bytes of each word, because the words of a packet are big-endian."""
    insns = [Instruction(*insn) for insn in program]
    return [BpfEmulator.execute(insns, struct.pack(">16I", *struct.unpack("<16I", each))) for each in inputs]


serve(optimize=optimize, evaluate=evaluate)
