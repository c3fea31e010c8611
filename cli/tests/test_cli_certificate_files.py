"""Tests `prove --certificate`: the files in the folder, the messages if there is no certificate, and the checkers' arguments."""

import json
import re

import pytest
from cli_tool import fits, run
from certificate_tool import CHECKERS, ENGINES, certify, check, pair, raw  # noqa: F401

FILES = {"dd": ["walk.cert"], "z3": ["proof.lrat", "query.cnf"]}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("engine", ENGINES)
def test_files_of_an_earlier_proof_are_removed(pair, tmp_path, engine):  # noqa: F811
    folder = certify(tmp_path, engine, *pair)
    (folder / "notes").write_text("mine")
    assert names(folder) == sorted(FILES[engine] + ["notes"])
    other = raw(tmp_path / "other.bpf", "ret #0\n")
    done = run("prove", pair[0], other, "--engine", engine, "--certificate", folder)
    assert done.status == 1 and names(folder) == ["notes"] and check(engine, folder)[0] == 2


def test_a_folder_holds_one_proof(pair, tmp_path):  # noqa: F811
    folder = certify(tmp_path, "dd", *pair)
    run("prove", *pair, "--engine", "z3", "--certificate", folder)
    assert names(folder) == FILES["z3"]


def test_a_certificate_that_fails_does_not_hide_the_verdict(pair, tmp_path):  # noqa: F811
    for engine, files in (("z3", []), ("both", ["walk.cert"])):
        folder = tmp_path / engine
        done = run("prove", *pair, "--engine", engine, "--certificate", folder, "--json", env={"PATH": "/nonexistent"})
        document = json.loads(done.out)
        assert done.status == 3 and fits(document) == "prove" and document["verdict"] == "equivalent"
        assert "cadical" in document["certificate"]["reason"] and "cadical" in done.err
        assert document["certificate"]["written"] is bool(files) and (names(folder) if files else []) == files
        output = run("prove", *pair, "--engine", engine, "--certificate", folder, env={"PATH": "/nonexistent"})
        assert output.status == 3 and output.out.startswith("equivalent (") and "not written: " in output.out


@pytest.mark.parametrize("engine, blocked", [("dd", "."), ("dd", "walk.cert"), pytest.param("both", "proof.lrat")])
def test_a_certificate_that_cannot_be_written_does_not_hide_the_verdict(pair, tmp_path, engine, blocked):  # noqa: F811
    folder = tmp_path / "folder"
    if blocked == ".":
        folder.write_text("a file")
    else:
        (folder / blocked / "full").mkdir(parents=True)
    done = run("prove", *pair, "--engine", engine, "--certificate", folder)
    assert done.status == 2 and done.out.startswith("equivalent (") and "certificate: not written: " in done.out, done
    assert "folder" in done.err and (blocked == "." or names(folder) == [blocked])
    document = json.loads(run("prove", *pair, "--engine", engine, "--certificate", folder, "--json").out)
    assert fits(document) == "prove" and (document["verdict"], document["certificate"]["written"]) == ("equivalent", False)


def test_a_missing_certificate_fails_in_reports(pair, tmp_path):  # noqa: F811
    """No report file calls such a run equivalent, whatever the proof says."""
    (tmp_path / "folder").write_text("a file")
    for engine, status, verdict in (("dd", 2, "error"), ("z3", 3, "unknown")):
        junit, markdown = tmp_path / "j.xml", tmp_path / "m.md"
        folder = tmp_path / ("folder" if status == 2 else "missing")
        done = run("prove", *pair, "--engine", engine, "--certificate", folder, "--junit", junit, "--markdown", markdown, env={"PATH": "/nonexistent"})
        assert done.status == status, done
        text = junit.read_text()
        assert '<property name="verdict" value="%s"/>' % verdict in text and re.search('(failures|errors)="1"', text), text
        assert 'message="%s: ' % verdict in text and "equivalent" not in markdown.read_text().splitlines()[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_comparison_of_behaviour_has_to_be_requested(tmp_path, engine):
    one, two = raw(tmp_path / "one.bpf", "ret #0x7fff0001\n"), raw(tmp_path / "two.bpf", "ret #0x7fff0000\n")
    folder = certify(tmp_path, engine, one, two, "--same", "behaviour")
    status, output = check(engine, folder, one, two)
    assert status == 1 and re.search("expected '(c )?same raw' here", output)
    assert check(engine, folder, one, two, "--same", "behaviour")[0] == 0
    assert check(engine, folder, one, two, "--same", "raw")[0] == 1
    for wrong in (["--same"], ["--same", "other"], [one, two, "--same"], [one, "--same", "behaviour"]):
        assert check(engine, folder, *wrong)[0] == 2, wrong
    strict = certify(tmp_path / "strict", engine, one, one)
    assert check(engine, strict, one, one, "--same", "behaviour")[0] == 1
    printed = run("prove", one, two, "--same", "behaviour", "--engine", engine, "--certificate", folder).out
    assert re.search(r"; scripts/%s %s --same behaviour\n" % (CHECKERS[engine].name, folder), printed)


def insn(code, jt=0, jf=0, k=0):
    return code, jt, jf, k


UNSET = {"read": [insn(0x60), insn(0x06)], "unreachable": [insn(0x06), insn(0x60), insn(0x06)],
         "one-way": [insn(0x20), insn(0x15, 0, 1, 5), insn(0x02), insn(0x60), insn(0x06)]}
SET = [[insn(0x20), insn(0x02), insn(0x15, 0, 1, 5), insn(0x00), insn(0x60), insn(0x16)],
       [insn(0x05, k=0), insn(0x02), insn(0x15, 1, 0, 0), insn(0x61), insn(0x06)]]


@pytest.mark.parametrize("engine", ENGINES)
def test_programs_that_may_read_unwritten_memory_are_refused(tmp_path, engine):
    """The checkers refuse such programs as the kernel does. The test writes the certificate itself, because prove makes none."""
    def put_in(program, text):
        digits = "".join("%04x%02x%02x%08x" % each for each in program)
        return re.sub(r"(before|after) [0-9a-f]+", lambda found: "%s %s" % (found[1], digits), text)

    plain = raw(tmp_path / "plain.bpf", "ret #0\n")
    folder = certify(tmp_path, engine, plain, plain)
    path = folder / ("walk.cert" if engine == "dd" else "query.cnf")
    for program in UNSET.values():
        path.write_text(put_in(program, path.read_text()))
        assert re.search(r"instruction \d of before reads M\[0\] before it is written", check(engine, folder)[1])
    for program in SET:
        path.write_text(put_in(program, path.read_text()))
        assert not re.search("before it is written|kernel refuses", check(engine, folder)[1])


def test_both_checkers_contain_the_same_program_reader():
    """Each checker is self-contained, so both contain the code that reads programs. The two copies must be the same."""
    readers = [re.search(r"\n# ---- Programs -.*?\n# ---- ", script.read_text(), re.S)[0] for script in CHECKERS.values()]
    assert readers[0] == readers[1]
    assert all("def %s(" % name in readers[0] for name in ("load", "is_legal", "check_memory", "observed"))


def test_control_characters_of_a_certificate_do_not_reach_the_terminal(pair, tmp_path):  # noqa: F811
    path = certify(tmp_path, "dd", *pair) / "walk.cert"
    text = path.read_text()
    path.write_bytes(text.replace("\nmain\n", "\nterm 0 + \x1b[2Kvalid: c1\nmain\n").encode())
    status, output = check("dd", path)
    assert status == 1 and "\x1b" not in output


