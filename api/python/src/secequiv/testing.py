"""Assertions for tests of filters. What they raise shows the smallest input that speaks against them; time that ran out
(`secequiv.Unknown`) is an error and no pass. Options are those of `secequiv.prove`."""

from typing import Any

from . import Filter, prove

__all__ = ["assert_equivalent", "assert_refines"]


def _assert(claim: str, before: Filter, after: Filter, refines: bool, options: Any) -> None:
    __tracebackhide__ = True
    if "refines" in options:
        raise TypeError("'refines' is no option of an assertion: assert_equivalent and assert_refines say which is meant")
    proof = prove(before, after, refines=refines, **options)
    if not proof:
        raise AssertionError("%s\n%s" % (claim, proof.message))


def assert_equivalent(before: Filter, after: Filter, **options: Any) -> None:
    """The two make the same decision for every possible system call."""
    __tracebackhide__ = True
    _assert("the filters make different decisions", before, after, False, options)


def assert_refines(before: Filter, after: Filter, **options: Any) -> None:
    """`after` is never more permissive than `before`."""
    __tracebackhide__ = True
    _assert("'after' is more permissive than 'before'", before, after, True, options)
