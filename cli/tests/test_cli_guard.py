"""Tests `secequiv guard`: the naive evaluator confirms both inputs of each finding; a written policy has no holes."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, binary, evaluate, program, read_raw, report, run, run_stack, words_bytes
from test_cli_lift import INSTALL

DOCKER = POLICIES / "oci" / "docker-default.json"
X86_64 = "ld [4]\njeq #0xc000003e, mine, other\nmine: ld [0]\njset #0x40000000, other, on\non: "
ENDS = "ok: ret #0x7fff0000\nbad: ret #0x50001\nother: ret #0x80000000\n"
# ioctl(TIOCSTI) is refused, but only if all 64 bits of the request match. The kernel looks at 32.
HOLE = X86_64 + "jeq #16, low, ok\nlow: ld [24]\njeq #0x5412, high, ok\nhigh: ld [28]\njeq #0, bad, ok\n" + ENDS
MENDED = X86_64 + "jeq #16, low, ok\nlow: ld [24]\njeq #0x5412, bad, ok\n" + ENDS
# Requests with a high half are refused, too.
STRICT = X86_64 + "jeq #16, high, ok\nhigh: ld [28]\njeq #0, low, bad\nlow: ld [24]\njeq #0x5412, bad, ok\n" + ENDS
REFUSED, ALLOWED = 0x5412, 0x100005412


def rule(field, **test):
    return {"args": {str(field): test}}


def policy_of(rules, **fields):
    return {"version": 1, "arches": ["x86_64"], "default_action": "allow", "x32_action": "kill_process", "rule_sets": [{"action": "errno(EPERM)", "rules": rules}], **fields}


@pytest.fixture
def policy(tmp_path):
    def write(rules, **fields):
        path = tmp_path / ("policy%d.json" % len(list(tmp_path.iterdir())))
        path.write_text(json.dumps(policy_of(rules, **fields)))
        return path
    return write


def confirmed(document, *stack):
    """Checks each pair of inputs with the naive evaluator, and that the inputs differ only in the named arguments."""
    for pair in document["holes"] + document["stricter"]:
        values = [run_stack(list(stack), words_bytes(pair[side]["input"]["words"])) if len(stack) > 1 else evaluate(stack[0], words_bytes(pair[side]["input"]["words"]))
                  for side in ("refused", "allowed")]
        assert values == [int(pair[side]["value"]["value"], 16) for side in ("refused", "allowed")]
        assert values[0] >> 16 not in (0x7FFF, 0x7FFC) and values[1] >> 16 in (0x7FFF, 0x7FFC)
        refused, allowed = pair["refused"]["input"]["args"], pair["allowed"]["input"]["args"]
        assert pair["arguments"] == [i for i in range(6) if refused[i] != allowed[i]]
    return document


def test_a_way_around_a_program(asm):
    path = asm(HOLE)
    done = run("guard", path)
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        "fail: 1 way around this filter\n"
        "x86_64:ioctl arg1: the kernel ignores bits 32 to 63 of arg1, so ioctl(0x0, 0x100005412) passes with the effect of ioctl(0x0, 0x5412), which is refused\n"
        f"  refused: ioctl(0x0, 0x5412)  ERRNO(1 EPERM): {path}:11 (after the test in line 9)\n"
        f"  allowed: ioctl(0x0, 0x100005412)  ALLOW: {path}:10 (after the test in line 9)\n"
        "  instead: compare arg1 & 0xffffffff\n")


def test_the_json_report_has_both_inputs(asm):
    document, done = report("guard", asm(HOLE))
    assert done.status == 1
    confirmed(document, program(HOLE))
    (hole,) = document["holes"]
    assert document["stricter"] == []
    assert (hole["arch"], hole["nr"], hole["call"], hole["arguments"]) == ("x86_64", 16, "ioctl", [1])
    assert hole["ignored"] == ["the kernel ignores bits 32 to 63 of arg1"] and hole["instead"] == "compare arg1 & 0xffffffff"
    assert [int(hole[side]["input"]["args"][1], 16) for side in ("refused", "allowed")] == [REFUSED, ALLOWED]


def test_a_test_of_the_low_half_is_no_hole(asm):
    done = run("guard", asm(MENDED))
    assert (done.status, done.out, done.err) == (0, "pass: no way around this filter found\n", "")
    document, _ = report("guard", asm(MENDED))
    assert document == {"schema": "secequiv.guard/1", "verdict": "pass", "holes": [], "stricter": [], "doors": []}


def test_a_filter_that_refuses_too_much_passes_with_a_note(asm):
    done = run("guard", asm(STRICT))
    assert done.status == 0 and done.out.endswith(
        "\nnote: stricter than needed, because these tests include bits that the kernel ignores: x86_64:ioctl arg1\n"), done
    document = confirmed(report("guard", asm(STRICT))[0], program(STRICT))
    assert document["holes"] == [] and [pair["call"] for pair in document["stricter"]] == ["ioctl"]


@pytest.mark.parametrize("name", ["docker-x86_64.tree", "docker-aarch64.linear", "podman-x86_64.linear"])
def test_filters_of_container_profiles_let_high_bits_pass(name):
    path = PROGRAMS / "libseccomp" / (name + ".bpf")
    document = confirmed(report("guard", path)[0], read_raw(path.read_bytes()))
    assert [(hole["call"], hole["arguments"]) for hole in document["holes"]] == [("socket", [0])]


def test_policies_name_the_rules_of_both_decisions():
    document, done = report("guard", DOCKER)
    (hole,) = document["holes"]
    assert hole["refused"]["origin"] == {"file": str(DOCKER), "line": 2, "path": "defaultAction"}
    lines = DOCKER.read_text().splitlines()
    origin = hole["allowed"]["origin"]
    assert origin["path"].startswith("syscalls[") and '"socket"' in "".join(lines[origin["line"] - 1:origin["line"] + 4])
    assert document["read_for"]["capabilities"] == []
    assert "\nholds for x86_64, Linux 6.1, no capabilities (" in run("guard", DOCKER).out


def test_a_filter_without_a_test_of_the_architecture_is_read_for_the_host(asm):
    """On aarch64, 16 is the number of fremovexattr, which looks at all bits of a pointer."""
    path = asm(HOLE.replace(X86_64, "ld [0]\n"))
    assert report("guard", path)[0]["holes"][0]["arch"] == "x86_64"
    assert report("guard", path, "--arch", "aarch64")[0]["holes"] == []


# Known mistakes: corpus/guard has each filter before and after its hole was closed.

KNOWN = ROOT / "corpus" / "guard"
PAIRS = {"cve-2019-10063": "ioctl(0x0, 0x100005412)", "cve-2019-7303": "ioctl(0x0, 0x100005412)", "agent-unix-sockets": "socket(0x100000001)",
         "docker-socket": "socket(0x100000026)", "podman-audit": "socket(0x100000010, 0x0, 0x9)"}


def side_of(name, side):
    (path,) = KNOWN.glob("%s.%s.*" % (name, side))
    return path


def test_all_pairs_of_the_corpus_are_listed():
    assert {path.name.split(".")[0] for path in KNOWN.iterdir()} == set(PAIRS) | {"README"}
    assert all("`%s`" % name in (KNOWN / "README.md").read_text() for name in PAIRS)


@pytest.mark.parametrize("name", PAIRS)
def test_a_known_mistake_is_found_and_its_fix_passes(name):
    before, after = side_of(name, "before"), side_of(name, "after")
    raw = read_raw(run("asm", before, "--to", "raw", raw=True).out)
    (hole,) = confirmed(report("guard", before)[0], raw)["holes"]
    assert "so %s passes with the effect of " % PAIRS[name] in run("guard", before).out
    document, _ = report("guard", after)
    assert (document["verdict"], document["stricter"]) == ("pass", [])
    mended_raw = read_raw(run("asm", after, "--to", "raw", raw=True).out)
    values = [evaluate(mended_raw, words_bytes(hole[side]["input"]["words"])) for side in ("refused", "allowed")]
    assert values[0] == values[1] == int(hole["refused"]["value"]["value"], 16)


@pytest.mark.parametrize("name", [name for name in PAIRS if side_of(name, "before").suffix == ".json"])
def test_fix_agrees_with_the_fix_by_hand(name, tmp_path):
    form = ["--as", "oci"] if name == "docker-socket" else []
    mended(side_of(name, "before"), tmp_path / "out.json", *form)
    assert run("prove", tmp_path / "out.json", side_of(name, "after")).status == 0
    if form:
        assert (tmp_path / "out.json").read_text() == side_of(name, "after").read_text()


# Stacks and processes.

def test_a_stack_is_searched_as_a_whole(asm):
    hole, mended = asm(HOLE), asm(MENDED)
    assert run("guard", f"{hole},{mended}").status == run("guard", f"{mended},{hole}").status == 0
    allow = asm("ret #0x7fff0000\n")
    document = confirmed(report("guard", f"{allow},{hole}")[0], program("ret #0x7fff0000\n"), program(HOLE))
    assert document["verdict"] == "fail"
    # The hole of one filter is closed where the other one refuses the high half.
    assert run("guard", f"{hole},{asm(STRICT)}").status == 0


def test_filters_of_a_process(asm, tmp_path):
    raw = tmp_path / "raw"
    raw.write_bytes(run("asm", asm(HOLE), "--to", "raw", raw=True).out)
    process = subprocess.Popen([sys.executable, "-c", INSTALL, raw], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            pytest.skip("seccomp is not permitted here")
        done = run("guard", "--pid", process.pid)
        assert done.status == 3 or done.status == 1 and "x86_64:ioctl arg1" in done.out, done
    finally:
        process.kill()
        process.wait()
    assert run("guard", "--pid", process.pid).status == 2


# --try

def tried(*args):
    """Returns the report with the kernel's answers to its only hole."""
    document, done = report("guard", *args, "--try")
    assert done.status == 1, done
    answers = document["holes"][0]["kernel"]
    if "not permitted" in answers.get("not_run", "") or "already has a seccomp filter" in answers.get("not_run", ""):
        pytest.skip(answers["not_run"])
    return answers


