"""Tests `secequiv why`: the conditions, the rule and the tests that decide one system call; other commands check each of them."""

import json
import os
import random
import re

import pytest
from cli_tool import BIG_ENDIAN, POLICIES, PROGRAMS, all_programs, evaluate, read_raw, report, run, run_stack, words_bytes

X86_64, I386, S390X, MIPS64 = 0xC000003E, 0x40000003, 0x80000016, 0x80000008
HOSTS = {X86_64: "x86_64", I386: "i386", 0xC00000B7: "aarch64", 0x40000028: "arm", S390X: "s390x", MIPS64: "mips64"}
SEEDS = sorted((POLICIES / "seed").glob("*.json"))
OTHERS = [POLICIES / "gvisor" / "systrap.json", POLICIES / "gvisor" / "kvm-everything.json",
          POLICIES / "oci" / "docker-default.json"]
COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
               "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def words_of(call):
    return ["--words", ",".join(map(str, call))]


def exactly(data):
    """Returns an assumption that only the input `data` satisfies."""
    fields = [("nr", data["nr"]), ("arch", data["arch"]), ("ip", data["ip"])]
    fields += [("arg%d" % i, arg) for i, arg in enumerate(data["args"])]
    return " && ".join("%s == %s" % field for field in fields)


def explained(path, call, tmp_path):
    """Runs `why` and checks every claim with `prove`, `diff` and `run`; returns the report."""
    document, done = report("why", path, *words_of(call))
    assert done.status == 0 and document["data"]["words"] == call, done
    # --arch sets the byte order of .lo and .hi, and the host for which OCI profiles are read.
    host = ["--arch", HOSTS.get(call[1], "x86_64")]
    value = document["result"]["value"]
    constant, other = tmp_path / "constant.asm", tmp_path / "other.asm"
    constant.write_text("ret #%s\n" % value)
    other.write_text("ret #%#x\n" % (int(value, 16) ^ 1))

    condition = document["condition"]
    proof, done = report("prove", path, constant, *host, "--assume", condition)
    assert (done.status, proof["verdict"]) == (0, "equivalent"), (condition, done)
    # prove refuses assumptions that no input satisfies, so this also shows that `data` satisfies the condition.
    proof, done = report("prove", path, constant, *host, "--assume", "(%s) && %s" % (condition, exactly(document["data"])))
    assert (done.status, proof["verdict"]) == (0, "equivalent"), (condition, done)
    done = run("diff", constant, other, *host, "--assume", condition, "--json")
    assert done.status == 1 and json.loads(done.out)["count"] == document["count"], done

    files = str(path).split(",")
    traced, _ = report("run", *files, *words_of(call), "--trace")
    assert document["result"] == traced["result"] and document["data"] == traced["data"]
    assert [row["name"] for row in document["filters"]] == [row["name"] for row in traced["filters"]]
    for row, steps in zip(document["filters"], [row["steps"] for row in traced["filters"]]):
        expected = [(step["pc"], step.get("outcome")) for step in steps if "outcome" in step or step is steps[-1]]
        found = [(test["instruction"], {"true": True, "false": False, "divisor zero": True, "divisor not zero": False}.get(test["text"].rpartition(" -> ")[2]))
                 for test in row["tests"]]
        assert found == expected
    return document


def calls(insns, count, seed, arches=(X86_64,)):
    """Returns random inputs for which some of a program's comparisons hold."""
    rng = random.Random(seed)
    constants = sorted({insn.k for insn in insns if insn.code & 7 == 5}) or [0]
    for _ in range(count):
        few = [0, 0, 1, rng.choice(constants), rng.choice(constants)]
        yield [rng.choice(constants + list(range(64))), rng.choice(arches)] + [rng.choice(few) for _ in range(14)]


def write(path, rule_sets, **fields):
    path.write_text(json.dumps({"version": 1, "arches": ["x86_64"], "default_action": "errno(EPERM)", "rule_sets": rule_sets,
                                **fields}))
    return path


def rule_of(path, *call):
    document, done = report("why", path, *call)
    assert done.status == 0
    return document["filters"][0]["rule"]


@pytest.mark.parametrize("path", all_programs(), ids=lambda path: path.stem)
def test_explanations_of_real_programs_are_confirmed(path, tmp_path):
    insns = read_raw(path.read_bytes())
    arch = 0xC00000B7 if "aarch64" in path.name else X86_64
    for call in list(calls(insns, 4, 3, (arch,))) + list(calls(insns, 1, 4, (I386,))):
        document = explained(path, call, tmp_path)
        assert int(document["result"]["value"], 16) == evaluate(insns, words_bytes(call))
        assert "rule" not in document["filters"][0]


