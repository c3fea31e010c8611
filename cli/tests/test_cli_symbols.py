"""Tests symbols ('jeq #$fd, L'): `prove` answers for all of their values; other commands need values from --set."""

import random

import pytest
from cli_tool import POLICIES, confirmed, evaluate, program, read_raw, report, run, words_bytes
from test_cli_prove import solve

ENGINES = ("dd", "sat", "z3", "both")
BEFORE = "ld [0]\njeq #$nr, m, n\nm: ld [16]\njeq #$fd, y, n\ny: ret #0x7fff0000\nn: ret #$errno\n"
AFTER = "ld [16]\nsub #$fd\njne #0, n\nld [0]\nxor #$nr\njset #0xffffffff, n, y\ny: ret #0x7fff0000\nn: ld #$errno\nret a\n"


def filled(text, **values):
    """Assembles the text with numbers in place of names, using the naive assembler."""
    for name, value in values.items():
        text = text.replace("$" + name, str(value))
    assert "$" not in text
    return program(text)


@pytest.mark.parametrize("engine", ENGINES)
def test_programs_are_equivalent_for_all_values(engine, asm):
    document, done = report("prove", asm(BEFORE), asm(AFTER), "--engine", engine)
    assert document["verdict"] == "equivalent" and "witness" not in document
    full = {"low": 0, "high": 0xFFFFFFFF}
    assert document["question"]["symbols"] == [{"name": name, **full} for name in ("nr", "fd", "errno")]
    rng = random.Random(1)
    for _ in range(50):
        values = {name: rng.choice((0, 1, 0xFFFFFFFF, rng.getrandbits(32))) for name in ("nr", "fd", "errno")}
        one, other = filled(BEFORE, **values), filled(AFTER, **values)
        for nr in (values["nr"], values["nr"] ^ 1):
            for fd in (values["fd"], 5):
                data = words_bytes([nr, 0, 0, 0, fd] + [0] * 11)
                assert evaluate(one, data) == evaluate(other, data)
    shown = run("prove", asm(BEFORE), asm(AFTER), "--engine", engine)
    assert "for all values of $nr, $fd, $errno\n" in shown.out and "equivalent (" in shown.out


@pytest.mark.parametrize("engine", ["dd", "z3", "both"])  # these find the smallest values
def test_a_difference_is_shown_with_values(engine, asm):
    wrong = AFTER.replace("sub #$fd", "sub #$other")
    one, other = asm(BEFORE), asm(wrong)
    document, done = report("prove", one, other, "--engine", engine)
    assert document["verdict"] == "different" and document["minimal"] is True
    values = document["witness"]["symbols"]
    assert values == {"nr": 0, "fd": 0, "errno": 0, "other": 1}
    confirmed(document, filled(BEFORE, **{n: values[n] for n in ("nr", "fd", "errno")}),
              filled(wrong, **{n: values[n] for n in ("nr", "other", "errno")}))
    shown = run("prove", one, other, "--engine", engine).out
    assert "symbols: $nr=0x0 $fd=0x0 $errno=0x0 $other=0x1\n" in shown
    assert "the smallest values of names" in shown and "sub #1" in shown and "$other, " not in shown.split("symbols:")[1]
    # The text report shows the witness with its values. With these values filled in, the programs still differ.
    settings = [arg for name, value in values.items() for arg in ("--set", "%s=%d" % (name, value))]
    again, done = report("prove", one, other, "--engine", engine, *settings)
    assert again["verdict"] == "different" and "symbols" not in again["question"] and "symbols" not in again["witness"]
    assert again["witness"]["data"]["words"] == document["witness"]["data"]["words"]


