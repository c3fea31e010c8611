"""Tests which proofs have a certificate (`prove --certificate`), and what the command reports about it."""

import hashlib
import os
import re
import subprocess

import pytest
from certificate_tool import BEFORE, CHECKERS, ENGINES, FULL, certify, check, pair, raw, sealed  # noqa: F401
from cli_tool import MANIFEST, PROGRAMS, report, run

PAIRS = [pair for pair in MANIFEST["pairs"] if FULL or pair["name"] in ("gvisor-kvm", "gvisor-systrap", "libseccomp-allow306")]


# Podman's filter is left out for Z3: its formula resembles that of docker's filter, but takes twice as long.
REAL = [("dd", pair) for pair in PAIRS] + [
    pytest.param("z3", pair) for pair in PAIRS if pair["name"] != "libseccomp-podman-x86_64"]


@pytest.mark.parametrize("engine, real", REAL, ids=lambda value: value if isinstance(value, str) else value["name"])
def test_real_pairs_have_valid_certificates(engine, real, tmp_path):
    programs = [PROGRAMS / real["before"], PROGRAMS / real["after"]]
    for sides in (programs, programs[::-1])[:2 if engine == "dd" and real in PAIRS[::3] else 1]:
        folder = certify(tmp_path, engine, *sides)
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 16 << 20
        status, output = check(engine, folder, *sides)
        assert status == 0 and output.startswith("valid: "), output
        assert [line for line in output.split("\n")[1:3]] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in sides]
        assert check(engine, folder)[0] == 0
        assert check(engine, folder, *sides[::-1])[0] == 1, "the certificate is about other programs"


def test_the_report_names_the_files(pair, tmp_path):
    folder = tmp_path / "new" / "folder"
    done = run("prove", *pair, "--certificate", folder)
    assert done.status == 0 and "certificate: %s/walk.cert (" % folder in done.out
    written, size = report("prove", *pair, "--certificate", folder)[0]["certificate"], (folder / "walk.cert").stat().st_size
    assert written["files"] == [{"name": "walk.cert", "bytes": size}] and (written["path"], written["bytes"]) == (str(folder), size)
    assert [path.name for path in folder.iterdir()] == ["walk.cert"], "nothing temporary is left"


def test_a_pair_that_differs_has_no_certificate(pair, tmp_path):
    other = raw(tmp_path / "other.bpf", BEFORE.replace("#7, no2", "#8, no2"))
    document, done = report("prove", pair[0], other, "--certificate", tmp_path / "none")
    assert done.status == 1 and document["certificate"]["written"] is False and document["certificate"]["reason"]
    assert not (tmp_path / "none").exists()
    assert "not written" in run("prove", pair[0], other, "--certificate", tmp_path / "none").out


def test_the_report_names_the_checkers(pair, tmp_path):
    output = run("prove", *pair, "--engine", "both", "--certificate", tmp_path).out
    assert re.findall(r"scripts/(\w+) %s" % tmp_path, output) == [path.name for path in CHECKERS.values()]


