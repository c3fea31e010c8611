"""Tests `secequiv find-rules`: what it prints is a file of proven rules, and it reports limits and wrong input."""

from cli_tool import ROOT, report, run

MASKED = "ld [16]\nand #0xf0\njeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0\n"
ARITHMETIC = ROOT / "verify" / "rules" / "library" / "arithmetic.rule"


def test_found_rules_are_a_file_for_prove_rule(asm, tmp_path):
    source = asm(MASKED)
    done = run("find-rules", source)
    assert done.status == 0 and "rule and-jeq\n" in done.out
    assert "fires 1 time in" in done.out and "5 instructions became 4" in done.out
    assert done.out.splitlines()[-1] == "; pass: 1 rule found"
    path = tmp_path / "found.rule"
    path.write_text(done.out)
    assert report("prove-rule", path)[0]["verdict"] == "pass"
    document = report("find-rules", source)[0]
    assert [rule["name"] for rule in document["rules"]] == ["and-jeq"]
    assert document["rules"][0]["fires"] == [1] and document["programs"][0]["after"] == 4
    again = report("find-rules", source)[0]
    assert {**again, "seconds": 0} == {**document, "seconds": 0}


def test_known_rules_and_an_optimizer_leave_less_to_find(asm):
    assert report("find-rules", asm(MASKED), "--library", ARITHMETIC)[0]["rules"] == []
    joined = asm("ld [0]\njge #7, z, y\ny: jeq #6, d, c\nz: jgt #7, c, d\nc: ret #1\nd: ret #2\n", "joined.asm")
    assert report("find-rules", joined)[0]["rules"]
    assert report("find-rules", joined, "--optimizer", "secequiv")[0]["rules"] == []


def test_a_limit_is_unknown(asm):
    document, done = report("find-rules", asm(MASKED), "--max-tries", "3")
    assert done.status == 3 and document["verdict"] == "unknown" and document["unfinished"] >= 1
    assert "reached its limit" in run("find-rules", asm(MASKED), "--max-tries", "3").out


def test_wrong_input_is_an_error(asm, tmp_path):
    for arguments, message in ((["nothing.bpf"], "cannot open"), ([asm("ld [0]\n", "open.asm")], "the last instruction"),
                               ([asm(MASKED), "--library", asm(MASKED)], "expected 'rule NAME'"),
                               ([asm(MASKED), "--max-window", "9"], "--max-window")):
        done = run("find-rules", *arguments)
        assert done.status in (2, 4) and done.out == "" and message in done.err, done
