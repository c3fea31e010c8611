"""precompile and patch: the same program as a fresh compilation, for any values; nothing written that is not proven."""

import json
import random
import re
import struct

import cli_tool
import pytest
from cli_tool import POLICIES, accept, evaluate, listed, read_raw, report, run, write_raw

VARIABLES = POLICIES / "seed" / "variables.json"
SOURCES = [VARIABLES] + sorted((POLICIES / "gvisor").glob("*.json"))
AUDIT_X86_64, ALLOW, KILL = 0xc000003e, 0x7fff0000, 0x80000000
VALUES = {"all_ones": 0xfffffffe, "high_bit": 0, "log_fd": 0x80000000, "owner": 1, "parent": 0xffffffff, "pid": 77}


def settings(values):
    return [part for i, (name, value) in enumerate(values.items())
            for part in ("--set", "%s=%s" % (name, value if i % 2 else hex(value)))]


def with_values(source, values, tmp_path):
    """The policy with other values, as a file."""
    document = json.loads(source.read_text())
    document["variables"].update(values)
    path = tmp_path / "with-values.json"
    path.write_text(json.dumps(document))
    return path


# Without the pass that concludes from a constant, which a variable's value is not yet, and layouts of others.
BLIND = ",".join(name for name in (line.split()[1] for line in run("optimize", "--list").out.splitlines())
                 if name not in ("skip-decided-tests", "single-tree", "code-apart"))


def fresh(source, *options):
    """The same compilation without variables."""
    done = run("optimize", source, "--to", "raw", "--passes", BLIND, *options, raw=True)
    assert done.status == 0, done
    return done.out


@pytest.fixture
def made(tmp_path):
    """The precompiled file of the policy with six variables."""
    path = tmp_path / "made.json"
    assert run("precompile", VARIABLES, "-o", path).status == 0
    return path


@pytest.mark.parametrize("source", SOURCES, ids=[path.stem for path in SOURCES])
def test_patched_is_a_fresh_compilation(source, tmp_path):
    path = tmp_path / "made.json"
    document, done = report("precompile", source, "-o", path)
    assert done.status == 0 and document["verdict"] == "equivalent" and document["written"], document
    stored = json.loads(path.read_text())
    assert cli_tool.fits(stored) == "precompiled"
    own = json.loads(source.read_text())["variables"]
    assert {row["name"]: row["value"] for row in stored["variables"]} == own
    assert stored["variables"] == document["variables"] and len(stored["program"]) == document["instructions"]
    choose = random.Random(1)
    drawn = {name: choose.getrandbits(32) for name in own}
    for values in (own, drawn, {name: choose.choice([0, 1 << 31, 0xffffffff]) for name in own}):
        patched = run("patch", path, *settings(values), raw=True).out
        policy = with_values(source, values, tmp_path)
        if values == drawn:  # where two values are one, a fresh program can be shorter
            assert patched == fresh(policy)
        assert report("prove", policy, "-", stdin=patched)[1].status == 0
        assert accept(read_raw(patched)) is None
    assert run("patch", path, "--defaults", raw=True).out == run("patch", path, *settings(own), raw=True).out
    # Only k, and only at the places: a second reading of the format.
    values = {name: choose.getrandbits(32) for name in own}
    insns = [list(insn) for insn in stored["program"]]
    for row in stored["variables"]:
        for place in row["places"]:
            assert insns[place][3] == row["value"]
            insns[place][3] = values[row["name"]]
    assert run("patch", path, *settings(values), raw=True).out == write_raw([tuple(insn) for insn in insns])


def test_what_the_values_do(made):
    """By hand, and by the naive evaluator."""
    def decides(values, nr, *args):
        program = read_raw(run("patch", made, *settings({**VALUES, **values}), raw=True).out)
        return evaluate(program, struct.pack("<IIQ6Q", nr, AUDIT_X86_64, 0, *(list(args) + [0] * 6)[:6]))
    kill, write = 62, 1
    assert decides({"pid": 5}, kill, 5, 31) == ALLOW and decides({"pid": 6}, kill, 5, 31) == KILL
    assert decides({"pid": 0xffffffff}, kill, 0xffffffff) == ALLOW
    assert decides({"pid": 0xffffffff}, kill, 0xffffffffffffffff) == KILL  # 32 bits, unsigned
    assert decides({"log_fd": 9}, write, 9) == ALLOW and decides({"log_fd": 10}, write, 9) == KILL


