"""Tests that the theorems state what they should, and that they rest on nothing but Coq."""
# Annex: coq

import os
import re
import shutil
import subprocess

from conftest import FOLDER, MISSING

SOURCES = sorted(FOLDER.glob("*.v"))


def without_comments(text):
    depth, out = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        if depth == 0 and part != "*)":
            out.append(part)
    return "".join(out)


def test_the_theorems_and_the_definitions_that_they_mention_are_the_expected_ones(built):
    """theorems.txt has the statements, their axioms, and the meaning of a program. A change there needs a review, then
    `cp build/proved/theorems.txt verify/proved/tests/theorems.txt`."""
    assert (built / "theorems.txt").read_text() == (FOLDER / "tests" / "theorems.txt").read_text()


def test_no_theorem_has_an_axiom(built):
    text = (built / "theorems.txt").read_text()
    theorems = re.findall(r"^Print Assumptions (\w+)\.$", (FOLDER / "Theorems.v").read_text(), re.M)
    assert set(theorems) >= {"check_raw", "check_behaviour", "check_cnf_raw", "check_cnf_behaviour", "unsatisfiable_equal", "accepted_returns"}
    assert text.count("Closed under the global context\n") == len(theorems) and "Axioms:" not in text


def test_no_proof_is_left_out():
    words = ("Admitted|admit|Abort|Axiom|Axioms|Parameter|Parameters|Conjecture|Hypothesis|Hypotheses|Context|give_up|bypass_check|Unset|"
             "Declare|Primitive|Extract Constant|Extract Inductive|Extract Inlined Constant")
    for path in SOURCES:
        found = re.search(r"\b(%s)\b" % words, without_comments(path.read_text()))
        assert not found, (path.name, found)
    assert re.search(r"\b(%s)\b" % words, without_comments("(* fine *) Lemma x : False. Admitted."))


def test_the_sources_stay_readable():
    assert sum(len(path.read_text().splitlines()) for path in SOURCES) <= 3700


def test_a_missing_tool_is_named(tmp_path):
    """Without Coq, the build has its own exit status and names the package."""
    for tool in ("bash", "dirname", "env"):
        os.symlink(shutil.which(tool), tmp_path / tool)
    done = subprocess.run([str(FOLDER / "build"), str(tmp_path / "out")], capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.returncode == MISSING and "coqc is missing" in done.stderr and not (tmp_path / "out").exists()


def test_nothing_is_built_again_without_a_reason(tmp_path):
    """A build needs coqc, which fails here."""
    out, tools = tmp_path / "out", tmp_path / "tools"
    tools.mkdir()
    for name in ("coqc", "ocamlopt"):
        (tools / name).write_text("#!/bin/sh\nexit 5\n")
        (tools / name).chmod(0o755)
    out.mkdir()
    results = [out / name for name in ("theorems.txt", "secequiv-checker", "secequiv-evaluate")]

    def build(*options):
        return subprocess.run([str(FOLDER / "build"), *options, str(out)], capture_output=True, text=True,
                              env={"PATH": "%s:%s" % (tools, os.environ["PATH"])})
    for path in results:
        assert build().returncode == 5
        path.write_text("")
    done = build()
    assert done.returncode == 0 and done.stderr.startswith("nothing to do: "), done
    assert build("--again").returncode == 5
    os.utime(results[-1], (0, 0))  # older than the sources
    assert build().returncode == 5 and not list(out.glob(".build*"))


def test_two_builds_at_once_are_one_after_the_other(tmp_path):
    """The second build waits for the first one, which here ends when a file appears."""
    out, tools = tmp_path / "out", tmp_path / "tools"
    tools.mkdir()
    (tools / "coqc").write_text("#!/bin/sh\necho >>%s/started\nwhile [ ! -e %s/go ]; do sleep 0.01; done\nexit 5\n" % (tmp_path, tmp_path))
    (tools / "coqc").chmod(0o755)
    builds = [subprocess.Popen([str(FOLDER / "build"), str(out)], env={"PATH": "%s:%s" % (tools, os.environ["PATH"])}) for _ in range(2)]
    while not (tmp_path / "started").exists():
        assert all(build.poll() is None for build in builds)
    assert (tmp_path / "started").read_text() == "\n"
    for path in (out / name for name in ("theorems.txt", "secequiv-checker", "secequiv-evaluate")):
        path.write_text("")  # as if the first one had succeeded
    (tmp_path / "go").touch()
    assert sorted(build.wait() for build in builds) == [0, 5]
    assert (tmp_path / "started").read_text() == "\n"
