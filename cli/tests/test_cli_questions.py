"""Tests `prove` with stacks of filters, --refines and --assume. The naive evaluator confirms every witness."""

import itertools

import pytest
from cli_tool import PROGRAMS, evaluate, program, report, run, run_stack, words_bytes
from test_cli_prove import emitted

ACTIONS = [0x80000000, 0x00000000, 0x00030000, 0x00050000, 0x7FC00000, 0x7FF00000, 0x7FFC0000, 0x7FFF0000]  # the strictest first
GETPID = "ld [0]\njeq #39, y, n\ny: ret #%#x\nn: ret #%#x\n"


def answered(texts, document):
    """Checks that the witness's values are those that the stacks of programs (newest first) return."""
    witness = document["witness"]
    data = words_bytes(witness["data"]["words"])
    values = []
    for side, stack in zip(("before", "after"), texts):
        programs = [program(text) for text in stack]
        values.append(evaluate(programs[0], data) if len(programs) == 1 else run_stack(programs, data))
        assert int(witness[side]["value"], 16) == values[-1], witness
    return values


def ask(asm, before, after, *options):
    """Runs `prove` on two stacks, given as lists of texts."""
    sides = [",".join(str(asm(text)) for text in stack) for stack in (before, after)]
    document, done = report("prove", *sides, *options)
    if "witness" in document:
        answered((before, after), document)
    return document, done.status


# Stacks.

@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
def test_a_stack_is_equivalent_to_its_combination(engine, asm):
    a = GETPID % (0x7FFF0000, 0x50001)
    b = "ld [0]\njgt #100, y, n\ny: ret #0\nn: ret #0x7fff0000\n"
    both = "ld [0]\njgt #100, kill, small\nsmall: jeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\nkill: ret #0\n"
    for stack in ([a, b], [b, a], [a, b, a], ["ret #0x7fff0000", a, b]):
        document, status = ask(asm, stack, [both], "--engine", engine)
        assert (status, document["verdict"]) == (0, "equivalent")
        assert [len(document[side]) for side in ("before", "after")] == [len(stack), 1]
    document, status = ask(asm, [a], [a, b], "--engine", engine)
    assert (status, document["relation"], document["witness"]["data"]["nr"]) == (1, "stricter", 101)


def test_the_newest_of_equal_actions_wins(asm):
    eperm, enoent = "ret #0x50001", "ret #0x50002"
    assert ask(asm, [eperm, enoent], [eperm])[1] == 0
    assert ask(asm, [enoent, eperm], [enoent])[1] == 0
    document, status = ask(asm, [eperm, enoent], [enoent, eperm])
    assert (status, document["relation"]) == (1, "equal")
    assert [document["witness"][side]["value"] for side in ("before", "after")] == ["0x00050001", "0x00050002"]


def test_a_stack_drops_the_data_bits_of_allow(asm):
    with_data, plain = "ret #0x7fff0007", "ret #0x7fff0000"
    assert ask(asm, [with_data, with_data], [plain])[1] == 0
    assert ask(asm, [with_data], [plain])[1] == 1
    assert ask(asm, [with_data, with_data], [with_data])[1] == 1
    assert ask(asm, [with_data], [plain], "--same", "behaviour")[1] == 0


def test_stacks_combine_every_pair_of_actions(asm):
    for first, second in itertools.product(ACTIONS + [0x12340000], repeat=2):
        result = run_stack([program("ret #%#x" % value) for value in (first | 1, second | 2)], bytes(64))
        document, status = ask(asm, ["ret #%#x" % (first | 1), "ret #%#x" % (second | 2)], ["ret #%#x" % result])
        assert status == 0, document


def test_text_names_the_filters_of_a_stack(asm):
    a, b = asm(GETPID % (0x7FFF0000, 0x50001)), asm("ret #0")
    done = run("prove", "%s,%s" % (a, b), a)
    assert done.status == 1 and "filter 1 of 2" in done.out and "filter 2 of 2" in done.out


def test_stacks_of_real_filters_are_compared(tmp_path):
    systrap, kvm = PROGRAMS / "gvisor" / "systrap.after.bpf", PROGRAMS / "gvisor" / "kvm.after.bpf"
    one, two = "%s,%s" % (systrap, kvm), "%s,%s" % (kvm, systrap)
    assert report("prove", one, two, "--engine", "both")[1].status == 0  # without data bits, the order does not matter
    assert report("prove", one, "%s,%s,%s" % (systrap, systrap, kvm))[1].status == 0
    document, done = report("prove", systrap, one, "--refines", "--engine", "both")
    assert (done.status, document["verdict"], document["relation"]) == (0, "pass", "stricter")
    assert report("prove", one, systrap, "--refines", "--engine", "both")[1].status == 1


