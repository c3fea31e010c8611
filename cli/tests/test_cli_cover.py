"""Tests `secequiv cover`: covered edges, infeasible edges, and coverage accumulated over several runs."""
# This test also runs in the preset asan.

import random
import struct

import pytest
from cli_tool import POLICIES, PROGRAMS, evaluate, program, read_raw, report, run, words_bytes

# The test at instruction 2 is never true, because a number above 10 is not 3. So instruction 3 is unreachable.
HALF = "ld [0]\njgt #10, big, small\nbig: jeq #3, never, always\nnever: ret #1\nalways: ret #2\nsmall: ret #3\n"
OBLIGATIONS = 6 + 2 + 2


@pytest.fixture
def half(asm):
    return asm(HALF, "half.asm")


def record(*words):
    return words_bytes(list(words) + [0] * (16 - len(words)))


def marks(path):
    return [line[:3].rstrip() for line in path.read_text().splitlines() if not line.startswith(";")]


def rows(document, key):
    return [(row["instruction"], row["kind"]) for row in document[key]]


def test_each_edge_is_covered_or_infeasible(half, tmp_path):
    document, done = report("cover", half, "--listing", tmp_path / "listing")
    assert (done.status, document["verdict"]) == (0, "pass")
    assert (document["obligations"], document["covered"]) == (OBLIGATIONS, OBLIGATIONS - 2)
    assert rows(document, "infeasible") == [(2, "true"), (3, "line")]
    assert document["feasible"] == document["open"] == []
    assert marks(tmp_path / "listing") == ["+", "+++", "+-+", "-", "+", "+"]
    text = run("cover", half)
    assert text.out == "pass: 8 of 10 obligations covered, 2 proven infeasible, 0 feasible but not covered, 0 undecided\n"


def test_feasible_edges_that_are_not_covered_fail(half, tmp_path):
    document, done = report("cover", half, "--no-derive", "--listing", tmp_path / "listing")
    assert (done.status, document["verdict"], document["covered"]) == (1, "fail", 0)
    assert rows(document, "infeasible") == [(2, "true"), (3, "line")]
    assert marks(tmp_path / "listing") == ["!", "!!!", "!-!", "-", "!", "!"]
    insns = program(HALF)
    for row in document["feasible"]:
        data = words_bytes(row["witness"]["words"])
        value = evaluate(insns, data)
        expected = {(1, "true"): 2, (1, "false"): 3, (2, "line"): 2, (2, "false"): 2, (4, "line"): 2, (5, "line"): 3}
        assert value == expected.get((row["instruction"], row["kind"]), value)
    assert len(document["feasible"]) == 8
    text = run("cover", half, "--no-derive")
    assert text.status == 1 and text.out.count("not covered: instruction") == 8 and "this input covers it: nr=" in text.out


def test_uncovered_edges_without_the_prover_are_unknown(half, tmp_path):
    document, done = report("cover", half, "--no-prove", "--listing", tmp_path / "listing")
    assert (done.status, document["verdict"]) == (3, "unknown")
    assert rows(document, "open") == [(2, "true"), (3, "line")]
    assert marks(tmp_path / "listing") == ["+", "+++", "+!+", "!", "+", "+"]
    text = run("cover", half, "--no-prove")
    assert text.status == 3 and "undecided: instruction 3\n" in text.out


def test_full_coverage_needs_no_prover(getpid):
    assert report("cover", getpid, "--no-prove")[1].status == 0


def test_given_inputs_count_towards_coverage(half, tmp_path):
    inputs = tmp_path / "inputs"
    inputs.write_bytes(record(5))
    document, done = report("cover", half, "--no-derive", "--inputs", inputs)
    assert (done.status, document["covered"]) == (1, 4)  # instructions 0, 1 and 5, and the false outcome of 1
    more = tmp_path / "more"
    more.write_bytes(record(11) + record(12))
    document, done = report("cover", half, "--no-derive", "--inputs", inputs, "--inputs", more)
    assert (done.status, document["covered"]) == (0, 8)
    nothing = tmp_path / "nothing"
    nothing.write_bytes(b"")
    assert report("cover", half, "--no-derive", "--inputs", nothing)[0]["covered"] == 0