@pytest.mark.parametrize("path", SEEDS + OTHERS, ids=lambda path: path.stem)
def test_explanations_of_real_policies_are_confirmed(path, tmp_path):
    compiled = tmp_path / "compiled.bpf"
    assert run("asm", path, "-o", compiled).status == 0
    insns = read_raw(compiled.read_bytes())
    arches = sorted({insn.k for insn in insns if insn.code == 0x15 and insn.k in HOSTS})
    assert arches
    rules = set()
    for call in list(calls(insns, 6, 5, arches)) + [[5000, arches[0]] + [0] * 14, [0, 0x12345678] + [0] * 14]:
        if "oci" in str(path):
            call[1] = X86_64  # another architecture would change the host, and so the compiled program
        document = explained(path, call, tmp_path)
        assert int(document["result"]["value"], 16) == evaluate(insns, words_bytes(call))
        rule = document["filters"][0]["rule"]
        rules.add(rule.split(":")[0])
        found = re.match(r"rule set (\d+) of (\d+) \((.*?\)?)\), ", rule)
        if not found:
            assert re.match("(bad-arch|x32|default) action(: | of the numbers )", rule), rule
            continue
        assert found.group(3) == document["result"]["action"]
        if "oci" not in str(path):
            sets = json.loads(path.read_text())["rule_sets"]
            assert int(found.group(2)) == len(sets) and 1 <= int(found.group(1)) <= len(sets)
            # The rule set has a rule for the call.
            name = document["data"].get("syscall", "")
            assert any(key.split(":")[-1] in (name, str(call[0]), hex(call[0])) for key in sets[int(found.group(1)) - 1]["rules"])
    assert len(rules) >= 2 or "oci" in str(path)


@pytest.mark.parametrize("arch, audit", [("s390x", S390X), ("mips64", MIPS64)])
def test_conditions_use_the_byte_order_of_their_architecture(arch, audit, tmp_path):
    path = POLICIES / "seed" / "big-endian.json"
    assert audit in BIG_ENDIAN
    allowed = set()
    for args in (["0=3", "1=0x100000000", "2=1"], ["0=3", "1=0xffffffff", "2=1"], ["0=0x100000003", "1=0x100000000"]):
        options = ["--arch", arch, "--nr", "lseek"] + ["--arg=" + arg for arg in args]
        document = explained(path, report("run", path, *options)[0]["data"]["words"], tmp_path)
        allowed.add((document["result"]["action"] == "ALLOW", args[0] + args[1]))
    assert {name for allow, name in allowed if allow} == {"0=31=0x100000000"}


def test_a_condition_contains_only_what_decided(getpid):
    for options, condition, bits in ((["--nr", "getpid"], "nr == getpid", 480), (["--nr", "read", "--ip", 7], "nr != 39", None),
                                     (["--arch", "i386", "--nr", 39, "--arg", "0=1"], "nr == 0x27", 480)):
        document, _ = report("why", getpid, *options)
        if bits:
            assert int(document["count"]) == 1 << bits
        else:
            assert int(document["count"]) == (1 << 512) - (1 << 480)
            assert document["condition"] == condition
        assert "arch" not in document["condition"] and "arg" not in document["condition"]


def test_conditions_on_both_halves_of_an_argument_become_one(tmp_path):
    path = write(tmp_path / "p.json", [{"action": "allow", "rules": {"socket": {"args": {"0": {"ne": 40}}}}}])
    for high, low, condition in ((0, 1, "arg0 != 0x28"), (7, 40, "arg0 != 0x28"), (0, 40, "arg0 == 0x28")):
        document = explained(path, [41, X86_64, 0, 0, low, high] + [0] * 10, tmp_path)
        assert document["condition"] == "arch == x86_64 && nr == socket && " + condition


def test_a_constant_filter_has_the_condition_true(asm, tmp_path):
    document = explained(asm("ld [16]\nret #0x7fff0007\n"), [1, 2, 3] + [4] * 13, tmp_path)
    assert (document["condition"], int(document["count"])) == ("true", 1 << 512)
    assert document["result"] == {"value": "0x7fff0007", "action": "ALLOW(7)"}
    assert [test["instruction"] for test in document["filters"][0]["tests"]] == [1]


@pytest.mark.parametrize("text", ["ld [16]\nadd #1\nmul #3\njgt #77, L1, L2\nL1: ret #5\nL2: ret #6\n",
                                  "ld [16]\ntax\nld #9\ndiv x\nret #5\n", "ld [16]\nand #3\nret a\n",
                                  "ld [20]\njset #6, L1, L1\nL1: ldx #3\nsub x\njge #9, L2, L3\nL2: ret a\nL3: ret #0x50001\n"])
def test_conditions_of_computed_values_are_confirmed(text, asm, tmp_path):
    conditions = set()
    for word in (0, 1, 2, 11, 77, 0x55555556, 0xFFFFFFFF):
        conditions.add(explained(asm(text), [0, X86_64, 0, 0, word, word] + [0] * 10, tmp_path)["condition"])
    assert len(conditions) >= 2


