"""Tests `secequiv diff`: all inputs on which two filters differ, as exact, disjoint and complete regions, and their comparison
with a stored file."""

import itertools
import json
import random
import re

import pytest
from cli_tool import (HARD_AFTER, HARD_BEFORE, POLICIES, PROGRAMS, assembled, confirmed, evaluate, inside, listed, program,  # noqa: F401
                      read_raw, report, run, words_bytes)

ALL = 2 ** 512
X86_64, S390X, AARCH64 = 0xC000003E, 0x80000016, 0xC00000B7
ALLOW, EPERM, KILL = "0x7fff0000", "0x00050001", "0x80000000"
# These tests of arch and nr surround the part in which two filters can differ.
READ = "ld [4]\njeq #0xc000003e, on, no\non: ld [0]\njeq #0, body, no\nbody: %s\nno: ret #0x80000000\n"


def found(document):
    """Returns (before, after, count, [(condition, count)]) for every change."""
    return [(change["before"] and change["before"]["value"], change["after"] and change["after"]["value"], int(change["count"]),
             [(region["condition"], int(region["count"])) for region in change["regions"]]) for change in document["changes"]]


def adds_up(document):
    """Checks that all regions are listed and that the counts of regions, changes and the total add up."""
    total = 0
    for change in document["changes"]:
        assert int(change["region_count"]) == len(change["regions"])
        assert int(change["count"]) == sum(int(region["count"]) for region in change["regions"]) > 0
        assert change["before"] is None or change["before"] != change["after"]
        total += int(change["count"])
    assert int(document["count"]) == total


KNOWN = [
    ("ret #1", "ret #1", []),
    ("ret #0x7fff0000", "ret #0x50001", [(ALLOW, EPERM, ALL, [("true", ALL)])]),
    (READ % "ret #0x7fff0000", READ % "ret #0x80000000",
     [(ALLOW, KILL, 2 ** 448, [("arch == x86_64 && nr == read", 2 ** 448)])]),
    # Differences in both directions; each change has its own regions.
    ("ld [0]\njgt #4, y, n\ny: ret #0x7fff0000\nn: ret #0x50001", "ld [0]\njge #9, y, n\ny: ret #0x50001\nn: ret #0x7fff0000",
     [(EPERM, ALLOW, 5 << 480, [("nr <= 4", 5 << 480)]), (ALLOW, EPERM, (2 ** 32 - 9) << 480, [("nr >= 9", (2 ** 32 - 9) << 480)])]),
    # The filters differ in a range of a 64-bit argument and test both halves.
    (READ % "ld [20]\njeq #0, lo, no\nlo: ld [16]\njgt #9, no, y\ny: ret #0x7fff0000",
     READ % "ld [20]\njeq #0, lo, no\nlo: ld [16]\njgt #3, no, y\ny: ret #0x7fff0000",
     [(ALLOW, KILL, 6 << 384, [("arch == x86_64 && nr == read && arg0 in {0x4..0x9}", 6 << 384)])]),
    # The filters test single bits.
    ("ld [60]\njset #0x8, y, n\ny: ret #1\nn: ret #2", "ret #2",
     [("0x00000001", "0x00000002", 2 ** 511, [("arg5.hi & 0x8 == 0x8", 2 ** 511)])]),
    ("ld [60]\nand #0xf0\njeq #0x30, y, n\ny: ret #1\nn: ret #2", "ret #2",
     [("0x00000001", "0x00000002", 2 ** 508, [("arg5.hi & 0xf0 == 0x30", 2 ** 508)])]),
    # The filters differ for all values except a few.
    ("ld [8]\njeq #7, y, m\nm: jeq #9, y, n\ny: ret #1\nn: ret #2", "ret #1",
     [("0x00000002", "0x00000001", (2 ** 32 - 2) << 480, [("ip.lo not in {0x7, 0x9}", (2 ** 32 - 2) << 480)])]),
    ("ld [12]\njeq #7, y, n\ny: ret #1\nn: ret #2", "ret #1",
     [("0x00000002", "0x00000001", (2 ** 32 - 1) << 480, [("ip.hi != 0x7", (2 ** 32 - 1) << 480)])]),
    # The filters differ for a single input.
    ("".join("ld [%d]\njeq #%d, n%d\nret #2\nn%d: " % (4 * i, i + 1, i, i) for i in range(16)) + "ret #1", "ret #2",
     [("0x00000001", "0x00000002", 1, [("arch == 0x2 && nr == 1 && ip == 0x400000003 && " + " && ".join(
         "arg%d == %#x" % (i, (2 * i + 6) << 32 | 2 * i + 5) for i in range(6)), 1)])]),
    # A computed return value is not shown as a number.
    ("ld [0]\nret a", "ret #0", [(None, "0x00000000", (2 ** 32 - 1) << 480, [("nr >= 1", (2 ** 32 - 1) << 480)])]),
    # Arguments appear in the byte order of the architecture.
    ("ld [4]\njeq #0x80000016, on, n\non: ld [16]\njeq #1, lo, n\nlo: ld [20]\njeq #9, y, n\ny: ret #1\nn: ret #2", "ret #2",
     [("0x00000001", "0x00000002", 2 ** 416, [("arch == s390x && arg0 == 0x100000009", 2 ** 416)])]),
]


