"""Tests `secequiv prove-rule`: the library, counterexamples, weakest conditions, and pairs of programs that `prove` confirms."""

import json
import os
import re
import subprocess

import pytest
from cli_tool import ROOT, binary, report, run

LIBRARY = sorted((ROOT / "verify" / "rules" / "library").glob("*.rule"))
JSET = """rule bit-test
  live: X, M
  before:
    and #$m
    jeq #$m, yes, no
  after:
    jset #$m, yes, no
"""


@pytest.fixture
def rule(tmp_path):
    def write(text, name="t.rule"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return write


def only(document):
    assert len(document["rules"]) == 1, document
    return document["rules"][0]


def test_the_library_passes():
    document, done = report("prove-rule", *LIBRARY)
    assert document["verdict"] == "pass" and done.status == 0
    wrong = [rule for rule in document["rules"] if rule["expected"] != "proven"]
    assert len(wrong) >= 20 and len(document["rules"]) - len(wrong) >= 60
    for rule in document["rules"]:
        assert rule["as_expected"]
        assert ("counterexample" in rule) == (rule in wrong)
    text = run("prove-rule", *LIBRARY)
    assert text.out.splitlines()[-1] == "pass: %d rules: %d proven, %d refuted" % (
        len(document["rules"]), len(document["rules"]) - len(wrong), len(wrong))
    quiet = run("prove-rule", "--only-unexpected", *LIBRARY)
    assert quiet.out.splitlines() == text.out.splitlines()[-1:]


def test_a_wrong_rule_is_refuted(rule):
    path = rule(JSET)
    found = report("prove-rule", path)[0]
    assert found["verdict"] == "fail"
    outcome = only(found)
    assert outcome["verdict"] == "different" and outcome["counterexample"]["kind"] == "exit"
    values = outcome["counterexample"]["values"]
    before = (values["A"] & values["$m"]) == values["$m"]
    assert before != bool(values["A"] & values["$m"])
    text = run("prove-rule", path)
    assert text.status == 1 and "bit-test: refuted (exit), expected proven" in text.out
    assert "before goes to %s, after goes to %s" % (("yes", "no") if before else ("no", "yes")) in text.out
    fixed = rule(JSET.replace("  live", "  where: popcount($m) == 1\n  live"), "fixed.rule")
    assert only(report("prove-rule", fixed)[0])["verdict"] == "equivalent"


@pytest.mark.parametrize("expect, verdict", [("refuted exit", "pass"), ("refuted state", "fail"), ("proven", "fail")])
def test_verdicts_are_compared_with_the_expectation(rule, expect, verdict):
    path = rule(JSET.replace("  live", "  expect: %s\n  live" % expect))
    assert report("prove-rule", path)[0]["verdict"] == verdict
    right = rule("rule r\nexpect: %s\nbefore:\nneg\nneg\nafter:\n" % expect)
    assert report("prove-rule", right)[0]["verdict"] == ("pass" if expect == "proven" else "fail")


def test_the_weakest_condition_makes_the_rule_right(rule):
    path = rule(JSET)
    weakest = only(report("prove-rule", "--weakest", path)[0])["weakest"]
    assert weakest["any_of"] == ["popcount($m) == 1"] and weakest["exact"] == "yes"
    text = run("prove-rule", "--weakest", path).out
    assert "weakest: popcount($m) == 1" in text and "for all other values the rule is wrong" in text
    # With the proposed condition, the rule is proven.
    fixed = rule(JSET.replace("  live", "  where: %s\n  live" % weakest["any_of"][0]))
    assert report("prove-rule", fixed)[0]["verdict"] == "pass"


def test_the_weakest_condition_of_a_rule_that_is_always_right_is_true(rule):
    path = rule("rule r\nbefore:\nneg\nneg\nafter:\n")
    text = run("prove-rule", "--weakest", path).out
    assert "  weakest: true (the rule is right for all values)\n" in text and "other values" not in text, text


def test_prove_agrees_with_instances_of_rules(rule, tmp_path):
    path = rule(JSET.replace("  live", "  where: popcount($m) == 1\n  live") + """
rule swapped
  expect: refuted state
  before:
    add #$a
    xor #$b
  after:
    xor #$b
    add #$a
""")
    out = tmp_path / "pairs"
    document = report("prove-rule", path, "--instantiate", out, "--count", "3")[0]
    assert [each["programs"] for each in document["rules"]] == [3, 1]
    names = sorted(each.name for each in out.iterdir())
    assert len(names) == 8 and "bit-test.3.after.asm" in names
    for number in (1, 2, 3):
        assert report("prove", out / ("bit-test.%d.before.asm" % number), out / ("bit-test.%d.after.asm" % number))[0]["verdict"] == "equivalent"
    assert report("prove", out / "swapped.1.before.asm", out / "swapped.1.after.asm")[0]["verdict"] == "different"
    again = tmp_path / "again"
    run("prove-rule", path, "--instantiate", again, "--count", "3")
    assert [(again / name).read_bytes() for name in names] == [(out / name).read_bytes() for name in names]
    other = tmp_path / "other"
    run("prove-rule", path, "--instantiate", other, "--count", "3", "--seed", "2")
    assert [(other / name).read_bytes() for name in names] != [(out / name).read_bytes() for name in names]


def test_a_wrong_family_is_instantiated_for_the_member_that_fails(rule, tmp_path):
    path = rule("rule oob\n for: n in 0..2\n live: A\n before:\n ld #(if((any i < 2 - n: $S[i] == 1) || n == 2, 1, 1))\n"
                " after:\n ld #(if(n == 2, 2, 1))\n")
    document = report("prove-rule", path, "--instantiate", tmp_path)[0]
    assert only(document)["counterexample"]["member"] == {"n": 2} and only(document)["programs"] == 1
    assert report("prove", tmp_path / "oob.1.before.asm", tmp_path / "oob.1.after.asm")[0]["verdict"] == "different"


def test_rules_over_conditions_have_no_instances(rule, tmp_path):
    path = rule("rule p\nbefore: $p\nafter: $p && true\n")
    outcome = only(report("prove-rule", path, "--instantiate", tmp_path / "none")[0])
    assert "condition" in outcome["no_programs"] and "programs" not in outcome
    assert "no pairs were written: one side is a condition" in run("prove-rule", path, "--instantiate", tmp_path / "none").out


def test_a_time_limit_is_unknown(rule):
    path = rule("rule hard\nwhere: $a >u 1 && $b >u 1 && $c >u 1\n"
                "before: wide(0, $a) * wide(0, $b) * wide(0, $c) == 0x7fffffffffffffe7\nafter: false\n")
    document, done = report("prove-rule", path, "--timeout", "0.05")
    assert done.status == 3 and document["verdict"] == "unknown"
    assert "time limit of 0.05 s" in only(document)["detail"]
    text = run("prove-rule", path, "--timeout", "0.05")
    assert text.status == 3 and "hard: unknown: time limit" in text.out


@pytest.mark.parametrize("text, message", [
    ("", "expected rules ('rule NAME'), found none"),
    ("ld #1\n", "t.rule:1: expected 'rule NAME'"),
    ("rule r\nbefore:\nld #$a\nafter:\nfrob\n", "t.rule:5:1: expected an instruction, found 'frob'"),
    ("rule r\nwhere: $a <\nbefore:\nafter:\n", "t.rule:2: column 5 of '$a <'"),
    ("rule r\nwhere: $a <u 0\nbefore:\nld #$a\nafter:\n", "no values satisfy its condition"),
    ("\0\1\2", "t.rule:1"),
    ("rule r\nbefore: %s\nafter: true\n" % ("(" * 5000), "nested deeper than 200 levels"),
])
def test_malformed_rules_are_errors(rule, text, message):
    path = rule(text)
    done = run("prove-rule", path)
    assert done.status == 2 and done.out == "" and message in done.err, done


def test_wrong_usage_is_an_error(rule, tmp_path):
    path = rule(JSET)
    assert "did you mean bit-test?" in run("prove-rule", path, "--rule", "bit-tset").err
    assert run("prove-rule", path, "--rule", "nothing").status == 2
    assert "is also defined at" in run("prove-rule", path, rule(JSET, "two.rule")).err
    assert run("prove-rule", path, "--count", "0").status == 2
    assert run("prove-rule", path, "--timeout", "0").status == 2
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run("prove-rule", path, "--instantiate", blocked)
    assert done.status == 2 and str(blocked) in done.err
    family = rule("rule f\nfor: n in 0..2\nbefore: all i < n: $P[i]\nafter: all i < n: $P[i]\n", "f.rule")
    assert "weakest conditions do not support families" in run("prove-rule", family, "--weakest").err


def test_single_rules_from_standard_input_are_proven(rule):
    text = LIBRARY[0].read_text()
    names = re.findall(r"^rule (\S+)", text, re.M)
    done = run("prove-rule", "-", "--rule", names[0], "--rule", names[2], stdin=text.encode())
    assert done.status == 0 and [line.split(":")[0] for line in done.out.splitlines()[:-1]] == [names[0], names[2]]


def test_counterexamples_of_wrong_rules_replay(rule, tmp_path):
    """A counterexample of a wrong rule becomes a pair of programs; `prove` finds that they differ."""
    wrong = next(path for path in LIBRARY if path.name == "wrong.rule")
    out = tmp_path / "wrong"
    document = report("prove-rule", wrong, "--instantiate", out)[0]
    pairs = [each["name"] for each in document["rules"] if each.get("programs")]
    assert len(pairs) >= 10
    for name in pairs:
        assert report("prove", out / (name + ".1.before.asm"), out / (name + ".1.after.asm"))[0]["verdict"] == "different", name


def test_an_unwritable_folder_is_an_error(rule, tmp_path):
    """In a read-only folder, nothing is written, and the command reports this."""
    if os.geteuid() == 0:
        path, out = rule(JSET.replace("  live", "  where: popcount($m) == 1\n  live")), "/proc/self/nothing"
    else:
        path, out = rule(JSET), tmp_path / "closed"
        out.mkdir(mode=0o500)
    done = subprocess.run([binary(), "prove-rule", str(path), "--instantiate", str(out), "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and json.loads(done.stdout)["error"] == "io"
