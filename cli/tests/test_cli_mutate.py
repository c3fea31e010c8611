"""Tests `secequiv mutate`: counts, outcomes and exit status; the naive evaluator confirms the witnesses."""

import re

import pytest
from cli_tool import POLICIES, PROGRAMS, agrees, evaluate, program, report, run, words_bytes

XOR = """
ld [16]
xor #0x12345678
jeq #1, in, out
in: ret #0
out: ret #0x7fff0000
"""
COLUMNS = ("equivalent", "killed_by_inputs", "killed_by_fuzzing", "survived", "undecided")


def consistent(document):
    """Checks that each mutant is counted in one column, and that operators and proofs add up."""
    parts = list(document["operators"].values())
    for counts in parts + [document["total"]]:
        assert counts["mutants"] == sum(counts[column] for column in COLUMNS), counts
        assert counts["proofs"] == counts["proven_different"] + counts["equivalent"] + counts["unproven"], counts
    for key, value in document["total"].items():
        assert value == sum(counts[key] for counts in parts), key
    assert document["total"]["killed_by_inputs"] == sum(row["killed"] for row in document["inputs"])
    fates = [missed["fate"] for missed in document["missed_by_inputs"]]
    for fate, column in (("fuzzed", "killed_by_fuzzing"), ("survived", "survived"), ("undecided", "undecided")):
        assert fates.count(fate) == document["total"][column]


def witnesses(document):
    for missed in document["missed_by_inputs"]:
        for key in ("witness", "fuzzed"):
            if key in missed:
                yield missed, missed[key]


def test_every_mutant_of_a_small_filter_is_killed(getpid):
    document, done = report("mutate", getpid, "--prove-all")
    assert done.status == 0 and done.err == ""
    consistent(document)
    # harness/compare/mutants_test.cc shows how these numbers are calculated by hand.
    counts = {name: counts["mutants"] for name, counts in document["operators"].items()}
    assert counts == {"constant": 33, "opcode": 9, "target": 3, "load": 15, "return": 68, "delete": 3, "swap": 2}
    assert (document["operators"]["target"]["refused"], document["operators"]["delete"]["refused"]) == (1, 1)
    total = document["total"]
    assert total["killed_by_inputs"] == total["mutants"] == total["proven_different"] == 133
    assert document["all_proven"] and document["missed_by_inputs"] == [] and document["instructions"] == 4
    assert [row["name"] for row in document["inputs"]] == ["program"]


def test_survivors_have_witnesses(asm):
    path = asm(XOR)
    document, done = report("mutate", path, "--fuzz-seconds", "0")
    assert done.status == 1 and document["verdict"] == "fail"
    consistent(document)
    assert document["total"]["survived"] > 50 and document["total"]["killed_by_fuzzing"] == 0
    before = program(XOR)
    for missed, witness in witnesses(document):
        agrees(witness)
        data = words_bytes(witness["data"]["words"])
        assert evaluate(before, data) == int(witness["before"]["value"], 16) != int(witness["after"]["value"], 16), missed
    # Some survivors change the RET that no derived input reaches; the description of such a change contains the new return value.
    changed = [(missed, witness) for missed, witness in witnesses(document) if missed["change"].startswith("ret #0 becomes ret #")]
    assert len(changed) > 30
    for missed, witness in changed:
        assert int(missed["change"].split("#")[-1], 0) == int(witness["after"]["value"], 16)


def test_the_text_lists_survivors_with_their_witness(asm):
    path = asm(XOR)
    document, _ = report("mutate", path, "--fuzz-seconds", "0")
    done = run("mutate", path, "--fuzz-seconds", "0")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[-1] == "fail: %d mutants survived" % document["total"]["survived"]
    listed = [line for line in lines if line.startswith("survived: ")]
    assert listed == ["survived: instruction %d: %s" % (missed["instruction"], missed["change"]) for missed in document["missed_by_inputs"]]
    row = next(line for line in lines if line.startswith("total "))
    total = document["total"]
    assert [int(cell) for cell in row.split()[1:]] == [total[key] for key in (
        "mutants", "refused", "equivalent", "killed_by_inputs", "killed_by_fuzzing", "survived", "undecided", "proofs", "proven_different",
        "unproven")]
    shares = [float(share) for share in re.findall(r"([\d.]+) %", done.out)]
    different = total["killed_by_inputs"] + total["survived"]
    assert shares == [pytest.approx(100 * total["killed_by_inputs"] / different, abs=0.01)] * 2 + [100]