def test_the_running_kernel_confirms_a_way_around(asm):
    path = asm(HOLE)
    assert tried(path) == {"refused": "EPERM", "allowed": "EBADF", "unfiltered": "EBADF"}
    assert "  kernel:  EPERM for the refused input; EBADF for the other one, as without the filter\n" in run("guard", path, "--try").out
    killed = tried(asm(HOLE.replace("0x50001", "0x80000000")))
    assert (killed["refused"], killed["allowed"]) == ("SIGSYS", "EBADF")


@pytest.mark.parametrize("name", PAIRS)
def test_the_running_kernel_confirms_known_mistakes(name):
    answers = tried(side_of(name, "before"))
    assert answers["refused"] in ("EPERM", "EINVAL") and answers["allowed"] == answers["unfiltered"] not in ("EPERM", "EINVAL")


def test_the_running_kernel_confirms_the_filter_of_a_profile():
    assert tried(PROGRAMS / "libseccomp" / "docker-x86_64.tree.bpf")["refused"] == "EPERM"


def test_equal_errors_show_nothing(asm):
    path = asm(HOLE.replace("0x50001", "0x50009"))
    assert tried(path) == {"refused": "EBADF", "allowed": "EBADF", "unfiltered": "EBADF"}
    assert "  kernel:  EBADF for both inputs, with and without the filter\n" in run("guard", path, "--try").out


