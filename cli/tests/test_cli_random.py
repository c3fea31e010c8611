"""Tests random legal programs with all opcodes: `diff` and `prove` answer for all inputs; the naive evaluator checks a small set
of inputs."""

import collections
import os
import random

from cli_tool import Insn, accept, evaluate, report, words_bytes, write_raw

# The values of words in the inputs that the test enumerates (the box); all other words are 0. The values lie near 0 and near the sign
# bit. Some have more bits, for shifts and products.
FREE = {0: (0, 1, 2, 3), 1: (0xC000003E, 0xC000003F), 4: (0, 1, 2, 3), 5: (0, 0x80000000)}
BOX = [[nr, arch, 0, 0, low, high] + [0] * 10 for nr in FREE[0] for arch in FREE[1] for low in FREE[4] for high in FREE[5]]
ASSUME = "nr < 4 && arch & 0xfffffffe == 0xc000003e && ip == 0 && arg0.lo < 4 && arg0.hi & 0x7fffffff == 0 && " + \
    " && ".join("arg%d == 0" % i for i in range(1, 6))
CONSTANTS = [0, 1, 2, 3, 5, 31, 32, 0x7FFFFFFF, 0x80000000, 0xC000003E, 0xC000003F, 0xFFFFFFFE, 0xFFFFFFFF]
ALU = [base | source for base in (0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74, 0xA4) for source in (0, 8)] + [0x84]
JUMPS = [0x15, 0x1D, 0x25, 0x2D, 0x35, 0x3D, 0x45, 0x4D]
FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"  # the development build; other builds test fewer cases
RESULTS = [0x7FFF0000, 0x50001, 0, 1]


def random_insn(rng, pc, length):
    left = length - pc - 2  # the longest jump
    kind = rng.randrange(12)
    if pc == length - 1 or kind == 0:
        return Insn(0x16, 0, 0, 0) if rng.random() < 0.5 else Insn(0x06, 0, 0, rng.choice(RESULTS))
    if kind < 4:
        return Insn(0x20, 0, 0, 4 * rng.choice([0, 0, 1, 4, 4, 5, 5, 6]))
    if kind < 7:
        code = rng.choice(ALU)
        k = rng.choice(CONSTANTS)
        return Insn(code, 0, 0, k % 32 if code in (0x64, 0x74) else k or 1)
    if kind < 9:
        return Insn(rng.choice(JUMPS), rng.randint(0, min(left, 4)), rng.randint(0, min(left, 4)), rng.choice(CONSTANTS))
    code = rng.choice([0x07, 0x87, 0x01, 0x00, 0x80, 0x81, 0x02, 0x03, 0x60, 0x61, 0x02, 0x60, 0x05])
    if code == 0x05:
        return Insn(code, 0, 0, rng.randint(0, min(left, 3)))
    memory = code in (0x02, 0x03, 0x60, 0x61)
    return Insn(code, 0, 0, rng.randrange(2) if memory else rng.choice(CONSTANTS) if code in (0, 1) else 0)


def random_pair(rng):
    """Returns a legal program, and a copy with one or two instructions replaced; the two may be equivalent."""
    while True:
        length = rng.randint(3, 14)
        before = [random_insn(rng, pc, length) for pc in range(length)]
        after = list(before)
        for _ in range(rng.randint(1, 2)):
            pc = rng.randrange(length)
            after[pc] = random_insn(rng, pc, length)
        if accept(before) is None and accept(after) is None:
            return before, after


ORDER = [0x80000000, 0, 0x30000, 0x50000, 0x7FC00000, 0x7FF00000, 0x7FFC0000, 0x7FFF0000]


def rank(value):
    """Returns a number that is larger for more permissive actions of the kernel; unknown actions kill the process."""
    action = value & 0xFFFF0000
    return ORDER.index(action) if action in ORDER else 0


def test_diff_and_prove_agree_with_the_naive_evaluator(tmp_path):
    rng = random.Random(20)
    before_file, after_file = tmp_path / "before.bpf", tmp_path / "after.bpf"
    seen = {"equal": 0, "in part": 0, "computed": 0}
    opcodes, undecided, pairs = set(), 0, 300 if FULL else 150
    for _ in range(pairs):
        before, after = random_pair(rng)
        opcodes |= {insn.code for insn in before + after}
        before_file.write_bytes(write_raw(before)), after_file.write_bytes(write_raw(after))
        expected = {}
        for call in BOX:
            values = evaluate(before, words_bytes(call)), evaluate(after, words_bytes(call))
            if values[0] != values[1]:
                expected[tuple(call)] = values
        document, done = report("diff", before_file, after_file, "--assume", ASSUME, "--max-regions", 0, "--max-memory", 16)
        if done.status == 3:  # products and quotients of words exceed the diagrams' limits; then the solver decides
            undecided += 1
        else:
            assert int(document["count"]) == len(expected), (before, after)
            numbers = collections.Counter(expected.values())
            for change in document["changes"]:
                if all("value" in (change[side] or {}) for side in ("before", "after")):
                    key = int(change["before"]["value"], 16), int(change["after"]["value"], 16)
                    assert int(change["count"]) <= numbers[key], (before, after)
                else:
                    seen["computed"] += 1
        seen["equal"] += not expected
        seen["in part"] += 0 < len(expected) < len(BOX)
        proof, done = report("prove", before_file, after_file, "--assume", ASSUME)
        assert done.status == (1 if expected else 0), (before, after)
        if expected:
            shown = tuple(proof["witness"]["data"]["words"])
            assert shown in expected, (before, after)
            looser = {call for call, (was, now) in expected.items() if rank(now) > rank(was)}
            if proof["direction"]["complete"]:
                assert shown in (looser or expected), (before, after)
                assert bool(looser) == proof["direction"]["summary"].startswith("LOOSER: "), (before, after)
    assert undecided <= pairs // 12
    assert min(seen.values()) > pairs // 12
    assert not FULL or len(opcodes) == len(ALU) + len(JUMPS) + 14  # all legal opcodes occurred
