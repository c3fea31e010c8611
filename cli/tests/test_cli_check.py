"""Tests `secequiv check`: real pairs pass, every planted difference is found, and every kind of input is accepted."""

import json

import pytest
from cli_tool import (POLICIES, ROOT, confirmed, evaluate, fits, pairs, program, read_raw, report, run, words_bytes, write_raw)
from naive.naive import same

PAIRS = pairs()
SEEDS = sorted((POLICIES / "seed").glob("*.json"))
DOCKER = POLICIES / "oci" / "docker-default.json"


def passes(*args, **options):
    document, done = report("check", *args, **options)
    assert done.status == 0, (document["reason"] if "reason" in document else document)
    coverage = document["coverage"]
    assert coverage["obligations"] == (coverage["covered_by_inputs"] + coverage["covered_by_witnesses"]
                                       + len(coverage["infeasible"]))
    assert document["verdict"] == "pass" and document["proof"]["verdict"] == "equivalent" and coverage["open"] == []
    assert "--allow-cache-loss" in args or all(row["lost"] == [] for row in document["cache"]["arches"])
    return document


def test_check_without_input_passes_the_default_policy():
    document = passes()
    assert "default policy" in document["before"]["name"] and document["after"]["name"] == "built-in optimizer"
    assert document["before"]["installable"] and document["after"]["instructions"] < document["before"]["instructions"] / 2
    text = run("check")
    assert text.status == 0 and text.err == ""
    lines = [line.split()[0] for line in text.out.splitlines()]
    assert lines == ["before", "after", "inputs", "coverage", "proof", "cache", "verdict"]
    assert text.out.splitlines()[-1].startswith("verdict   pass: ")


