"""Tests that the proven interpreter and acceptance check agree with the naive evaluator, the test vectors and the running kernel."""
# Annex: coq

import os
import random
import re
import signal
import struct
import subprocess
from pathlib import Path

import evaluator
import pytest
from cli_tool import run
from evaluator import LONG
from naive import accept as naive_accept
from naive import live, naive, random_programs, vectors
from naive.naive import Insn


def differences(cases, one, other):
    """Returns the first cases with different answers. pytest would take minutes to compare long lists."""
    assert len(cases) == len(one) == len(other)
    return [found for found in zip(cases, one, other) if found[1] != found[2]][:3]


def test_all_vectors_pass(built, tmp_path, monkeypatch):
    """Runs every vector with the proven functions in place of the naive ones."""
    def accept(program, forgive_length=False):
        if not forgive_length or not program:
            return evaluator.acceptance(built, [program])[0]
        got = evaluator.evaluate(built, tmp_path, program, [])
        return got if isinstance(got, tuple) else None

    loaded = [vector for path in vectors.find_files() for vector in vectors.load(path)]
    assert len(loaded) >= 620
    monkeypatch.setattr(vectors, "accept", accept)
    monkeypatch.setattr(naive, "run", lambda program, data: evaluator.evaluate(built, tmp_path, program, [data])[0])
    monkeypatch.setattr(naive, "run_stack", lambda programs, data: evaluator.evaluate_stack(built, tmp_path, programs, [data])[0])
    monkeypatch.setattr(naive, "observed", lambda value: evaluator.observed(built, [value])[0])
    assert [failure for vector in loaded for failure in vectors.check(vector)] == []


def inputs_for(rng, program, count):
    """Returns inputs whose words are near the constants of the program."""
    near = [insn.k for insn in program] or [0]
    words = [rng.choice([0, 1, 0xFFFFFFFF, rng.getrandbits(32), (rng.choice(near) + rng.randint(-1, 1)) & 0xFFFFFFFF]) for _ in range(16 * count)]
    return [struct.pack("<16I", *words[16 * at:16 * at + 16]) for at in range(count)]


def test_random_evaluations_agree_with_the_naive_evaluator(built, tmp_path):
    rng, compared = random.Random(5), 0
    while compared < (100000 if LONG else 10000):
        program = random_programs.program(rng, rng.choice([3, 8, 20, 60]))
        inputs = inputs_for(rng, program, 400)
        got = evaluator.evaluate(built, tmp_path, program, inputs)
        assert differences(inputs, got, [naive.run(program, data) for data in inputs]) == [], program
        compared += len(inputs)


def test_random_stacks_agree_with_the_naive_evaluator(built, tmp_path):
    rng = random.Random(6)
    actions = [0x80000000, 0, 0x30000, 0x50001, 0x7FC00000, 0x7FF00000, 0x7FFC0000, 0x7FFF0000, 0x12340000, 0xFFFF0000]
    for _ in range(200):
        stack = []
        for _ in range(rng.randint(2, 4)):
            values = [rng.choice(actions) | rng.randrange(3) for _ in range(2)]
            stack.append([Insn(0x20, 0, 0, 0), Insn(0x15, 0, 1, rng.randrange(3)), Insn(6, 0, 0, values[0]), Insn(6, 0, 0, values[1])])
        inputs = [struct.pack("<16I", nr, *[0] * 15) for nr in range(4)]
        assert evaluator.evaluate_stack(built, tmp_path, stack, inputs) == [naive.run_stack(stack, data) for data in inputs], stack


def test_fuzzing_finds_no_difference_from_the_interpreter_and_the_kernel(built):
    """Both runs use the same programs and inputs, so the proven interpreter agrees with the running kernel. The kernel cannot run a few
    programs of 4096 instructions."""
    trials = 45000 if LONG else 1500
    counts = []
    for evaluator_under_test in ("serve:%s --serve" % (built / "secequiv-evaluate"), "kernel"):
        done = run("fuzz", "--evaluator", evaluator_under_test, "--trials", trials, "--seed", 7)
        if evaluator_under_test == "kernel" and done.status == 3:
            pytest.skip(done.err)
        assert done.status == 0, done
        counts.append(int(re.search(r"pass \(no failure in (\d+) evaluations", done.out)[1]))
    assert counts[0] == 24 * trials and counts[1] >= counts[0] * 0.999


