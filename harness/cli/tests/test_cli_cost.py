"""`secequiv cost`: executed instructions, counted here once more."""
import json

import pytest
from cli_tool import PROGRAMS, ROOT, fits, read_raw, run

SYSTRAP = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
POSTGRES = ROOT / "corpus" / "profiles" / "postgres.txt"


def ask(*arguments):
    done = run("cost", "--json", *arguments)
    document = json.loads(done.out)
    assert done.status == 0 and fits(document) == "cost", done
    return document


def executed(insns, words):
    """Of the instructions that this test's filters and gVisor's are made of: (instructions, jumps taken)."""
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


def test_the_worst_input_is_as_bad_as_it_says():
    document = ask(*SYSTRAP)
    for side, path in zip(document["sides"], SYSTRAP):
        insns = read_raw(path.read_bytes())
        assert executed(insns, side["worst"]["data"]["words"])[0] == side["worst"]["instructions"]
        assert side["worst"]["instructions"] >= max(row["most"] for row in side["calls"])
        assert all(row["least"] <= row["mean"] <= row["most"] and row["jumps"] < row["mean"] for row in side["calls"])
    assert document["sides"][0]["mean"] > 1.5 * document["sides"][1]["mean"]


def test_a_call_without_arguments_costs_one_path():
    document = ask(*SYSTRAP, "--profile", POSTGRES)
    words = [24, 0xC000003E] + [0] * 14  # sched_yield
    for side, path in zip(document["sides"], SYSTRAP):
        row, = (row for row in side["calls"] if row["name"] == "sched_yield")
        count, jumps = executed(read_raw(path.read_bytes()), words)
        assert (row["least"], row["most"], row["mean"], row["jumps"], row["calls"]) == (count, count, count, jumps, 375)


def test_means_are_weighted(asm, tmp_path):
    # read: 3 instructions; getpid: 4 and cached; write: 5.
    filter_ = asm("ld [0]\njeq #0, r, next\nr: ret #0x50001\nnext: jeq #39, y, b\nb: ld [16]\nn: ret #0x50002\ny: ret #0x7fff0000\n")
    (tmp_path / "profile").write_text("read 3\ngetpid 5\nwrite 2\n")
    side, = ask(filter_, "--profile", tmp_path / "profile")["sides"]
    assert {row["name"]: (row["mean"], row["cached"], row["jumps"]) for row in side["calls"]} == {
        "read": (3, False, 0), "getpid": (4, True, 2), "write": (5, False, 1)}
    assert side["mean_uncached"] == pytest.approx((3 * 3 + 5 * 4 + 2 * 5) / 10)
    assert side["mean"] == pytest.approx((3 * 3 + 2 * 5) / 10)


def test_the_table_shows_the_dearest_first(tmp_path):
    text = run("cost", *SYSTRAP, "--profile", POSTGRES).out.splitlines()
    assert text[0].startswith("system call") and text[0].endswith("ratio")
    assert text[1].startswith("futex") and any(line.startswith("ratio: ") for line in text)
    short = run("cost", SYSTRAP[1]).out
    assert " more (--all)" in short and " more (--all)" not in run("cost", SYSTRAP[1], "--all").out


@pytest.mark.parametrize("arguments, says", [
    ([], "input"), ([SYSTRAP[0], "--profile", "/nowhere"], "/nowhere"), ([SYSTRAP[0], "--profile", SYSTRAP[1]], "systrap.after.bpf"),
])
def test_wrong_usage(arguments, says):
    done = run("cost", *arguments)
    assert done.status == 2 and says in done.err and not done.out


def test_a_profile_of_another_architecture(tmp_path):
    (tmp_path / "profile").write_text("socketcall 3\n")
    assert "x86_64 has none of these" in run("cost", SYSTRAP[0], "--profile", tmp_path / "profile").err
    (tmp_path / "profile").write_text("socketcall 3\nread 1\n")
    done = run("cost", SYSTRAP[0], "--profile", tmp_path / "profile")
    assert done.status == 0 and "has no socketcall; left out" in done.err
