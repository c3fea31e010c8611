"""Tests scripts/bench hard: the table, with times written by hand, and that the generated pairs are what they claim to be."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_hard as bench  # noqa: E402
import hard_pairs  # noqa: E402

NOBODY = {"z3": ("unknown", 60.0), "bitwuzla": None, "cvc5": ("unknown", 60.0)}


@pytest.mark.parametrize("ours, others, expected", [
    (("unsat", 0.5), {**NOBODY, "z3": ("unsat", 1.0)}, ["0.500", "1.000", "missing", "unknown", "2.0", ">= 2", "met"]),
    (("unsat", 0.6), {**NOBODY, "cvc5": ("unsat", 1.0)}, ["0.600", "unknown", "missing", "1.000", "1.7", ">= 2", "missed"]),
    (("unsat", 0.6), NOBODY, ["0.600", "unknown", "missing", "unknown", None, None, "only secequiv decides"]),
    (("unknown", 60.0), NOBODY, [None, "unknown", "missing", "unknown", None, None, "nobody decides"]),
    (("unknown", 60.0), {**NOBODY, "z3": ("unsat", 9.0)}, [None, "9.000", "missing", "unknown", None, "decided", "missed"]),
])
def test_compares_with_the_best_other_solver(ours, others, expected):
    assert bench.row("a", "unsat", ours, others) == ["a", "unsat", *expected]


@pytest.mark.parametrize("ours, others", [(("sat", 1.0), NOBODY), (("unsat", 1.0), {**NOBODY, "cvc5": ("sat", 1.0)})])
def test_a_wrong_answer_is_an_error(ours, others):
    with pytest.raises(RuntimeError, match="answers sat, expected unsat"):
        bench.row("a", "unsat", ours, others)


@pytest.mark.parametrize("family", hard_pairs.FAMILIES, ids=lambda family: family.__name__)
def test_pairs_are_generated_from_the_seed(family):
    before, equal, different = family(random.Random(5))
    assert family(random.Random(5)) == (before, equal, different) and len({before, equal, different}) == 3
