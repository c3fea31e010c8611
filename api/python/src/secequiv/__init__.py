"""Do two seccomp filters make the same decision for every possible system call?

A filter is bytes (raw `struct sock_filter` or any other form that the command line reads), a path, text with a line break in
it, or the result of `parse`. Errors are exceptions: `Unknown` if time or memory ran out, `Rejected` if the kernel would
refuse a program, and `SecequivError` for all other errors.
"""

import json
import os
import sys
import warnings
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from ._library import ALL_INSTRUCTIONS, LIBRARY, Raw, call, parse_kept
from ._types import (Answer, Data, Difference, Evaluation, Filter, Program, Proof, Rejected, SeccompData, SecequivError, Unknown,
                     Validation, Verdict, Witness)

__all__ = ["Answer", "Data", "Difference", "Evaluation", "Filter", "Program", "Proof", "Rejected", "SeccompData", "SecequivError",
           "Unknown", "Validation", "Verdict", "Witness", "__version__", "actions", "cache", "cost", "diff", "diff_page", "disassemble",
           "evaluate", "lift", "lint", "optimize", "parse", "prove", "prove_property", "reach", "validate", "why"]

__version__: str = LIBRARY.secequiv_version().decode()

_VERDICTS = {1: Verdict.EQUIVALENT, 2: Verdict.PASS, 3: Verdict.DIFFERENT, 5: Verdict.REJECTED, 6: Verdict.FAIL}
_UNKNOWN, _REJECTED = 4, 5
MOST_BYTES = 1 << 24  # of a file; the library refuses larger ones
_SAMENESS = ("raw", "behaviour", "effect")
_ENGINES = ("dd", "z3", "both", "sat")


def _text(value: Optional[str]) -> Optional[bytes]:
    if value is not None and "\0" in value:
        raise ValueError("expected text without NUL, found %r" % value)
    return None if value is None else value.encode()


def _index(what: str, known: Sequence[str], name: str) -> int:
    if name not in known:
        raise ValueError("%s: expected %s, found %r" % (what, " or ".join(known), name))
    return known.index(name)


def _seconds(timeout: float) -> float:
    if not timeout > 0:
        raise ValueError("timeout: expected a number of seconds above 0, found %r" % timeout)
    return timeout


def _answered(raw: Raw, refusal_is_answer: bool = False) -> Raw:
    """Raises an exception if the verdict is unknown or an error."""
    if raw.verdict == _UNKNOWN:
        raise Unknown(raw.message.rstrip(), raw.document)
    if raw.verdict == _REJECTED and not refusal_is_answer:
        raise Rejected(raw.message.rstrip(), raw.document)
    if raw.verdict not in _VERDICTS:
        raise SecequivError(raw.message.rstrip(), raw.document)
    return raw


def _common(raw: Raw, notes: str = "") -> Tuple[Verdict, str, Any]:
    return _VERDICTS[raw.verdict], raw.message + notes, raw.document


def _witness(raw: Raw) -> Optional[Witness]:
    if raw.witness is None:
        return None
    data, before, after = raw.witness
    return Witness(SeccompData.from_bytes(data), before, after)


def _content(source: Union[bytes, str, "os.PathLike[str]"]) -> Tuple[bytes, str]:
    """Returns the bytes of a filter or policy, and its name in messages."""
    if isinstance(source, str) and "\n" in source:
        return source.encode(), "<text>"
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "<memory>"
    name = os.fspath(source)
    with open(name, "rb") as file:
        return file.read(MOST_BYTES + 1), name


def parse(source: Filter, *, form: Optional[str] = None, arch: Optional[str] = None, kernel: Optional[str] = None,
          capabilities: Sequence[str] = (), filter: Optional[str] = None, policy_format: Optional[str] = None) -> Program:
    """Read a program in any form, or compile a policy in any format (without optimization).

    `form` of a program is raw, raw-be, asm, ddd or c. `policy_format` is policy (our own JSON), oci, seccompiler, minijail (as
    minijail0 reads it), minijail-compiler (as compile_seccomp_policy.py reads it) or pfc. By default, both are detected by content.
    `filter` names one of several filters in a seccompiler file. `arch`, `kernel` and `capabilities` describe the host, for profiles
    and for names in C."""
    if isinstance(source, Program):
        return source
    content, name = _content(source)
    raw, kept = parse_kept(content, len(content), os.fsencode(name), form=_text(form), arch=_text(arch),
                           kernel=_text(kernel), capabilities=_text(",".join(capabilities)), filter=_text(filter),
                           policy_format=_text(policy_format))
    out = Program(_answered(raw).program or b"", name, raw.is_policy, raw.message, raw.notes)
    object.__setattr__(out, "_parsed", kept)
    return out


def _count(name: str, value: int) -> int:
    if not 0 <= value < 2**64:
        raise ValueError("%s: expected a number from 0 to 2**64-1, found %r" % (name, value))
    return value


