"""Tests `secequiv merge`: the naive evaluator confirms merged policies, and --refines confirms that an intersection is never looser."""

import collections
import itertools
import json
import os
import random
import re

import pytest
from cli_tool import POLICIES, ROOT, evaluate, read_raw, run, run_stack, words_bytes

ORDER = [0x80000000, 0, 0x30000, 0x50000, 0x7FC00000, 0x7FF00000, 0x7FFC0000, 0x7FFF0000]  # from the strictest action on
FILES = ["seed/ten-syscalls.json", "oci/docker-default.json", "seed/futex.json", "seed/masked-flags.json", "gvisor/kvm.json"]


def place(value):
    return ORDER.index(value & 0xFFFF0000)


def program(path, tmp_path):
    raw = tmp_path / "raw"
    assert run("asm", path, "--to", "raw", "-o", raw).status == 0
    return read_raw(raw.read_bytes())


def inputs():
    values = [(0, 0), (3, 0), (0xFFFFFFFF, 0), (0x7E020000, 0), (1, 1), (40, 0)]
    for nr, arch in itertools.product([*range(0, 450, 19), 0, 41, 56, 135, 0x40000000, 0xFFFFFFFF], [0xC000003E, 0x40000003, 7]):
        for low, high in values:
            yield words_bytes([nr, arch, 0, 0] + [low, high] * 6)


def merged(tmp_path, *args):
    out = tmp_path / "merged.json"
    done = run("merge", *args, "-o", out)
    assert done.status == 0 and done.out == "", done
    return out, done


@pytest.mark.parametrize("first, second", list(zip(FILES, FILES[1:] + FILES[:1])))
def test_the_naive_evaluator_confirms_merged_policies(first, second, tmp_path):
    paths = [POLICIES / first, POLICIES / second]
    programs = [program(path, tmp_path) for path in paths]
    both, _ = merged(tmp_path, "--intersect", *paths)
    both = program(both, tmp_path)
    either, _ = merged(tmp_path, "--union", *paths)
    either = program(either, tmp_path)
    for data in inputs():
        values = [evaluate(each, data) for each in programs]
        assert evaluate(both, data) == run_stack(programs, data)
        assert evaluate(either, data) == max(values, key=place)  # the first of equal ones


def test_the_result_refines_each_filter_and_each_filter_refines_the_union(tmp_path):
    paths = [POLICIES / "oci" / name for name in ("docker-default.json", "podman-default.json")]
    both, done = merged(tmp_path, "--intersect", *paths)
    assert "note: proven: the policy is the intersection of 2 filters, with " in done.err
    assert "note: the policy holds for x86_64, Linux 6.1, no capabilities" in done.err
    for path in paths:
        assert run("prove", "--refines", path, both).status == 0
    assert run("prove", "%s,%s" % tuple(paths), both).status == 0
    either, done = merged(tmp_path, "--union", *paths)
    assert "the union of 2 filters" in done.err
    for path in paths:
        assert run("prove", "--refines", either, path).status == 0


def test_programs_and_policies_merge_and_the_order_decides_about_data(asm, tmp_path):
    refuse = asm("ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njeq #0, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50007\nbad: ret #0\n")
    ten = POLICIES / "seed" / "ten-syscalls.json"
    for option in "--intersect", "--union":
        texts = {merged(tmp_path, option, *pair)[0].read_text() for pair in ((refuse, ten), (ten, refuse))}
        assert len(texts) == 2
    same, _ = merged(tmp_path, "--union", refuse, refuse)
    assert run("prove", refuse, same).status == 0
    assert json.loads(same.read_text())["name"] == "%s or %s" % (refuse, refuse)


def test_the_data_of_ALLOW_is_lost_in_an_intersection_as_in_a_stack(asm, tmp_path):
    paths = asm("ret #0x7fff0005\n"), asm("ret #0x7fff0006\n")
    texts = [merged(tmp_path, option, *paths)[0].read_text() for option in ("--intersect", "--union")]
    assert [json.loads(text)["default_action"] for text in texts] == ["allow", "0x7fff0005"]


def test_the_result_can_be_a_profile_for_container_runtimes(tmp_path):
    paths = [POLICIES / "oci" / name for name in ("docker-default.json", "docker-default-0.1.0.json")]
    both, _ = merged(tmp_path, "--intersect", *paths, "--as", "oci")
    assert json.loads(both.read_text())["defaultAction"] == "SCMP_ACT_ERRNO"
    for path in paths:
        assert run("prove", "--refines", path, both).status == 0
    assert run("prove", "%s,%s" % tuple(paths), both).status == 0


def test_what_libseccomp_may_compile_otherwise_is_no_profile(tmp_path):
    """Podman's entries for socket test two arguments and have different actions."""
    paths = [POLICIES / "oci" / name for name in ("docker-default.json", "podman-default.json")]
    done = run("merge", "--intersect", *paths, "--as", "oci", "-o", tmp_path / "out")
    assert done.status == 2 and "socket" in done.err and "libseccomp 2.5.4 may merge them wrongly" in done.err
    assert not (tmp_path / "out").exists()


def test_three_filters_merge(tmp_path):
    paths = [POLICIES / "gvisor" / name for name in ("kvm.json", "systrap.json", "kvm-hostnet.json")]
    both, _ = merged(tmp_path, "--intersect", *paths)
    assert run("prove", ",".join(map(str, paths)), both).status == 0


def oci(path, *entries, default="SCMP_ACT_ALLOW"):
    path.write_text(json.dumps({"defaultAction": default, "architectures": ["SCMP_ARCH_X86_64"], "syscalls": list(entries)}))
    return path


