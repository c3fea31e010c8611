"""Tests `secequiv cost`. The tests count executed instructions with a second implementation."""
import json
import xml.etree.ElementTree
from fractions import Fraction

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, fits, read_raw, run

SYSTRAP = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
DOCKER = POLICIES / "oci" / "docker-default.json"
POSTGRES = ROOT / "corpus" / "profiles" / "postgres.txt"


def ask(*arguments):
    done = run("cost", "--json", *arguments)
    document = json.loads(done.out)
    assert done.status == 0 and fits(document) == "cost", done
    return document


def executed(insns, words):
    """Returns (executed instructions, taken jumps). It supports the instructions that these filters and gVisor's use."""
    pc = a = instructions = jumps = 0
    while True:
        code, jt, jf, k = insns[pc]
        instructions += 1
        step = 0
        if code == 0x20:
            a = words[k // 4]
        elif code == 0x54:
            a &= k
        elif code == 0x05:
            step = k
        elif code in (0x15, 0x25, 0x35, 0x45):
            step = jt if {0x15: a == k, 0x25: a > k, 0x35: a >= k, 0x45: a & k != 0}[code] else jf
        else:
            assert code == 0x06
            return instructions, jumps
        jumps += step != 0
        pc += 1 + step


# read executes 4 instructions; write executes 6 if the low half of arg0 is 5, otherwise 5; close executes 5 and is allowed if bit
# 0 of arg0 is clear.
BY_HAND = """ld [0]\njeq #1, write, next\nnext: jeq #3, close, allow\nwrite: ld [16]\njeq #5, five, allow\nfive: ja allow
close: ld [16]\njset #1, deny, allow\ndeny: ret #0x50001\nallow: ret #0x7fff0000\n"""

# The product of three arguments exceeds the diagrams' limits; the rest of the program does not.
HARD = """ld [0]\njeq #1, hard, easy\neasy: ret #0x7fff0000
hard: ld [16]\ntax\nld [24]\nmul x\ntax\nld [32]\nmul x\njset #0x8000000, easy2, no\neasy2: ret #0x7fff0000\nno: ret #0x50001\n"""


def test_witnesses_execute_the_reported_counts():
    document = ask(*SYSTRAP)
    assert document["inputs"] == 0
    for side, path in zip(document["sides"], SYSTRAP):
        insns = read_raw(path.read_bytes())
        assert side["exact"] and side["worst"]["exact"] and len(side["calls"]) > 300
        assert executed(insns, side["worst"]["data"]["words"])[0] == side["worst"]["instructions"]
        assert side["worst"]["instructions"] >= max(row["most"] for row in side["calls"])
        assert any(row["least"] < row["mean"] < row["most"] for row in side["calls"])
        for row in side["calls"]:
            assert row["exact"] and row["least"] <= row["mean"] <= row["most"] and row["jumps"] < row["mean"]
            assert float(Fraction(row["over"]["mean"])) == pytest.approx(row["mean"])
            assert float(Fraction(row["over"]["jumps"])) == pytest.approx(row["jumps"])
            for end in ("least", "most"):
                assert executed(insns, row[end + "_data"]["words"])[0] == row[end]
                assert row[end + "_data"]["words"][1] == 0xC000003E
    assert document["sides"][0]["mean"] > 1.5 * document["sides"][1]["mean"]


def test_derived_costs_lie_within_the_exact_bounds(tmp_path):
    """Compares a run over all inputs with a run over derived inputs, on the same filters."""
    exact, derived = ask(*SYSTRAP), ask(*SYSTRAP, "--derived")
    assert derived["inputs"] > 1000
    for all_of, some in zip(exact["sides"], derived["sides"]):
        assert not some["exact"] and not some["worst"]["exact"]
        assert some["worst"]["instructions"] <= all_of["worst"]["instructions"]
        for known, row in zip(all_of["calls"], some["calls"], strict=True):
            assert known["name"] == row["name"] and not row["exact"]
            assert known["least"] <= row["least"] <= row["mean"] <= row["most"] <= known["most"], row["name"]
    text = run("cost", *SYSTRAP, "--derived").out
    assert "~ from derived inputs only" in text and " or more in the worst case: nr=" in text


def test_exact_means_match_a_calculation_by_hand(asm, tmp_path):
    (tmp_path / "profile").write_text('[{"name": "read", "calls": 1}, {"name": "write", "calls": 2}, {"calls": 1, "name": "close"}]')
    side, = ask(asm(BY_HAND), "--profile", tmp_path / "profile")["sides"]
    rows = {row["name"]: row for row in side["calls"]}
    assert {name: (row["least"], row["most"], row["over"]["mean"], row["over"]["jumps"]) for name, row in rows.items()} == {
        "read": (4, 4, "4", "1"), "write": (5, 6, str(Fraction(5) + Fraction(1, 2**32)), "2"), "close": (6, 6, "6", "2")}
    assert {name: int(row["over"]["inputs"]) for name, row in rows.items()} == {"read": 2**448, "write": 2**448, "close": 2**447}
    assert rows["write"]["most_data"]["words"] == [1, 0xC000003E, 0, 0, 5] + [0] * 11
    assert all(row["over"]["allowed"] for row in side["calls"]) and side["worst"]["instructions"] == 6
    assert side["mean_uncached"] == pytest.approx((4 + 2 * 5 + 6) / 4)


def test_costs_beyond_the_limits_are_marked_as_derived(asm, tmp_path):
    (tmp_path / "profile").write_text("read 3\nwrite 2\n")
    arguments = [asm(HARD), "--profile", tmp_path / "profile", "--max-memory", 1]
    document = ask(*arguments)
    side, = document["sides"]
    read, write = side["calls"]
    assert read["exact"] and read["mean"] == 3 and not write["exact"] and write["inputs"] > 0 and write["mean"] == 11
    assert document["inputs"] > 0 and not side["exact"] and not side["worst"]["exact"] and side["worst"]["instructions"] == 11
    text = run("cost", *arguments).out
    marked = [line.split()[0] for line in text.splitlines() if line.rstrip().endswith("~")]
    assert marked == ["write"] and "~ from derived inputs only" in text and "and 11 or more in the worst case: " in text
    assert not ask(SYSTRAP[0], "--timeout", 0.000001)["sides"][0]["exact"]


def test_a_call_without_arguments_has_a_single_cost():
    document = ask(*SYSTRAP, "--profile", POSTGRES)
    words = [24, 0xC000003E] + [0] * 14  # sched_yield
    for side, path in zip(document["sides"], SYSTRAP):
        row, = (row for row in side["calls"] if row["name"] == "sched_yield")
        count, jumps = executed(read_raw(path.read_bytes()), words)
        assert (row["least"], row["most"], row["mean"], row["jumps"], row["calls"]) == (count, count, count, jumps, 375)


def test_means_are_weighted_by_the_profile(asm, tmp_path):
    # read: 3 instructions; getpid: 4 and cached; write: 5.
    filter_ = asm("ld [0]\njeq #0, r, next\nr: ret #0x50001\nnext: jeq #39, y, b\nb: ld [16]\nn: ret #0x50002\ny: ret #0x7fff0000\n")
    (tmp_path / "profile").write_text("read 3\ngetpid 5\nwrite 2\n")
    side, = ask(filter_, "--profile", tmp_path / "profile")["sides"]
    assert {row["name"]: (row["mean"], row["cached"], row["jumps"]) for row in side["calls"]} == {
        "read": (3, False, 0), "getpid": (4, True, 2), "write": (5, False, 1)}
    assert side["mean_uncached"] == pytest.approx((3 * 3 + 5 * 4 + 2 * 5) / 10)
    assert side["mean"] == pytest.approx((3 * 3 + 2 * 5) / 10)


def test_the_table_starts_with_the_most_expensive_call(tmp_path):
    text = run("cost", *SYSTRAP, "--profile", POSTGRES).out.splitlines()
    assert text[3].startswith("system call") and text[3].endswith("ratio")
    assert text[4].startswith("futex") and any(line.startswith("ratio: ") for line in text)
    short = run("cost", SYSTRAP[1]).out
    assert " more (--all)" in short and " more (--all)" not in run("cost", SYSTRAP[1], "--all").out


def test_the_table_of_two_filters_starts_with_the_largest_change(asm, tmp_path):
    """exit costs most on both sides, and write changes most."""
    (tmp_path / "profile").write_text("exit 1000\nwrite 5\nread 5\n")
    slow = "ld [0]\njeq #60, slow\njeq #1, change\nret #0x50001\nslow: ld [16]\n" + "add #1\n" * 20 + "ret #0x50001\nchange: %sret #0x50001\n"
    before, after = asm(slow % "", "before.asm"), asm(slow % ("ld [16]\n" * 10), "after.asm")
    lines = run("cost", before, after, "--profile", tmp_path / "profile").out.splitlines()
    assert [line.split()[0] for line in lines[4:7]] == ["write", "exit", "read"] and "before" in lines[2] and "after" in lines[2]
    assert [line.split()[0] for line in run("cost", before, "--profile", tmp_path / "profile").out.splitlines()[2:5]] == ["exit", "read", "write"]
    assert all(len(line) <= 80 for line in lines[2:7])


def test_cached_calls_count_as_free_in_the_order_and_the_ratio(asm, tmp_path):
    before = asm("ld [0]\njeq #0, r, w\nr: ld [16]\nret #0x7fff0000\nw: ret #0x7fff0000\n", "before.asm")
    (tmp_path / "profile").write_text("write 1000\nread 1\n")
    rows = run("cost", before, "--profile", tmp_path / "profile").out.splitlines()
    assert [row.split()[0] for row in rows[2:4]] == ["read", "write"] and "*" in rows[3] and "*" not in rows[2]
    (tmp_path / "write").write_text("write 1000\n")
    after = asm("ret #0x7fff0000\n", "after.asm")
    assert "ratio: none, because all calls are cached (0.33 without the cache)\n" in run("cost", before, after, "--profile", tmp_path / "write").out
    text = run("cost", before, after, "--profile", tmp_path / "profile", "--derived").out
    assert "ratio: 0.00~ (0.33~ without the cache)\n" in text and " gained\n" in text


def test_a_lost_cached_call_is_named_and_has_no_ratio(asm, tmp_path):
    """Both filters execute as many instructions for write, but the kernel runs only one of them."""
    before = asm("ld [0]\njeq #1, w, r\nw: ret #0x7fff0000\nr: ret #0x7fff0000\n", "before.asm")
    after = asm("ld [0]\njeq #1, w, r\nw: ret #0x7ffc0000\nr: ret #0x7fff0000\n", "after.asm")
    (tmp_path / "profile").write_text("write 3\nread 1\n")
    for files, word, line in ([(before, after), "lost", "lost: no longer cached: write\n"], [(after, before), "gained", "gained: cached now: write\n"]):
        text = run("cost", *files, "--profile", tmp_path / "profile").out
        rows = {row.split()[0]: row.split()[-1] for row in text.splitlines() if "|" in row}
        assert rows["write"] == word and rows["read"] == "1.00" and line in text


@pytest.mark.parametrize("text, message", [
    ("read 1\nwrite x\n", ":2: expected the number of calls of write"),
    ('{"read": 1,\n "write": -1}', ":2#/write: expected a number from 0 to 2^64-1"),
    ('[{"name": "read", "calls": 1},\n {"name": "write"}]', ":2#/1: the key 'calls' is missing"),
])
def test_errors_in_profiles_name_the_place(tmp_path, text, message):
    (tmp_path / "profile").write_text(text)
    done = run("cost", SYSTRAP[0], "--profile", tmp_path / "profile")
    assert done.status == 2 and str(tmp_path / "profile") + message in done.err and not done.out


@pytest.mark.parametrize("arguments, message", [
    ([], "input"), ([SYSTRAP[0], "--profile", "/nowhere"], "/nowhere"), ([SYSTRAP[0], "--profile", SYSTRAP[1]], "systrap.after.bpf"),
])
def test_wrong_usage_is_an_error(arguments, message):
    done = run("cost", *arguments)
    assert done.status == 2 and message in done.err and not done.out


def test_calls_that_the_architecture_lacks_are_left_out(tmp_path):
    (tmp_path / "profile").write_text("socketcall 3\n")
    assert "expected system calls of x86_64" in run("cost", SYSTRAP[0], "--profile", tmp_path / "profile").err
    (tmp_path / "profile").write_text("socketcall 3\nread 1\n")
    done = run("cost", SYSTRAP[0], "--profile", tmp_path / "profile")
    assert done.status == 0 and "ignored socketcall, which x86_64 does not have" in done.err


def sides(*arguments):
    """Returns each side's programs in the JSON report, and its mean without the cache. The text report must begin with the same
    programs."""
    document = ask(*arguments)
    lines = iter(run("cost", *arguments).out.splitlines())
    for side in document["sides"]:
        stacked = len(side["filters"]) > 1
        if stacked:
            assert next(lines) == side["name"] + ": a stack; the kernel runs every filter in it"
        for one in side["filters"]:
            made = ", " + one["compilation"] if "compilation" in one else ""
            assert next(lines) == "%s%s%s: %d instruction%s" % ("  " * stacked, one["name"], made, one["instructions"], "s" * (one["instructions"] > 1))
        assert side["instructions"] == sum(one["instructions"] for one in side["filters"])
    assert "--profile" in arguments or next(lines) == "each system call counts once (no --profile)"
    assert next(lines).startswith("system call" if len(document["sides"]) == 1 else " ")
    return [(side["filters"], side["mean_uncached"]) for side in document["sides"]]


def test_a_policy_has_the_cost_of_its_optimized_program(tmp_path):
    (filters, mean), = sides(DOCKER)
    assert filters[0]["name"] == str(DOCKER) and filters[0]["compilation"] == "compiled and optimized by the built-in passes"
    assert run("optimize", DOCKER, "--to", "raw", "-o", tmp_path / "best.bpf").status == 0
    (program, same), (whole, unoptimized) = sides(tmp_path / "best.bpf")[0], sides(DOCKER, "--passes", "none")[0]
    assert same == mean and program[0]["instructions"] == filters[0]["instructions"] and "compilation" not in program[0]
    assert whole[0]["compilation"] == "compiled, not optimized" and unoptimized > 10 * mean
    assert whole[0]["instructions"] > 4096 and "not installable" not in run("cost", DOCKER).err


def test_the_table_of_one_filter_names_what_it_counts():
    lines = run("cost", DOCKER).out.splitlines()
    assert lines[1:3] == ["each system call counts once (no --profile)", "system call             | least     mean   most  instructions"]
    assert not any(line.endswith(" ") for line in lines)


def test_two_policies_are_compiled_in_the_same_way():
    older = DOCKER.with_name("docker-default-0.1.0.json")
    for options in ([], ["--passes", "none"], ["--passes", "hot-first"], ["--compiler", "secequiv"], ["--optimizer", "identity"]):
        (first, _), (second, _) = sides(older, DOCKER, *options)
        assert first[0]["compilation"] == second[0]["compilation"] and first[0]["name"] != second[0]["name"]
    (first, _), (second, _) = sides(DOCKER, SYSTRAP[0])
    assert "compilation" in first[0] and "compilation" not in second[0]


def test_the_named_compiler_or_optimizer_makes_the_program(tmp_path):
    (filters, mean), = sides(DOCKER)
    (named, same), = sides(DOCKER, "--compiler", "secequiv")
    assert named[0] == {**filters[0], "compilation": "compiled by 'secequiv'"} and same == mean
    (plain, slow), = sides(DOCKER, "--passes", "none")
    (as_is, slower), = sides(DOCKER, "--optimizer", "identity")
    assert as_is[0] == {**plain[0], "compilation": "compiled, then optimized by 'identity'"} and slower == slow
    script = tmp_path / "compile"
    script.write_text("#!/bin/sh\nprintf 'ret #0x7fff0000\\n'\n")
    script.chmod(0o755)
    (short, one), = sides(DOCKER, "--compiler", script)
    assert short[0]["instructions"] == 1 and one == 1
    script.write_text("#!/bin/sh\nprintf 'ld [3]\\nret #0\\n'\n")
    refused = run("cost", DOCKER, "--compiler", script)
    assert refused.status == 4 and "(compiled by '%s'): load_offset at instruction 0" % script in refused.err and not refused.out
    failed = run("cost", DOCKER, "--compiler", "false")
    assert failed.status == 5 and "crashed" in failed.err and not failed.out


@pytest.mark.parametrize("arguments, message", [
    ([SYSTRAP[0], "--passes", "none"], "expected a policy with --optimizer, --compiler or --passes"),
    ([SYSTRAP[0], "--compiler", "secequiv"], "expected a policy with --optimizer, --compiler or --passes"),
    ([DOCKER, "--passes", "nothing"], "unknown pass 'nothing'"), ([DOCKER, "--compiler", "broken:nothing"], "unknown built-in name"),
    ([DOCKER, "--compiler", "secequiv", "--passes", "hot-first"], "cannot be combined with"),
    (["%s," % SYSTRAP[0]], "expected a file on both sides of each comma"),
    (["%s,/nowhere" % SYSTRAP[0]], "/nowhere"),
])
def test_wrong_compilations_and_stacks_are_errors(arguments, message):
    done = run("cost", *arguments)
    assert done.status == 2 and message in done.err and not done.out, done


def test_a_stack_costs_the_sum_of_its_filters(asm, tmp_path):
    """The kernel runs each filter for each call. The first one here denies what the second would allow."""
    deny = asm("ld [0]\njeq #1, w, n\nw: ld [16]\njeq #5, d, n\nd: ret #0x50001\nn: ret #0x7fff0000\n", "deny.asm")
    (tmp_path / "profile").write_text("read 1\nwrite 2\nclose 1\n")
    by_hand = asm(BY_HAND, "by-hand.asm")
    stack = "%s,%s" % (deny, by_hand)
    arguments = [stack, by_hand, "--profile", tmp_path / "profile"]
    (filters, _), (alone, _) = sides(*arguments)
    assert [one["name"] for one in filters] == [str(deny), str(by_hand)] and len(alone) == 1
    side, single = ask(*arguments)["sides"]
    rows = {row["name"]: row for row in side["calls"]}
    # A write with arg0 == 5 executes 5 + 6 instructions, the most, but is denied; other writes execute 5 + 5.
    assert {name: (row["least"], row["most"], row["over"]["mean"]) for name, row in rows.items()} == {
        "read": (7, 7, "7"), "write": (10, 11, "10"), "close": (9, 9, "9")}
    assert int(rows["write"]["over"]["inputs"]) == 2**448 - 2**416 and rows["write"]["most_data"]["words"][4] == 5
    assert side["exact"] and side["worst"]["exact"] and side["worst"]["instructions"] == 11
    assert not rows["write"]["cached"] and rows["read"]["cached"]
    doubled, = ask("%s,%s" % (by_hand, by_hand), "--profile", tmp_path / "profile")["sides"]
    for one, two in zip(single["calls"], doubled["calls"]):
        assert Fraction(two["over"]["mean"]) == 2 * Fraction(one["over"]["mean"]) and two["most"] == 2 * one["most"]
        assert two["over"]["inputs"] == one["over"]["inputs"] and two["jumps"] == 2 * one["jumps"]


def test_stacks_beyond_the_limits_are_marked_as_derived(asm, tmp_path):
    (tmp_path / "profile").write_text("read 3\nwrite 2\n")
    stack = "%s,%s" % (asm(HARD), asm("ld [0]\nret #0x7fff0000"))
    side, = ask(stack, "--profile", tmp_path / "profile", "--max-memory", 1)["sides"]
    read, write = side["calls"]
    assert read["exact"] and read["mean"] == 5 and not write["exact"] and write["mean"] == 13 and not side["worst"]["exact"]


def test_chart_shows_each_call_once(asm, tmp_path):
    chart = tmp_path / "c&<.svg"
    done = run("cost", *SYSTRAP, "--chart", chart)
    assert done.status == 0 and done.out == run("cost", *SYSTRAP).out
    tree = xml.etree.ElementTree.parse(chart)
    svg = "{http://www.w3.org/2000/svg}"
    assert set(map(str, SYSTRAP)) <= {text.text for text in tree.iter(svg + "text")}
    drawn = {}
    for bar in tree.iter(svg + "rect"):
        if (title := bar.find(svg + "title")) is not None:
            side = bar.get("class").split()[0]
            drawn[side] = drawn.get(side, 0) + int(title.text.split(": ")[1].split()[0])
    assert drawn == dict.fromkeys(["base", "filter"], len(ask(*SYSTRAP)["sides"][0]["calls"]))


def test_the_report_appears_even_if_the_chart_cannot_be_written(getpid, tmp_path):
    done = run("cost", getpid, "--chart", tmp_path / "none" / "c.svg")
    assert done.status == 2 and "none/c.svg" in done.err and "system call" in done.out
    done = run("cost", getpid, "--chart", "-", "--json")
    assert done.status == 2 and "expected a file" in done.err and "schema" in done.out
    (tmp_path / "old.svg").write_text("old")
    assert run("cost", getpid, "--chart", tmp_path / "old.svg", "--profile", "/nowhere").status == 2
    assert (tmp_path / "old.svg").read_text() == "old"


def test_bounds_lie_below_every_equivalent_filter(asm, tmp_path):
    """The same decisions have the same bounds, whatever the program, and no program is better."""
    (tmp_path / "profile").write_text("read 3\nwrite 2\nopen 5\n")
    deny, allow = "ret #0x50001", "ret #0x7fff0000"
    best = asm("ld [0]\njge #2, no, yes\nyes: %s\nno: %s\n" % (allow, deny))
    slow = asm("ld [0]\njeq #0, yes, n\nn: jeq #1, yes, no\nyes: %s\nno: %s\n" % (allow, deny))
    sides = ask(best, slow, "--profile", tmp_path / "profile", "--bound")["sides"]
    assert sides[0]["bound"] == sides[1]["bound"]
    bound = sides[0]["bound"]
    assert (bound["calls"], bound["by_number"]) == (10, 10)
    assert bound["comparing"]["mean_uncached"] == pytest.approx(3) == pytest.approx(sides[0]["mean_uncached"])
    assert bound["comparing"]["mean"] == pytest.approx(1.5) == pytest.approx(sides[0]["mean"])
    assert bound["comparing"]["instructions"] == 4 == sides[0]["instructions"]
    assert sides[1]["mean_uncached"] > bound["comparing"]["mean_uncached"] >= bound["any"]["mean_uncached"]
    text = run("cost", slow, "--profile", tmp_path / "profile", "--bound").out
    assert "comparing with constants: at least" in text and "this filter exceeds that by" in text and "25.0 %" in text


@pytest.mark.parametrize("policy", ["oci/docker-default.json", "gvisor/systrap.json", "seed/orders.json"])
def test_optimized_policies_are_no_better_than_the_bounds(policy):
    side, = ask(POLICIES / policy, "--profile", POSTGRES, "--bound")["sides"]
    for bound in (side["bound"]["any"], side["bound"]["comparing"]):
        assert all(bound[key] <= side[key] for key in ("mean", "mean_uncached", "instructions"))


def test_a_missing_bound_is_unknown(asm):
    done = run("cost", asm("ld [0]\nret a\n"), "--bound", "--json")
    assert done.status == 3 and fits(json.loads(done.out)) == "cost"
    assert json.loads(done.out)["sides"][0]["no_bound"] == "the filter returns values that it computes"
    assert "unknown lower bound: the filter returns" in run("cost", asm("ld [0]\nret a\n"), "--bound").out