def test_text_says_where_the_variables_stand(tmp_path):
    done = run("precompile", VARIABLES, "-o", tmp_path / "out")
    assert done.status == 0 and done.err == ""
    lines = done.out.splitlines()
    assert re.fullmatch(r".*variables\.json: \d+ instructions", lines[0])
    assert re.fullmatch(r"variable all_ones = 0xffffffff: instructions? [0-9, ]+", lines[1])
    assert lines[-1].startswith("equivalent for all values of the variables (z3, ")
    policy = tmp_path / "unused.json"
    policy.write_text('{"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": {"x": 1}, "rule_sets": []}')
    assert "variable x = 0x1: not in the program\n" in run("precompile", policy, "-o", tmp_path / "out").out


def test_standard_output_and_input(made):
    done = run("precompile", VARIABLES)
    assert done.status == 0 and done.err == "" and done.out == made.read_text()
    assert run("precompile", "-", stdin=VARIABLES.read_bytes()).out == done.out
    assert run("patch", "-", *settings(VALUES), stdin=done.out, raw=True).out == run("patch", made, *settings(VALUES), raw=True).out
    document, done = report("precompile", VARIABLES)
    assert (done.status, document["error"], document["where"]) == (2, "usage", "--output")


def test_what_is_not_proven_is_not_written(tmp_path):
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


def test_no_proof_says_so(made, tmp_path):
    out = tmp_path / "out"
    done = run("precompile", VARIABLES, "-o", out, "--no-prove")
    assert done.status == 0 and "not proven" in done.err and "equivalent" not in done.out
    assert out.read_bytes() == made.read_bytes()
    document, done = report("precompile", VARIABLES, "-o", out, "--no-prove")
    assert done.status == 0 and "verdict" not in document and "engine" not in document and document["written"]


def test_a_profile_without_variables(tmp_path):
    source = POLICIES / "oci" / "docker-default.json"
    out = tmp_path / "out"
    assert run("precompile", source, "-o", out, "--cap", "CAP_SYS_ADMIN").status == 0
    assert run("patch", out, raw=True).out == fresh(source, "--cap", "CAP_SYS_ADMIN")


def test_too_long_a_program_is_rejected(tmp_path):
    rules = ",".join('"%d":{"args":{"0":{"eq":%d}}}' % (nr, nr + 1) for nr in range(1000, 2500))
    policy = tmp_path / "long.json"
    policy.write_text('{"version":1,"arches":["x86_64"],"default_action":"allow","rule_sets":[{"action":"log","rules":{%s}}]}' % rules)
    document, done = report("precompile", policy, "-o", tmp_path / "out")
    assert done.status == 4 and document["error"] == "rejected" and document["where"] == str(policy)
    assert listed(tmp_path) == ["long.json"]


@pytest.mark.parametrize("options, said", [
    ([], "--set: no value for all_ones (0xffffffff), high_bit (0x80000000), log_fd (0x7), owner (0xfffe), parent (0x1), pid (0x1092); "
         "--defaults takes the policy's own"),
    (["--set", "pid=1"], "no value for all_ones (0xffffffff), high_bit (0x80000000), log_fd (0x7), owner (0xfffe), parent (0x1); "),
    (["--set", "pdi=1", "--defaults"],
     "--set pdi: unknown variable; known: all_ones, high_bit, log_fd, owner, parent, pid; did you mean pid?"),
    (["--set", "pid=1", "--set", "pid=1", "--defaults"], "--set pid: the variable is given twice"),
    (["--set", "pid", "--defaults"], "--set: expected NAME=VALUE, found 'pid'"),
    (["--set", "pid=", "--defaults"], "found 'pid='"), (["--set", "pid=4294967296", "--defaults"], "from 0 to 2^32-1"),
    (["--set", "pid=0x100000000", "--defaults"], "found 'pid=0x100000000'"), (["--set", "pid=-1", "--defaults"], "found 'pid=-1'"),
    (["--set", "pid=1x", "--defaults"], "found 'pid=1x'"), (["--set", "pid=getpid", "--defaults"], "found 'pid=getpid'"),
    (["--set", "=1", "--defaults"], "--set : unknown variable"),
])
def test_bad_settings(options, said, made, tmp_path):
    done = run("patch", made, *options, "-o", tmp_path / "out")
    assert done.status == 2 and done.out == "" and said in done.err, done
    assert listed(tmp_path) == ["made.json"]


