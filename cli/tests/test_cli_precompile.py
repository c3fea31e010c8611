"""Tests `precompile` followed by `asm --set`: the result equals a compilation with these values; an unproven program is not written."""

import json
import random
import re
import struct

import cli_tool
import pytest
from cli_tool import POLICIES, accept, evaluate, listed, read_raw, report, run

VARIABLES = POLICIES / "seed" / "variables.json"
SOURCES = [VARIABLES] + sorted((POLICIES / "gvisor").glob("*.json"))
AUDIT_X86_64, ALLOW, KILL = 0xc000003e, 0x7fff0000, 0x80000000
VALUES = {"all_ones": 0xfffffffe, "high_bit": 0, "log_fd": 0x80000000, "owner": 1, "parent": 0xffffffff, "pid": 77}


def settings(values):
    return [part for i, (name, value) in enumerate(values.items())
            for part in ("--set", "%s=%s" % (name, value if i % 2 else hex(value)))]


def filled(path, values, **options):
    """Returns the raw program with these values."""
    done = run("asm", path, *settings(values), raw=True, **options)
    assert done.status == 0, done
    return done.out


def with_values(source, values, tmp_path):
    """Returns the policy with other values, as a file."""
    document = json.loads(source.read_text())
    document["variables"].update(values)
    path = tmp_path / "with-values.json"
    path.write_text(json.dumps(document))
    return path


# `precompile` uses these passes. It leaves out the passes that draw conclusions from constants, and the passes that reproduce layouts of
# other tools.
BLIND = ",".join(name for name in (line.split()[1] for line in run("optimize", "--list").out.splitlines())
                 if name not in ("skip-decided-tests", "fewer-tests", "single-tree", "code-apart"))


def compiled(source, *options):
    """Returns the program that the same passes make without treating variables as symbols."""
    done = run("optimize", source, "--to", "raw", "--passes", BLIND, *options, raw=True)
    assert done.status == 0, done
    return done.out


@pytest.fixture
def made(tmp_path):
    """Returns the path of a precompiled policy with six variables."""
    path = tmp_path / "made.asm"
    assert run("precompile", VARIABLES, "-o", path).status == 0
    return path


@pytest.mark.parametrize("source", SOURCES, ids=[path.stem for path in SOURCES])
def test_filling_in_values_equals_compiling_with_them(source, tmp_path):
    path = tmp_path / "made.asm"
    document, done = report("precompile", source, "-o", path)
    assert done.status == 0 and document["verdict"] == "equivalent" and document["written"], document
    own = json.loads(source.read_text())["variables"]
    assert {row["name"]: row["value"] for row in document["variables"]} == own
    lines = [line for line in path.read_text().splitlines() if not line.startswith(";")]
    assert len(lines) == document["instructions"]
    places = {place: row["name"] for row in document["variables"] for place in row["places"]}
    for place, line in enumerate(lines):  # names occur only at the reported instructions
        assert re.findall(r"#\$(\w+)", line.partition(";")[0]) == ([places[place]] if place in places else []), line
    choose = random.Random(1)
    drawn = {name: choose.getrandbits(32) for name in own}
    for values in (own, drawn, {name: choose.choice([0, 1 << 31, 0xffffffff]) for name in own}):
        program = filled(path, values)
        policy = with_values(source, values, tmp_path)
        if values == drawn:  # if two variables have the same value, compiling with these values can give a shorter program
            assert program == compiled(policy)
        assert report("prove", policy, "-", stdin=program)[1].status == 0
        assert accept(read_raw(program)) is None
    # A loader needs no assembler: only k changes, and only at the reported instructions.
    zero = read_raw(filled(path, dict.fromkeys(own, 0)))
    by_hand = [insn._replace(k=drawn[places[pc]]) if pc in places else insn for pc, insn in enumerate(zero)]
    assert by_hand == read_raw(filled(path, drawn))


def test_the_filled_in_program_decides_by_the_given_values(made):
    """The naive evaluator confirms results that were worked out by hand."""
    def decides(values, nr, *args):
        program = read_raw(filled(made, {**VALUES, **values}))
        return evaluate(program, struct.pack("<IIQ6Q", nr, AUDIT_X86_64, 0, *(list(args) + [0] * 6)[:6]))
    kill, write = 62, 1
    assert decides({"pid": 5}, kill, 5, 31) == ALLOW and decides({"pid": 6}, kill, 5, 31) == KILL
    assert decides({"pid": 0xffffffff}, kill, 0xffffffff) == ALLOW
    assert decides({"pid": 0xffffffff}, kill, 0xffffffffffffffff) == KILL  # 32 bits, unsigned
    assert decides({"log_fd": 9}, write, 9) == ALLOW and decides({"log_fd": 10}, write, 9) == KILL