@pytest.mark.parametrize("before, after, changes", KNOWN, ids=range(len(KNOWN)))
def test_differences_have_the_expected_regions(before, after, changes, asm):
    document, done = report("diff", asm(before), asm(after))
    assert found(document) == changes
    assert (done.status, document["verdict"]) == ((1, "different") if changes else (0, "equivalent"))
    adds_up(document)
    text = run("diff", asm(before), asm(after))
    assert text.status == done.status
    for *_, regions in changes:
        for condition, _ in regions:
            assert "\n  %s\n" % condition in text.out
    assert text.out.splitlines()[-1].startswith(document["verdict"])


def test_counts_are_readable_in_text(asm):
    def shown(before, after):
        return run("diff", asm(before), asm(after)).out
    assert shown("ret #1", "ret #2").endswith("different: 2^512 of 2^512 inputs differ\n")
    assert shown("ret #1", "ret #1") == "equivalent: 0 of 2^512 inputs differ\n"
    five = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2"
    assert "KILL_THREAD(2) -> KILL_THREAD(1): 5 * 2^480 inputs in 1 region\n" in shown(five, "ret #1")
    assert "about 1.34e+154 inputs" in shown(five, "ret #2")
    *_, (_, _, _, point) = KNOWN[9][2]
    assert point[0][1] == 1 and ": 1 input in 1 region\n" in shown(*KNOWN[9][:2])


def test_same_behaviour_ignores_unobservable_bits(asm):
    one, two = asm("ret #0x7fff0000"), asm("ret #0x7fff0001")
    assert report("diff", one, two)[1].status == 1
    assert report("diff", one, two, "--same", "behaviour")[1].status == 0


def test_max_regions_limits_the_list_but_not_the_counts(asm):
    # The filters differ for even numbers only, so that no two numbers share a region.
    many = "ld [0]\n" + "".join("jeq #%d, t%d, n%d\nt%d: ld [%d]\njeq #%d, y, no\nn%d: " % (2 * i, i, i, i, 16 + i % 12 * 4, i, i)
                                for i in range(40)) + "ret #2\nno: ret #2\ny: ret #1\n"
    before, after = asm(many), asm("ret #2")
    whole, _ = report("diff", before, after, "--max-regions", 100000)
    adds_up(whole)
    assert int(whole["changes"][0]["count"]) == 40 << 448
    count = len(whole["changes"][0]["regions"])
    assert count == 40
    for most in (0, 1, 7, None):
        document, done = report("diff", before, after, *([] if most is None else ["--max-regions", most]))
        (change,) = document["changes"]
        assert done.status == 1 and change["region_count"] == str(count) and change["count"] == whole["changes"][0]["count"]
        assert change["regions"] == whole["changes"][0]["regions"][:20 if most is None else most]
    text = run("diff", before, after).out
    assert "  ... 20 of 40 regions shown (--max-regions)\n" in text
    assert "shown" not in run("diff", before, after, "--max-regions", 40).out


# The words that random programs read, and the values that the test enumerates for each: 2304 inputs.
SPACE = {0: range(8), 1: (X86_64, 3), 4: range(12), 5: range(2), 6: range(6)}
ASSUME = ("nr <= 7 && arch in {x86_64, 3} && ip == 0 && arg0.lo < 12 && arg0.hi <= 1 && arg1 <= 5 && arg2 == 0 && arg3 == 0 && "
          "arg4 == 0 && arg5 == 0")


def small_program(rng):
    """Returns a random program that tests the words of SPACE, some after arithmetic."""
    leaves, blocks = [0x7FFF0000, 0x50001, 0x80000000, 0x30002], rng.randrange(3, 9)
    out = ""
    for i in range(blocks):
        word = rng.choice(list(SPACE))
        out += "b%d: ld [%d]\n" % (i, 4 * word)
        kind = rng.randrange(6)
        if kind == 0:
            out += "and #%d\n" % rng.randrange(1, 16)
        elif kind == 1:
            out += "%s #%d\n" % (rng.choice(["add", "sub", "xor", "rsh", "mul"]), rng.randrange(1, 6))
        elif kind == 2:
            out += "tax\nld [%d]\n%s x\n" % (4 * rng.choice(list(SPACE)), rng.choice(["add", "sub", "xor", "or"]))
        ahead = ["b%d" % j for j in range(i + 1, blocks)] + ["r%d" % j for j in range(len(leaves))]
        k = rng.choice([X86_64, 3]) if word == 1 and kind > 2 else rng.randrange(12)
        out += "%s #%d, %s, %s\n" % (rng.choice(["jeq", "jgt", "jge", "jset"]), k, rng.choice(ahead[:3]), rng.choice(ahead))
    return out + "".join("r%d: ret #%d\n" % (i, leaf) for i, leaf in enumerate(leaves))


