"""The commands that need only the library, for systems that have no binary of the command line (the wheel `any`).

Options have the names, meanings and texts of the command line; statuses and reports are the same, except that `diff` names rules, as
with --rules; `cost` shows every call and calls its filters before and after; and there are no notes about rewritten filters. This file must
not know how answers are found.
"""

import argparse
import json
import os
import re
import signal
import sys
import warnings
from typing import Any, Callable, Dict, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

import secequiv

_STATUS = {secequiv.Verdict.EQUIVALENT: 0, secequiv.Verdict.PASS: 0}  # all others: 1
_LINUX = "This package has only the commands and options that need no binary of the command line; the packages for Linux have all of them."


def _seconds(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("expected a number of seconds above 0, found '%s'" % text)
    return value


def _words(text: str) -> Sequence[int]:
    words = [int(word, 0) for word in text.split(",")]
    if len(words) != 16 or not all(0 <= word < 2**32 for word in words):
        raise argparse.ArgumentTypeError("expected sixteen 32-bit words, found '%s'" % text)
    return words


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
    "--arch": ("Use this architecture for policies and for __NR_ names in C", {"metavar": "ARCH"}),
    "--as": ("Write the policy in this form", {"choices": ("policy", "normal-form", "oci", "text"), "default": "policy"}),
    "--assume": ("Consider only inputs that satisfy this condition, for example 'nr == read'", {"metavar": "TEXT"}),
    "--at": ("Describe only this instruction, with all inputs that reach it", {"type": int, "metavar": "N"}),
    "--cap": ("Grant capabilities to an OCI profile's container: names, ALL, DOCKER; repeatable",
              {"action": "append", "default": [], "metavar": "TEXT"}),
    "--filter": ("Select the filter with this name from a seccompiler file with several filters", {"metavar": "TEXT"}),
    "--from": ("Read programs in this form (default: detected by content)", {"choices": ("raw", "raw-be", "asm", "ddd", "c")}),
    "--json": ("Report as JSON on standard output", _ON),
    "--kernel-version": ("Read OCI profiles for a host with this kernel version", {"metavar": "TEXT"}),
    "--max-memory": ("Limit the memory of each engine to this many MiB", {"type": int, "default": 1024, "metavar": "N"}),
    "--max-regions": ("List at most this many regions; counts still include all regions", {"type": int, "default": 20, "metavar": "N"}),
    "--profile": ("Read counts of system calls: strace -c output, lines 'name count', or JSON", {"metavar": "FILE"}),
    "--property": ("Prove that 'before' alone has this property (NAME, FILE or TEXT)", {"metavar": "TEXT"}),
    "--refines": ("Prove instead that 'after' is never more permissive than 'before'", _ON),
    "--same": ("Compare all bits of return values (raw), or only their effects on a process",
               {"choices": ("raw", "behaviour", "effect"), "default": "raw"}),
    "--strict": ("Treat warnings as failures", _ON),
    "--timeout": ("Limit proofs and exact analyses to this many seconds", {"type": _seconds, "default": 60.0, "metavar": "SECONDS"}),
    "--to": ("Write the program in this form", {"choices": ("asm", "ddd", "c"), "default": "asm"}),
    "--words": ("Set all sixteen 32-bit words of struct seccomp_data, separated by commas",
                {"type": _words, "required": True, "metavar": "TEXT"}),
}
_HOST = ("--arch", "--cap", "--kernel-version", "--filter")
_READING = ("--from", *_HOST)
_PROOF = ("--same", "--assume", "--timeout", "--max-memory")

_Given = Mapping[str, Any]
_Found = Union[secequiv.Answer, str]


class _Answer(NamedTuple):
    text: str
    document: Any
    status: int
    notes: Sequence[str] = ()  # the text contains them, too


def _named(given: _Given, *names: str) -> Dict[str, Any]:
    """Returns the options of this name as arguments of the package's functions."""
    return {name: given[name] for name in ("arch", *names)}


