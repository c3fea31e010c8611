"""Tests `secequiv reach`: the number and the regions of inputs that reach each instruction; other commands check them."""

import json
import random
import re

import pytest
from cli_tool import FULL, POLICIES, PROGRAMS, Insn, all_programs, program, read_raw, report, run, write_raw

ALL = 1 << 512
WORD = 1 << 480  # the number of inputs if one word is fixed
SMALL = {
    "jumps": "ld [4]\njeq #0xc000003e, L1, bad\nL1: ld [0]\njeq #39, no\njgt #100, no\njset #6, no, L2\nL2: ld [16]\njge #9, L3, no\n"
             "L3: ret #0x7fff0000\nno: ret #0x50001\nbad: ret #0\n",
    "dead": "ld [0]\njgt #10, big, small\nbig: jeq #3, never, always\nnever: jeq #9, L1, always\nL1: ret #1\nalways: ret #2\nsmall: ret #3\n",
    "equal": "ld [16]\njeq #5, L1, L1\nL1: jset #3, L2, L2\nL2: ret #1\n",
    "division": "ld [16]\ntax\nld #9\ndiv x\njeq #4, L1, L2\nL1: ret #5\nL2: ret #6\n",
    "constant": "ld #3\njeq #3, L1, L2\nL1: ret #5\nL2: ld [20]\nret a\n",
    "computed": "ld [16]\nadd #1\nst M[0]\nand #0xff\njgt #77, L1, L2\nL1: ld M[0]\njeq #0x1ff, L2, L3\nL2: ret #5\nL3: ret a\n",
    "two-words": "ld [16]\nldx #0\ntax\nld [20]\njgt x, L1, L2\nL1: ret #1\nL2: jeq x, L3, L4\nL3: ret #2\nL4: ret #3\n",
    "masks": "ld [24]\nand #0x7\njeq #2, yes\nld [24]\njset #0x80000000, yes\nld [28]\njgt #1, yes\njge #1, L1, yes\nL1: ret #1\nyes: ret #2\n",
    "ja": "ld [0]\njeq #1, L1, L2\nL1: ja L3\nL2: ja L4\nret #9\nL3: ret #1\nL4: ret #2\n",
}
# The development build tests programs of all kinds; other builds test a few short ones.
REAL = all_programs()[::4] if FULL else [path for path in all_programs() if path.stat().st_size < 16000][::3]
SEED_POLICIES = sorted((POLICIES / "seed").glob("*.json"))[:: 2 if FULL else 4]
SHOWN = 300
KINDS = ("line", "true", "false")


def two_way(insn):
    return insn.code & 7 == 5 and insn.code != 0x05 or insn.code == 0x3C


def after(insns, pc):
    """Returns the successors of an instruction, as (target, outcome)."""
    insn = insns[pc]
    if insn.code & 7 == 6:
        return []
    if insn.code == 0x05:
        return [(pc + 1 + insn.k, "line")]
    if insn.code == 0x3C:
        return [(pc + 1, "false")]  # true: the divisor is 0, which ends the program
    if insn.code & 7 == 5:
        return [(pc + 1 + insn.jt, "true"), (pc + 1 + insn.jf, "false")]
    return [(pc + 1, "line")]


def counted(path, insns, *options):
    """Returns the report's rows by instruction and kind, after checking that their counts add up."""
    document, done = report("reach", path, *options)
    assert done.status == 0 and (done.err == "" or re.search("skipped system call|more than the 4096", done.err)), done
    rows = {(row["instruction"], row["kind"]): row for row in document["obligations"]}
    wanted = [(pc, kind) for pc, insn in enumerate(insns) for kind in (KINDS if two_way(insn) else KINDS[:1])]
    assert [(row["instruction"], row["kind"]) for row in document["obligations"]] == wanted
    counts = {key: int(row["count"]) for key, row in rows.items()}
    assert counts[0, "line"] == ALL
    arriving, ends = [ALL] + [0] * (len(insns) - 1), 0
    for pc, insn in enumerate(insns):
        if two_way(insn):
            assert counts[pc, "true"] + counts[pc, "false"] == counts[pc, "line"], pc
        assert counts[pc, "line"] == arriving[pc], pc
        for target, outcome in after(insns, pc):
            arriving[target] += counts[pc, outcome]
        ends += counts[pc, "line"] if insn.code & 7 == 6 else counts[pc, "true"] if insn.code == 0x3C else 0
    assert ends == ALL
    for key, row in rows.items():
        assert ("smallest" in row) == (counts[key] > 0) and (row["region_count"] == "0") == (counts[key] == 0)
        assert row["regions"] == []
    return rows