@pytest.mark.parametrize("seed", range(25))
def test_regions_agree_with_every_input_of_a_small_space(seed, asm):
    rng = random.Random(seed)
    texts = [small_program(rng), small_program(rng)]
    before, after = (program(text) for text in texts)
    paths = [asm(text) for text in texts]
    document, done = report("diff", *paths, "--assume", ASSUME, "--max-regions", 100000)
    adds_up(document)
    regions = [(change, region, [0]) for change in document["changes"] for region in change["regions"]]
    differing = 0
    for values in itertools.product(*SPACE.values()):
        words = [0] * 16
        for word, value in zip(SPACE, values):
            words[word] = value
        data = words_bytes(words)
        results = [evaluate(before, data), evaluate(after, data)]
        here = [row for row in regions if inside(row[1], words)]
        assert len(here) == (results[0] != results[1]), (words, results)
        for change, _, met in here:
            assert [int(change[side]["value"], 16) for side in ("before", "after")] == results
            met[0] += 1
        differing += len(here)
    assert int(document["count"]) == differing
    assert [met for _, _, (met,) in regions] == [int(region["count"]) for _, region, _ in regions]
    assert done.status == (differing > 0)
    proof, _ = report("prove", *paths, "--assume", ASSUME)
    assert (proof["verdict"] == "different") == (differing > 0)


# The filters are equivalent outside all regions, and differ in each region.

def policy(name):
    return POLICIES / "oci" / name


REAL = {
    "gvisor": (PROGRAMS / "gvisor" / "systrap.after.bpf", PROGRAMS / "gvisor" / "kvm.after.bpf"),
    "docker": (policy("docker-default.json"), policy("docker-default-0.1.0.json")),
    "podman": (policy("docker-default.json"), policy("podman-default.json")),
}


@pytest.mark.parametrize("name", REAL)
def test_regions_can_be_used_as_assumptions(name, tmp_path):
    paths = REAL[name]
    before, after = (assembled(path, tmp_path)[0] for path in paths)
    document, done = report("diff", *paths, "--max-regions", 1000000)
    assert done.status == 1
    adds_up(document)
    rows = [(change, region) for change in document["changes"] for region in change["regions"]]
    conditions = [region["condition"] for _, region in rows]
    assert len(set(conditions)) == len(conditions)

    def negated(these):
        return " && ".join("!(%s)" % condition for condition in these)
    proof, done = report("prove", *paths, "--assume", negated(conditions))
    assert (done.status, proof["verdict"]) == (0, "equivalent")
    for i, (change, region) in enumerate(rows):
        others = conditions[:i] + conditions[i + 1:]
        proof, done = report("prove", *paths, "--assume", region["condition"])
        assert done.status == 1
        assert confirmed(proof, before, after) == [int(change[side]["value"], 16) for side in ("before", "after")]
        assert inside(region, proof["witness"]["data"]["words"])
        if others:  # if all other regions are excluded, only this one remains
            proof, done = report("prove", *paths, "--assume", negated(others))
            assert done.status == 1 and inside(region, proof["witness"]["data"]["words"])


def test_flags_in_masks_have_names_that_an_assumption_accepts(tmp_path):
    def filter_with(bits):
        path = tmp_path / ("%#x.asm" % bits)
        path.write_text(READ.replace("#0, body", "#56, body") % ("ld [16]\njset #%#x, no, y\ny: ret #0x7fff0000" % bits))
        return path
    before, after = filter_with(0x10020000), filter_with(0x10000000)
    done = run("diff", before, after)
    conditions = [line.strip() for line in done.out.splitlines() if line.startswith("  arch")]
    assert conditions == ["arch == x86_64 && nr == clone && arg0.lo & (CLONE_NEWNS|CLONE_NEWUSER) == CLONE_NEWNS"], done
    assert run("prove", before, after, "--assume", conditions[0]).status == 1
    assert run("prove", before, after, "--assume", "!(%s)" % conditions[0]).status == 0


def test_docker_profiles_differ_in_the_expected_regions():
    document, _ = report("diff", *reversed(REAL["docker"]))
    assert found(document)[0][:2] == (ALLOW, EPERM)
    assert [condition for condition, _ in found(document)[0][3]] == [
        "arch == i386 && nr == socket && arg0.lo == 0x26", "arch == x86_64 && nr == socket && arg0 == 0x26",
        "arch == x86_64 && nr == x32:socket && arg0.lo == 0x26"]


