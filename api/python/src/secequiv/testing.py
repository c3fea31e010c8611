"""Assertions for tests of filters. A failure shows the smallest input that contradicts the assertion. If a limit runs out,
the assertion raises `secequiv.Unknown` and never passes. Options are those of `secequiv.prove`."""

import json
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from . import Filter, prove, prove_property
from ._serve import Insn, Optimizer, run
from ._types import SecequivError, Unknown

__all__ = ["Insn", "Optimizer", "assert_equivalent", "assert_optimizer", "assert_property", "assert_refines"]


def _assert(claim: str, before: Filter, after: Filter, refines: bool, options: Any) -> None:
    __tracebackhide__ = True
    if "refines" in options:
        raise TypeError("'refines' is not an option of assertions; call assert_equivalent or assert_refines")
    proof = prove(before, after, refines=refines, **options)
    if not proof:
        raise AssertionError(proof.message + claim)  # its first line states whether anything became more permissive


def assert_equivalent(before: Filter, after: Filter, **options: Any) -> None:
    """Assert that the two filters make the same decision for every possible system call."""
    __tracebackhide__ = True
    _assert("the filters make different decisions", before, after, False, options)


def assert_refines(before: Filter, after: Filter, **options: Any) -> None:
    """Assert that `after` is never more permissive than `before`."""
    __tracebackhide__ = True
    _assert("'after' is more permissive than 'before'", before, after, True, options)


def assert_property(program: Filter, property: str, **options: Any) -> None:
    """Assert that the filter has the property: a name of the library ("no-ptrace"), or clauses ("refused: ptrace")."""
    __tracebackhide__ = True
    answer = prove_property(program, property, **options)
    if not answer:
        raise AssertionError(answer.message + "the filter does not have the property")


def assert_optimizer(optimize: Optimizer, *, trials: int = 1000, seed: int = 1, same: str = "raw", request_timeout: float = 10,
                     allow_unproven: bool = False, programs: Sequence[Union[str, "os.PathLike[str]"]] = (),
                     save: Optional[Union[str, "os.PathLike[str]"]] = None) -> None:
    """Assert that `optimize` preserves the decisions of `trials` programs. The assertion also fails if `optimize` returns a
    program that the kernel refuses, loses a call that the kernel caches, raises an exception (also in a thread), or needs more than
    `request_timeout` seconds. `optimize` gets a list of `Insn` and returns such a list, or a list of tuples. It runs in forks
    of this process. After its last program, a fork has five seconds to end: later failures do not count.

    Without `programs`, the programs are generated. With `programs`, they are the programs in these files and folders, and changed
    copies of them. Every answer must be proven equivalent within ten seconds, or `Unknown` is raised; with `allow_unproven`,
    answers that no engine could prove are only compared on inputs. The program of a finding is written to the folder `save`, or to a
    new temporary folder. The assertion runs the command line: $SECEQUIV, the one of this installation, or secequiv on PATH."""
    __tracebackhide__ = True
    folder = os.fspath(save) if save is not None else tempfile.mkdtemp(prefix="secequiv-findings-")
    arguments = ["fuzz", "--json", "--save", folder, "--no-scaling", "--stop-at-first", "--trials", str(trials), "--seed", str(seed),
                 "--same", same, "--request-timeout", str(request_timeout)]
    if not allow_unproven:
        arguments.append("--require-proof")
    for path in programs:
        arguments += ["--programs", os.fspath(path)]
    failures = ""
    try:
        status, output, errors, ends = run(arguments, optimize)
        document = _document(output)
        failures = "".join(_failure(finding) for finding in document.get("findings", ()) if finding["failure"])
    except FileNotFoundError as error:
        raise SecequivError("cannot be started (set SECEQUIV, or PATH): %s" % error) from None
    finally:
        if save is None and not failures:
            shutil.rmtree(folder)
    if status == 3:
        raise Unknown(document.get("reason") or errors or output, document)
    if status == 2 or status < 0:
        raise SecequivError(errors or "ended by signal %d" % -status, document)
    if failures:
        raise AssertionError(failures + "the optimizer is wrong")
    if status != 0 or document.get("verdict") != "pass":
        raise SecequivError("exit status %d, and no report: %s" % (status, errors), document)
    if ends:
        statuses = ", ".join(map(str, sorted(set(ends))))
        raise AssertionError("a fork of the test process failed after its last answer (exit status %s)\nthe optimizer is wrong" % statuses)


def _failure(finding: Any) -> str:
    """Returns the text of a finding and how to repeat it with pytest. Also replaces the command that is stored in the finding's file, because
    that command would need this process."""
    if not finding.get("file"):
        return str(finding["text"])
    file = Path(finding["file"]).resolve()
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    how = "add programs=[%r] to assert_optimizer and run %s" % (str(file), "pytest " + shlex.quote(test) if test else "the test again")
    try:
        file.write_text(re.sub("^; replay: .*$", lambda _: "; replay: " + how, file.read_text(), flags=re.MULTILINE))
    except OSError:
        pass  # the message has it, too
    return "%s  replay: %s\n" % (finding["text"], how)


def _document(output: str) -> Any:
    try:
        return json.loads(output)
    except ValueError:
        return {}