def test_conditions_of_stacks_are_confirmed(asm, tmp_path, getpid):
    first = asm("ld [16]\njeq #7, L1, L2\nL1: ret #0x50003\nL2: ret #0x7fff0000\n", "first.asm")
    seen = {}
    for nr, arg in ((39, 7), (39, 8), (40, 7), (40, 8)):
        document = explained("%s,%s" % (first, getpid), [nr, X86_64, 0, 0, arg] + [0] * 11, tmp_path)
        seen[nr, arg] = document["result"]["value"], document["condition"]
        assert [len(row["tests"]) for row in document["filters"]] == [2, 2]
    assert [seen[key][0] for key in sorted(seen)] == ["0x00050003", "0x7fff0000", "0x00050003", "0x00050001"]
    assert seen[39, 7][1] == "nr == 0x27 && arg0.lo == 0x7" or "arg0.lo == 0x7" in seen[39, 7][1]
    assert "arg0.lo != 0x7" in seen[40, 8][1] and "nr !=" in seen[40, 8][1]
    real = [PROGRAMS / "gvisor" / "systrap.after.bpf", PROGRAMS / "libseccomp" / "docker-x86_64.tree.bpf"]
    programs = [read_raw(path.read_bytes()) for path in real]
    for call in calls(programs[0] + programs[1], 5, 6):
        document = explained(",".join(map(str, real)), call, tmp_path)
        assert int(document["result"]["value"], 16) == run_stack(programs, words_bytes(call))
    policy = write(tmp_path / "p.json", [{"action": "allow", "rules": {"getpid": True}}])
    document = explained("%s,%s" % (getpid, policy), [39, X86_64] + [0] * 14, tmp_path)
    assert ["rule" in row for row in document["filters"]] == [False, True]


def test_the_rule_that_decides_is_named(tmp_path):
    path = write(tmp_path / "p.json", [
        {"action": "errno(EACCES)", "rules": {"read": {"args": {"0": {"eq": 3}}}, "write": True}},
        {"action": "allow", "rules": {"read": {"args": {"0": {"le": 3}}}, "write": {"args": {"1": {"eq": 0}}}, "1023": True}},
        {"action": "trap(5)", "rules": {"read": True}}], x32_action="kill_thread", bad_arch_action="errno(ENOSYS)")
    for call, rule in ((["--nr", "read", "--arg", "0=3"], "rule set 1 of 3 (ERRNO(13 EACCES)), read on x86_64"),
                       (["--nr", "read", "--arg", "0=2"], "rule set 2 of 3 (ALLOW), read on x86_64"),
                       (["--nr", "read", "--arg", "0=4"], "rule set 3 of 3 (TRAP(5)), read on x86_64"),
                       (["--nr", "write"], "rule set 1 of 3 (ERRNO(13 EACCES)), write on x86_64"),
                       (["--nr", "1023"], "rule set 2 of 3 (ALLOW), 1023 on x86_64"),
                       (["--nr", "open"], "default action: no rule matches"),
                       (["--nr", "-1"], "default action: no rule matches"),
                       (["--nr", "0x40000000"], "x32 action: the number has the x32 bit"),
                       (["--nr", "read", "--arch", "x32"], "x32 action: the number has the x32 bit"),
                       (["--nr", "read", "--arch", "i386"], "bad-arch action: the policy does not name this architecture"),
                       (["--nr", "0", "--call-arch", "0x1"], "bad-arch action: the policy does not name this architecture")):
        assert rule_of(path, *call) == rule
        shown = run("why", path, *call).out
        line = rule + "\n"
        if rule.startswith("rule set"):
            line = "%s:1 (rule_sets[" % path
        elif rule.startswith("default action"):
            line = "%s:1 (default_action)\n" % path
        else:
            line = "%s:1 (%s)\n" % (path, "x32_action" if rule.startswith("x32") else "bad_arch_action")
        assert "\n  " + line in shown, shown
    without_x32 = write(tmp_path / "q.json", [])
    assert rule_of(without_x32, "--nr", "0x40000000") == "default action: no rule matches"


def test_the_rule_belongs_to_the_architecture_of_the_call(tmp_path):
    path = write(tmp_path / "p.json", [{"action": "allow", "rules": {"i386:read": True, "x32:write": True}},
                                       {"action": "log", "rules": {"x86_64:read": True, "x32:read": True}}],
                 arches=["x86_64", "i386", "x32"])
    for arch, name, rule in (("i386", "read", "rule set 1 of 2 (ALLOW), read on i386"),
                             ("x32", "write", "rule set 1 of 2 (ALLOW), write on x32"),
                             ("x86_64", "read", "rule set 2 of 2 (LOG), read on x86_64"),
                             ("x32", "read", "rule set 2 of 2 (LOG), read on x32"),
                             ("x86_64", "write", "default action: no rule matches")):
        assert rule_of(path, "--arch", arch, "--nr", name) == rule