def test_every_engine_finds_the_difference(tmp_path):
    before, after = (read_raw(path.read_bytes()) for path in REAL["gvisor"])
    document, done = report("prove", *REAL["gvisor"], "--engine", "both")
    assert (done.status, document["engine"], document["relation"]) == (1, "dd and z3", "incomparable")
    confirmed(document, before, after)


@pytest.mark.parametrize("arch, audit", [("s390x", S390X), ("aarch64", AARCH64), ("x86_64", X86_64)])
def test_regions_use_names_and_byte_order_of_the_host(arch, audit, asm):
    # Names and byte order are those of --arch, as in --assume.
    text = "ld [4]\njeq #%d, on, n\non: ld [0]\njeq #0, w, n\nw: ld [16]\njeq #1, lo, n\nlo: ld [20]\njeq #9, y, n\n" % audit
    before, after = asm(text + "y: ret #1\nn: ret #2\n"), asm("ret #2")
    document, _ = report("diff", before, after, "--arch", arch)
    condition = document["changes"][0]["regions"][0]["condition"]
    assert condition.endswith("arg0 == " + ("0x100000009" if arch == "s390x" else "0x900000001"))
    done = run("prove", before, after, "--assume", "!(%s)" % condition, "--arch", arch)
    assert done.status == 0, done


@pytest.mark.parametrize("audit, options", [(S390X, []), (X86_64, ["--arch", "aarch64"])])
def test_regions_of_other_architectures_can_be_assumed(audit, options, asm):
    text = "ld [4]\njeq #%d, on, n\non: ld [0]\njeq #0, w, n\nw: ld [16]\njeq #1, lo, n\nlo: ld [20]\njeq #9, y, n\n" % audit
    before, after = asm(text + "y: ret #1\nn: ret #2\n"), asm("ret #2")
    condition = report("diff", before, after, *options)[0]["changes"][0]["regions"][0]["condition"]
    assert run("prove", before, after, "--assume", "!(%s)" % condition, *options).status == 0


def test_stacks_are_compared(asm):
    reads = asm(READ % "ret #0x7fff0000")
    nothing, all_calls = asm("ret #0x80000000"), asm("ret #0x7fff0000")
    assert report("diff", "%s,%s" % (reads, all_calls), reads)[1].status == 0
    document, done = report("diff", "%s,%s" % (reads, nothing), reads)
    assert done.status == 1 and found(document) == [(KILL, ALLOW, 2 ** 448, [("arch == x86_64 && nr == read", 2 ** 448)])]


def test_an_assumption_can_exclude_all_differences(asm):
    before, after = asm(READ % "ret #0x7fff0000"), asm(READ % "ret #0x80000000")
    assert report("diff", before, after, "--assume", "nr != read")[1].status == 0
    document, done = report("diff", before, after, "--assume", "arg0 == 5 && arg1.hi == 3")
    assert done.status == 1 and int(document["count"]) == 2 ** (448 - 96)
    document, done = report("diff", before, after, "--assume", "nr == 1 && nr == 2")
    assert (done.status, document["error"], document["where"]) == (2, "usage", "--assume") and "no input" in document["detail"]
    document, done = report("diff", before, after, "--assume", "nr == ")
    assert (done.status, document["where"]) == (2, "--assume") and "column 7" in document["detail"]


def test_a_program_that_the_kernel_refuses_is_rejected(asm, getpid):
    for args in ((getpid, asm("ld [0]", "bad.asm")), (asm("ld [0]", "bad.asm"), getpid)):
        document, done = report("diff", *args)
        assert (done.status, document["error"]) == (4, "rejected") and document["where"].endswith("bad.asm:1")


def test_max_regions_limits_the_list_of_all_changes_together(asm, tmp_path):
    text = "ld [0]\n%s\nret #0\n"
    odd = [2 * i + 1 for i in range(8)]
    test = "jeq #%d, x%d, n%d\nx%d: ld [16]\njeq #%d, y%d, n%d\ny%d: ret #%#x\nn%d: ld [0]\n"
    lines = "".join(test % (nr, nr, nr, nr, nr, nr, nr, nr, (0x7fff0000, 0x50001)[i % 2], nr) for i, nr in enumerate(odd))
    before, after = asm(text % ""), asm(text % lines)
    whole, _ = report("diff", before, after)
    assert [len(change["regions"]) for change in whole["changes"]] == [4, 4]
    junit = tmp_path / "out.xml"
    for most, expected in ((0, [0, 0]), (1, [1, 0]), (2, [1, 1]), (5, [4, 1]), (7, [4, 3])):
        document, _ = report("diff", before, after, "--max-regions", most, "--junit", junit)
        assert [len(change["regions"]) for change in document["changes"]] == expected
        assert [change["region_count"] for change in document["changes"]] == ["4", "4"]
        assert junit.read_text().count(" regions shown") == 2 * sum(count < 4 for count in expected)
        shown = [line for line in run("diff", before, after, "--max-regions", most).out.splitlines() if line.startswith("  nr ")]
        assert len(shown) == most