def path_of(path, words):
    """Returns the obligations that an input meets."""
    document, _ = report("run", path, "--trace", "--words", ",".join(map(str, words)))
    met = set()
    for step in document["filters"][0]["steps"]:
        met.add((step["pc"], "line"))
        if "outcome" in step:
            met.add((step["pc"], "true" if step["outcome"] else "false"))
    return met


def size(row):
    words = row["smallest"]["words"]
    return sum(word != 0 for word in words), words


def smallest_reach(path, rows, keys):
    for key in keys:
        met = path_of(path, rows[key]["smallest"]["words"])
        assert key in met
        for other in met:  # this input reaches them, too, so their smallest input is no greater
            assert size(rows[other]) <= size(rows[key]), (key, other)


def marked(insns, pc, kind):
    """Returns a program that returns 1 for the inputs that meet an obligation of `insns`, and 0 for all others."""
    yes, no = Insn(0x06, 0, 0, 1), Insn(0x06, 0, 0, 0)
    insn = insns[pc]
    if kind == "line":
        here = [yes]
    else:
        test = [Insn(0x87, 0, 0, 0), Insn(0x15, 0, 1, 0)] if insn.code == 0x3C else [insn._replace(jt=0, jf=1)]
        here = test + ([yes, no] if kind == "true" else [no, yes])
    out = []
    for at, one in enumerate(insns):
        if at == pc:
            out += here
        elif one.code & 7 == 6:
            out.append(no)
        elif at < pc and one.code & 7 == 5:
            move = lambda jump: jump + (len(here) - 1 if at + 1 + jump > pc else 0)  # noqa: B023, E731
            out.append(one._replace(k=move(one.k)) if one.code == 0x05 else one._replace(jt=move(one.jt), jf=move(one.jf)))
        else:
            out.append(one)
    # A path that was cut off stores nothing, so initialize M[] for the kernel's check.
    return [Insn(0x02, 0, 0, insn.k) for insn in insns if insn.code == 0x60] + out


def holds_exactly(row, insns, tmp_path):
    """Checks, with `prove` and `diff`, that the regions of a row are disjoint and contain exactly the inputs that meet its obligation."""
    marks, yes, no = tmp_path / "marked.bpf", tmp_path / "yes.asm", tmp_path / "no.asm"
    marks.write_bytes(write_raw(marked(insns, row["instruction"], row["kind"])))
    yes.write_text("ret #1\n"), no.write_text("ret #0\n")
    done = run("diff", no, marks, "--json", "--max-regions", 0)
    assert done.status == (0 if row["count"] == "0" else 1), done
    assert json.loads(done.out)["count"] == row["count"]
    regions = row["regions"]
    complete = len(regions) == int(row["region_count"])
    assert complete or (len(regions) == SHOWN and int(row["region_count"]) > SHOWN)
    if row["count"] == "0":
        return
    whole = " || ".join("(%s)" % region for region in regions)
    proof, done = report("prove", marks, yes, "--assume", whole)
    assert (done.status, proof["verdict"]) == (0, "equivalent"), done
    if int(row["count"]) == ALL:
        assert regions == ["true"]
    elif complete:
        proof, done = report("prove", marks, no, "--assume", "!(%s)" % whole)
        assert (done.status, proof["verdict"]) == (0, "equivalent"), done
    for i in range(1, min(len(regions), 30)):
        before = " || ".join("(%s)" % region for region in regions[:i])
        error, done = report("prove", yes, yes, "--assume", "(%s) && (%s)" % (regions[i], before))
        assert done.status == 2 and "no input satisfies the assumption" in error["detail"], regions[:i + 1]