def _compared(function: str, before: Filter, after: Filter, options: Mapping[str, Any]) -> Tuple[Raw, str]:
    """Calls the function for two filters. Returns its result, and notes about what was left out of profiles. Notes also become warnings."""
    arch = options["arch"]
    one, other = parse(before, arch=arch and arch.decode()), parse(after, arch=arch and arch.decode())
    if one._parsed and other._parsed:
        raw = call(function + "_parsed", one._parsed.handle, other._parsed.handle, **options)
    else:
        raw = call(function, one.code, len(one), other.code, len(other), **options)
    notes = one.notes + other.notes
    for note in dict.fromkeys((notes + raw.notes).splitlines()):
        warnings.warn(note, stacklevel=3)
    return _answered(raw), notes


def prove(before: Filter, after: Filter, *, refines: bool = False, same: str = "raw", assume: Optional[str] = None,
          timeout: float = 60, engine: str = "dd", max_memory: int = 1024, arch: Optional[str] = None) -> Proof:
    """Prove that the two filters are equivalent, or with `refines` that `after` is never more permissive.

    `assume` restricts the inputs. `same` is raw (all 32 bits of a decision), behaviour (what a process can observe) or effect (what it can
    make the kernel do: inputs that differ only in bits that the kernel ignores count as one). `timeout`
    is in seconds, `max_memory` in MiB. `engine` is dd, z3, both or sat."""
    raw, notes = _compared("secequiv_prove", before, after, dict(
        refines=int(refines), same=_index("same", _SAMENESS, same), assume=_text(assume), timeout_seconds=_seconds(timeout),
        engine=_index("engine", _ENGINES, engine), max_memory_mib=_count("max_memory", max_memory), arch=_text(arch)))
    return Proof(*_common(raw, notes), witness=_witness(raw))


def prove_property(program: Filter, property: str, *, assume: Optional[str] = None, timeout: float = 60, engine: str = "dd",
                   max_memory: int = 1024, arch: Optional[str] = None) -> Answer:
    """Prove that the filter has a property: a name of the library ("no-ptrace"), or clauses ("refused: ptrace"). The verdict is
    PASS or FAIL; the document has an input for each violated clause. The options are those of `prove`."""
    read = parse(program, arch=arch)
    options = dict(assume=_text(assume), timeout_seconds=_seconds(timeout), engine=_index("engine", _ENGINES, engine),
                   max_memory_mib=_count("max_memory", max_memory), arch=_text(arch))
    raw = (call("secequiv_prove_property_parsed", read._parsed.handle, _text(property), **options) if read._parsed else
           call("secequiv_prove_property", read.code, len(read), _text(property), **options))
    return Answer(*_common(_answered(raw), read.notes))


def diff(before: Filter, after: Filter, *, same: str = "raw", assume: Optional[str] = None, timeout: float = 60,
         max_regions: int = 20, max_memory: int = 1024, arch: Optional[str] = None) -> Difference:
    """Describe and count all inputs on which the two filters differ, with at most `max_regions` regions."""
    raw, notes = _compared("secequiv_diff", before, after, dict(
        same=_index("same", _SAMENESS, same), assume=_text(assume), timeout_seconds=_seconds(timeout),
        max_regions=_count("max_regions", max_regions), max_memory_mib=_count("max_memory", max_memory), arch=_text(arch)))
    return Difference(*_common(raw, notes), witness=_witness(raw))


def _bytes_of(data: Data) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview, SeccompData)):
        return bytes(data)
    return b"".join(word.to_bytes(4, sys.byteorder) for word in data)


def evaluate(program: Filter, data: Data, *, arch: Optional[str] = None) -> Evaluation:
    """Run the program on one system call, given as a SeccompData, its 64 bytes, or its sixteen words."""
    content, parsed = _bytes_of(data), parse(program, arch=arch)
    raw = _answered(call("secequiv_evaluate", parsed.code, len(parsed), content, len(content)))
    return Evaluation(*_common(raw), value=raw.value or 0)


def validate(program: Filter, *, any_length: bool = False, arch: Optional[str] = None) -> Validation:
    """Check whether the kernel would accept the program. The verdict is PASS or REJECTED. The program of a policy may have any length."""
    parsed = parse(program, arch=arch)
    raw = _answered(call("secequiv_validate", parsed.code, len(parsed), any_length=int(any_length or parsed.is_policy)), True)
    return Validation(*_common(raw), instructions=len(parsed))


def why(program: Filter, data: Data, *, arch: Optional[str] = None) -> Answer:
    """Explain the decision about one system call (see `evaluate`): the document has the condition and the tests."""
    content, read = _bytes_of(data), parse(program, arch=arch)
    raw = (call("secequiv_why_parsed", read._parsed.handle, content, len(content), arch=_text(arch)) if read._parsed else
           call("secequiv_why", read.code, len(read), content, len(content), arch=_text(arch)))
    return Answer(*_common(_answered(raw)))


