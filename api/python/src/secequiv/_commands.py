"""Ten commands for systems that have no binary of the command line (the wheel `any`).

Their options have the names and meanings of the command line; statuses and answers are the same. `diff` names rules, as with --rules.
This file must not know how answers are found.
"""

import argparse
import json
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

import secequiv

# Verdicts of answers; all others are 1.
_STATUS = {secequiv.Verdict.EQUIVALENT: 0, secequiv.Verdict.PASS: 0}
_LIMITS = "This package has only some commands and options. The packages for Linux have all of them."
_OWN_NAMES = {"capabilities": "cap", "kernel": "kernel-version", "timeout_seconds": "timeout"}  # of options of the library

_Given = Mapping[str, Any]
_Found = Union[secequiv.Answer, str, bytes]


def _refused(expected: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError("expected %s, found '%s'" % (expected, text))


def _text(text: str) -> str:
    if not text or "\0" in text:
        raise _refused("a text", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refused("UTF-8", ascii(text)[1:-1]) from None
    return text


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]+[.]?[0-9]*|[.][0-9]+", text) or not float(text) > 0:
        raise _refused("a number of seconds above 0", text)
    return float(text)


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise _refused("a number of at most nine digits", text)
    return int(text)


def _words(text: str) -> Sequence[int]:
    words = text.split(",")
    if not all(re.fullmatch("0|[1-9][0-9]{0,9}|0x[0-9a-fA-F]{1,8}", word) for word in words):
        raise _refused("sixteen 32-bit words", text)
    numbers = [int(word, 0) for word in words]
    if len(numbers) != 16 or max(numbers) >= 2**32:
        raise _refused("sixteen 32-bit words", text)
    return numbers


class _Once(argparse.Action):
    """Stores a value. Unlike argparse's own action, it refuses a second one, which would silently replace the first."""

    def __call__(self, parser: argparse.ArgumentParser, given: argparse.Namespace, value: Any, name: Optional[str] = None) -> None:
        seen = given.__dict__.setdefault("seen", set())
        if self.dest in seen:
            parser.error("argument %s: given more than once" % name)
        seen.add(self.dest)
        setattr(given, self.dest, value)


_ON = {"action": "store_true"}
_OPTIONS: Mapping[str, Tuple[str, Mapping[str, Any]]] = {
    "--arch": ("Use this architecture for policies and for __NR_ names in C", {"type": _text, "metavar": "ARCH"}),
    "--as": ("Write the policy in this form", {"choices": ("policy", "normal-form", "oci", "text"), "default": "policy"}),
    "--assume": ("Consider only inputs that satisfy this condition, for example 'nr == read'", {"type": _text, "metavar": "TEXT"}),
    "--at": ("Describe only this instruction, with all inputs that reach it", {"type": _number, "metavar": "N"}),
    "--cap": ("Grant capabilities to an OCI profile's container: names, ALL, DOCKER; repeatable",
              {"type": _text, "action": "append", "default": [], "metavar": "TEXT"}),
    "--filter": ("Select the filter with this name from a seccompiler file with several filters", {"type": _text, "metavar": "TEXT"}),
    "--from": ("Read programs in this form (default: detected by content)", {"choices": ("raw", "raw-be", "asm", "ddd", "c")}),
    "--json": ("Report as JSON on standard output", _ON),
    "--kernel-version": ("Read OCI profiles for a host with this kernel version", {"type": _text, "metavar": "TEXT"}),
    "--max-regions": ("List at most this many regions; counts still include all regions", {"type": _number, "default": 20, "metavar": "N"}),
    "--refines": ("Prove instead that 'after' is never more permissive than 'before'", _ON),
    "--same": ("Compare all bits of return values (raw), or only their effects on a process",
               {"choices": ("raw", "behaviour", "effect"), "default": "raw"}),
    "--strict": ("Treat warnings as failures", _ON),
    "--timeout": ("Limit all work, or each proof of a loop, to this many seconds", {"type": _seconds, "default": 60.0, "metavar": "SECONDS"}),
    "--to": ("Write the program in this form", {"choices": ("raw", "asm", "ddd", "c"), "default": "asm"}),
    "--words": ("Set all sixteen 32-bit words of struct seccomp_data, separated by commas",
                {"type": _words, "required": True, "metavar": "TEXT"}),
}
_HOST = ("--arch", "--cap", "--kernel-version", "--filter")
_READING = ("--from", *_HOST)
_PAIR = ("--same", "--assume", "--timeout", *_READING, "--json")


def _named(given: _Given, *names: str) -> Dict[str, Any]:
    """Returns the options of these names as arguments of the package's functions."""
    return {name: given[name] for name in ("arch", *names)}


def _source(given: _Given, side: str) -> Union[bytes, Path]:
    return sys.stdin.buffer.read(secequiv.MOST_BYTES + 1) if given[side] == "-" else Path(given[side])


def _host(given: _Given) -> Dict[str, Any]:
    return dict(arch=given["arch"], kernel=given["kernel_version"], capabilities=given["cap"], filter=given["filter"])


def _read(given: _Given, side: str = "file") -> secequiv.Program:
    program = secequiv.parse(_source(given, side), form=given["from"], **_host(given))
    if not program.is_policy and len(program) > 4096 and given["command"] != "dis":
        _note("note: %s has %d instructions, more than the 4096 that the kernel accepts; secequiv examines it anyway" %
              (given[side], len(program)))
    if side == "file":  # the answers about pairs contain these notes
        for note in program.notes.splitlines():
            _note(note)
    return program


def _compared(function: Callable[..., _Found], *names: str) -> Callable[[_Given], _Found]:
    return lambda given: function(_read(given, "before"), _read(given, "after"), **_named(given, "same", "assume", "timeout", *names))


def _lint(given: _Given) -> _Found:
    return secequiv.lint(_source(given, "file"), strict=given["strict"], timeout=given["timeout"], **_host(given))


def _written(program: secequiv.Program, given: _Given) -> _Found:
    return program.code if given["to"] == "raw" else secequiv.disassemble(program, form=given["to"], arch=given["arch"])


# For each command: its text, its options, and its function.
_COMMANDS: Mapping[str, Tuple[str, Sequence[str], Callable[[_Given], _Found]]] = {
    "prove": ("Prove two filters equivalent, or show the smallest input on which they differ", ("--refines", *_PAIR),
              _compared(secequiv.prove, "refines")),
    "diff": ("Describe and count every input on which two filters or policies differ", ("--max-regions", *_PAIR),
             _compared(secequiv.diff, "max_regions")),
    "why": ("Explain one decision: its rule and conditions, and what would change it", ("--words", *_READING, "--json"),
            lambda given: secequiv.why(_read(given), given["words"], arch=given["arch"])),
    "run": ("Emulate one system call through a filter", ("--words", *_READING, "--json"),
            lambda given: secequiv.evaluate(_read(given), given["words"], arch=given["arch"])),
    "actions": ("List the action of each system call, and its conditions", (*_READING, "--json"),
                lambda given: secequiv.actions(_read(given), arch=given["arch"])),
    "reach": ("Count the inputs that reach each instruction, or prove that none does", ("--at", "--max-regions", *_READING, "--json"),
              lambda given: secequiv.reach(_read(given), given["at"], **_named(given, "max_regions"))),
    "lint": ("Find rules of a policy that decide nothing, and warn about likely mistakes", ("--strict", "--timeout", *_HOST, "--json"), _lint),
    "lift": ("Turn a filter back into a policy", ("--as", *_READING),
             lambda given: secequiv.lift(_read(given), form=given["as"], arch=given["arch"])),
    "optimize": ("Optimize a policy or a program with the built-in passes", ("--to", *_READING),
                 lambda given: _written(secequiv.optimize(_read(given), arch=given["arch"]), given)),
    "dis": ("Disassemble: show a program as commented bpf_asm text or another form", ("--to", *_READING),
            lambda given: _written(_read(given), given)),
}


class _Answer(NamedTuple):
    text: Union[str, bytes]
    document: Any
    status: int
    notes: Sequence[str] = ()  # the text contains them, too


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        limits = " " + _LIMITS if re.match("unrecognized|argument COMMAND", message) else ""
        self.exit(2, "secequiv: %s\nTry '%s --help'.%s\n" % (message, self.prog, limits))

    def print_help(self, file: Any = None) -> None:
        _write(self.format_help())


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        _write("secequiv %s\n" % secequiv.__version__)
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("secequiv", description="Compare seccomp filters: do two make the same decisions for every possible system call?",
                     epilog=_LIMITS + " Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input, 3 unknown, 4 the kernel "
                     "would refuse a program.", allow_abbrev=False)
    parser.add_argument("--version", action=_Version, nargs=0, help="Print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, options, _) in _COMMANDS.items():
        one = commands.add_parser(name, help=text, description=text, epilog=_LIMITS, allow_abbrev=False)
        for option in options:
            words, how = _OPTIONS[option]
            one.add_argument(option, help=words + (" (default: %(default)s)" if how.get("default") else ""),
                             **{"action": _Once, **how})
        sides = ("before", "after") if "--assume" in options else ("file",)
        for side in sides:
            one.add_argument(side, help="Policy, in any format" if name == "lint" else "Program or policy; - for standard input")
    return parser


def _worded(text: str) -> str:
    """Names the command line's options where the library names its own."""
    text = text.replace("the architecture, kernel and capabilities given when parsing", "--arch, --kernel-version, --cap")
    text = re.sub("^instruction:", "--at:", text)
    return re.sub(r"^(options[.]|--)(\w+)", lambda found: "--" + _OWN_NAMES.get(found[2], found[2].replace("_", "-")), text)


def _write(text: Union[str, bytes]) -> None:
    """Writes to standard output, or ends the process with status 2."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.buffer.write(text.encode(errors="surrogateescape") if isinstance(text, str) else text)
        sys.stdout.buffer.flush()
    except OSError as error:
        _note("<stdout>: cannot write: %s" % (error.strerror or error))
        os._exit(2)  # at a usual end, the interpreter would write again


def _note(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.buffer.write(("secequiv: %s\n" % _worded(text.rstrip("\n"))).encode(errors="surrogateescape"))
        sys.stderr.buffer.flush()


def _answer(given: _Given) -> _Answer:
    """Runs the command."""
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            found = _COMMANDS[given["command"]][2](given)
    except secequiv.SecequivError as error:
        status = 3 if isinstance(error, secequiv.Unknown) else 4 if isinstance(error, secequiv.Rejected) else 2
        return _Answer(str(error), error.document, status)
    except MemoryError as error:
        return _Answer(str(error) or "the memory ran out", None, 3)
    except OSError as error:
        detail = "cannot %s: %s" % ("read" if isinstance(error, IsADirectoryError) else "open", error.strerror)
        return _Answer("%s: %s" % (error.filename, detail), {"schema": "secequiv.error/1", "error": "io", "where": error.filename, "detail": detail}, 2)
    except (ValueError, RuntimeError) as error:  # RuntimeError: the module trapped
        return _Answer(str(error), None, 2)
    if isinstance(found, (str, bytes)):
        return _Answer(found, None, 0)
    return _Answer(found.message, found.document, _STATUS.get(found.verdict, 1), [str(note.message) for note in notes])


def _run(words: Optional[Sequence[str]]) -> int:
    parser = _parser()
    given = vars(parser.parse_args(words))
    sides: List[str] = [given[side] for side in ("before", "after", "file") if side in given]
    if "" in sides:
        parser.error("expected a file's name, found ''")
    if sides == ["-", "-"]:
        parser.error("standard input can be read only once, but it is named twice")
    if "-" in sides and sys.stdin is None:
        parser.error("standard input is closed")
    answer = _answer(given)
    in_json = given.get("json") and answer.document is not None
    if in_json:
        if "where" in answer.document:
            answer.document["where"] = _worded(answer.document["where"])
        _write(json.dumps(answer.document, indent=2, ensure_ascii=False) + "\n")
        for note in answer.notes:
            _note(note)
    # If the kernel would refuse a program or a limit was reached, `prove` and `diff` report it; the other commands fail.
    if answer.status == 2 or (answer.status > 2 and not in_json and (answer.document is None or "before" not in given)):
        _note(re.sub("^program:", lambda _: sides[0] + ":", str(answer.text)))
    elif not in_json:
        text = answer.text
        _write(_worded(text).rstrip("\n") + "\n" if isinstance(text, str) and text else text)
    return answer.status


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs one command; returns the exit status."""
    for name in ("SIGINT", "SIGPIPE"):  # the module's calls do not return early; Windows has no SIGPIPE
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    return _run(words)


if __name__ == "__main__":
    sys.exit(main())