@pytest.mark.parametrize("name", SMALL)
def test_counts_and_regions_of_small_programs_are_exact(name, asm, tmp_path):
    path, insns = asm(SMALL[name]), program(SMALL[name])
    rows = counted(path, insns)
    smallest_reach(path, rows, [key for key, row in rows.items() if row["count"] != "0"])
    for pc in range(len(insns)):
        document, done = report("reach", path, "--at", pc, "--max-regions", SHOWN)
        assert done.status == 0
        for row in document["obligations"]:
            whole = rows[row["instruction"], row["kind"]]
            assert {**row, "regions": []} == whole
            holds_exactly(row, insns, tmp_path)
        assert len(document["obligations"]) == (3 if two_way(insns[pc]) else 1)


def test_counts_match_a_calculation_by_hand(asm):
    rows = counted(asm(SMALL["jumps"]), program(SMALL["jumps"]))
    counts = {key: int(row["count"]) for key, row in rows.items()}
    assert (counts[1, "true"], counts[1, "false"]) == (WORD, ALL - WORD)
    assert (counts[3, "true"], counts[3, "false"]) == (WORD >> 32, WORD - (WORD >> 32))
    assert counts[4, "false"] == 100 * (WORD >> 32)  # 0 to 100 except 39
    without_6 = sum(number & 6 == 0 and number != 39 for number in range(101))
    assert counts[6, "line"] == without_6 * (WORD >> 32)
    assert counts[8, "line"] == without_6 * (WORD >> 64) * ((1 << 32) - 9)
    assert rows[7, "true"]["smallest"]["words"] == [0, 0xC000003E, 0, 0, 9] + [0] * 11


def test_unreachable_instructions_are_infeasible(asm):
    rows = counted(asm(SMALL["dead"]), program(SMALL["dead"]))
    infeasible = {(2, "true"), (3, "line"), (3, "true"), (3, "false"), (4, "line")}
    assert {key for key, row in rows.items() if row["count"] == "0"} == infeasible
    out = run("reach", asm(SMALL["dead"])).out
    assert out.count("infeasible: no input reaches it") == len(infeasible)
    for pc, kind in infeasible:
        assert re.search(r"^ +%d%s .*infeasible: no input reaches it$" % (pc, "" if kind == "line" else " " + kind), out, re.MULTILINE)


@pytest.mark.parametrize("name", SMALL)
def test_the_solver_agrees_about_infeasible_edges(name, asm):
    path = asm(SMALL[name])
    covered, _ = report("cover", path, "--no-derive", "--engine", "z3")
    assert covered["open"] == []
    rows = counted(path, program(SMALL[name]))
    assert {(row["instruction"], row["kind"]) for row in covered["infeasible"]} == \
        {key for key, row in rows.items() if row["count"] == "0"}


