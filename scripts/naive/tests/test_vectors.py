"""Runs every vector of the corpus through the naive evaluator, one test each."""

import pytest

from .. import vectors

# pytest loads the vectors when it collects tests, so a malformed file is a collection error with file and line.
CORPUS = [vector for path in vectors.find_files() for vector in vectors.load(path)]


def test_the_corpus_has_enough_vectors():
    assert len(CORPUS) >= 150


def test_every_rule_has_a_vector():
    assert {vector.refusal[0] for vector in CORPUS if vector.refusal} == set(vectors.RULES)


@pytest.mark.parametrize("vector", CORPUS, ids=lambda vector: "%s:%s" % (vector.path.rsplit("/", 1)[-1], vector.name))
def test_the_naive_evaluator_passes_the_vector(vector):
    failures = vectors.check(vector)
    assert not failures, "\n".join(failures)