def test_rules_can_apply_only_to_the_vsyscall_page(tmp_path):
    path = write(tmp_path / "p.json", [{"action": "trap", "vsyscall": True, "rules": {"time": True}},
                                       {"action": "allow", "rules": {"time": True}}])
    for ip, rule_set in (("0xffffffffff600400", 1), ("0x8000000000000000", 1), ("0x7fffffffffffffff", 2), ("0", 2)):
        assert rule_of(path, "--nr", "time", "--ip", ip).startswith("rule set %d of 2 " % rule_set)


def matches(rule, args):
    if rule is True:
        return True
    (kind, content), = rule.items()
    if kind == "args":
        return all(COMPARISONS[op](args[int(index)], value) for index, test in content.items() for op, value in test.items())
    return {"any_of": any, "all_of": all}[kind](matches(child, args) for child in content)


def branches(rule, args):
    """Returns the first matching branch of each any_of in a matching rule, from the outside in."""
    if rule is True or "args" in rule:
        return []
    if "all_of" in rule:
        return [name for child in rule["all_of"] for name in branches(child, args)]
    first = next(i for i, child in enumerate(rule["any_of"]) if matches(child, args))
    return ["branch %d of %d" % (first + 1, len(rule["any_of"]))] + branches(rule["any_of"][first], args)


def random_rule(rng, depth):
    kind = rng.choice(["args", "any_of", "any_of", "all_of"]) if depth else "args"
    if kind == "args":
        return {"args": {str(index): {rng.choice(sorted(COMPARISONS)): rng.randrange(4)} for index in rng.sample(range(3), 2)}}
    return {kind: [random_rule(rng, depth - 1) for _ in range(rng.randrange(1, 4))]}


def test_the_matching_branches_are_named(tmp_path):
    path = write(tmp_path / "p.json", [{"action": "allow", "rules": {"read": {"any_of": [
        {"args": {"0": {"eq": 1}}}, {"all_of": [{"args": {"0": {"eq": 2}}},
                                                {"any_of": [{"args": {"1": {"eq": 5}}}, {"args": {"1": {"eq": 6}}}]}]},
        {"args": {"0": {"le": 2}}}]}}}])
    for first, second, end in ((1, 5, ", branch 1 of 3"), (2, 5, ", branch 2 of 3, branch 1 of 2"),
                               (2, 6, ", branch 2 of 3, branch 2 of 2"), (2, 7, ", branch 3 of 3"), (0, 0, ", branch 3 of 3")):
        rule = rule_of(path, "--nr", "read", "--arg", "0=%d" % first, "--arg", "1=%d" % second)
        assert rule == "rule set 1 of 1 (ALLOW), read on x86_64" + end


@pytest.mark.parametrize("seed", range(12))
def test_branches_of_random_rules_match(seed, tmp_path):
    rng = random.Random(seed)
    sets = [{"action": "errno(%d)" % (i + 1), "rules": {"read": random_rule(rng, 3)}} for i in range(3)]
    path = write(tmp_path / "p.json", sets, default_action="allow")
    for _ in range(12):
        args = [rng.randrange(5) for _ in range(3)]
        words = [0, X86_64, 0, 0] + [word for arg in args for word in (arg, 0)] + [0] * 6
        document, _ = report("why", path, *words_of(words))
        first = next((i for i, one in enumerate(sets) if matches(one["rules"]["read"], args)), None)
        rule = document["filters"][0]["rule"]
        if first is None:
            assert (rule, document["result"]["action"]) == ("default action: no rule matches", "ALLOW")
        else:
            assert document["result"]["value"] == "%#010x" % (0x50001 + first)
            head = "rule set %d of 3 (%s), read on x86_64" % (first + 1, document["result"]["action"])
            assert rule == ", ".join([head] + branches(sets[first]["rules"]["read"], args))
    explained(path, words, tmp_path)


def test_explanations_are_readable_in_text(getpid):
    document, _ = report("why", getpid, "--nr", "getpid")
    lines = [line.rstrip() for line in run("why", getpid, "--nr", "getpid", "--trace").out.splitlines()]
    place = "%s:3 (after the test in line 2)" % getpid
    assert lines[:5] == ["ALLOW: " + place, "nr=39 (getpid) arch=0xc000003e (x86_64) ip=0x0 args=[]", "0x7fff0000 ALLOW",
                         "because " + document["condition"], "        (every input with this condition has the same result: 2^480 in all)"]
    assert lines[5:7] == [str(getpid), "  " + place] and lines[7].startswith("       1: jeq #0x27, L2, L3") and len(lines) == 9
    assert [test["text"] for test in document["filters"][0]["tests"]] == ["jeq #0x27, L2, L3 -> true", "ret #0x7fff0000"]
    assert [line.rstrip() for line in run("why", getpid, "--nr", "getpid").out.splitlines()] == lines[:7]