@pytest.mark.parametrize("name, before, after, policy", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_real_pairs_pass(name, before, after, policy):
    document = passes(before, after, *(["--policy", policy] if policy else []))
    assert document["before"]["instructions"] * 8 == before.stat().st_size
    assert document["after"]["instructions"] * 8 == after.stat().st_size
    assert document["inputs"]["derived"] <= document["inputs"]["evaluations"]


def test_the_corpus_has_enough_pairs():
    assert len(PAIRS) >= 12 and sum(policy is not None for *_, policy in PAIRS) >= 8


@pytest.mark.parametrize("policy", SEEDS, ids=[path.stem for path in SEEDS])
def test_seed_policies_pass(policy):
    passes(policy)


def differ(document, before, after):
    assert document["verdict"] == "different"
    claimed = confirmed(document, before, after)
    assert claimed[0] != claimed[1]
    data = words_bytes(document["witness"]["data"]["words"])
    for side, one in (("before", before), ("after", after)):
        trace = document["traces"][side]
        assert int(trace["result"]["value"], 16) == evaluate(one, data)
        assert trace["steps"][0] == {"pc": 0, "a": 0, "x": 0, **{k: v for k, v in trace["steps"][0].items() if k == "outcome"}}
        assert one[trace["steps"][-1]["pc"]].code in (0x06, 0x16)
    return claimed


def test_a_difference_appears_in_text_and_json(getpid, getpid_enoent):
    document, done = report("check", getpid, getpid_enoent)
    assert done.status == 1
    assert differ(document, program(getpid.read_text()), program(getpid_enoent.read_text())) == [0x50001, 0x50002]
    text = run("check", getpid, getpid_enoent)
    assert text.status == 1 and text.out.splitlines()[-1].startswith("verdict   different: ")
    assert "ERRNO(1 EPERM)" in text.out and "ERRNO(2 ENOENT)" in text.out and "-> false" in text.out


def test_the_proof_finds_a_difference_that_derived_inputs_miss(asm):
    before = "ld [16]\nmul #0x01000193\nxor #0x5bd1e995\nmul #0x9e3779b1\nrsh #3\njeq #0x1234567, yes, no\nyes: ret #1\nno: ret #2\n"
    one, two = asm(before), asm(before.replace("ret #1", "ret #3"))
    document, done = report("check", one, two)
    assert done.status == 1
    assert differ(document, program(one.read_text()), program(two.read_text())) == [1, 3]


VALUES = [0x7FFF0000, 0x7FFF0001, 0x7FFC0000, 0x7FFC1234, 0x7FF00000, 0x7FF00001, 0x7FC00000, 0x7FC00009, 0x50FFF, 0x51000,
          0x5FFFF, 0x50FFE, 0x30000, 0x30001, 0, 1, 0x80000000, 0x80000001, 0x12340000, 0x7FFE0000, 0xFFFFFFFF]
# The test compares each value with the next two.
COUPLES = [(a, VALUES[(i + step) % len(VALUES)]) for i, a in enumerate(VALUES) for step in (1, 2)]


@pytest.mark.parametrize("first, second", COUPLES, ids=["%#x-%#x" % couple for couple in COUPLES])
def test_raw_and_behaviour_compare_return_values(first, second, asm):
    one, two = asm("ret #%d" % first), asm("ret #%d" % second)
    document, done = report("check", one, two)
    assert (done.status, document["same"]) == (1, "raw")
    equal = same("behaviour", first, second)
    document, done = report("check", one, two, "--same", "behaviour", "--allow-cache-loss")
    assert (done.status, document["same"]) == (0 if equal else 1, "behaviour")
    # The kernel does not cache a call that is allowed with data, although no process can observe the data.
    lost = equal and 0x7FFF0000 == first != second
    document, done = report("check", one, two, "--same", "behaviour")
    assert (done.status, document["verdict"] == "fail") == (1 if lost or not equal else 0, lost)
    assert report("prove", one, two, "--same", "behaviour")[1].status == (0 if equal else 1)


def test_the_examples_cover_both_outcomes_of_behaviour():
    assert {same("behaviour", a, b) for a, b in COUPLES} == {True, False}


def test_two_policies_are_compared(tmp_path):
    text = (POLICIES / "seed" / "ten-syscalls.json").read_text()
    one, two, three = (tmp_path / name for name in ("one.json", "two.json", "three.json"))
    one.write_text(text)
    two.write_text(json.dumps(json.loads(text)).replace('"name": "ten-syscalls"', '"name": "other"'))
    passes(one, two)
    three.write_text(text.replace('"brk": true', '"brk": true, "mprotect": true'))
    document, done = report("check", one, three)
    assert done.status == 1
    data = document["witness"]["data"]
    assert (data["syscall"], data["arch_name"]) == ("mprotect", "x86_64")
    assert (document["witness"]["before"]["action"], document["witness"]["after"]["action"]) == ("KILL_PROCESS", "ALLOW")


def test_a_policy_is_compared_with_a_program(tmp_path):
    policy = POLICIES / "seed" / "fcntl.json"
    out = tmp_path / "out.bpf"
    assert run("optimize", policy, "--to", "raw", "-o", out).status == 0
    passes(policy, out)
    passes(out, policy, "--any-length")
    wrong = read_raw(out.read_bytes())
    at = max(i for i, insn in enumerate(wrong) if insn.code == 0x06)
    wrong[at] = wrong[at]._replace(k=wrong[at].k ^ 1)
    out.write_bytes(write_raw(wrong))
    document, done = report("check", policy, out)
    assert done.status == 1
    assert run("asm", policy, "-o", tmp_path / "before.bpf").status == 0
    differ(document, read_raw((tmp_path / "before.bpf").read_bytes()), wrong)


def test_a_policy_contributes_derived_inputs(tmp_path):
    policy, compiled, out = POLICIES / "seed" / "fcntl.json", tmp_path / "compiled.bpf", tmp_path / "optimized.bpf"
    assert run("asm", policy, "-o", compiled).status == 0 and run("optimize", policy, "-o", out).status == 0
    assert passes(policy, out)["inputs"]["derived"] > passes(compiled, out)["inputs"]["derived"]


def test_the_policy_option_contributes_derived_inputs(getpid):
    few = passes(getpid)["inputs"]["derived"]
    assert passes(getpid, "--policy", POLICIES / "seed" / "fcntl.json")["inputs"]["derived"] > few


def test_standard_input_works_in_every_place(getpid):
    raw = run("asm", getpid, raw=True).out
    document = passes("-", getpid, stdin=raw)
    assert document["before"]["name"] == "<stdin>"
    passes(getpid, "-", stdin=raw)
    passes("-", stdin=(POLICIES / "seed" / "futex.json").read_bytes())
    passes(getpid, "--policy", "-", stdin=(POLICIES / "seed" / "futex.json").read_bytes())
    big = run("asm", getpid, "--to", "raw-be", raw=True).out
    passes("-", getpid, stdin=big)
    passes("-", "--big-endian", stdin=big)
    passes("-", "--from", "raw-be", stdin=big)


@pytest.mark.parametrize("options", [[], ["--arch", "aarch64"], ["--cap", "CAP_SYS_ADMIN", "--cap", "CAP_BPF"],
                                     ["--arch", "s390x"], ["--kernel-version", "4.7"]], ids=" ".join)
def test_container_profiles_pass_for_any_host(options):
    document = passes(DOCKER, *options)
    assert document["before"]["name"] == "%s (compiled, not optimized)" % DOCKER


def test_a_profile_in_a_file_named_config_json_passes(tmp_path):
    config = tmp_path / "config.json"
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"],
               "syscalls": [{"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"}]}
    config.write_text(json.dumps(profile))
    passes(config)