def test_a_newly_allowed_call_comes_before_a_call_with_another_error(asm):
    before = asm("ret #0")
    after = asm("ld [0]\njeq #1, e, n\nn: jeq #2, y, k\nk: ret #0\ne: ret #0x50001\ny: ret #0x7fff0000\n")
    lines = run("diff", before, after).out.splitlines()
    assert lines[0].startswith("LOOSER: open newly allowed; write: KILL_THREAD -> ERRNO(1 EPERM)"), lines
    assert [line.split(":")[0] for line in lines if " -> " in line][1:] == ["KILL_THREAD -> ALLOW", "KILL_THREAD -> ERRNO(1 EPERM)"]


def test_an_assumption_is_shown_as_typed(asm):
    before, after = asm("ret #0"), asm("ret #0x7fff0000")
    for command in ("diff", "prove"):
        assert "\nassuming nr  ==  mount\n" in run(command, before, after, "--assume", "nr  ==  mount").out
        done = run(command, before, after, "--assume", "nr == mount && nr == read")
        assert done.status == 2 and "nr == mount && nr == read" in done.err, done
        assert report(command, before, after, "--assume", "nr == mount")[0]["question"]["assume"] == "nr == 165"


def test_a_changed_default_action_is_counted_first_and_listed_later(tmp_path):
    old, new = POLICIES / "oci" / "docker-default.json", tmp_path / "open.json"
    new.write_text(re.sub('"defaultAction": "SCMP_ACT_ERRNO"', '"defaultAction": "SCMP_ACT_ALLOW"', old.read_text()))
    assert "policies return different values" in run("check", old, new).out and "not installable" not in run("check", old, new).out
    for command in (["diff"], ["diff", "--rules"], ["prove"], ["prove", "--refines"], ["check"]):
        document, _ = report(*command[:1], old, new, *command[1:])
        lines = run(*command[:1], old, new, *command[1:]).out.splitlines()
        assert re.match(r"LOOSER: default action ERRNO\(1 EPERM\) -> ALLOW \(every call without a rule, 1\d\d calls on ", lines[0])
        assert len(lines[0]) < 300 and lines[0].endswith(" newly allowed")
        (listed_calls,) = [line for line in lines if line.startswith("default action ")]
        allowed = {call["name"] for call in document["direction"]["allowed"]["calls"]}
        assert allowed and all(re.search(r"\b%s\b" % name, listed_calls + lines[0]) for name in allowed)
    # The regions that the two default actions decide form one group.
    text = run("diff", old, new, "--rules").out
    assert text.count("  after:  %s:2 (defaultAction)\n" % new) == text.count("  before: ") == 1


def test_filters_for_different_architectures_give_a_hint():
    pair = [PROGRAMS / "libseccomp" / ("docker-%s.linear.bpf" % arch) for arch in ("x86_64", "aarch64")]
    for command in ("diff", "prove", "check"):
        line = run(command, *pair).out.splitlines()[0]
        assert line.startswith("LOOSER: the filters are for different architectures, i386, x86_64 before and aarch64, arm after (see --arch); ")
        assert len(line) < 300 and " calls on aarch64, arm newly allowed" in line, line


# diff --expect.

@pytest.fixture
def changed(asm):
    """Returns three filters for `diff --expect`; each differs from the others."""
    return [asm("ld [0]\njeq #39, y, m\nm: jeq #%d, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n" % nr) for nr in (39, 1, 2)]