RESTRICTED = [
    ("ld [0]\nrsh #$k\nret a", "ldx #$k\nld [0]\nrsh x\nret a", (0, 31), " up to 31"),
    ("ld #9\ndiv #$k\nret #1", "ld #$k\njeq #0, z, n\nz: ret #0\nn: ret #1", (1, 0xFFFFFFFF), " from 1"),
    ("ld #9\ndiv #$k\nlsh #$k\nret #1", "ld #$k\njge #32, z, m\nm: jeq #0, z, n\nz: ret #0\nn: ret #1", (1, 31), " from 1 up to 31"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("before, after, limits, message", RESTRICTED)
def test_values_that_the_kernel_refuses_are_excluded(engine, before, after, limits, message, asm):
    document, _ = report("prove", asm(before), asm(after), "--engine", engine)
    assert document["verdict"] == "equivalent"
    assert document["question"]["symbols"] == [{"name": "k", "low": limits[0], "high": limits[1]}]
    shown = run("prove", asm(before), asm(after), "--engine", engine).out
    assert "for all values of $k%s (the kernel refuses all other values)\n" % message in shown
    for value, refused in ((limits[0] - 1, limits[0] > 0), (limits[1] + 1, limits[1] < 32)):
        if refused:
            done = run("validate", asm(before), "--set", "k=%d" % value)
            assert done.status == 4, done


@pytest.mark.parametrize("engine", ENGINES)
def test_assumptions_can_restrict_values(engine, asm):
    one, other = asm("ld [0]\njgt #$a, y, n\ny: ret #1\nn: ret #2"), asm("ld [0]\njge #$b, y, n\ny: ret #1\nn: ret #2")
    document, _ = report("prove", one, other, "--engine", engine, "--assume", "$a == 3 && $b == 4")
    assert document["verdict"] == "equivalent" and document["question"]["assume"] == "$a == 0x3 && $b == 0x4"
    document, _ = report("prove", one, other, "--engine", engine, "--assume", "$a == 3 && $b in {4, 7}")
    assert document["verdict"] == "different" and document["witness"]["symbols"] == {"a": 3, "b": 7}
    assert document["witness"]["data"]["nr"] == 4
    document, done = report("prove", one, other, "--engine", engine, "--assume", "$a == 3 && $c == 4")
    assert done.status == 2 and "$a, $b" in document["detail"]
    document, done = report("prove", one, other, "--engine", engine, "--assume", "$a < 1 && $a > 1")
    assert done.status == 2 and "a proof would mean nothing" in document["detail"]


@pytest.mark.parametrize("engine", ENGINES)
def test_symbols_work_with_refinement_stacks_and_behaviour(engine, asm):
    strict, loose = asm("ret #0x80000000"), asm("ret #$r")
    assert run("prove", "--refines", loose, strict, "--engine", engine).status == 0
    document, _ = report("prove", "--refines", strict, loose, "--engine", engine)
    assert document["verdict"] == "different" and document["witness"]["symbols"] == {"r": 0}
    document, _ = report("prove", "%s,%s" % (strict, loose), strict, "--engine", engine)
    assert document["verdict"] == "equivalent"
    document, _ = report("prove", loose, asm("ld #$r\nor #1\nret a"), "--same", "behaviour", "--engine", engine)
    assert document["verdict"] == "different" and document["witness"]["symbols"]["r"] >> 16 in (3, 5, 0x7FF0)


def test_exhausted_limits_are_unknown(asm):
    one, other = asm("ld [16]\nmul #$x\ndiv #$y\nret a"), asm("ld [16]\ndiv #$y\nmul #$x\nmod #3\nret a")
    assert run("prove", one, other).status == 4, "the kernel has no MOD here"
    other = asm("ldx #$y\nld [16]\ndiv x\nmul #$x\nret a")
    for engine in ENGINES:
        document, done = report("prove", one, other, "--engine", engine, "--timeout", "1e-9", "--max-memory", "1")
        assert document["verdict"] == "unknown" and done.status == 3 and document["detail"]


OTHERS = [("run",), ("asm",), ("dis",), ("validate",), ("check", None), ("cover",), ("optimize",), ("mutate",), ("diff", None), ("why",),
          ("reach",), ("actions",), ("cache",), ("cost",), ("kernel",), ("fuzz", None)]


@pytest.mark.parametrize("command", OTHERS, ids=lambda c: c[0])
def test_other_commands_need_values(command, asm, tmp_path):
    text = "ld [0]\njeq #39, ok, bad ; getpid\nok: ret #0x7fff0000\nbad: ret #$errno\n"
    path = asm(text, "name.asm")
    args = [path] * len(command)
    done = run(command[0], *args)
    assert done.status == 2, done
    assert "name.asm:4:11: expected a number, found '$errno'" in done.err and "--set errno=NUMBER" in done.err
    assert not done.out
    if command[0] in ("run", "asm", "dis", "validate", "diff", "why", "actions"):
        assert run(command[0], *args, "--set", "errno=0x50001", raw=True).status == 0


def test_the_option_set_fills_in_values(asm, tmp_path):
    path = asm(BEFORE)
    settings = ["--set", "nr=39", "--set", "fd=0x3", "--set", "errno=327681"]
    raw = run("asm", path, *settings, raw=True)
    assert raw.status == 0 and read_raw(raw.out) == filled(BEFORE, nr=39, fd=3, errno=327681)
    document, _ = report("run", path, *settings, "--nr", "39", "--arg", "0=3")
    assert document["result"]["value"] == "0x7fff0000"
    for wrong, message in [(["--set", "nr"], "NAME=VALUE"), (["--set", "nr=x"], "NAME=VALUE"), (["--set", "nr=-1"], "NAME=VALUE"),
                        (["--set", "nr=0x100000000"], "NAME=VALUE"), (["--set", "nr=1", "--set", "nr=1"], "twice"),
                        (["--set", "nr=1"], "'$fd'")]:
        done = run("asm", path, *wrong)
        assert done.status == 2 and message in done.err, done
    noted = run("asm", path, *settings, "--set", "df=1", raw=True)
    assert noted.status == 0 and noted.out == raw.out and "has no name '$df'" in noted.err


def test_the_option_set_may_omit_some_symbols(asm):
    document, _ = report("prove", asm("ld #$a\nadd #$b\nret a"), asm("ld #$b\nadd #5\nret a"), "--set", "a=5")
    assert document["verdict"] == "equivalent" and [s["name"] for s in document["question"]["symbols"]] == ["b"]


@pytest.mark.parametrize("text, message", [
    ("ld [$x]\nret #0", ":1:5: expected an offset (a name can only replace an immediate: '#$NAME'), found '$x'"),
    ("st M[$x]\nret #0", ":1:6: expected a scratch word index (a name can only replace an immediate"),
    ("ret $x", ":1:5: expected an operand, found '$x'"), ("ret #$", ":1:6: "), ("ret #$5", ":1:6: "), ("jeq #1, $x\nret #0", ":1:9: expected a label"),
])
def test_symbols_stand_only_for_immediates(text, message, asm):
    done = run("prove", asm(text), asm("ret #0"))
    assert done.status == 2 and message in done.err, done


def test_commands_under_test_cannot_return_symbols(asm):
    path = asm("ret #$x", "name.asm")
    done = run("check", asm("ret #0"), "--after-cmd", "cat %s" % path)
    assert done.status == 5 and "'$x'" in done.err, done


def test_the_smt2_query_contains_the_symbols(asm, tmp_path):
    for name, expected in (("fd", "unsat"), ("other", "sat")):
        query = tmp_path / "q.smt2"
        run("prove", asm(BEFORE), asm(AFTER.replace("$fd", "$" + name)), "--emit-smt2", query)
        answer = solve(query.read_text())
        assert answer.split("\n")[0] == expected
        assert expected == "unsat" or "$other" in answer


def test_the_oracle_runs_the_program_with_the_values(asm):
    done = run("prove", asm("ld [0]\nadd #$a\nret a"), asm("ld [0]\nadd #$b\nret a"), "--oracle", "kernel")
    if done.status == 3:
        pytest.skip("no kernel to ask")
    assert done.status == 1 and "$a=0x0 $b=0x1" in done.out and "oracle" in done.out, done


def test_symbols_have_no_certificates(tmp_path):
    (tmp_path / "named.asm").write_text("ret #$x\n")
    done = run("prove", tmp_path / "named.asm", tmp_path / "named.asm", "--certificate", tmp_path / "out")
    assert done.status == 2 and "do not support names in place of numbers" in done.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("before, after, values, assume, other", [
    ("ld #0\njeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0", "ld #0\ndiv #$d\njeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0",
     "$d = 0,", "$d != 0", "$d < 5"),
    ("ret #0", "ld #0\nlsh #$s\nret a", "$s = 32..,", "$s < 32", "$s > 3"),
    ("ret #0", "ret #0\nld #0\nrsh #$s\nret a", "$s = 32..,", "$s in {1, 2, 31}", "$s != 32"),
])
def test_values_that_only_the_second_program_refuses_are_rejected(before, after, values, assume, other, engine, asm):
    """For these values, the kernel accepts `before` but refuses `after`. prove-rule refutes the same rewrite."""
    one, two = asm(before, "one.asm"), asm(after, "two.asm")
    for more in ([], ["--assume", other], ["--refines"]):
        document, done = report("prove", one, two, "--engine", engine, *more)
        assert done.status == 4 and document["file"] == str(two) and values in document["detail"], done
    assert report("prove", one, two, "--engine", engine, "--assume", assume)[0]["verdict"] == "equivalent"
    assert report("prove", two, one, "--engine", engine)[0]["verdict"] == "equivalent", "prove assumes that the kernel accepts the first program"


@pytest.mark.parametrize("setting, message", [("x=010", "without leading zeros"), ("$x=1", "a name that may follow '#$'"), ("=1", "a name that may follow"),
                                           ("x=1,y=2", "a name that may follow"), ("x=-1", "a value from 0"), ("x=", "a value from 0")])
def test_malformed_settings_are_errors(setting, message, asm):
    done = run("dis", asm("ret #$x"), "--set", setting)
    assert done.status == 2 and message in done.err and done.out == ""


def test_the_option_set_refuses_policies():
    done = run("dis", POLICIES / "seed" / "variables.json", "--set", "pid=99")
    assert done.status == 2 and "found the policy" in done.err and "'precompile'" in done.err