@pytest.mark.parametrize("size", [1, 63, 65, 127])
def test_truncated_input_files_are_errors(size, half, tmp_path):
    inputs = tmp_path / "inputs"
    inputs.write_bytes(b"\1" * size)
    document, done = report("cover", half, "--inputs", inputs)
    assert (done.status, document["where"]) == (2, "%s: offset %d" % (inputs, size // 64 * 64))


def test_inputs_are_little_endian_words(asm, tmp_path):
    path = asm("ld [60]\njeq #0x01020304, yes, no\nyes: ret #1\nno: ret #2\n")
    inputs = tmp_path / "inputs"
    inputs.write_bytes(bytes(60) + struct.pack("<I", 0x01020304))
    document, _ = report("cover", path, "--no-derive", "--inputs", inputs)
    assert rows(document, "feasible") == [(1, "false"), (3, "line")]


def test_a_state_file_accumulates_coverage(half, tmp_path):
    state, first, second = tmp_path / "state", tmp_path / "first", tmp_path / "second"
    first.write_bytes(record(5))
    second.write_bytes(record(11))
    document, done = report("cover", half, "--no-derive", "--inputs", first, "--state", state)
    assert (done.status, document["covered"]) == (1, 4)
    kept = state.read_text()
    document, done = report("cover", half, "--no-derive", "--inputs", second, "--state", state)
    assert (done.status, document["covered"]) == (0, 8)
    assert state.read_text() != kept
    document, done = report("cover", half, "--no-derive", "--state", state)
    assert (done.status, document["covered"]) == (0, 8)
    state.write_text(kept)
    assert report("cover", half, "--no-derive", "--state", state)[0]["covered"] == 4


def test_a_state_file_of_another_program_is_refused(half, getpid, getpid_enoent, tmp_path):
    state = tmp_path / "state"
    assert run("cover", half, "--state", state).status == 0
    kept = state.read_bytes()
    document, done = report("cover", getpid, "--state", state)
    assert done.status == 2 and "a different program" in document["detail"] and document["where"].startswith(str(state))
    assert state.read_bytes() == kept
    state.unlink()
    assert run("cover", getpid, "--state", state).status == 0
    assert run("cover", getpid_enoent, "--state", state).status == 2  # both have the same length, and one constant differs


@pytest.mark.parametrize("change", [lambda text: "", lambda text: text[:-4], lambda text: text + "000\n",
                                    lambda text: text.replace("coverage 1", "coverage 2"), lambda text: text[:-2] + "2\n",
                                    lambda text: text.replace("\n", "\r\n"), lambda text: "{}"], ids=range(7))
def test_malformed_state_files_are_errors(change, half, tmp_path):
    state = tmp_path / "state"
    assert run("cover", half, "--state", state).status == 0
    state.write_bytes(change(state.read_text()).encode())
    kept = state.read_bytes()
    document, done = report("cover", half, "--state", state)
    assert done.status == 2 and document["where"].startswith(str(state))
    assert state.read_bytes() == kept


def test_the_policy_option_contributes_inputs():
    program_file, policy = PROGRAMS / "gvisor/kvm.after.bpf", POLICIES / "gvisor/kvm.json"
    alone, done = report("cover", program_file)
    assert done.status in (0, 1)
    both, done = report("cover", program_file, "--policy", policy)
    assert done.status == 0 and both["covered"] >= alone["covered"]
    assert both["obligations"] == both["covered"] + len(both["infeasible"])


def test_a_policy_is_compiled_and_covered(tmp_path):
    policy = POLICIES / "seed" / "fcntl.json"
    document, done = report("cover", policy)
    assert done.status == 0
    compiled = read_raw(run("asm", policy, raw=True).out)
    jumps = sum(insn.code in (0x15, 0x25, 0x35, 0x45) for insn in compiled)
    assert document["obligations"] == len(compiled) + 2 * jumps


def test_no_random_input_reaches_an_infeasible_edge(asm):
    # Random inputs near the constants never reach an instruction that the prover reports as infeasible.
    text = ("ld [0]\njge #100, big, small\nbig: jgt #200, huge, mid\nhuge: jeq #150, bad1, ok\nmid: jset #0x80000000, bad2, ok\n"
            "small: and #7\njeq #9, bad3, ok\nok: ret #0x7fff0000\nbad1: ret #1\nbad2: ret #2\nbad3: ret #3\n")
    document, done = report("cover", asm(text))
    assert done.status == 0
    assert rows(document, "infeasible") == [(3, "true"), (4, "true"), (6, "true"), (8, "line"), (9, "line"), (10, "line")]
    rng = random.Random(3)
    values = [0, 7, 9, 99, 100, 101, 150, 199, 200, 201, 0x80000000, 0xFFFFFFFF] + [rng.getrandbits(32) for _ in range(2000)]
    assert {evaluate(program(text), record(value)) for value in values} == {0x7FFF0000}


def test_division_has_two_outcomes(asm):
    path = asm("ld [16]\ntax\nld [20]\ndiv x\nret a\n")
    document, done = report("cover", path)
    assert (done.status, document["obligations"], document["covered"]) == (0, 7, 7)
    path = asm("ldx #3\nld [20]\ndiv x\nret a\n")
    document, done = report("cover", path)
    assert done.status == 0 and len(document["infeasible"]) == 1 and document["infeasible"][0]["instruction"] == 2


def test_the_listing_can_go_to_standard_output(half, tmp_path):
    listing = tmp_path / "listing"
    assert run("cover", half, "--listing", listing).status == 0
    done = run("cover", half, "--listing", "-")
    assert done.out.startswith(listing.read_text()) and done.out.splitlines()[-1].startswith("pass: ")
    assert "; nr > 10" in listing.read_text() or "; nr > 0xa" in listing.read_text()