def test_an_expected_difference_passes_and_any_other_fails(changed, tmp_path):
    base, write, open_ = changed
    stored = tmp_path / "expected.json"
    plain = run("diff", base, write)
    done = run("diff", base, write, "--write-expect", stored)
    assert (done.status, done.out) == (1, plain.out)  # the text output is the same as without the option
    document = json.loads(run("diff", base, write, "--json").out)
    del document["direction"]  # stored expectations do not contain this summary
    assert json.loads(stored.read_text()) == document
    done = run("diff", base, write, "--expect", stored)
    direction = "LOOSER: write newly allowed (on every architecture, by number: on i386, 1 is exit)\n"
    assert (done.status, done.out, done.err) == (0, direction + "pass: the difference is the expected one\n", "")
    document, done = report("diff", base, write, "--expect", stored)
    assert (done.status, document["verdict"], document["unexpected"]) == (0, "pass", [])
    done = run("diff", base, open_, "--expect", stored)
    lines = ["+ ERRNO(1 EPERM) -> ALLOW: nr == 2", "- ERRNO(1 EPERM) -> ALLOW: nr == 1"]
    direction = "LOOSER: open newly allowed (on every architecture, by number: on i386, 2 is fork)"
    assert (done.status, done.out.splitlines()) == (1, [direction, *lines, "fail: not the difference in %s: 1 new region (+), 1 missing (-)" % stored])
    document, done = report("diff", base, open_, "--expect", stored)
    assert (done.status, document["verdict"], document["unexpected"]) == (1, "fail", lines)
    assert found(document) == [(EPERM, ALLOW, 2 ** 480, [("nr == 2", 2 ** 480)])]
    document, done = report("diff", base, base, "--expect", stored)  # a missing difference fails, too
    assert (done.status, document["unexpected"]) == (1, lines[1:])
    document, done = report("diff", write, base, "--expect", stored)  # the difference in the other direction
    assert done.status == 1 and [line[0] for line in document["unexpected"]] == ["+", "-"]
    assert listed(tmp_path) == sorted(["expected.json"] + [path.name for path in changed])


def test_a_region_with_agreed_and_new_calls_lists_only_the_new_ones(tmp_path):
    def profile(name, *calls):
        path = tmp_path / name
        path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": calls, "action": "SCMP_ACT_ALLOW"}]}))
        return path
    old, agreed, more = profile("old", "read"), profile("agreed", "read", "bpf", "kcmp"), profile("more", "read", "bpf", "kcmp", "mount")
    stored = tmp_path / "expected.json"
    assert run("diff", old, agreed, "--write-expect", stored).status == 1
    for command, sign in (((old, more), "+"), ((old, profile("less", "read", "bpf")), "-")):
        document, done = report("diff", *command, "--expect", stored)
        assert done.status == 1 and [line[0] for line in document["unexpected"]] == [sign], document["unexpected"]
        (line,) = document["unexpected"]
        assert line.endswith("nr == mount" if sign == "+" else "nr == kcmp"), line
    assert report("diff", old, agreed, "--expect", stored)[1].status == 0


def test_lines_of_an_expected_difference_name_constants(tmp_path):
    old, new = (POLICIES / "oci" / name for name in ("docker-default-0.1.0.json", "docker-default.json"))
    stored = tmp_path / "expected.json"
    assert run("diff", old, new, "--write-expect", stored).status == 1
    plain = run("diff", old, new).out
    missing = run("diff", old, old, "--expect", stored)
    assert missing.status == 1 and re.search(r"^- .*nr == socket && arg0 == AF_ALG$", missing.out, re.MULTILINE), missing
    assert re.search(r"^fail: not the difference in .*: 0 new regions \(\+\), \d+ missing \(-\)$", missing.out, re.MULTILINE)
    # Lines for new and missing regions use the same words as the plain report.
    for line in re.findall(r"^[+-] [^:]*: (.*)$", missing.out, re.MULTILINE):
        assert "  %s\n" % line in plain, line
    new_lines = run("diff", new, old, "--expect", stored).out
    assert re.search(r"^\+ .*arg0 == AF_ALG$", new_lines, re.MULTILINE) and re.search(r"^- .*arg0 == AF_ALG$", new_lines, re.MULTILINE)
    # A condition whose words cannot be read is shown as it is stored.
    document = json.loads(stored.read_text())
    for change in document["changes"]:
        for region in change["regions"]:
            region["words"] = [{"word": 0, "negated": False, "intervals": [[5, 4]], "cubes": []}]
    stored.write_text(json.dumps(document))
    assert re.search(r"^- .*arg0 == 0x26$", run("diff", old, old, "--expect", stored).out, re.MULTILINE)


def test_an_empty_expectation_accepts_only_equivalence(changed, tmp_path):
    stored = tmp_path / "expected.json"
    assert run("diff", changed[0], changed[0], "--write-expect", stored).status == 0
    assert report("diff", changed[1], changed[1], "--expect", stored)[1].status == 0
    assert report("diff", changed[0], changed[1], "--expect", stored)[1].status == 1


def test_an_expectation_contains_all_regions(tmp_path):
    """--max-regions limits only the output; the stored difference has all regions."""
    stored = tmp_path / "expected.json"
    assert run("diff", *REAL["gvisor"], "--max-regions", 0, "--write-expect", stored).status == 1
    adds_up(json.loads(stored.read_text()))
    assert report("diff", *REAL["gvisor"], "--max-regions", 1, "--expect", stored)[1].status == 0
    document, done = report("diff", *reversed(REAL["gvisor"]), "--expect", stored)
    count = sum(len(change["regions"]) for change in document["changes"])
    assert done.status == 1 and len(document["unexpected"]) == 2 * count


