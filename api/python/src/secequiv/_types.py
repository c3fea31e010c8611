"""Defines the inputs and the results of the package's functions."""

import os
import struct
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from ._library import Parsed

_LAYOUT = struct.Struct("=IIQ6Q")  # struct seccomp_data, in this machine's byte order
_PLACES = struct.Struct("=16I")


class Verdict(str, Enum):
    """The verdict of a result. Unknown verdicts and errors are exceptions instead."""

    EQUIVALENT = "equivalent"  # proven for all inputs that satisfy the assumption
    PASS = "pass"  # the check passed; `prove` with `refines`: proven, and the two are not equivalent
    DIFFERENT = "different"  # an input shows the difference; the interpreter has run it
    REJECTED = "rejected"  # `validate`: the kernel would refuse the program
    FAIL = "fail"  # `lint`: redundant rules; `cache`: calls are lost


class SecequivError(Exception):
    """The input is wrong; the message states the place and what was expected. `document` is the command line's JSON document."""

    def __init__(self, message: str, document: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.document = document


class Unknown(SecequivError):
    """Time or memory ran out, so it is undecided whether the filters differ."""


class Rejected(SecequivError):
    """The kernel would refuse one of the programs."""


@dataclass(frozen=True)
class SeccompData:
    """Describes one system call as a filter sees it: struct seccomp_data. `arch` is an AUDIT_ARCH_* value."""

    nr: int = 0
    arch: int = 0
    ip: int = 0
    args: Tuple[int, ...] = (0, 0, 0, 0, 0, 0)

    def __bytes__(self) -> bytes:
        args = tuple(self.args) + (0,) * (6 - len(self.args))
        if len(args) != 6:
            raise ValueError("expected at most 6 arguments, found %d" % len(args))
        all_bits = [value & (2**64 - 1) for value in (self.ip, *args)]
        return _LAYOUT.pack(self.nr & 0xFFFFFFFF, self.arch, *all_bits)

    @classmethod
    def from_bytes(cls, data: bytes) -> "SeccompData":
        nr, arch, ip, *args = _LAYOUT.unpack(data)
        return cls(nr, arch, ip, tuple(args))

    @property
    def words(self) -> Tuple[int, ...]:
        """The sixteen words that a filter can load."""
        return _PLACES.unpack(bytes(self))


@dataclass(frozen=True)
class Program:
    """Instructions, 8 bytes each: struct sock_filter in this machine's byte order."""

    code: bytes
    name: str = "<memory>"
    is_policy: bool = False  # compiled from a policy, without optimization
    message: str = field(default="", compare=False)  # what was left out of a profile, and its length
    notes: str = field(default="", compare=False)  # the parts of a profile that were ignored, one per line
    # What the library parsed, with the lines of the file. dataclasses.replace drops it, because the instructions may change.
    _parsed: Optional[Parsed] = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.code) % 8:
            raise ValueError("expected 8 bytes for each instruction, found %d in all" % len(self.code))

    def __len__(self) -> int:
        return len(self.code) // 8

    def __bytes__(self) -> bytes:
        return self.code


# bytes: a program or policy in any form. str: with a line break in it, the text of a program or policy; otherwise a path.
Filter = Union[bytes, str, "os.PathLike[str]", Program]
Data = Union[SeccompData, bytes, Sequence[int]]


@dataclass(frozen=True)
class Witness:
    """An input on which two filters differ, and both return values."""

    data: SeccompData
    before: int
    after: int


@dataclass(frozen=True)
class Answer:
    """The parts that all answers have: the command line's text and JSON document."""

    verdict: Verdict
    message: str = field(repr=False)
    document: Dict[str, Any] = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        """Returns whether the verdict is equivalent or pass."""
        return self.verdict in (Verdict.EQUIVALENT, Verdict.PASS)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Proof(Answer):
    witness: Optional[Witness] = None


@dataclass(frozen=True)
class Difference(Answer):
    witness: Optional[Witness] = None

    @property
    def changes(self) -> Sequence[Dict[str, Any]]:
        """The changes of return values, with their regions of inputs, as in the document."""
        changes: Sequence[Dict[str, Any]] = self.document["changes"]
        return changes


@dataclass(frozen=True)
class Evaluation(Answer):
    value: int = 0  # what the filter returns

    @property
    def action(self) -> str:
        """The action in words, such as "ERRNO(1 EPERM)"."""
        return str(self.document["result"]["action"])


@dataclass(frozen=True)
class Validation(Answer):
    instructions: int = 0
