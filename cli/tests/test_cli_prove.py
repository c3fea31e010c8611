"""Tests `secequiv prove`: the smallest witness, the right verdict, and a query that other solvers can read."""

import ctypes
import ctypes.util
import random
import re

import pytest
from cli_tool import POLICIES, PROGRAMS, agrees, confirmed, evaluate, pairs, program, report, run, words_bytes

WORDS = 16
X86_64 = 0xC000003E


def different(asm, before, after):
    """Returns the smallest witness of a pair, after the naive evaluator has confirmed that the programs differ on it."""
    document, done = report("prove", asm(before), asm(after))
    assert done.status == 1, document
    assert document["minimal"] is True
    first, second = confirmed(document, program(before), program(after))
    assert first != second
    return document["witness"]["data"]["words"]


def only_at(point, inside, outside):
    """Returns a program that returns `inside` for the 16 words of `point` and `outside` for every other input."""
    text = "".join("ld [%d]\njeq #%d, n%d\nret #%d\nn%d: " % (4 * i, word, i, outside, i) for i, word in enumerate(point))
    return text + "ret #%d\n" % inside


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_at_one_input_is_found(seed, asm):
    rng = random.Random(seed)
    point = [rng.choice((0, 1, rng.getrandbits(32), 0xFFFFFFFF)) if seed else rng.getrandbits(32) for _ in range(WORDS)]
    assert different(asm, only_at(point, 0x7FFF0000, 0x80000000), "ret #0x80000000\n") == point
    document, done = report("check", asm(only_at(point, 1, 2)), asm("ret #2"))
    assert done.status == 1 and document["witness"]["data"]["words"] == point