def test_computed_return_values_cannot_be_stored_as_an_expectation(asm, tmp_path):
    # Two different computed values would look the same in an expectation.
    stored, other = tmp_path / "expected.json", tmp_path / "other.json"
    errno, allow = (asm("ld [16]\nand #0xfff\nor #%#x\nret a" % action) for action in (0x50000, 0x7FFF0000))
    document, done = report("diff", asm("ret #0x80000000"), errno, "--write-expect", stored)
    assert (done.status, document["error"]) == (2, "usage") and "RET A" in document["detail"] and not stored.exists()
    assert run("diff", asm("ret #0"), asm("ret #1"), "--write-expect", other).status == 1
    assert report("diff", asm("ret #0x80000000"), allow, "--expect", other)[1].status == 2
    text = run("diff", errno, allow).out
    assert text.startswith("LOOSER: every system call newly allowed\n"
                           "ERRNO(computed from the input) -> ALLOW(computed from the input): 2^512 inputs in 1 region\n  true\n")
    changes = report("diff", errno, allow)[0]["changes"]
    assert [(change["before"], change["after"]) for change in changes] == [
        ({"action": "ERRNO(computed from the input)"}, {"action": "ALLOW(computed from the input)"})]


def test_an_edited_expectation_never_passes(changed, tmp_path):
    stored, edited = tmp_path / "expected.json", tmp_path / "edited.json"
    assert run("diff", changed[0], changed[1], "--write-expect", stored).status == 1
    document = json.loads(stored.read_text())
    region = document["changes"][0]["regions"][0]
    for place, key, value in ((region, "condition", "nr == 77"), (region, "count", "1"), (document, "count", "1"),
                              (document["changes"][0], "count", "7")):
        kept, place[key] = place[key], value
        edited.write_text(json.dumps(document))
        assert run("diff", changed[0], changed[1], "--expect", edited).status in (1, 2), key
        place[key] = kept
    edited.write_text(json.dumps(document))
    assert run("diff", changed[0], changed[1], "--expect", edited).status == 0


def test_an_expectation_for_another_question_is_refused(changed, tmp_path):
    stored = tmp_path / "expected.json"
    assert run("diff", changed[0], changed[1], "--write-expect", stored, "--assume", "nr < 20").status == 1
    assert report("diff", changed[0], changed[1], "--expect", stored, "--assume", "nr < 20")[1].status == 0
    for options in ([], ["--assume", "nr < 21"], ["--assume", "nr < 20", "--same", "behaviour"]):
        document, done = report("diff", changed[0], changed[1], "--expect", stored, *options)
        assert (done.status, document["error"], document["where"]) == (2, "usage", str(stored)), options


BROKEN = ["", "{", "[]", "{}", "7", '"x"', "ret #1", '{"schema": "secequiv.diff/2", "changes": []}',
          '{"schema": "secequiv.prove/2", "verdict": "equivalent"}']
WRONG = ['{"schema": 5}', '{"schema": "secequiv.diff/1"}', '{"schema": "secequiv.diff/1", "changes": 5}',
         '{"schema": "secequiv.diff/1", "changes": [5]}', '{"schema": "secequiv.diff/1", "changes": [{"regions": [7]}]}',
         '{"schema": "secequiv.diff/1", "changes": [{"regions": [{"condition": 6}]}]}']


