"""Changes one instruction of real optimized filters. secequiv shows a difference, proves equivalence, or refuses the change as
the kernel does. The naive evaluator confirms each witness. Mutants are pseudo-random but the same in every run."""

import functools
import random

import pytest
from cli_tool import accept, confirmed, evaluate, pairs, read_raw, report, run, words_bytes, write_raw

PAIRS = {name: (before, after) for name, before, after, _ in pairs()}
PER_PAIR, PER_LARGE_PAIR = 12, 9
SAMPLES = 1000  # if a mutant is reported as equivalent, both programs must agree on this many inputs
LARGE = 3000  # instructions; a larger pair gets fewer mutants, and only one run of `check`, because each run takes seconds

LOAD, RETURN = 0x20, 0x06
JUMPS = (0x15, 0x25, 0x35, 0x45)  # JEQ, JGT, JGE, JSET with K


def with_constant(rng, insn):
    if rng.random() < 0.5:
        return insn._replace(k=(insn.k + rng.choice((-1, 1))) % (1 << 32))
    return insn._replace(k=insn.k ^ 1 << rng.randrange(32))


def with_target(rng, insn):
    kind = rng.choice(("swap", "jt", "jf"))
    if kind == "swap" and insn.jt != insn.jf:
        return insn._replace(jt=insn.jf, jf=insn.jt)
    side = "jf" if kind == "jf" else "jt"
    return insn._replace(**{side: max(0, min(255, getattr(insn, side) + rng.choice((-1, 1))))})


def with_opcode(rng, insn):
    return insn._replace(code=rng.choice([code for code in JUMPS if code != insn.code]))


def with_offset(rng, insn):
    return insn._replace(k=rng.choice([at for at in range(0, 64, 4) if at != insn.k]))


KINDS = (("constant", JUMPS, with_constant), ("target", JUMPS, with_target), ("opcode", JUMPS, with_opcode),
         ("return", (RETURN,), with_constant), ("offset", (LOAD,), with_offset))


def mutants(name, program, count):
    """Returns `count` distinct mutants as (kind, pc, program); the kinds take turns."""
    rng = random.Random(name)
    made = []
    while len(made) < count:
        kind, codes, change = KINDS[len(made) % len(KINDS)]
        pc = rng.choice([pc for pc, insn in enumerate(program) if insn.code in codes])
        insn = change(rng, program[pc])
        mutant = program[:pc] + [insn] + program[pc + 1:]
        if insn != program[pc] and mutant not in [other for *_, other in made]:
            made.append((kind, pc, mutant))
    return made


def sample(name, first, second):
    """Returns inputs made from the programs' constants and from random words."""
    rng = random.Random(name)
    values = sorted({(insn.k + d) % (1 << 32) for insn in first + second if insn.code in JUMPS for d in (-1, 0, 1)})
    arches = [value for value in values if value & 0x80000000] or values
    for _ in range(SAMPLES):
        words = [rng.choice(values) if rng.random() < 0.7 else rng.getrandbits(32) for _ in range(16)]
        words[1] = rng.choice(arches + [0xC000003E] * len(arches))
        for at in range(5, 16, 2):  # high halves are zero more often than not
            words[at] *= rng.random() < 0.3
        yield words_bytes(words)


@functools.lru_cache(maxsize=None)
def tried(name, folder):
    """Tries every mutant of a pair and checks each verdict; returns [(kind, pc, exit status)]."""
    before_file, after_file = PAIRS[name]
    before, after = read_raw(before_file.read_bytes()), read_raw(after_file.read_bytes())
    large = len(before) > LARGE
    outcomes = []
    for index, (kind, pc, mutant) in enumerate(mutants(name, after, PER_LARGE_PAIR if large else PER_PAIR)):
        path = folder / ("%s-%d.bpf" % (name, index))
        path.write_bytes(write_raw(mutant))
        command = "check" if index < (1 if large else 3) else "prove"
        document, done = report(command, before_file, path)
        what = (name, index, kind, pc)
        refusal = accept(mutant)
        assert (done.status == 4) == (refusal is not None), what
        if done.status == 1:
            first, second = confirmed(document, before, mutant)
            assert first != second, what
            # On this input, the optimized program without the change returns the same as the unoptimized one.
            assert evaluate(after, words_bytes(document["witness"]["data"]["words"])) == first, what
        elif done.status == 0:
            assert document["verdict"] in ("equivalent", "pass"), what
            for data in sample("%s %d" % (name, index), before, mutant):
                assert evaluate(before, data) == evaluate(mutant, data), what
        else:
            assert done.status == 4, (what, done)
            assert refusal[0] in document.get("detail", document.get("reason")), what
        outcomes.append((kind, pc, done.status))
    return outcomes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mutants")


@pytest.mark.parametrize("name", PAIRS)
def test_mutants_are_refuted_with_a_witness_or_proven_equivalent(name, folder):
    outcomes = tried(name, folder)
    assert sum(status == 1 for *_, status in outcomes) >= len(outcomes) / 2 >= PER_LARGE_PAIR / 2, outcomes


def test_nearly_all_mutants_differ(folder):
    outcomes = [outcome for name in PAIRS for outcome in tried(name, folder)]
    statuses = [status for *_, status in outcomes]
    assert len(outcomes) >= 11 * len(PAIRS) >= 132
    assert statuses.count(1) >= 0.8 * len(statuses), {status: statuses.count(status) for status in sorted(set(statuses))}
    assert {kind for kind, _, status in outcomes if status == 1} == {kind for kind, *_ in KINDS}


def test_text_and_json_agree(folder):
    name = "gvisor-kvm"
    before, _ = PAIRS[name]
    statuses = [status for *_, status in tried(name, folder)]
    for index, status in enumerate(statuses):
        done = run("prove", before, folder / ("%s-%d.bpf" % (name, index)))
        assert done.status == status
        last = done.out.splitlines()[-1]
        assert last.split(" ")[0].rstrip(":") == {0: "equivalent", 1: "different", 4: "rejected"}[status]