def test_some_set_and_the_rest_as_in_the_policy(made, tmp_path):
    patched = fresh(with_values(VARIABLES, {"pid": 9}, tmp_path))
    assert run("patch", made, "--set", "pid=9", "--defaults", raw=True).out == patched
    assert run("patch", made, "--set", "pid=0x9", "--defaults", raw=True).out == patched


def test_forms(made, tmp_path):
    raw = run("patch", made, "--defaults", raw=True).out
    for form in ("asm", "ddd", "c", "raw-be"):
        out = tmp_path / form
        assert run("patch", made, "--defaults", "--to", form, "-o", out).status == 0
        assert run("asm", out, raw=True).out == raw
    assert "; return ALLOW" in run("patch", made, "--defaults", "--to", "asm").out
    assert ";" not in run("patch", made, "--defaults", "--to", "asm", "--plain").out


def test_names_with_equals_signs(tmp_path):
    policy = tmp_path / "odd.json"
    policy.write_text('{"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": {"a=b": 1, "\\n": 2},'
                      '"rule_sets": [{"action": "log", "rules": {"read": {"args": {"0": {"eq": "$a=b"}, "1": {"eq": "$\\n"}}}}}]}')
    out = tmp_path / "out"
    assert run("precompile", policy, "-o", out).status == 0
    program = read_raw(run("patch", out, "--set", "a=b=0x1234", "--set", "\n=77", raw=True).out)
    assert {0x1234, 77} <= {insn.k for insn in program}
    policy.write_text(policy.read_text().replace("a=b", ""))
    document, done = report("precompile", policy, "-o", out)
    assert done.status == 2 and document["detail"] == "a variable has an empty name"


def spoilt(made, change):
    document = json.loads(made.read_text())
    change(document)
    made.write_text(json.dumps(document))
    return made


@pytest.mark.parametrize("change, where, said", [
    (lambda d: d.pop("program"), "/", "'program'"), (lambda d: d.update(extra=1), "/extra", "unknown key"),
    (lambda d: d.update(schema="secequiv.precompiled/2"), "/schema", "precompiled/1"),
    (lambda d: d["program"].clear(), "/program", "4096"), (lambda d: d["program"].pop(), "/program", ""),
    (lambda d: d["program"][3].append(1), "/program/3", "four numbers"),
    (lambda d: d["variables"][1]["places"].append(9999), "/variables/1/places/1", "found 9999"),
    (lambda d: d["variables"][1].update(places=[0]), "/variables/1/places/0", "'ld [4]'"),
    (lambda d: d["variables"][1].update(value=5), "/variables/1/places/0", "0x5"),
    (lambda d: d["variables"][1].update(name="pid"), "/variables/5/name", "'pid' is there twice"),
    (lambda d: d["variables"][1].update(value=1 << 32), "/variables/1/value", "4294967296"),
])
def test_spoilt_files(change, where, said, made, tmp_path):
    path = spoilt(made, change)
    done = run("patch", path, "--defaults", "-o", tmp_path / "out")
    assert done.status == 2 and done.err.startswith("secequiv: %s#%s: " % (path, where)) and said in done.err, done
    assert listed(tmp_path) == ["made.json"]


def test_a_policy_is_no_precompiled_file():
    done = run("patch", VARIABLES, "--defaults")
    assert done.status == 2 and "#/$schema: unknown key" in done.err