@pytest.mark.parametrize("options, word", [(["--refines"], "do not support refinement"), (["STACK"], "stacks")])
def test_refinement_and_stacks_have_no_certificate(pair, tmp_path, options, word):
    one, other = map(str, pair)
    arguments = [one + "," + other, other] if options == ["STACK"] else [one, other] + options
    done = run("prove", *arguments, "--certificate", tmp_path / "none")
    assert done.status == 2 and word in done.err and not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_created_is_an_error(pair, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("prove", *pair, "--certificate", tmp_path / "file" / "below")
    assert done.status == 2 and "file/below" in done.err


def test_arithmetic_identities_have_no_walk_certificate(tmp_path):
    """2 * A == A + A is provable bit by bit, but not with uninterpreted terms. The command reports this and leaves no file."""
    double, sum_of = [raw(tmp_path / name, "ld [0]\n%s\njeq #10, y\nret #0\ny: ret #0x7fff0000\n" % how)
                      for name, how in (("double", "mul #2"), ("sum", "tax\nadd x"))]
    done = run("prove", double, sum_of, "--certificate", tmp_path / "none")
    assert done.status == 3 and "no certificate" in done.err and not (tmp_path / "none").exists()
    folder = certify(tmp_path, "z3", double, sum_of)
    assert check("z3", folder, double, sum_of)[0] == 0


def test_formulas_cover_every_operation(tmp_path):
    """Every operation occurs in a formula that is proven and that the checker derives again."""
    for i, (one, other) in enumerate([
            ("div #3", "ldx #3\ndiv x"), ("lsh #4", "ldx #36\nlsh x"), ("rsh #5", "ldx #5\nrsh x"), ("neg", "xor #0xffffffff\nadd #1"),
            ("and #0xff\nmul #3", "and #0xff\ntax\nlsh #1\nadd x"), ("or #0xf0", "and #0xffffff0f\nadd #0xf0"), ("sub #7", "add #0xfffffff9"),
            ("st M[3]\nld M[3]", "stx M[2]\ntax\ntxa"), ("ld #len", "ld #64"), ("ldx #len\ntxa", "ld #64")]):
        sides = [raw(tmp_path / ("%d%d" % (i, k)), "ld [0]\n%s\nret a\n" % how) for k, how in enumerate((one, other))]
        folder = certify(tmp_path, "z3", *sides, name="bits%d" % i)
        assert check("z3", folder, *sides)[0] == 0, (one, other)


@pytest.mark.parametrize("engine", ENGINES)
def test_certificates_for_behaviour_need_the_option_in_the_checker(engine, tmp_path):
    sides = [raw(tmp_path / name, "ld [0]\njeq #1, y\nret #%s\ny: ret #%s\n" % values)
             for name, values in (("one", ("0x7fff0001", "0x5ffff")), ("two", ("0x7fff0000", "0x50fff")))]
    folder = certify(tmp_path, engine, *sides, "--same", "behaviour")
    status, output = check(engine, folder, *sides, "--same", "behaviour")
    assert status == 0 and "behave the same for every input, each as a process's only filter\n" in output
    if engine == "dd":
        lines = (folder / "walk.cert").read_text().split("\n")[:-1]
        (folder / "walk.cert").write_text(sealed([line.replace("same behaviour", "same raw") for line in lines]))
    else:
        text = (folder / "query.cnf").read_text()
        (folder / "query.cnf").write_text(text.replace("c same behaviour", "c same raw"))
    assert check(engine, folder)[0] == 1


def test_a_missing_solver_is_unknown(pair, tmp_path):
    (tmp_path / "bin").mkdir()
    done = run("prove", *pair, "--engine", "z3", "--certificate", tmp_path / "none", env={**os.environ, "PATH": str(tmp_path / "bin")})
    assert done.status == 3 and "cadical" in done.err and not (tmp_path / "none").exists()


def test_a_solver_with_invalid_output_is_a_crash(pair, tmp_path):
    (tmp_path / "bin").mkdir()
    for script in ("exit 10", "cat >/dev/null; echo nonsense; exit 20", r"cat >/dev/null; printf 'a\004\000a\000'; exit 20", "exit 3"):
        (tmp_path / "bin" / "cadical").write_text("#!/bin/sh\n%s\n" % script)
        (tmp_path / "bin" / "cadical").chmod(0o755)
        done = run("prove", *pair, "--engine", "z3", "--certificate", tmp_path / "none",
                   env={**os.environ, "PATH": "%s:/usr/bin:/bin" % (tmp_path / "bin")})
        assert done.status == 5 and "cadical" in done.err and not (tmp_path / "none").exists(), done


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"], ["/no/such/file"]])
@pytest.mark.parametrize("engine", ["dd", "z3"])
def test_wrong_usage_of_the_checkers_is_an_error(engine, arguments):
    assert subprocess.run([str(CHECKERS[engine]), *arguments], capture_output=True).returncode == 2