def test_a_file_name_may_contain_commas(asm, tmp_path):
    a, b = asm("ret #1", "a"), asm("ret #2", "b")
    both = "%s,%s" % (a, b)
    assert report("prove", both, a)[1].status == 0
    assert report("prove", "a,b", "a", cwd=tmp_path)[1].status == 0
    asm("ret #2", "a,b")  # a file with this name takes precedence over a stack
    document, done = report("prove", "a,b", "b", cwd=tmp_path)
    assert done.status == 0 and [side["name"] for side in document["before"]] == ["a,b"]


@pytest.mark.parametrize("stack", ["%s,", ",%s", "%s,,%s", "%s,missing", ","])
def test_malformed_stacks_are_errors(stack, getpid):
    document, done = report("prove", stack.replace("%s", str(getpid)), getpid)
    if "missing" in stack:
        assert (done.status, document["error"], document["where"]) == (2, "io", "missing")
    else:
        assert (done.status, document["error"]) == (2, "usage") and "comma" in document["detail"]


def test_a_refused_filter_of_a_stack_is_named(asm, getpid):
    bad = asm("ld [0]")
    document, done = report("prove", "%s,%s" % (getpid, bad), getpid)
    assert (done.status, document["verdict"], document["file"]) == (4, "rejected", str(bad))


# Tests --refines, and the relation of the two filters that `prove` reports without this option.

RELATIONS = [
    # before, after, relation, status of --refines
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x50002)], "equal", 0),
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x00000)], "stricter", 0),
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x7FFC0000)], "looser", 1),
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x50001, 0x7FFF0000)], "incomparable", 1),
    # Changed data makes no filter looser or stricter (docs/reference/prove.md); a value that is not an action counts as KILL_PROCESS.
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x50000)], "equal", 0),
    ([GETPID % (0x7FFF0000, 0x7FF00001)], [GETPID % (0x7FFF0000, 0x7FF00002)], "equal", 0),
    ([GETPID % (0x7FFF0000, 0x30001)], [GETPID % (0x7FFF0000, 0x30002)], "equal", 0),
    ([GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x70000)], "stricter", 0),
]


@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
@pytest.mark.parametrize("before, after, relation, refines", RELATIONS, ids=[row[2] for row in RELATIONS])
def test_differences_are_stricter_looser_or_mixed(before, after, relation, refines, engine, asm):
    document, status = ask(asm, before, after, "--engine", engine)
    assert (status, document["verdict"]) == (1, "different")
    assert document["relation"] == relation
    document, status = ask(asm, before, after, "--refines", "--engine", engine)
    assert (status, document["verdict"]) == ((1, "different") if refines else (0, "pass"))
    assert document["relation"] == relation
    assert ("witness" in document) == bool(refines)
    if refines:  # with --refines, `after` is more permissive on the witness
        values = [int(document["witness"][side]["value"], 16) & 0xFFFF0000 for side in ("before", "after")]
        assert ACTIONS.index(values[0]) < ACTIONS.index(values[1])
    document, status = ask(asm, before, before, "--refines", "--engine", engine)
    assert (status, document["verdict"]) == (0, "equivalent")


def test_refinement_follows_the_kernels_order_of_actions(asm):
    for (i, first), (j, second) in itertools.product(enumerate(ACTIONS), repeat=2):
        document, status = ask(asm, ["ret #%#x" % (first | 9)], ["ret #%#x" % (second | 9)], "--refines")
        assert status == (j > i), document
        assert document["relation"] == ("equal" if i == j else "looser" if j > i else "stricter")
    for unknown in (0x12340000, 0x80010000, 0x7FFE0000):  # unknown actions count as KILL_PROCESS
        assert ask(asm, ["ret #0"], ["ret #%#x" % unknown], "--refines")[1] == 0
        assert ask(asm, ["ret #%#x" % unknown], ["ret #0x80000000"], "--refines")[0]["relation"] == "equal"


@pytest.mark.parametrize("value, text", [(0x50002, "as strict as before"), (0, "stricter: never more permissive"),
                                         (0x7FFC0000, "looser: never stricter")])
def test_text_states_the_relation(value, text, asm):
    done = run("prove", asm(GETPID % (0x7FFF0000, 0x50001)), asm(GETPID % (0x7FFF0000, value)))
    assert done.status == 1 and "after is %s" % text in done.out


# --assume.

@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
@pytest.mark.parametrize("assumption, nr", [
    ("true", 5), ("nr > 5", 6), ("nr > 9", None), ("nr in {1, 7..100}", 7), ("nr not in {0..7}", 8), ("nr & 3 == 1", 5),
    ("nr & 8 != 0", 8), ("!(nr <= 6) && nr < 9", 7), ("nr == 3 || nr == 9", 9), ("nr >= 10", None), ("arg0 == 5 && nr != 5", 6),
    ("syscall == lseek", 8), ("nr == i386:link", 9), ("nr == -1 || nr == 6", 6), ("arch == aarch64 && nr >= 8", 8)])