def test_the_report_lists_the_instructions_of_each_variable(tmp_path):
    done = run("precompile", VARIABLES, "-o", tmp_path / "out")
    assert done.status == 0 and done.err == ""
    lines = done.out.splitlines()
    assert re.fullmatch(r".*variables\.json: \d+ instructions", lines[0])
    assert re.fullmatch(r"variable all_ones = 0xffffffff: instructions? [0-9, ]+", lines[1])
    assert lines[-1].startswith("equivalent for all values of the variables (z3, ")
    policy = tmp_path / "unused.json"
    policy.write_text('{"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": {"x": 1}, "rule_sets": []}')
    assert "variable x = 0x1: the program does not contain it\n" in run("precompile", policy, "-o", tmp_path / "out").out


def test_standard_input_and_output_are_supported(made):
    done = run("precompile", VARIABLES)
    assert done.status == 0 and done.err == "" and done.out == made.read_text()
    assert run("precompile", "-", stdin=VARIABLES.read_bytes()).out == done.out
    assert filled("-", VALUES, stdin=done.out) == filled(made, VALUES)
    document, done = report("precompile", VARIABLES)
    assert (done.status, document["error"], document["where"]) == (2, "usage", "--output")


def test_an_unproven_program_is_not_written(tmp_path):
    for old in (None, "precious"):
        out = tmp_path / "out"
        if old:
            out.write_text(old)
        document, done = report("precompile", VARIABLES, "-o", out, "--timeout", "1e-9")
        assert done.status == 3 and document["verdict"] == "unknown" and not document["written"]
        assert "time limit" in document["detail"]
        done = run("precompile", VARIABLES, "-o", out, "--timeout", "1e-9")
        assert done.status == 3 and "unknown; nothing was written" in done.out
        assert listed(tmp_path) == (["out"] if old else []) and (not old or out.read_text() == old)


def test_a_program_written_without_a_proof_is_reported_as_not_proven(made, tmp_path):
    out = tmp_path / "out"
    done = run("precompile", VARIABLES, "-o", out, "--no-prove")
    assert done.status == 0 and "not proven" in done.err and "equivalent" not in done.out
    assert out.read_bytes() == made.read_bytes()
    document, done = report("precompile", VARIABLES, "-o", out, "--no-prove")
    assert done.status == 0 and "verdict" not in document and "engine" not in document and document["written"]


def test_a_profile_without_variables_is_compiled(tmp_path):
    source = POLICIES / "oci" / "docker-default.json"
    out = tmp_path / "out"
    assert run("precompile", source, "-o", out, "--cap", "CAP_SYS_ADMIN").status == 0
    assert run("asm", out, raw=True).out == compiled(source, "--cap", "CAP_SYS_ADMIN")


def test_a_program_that_is_too_long_is_rejected(tmp_path):
    rules = ",".join('"%d":{"args":{"0":{"eq":%d}}}' % (nr, nr + 1) for nr in range(1000, 2500))
    policy = tmp_path / "long.json"
    policy.write_text('{"version":1,"arches":["x86_64"],"default_action":"allow","rule_sets":[{"action":"log","rules":{%s}}]}' % rules)
    document, done = report("precompile", policy, "-o", tmp_path / "out")
    assert done.status == 4 and document["error"] == "rejected" and document["where"] == str(policy)
    assert listed(tmp_path) == ["long.json"]


def test_every_variable_needs_a_value(made, tmp_path):
    for options in ([], ["--set", "pid=1"], ["--set", "all_ones=1", "--set", "pid=1"]):
        done = run("asm", made, *options, "-o", tmp_path / "out")
        assert done.status == 2 and re.search(r"made\.asm:\d+:\d+: expected a number, found '\$\w+', a name without a value; set the value with --set", done.err), done
    assert listed(tmp_path) == ["made.asm"]


def test_unknown_names_are_noted(made):
    done = run("asm", made, *settings(VALUES), "--set", "pdi=1", raw=True)
    assert done.status == 0 and "has no name '$pdi'" in done.err and done.out == filled(made, VALUES)


def test_comments_list_the_policys_own_values(made):
    head = [line for line in made.read_text().splitlines() if line.startswith(";")]
    own = json.loads(VARIABLES.read_text())["variables"]
    assert head[0].startswith("; ") and "--set NAME=VALUE" in head[0]
    assert head[1:] == [";   $%s = %#x" % (name, value) for name, value in sorted(own.items())]
    assert filled(made, own) == compiled(VARIABLES)


def test_other_commands_read_the_program(made):
    """The output of `precompile` is ordinary assembly with names."""
    assert run("prove", made, made).out.startswith("for all values of $")
    assert "; return ALLOW" in run("dis", made, *settings(VALUES)).out


def test_names_that_assembly_cannot_express_are_errors(tmp_path):
    out = tmp_path / "out"
    for name in ("a=b", "\\n", "", "1st"):
        policy = tmp_path / "odd.json"
        policy.write_text('{"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": {"%s": 1},'
                          '"rule_sets": [{"action": "log", "rules": {"read": {"args": {"0": {"eq": "$%s"}}}}}]}' % (name, name))
        document, done = report("precompile", policy, "-o", out)
        assert done.status == 2 and "expected a name of letters, digits and '_'" in document["detail"], document
    assert listed(tmp_path) == ["odd.json"]
