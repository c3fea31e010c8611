"""Tests that no output of any command destroys an input or another output, and that no old result survives a failed run."""

import json
import os
import re

import pytest
from cli_tool import POLICIES, listed, run

COMMANDS = json.loads(run("--list-options").out)["commands"]
FILES = {"--chart", "--emit-smt2", "--html", "--junit", "--listing", "--markdown", "--output", "--sarif", "--state", "--write-expect"}
FOLDERS = {"--certificate", "--corpus", "--instantiate", "--save"}
PAIRS = {"check", "diff", "fuzz", "prove"}


def names(option):
    return [name for name in option["names"] if name.startswith("--")]


CASES = [(command["name"], name) for command in COMMANDS for option in command["options"] for name in names(option) if name in FILES]


def test_every_option_that_writes_is_known():
    for command in COMMANDS:
        for option in command["options"]:
            if re.match(r"(Write|Also (write|report)|Store|Add up)\b.*\b(file|folder|query|difference)\b", option["text"]):
                assert set(names(option)) & (FILES | FOLDERS), option


@pytest.fixture
def inputs(getpid, getpid_enoent):
    return getpid.parent


def refused(done, folder, *args):
    assert done.status == 2 and done.out == "", done
    assert "is also an input; write to another file" in done.err or "is named twice; write each output to its own file" in done.err, (args, done)


@pytest.mark.parametrize("command, option", CASES, ids=[" ".join(case) for case in CASES])
def test_an_output_does_not_replace_an_input(command, option, inputs):
    os.symlink("getpid.asm", inputs / "link")
    os.link(inputs / "getpid.asm", inputs / "hard")
    before = (inputs / "getpid.asm").read_bytes()
    for output in ("getpid.asm", "./getpid.asm", "link", "hard", inputs / "getpid.asm"):
        args = [command, "getpid.asm"] + (["getpid-enoent.asm"] if command in PAIRS else []) + [option, output]
        refused(run(*args, cwd=inputs), inputs, args)
        assert (inputs / "getpid.asm").read_bytes() == before, args


@pytest.mark.parametrize("args", [
    ["prove", "getpid-enoent.asm,getpid.asm", "getpid-enoent.asm", "--emit-smt2", "getpid.asm"],
    ["prove", "getpid.asm", "getpid.asm", "--certificate", "c", "--junit", "c/walk.cert"],
    ["prove", "getpid.asm", "getpid.asm", "--certificate", "c", "--emit-smt2", "c/../c/query.cnf"],
    ["prove", "getpid.asm", "getpid.asm", "--emit-smt2", "new", "--sarif", "./new"],
    ["check", "getpid.asm", "--after-cmd", "cat getpid.asm", "--listing", "getpid.asm"],
    ["diff", "getpid.asm", "getpid.asm", "--expect", "e.json", "--junit", "e.json"],
    ["fuzz", "--optimizer", "identity", "--programs", "seeds", "--junit", "seeds/one.asm"]])
def test_an_output_of_any_kind_replaces_no_other_file_of_the_command_line(args, inputs):
    for folder in ("c", "seeds"):
        (inputs / folder).mkdir()
    for name in ("e.json", "seeds/one.asm"):
        (inputs / name).write_text("kept")
    before = (inputs / "getpid.asm").read_bytes()
    refused(run(*args, cwd=inputs), inputs, args)
    assert (inputs / "getpid.asm").read_bytes() == before
    assert (inputs / "e.json").read_text() == (inputs / "seeds" / "one.asm").read_text() == "kept"
    assert not (inputs / "new").exists() and listed(inputs / "c") == []


def test_a_certificate_replaces_only_certificates(inputs):
    for name in ("walk.cert", "query.cnf", "proof.lrat"):
        (inputs / name).write_text("mine")
        done = run("prove", "getpid.asm", "getpid.asm", "--certificate", ".", cwd=inputs)
        assert done.status == 2 and "exists and is not a certificate" in done.err, done
        assert (inputs / name).read_text() == "mine"
        (inputs / name).unlink()
    (inputs / "query.cnf").write_bytes((inputs / "getpid.asm").read_bytes())
    refused(run("prove", "query.cnf", "getpid.asm", "--certificate", ".", cwd=inputs), inputs)
    assert (inputs / "query.cnf").exists()


@pytest.mark.parametrize("wrong", [["nonexistent", "getpid.asm"], ["getpid.asm", "getpid.asm", "--no-such-option"]])
def test_an_old_certificate_does_not_survive_a_failed_run(wrong, inputs):
    assert run("prove", "getpid.asm", "getpid.asm", "--certificate", "c", cwd=inputs).status == 0
    assert listed(inputs / "c") == ["walk.cert"]
    assert run("prove", *wrong, "--certificate", "c", cwd=inputs).status == 2
    assert listed(inputs / "c") == []


def test_special_files_and_state_files_may_be_read_and_written(inputs):
    assert run("check", "getpid.asm", "--junit", "/dev/null", "--sarif", "/dev/null", cwd=inputs).status == 0
    for _ in range(2):
        assert run("cover", "getpid.asm", "--state", "state", cwd=inputs).status == 0
    assert run("import", POLICIES / "oci" / "docker-default.json", "-o", "out.json", cwd=inputs).status == 0


def test_a_flag_names_no_file(inputs):
    """Its value is "true"."""
    done = run("asm", "getpid.asm", "--plain", "-o", "true", cwd=inputs)
    assert done.status == 0 and (inputs / "true").is_file(), done