def test_names_left_out_of_a_profile_are_reported():
    done = run("check", DOCKER)
    assert done.status == 0
    assert done.err == "secequiv: %s: skipped 1 system call of other architectures: riscv_hwprobe\n" % DOCKER


def test_host_options_change_a_profiles_program(tmp_path):
    sizes = {tuple(options): passes(DOCKER, *options)["before"]["instructions"]
             for options in ([], ["--arch", "aarch64"], ["--cap", "CAP_SYS_ADMIN"], ["--kernel-version", "4.7"])}
    assert len(set(sizes.values())) == 4, sizes


def test_the_prover_covers_every_edge_without_derived_inputs(getpid):
    document = passes(getpid, "--max-inputs", 0)
    assert document["inputs"]["derived"] == document["coverage"]["covered_by_inputs"] == 0
    assert document["coverage"]["covered_by_witnesses"] == 6


def test_the_listing_marks_covered_and_infeasible_edges(asm, tmp_path):
    path = asm("ld [0]\njgt #10, big, small\nbig: jeq #3, never, always\nnever: ret #1\nalways: ret #2\nsmall: ret #3\n")
    passes(path, path, "--listing", tmp_path / "listing")
    marks = [line[:3].rstrip() for line in (tmp_path / "listing").read_text().splitlines() if not line.startswith(";")]
    assert marks == ["+", "+++", "+-+", "-", "+", "+"]
    done = run("check", path, path, "--listing", "-")
    assert done.status == 0 and (tmp_path / "listing").read_text() in done.out


# For the filter CACHED, the kernel caches getpid and read. LOADS has a path that loads an argument, and ADDS one with arithmetic. Both prevent caching.
CACHED = "ld [0]\njeq #39, yes, next\nnext: jeq #0, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n"
LOADS = "ld [0]\njeq #39, b, next\nnext: jeq #0, yes, no\nb: ld [16]\nyes: ret #0x7fff0000\nno: ret #0\n"
ADDS = "ld [0]\nadd #1\njeq #40, yes, next\nnext: jeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n"


def changes(document):
    return {row["arch"]: (row["before"], row["after"], row["lost"], row["gained"]) for row in document["cache"]["arches"]}


@pytest.mark.parametrize("after, left, lost", [(LOADS, 1, ["getpid"]), (ADDS, 0, ["read", "getpid"])])
@pytest.mark.parametrize("command", [["check"], ["fuzz", "--trials", "100"]], ids=["check", "fuzz"])
def test_a_lost_cached_call_fails(command, after, left, lost, asm):
    before, after = asm(CACHED), asm(after)
    numbers = {"x86_64": (2, left, lost, []), "i386": (2, left, ["restart_syscall", "mkdir"][2 - len(lost):], [])}

    def ask(*args):
        done = run(*command, *args, "--json")
        assert fits(json.loads(done.out)) == "check"
        return json.loads(done.out), done.status

    document, status = ask(before, after)
    assert (status, document["verdict"], document["proof"]["verdict"]) == (1, "fail", "equivalent")
    assert changes(document) == numbers and document["cache"]["loss_allowed"] is False
    assert "the kernel no longer answers %d system calls from its cache: %s (x86_64); " % (2 * len(lost), ", ".join(lost)) in document["reason"]
    document, status = ask(before, after, "--allow-cache-loss")
    assert (status, document["verdict"]) == (0, "pass") and document["cache"]["loss_allowed"] is True
    assert changes(document) == numbers and document["reason"].endswith(", which is allowed")
    text = run(*command, before, after)
    assert text.status == 1 and "cache     x86_64: 2 calls cached before, %d after; lost: %s; gained: none\n" % (left, ", ".join(lost)) in text.out
    # After swapping the programs, the calls are gained.
    document, status = ask(after, before)
    assert (status, document["verdict"]) == (0, "pass")
    assert changes(document)["x86_64"] == (left, 2, [], lost)