def test_fuzzing_kills_mutants_that_derived_inputs_miss(asm):
    # The tests compare computed values, so the derivation does not know which bits to change.
    path = asm("ld [16]\nadd #0\njeq #1, more, out\nmore: ld [24]\nadd #0\njeq #2, in, out\nin: ret #0\nout: ret #0x7fff0000\n")
    without, done = report("mutate", path, "--fuzz-seconds", "0")
    assert done.status == 1 and without["total"]["survived"] > 0
    document, done = report("mutate", path, "--fuzz-seconds", "20")
    assert done.status == 0
    consistent(document)
    total = document["total"]
    assert total["killed_by_inputs"] == without["total"]["killed_by_inputs"]
    assert total["killed_by_fuzzing"] == without["total"]["survived"]
    for _, witness in witnesses(document):
        agrees(witness)


def test_a_limit_that_runs_out_is_unknown(getpid):
    document, done = report("mutate", getpid, "--timeout", "1e-9", "--engine", "z3", "--sample", "3")
    assert done.status == 3 and document["verdict"] == "unknown"
    consistent(document)
    assert document["total"]["mutants"] == 0
    done = run("mutate", getpid, "--timeout", "1e-9", "--engine", "z3", "--sample", "3")
    assert done.out.splitlines()[-1] == "unknown: time limit of 1e-09 s reached before all mutants were listed"


def test_equivalent_mutants_are_counted(asm):
    path = asm("ld [0]\njset #1, odd, even\nodd: ret #1\neven: ret #2\nret #3\n")
    document, done = report("mutate", path)
    assert done.status == 0
    consistent(document)
    # The last instruction is unreachable, so all its legal mutants are equivalent.
    assert document["total"]["equivalent"] >= 34
    assert document["total"]["proofs"] >= document["total"]["equivalent"]


def test_same_behaviour_makes_more_mutants_equivalent(getpid):
    raw, _ = report("mutate", getpid)
    behaviour, done = report("mutate", getpid, "--same", "behaviour")
    assert done.status == 0 and (raw["same"], behaviour["same"]) == ("raw", "behaviour")
    assert raw["total"]["equivalent"] == 0 and behaviour["total"]["equivalent"] >= 16


def test_policies_contribute_inputs():
    policy = POLICIES / "seed" / "ten-syscalls.json"
    document, done = report("mutate", policy, "--sample", "0")
    assert done.status == 0 and [row["name"] for row in document["inputs"]] == ["policy", "program"]
    assert document["inputs"][0]["killed"] > 0.9 * document["total"]["killed_by_inputs"]
    other, _ = report("mutate", POLICIES / "seed" / "futex.json", "--policy", policy, "--sample", "0", "--fuzz-seconds", "0")
    assert other["inputs"][0]["inputs"] == document["inputs"][0]["inputs"]


def test_derived_inputs_kill_the_mutants_of_a_real_filter():
    """The smallest of gVisor's filters reaches the figures in README.md."""
    document, done = report("mutate", PROGRAMS / "gvisor" / "kvm.after.bpf", "--policy", POLICIES / "gvisor" / "kvm.json")
    assert done.status == 0
    consistent(document)
    total = document["total"]
    assert total["mutants"] > 10000 and total["unproven"] == 0
    assert total["killed_by_inputs"] >= 0.999 * (total["mutants"] - total["equivalent"])


def test_the_same_seed_gives_the_same_sample(getpid):
    first, second = (report("mutate", getpid, "--sample", "20", "--seed", "5")[0] for _ in range(2))
    other, _ = report("mutate", getpid, "--sample", "20", "--seed", "6")
    assert first["operators"] == second["operators"]
    assert first["operators"] != other["operators"]
    assert first["total"]["proofs"] == other["total"]["proofs"] == 20


def test_a_program_that_the_kernel_refuses_is_rejected(asm):
    document, done = report("mutate", asm("ld [0]\n"))
    assert done.status == 4 and document["error"] == "rejected"
