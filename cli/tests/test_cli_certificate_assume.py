"""Tests `prove --assume --certificate`: certificates for the inputs that a condition allows."""

import hashlib

import pytest
from certificate_tool import AFTER, BEFORE, CHECKERS, ENGINES, certify, check, pair, raw  # noqa: F401
from cli_tool import ROOT, report, run

# The programs differ in two places. Each condition excludes both of them, and each kind of condition occurs.
CONDITIONS = ["nr == 7 || nr in {9..12} || arch != x86_64", "nr != getpid && !(nr == 1 && arg0 >= 0x100000005 && arg0 <= 0x1000000ff)",
              "nr not in {39, 1}", "nr == 1 && arg0.hi != 1", "nr == 1 && arg0 & 0xf00000000 == 0", "arch == aarch64 && arg3 > 0x7ffffffff"]
ONE = "ld [4]\njeq #0xc000003e, ok\nret #0\nok: ld [0]\njeq #39, yes\njeq #1, write\nret #0x50001\nwrite: ld [20]\njeq #1, next\nret #0x50001\nnext: ld [16]\nyes: ret #0x7fff0000\n"
OTHER = "ld [4]\njeq #0xc000003e, ok\nret #0\nok: ld [0]\njeq #39, no\njeq #1, write\nno: ret #0x50001\nwrite: ld [20]\njeq #1, next\nret #0x50001\nnext: ld [16]\njgt #0xff, yes\njgt #4, no2\nyes: ret #0x7fff0000\nno2: ret #0x50001\n"
ALSO_ALLOWS = ROOT / "corpus" / "regress" / "certificates" / "condition-allow-data"
ALSO_ALLOWS_ARGUMENTS = [ALSO_ALLOWS / "pa.bpf", ALSO_ALLOWS / "pb.bpf", "--allowed-by", ALSO_ALLOWS / "cond.bpf"]
ONLY_THE_LAST = "and no other, must return SECCOMP_RET_ALLOW (with any data)"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_certificate_under_an_assumption_needs_its_condition(engine, condition, tmp_path):
    sides = [raw(tmp_path / name, text) for name, text in (("one", ONE), ("other", OTHER))]
    assert run("prove", *sides).status == 1
    folder = certify(tmp_path, engine, *sides, "--assume", condition)
    allowed = folder / "condition.bpf"
    status, output = check(engine, folder, *sides, "--allowed-by", allowed)
    assert status == 0 and "return the same value for every input that %s allows (action ALLOW, any data)\n" % allowed in output, output
    assert output.split("\n")[1:3] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in sides]
    assert check(engine, folder, *sides)[0] == 1, "without the condition, nothing is proven about the programs"
    assert check(engine, folder, *sides[::-1], "--allowed-by", allowed)[0] == 1
    everything = raw(tmp_path / "everything", "ret #0x7fff0000\n")
    assert check(engine, folder, *sides, "--allowed-by", everything)[0] == 1, "another condition"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_condition_is_a_filter_that_allows_the_inputs_of_the_assumption(condition, tmp_path):
    """As a proof: where the assumption holds, the condition returns ALLOW; where its opposite holds, it returns 0."""
    sides = [raw(tmp_path / name, text) for name, text in (("one", ONE), ("other", OTHER))]
    allowed = certify(tmp_path, "dd", *sides, "--assume", condition) / "condition.bpf"
    for assumption, value in ((condition, "0x7fff0000"), ("!(%s)" % condition, "0")):
        constant = raw(tmp_path / "constant", "ret #%s\n" % value)
        assert run("prove", allowed, constant, "--assume", assumption).status == 0
        assert run("prove", allowed, constant).status == 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text, reason", [
    ("ret #0\n", ONLY_THE_LAST),
    ("ret #0x7ffe0000\n", ONLY_THE_LAST),
    ("ld [0]\njeq #1, no\nret #0x7fff0000\nno: ret #0x7fff0000\n", ONLY_THE_LAST),
    ("ld [0]\njeq #1, no\nret a\nno: ret #0x7fff0000\n", "instruction 2 of "),
    ("st M[1]\nret #0x7fff0000\n", "instruction 0 of "),
    ("", "is not a raw program")])
def test_a_program_that_is_no_condition_is_refused(engine, text, reason, tmp_path, pair):  # noqa: F811
    """Otherwise a condition could return before the programs run, or run them with other registers."""
    folder = certify(tmp_path, engine, *pair)
    condition = tmp_path / "condition"
    if text:
        raw(condition, text)
    else:
        condition.write_bytes(b"")
    status, output = check(engine, folder, *pair, "--allowed-by", condition)
    assert status == 1 and reason in output, output


@pytest.mark.parametrize("engine", CHECKERS)
def test_a_condition_that_also_returns_ALLOW_with_data_is_refused(engine):
    """The certificate is valid, but says nothing about the input for which the condition returns 0x7fff0001, which is ALLOW, too."""
    status, output = check(engine, ALSO_ALLOWS, *ALSO_ALLOWS_ARGUMENTS)
    assert status == 1 and ONLY_THE_LAST in output, output
    assert check(engine, ALSO_ALLOWS)[0] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_condition_that_allows_everything_is_a_condition(engine, tmp_path, pair):  # noqa: F811
    longer = [raw(tmp_path / ("longer-" + side.name), "ld #0\nldx #0\n" + text) for side, text in zip(pair, (BEFORE, AFTER))]
    folder = certify(tmp_path, engine, *longer)
    everything = raw(tmp_path / "everything", "ret #0x7fff0000\n")
    assert check(engine, folder, *pair, "--allowed-by", everything)[0] == 0
    assert check(engine, folder, *longer, "--allowed-by", everything)[0] == 1
    assert check(engine, folder, *pair, "--allowed-by", tmp_path / "missing")[0] == 2


def test_the_report_names_the_condition(tmp_path):
    sides = [raw(tmp_path / name, text) for name, text in (("one", ONE), ("other", OTHER))]
    folder = tmp_path / "new"
    output = run("prove", *sides, "--assume", "nr == 7", "--certificate", folder).out
    assert "scripts/check_certificate %s --allowed-by %s/condition.bpf" % (folder, folder) in output
    document, _ = report("prove", *sides, "--assume", "nr == 7", "--certificate", folder)
    assert [file["name"] for file in document["certificate"]["files"]] == ["walk.cert", "condition.bpf"]
    assert run("prove", *sides, "--certificate", folder).status == 1 and list(folder.iterdir()) == [], "files of an earlier proof are removed"