def test_assumptions_restrict_the_inputs(assumption, nr, engine, asm):
    # The programs differ for nr 5 to 9.
    before = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n"
    after = "ld [0]\njgt #9, y, n\ny: ret #1\nn: ret #2\n"
    document, status = ask(asm, [before], [after], "--assume", assumption, "--engine", engine)
    assert status == (nr is not None), document
    if status:
        data = document["witness"]["data"]
        assert data["nr"] == nr and document["minimal"] is True
        if "arg0" in assumption:
            assert data["args"][0] == "0x5"
        if "arch" in assumption:
            assert data["arch_name"] == "aarch64"


ERRORS = [("nr === 3", 6), ("nr == nothing", 7), ("arg0 <", 7), ("arch == x32", 9), ("arg6 == 1", 1), ("nr == openatt", 7),
          ("(nr == 1", 9), ("nr == 4294967296", 7), ("nr in {5..3}", 8), ("nr in {}", 8), ("nr == 1 &&", 11), ("nr == 1 nr == 2", 9),
          ("nr & == 1", 6), ("arg0.mid == 1", 6), ("nr.lo == 1", 3), ("!", 2), ("arch == vax", 9), ("nr == vax:read", 7),
          ("  nr = 1", 6), ("nr == 0x", 7), ("arg1 == 18446744073709551616", 9), ("(" * 300 + "true" + ")" * 300, 201)]


@pytest.mark.parametrize("text, column", ERRORS, ids=[text[:20] for text, _ in ERRORS])
def test_malformed_assumptions_are_reported_with_their_column(text, column, getpid):
    document, done = report("prove", getpid, getpid, "--assume", text)
    assert (done.status, document["error"], document["where"]) == (2, "usage", "--assume")
    assert document["detail"].startswith("column %d: expected " % column) and "found" in document["detail"], document


def test_unknown_names_in_assumptions_get_suggestions(getpid):
    assert "did you mean openat or openat2?" in run("prove", getpid, getpid, "--assume", "nr == openatt").err
    assert "expected a value" in run("prove", getpid, getpid, "--assume", "").err


@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
@pytest.mark.parametrize("text", ["false", "nr == 1 && nr == 2", "nr & 0xf0 == 1", "arg0 < 5 && arg0.hi == 1", "!true"])
def test_an_unsatisfiable_assumption_is_an_error(text, engine, getpid, getpid_enoent):
    for other in (getpid, getpid_enoent):
        document, done = report("prove", getpid, other, "--assume", text, "--engine", engine)
        assert (done.status, document["where"]) == (2, "--assume") and "a proof would mean nothing" in document["detail"]


def test_names_in_assumptions_are_those_of_the_host(asm):
    before, after = asm("ld [0]\njeq #63, y, n\ny: ret #1\nn: ret #2\n"), asm("ret #2")  # read on aarch64, uname on x86_64
    assert run("prove", before, after, "--assume", "nr == read").status == 0
    assert run("prove", before, after, "--assume", "nr == read", "--arch", "aarch64").status == 1
    assert run("prove", before, after, "--assume", "nr == aarch64:read").status == 1
    high = "ld [16]\njeq #1, y, n\ny: ret #1\nn: ret #2\n"  # tests the low half of arg0; on s390x, the high half
    document, status = ask(asm, [high], ["ret #2"], "--assume", "arg0 == 0x100000000", "--arch", "s390x")
    assert status == 1 and document["witness"]["data"]["words"][4:6] == [1, 0]
    assert ask(asm, [high], ["ret #2"], "--assume", "arg0 == 0x100000000")[1] == 0


def test_assumptions_refinement_and_stacks_combine(asm):
    before, after = [GETPID % (0x7FFF0000, 0x50001)], [GETPID % (0x7FFF0000, 0x7FFF0000), GETPID % (0, 0x7FFC0000)]
    assert ask(asm, before, after, "--refines")[1] == 1
    for engine in ("dd", "sat", "z3", "both"):
        document, status = ask(asm, before, after, "--refines", "--assume", "nr == getpid", "--engine", engine)
        assert (status, document["verdict"], document["relation"]) == (0, "pass", "stricter")


def test_smt2_respects_refinement_assumptions_and_stacks(asm, tmp_path):
    before, after = asm(GETPID % (0x7FFF0000, 0x50001)), asm(GETPID % (0x7FFF0000, 0))
    assert emitted(before, after, tmp_path)[2].split()[0] == "sat"
    assert emitted(before, after, tmp_path, "--refines")[2].split()[0] == "unsat"
    assert emitted(after, before, tmp_path, "--refines")[2].split()[0] == "sat"
    assert emitted(before, after, tmp_path, "--assume", "nr == getpid")[2].split()[0] == "unsat"
    assert emitted(before, after, tmp_path, "--assume", "nr != getpid")[2].split()[0] == "sat"
    assert emitted("%s,%s" % (before, after), after, tmp_path)[2].split()[0] == "unsat"