def test_calls_are_listed_alphabetically_after_the_requested_one(tmp_path):
    path = write(tmp_path / "p.json", [{"action": "allow", "rules": {"read": True, "write": True}},
                                       {"action": "errno(2)", "rules": {"mount": True, "bpf": True, "umount2": True, "acct": True}}])
    shown = {}
    for name in ("mount", "acct", "getpid"):
        document = explained(path, report("why", path, "--nr", name)[0]["data"]["words"], tmp_path)
        assert name in document["condition"] or ".." in document["condition"]
        line = next(one for one in run("why", path, "--nr", name).out.splitlines() if one.startswith("because "))
        shown[name] = line.partition("nr in {")[2].partition("}")[0].split(", ")
    assert shown["mount"] == ["mount", "acct", "bpf", "umount2"] and shown["acct"] == ["acct", "bpf", "mount", "umount2"]
    others = shown["getpid"]
    assert others[0] == "getpid" and others[-1].startswith("... ") and others[1:-1] == sorted(others[1:-1])
    assert not [one for one in others[:-1] if ".." in one]


def profile(tmp_path):
    """Writes a profile with one entry on each of the lines 3 to 7."""
    path = tmp_path / "profile.json"
    path.write_text("""{"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
      "syscalls": [
        {"names": ["clone3"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_BPF", "CAP_PERFMON"]}},
        {"names": ["kcmp"], "action": "SCMP_ACT_ALLOW", "excludes": {"caps": ["CAP_SYS_PTRACE"]}},
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 40, "op": "SCMP_CMP_NE"}]},
        {"names": ["waitpid", "read"], "action": "SCMP_ACT_ALLOW"}]}""")
    return path