def actions(program: Filter, *, same: str = "raw", arch: Optional[str] = None) -> Answer:
    """List the system calls that get one action for all arguments, and those whose action depends on arguments."""
    parsed = parse(program, arch=arch)
    raw = call("secequiv_actions", parsed.code, len(parsed), same=_index("same", _SAMENESS, same), arch=_text(arch))
    return Answer(*_common(_answered(raw)))


def reach(program: Filter, instruction: Optional[int] = None, *, max_regions: int = 20, arch: Optional[str] = None) -> Answer:
    """Count the inputs that reach each instruction, or describe those of one instruction in at most `max_regions` regions."""
    parsed = parse(program, arch=arch)
    at = ALL_INSTRUCTIONS if instruction is None else _count("instruction", instruction)
    raw = call("secequiv_reach", parsed.code, len(parsed), at, max_regions=_count("max_regions", max_regions), arch=_text(arch))
    return Answer(*_common(_answered(raw)))


def _one_or_two(before: Filter, after: Optional[Filter], arch: Optional[str]) -> Tuple[bytes, int, Optional[bytes], int]:
    first = parse(before, arch=arch)
    if after is None:
        return first.code, len(first), None, 0
    second = parse(after, arch=arch)
    return first.code, len(first), second.code, len(second)


def cost(before: Filter, after: Optional[Filter] = None, *, profile: Union[str, Mapping[str, int], None] = None, timeout: float = 60,
         arch: Optional[str] = None) -> Answer:
    """Count the instructions that one filter, or each of two, executes for each system call. It counts programs as they are.

    `profile` states how often each call is made, as a mapping or as text that `strace -c` prints. Without it, each call counts once."""
    text = profile if profile is None or isinstance(profile, str) else json.dumps(dict(profile))
    raw = call("secequiv_cost", *_one_or_two(before, after, arch), _text(text), timeout_seconds=_seconds(timeout), arch=_text(arch))
    return Answer(*_common(_answered(raw)))


def cache(before: Filter, after: Optional[Filter] = None, *, arch: Optional[str] = None) -> Answer:
    """List the calls that the kernel answers from its cache, and those that `after` loses. The verdict is PASS, or FAIL if it loses one."""
    return Answer(*_common(_answered(call("secequiv_cache", *_one_or_two(before, after, arch), arch=_text(arch)))))


def _kept(program: Filter, arch: Optional[str]) -> Any:
    """Returns a result of secequiv_parse, which lives as long as what this returns. A copied Program has none, so its code is read again."""
    read = parse(program, arch=arch)
    return read._parsed or parse(read.code, form="raw" if sys.byteorder == "little" else "raw-be")._parsed


def _transformed(function: str, program: Filter, *arguments: Optional[bytes], timeout: float = 60, arch: Optional[str] = None) -> Raw:
    kept = _kept(program, arch)
    return _answered(call(function, kept.handle, *arguments, timeout_seconds=_seconds(timeout), arch=_text(arch)))


def disassemble(program: Filter, *, form: str = "asm", arch: Optional[str] = None) -> str:
    """Write the program as asm, ddd or c. `arch` names system calls of an architecture that the program does not test."""
    return _transformed("secequiv_disassemble", program, _text(form), arch=arch).message


def lift(program: Filter, *, form: str = "policy", timeout: float = 60, arch: Optional[str] = None) -> str:
    """Turn the filter back into a policy that is proven to make the same decisions. `form` is policy, normal-form, oci or text. A
    SecequivError says that no policy can express the filter."""
    return _transformed("secequiv_lift", program, _text(form), timeout=timeout, arch=arch).message


def optimize(program: Filter, *, timeout: float = 60, arch: Optional[str] = None) -> Program:
    """Optimize the filter, and prove that the result makes the same decisions. Its `message` is its text, with the passes."""
    raw = _transformed("secequiv_optimize", program, timeout=timeout, arch=arch)
    return Program(raw.program or b"", "<optimized>", False, raw.message + raw.notes)


def diff_page(before: Filter, after: Filter, *, timeout: float = 60, arch: Optional[str] = None) -> str:
    """Write the page of the command `diff --html`: a whole HTML document."""
    one, other = _kept(before, arch), _kept(after, arch)
    return _answered(call("secequiv_diff_page", one.handle, other.handle, timeout_seconds=_seconds(timeout), arch=_text(arch))).message


def lint(policy: Union[bytes, str, "os.PathLike[str]"], *, strict: bool = False, timeout: float = 60, arch: Optional[str] = None,
         kernel: Optional[str] = None, capabilities: Sequence[str] = (), filter: Optional[str] = None,
         policy_format: Optional[str] = None) -> Answer:
    """Find redundant rules of a policy (see `parse`), and warn about likely mistakes. The verdict is PASS, or FAIL if a
    rule is redundant or, with `strict`, if there is a warning."""
    content, name = _content(policy)
    raw = call("secequiv_lint", content, len(content), os.fsencode(name), int(strict), timeout_seconds=_seconds(timeout), arch=_text(arch),
               kernel=_text(kernel), capabilities=_text(",".join(capabilities)), filter=_text(filter), policy_format=_text(policy_format))
    return Answer(*_common(_answered(raw)))
