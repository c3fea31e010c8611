"""optimize: smaller, the same, and it says what it did on standard error only."""

import pytest
from cli_tool import POLICIES, PROGRAMS, accept, read_raw, report, run

PASSES = [line.split()[0] for line in run("optimize", "--list").out.splitlines()]
BEFORE = PROGRAMS / "gvisor" / "kvm.before.bpf"
SOURCES = [PROGRAMS / "gvisor" / "systrap.before.bpf", PROGRAMS / "libseccomp" / "docker-x86_64.linear.bpf",
           PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf", POLICIES / "seed" / "nested.json",
           POLICIES / "gvisor" / "kvm-everything.json", POLICIES / "oci" / "podman-default.json"]


def optimized(source, tmp_path, *options):
    out = tmp_path / "out.bpf"
    done = run("optimize", source, "--to", "raw", "-o", out, *options)
    assert done.status == 0 and done.out == "", done
    insns = read_raw(out.read_bytes())
    assert accept(insns, forgive_length=True) is None
    document, proof = report("prove", source, out)
    assert proof.status == 0, document
    return insns


@pytest.mark.parametrize("source", SOURCES, ids=[path.name for path in SOURCES])
def test_all_passes(source, tmp_path):
    insns = optimized(source, tmp_path)
    assert len(insns) <= len(read_raw(run("asm", source, raw=True).out))
    again = read_raw(run("optimize", tmp_path / "out.bpf", "--to", "raw", raw=True).out)
    assert again == insns  # a fixpoint


def test_there_are_eight_passes_with_laws():
    done = run("optimize", "--list")
    assert done.status == 0 and done.err == "" and len(PASSES) == len(set(PASSES)) == 8
    assert all(line.split(maxsplit=1)[1].endswith(".") for line in done.out.splitlines())


@pytest.mark.parametrize("name", PASSES)
def test_one_pass_alone(name, tmp_path):
    before = read_raw(BEFORE.read_bytes())
    insns = optimized(BEFORE, tmp_path, "--passes", name)
    assert len(insns) <= len(before)
    explained = run("optimize", BEFORE, "--passes", name, "--explain", "--plain")
    assert {line.split()[2] for line in explained.err.splitlines()[:-1]} <= {name}


def test_every_pass_does_something_somewhere():
    err = run("optimize", BEFORE, "--explain").err + run("optimize", SOURCES[3], "--explain").err
    used = {line.split()[2] for line in err.splitlines() if line.startswith("round ")}
    assert used <= set(PASSES) and len(used) >= 6, used


def test_passes_in_order(tmp_path):
    some = optimized(BEFORE, tmp_path, "--passes", "%s,%s" % (PASSES[0], PASSES[5]))
    assert some == optimized(BEFORE, tmp_path, "--passes", PASSES[0], "--passes", PASSES[5])
    assert len(optimized(BEFORE, tmp_path, "--passes", ",".join(PASSES))) == len(optimized(BEFORE, tmp_path))


def test_explanations_go_to_standard_error():
    quiet, loud = run("optimize", BEFORE), run("optimize", BEFORE, "--explain")
    assert quiet.err == "" and quiet.out == loud.out
    last = loud.err.splitlines()[-1].split()
    assert int(last[0]) == 1592 and last[1] == "->" and int(last[2]) < 600
    changes = [line.split() for line in loud.err.splitlines()[:-1]]
    assert all(row[0] == "round" and row[4] == "->" for row in changes)
    assert [int(row[3]) for row in changes][0] == 1592


def test_comments_and_plain():
    assert "; return ALLOW" in run("optimize", BEFORE).out
    assert ";" not in run("optimize", BEFORE, "--plain").out


def test_check_uses_the_same_optimizer(tmp_path):
    size = len(optimized(SOURCES[3], tmp_path))
    assert report("check", SOURCES[3])[0]["after"]["instructions"] == size


def test_standard_input():
    assert run("optimize", "--plain", stdin=BEFORE.read_bytes()).out == run("optimize", BEFORE, "--plain").out