def test_the_report_shows_what_would_change_the_decision(tmp_path):
    path = profile(tmp_path)
    for call, line in (
            (["--nr", "clone3"], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with CAP_SYS_ADMIN ({0}:3)"),
            (["--nr", "clone3", "--cap", "CAP_SYS_ADMIN"], "ALLOW: {0}:3 (syscalls[0], includes CAP_SYS_ADMIN)"),
            (["--nr", "bpf"], "ERRNO(1 EPERM): no rule for bpf without CAP_BPF and CAP_PERFMON; "
                              "it would be ALLOW with CAP_BPF and CAP_PERFMON ({0}:4)"),
            (["--nr", "bpf", "--cap", "CAP_BPF"], "ERRNO(1 EPERM): no rule for bpf without CAP_PERFMON; it would be ALLOW with CAP_PERFMON ({0}:4)"),
            (["--nr", "kcmp", "--cap", "CAP_SYS_PTRACE"], "ERRNO(1 EPERM): no rule for kcmp; it would be ALLOW without CAP_SYS_PTRACE ({0}:5)"),
            (["--nr", "socket", "--arg", "0=AF_VSOCK"], ""),
            (["--nr", "mount"], "ERRNO(1 EPERM): no rule for mount"),
            (["--nr", "read", "--arch", "aarch64", "--call-arch", "arm"], "KILL_THREAD: the policy does not name arm; it would be ALLOW on x86_64 ({0}:7)"),
            (["--nr", "0x40000000"], "KILL_THREAD: the number has the x32 bit; it would be ALLOW on x86_64 ({0}:7)")):
        document, done = report("why", path, *call)
        first = run("why", path, *call).out.splitlines()[0]
        assert document["headline"] == first, done
        if "socket" in call:
            assert first.startswith("ERRNO(1 EPERM): no rule for socket matches; it would be ALLOW if arg0"), first
            assert first.endswith(" (%s:6)" % path)
        else:
            assert first == line.format(path)
    lost = run("why", path, "--nr", "clone3", "--cap", "CAP_SYS_ADMIN").out.splitlines()
    assert lost[1] == "  it would be ERRNO(1 EPERM) without CAP_SYS_ADMIN (%s:1)" % path
    document, _ = report("why", path, "--nr", "clone3")
    assert document["others"][0] == {"condition": "with CAP_SYS_ADMIN", "action": "ALLOW", "origin": {
        "file": str(path), "line": 3, "path": "syscalls[0]", "condition": "includes CAP_SYS_ADMIN"}}


def test_capabilities_apply_to_every_profile_in_a_stack(asm, tmp_path):
    """A container has the same capabilities for each of its profiles."""
    path, allow = profile(tmp_path), asm("ret #0x7fff0000")
    needs_bpf = tmp_path / "bpf.json"
    needs_bpf.write_text("""{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["clone3"], "action": "SCMP_ACT_KILL_PROCESS",
         "excludes": {"caps": ["CAP_BPF"]}}]}""")
    deny = asm("ld [0]\njeq #435, d, n\nd: ret #0x50005\nn: ret #0x7fff0000\n")
    for filters, capabilities, first in (
            ([allow, path], [], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with CAP_SYS_ADMIN ({0}:3)"),
            ([path, allow], [], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with CAP_SYS_ADMIN ({0}:3)"),
            ([path, path], [], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with CAP_SYS_ADMIN ({0}:3)"),
            ([path, needs_bpf], [], "KILL_PROCESS: {1}:2 (syscalls[0], excludes CAP_BPF); it would be ERRNO(1 EPERM) with CAP_BPF ({0}:1)"),
            ([path, needs_bpf], ["CAP_BPF"], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with CAP_SYS_ADMIN ({0}:3)"),
            ([needs_bpf, path], ["CAP_SYS_ADMIN"], "KILL_PROCESS: {1}:2 (syscalls[0], excludes CAP_BPF); it would be ALLOW with CAP_BPF ({1}:1)"),
            ([needs_bpf, path], ["CAP_BPF"], "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be KILL_PROCESS without CAP_BPF ({1}:2)"),
            ([deny, path], [], "ERRNO(5 EIO): {2}:3 (after the test in line 2)"),
            ([path, deny], ["CAP_SYS_ADMIN"], "ERRNO(5 EIO): {2}:3 (after the test in line 2); it would be ERRNO(1 EPERM) without CAP_SYS_ADMIN ({0}:1)")):
        given = [word for name in capabilities for word in ("--cap", name)]
        done = run("why", ",".join(map(str, filters)), "--nr", "clone3", *given)
        assert done.out.splitlines()[0] == first.format(path, needs_bpf, deny), done


def test_the_smallest_change_of_arguments_is_shown(asm):
    path = asm("ld [0]\njeq #39, own, no\nown: ld [16]\njeq #7, one, no\none: ld [24]\njge #9, yes, no\n"
               "yes: ret #0x7fff0000\nno: ret #0x50001\n")
    for args, expected in ((["--arg", "0=7"], ["if arg1.lo >= 0x9"]), (["--arg", "1=9"], ["if arg0.lo == 0x7"]),
                           ([], ["if arg0.lo == 0x7 && arg1.lo >= 0x9"])):
        document, _ = report("why", path, "--nr", "getpid", *args)
        assert [row["condition"] for row in document["others"]] == expected
    assert "others" not in report("why", path, "--nr", "read")[0]


RECORD = "type=SECCOMP msg=audit(1.2:3): auid=0 pid=7 comm=\"x\" sig=0 arch=c000003e syscall=%d compat=0 ip=0x7f code=%s"


def test_audit_records_are_explained(tmp_path):
    path = profile(tmp_path)
    done = run("why", path, "--audit", RECORD % (435, "0x50000"))
    assert done.out.splitlines()[0].startswith("ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN;")
    assert "\nthe record's action is ERRNO, which agrees with this filter\nnr=435 (clone3) arch=0xc000003e (x86_64) ip=0x7f " in done.out
    document, done = report("why", path, "--audit", "-", stdin=(RECORD % (41, "0x80000000")).encode())
    assert (document["headline"], document["record"]["explained"]) == ("depends on the arguments, which the record does not have", False)
    assert {row["action"] for row in document["possible"]} == {"ALLOW", "ERRNO(1 EPERM)"} and "result" not in document
    assert {row.get("origin", {}).get("line") for row in document["possible"]} == {6, 1}
    contradiction = run("why", path, "--audit", RECORD % (41, "0x80000000")).out
    assert contradiction.startswith("the record's action is KILL_PROCESS, which this filter does not return here: the process had another version of it")
    assert contradiction.count("the record's action") == 1
    assert "  ALLOW if arg0" in run("why", path, "--audit", RECORD % (41, "0x50000")).out
    for text in ("type=AVC", "type=SECCOMP arch=c000003e syscall=nope"):
        assert run("why", path, "--audit", text).status == 2
    assert run("why", path, "--audit", RECORD % (1, "0x0"), "--nr", "read").status == 2


def test_the_requested_number_comes_first_in_a_list():
    for number in (9999, 500):
        out = run("why", POLICIES / "oci" / "docker-default.json", "--nr", number).out
        assert re.search(r"&& nr in \{%d, _sysctl, " % number, out), out


def test_a_running_process_is_explained():
    done = run("why", "--pid", os.getpid(), "--nr", "read")
    assert done.status in (2, 3) or "nr=0 (read)" in done.out, done
    assert run("why").status == 2 and run("why", "--pid", 1, POLICIES / "oci" / "docker-default.json").status == 2


def test_a_call_without_its_option_gets_a_hint(getpid):
    assert run("why", getpid, "socket").err.startswith("secequiv: why takes no further argument, found 'socket'; did you mean --nr socket?")
    assert "did you mean" not in run("why", getpid, "nothing-such").err


@pytest.mark.parametrize("command", ["why", "run"])
def test_a_call_before_the_filter_gets_a_hint(command):
    docker = POLICIES / "oci" / "docker-default.json"
    done = run(command, "mount", docker)
    if command == "why":
        assert done.err.splitlines()[0] == "secequiv: why takes the filter first, and the call as an option: secequiv why %s --nr mount" % docker
    assert done.status == 2 and run("why", "no-such-file", docker).err.startswith("secequiv: why takes no further argument")


def test_a_missing_filter_or_call_gets_a_hint(getpid):
    assert "mount: cannot open: No such file or directory; for the system call: secequiv why FILTER --nr mount" in run("why", "mount").err
    assert "for the system call" not in run("why", "no-such-file").err
    done = run("actions", getpid, "socket")
    assert done.status == 2 and done.err.startswith(
        "secequiv: actions takes no system call, found 'socket'; to explain one: secequiv why %s --nr socket" % getpid)
    note = "secequiv: note: the answer explains call number 0; choose another call with --nr\n"
    assert run("why", getpid).err == note and run("why", getpid, "--nr", 0).err == run("why", getpid, "--nr", "read").err == ""


def test_the_error_for_a_call_of_another_architecture_suggests_similar_calls():
    done = run("why", POLICIES / "oci" / "docker-default.json", "--nr", "chmod", "--arch", "aarch64")
    assert done.err.splitlines()[0] == ("secequiv: --nr: aarch64 has no system call 'chmod', which x86_64 has; "
                                        "it has fchmod, fchmodat, fchmodat2"), done
    done = run("why", POLICIES / "oci" / "docker-default.json", "--nr", "fork", "--arch", "aarch64")
    assert done.err.splitlines()[0] == "secequiv: --nr: aarch64 has no system call 'fork', which x86_64 has"


def kernels(tmp_path, *entries):
    path = tmp_path / "kernels.json"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [
        {"names": ["ptrace"], "action": "SCMP_ACT_" + action, **condition} for action, condition in entries]}))
    return path


def test_a_kernel_version_that_would_change_the_decision_is_named(tmp_path):
    """`why` evaluates the profile again for the nearest versions that the profile names."""
    path = kernels(tmp_path, ("ALLOW", {"includes": {"minKernel": "4.8"}}))
    line = run("why", path, "--nr", "ptrace", "--kernel-version", "4.4").out.splitlines()[0]
    assert line == "ERRNO(1 EPERM): no rule for ptrace below Linux 4.8; it would be ALLOW on Linux 4.8 or later (%s:1)" % path
    document, _ = report("why", path, "--nr", "ptrace", "--kernel-version", "4.4")
    assert document["others"][0] == {"condition": "on Linux 4.8 or later", "action": "ALLOW", "origin": {
        "file": str(path), "line": 1, "path": "syscalls[0]", "condition": "includes kernel >= 4.8"}}
    assert "\n  it would be ERRNO(1 EPERM) before Linux 4.8 (" in run("why", path, "--nr", "ptrace").out
    assert "Linux" not in run("why", path, "--nr", "read", "--kernel-version", "4.4").out.rsplit("holds for", 1)[0]
    excluded = kernels(tmp_path, ("ALLOW", {"excludes": {"minKernel": "5.0"}}), ("LOG", {"includes": {"minKernel": "5.10"}}))
    out = run("why", excluded, "--nr", "ptrace", "--kernel-version", "5.4").out
    assert out.startswith("ERRNO(1 EPERM): no rule for ptrace below Linux 5.10; it would be LOG on Linux 5.10 or later (")
    assert "\n  it would be ALLOW before Linux 5.0 (" in out


def test_a_capability_and_a_kernel_version_that_are_both_missing_are_named():
    docker = POLICIES / "oci" / "docker-default.json"
    out = run("why", docker, "--nr", "ptrace", "--kernel-version", "4.4").out
    assert out.startswith("ERRNO(1 EPERM): no rule for ptrace without CAP_SYS_PTRACE below Linux 4.8; it would be ALLOW with CAP_SYS_PTRACE (")
    assert "\n  it would be ALLOW on Linux 4.8 or later (%s:" % docker in out


def test_other_rules_with_the_same_action_are_listed(tmp_path):
    docker = POLICIES / "oci" / "docker-default.json"
    done = run("why", docker, "--nr", "personality", "--arg", "0=0x20000").out
    assert done.startswith("ALLOW: %s:506 (syscalls[7])" % docker)
    others = ", ".join("%s:%d (syscalls[%d])" % (docker, line, index) for line, index in ((480, 5), (493, 6), (519, 8), (532, 9)))
    assert "\n  other rules for this call with the same action: %s\n" % others in done
    document, _ = report("why", docker, "--nr", "personality")
    assert [row["line"] for row in document["filters"][0]["other_origins"]] == [493, 506, 519, 532]
    denied = run("why", docker, "--nr", "personality", "--arg", "0=5").out
    assert "(%s:480 and 4 other rules)" % docker in denied.splitlines()[0] and "other rules for" not in denied
    # A second entry that allows the call is listed, too: if one of the capabilities is missing, the other entry still allows it.
    both, _ = report("why", docker, "--nr", "bpf", "--cap", "SYS_ADMIN", "--cap", "BPF")
    assert (both["filters"][0]["origin"]["line"], [row["line"] for row in both["filters"][0]["other_origins"]]) == (635, [854])
    assert both["filters"][0]["other_origins"][0]["condition"] == "includes CAP_BPF"
    one, _ = report("why", docker, "--nr", "bpf", "--cap", "SYS_ADMIN")
    assert "other_origins" not in one["filters"][0]
    many = write(tmp_path / "many.json", [{"action": "allow", "rules": {"read": {"any_of": [{"args": {"0": {"eq": value}}} for value in range(12)]}}}])
    many.write_text(many.read_text().replace('{"args"', '\n{"args"'))
    text = run("why", many, "--nr", "read", "--arg", "0=11").out
    assert "%s:9 (rule_sets[0].rules.read) and 3 more\n" % many in text


def test_the_default_action_has_a_position(tmp_path):
    path = profile(tmp_path)
    document, _ = report("why", path, "--nr", "mount")
    row, = document["filters"]
    assert row["rule"] == "default action: no rule matches" and row["origin"] == {"file": str(path), "line": 1, "path": "defaultAction"}
    assert "\n  %s:1 (defaultAction)\n" % path in run("why", path, "--nr", "mount").out
    own = write(tmp_path / "own.json", [])
    origin = report("why", own, "--nr", "mount")[0]["filters"][0]["origin"]
    assert origin == {"file": str(own), "line": 1, "path": "default_action"}


@pytest.mark.parametrize("stacked", [False, True])
def test_run_does_not_invent_the_arguments_of_a_record(stacked, asm, tmp_path):
    path = profile(tmp_path)
    filters = [asm("ret #0x7fff0000"), path] if stacked else [path]
    document, done = report("run", *filters, "--audit", RECORD % (41, "0x50000"))
    assert done.status == 0 and not {"result", "filters"} & set(document)
    if not stacked:
        assert document["possible"] == report("why", path, "--audit", RECORD % (41, "0x50000"))[0]["possible"]
    assert {row["action"] for row in document["possible"]} == {"ALLOW", "ERRNO(1 EPERM)"}
    done = run("run", *filters, "--audit", RECORD % (41, "0x50000"), "--trace")
    assert "trace" not in done.err
    text = done.out.splitlines()
    assert text[1] == "depends on the arguments, which the record does not have" and len(text) == 4
    assert text[2].startswith("  ALLOW if arg0") and text[3].startswith("  ERRNO(1 EPERM) if arg0")
    certain = run("run", *filters, "--audit", RECORD % (0, "0x50000"))
    assert certain.status == 0 and certain.out.splitlines()[-1] == "0x7fff0000 ALLOW"
    assert certain.out == run("run", *filters, "--nr", "read", "--ip", "0x7f").out
    assert "which are 0 in the trace" in run("run", *filters, "--audit", RECORD % (0, "0x50000"), "--trace").err


@pytest.mark.parametrize("tests", [1, 11, 23, 24, 25, 60])
def test_long_searches_are_shortened_in_text_only(tests, asm):
    path = asm("ld [0]\n" + "".join("jeq #%d, L\n" % (i + 1) for i in range(tests)) + "ret #1\nL: ret #2\n")
    document, _ = report("why", path)
    pcs = [test["instruction"] for test in document["filters"][0]["tests"]]
    assert pcs == list(range(1, tests + 2))
    out = run("why", path, "--trace").out
    shown = [int(pc) for pc in re.findall(r"^ +(\d+): ", out, re.MULTILINE)]
    more = [int(number) for number in re.findall(r"^ +\.\.\. (\d+) more tests? \.\.\.$", out, re.MULTILINE)]
    if len(pcs) <= 24:
        assert shown == pcs and more == []
    else:
        assert shown == pcs[:12] + pcs[-12:] and more == [len(pcs) - 24]


def test_bad_inputs_are_errors(asm, getpid, hard):
    for args, status, kind in (([asm("ld [0]\n", "bad.asm")], 4, "rejected"), ([getpid, "--arg", "6=1"], 2, "usage"),
                               ([getpid, "--words", "1,2"], 2, "usage"), ([getpid, "--nr", "no_such_call"], 2, None),
                               (["%s,%s" % (getpid, "nonexistent")], 2, "io"), ([hard[0]], 3, "budget")):
        document, done = report("why", *args)
        assert done.status == status and document["schema"] == "secequiv.error/1", done
        assert kind in (None, document["error"]), document