@pytest.mark.parametrize("bit", [0, 13, 31, 32, 47, 63])
def test_a_difference_in_one_bit_of_the_instruction_pointer_is_found(bit, asm):
    text = "ld [%d]\njset #%#x, set, clear\nset: ret #%%d\nclear: ret #7\n" % (8 + bit // 32 * 4, 1 << bit % 32)
    words = [0] * WORDS
    words[1] = X86_64  # a known system call comes first
    words[2 + bit // 32] = 1 << bit % 32
    assert different(asm, text % 1, text % 2) == words
    document, _ = report("prove", asm(text % 1), asm(text % 2))
    assert int(document["witness"]["data"]["ip"], 16) == 1 << bit
    shown = run("prove", asm(text % 1), asm(text % 2)).out
    assert "ip=%#x" % (1 << bit) in shown and "fewest non-zero words" in shown


def at(**words):
    return [words.get("w%d" % i, 0) for i in range(WORDS)]


SMALLEST = [
    # One later word suffices: few words take precedence over small values.
    ("ld [0]\njge #5, n1, n2\nn1: ld [16]\njset #1, hit, n2\nn2: ld [60]\njeq #9, hit, miss\nhit: ret #1\nmiss: ret #0", at(w1=X86_64, w15=9)),
    # Most witnesses need three words and few need one, so clearing words of the first witness is not enough.
    ("ld [16]\njeq #0, n1, two\ntwo: ld [20]\njeq #0, n1, three\nthree: ld [24]\njeq #0, n1, hit\n"
     "n1: ld [60]\njeq #0x12345678, hit, miss\nhit: ret #1\nmiss: ret #0", at(w1=X86_64, w15=0x12345678)),
    # A known system call takes precedence over fewer words.
    ("ld [60]\njeq #0, n1, two\ntwo: ld [56]\njset #0xffff, three, n1\nthree: ld [52]\njgt #77, hit, n1\n"
     "n1: ld [0]\njeq #0x12345678, hit, miss\nhit: ret #1\nmiss: ret #0", at(w1=X86_64, w13=78, w14=1, w15=1)),
    # The first word alone suffices, so it must not become 0 in exchange for three other words.
    ("ld [0]\nmul #0x9e3779b1\nxor #0x5bd1e995\nmul #0x01000193\njeq #0xca307281, hit, n1\nn1: ld [60]\njset #1, two, miss\n"
     "two: ld [56]\njset #2, three, miss\nthree: ld [52]\njset #4, hit, miss\nhit: ret #1\nmiss: ret #0", at(w0=0xC0FFEE)),
    # One of two words suffices; the first word is smallest if it is 0, so the witness uses the second.
    ("ld [16]\nldx #0\ntax\nld [20]\nadd x\njeq #10, hit, miss\nhit: ret #1\nmiss: ret #0", at(w1=X86_64, w5=10)),
    # No single word suffices. The product exceeds the diagrams' limits, so the witness need not be a known call.
    ("ld [16]\ntax\nld [24]\nmul x\njge #6, hit, miss\nhit: ret #1\nmiss: ret #0", at(w4=1, w6=6)),
    ("ld [4]\njgt #0xc000003d, on, miss\non: ld [0]\njgt #4, hit, miss\nhit: ret #1\nmiss: ret #0", at(w0=5, w1=0xC000003E)),
    ("ret #1", at(w1=X86_64)),
    ("ld [28]\njset #0x80000000, hit, miss\nhit: ret #1\nmiss: ret #0", at(w1=X86_64, w7=0x80000000)),
]


@pytest.mark.parametrize("text, words", SMALLEST, ids=range(len(SMALLEST)))
def test_the_witness_is_the_smallest(text, words, asm):
    assert different(asm, text + "\n", "ret #0\n") == words


def test_a_witness_uses_the_byte_order_of_its_architecture(asm):
    # On s390x the high half comes first: offset 16 holds it.
    text = "ld [4]\njeq #0x80000016, n1, miss\nn1: ld [16]\njeq #0x12345678, n2, miss\nn2: ld [20]\njeq #0x9, hit, miss\n"
    text += "hit: ret #1\nmiss: ret #0\n"
    document, _ = report("prove", asm(text), asm("ret #0"))
    data = document["witness"]["data"]
    assert data["args"][0] == "0x1234567800000009" and data["arch_name"] == "s390x"
    assert data["words"][4:6] == [0x12345678, 9]
    agrees(document["witness"])
    shown = run("prove", asm(text), asm("ret #0")).out
    assert re.search(r"args\[0\]\.hi += 0x12345678", shown) and re.search(r"args\[0\]\.lo += 0x00000009", shown)


def test_programs_too_long_to_be_installed_are_compared():
    _, before, after, _ = next(pair for pair in pairs() if pair[0] == "gvisor-systrap-everything")
    document, done = report("prove", before, after)
    assert done.status == 0 and document["verdict"] == "equivalent" and "more than the 4096" in done.err
    profile = POLICIES / "oci" / "docker-default.json"
    for command in (["why"], ["actions"], ["prove", profile]):
        assert "4096" not in run(*command, profile).err, "nobody installs our unoptimized compilation"


def test_swapping_the_programs_swaps_the_results(asm, getpid, getpid_enoent):
    one, _ = report("prove", getpid, getpid_enoent)
    two, _ = report("prove", getpid_enoent, getpid)
    assert one["witness"]["before"] == two["witness"]["after"] and one["witness"]["data"] == two["witness"]["data"]


def test_a_rejected_program_is_named(asm, getpid):
    bad = asm("ld [0]\n")
    document, done = report("prove", getpid, bad)
    assert (done.status, document["verdict"], document["file"]) == (4, "rejected", str(bad))
    shown = run("prove", getpid, bad)
    assert shown.out.startswith("rejected: %s:1: last_not_ret" % bad)


def test_division_by_zero_ends_the_program(asm):
    one = "ld [16]\ntax\nld [20]\ndiv x\nret #5\n"
    assert different(asm, one, "ret #5\n") == at(w1=X86_64)
    assert evaluate(program(one), words_bytes(at(w1=X86_64))) == 0


def solve(text):
    """Returns the answer of Z3's library to SMT-LIB text."""
    name = ctypes.util.find_library("z3")
    z3 = ctypes.CDLL(name)
    for function in (z3.Z3_mk_config, z3.Z3_mk_context, z3.Z3_eval_smtlib2_string):
        function.restype = ctypes.c_void_p
    context = ctypes.c_void_p(z3.Z3_mk_context(ctypes.c_void_p(z3.Z3_mk_config())))
    z3.Z3_set_error_handler(context, None)  # by default an error ends the process
    answer = z3.Z3_eval_smtlib2_string(context, ctypes.c_char_p(text.encode()))
    return ctypes.string_at(answer).decode()


def emitted(first, second, tmp_path, *options):
    out = tmp_path / "query.smt2"
    done = run("prove", first, second, "--emit-smt2", out, *options)
    assert done.status in (0, 1, 3), done
    text = out.read_text()
    assert text.count("(check-sat)") == text.count("(set-logic QF_BV)") == 1
    return done.status, text, solve(text)


def test_smt2_of_a_difference_is_satisfiable(asm, tmp_path):
    point = list(range(1, 17))
    status, text, answer = emitted(asm(only_at(point, 1, 2)), asm("ret #2"), tmp_path)
    assert status == 1 and answer.split()[0] == "sat", answer
    assert set(re.findall(r"declare-fun (word\d+) ", text)) == {"word%d" % i for i in range(WORDS)}
    if "define-fun" in answer:
        values = dict(re.findall(r"define-fun word(\d+) \(\) \(_ BitVec 32\)\s+#x([0-9a-f]{8})", answer))
        assert [int(values[str(i)], 16) for i in range(WORDS)] == point


@pytest.mark.parametrize("before, after", [("gvisor/kvm.before.bpf", "gvisor/kvm.after.bpf"),
                                           ("libseccomp/allow306.linear.bpf", "libseccomp/allow306.tree.bpf")])
def test_smt2_of_an_equivalence_is_unsatisfiable(before, after, tmp_path):
    status, text, answer = emitted(PROGRAMS / before, PROGRAMS / after, tmp_path)
    # Z3 prints an error after unsat, because get-model finds no model.
    assert status == 0 and answer.split()[0] == "unsat", answer


def test_smt2_respects_same_behaviour(asm, tmp_path):
    one, two = asm("ret #0x7fff0000"), asm("ret #0x7fff0001")
    assert emitted(one, two, tmp_path)[2].split()[0] == "sat"
    status, _, answer = emitted(one, two, tmp_path, "--same", "behaviour")
    assert status == 0 and answer.split()[0] == "unsat"


def test_smt2_respects_the_assumption_and_the_direction(asm, tmp_path):
    one, two = asm("ld [0]\njeq #39, yes\nret #0x7fff0000\nyes: ret #0x50001"), asm("ret #0x7fff0000")
    for options, expected in (([], "sat"), (["--assume", "nr != getpid"], "unsat"), (["--assume", "nr == getpid"], "sat"), (["--refines"], "sat")):
        status, _, answer = emitted(one, two, tmp_path, *options)
        assert (status, answer.split()[0]) == (expected == "sat", expected), options
    for options in ["--refines"], ["--refines", "--assume", "nr != getpid"]:
        assert emitted(two, one, tmp_path, *options)[2].split()[0] == "unsat"


def test_smt2_is_written_before_the_proof_starts(hard, tmp_path):
    out = tmp_path / "query.smt2"
    assert run("prove", *hard, "--timeout", "0.2", "--emit-smt2", out).status == 3
    assert "bvmul" in out.read_text()