def _file(name: str) -> Union[bytes, str]:
    return sys.stdin.buffer.read() if name == "-" else os.path.join(os.curdir, name) if "\n" in name else name


def _read(given: _Given, name: str) -> secequiv.Program:
    program = secequiv.parse(_file(name), form=given["from"], arch=given["arch"], kernel=given["kernel_version"], capabilities=given["cap"],
                             filter=given["filter"])
    if not program.is_policy and len(program) > 4096:
        print("secequiv: note: %s has %d instructions, more than the 4096 that the kernel accepts; secequiv examines it anyway" %
              (name, len(program)), file=sys.stderr)
    return program


def _prove(given: _Given) -> _Found:
    options = _named(given, "assume", "timeout", "max_memory")
    before = _read(given, given["before"])
    if given["property"] is None:
        return secequiv.prove(before, _read(given, given["after"]), refines=given["refines"], same=given["same"], **options)
    text = given["property"]
    if os.path.isfile(text):
        with open(text, encoding="utf-8") as file:
            text = file.read()
    return secequiv.prove_property(before, text, **options)


def _one_or_two(given: _Given) -> Sequence[secequiv.Program]:
    return [_read(given, name) for name in given["input"]]


def _cost(given: _Given) -> _Found:
    profile = given["profile"]
    if profile is not None:
        with open(profile, encoding="utf-8") as file:
            profile = file.read()
    one, *two = _one_or_two(given)
    return secequiv.cost(one, *two, profile=profile, **_named(given, "timeout"))


def _lint(given: _Given) -> _Found:
    return secequiv.lint(_file(given["input"]), strict=given["strict"], timeout=given["timeout"], arch=given["arch"],
                         kernel=given["kernel_version"], capabilities=given["cap"], filter=given["filter"])


def _optimize(given: _Given) -> _Found:
    optimized = secequiv.optimize(_read(given, given["input"]), arch=given["arch"])
    return secequiv.disassemble(optimized, form=given["to"], arch=given["arch"])


def _on_one(function: Callable[..., _Found], *names: str) -> Callable[[_Given], _Found]:
    return lambda given: function(_read(given, given["input"]), **_named(given, *names))