AF_ALG = {"index": 0, "value": 38, "op": "SCMP_CMP_EQ"}
NO_ALG = {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "args": [AF_ALG]}
NO_SOCKET = {"names": ["socket"], "action": "SCMP_ACT_ERRNO"}
SOCKET_ONLY = {"names": ["socket"], "action": "SCMP_ACT_ALLOW"}
MOUNT = {"names": ["mount"], "action": "SCMP_ACT_ALLOW"}


@pytest.mark.parametrize("default, first, second, by_shape", [
    # A published merger of JSON joins the entries of a call: the stricter action, and the arguments of both. The
    # conditions of a denial then make the result deny less than the second profile does.
    ("SCMP_ACT_ALLOW", NO_ALG, NO_SOCKET, NO_ALG),
    # Docker's default profile allows some calls only with a capability. A reader of the runtime's configuration, which
    # has no such conditions, drops them, so the intersection allows what the profile denies without the capability.
    ("SCMP_ACT_ERRNO", {**MOUNT, "includes": {"caps": ["CAP_SYS_ADMIN"]}}, MOUNT, MOUNT)], ids=["arguments", "capabilities"])  # fmt: skip
def test_an_intersection_is_never_looser_where_a_merge_of_json_is(default, first, second, by_shape, tmp_path):
    paths = [oci(tmp_path / name, entry, default=default) for name, entry in (("a.json", first), ("b.json", second))]
    wrong = oci(tmp_path / "wrong.json", by_shape, default=default)
    both, _ = merged(tmp_path, "--intersect", *paths)
    assert [run("prove", "--refines", path, both).status for path in paths] == [0, 0]
    assert sorted(run("prove", "--refines", path, wrong).status for path in paths) == [0, 1]


@pytest.mark.parametrize("args, expected", [
    (["A", "A"], "merge: expected --intersect or --union"), (["--union", "A"], "merge: expected two or more filters, found one; `lift` turns a filter into a policy"),
    (["--union", "--intersect", "A", "A"], "--intersect"), (["--union", "A", "missing.json"], "missing.json: cannot open: No such file or directory"),
    (["--union", "A", "A,A"], "A,A: cannot open: No such file or directory; expected one filter, not a stack"), (["--union"], "filters"),
    (["--union", "A", "nr.asm"], "A, nr.asm: no policy can express this combination of filters: its action for all other architectures depends on the call; inputs: "),
    (["--intersect", "A", "bad.json"], "bad.json:1")])  # fmt: skip
def test_wrong_inputs_are_refused(args, expected, asm, tmp_path):
    asm("ld [0]\njeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n", "nr.asm")
    asm('{"version": 1, "arches": ["z80"], "default_action": "allow", "rule_sets": []}', "bad.json")
    asm((POLICIES / "seed" / "ten-syscalls.json").read_text(), "A")
    done = run("merge", *args, "-o", "out.json", cwd=tmp_path)
    assert done.status == 2 and expected in done.err and done.out == "", done
    assert not (tmp_path / "out.json").exists()


def test_a_program_that_the_kernel_refuses_is_rejected(asm, tmp_path):
    bad = asm("ld [0]\n")
    done = run("merge", "--union", POLICIES / "seed" / "ten-syscalls.json", bad, "-o", tmp_path / "out")
    assert done.status == 4 and not (tmp_path / "out").exists(), done


def test_the_limit_of_memory_is_reported(tmp_path):
    pick = random.Random(1)
    tests = [{"args": {str(field): {"masked_eq": {"mask": pick.getrandbits(64), "value": 0}} for field in range(6)}} for _ in range(60)]
    big = tmp_path / "big.json"
    big.write_text(json.dumps({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
                               "rule_sets": [{"action": "allow", "rules": {"read": {"any_of": tests}}}]}))
    for option in "--intersect", "--union":
        done = run("merge", option, POLICIES / "seed" / "ten-syscalls.json", big, "--max-memory", "1", "-o", tmp_path / "out")
        assert done.status == 3 and "reached their limit" in done.err and not (tmp_path / "out").exists(), done


def profiles(folder):
    """Imports every profile of the corpus into `folder`, one file for each filter."""
    imports = ROOT / "corpus" / "imports"
    found = [path for name in ("seed", "oci", "gvisor") for path in (POLICIES / name).glob("*.json")]
    found += [path for pattern in ("oci/*.json", "pfc/*.pfc", "minijail*/*.policy") for path in imports.glob(pattern)]
    filters = [(path, []) for path in found]
    for path in imports.glob("seccompiler/*.json"):
        names = json.loads(path.read_text())
        filters += [(path, ["--filter", name]) for name in names] if "filter" not in names else [(path, [])]
    out = []
    for path, options in sorted(filters):
        out.append(folder / ("%02d-%s.json" % (len(out), "-".join([path.stem, *options[1:]]))))
        done = run("import", path, *options, "-o", out[-1])
        assert done.status == 0, done
    return out


@pytest.mark.skipif("SECEQUIV_PAIRS" not in os.environ, reason="SECEQUIV_PAIRS runs all pairs of the corpus")
@pytest.mark.parametrize("option", ["--intersect", "--union"])
def test_all_pairs_of_the_corpus_merge_or_name_the_reason(option, tmp_path):
    reasons = collections.Counter()
    for pair in itertools.combinations_with_replacement(profiles(tmp_path), 2):
        done = run("merge", option, *pair, "-o", tmp_path / "out")
        found = re.search("(would be more permissive|no policy can express)", done.err)
        assert done.status == 0 or (done.status == 2 and found), (pair, done)
        reasons["merged" if done.status == 0 else found[1][:4]] += 1
    assert reasons["merged"] > sum(reasons.values()) / 2
    print(reasons)