def test_fuzz_semantics_finds_no_disagreement(built):
    """The fuzz target compares an evaluator with the naive evaluator in C++; a disagreement, or no answer, ends it by SIGABRT."""
    target = Path(os.environ["SECEQUIV_BIN"]) / "fuzz_semantics"
    if not target.exists():
        pytest.skip("the fuzz targets are not built (cmake --build --preset dev)")
    runs = 100000 if LONG else 5000
    for served, status in (("%s --serve" % (built / "secequiv-evaluate"), 0), ("false", -signal.SIGABRT)):
        done = subprocess.run([target, "--evaluator=serve:" + served, "--runs=%d" % runs], capture_output=True, text=True, timeout=600)
        assert done.returncode == status, done.stdout + done.stderr
    assert "no answer" in done.stderr


def nearly_legal(rng):
    """Returns a random program that is legal, or close to it."""
    program = random_programs.program(rng, rng.choice([1, 2, 4, 8, 16])) if rng.random() < 0.5 else [
        random_programs.instruction(rng, 8, 4, 16) for _ in range(rng.randrange(9))]
    for _ in range(rng.choice([0, 1, 1, 2])):
        if program:
            at = rng.randrange(len(program))
            change = rng.choice([
                lambda insn: insn._replace(code=rng.choice([rng.randrange(256), insn.code ^ 8, rng.getrandbits(16)])),
                lambda insn: insn._replace(k=rng.choice([0, 3, 15, 16, 31, 32, 60, 63, 64, len(program) - at - 1, 0xFFFFF000, 0xFFFFF03C, rng.getrandbits(32)])),
                lambda insn: insn._replace(jt=rng.choice([len(program) - at - 1, max(0, len(program) - at - 2), 255])),
                lambda insn: insn._replace(jf=rng.choice([len(program) - at - 1, max(0, len(program) - at - 2), 255])),
                lambda insn: Insn(rng.choice([0x60, 0x61]), 0, 0, rng.randrange(16))])
            program[at] = change(program[at])
    return program


@pytest.fixture(scope="module")
def candidates():
    rng = random.Random(9)
    return [nearly_legal(rng) for _ in range(100000 if LONG else 10000)] + [
        [Insn(6, 0, 0, 0)] * length for length in (0, 1, 4095, 4096, 4097)] + [[Insn(0x20, 0, 0, k), Insn(6, 0, 0, 0)] for k in (0xFFFFF001, 0xFFFFF040)]


def test_acceptance_agrees_with_the_naive_check(built, candidates):
    got = evaluator.acceptance(built, candidates)
    assert differences(candidates, got, [naive_accept.accept(program) for program in candidates]) == []
    rules = {refusal[0] for refusal in got if refusal}
    assert rules == set(vectors.RULES) and sum(refusal is None for refusal in got) > len(candidates) // 5


def test_acceptance_agrees_with_the_kernel(built, candidates):
    try:
        accepted = live.accepts_all(candidates)
    except live.LiveError as error:
        pytest.skip(str(error))
    assert differences(candidates, accepted, [refusal is None for refusal in evaluator.acceptance(built, candidates)]) == []


def test_observed_agrees_with_the_naive_evaluator(built):
    rng = random.Random(2)
    actions = [0x80000000, 0, 0x30000, 0x50000, 0x7FC00000, 0x7FF00000, 0x7FFC0000, 0x7FFF0000]
    values = [rng.choice(actions) | rng.choice([0, 1, 4095, 4096, 0xFFFF, rng.getrandbits(16)]) for _ in range(2000)]
    values += [rng.getrandbits(32) for _ in range(500)]
    got = dict(zip(values, evaluator.observed(built, values)))
    same = {}
    for value in values:  # the naive evaluator has pairs instead of numbers, so compare which values are the same
        assert same.setdefault(got[value], naive.observed(value)) == naive.observed(value)
        assert naive.observed(got[value]) == naive.observed(value)
    assert len(same) == len(set(map(naive.observed, values)))