def test_outcomes_of_jumps_with_equal_targets_are_counted(asm):
    rows = counted(asm(SMALL["equal"]), program(SMALL["equal"]))
    assert [int(rows[1, kind]["count"]) for kind in KINDS] == [ALL, WORD, ALL - WORD]
    assert [int(rows[2, kind]["count"]) for kind in KINDS] == [ALL, ALL - ALL // 4, ALL // 4]
    assert int(rows[3, "line"]["count"]) == ALL


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_witnesses_of_real_programs_reach_their_instructions(path):
    insns = read_raw(path.read_bytes())
    rows = counted(path, insns)
    feasible = sorted(key for key, row in rows.items() if row["count"] != "0")
    assert len(feasible) > len(insns)
    smallest_reach(path, rows, random.Random(9).sample(feasible, 24))


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_regions_of_real_programs_are_exact(path, tmp_path):
    insns = read_raw(path.read_bytes())
    seen = 0
    for pc in random.Random(13).sample(range(len(insns) // 2), 12):
        document, done = report("reach", path, "--at", pc, "--max-regions", 12)
        assert done.status == 0
        line = document["obligations"][0]
        if int(line["region_count"]) <= 12:
            holds_exactly(line, insns, tmp_path)
            seen += 1
        else:
            assert len(line["regions"]) == 12
    assert seen >= 4


@pytest.mark.parametrize("path", SEED_POLICIES, ids=lambda path: path.stem)
def test_policies_are_compiled_and_counted(path, tmp_path):
    compiled = tmp_path / "compiled.bpf"
    assert run("asm", path, "-o", compiled).status == 0
    rows = counted(path, read_raw(compiled.read_bytes()))
    feasible = sorted(key for key, row in rows.items() if row["count"] != "0")
    smallest_reach(compiled, rows, random.Random(10).sample(feasible, 12))
    assert report("reach", compiled)[0]["obligations"] == list(rows.values())


def test_max_regions_limits_the_list_but_not_the_counts(asm):
    path = asm("ld [0]\n" + "".join("jeq #%d, yes\n" % number for number in range(0, 80, 2)) + "ld [16]\njeq #1, yes, no\n"
               "yes: ld [20]\njeq #5, yes2, no\nyes2: ret #1\nno: ret #2\n")
    line = lambda *options: report("reach", path, "--at", 45, *options)[0]["obligations"][0]  # noqa: E731
    whole = line("--max-regions", SHOWN)
    assert len(whole["regions"]) == int(whole["region_count"]) == 2
    for most in (0, 1, 2, 3):
        row = line("--max-regions", most)
        assert row == {**whole, "regions": whole["regions"][:most]}
        out = run("reach", path, "--at", 45, "--max-regions", most).out
        assert ("... %d of 2 regions shown (--max-regions)" % most in out) == (most < 2)
        assert [region in out for region in whole["regions"]] == [most > 0, most > 1]


def test_counts_are_readable_in_text(getpid):
    lines = [re.sub(" +", " ", line) for line in run("reach", getpid).out.splitlines()]
    assert lines[0] == " 0 ld [0] 2^512 inputs, for example nr=0 arch=0x0 (unknown) ip=0x0 args=[]"
    assert lines[2].startswith(" 1 true jeq #0x27, L2, L3 2^480 inputs, for example nr=39 ")
    assert len(lines) == 6


@pytest.mark.parametrize("at", ["4", "4096", "18446744073709551615"])
def test_an_instruction_past_the_end_is_an_error(at, getpid):
    document, done = report("reach", getpid, "--at", at)
    assert (done.status, document["error"], document["where"]) == (2, "usage", "--at")
    assert document["detail"] == "expected an instruction from 0 to 3, found " + at
    assert report("reach", getpid, "--at", 3)[1].status == 0


@pytest.mark.parametrize("options", [["--at", "-1"], ["--at", "x"], ["--at", "18446744073709551616"], ["--max-regions", "-1"],
                                     ["--max-regions", "1000001"], ["--max-memory", "0"]])
def test_wrong_option_values_are_errors(options, getpid):
    done = run("reach", getpid, *options)
    assert done.status == 2 and done.out == "" and options[0] in done.err, done


def test_bad_programs_are_errors(asm, hard):
    for path, status, kind in ((asm("ld [0]\n", "bad.asm"), 4, "rejected"), ("nonexistent", 2, "io"),
                               (PROGRAMS / "gvisor", 2, "io")):
        document, done = report("reach", path)
        assert (done.status, document["error"]) == (status, kind), done
    text = "ld [16]\ntax\nld [24]\nmul x\njeq #77, L1, L2\nL1: ret #1\nL2: ret #2\n"
    document, done = report("reach", asm(text))
    assert (done.status, document["error"]) == (3, "budget"), done
    assert run("reach", asm(text)).out == ""