def test_a_difference_outranks_a_lost_call_and_a_lost_call_outranks_unknown(asm, hard):
    before, after = asm(CACHED), asm(LOADS.replace("no: ret #0", "no: ret #1"))
    document, done = report("check", before, after)  # a difference takes precedence over a lost call
    assert (done.status, document["verdict"]) == (1, "different") and changes(document)["x86_64"][2] == ["getpid"]
    document, done = report("check", before, asm("ld [0]\n"))
    assert (done.status, document["verdict"]) == (4, "rejected") and "cache" not in document
    # A lost call is certain even if equivalence is undecided.
    undecided = [asm("ld [0]\njeq #39, yes, no\nyes: %sret #0x7fff0000\nno: %sret a\n" % (load, path.read_text()))
                 for path, load in zip(hard, ["", "ld [16]\n"])]
    document, done = report("check", *undecided, "--timeout", "0.2")
    assert (done.status, document["verdict"]) == (1, "fail") and "is undecided" in document["reason"]
    document, done = report("check", *undecided, "--timeout", "0.2", "--allow-cache-loss")
    assert (done.status, document["verdict"]) == (3, "unknown")


def test_the_cache_is_computed_for_the_host(asm):
    only = "ld [4]\njeq #0xc00000b7, here, no\nhere: ld [0]\njeq #172, b, no\nb: %sret #0x7fff0000\nno: ret #0\n"
    before, after = asm(only % ""), asm(only % "ld [16]\n")
    document, done = report("check", before, after)
    assert done.status == 0 and set(changes(document)) == {"x86_64", "i386"}
    document, done = report("check", before, after, "--arch", "aarch64")
    assert done.status == 1 and changes(document) == {"aarch64": (1, 0, ["getpid"], []), "arm": (0, 0, [], [])}


def test_a_program_too_long_to_be_installed_can_lose_a_cached_call(asm):
    before = asm("ld [0]\n" * 4100 + CACHED, "long.asm")
    document, done = report("check", before, asm(LOADS), "--max-inputs", 0)
    assert done.status == 1 and not document["before"]["installable"]


def test_the_same_input_gives_the_same_report(getpid, getpid_enoent):
    def without_times(document):
        return {key: without_times(value) for key, value in document.items() if not key.endswith("seconds")} \
            if isinstance(document, dict) else document
    first, second = (without_times(report("check", POLICIES / "seed" / "nested.json")[0]) for _ in range(2))
    assert first == second
    first, second = (without_times(report("check", getpid, getpid_enoent)[0]) for _ in range(2))
    assert first == second


def test_the_default_policy_is_the_one_in_the_corpus():
    stored = ROOT / "corpus" / "policies" / "gvisor" / "systrap.json"
    assert passes()["before"]["instructions"] == passes(stored)["before"]["instructions"]


def test_a_long_compilation_of_a_second_policy_is_compared():
    docker, podman = (POLICIES / "oci" / name for name in ("docker-default.json", "podman-default.json"))
    done = run("check", docker, podman, "--quiet")
    assert done.status == 1 and done.out.startswith("LOOSER: "), done
    assert run("check", podman, podman).status == 0


def test_the_length_of_our_own_compilation_is_not_a_finding(tmp_path):
    """Nobody installs the unoptimized compilation, so `check` does not report its length. `asm` writes it and reports its length."""
    docker = POLICIES / "oci" / "docker-default.json"
    junit, page = tmp_path / "junit.xml", tmp_path / "page.html"
    document, done = report("check", docker, "--junit", junit, "--html", page)
    assert done.status == 0 and document["before"]["instructions"] > 4096 and not document["before"]["installable"]
    for text in (run("check", docker).out, junit.read_text(), page.read_text()):
        assert "the kernel accepts 1 to 4096" not in text and "too long to be installed" not in text
    assert "not installable" not in run("check", docker).out
    done = run("asm", docker, "-o", tmp_path / "long.bpf")
    assert "the unoptimized compilation has %d instructions, more than the 4096" % document["before"]["instructions"] in done.err
    assert "`secequiv optimize` makes a shorter program" in done.err
    assert "`secequiv optimize`" not in run("asm", POLICIES / "seed" / "ten-syscalls.json", "-o", tmp_path / "short.bpf").err