def test_calls_that_are_not_run_have_a_reason(asm, policy):
    unshare = report("guard", policy({"unshare": rule(1, eq=0)}), "--try")[0]["holes"][0]
    assert unshare["kernel"] == {"not_run": "unshare is not on the list of calls that are harmless to run"}
    aarch64 = report("guard", PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf", "--try")[0]["holes"][0]
    assert aarch64["kernel"] == {"not_run": "the call belongs to another architecture than this program's"}
    assert run("guard", asm(MENDED), "--try").out == run("guard", asm(MENDED)).out


def test_a_process_that_has_a_filter_runs_nothing(asm, tmp_path):
    raw = tmp_path / "allow"
    raw.write_bytes(run("asm", asm("ret #0x7fff0000\n"), "--to", "raw", raw=True).out)
    program = INSTALL.replace('sys.stdin.read()', 'import subprocess\nprint(subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True).stdout)')
    done = subprocess.run([sys.executable, "-c", program, raw, binary(), "guard", asm(HOLE), "--try"], stdout=subprocess.PIPE, text=True)
    if not done.stdout.startswith("ready\n"):
        pytest.skip(done.stdout)
    assert "  kernel:  not run: this process already has a seccomp filter, which may decide first\n" in done.stdout


# Exit statuses and errors.

def test_a_computed_return_value_is_unknown(asm):
    done = run("guard", asm("ld [16]\nand #0xff\nor #0x50000\nret a\n"))
    assert (done.status, done.out) == (3, "unknown: the filter computes a return value\n")
    assert report("guard", asm("ld [16]\nret a\n"))[0]["reason"] == "the filter computes a return value"


def test_a_limit_is_unknown():
    document, done = report("guard", DOCKER, "--timeout", "1e-9")
    assert done.status == 3 and "limit" in document["reason"], done


@pytest.mark.parametrize("args, text", [
    ([], "expected a filter, or --pid N"), (["nonexistent"], "cannot open"), (["hole.asm", "--pid", "1"], "cannot be combined"),
    (["hole.asm", "-o", "out.json"], "--output: only --fix writes a policy"), (["hole.asm", "--as", "oci"], "--as requires --fix"),
    (["hole.asm", "--fix", "--json"], "cannot be combined"), (["hole.asm", "--fix", "--try"], "cannot be combined"), (["hole.asm", "--fix", "--sarif", "s.json"], "cannot be combined"),
    (["hole.asm", "--fix"], "--fix: expected one policy; `lift` turns a filter into a policy")])
def test_wrong_usage(args, text, asm, tmp_path):
    asm(HOLE, "hole.asm")
    done = run("guard", *args, cwd=tmp_path)
    assert done.status == 2 and text in done.err, done
    assert not (tmp_path / "out.json").exists()


def test_a_program_that_the_kernel_refuses_is_rejected(asm):
    assert run("guard", asm("ld [0]\n")).status == 4


def test_quiet_prints_only_a_failure(asm):
    assert run("guard", asm(HOLE), "--quiet").out == "fail: 1 way around this filter\n"
    assert run("guard", asm(STRICT), "--quiet").out == ""


def test_lines_fit_80_columns(asm):
    done = run("guard", DOCKER, env={**os.environ, "COLUMNS": "80"})
    assert max(map(len, (done.out + done.err).splitlines())) <= 80
    assert "".join(done.out.split()) == "".join(run("guard", DOCKER).out.split())


# Report files.

def test_report_files_place_the_hole_at_the_rule_that_refuses(policy, tmp_path):
    path = policy({"ioctl": rule(1, eq=0x5412)})
    done = run("guard", path, "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", cwd=tmp_path)
    assert done.status == 1
    (case,) = ElementTree.parse(tmp_path / "j.xml").getroot().iter("testcase")
    assert case.get("name") == "hole x86_64:ioctl arg1" and "passes with the effect of ioctl(0x0, 0x5412), which is refused" in case.find("failure").get("message")
    (result,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == "hole" and result["level"] == "error"
    assert place["artifactLocation"]["uri"].endswith(path.name) and place["region"]["startLine"] == 1
    markdown = (tmp_path / "m.md").read_text()
    assert markdown.splitlines()[1].startswith("### secequiv guard: fail") and "compare arg1 & 0xffffffff" in markdown


def test_report_files_of_a_pass_have_no_failure(asm, tmp_path):
    assert run("guard", asm(MENDED), "--junit", "j.xml", "--sarif", "s.json", cwd=tmp_path).status == 0
    assert not list(ElementTree.parse(tmp_path / "j.xml").getroot().iter("failure"))
    assert json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"] == []


# --fix

def mended(path, out, *options):
    """Runs --fix; checks that the result has no hole, and that it refuses every effect that the given policy refuses."""
    done = run("guard", path, "--fix", "-o", out, *options)
    assert done.status == 0 and done.out == "", done
    assert "note: proven: no hole remains, and no effect is allowed that the given policy refuses; the rules of " in done.err, done
    assert report("guard", out)[0]["holes"] == []
    assert run("prove", path, out, "--same", "effect", "--refines").status == 0
    assert run("prove", out, path, "--same", "effect", "--refines").status == 1, "the given policy allows more"


@pytest.mark.parametrize("rules", [
    {"ioctl": rule(1, eq=0x5412)}, {"ioctl": {"any_of": [rule(1, eq=0x5412), rule(1, eq=0x541C)]}}, {"socket": rule(0, eq=38)},
    {"socket": {"all_of": [rule(0, ge=38), rule(0, le=40)]}}, {"chmod": rule(1, masked_eq={"mask": 2**64 - 1, "value": 0o777})},
    {"getpid": rule(0, eq=0)}], ids=lambda rules: "-".join(rules))
def test_fix_writes_a_policy_without_holes(rules, policy, tmp_path):
    mended(policy(rules), tmp_path / "out.json")


def test_fix_changes_only_calls_with_holes(policy, tmp_path):
    path = policy({"ioctl": rule(1, eq=0x5412), "read": rule(2, eq=7), "socket": {"args": {"0": {"eq": 38, "bits": 32}}}})
    mended(path, tmp_path / "out.json")
    rules = json.loads((tmp_path / "out.json").read_text())["rule_sets"][0]["rules"]
    assert rules == {"read": rule(2, eq=7), "ioctl": rule(1, eq="TIOCSTI", bits=32), "socket": rule(0, eq="AF_ALG", bits=32)}


def test_fix_writes_a_container_profile(tmp_path):
    mended(DOCKER, tmp_path / "out.json", "--as", "oci", "--allow-loss")
    profile = json.loads((tmp_path / "out.json").read_text())
    tests = [arg for entry in profile["syscalls"] if entry["names"] == ["socket"] for arg in entry["args"]]
    assert tests and all(arg["op"] == "SCMP_CMP_MASKED_EQ" and arg["value"] < 2**32 for arg in tests if arg["index"] == 0), tests


def test_fix_of_a_profile_that_runtimes_read_differently(tmp_path):
    """Libraries choose different entries of Podman's profile for one socket(), so only our JSON can have the mended rules."""
    podman = POLICIES / "oci" / "podman-default.json"
    mended(podman, tmp_path / "out.json")
    done = run("guard", podman, "--fix", "--as", "oci", "--allow-loss", "-o", tmp_path / "oci.json")
    assert done.status == 2 and "no OCI profile can express" in done.err and not (tmp_path / "oci.json").exists(), done


def test_parts_for_other_hosts_and_containers_are_not_dropped_silently(tmp_path):
    done = run("guard", DOCKER, "--fix", "--as", "oci", "-o", tmp_path / "out.json")
    assert done.status == 2 and "SCMP_ARCH_AARCH64 (line 12)" in done.err and "includes CAP_SYS_ADMIN (line " in done.err, done
    assert not (tmp_path / "out.json").exists()


def test_fix_of_a_policy_without_holes_changes_nothing(policy, tmp_path):
    path = policy({"ioctl": {"args": {"1": {"eq": 0x5412, "bits": 32}}}})
    assert run("guard", path, "--fix", "-o", tmp_path / "out.json").status == 0
    assert run("prove", path, tmp_path / "out.json").status == 0


def test_what_no_test_can_mend_is_an_error_and_writes_nothing(policy, tmp_path):
    """A policy's order tests compare 64 or 32 bits, but the kernel looks at 16 bits of a mode."""
    path = policy({"chmod": {"all_of": [rule(1, ge=0o700), rule(1, le=0o777)]}})
    assert report("guard", path)[0]["holes"][0]["arguments"] == [1]
    done = run("guard", path, "--fix", "-o", tmp_path / "out.json")
    assert done.status == 3 and re.search("a policy cannot express the test that closes the hole in arg1 of chmod", done.err), done
    assert not (tmp_path / "out.json").exists()


def test_a_form_that_cannot_express_the_policy_is_an_error(policy, tmp_path):
    path = policy({"ioctl": rule(1, eq=0x5412)}, bad_arch_action="errno(EACCES)")
    done = run("guard", path, "--fix", "--as", "oci", "-o", tmp_path / "out.json")
    assert done.status == 2 and "all other architectures: the action is ERRNO" in done.err, done
    assert not (tmp_path / "out.json").exists()


# Other doors: calls with the effect of a refused one. Their search is tested in analyze/doors_test.cc.

def test_a_door_is_reported_with_both_calls(policy):
    path = policy({"unshare": True})
    document, done = report("guard", path)
    assert done.status == 1 and document["verdict"] == "fail" and document["holes"] == []
    doors = {(one["call"], one["door"]): (found, one) for found in document["doors"] for one in found["open"]}
    found, one = doors["unshare", "clone3"]
    assert found["certain"] and found["arch"] == "x86_64" and one["source"]
    values = [run("run", path, "--words", ",".join(map(str, one[side]["words"]))).out for side in ("refused", "allowed")]
    assert "0x00050001" in values[0] and "0x7fff0000" in values[1]
    assert "certain: x86_64: " in run("guard", path).out


def test_a_possible_door_is_a_warning_only(asm, tmp_path):
    without_x32 = MENDED.replace("jset #0x40000000, other, on\non: ", "")
    path = asm(without_x32)
    done = run("guard", path, "--sarif", "s.json", cwd=tmp_path)
    assert done.status == 0 and done.out.startswith("pass: no way around this filter found, and 1 way possible\npossible: x32: "), done
    assert "needs CONFIG_X86_X32_ABI" in done.out
    (result,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("door", "warning")


def test_a_filter_that_does_not_test_the_architecture_is_open(getpid):
    document, done = report("guard", getpid)
    (found,) = document["doors"]
    assert done.status == 1 and found["cause"] == "unchecked_arch" and found["arch"] == "i386"
    (one,) = found["open"]
    assert one["refused"]["nr"] == 83 and one["allowed"]["nr"] == 39 and one["call"] == "mkdir"


def open_doors(document):
    return {(one["call"], one["door"]) for found in document["doors"] if found["certain"] for one in found["open"]}


REGRESS = ROOT / "corpus" / "regress" / "guard"


@pytest.mark.parametrize("action", ["SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE"])
def test_a_call_that_must_be_asked_for_has_doors(action, tmp_path):
    path = tmp_path / "supervised.json"
    path.write_text((REGRESS / "supervised.json").read_text().replace("SCMP_ACT_NOTIFY", action).replace('"connect"', '"connect","mount"'))
    document, done = report("guard", path)
    assert done.status == 1
    doors = open_doors(document)
    assert {("clone", "clone3"), ("openat", "openat2"), ("sendto", "sendmsg"), ("mount", "fsopen")} <= doors
    assert any(found["cause"] == "io_uring" for found in document["doors"])


def test_a_swapped_test_of_the_architecture_is_a_door():
    document, done = report("guard", REGRESS / "swapped-arch-test.asm")
    (found,) = [one for one in document["doors"] if one["cause"] == "swapped_arch"]
    assert done.status == 1 and found["certain"] and found["arch"] == "i386"
    assert ("ptrace", "ptrace") in open_doors(document)
    assert "refuses its own architecture and allows unknown ones" in run("guard", REGRESS / "swapped-arch-test.asm").out
    assert run("prove", REGRESS / "swapped-arch-test.asm", "--property", "arch-closed").status == 1


def test_a_filter_for_another_architecture_has_no_swapped_test(tmp_path):
    rules = policy_of({"swapon": True}, arches=["i386"], bad_arch_action="kill_process")
    del rules["x32_action"]
    (tmp_path / "i386.json").write_text(json.dumps(rules))
    assert report("guard", tmp_path / "i386.json")[0]["doors"] == []


def test_a_filter_that_treats_two_architectures_alike_does_test_the_architecture():
    document, done = report("guard", REGRESS / "same-numbers.asm")
    (found,) = document["doors"]
    assert done.status == 1 and found["cause"] == "same_numbers" and found["arch"] == "i386"
    assert "does not test the architecture" not in run("guard", REGRESS / "same-numbers.asm").out


def test_a_refusal_by_several_ignored_arguments_is_a_note():
    document, done = report("guard", REGRESS / "guard-note-missing.json")
    (strict,) = [one for one in document["stricter"] if one["arch"] == "x86_64"]
    assert done.status == 0 and strict["call"] == "getpid" and strict["arguments"] == [2, 3]
    assert "x86_64:getpid arg2, arg3" in run("guard", REGRESS / "guard-note-missing.json").out


def test_a_hole_names_only_arguments_that_the_filter_tests():
    document, done = report("guard", REGRESS / "guard-too-many-arguments.json")
    assert done.status == 1 and [hole["arguments"] for hole in document["holes"]] == [[2, 3]]
    assert document["holes"][0]["instead"] == "compare arg2 & 0xffff; do not test arg3"


# Mistakes that reviewers found.

@pytest.mark.parametrize("action, text", [("0x7fc00000", "only a tracer or a supervisor may allow"), ("0x7ff00001", "only a tracer or a supervisor may allow"),
                                          ("0x70000", "is refused"), ("0", "is refused")])
def test_a_call_that_must_be_asked_for_is_not_allowed(asm, action, text):
    """A supervisor or a tracer does not see the call; an unknown action kills."""
    done = run("guard", asm(HOLE.replace("bad: ret #0x50001", "bad: ret #" + action)), "--try")
    assert done.status in (1, 3) and done.out.splitlines()[1].endswith("ioctl(0x0, 0x5412), which " + text), done


def test_the_calls_of_i386_are_searched_even_if_they_are_the_rest(asm):
    path = asm("ld [4]\njeq #0xc000003e, ok, rest\nrest: ld [0]\njeq #54, low, ok\nlow: ld [24]\njeq #0x5412, high, ok\nhigh: ld [28]\njeq #0, bad, ok\n"
               "ok: ret #0x7fff0000\nbad: ret #0x50001\n")
    document, _ = report("guard", path)
    assert [(hole["arch"], hole["call"]) for hole in document["holes"]] == [("i386", "ioctl")]


@pytest.mark.parametrize("first, second, status", [("0xffffffffffffffff", "0xffffffff", 1), ("0xffffffff", "0xffffffffffffffff", 1)])
def test_both_usual_forms_of_a_negative_number_count(policy, first, second, status, tmp_path):
    """kill(-1) reaches all processes in both forms. The policy refuses one of them, and all numbers that are no pid_t."""
    rules = {"kill": {"any_of": [rule(0, eq=int(first, 0)), {"all_of": [rule(0, gt=0xFFFFFFFF), rule(0, ne=int(second, 0))]}]}}
    path = policy(rules)
    document, done = report("guard", path)
    assert done.status == status
    (hole,) = [hole for hole in document["holes"] if hole["call"] == "kill"]
    assert int(hole["allowed"]["input"]["args"][0], 0) & 0xFFFFFFFF == int(hole["refused"]["input"]["args"][0], 0) & 0xFFFFFFFF
    assert run("guard", path, "--fix", "-o", tmp_path / "fixed.json").status == 0
    assert report("guard", tmp_path / "fixed.json")[0]["holes"] == []


def test_try_says_that_an_older_filter_ends_the_process(asm):
    kill_seccomp = asm("ld [4]\njeq #0xc000003e, mine, ok\nmine: ld [0]\njeq #317, bad, ok\nok: ret #0x7fff0000\nbad: ret #0\n", "old.asm")
    done = run("guard", "%s,%s" % (asm(HOLE), kill_seccomp), "--try")
    assert done.status == 1 and "please report this" not in done.out + done.err and "not run" in done.out, done