@pytest.mark.parametrize("text", BROKEN + WRONG)
def test_a_malformed_expectation_is_an_error(text, changed, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(text)
    document, done = report("diff", changed[0], changed[0], "--expect", path)
    assert (done.status, document["error"]) == (2, "parse"), done
    assert document["where"].startswith(str(path))


def test_a_missing_expectation_file_is_an_error(changed, tmp_path):
    document, done = report("diff", changed[0], changed[1], "--expect", tmp_path / "none")
    assert (done.status, document["error"]) == (2, "io")


def test_standard_output_can_hold_only_one_document(changed):
    document, done = report("diff", changed[0], changed[1], "--write-expect", "-")
    assert done.status == 2 and document["error"] == "usage"


def test_an_expectation_cannot_be_written_and_compared_at_once(changed, tmp_path):
    stored = tmp_path / "expected.json"
    assert run("diff", changed[0], changed[1], "--write-expect", stored).status == 1
    kept = stored.read_text()
    document, done = report("diff", changed[0], changed[2], "--write-expect", tmp_path / "other.json", "--expect", stored)
    assert (done.status, document["where"], stored.read_text()) == (2, "--write-expect", kept)
    assert run("diff", changed[0], changed[2], "--write-expect", stored, "--expect", stored).status == 2
    assert stored.read_text() == kept


# diff --rules: explanations of regions, and the rules that decide.

def test_rules_explain_the_difference_of_two_profiles():
    old, new = POLICIES / "oci" / "docker-default-0.1.0.json", POLICIES / "oci" / "docker-default.json"
    document, done = report("diff", old, new, "--rules")
    assert done.status == 1
    rows = [row for change in document["changes"] for row in change["regions"]]
    assert {row["summary"] for row in rows} == {
        "i386 socket: no longer allowed (now ERRNO(1 EPERM)) if arg0.lo == AF_ALG",
        "x86_64 socket: no longer allowed (now ERRNO(1 EPERM)) if arg0 == AF_ALG",
        "x86_64 x32:socket: no longer allowed (now ERRNO(1 EPERM)) if arg0.lo == AF_ALG"}
    assert all(row["before_rule"].startswith("rule set 1 of 2 (ALLOW), socket on ") for row in rows)
    origin = "%s:437 (syscalls[2])" % old
    assert {row["after_rule"] for row in rows} == {"default action: no rule matches"}
    text = run("diff", old, new, "--rules").out.splitlines()
    assert text.pop(0) == "only stricter: socket (some arguments) on x86_64, i386, x32"
    rules = ["  before: " + origin, "  after:  %s:2 (defaultAction)" % new]
    assert text[:5] == [row["summary"] for row in rows] + rules, "regions with the same rules stand together"
    assert all(row["after_origin"] == {"file": str(new), "line": 2, "path": "defaultAction"} for row in rows)
    assert text[-2].startswith("different for these capabilities and this kernel (1 entry was not compared): ") and text[-1].startswith("holds for ") and len(text) == 7
    shown = run("diff", old, new, "--rules", "--max-regions", 1).out.splitlines()
    assert shown[1:4] == [rows[0]["summary"], *rules] and shown[4] == "  ... 1 of 3 regions shown (--max-regions)"


def test_rules_explain_a_changed_policy(tmp_path):
    def policy(name, rules, **fields):
        path = tmp_path / name
        path.write_text(json.dumps({"version": 1, "arches": ["x86_64"], "default_action": "errno(EPERM)",
                                    "rule_sets": [{"action": "allow", "rules": rules}], **fields}))
        return path
    before = policy("before.json", {"ioctl": {"args": {"1": {"eq": 5}}}, "read": True})
    request = {"any_of": [{"args": {"1": {"eq": 5}}}, {"args": {"1": {"eq": 0x5401}}}]}
    after = policy("after.json", {"ioctl": request, "read": True, "write": True})
    document, _ = report("diff", before, after, "--rules")
    rows = [row for change in document["changes"] for row in change["regions"]]
    assert sorted(row["summary"] for row in rows) == [
        "x86_64 ioctl: newly allowed (was ERRNO(1 EPERM)) if arg1 == TCGETS",
        "x86_64 write: newly allowed (was ERRNO(1 EPERM)), whatever the arguments"]
    assert "rule set 1 of 1 (ALLOW), ioctl on x86_64, branch 2 of 2" in [row["after_rule"] for row in rows]
    other = policy("other.json", {"ioctl": {"args": {"1": {"eq": 5}}}, "read": True}, default_action="kill_process")
    summaries = [row["summary"] for change in report("diff", before, other, "--rules")[0]["changes"] for row in change["regions"]]
    assert summaries and all("now KILL_PROCESS instead of ERRNO(1 EPERM)" in summary for summary in summaries)
    logged = policy("logged.json", {}, rule_sets=[{"action": "log", "rules": {"ioctl": True, "read": True}}])
    out = run("diff", before, logged, "--rules").out
    assert "x86_64 ioctl: newly allowed and logged (was ERRNO(1 EPERM)) if arg1" in out and "x86_64 read: now LOG instead of ALLOW, " in out
    out = run("diff", logged, before, "--rules").out
    assert "x86_64 ioctl: no longer allowed (now ERRNO(1 EPERM), was LOG) if arg1" in out and "x86_64 read: now ALLOW instead of LOG, " in out


def test_the_rules_option_needs_files_with_lines(tmp_path):
    old, program = POLICIES / "oci" / "docker-default.json", tmp_path / "program.bpf"
    program.write_bytes(run("asm", "-", stdin="ret #0\n", raw=True).out)
    for args in ((program, old), (old, program), ("%s,%s" % (old, old), old)):
        document, done = report("diff", *args, "--rules")
        assert (done.status, document["where"]) == (2, "--rules")
    done = run("diff", program, program, "--rules")
    assert "'secequiv dis %s > FILE.asm' writes that form" % program in done.err, done
    listing = tmp_path / "FILE.asm"
    listing.write_text(run("dis", program).out)
    assert run("diff", listing, listing, "--rules").status == 0