# For each command: its text, its options, and its function.
_COMMANDS: Mapping[str, Tuple[str, Sequence[str], Callable[[_Given], _Found]]] = {
    "prove": ("Prove two filters equivalent, or show the smallest input on which they differ",
              ("--refines", "--property", *_PROOF, *_READING, "--json"), _prove),
    "diff": ("Describe and count every input on which two filters, policies or stacks differ",
             ("--max-regions", *_PROOF, *_READING, "--json"),
             lambda given: secequiv.diff(_read(given, given["before"]), _read(given, given["after"]), same=given["same"],
                                         **_named(given, "assume", "timeout", "max_memory", "max_regions"))),
    "why": ("Explain one decision: its rule and conditions, and what would change it", ("--words", *_READING, "--json"),
            lambda given: secequiv.why(_read(given, given["input"]), given["words"], arch=given["arch"])),
    "actions": ("List the action of each system call, and its conditions", ("--same", *_READING, "--json"), _on_one(secequiv.actions, "same")),
    "reach": ("Count the inputs that reach each instruction, or prove that none does", ("--at", "--max-regions", *_READING, "--json"),
              lambda given: secequiv.reach(_read(given, given["input"]), given["at"], **_named(given, "max_regions"))),
    "lint": ("Find rules of a policy that decide nothing, and warn about likely mistakes", ("--strict", "--timeout", *_HOST, "--json"), _lint),
    "lift": ("Turn a filter, or a stack of filters, back into a policy", ("--as", *_READING),
             lambda given: secequiv.lift(_read(given, given["input"]), form=given["as"], arch=given["arch"])),
    "run": ("Emulate one system call through a filter, or through a stack of filters", ("--words", *_READING, "--json"),
            lambda given: secequiv.evaluate(_read(given, given["input"]), given["words"], arch=given["arch"])),
    "cost": ("Count the instructions that a filter executes for each system call", ("--profile", "--timeout", *_READING, "--json"), _cost),
    "cache": ("List the system calls that the kernel answers without running the filter", (*_READING, "--json"),
              lambda given: secequiv.cache(*_one_or_two(given), arch=given["arch"])),
    "optimize": ("Optimize a policy, a program or a stack with the built-in passes", ("--to", *_READING), _optimize),
    "dis": ("Disassemble: show a program as commented bpf_asm text or another form", ("--to", *_READING),
            lambda given: secequiv.disassemble(_read(given, given["input"]), form=given["to"], arch=given["arch"])),
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, "secequiv: %s\nTry '%s --help'. %s\n" % (message, self.prog, _LINUX))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("secequiv", description="Compare seccomp filters: do two make the same decisions for every possible system call?",
                     epilog=_LINUX + " Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input, 3 unknown, 4 the kernel "
                     "would refuse a program.")
    parser.add_argument("--version", action="version", version="secequiv " + secequiv.__version__, help="Print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, options, _) in _COMMANDS.items():
        one = commands.add_parser(name, help=text, description=text, epilog=_LINUX, allow_abbrev=False)
        for option in options:
            help, how = _OPTIONS[option]
            one.add_argument(option, help=help, **{"action": _Once, **how})
        if "--assume" in options:
            one.add_argument("before")
            one.add_argument("after", nargs="?" if name == "prove" else None)
        else:
            one.add_argument("input", nargs="+" if name in ("cost", "cache") else None)
    return parser


def _checked(parser: argparse.ArgumentParser, given: _Given) -> None:
    if given["command"] == "prove" and (given["after"] is None) == (given["property"] is None):
        parser.error("prove: expected two filters, or one and --property")
    if isinstance(given.get("input"), list) and len(given["input"]) > 2:
        parser.error("%s: expected one or two filters, found %d" % (given["command"], len(given["input"])))


def _worded(text: str) -> str:
    """Names options where the library names its own."""
    text = text.replace("the architecture, kernel and capabilities given when parsing", "--arch, --kernel-version, --cap")
    return re.sub("^options[.]", "--", text)


def _answer(given: _Given) -> _Answer:
    """Runs the command."""
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            found = _COMMANDS[given["command"]][2](given)
    except secequiv.SecequivError as error:
        return _Answer("%s\n" % error, error.document, 3 if isinstance(error, secequiv.Unknown) else 4 if isinstance(error, secequiv.Rejected) else 2)
    except MemoryError as error:
        return _Answer("%s\n" % error, None, 3)
    except OSError as error:
        detail = "cannot open: %s" % error.strerror
        document = {"schema": "secequiv.error/1", "error": "io", "where": error.filename, "detail": detail}
        return _Answer("%s: %s\n" % (error.filename, detail), document, 2)
    except ValueError as error:
        return _Answer("%s\n" % error, None, 2)
    if isinstance(found, str):
        return _Answer(found, None, 0)
    return _Answer(found.message, found.document, _STATUS.get(found.verdict, 1), [str(note.message) for note in notes])


def _run(words: Optional[Sequence[str]]) -> int:
    parser = _parser()
    given = vars(parser.parse_args(words))
    _checked(parser, given)
    answer = _answer(given)
    error = answer.status == 2 or (answer.status > 2 and (answer.document is None or "json" not in given))
    if given.get("json") and answer.document is not None:
        print(json.dumps(answer.document, indent=2))
        for note in answer.notes:
            print("secequiv: " + _worded(note), file=sys.stderr)
    elif not error:
        print(_worded(answer.text), end="")
    if error:
        print("secequiv: " + _worded(answer.text), end="", file=sys.stderr)
    return answer.status


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs one command; returns the exit status."""
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter writes the rest at its end
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
