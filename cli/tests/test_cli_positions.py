"""Tests that why, diff, lint, prove, check and their report files name the lines of the user's own file, in every format of policies.

The two files of a pair differ only in the line CHANGED, which decides getpid. DEFAULT is the line with the default action.
"""

import json

import pytest
from cli_tool import report, run

OWN = """{
  "version": 1, "arches": ["x86_64"],
  "default_action": "errno(1)",
  "rule_sets": [
    {"action": "allow", "rules": {
      "read": true,
      %s
      "socket": {"any_of": [
        {"args": {"0": {"eq": 1}}},
        {"args": {"0": {"eq": 2}}}]},
      "close": true}}]}
"""
OCI = """{
  "defaultAction": "SCMP_ACT_ERRNO",
  "architectures": ["SCMP_ARCH_X86_64"],
  "syscalls": [
    {"names": ["read", "close"],
     "action": "SCMP_ACT_ALLOW"},
    %s
    {"names": ["socket"], "action": "SCMP_ACT_ALLOW",
     "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]},
    {"names": ["socket"], "action": "SCMP_ACT_ALLOW",
     "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}
  ]
}
"""
SECCOMPILER = """{
  "main": {
    "mismatch_action": {"errno": 1},
    "match_action": "allow",
    "filter": [
      {"syscall": "read"},
      %s
      {"syscall": "socket", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 1}]},
      {"syscall": "socket", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 2}]}
    ]
  }
}
"""
MINIJAIL = """# a service
read: 1
%s
socket: arg0 == 1 || \\
        arg0 == 2
close: 1
"""
COMPILER = """# a service
@default trap
read: allow
%s
socket: {arg0 == 1; allow,\\
         arg0 == 2; allow}
close: allow
"""
PFC = """# filter for arch x86_64 (3221225534)
if ($arch == 3221225534)
  # filter for syscall "getpid" (39)
  if ($syscall == 39)
    %s
  # filter for syscall "socket" (41)
  if ($syscall == 41)
    if ($a0.hi32 == 0)
      if ($a0.lo32 == 1)
        action ALLOW;
  if ($syscall == 41)
    if ($a0.hi32 == 0)
      if ($a0.lo32 == 2)
        action ALLOW;
  # default action
  action ERRNO(1);
# invalid architecture action
action KILL;
"""
OCI_GETPID = '{"names": ["getpid"], "action": "SCMP_ACT_%s"},'
# For each format: the file, the text of line CHANGED before and after, and the numbers of three kinds of lines: CHANGED, the alternatives
# for socket, and DEFAULT (0: the file has none).
FORMATS = {
    "policy": (OWN, '"nanosleep": true,', '"getpid": true,', 7, (9, 10), 3),
    "oci": (OCI, OCI_GETPID % "LOG", OCI_GETPID % "ALLOW", 7, (8, 10), 2),
    "seccompiler": (SECCOMPILER, '{"syscall": "nanosleep"},', '{"syscall": "getpid"},', 7, (8, 9), 3),
    "minijail": (MINIJAIL, "nanosleep: 1", "getpid: 1", 3, (4, 4), 0),
    "minijail-compiler": (COMPILER, "nanosleep: allow", "getpid: allow", 4, (5, 6), 2),
    "pfc": (PFC, "action LOG;", "action ALLOW;", 5, (10, 14), 16),
}


@pytest.fixture(params=FORMATS)
def case(request, tmp_path):
    text, before, after, changed, socket, default = FORMATS[request.param]
    files = [tmp_path / "before.file", tmp_path / "after.file"]
    for path, line in zip(files, (before, after)):
        path.write_text(text % line)
        assert path.read_text().splitlines()[changed - 1].strip().startswith(line.split("\n")[0])
    replaced = request.param in ("oci", "pfc")  # in these formats, the two files differ in the action of CHANGED, not in its call
    return files, changed, socket, default, replaced


def origin(path, *call):
    document, done = report("why", path, *call)
    assert done.status == 0, done
    return document["filters"][0].get("origin", {}).get("line", 0)


def test_why_names_the_line_that_decides(case):
    (_, after), changed, socket, default, _ = case
    assert origin(after, "--nr", "getpid") == changed
    assert run("why", after, "--nr", "getpid").out.startswith("ALLOW: %s:%d" % (after, changed))
    for value, line in zip((1, 2), socket):
        assert origin(after, "--nr", "socket", "--arg", "0=%d" % value) == line
    assert origin(after, "--nr", "mount") == default


def test_diff_names_the_lines_of_both_files(case):
    files, changed, _, default, replaced = case
    document, _ = report("diff", *files, "--rules")
    rows = [row for change in document["changes"] for row in change["regions"] if "nr == getpid" in row["condition"]]
    assert len(rows) == 1
    assert rows[0]["after_origin"]["line"] == changed
    assert rows[0].get("before_origin", {}).get("line", 0) == (changed if replaced else default)


def region_of(place):
    return place["physicalLocation"].get("region", {}).get("startLine")


@pytest.mark.parametrize("command", ("diff", "prove", "check"))
def test_report_files_have_the_lines_without_further_options(case, command, tmp_path):
    files, changed, _, default, replaced = case
    for backwards in (False, True):
        names = files[::-1] if backwards else files
        outputs = [tmp_path / ("out." + suffix) for suffix in ("sarif", "xml", "md")]
        # Only in two formats do both files have a line for getpid. In the others, the call loses or gains its rule.
        assume = [] if command == "check" else ["--assume", "nr == getpid"]
        if command == "check" and not replaced and backwards:
            continue  # the witness is nanosleep
        done = run(command, *names, *assume, "--sarif", outputs[0], "--junit", outputs[1], "--markdown", outputs[2])
        assert done.status == 1, done
        results = [one for one in json.loads(outputs[0].read_text())["runs"][0]["results"] if one["ruleId"] != "cache"]
        assert len(results) == 1
        # If the new file no longer has the rule, a reader looks for its line in the old file.
        place = results[0]["locations"][0]
        name = names[0] if backwards and not replaced else names[1]
        assert place["physicalLocation"]["artifactLocation"]["uri"].endswith(name.name)
        assert region_of(place) == changed
        first = region_of(results[0]["relatedLocations"][0])
        assert first == (changed if replaced or backwards else default or None)
        for path in outputs[1:]:
            shown = path.read_text().replace("\\", "")
            assert "%s, line %d" % (name, changed) in shown


def test_the_witness_of_two_policies_has_their_lines(case):
    files, changed, _, default, replaced = case
    lines = run("prove", *files, "--assume", "nr == getpid").out.splitlines()
    before, after = [next(line for line in lines if line.startswith("  %s:" % side)) for side in ("before", "after")]
    assert "ALLOW: %s:%d" % (files[1], changed) in after
    if replaced or default:
        assert "%s:%d" % (files[0], changed if replaced else default) in before
    else:
        assert before.endswith("default action: no rule matches")


# For each format: the last alternative for socket, the text inserted after it to repeat it, and the line of the repetition.
REPEATED = {
    "policy": ('{"args": {"0": {"eq": 2}}}', ',\n{"args": {"0": {"eq": 2}}}', 11),
    "oci": ('"value": 2, "op": "SCMP_CMP_EQ"}]}', ',\n{"names": ["socket"], "action": "SCMP_ACT_ALLOW",\n'
                                                '"args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}', 12),
    "seccompiler": ('"op": "eq", "val": 2}]}', ',\n{"syscall": "socket", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 2}]}', 10),
    "minijail": ("arg0 == 2", " || arg0 == 2", 4),
    "minijail-compiler": ("arg0 == 2; allow", ",\\\n arg0 == 2; allow", 7),
    "pfc": ("($a0.lo32 == 2)\n        action ALLOW;", "\n  if ($syscall == 41)\n    if ($a0.hi32 == 0)\n      if ($a0.lo32 == 2)\n"
                                                     "        action ALLOW;", 18),
}


@pytest.mark.parametrize("name", FORMATS)
def test_lint_names_the_line_of_a_repeated_rule(name, tmp_path):
    text, _, after, _, _, _ = FORMATS[name]
    behind, more, line = REPEATED[name]
    path, sarif = tmp_path / "repeated.file", tmp_path / "out.sarif"
    path.write_text((text % after).replace(behind, behind + more))
    document, done = report("lint", path, "--sarif", sarif)
    assert {finding["origin"]["line"] for finding in document["idle"]} == {line}, done
    assert done.status == 1 and run("lint", path).out.splitlines()[1].startswith("%s:%d" % (path, line))
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {region_of(one["locations"][0]) for one in results} == {line}


def test_programs_in_asm_form_are_named_by_line(asm):
    text = "; a filter\nld [0]\njeq #%d, yes, no\nyes: ret #0x7fff0000\nno: ret #0x50001\n"
    before, after = asm(text % 39, "before.asm"), asm(text % 40, "after.asm")
    done = run("why", before, "--nr", "getpid").out
    assert done.startswith("ALLOW: %s:4 (after the test in line 3)\n" % before), done
    origin = report("why", before, "--nr", "getpid")[0]["filters"][0]["origin"]
    assert origin == {"file": str(before), "line": 4, "condition": "after the test in line 3"}
    for command in (["prove"], ["check"]):
        out = run(*command, before, after).out
        assert "  before: 0x00050001 ERRNO(1 EPERM): %s:5 (after the test in line 3)\n" % before in out, out
        assert "  after:  0x7fff0000 ALLOW: %s:4 (after the test in line 3)\n" % after in out, out
    out = run("diff", before, after, "--rules").out
    assert "  before: for example %s:5 (after the test in line 3)\n  after:  for example %s:4 (after " % (before, after) in out, out
    rows = [region for change in report("diff", before, after, "--rules")[0]["changes"] for region in change["regions"]]
    assert {(row["before_origin"]["line"], row["after_origin"]["line"]) for row in rows} == {(4, 5), (5, 4)}


OCI = {"defaultAction": "SCMP_ACT_ERRNO", "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]},
                                                      {"architecture": "SCMP_ARCH_S390X", "subArchitectures": ["SCMP_ARCH_S390"]}],
       "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"},
                    {"names": ["chroot"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_CHROOT"]}, "comment": "a"},
                    {"names": ["ptrace"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "9.8"}}]}


@pytest.mark.parametrize("change, place", [
    (lambda p: p["syscalls"][1]["names"].append("mount"), "(syscalls[1], includes CAP_SYS_CHROOT)"),
    (lambda p: p["syscalls"][2].update(includes={"minKernel": "9.9"}), "(syscalls[2], includes kernel >= 9.9)"),
    (lambda p: p["archMap"][1].update(subArchitectures=[]), "(archMap[1], SCMP_ARCH_S390X)"),
    (lambda p: p["syscalls"][1].update(comment="b"), None)])
@pytest.mark.parametrize("command", ["diff", "prove", "check"])
def test_profiles_that_differ_only_for_other_containers_give_a_warning(tmp_path, change, place, command):
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    files[0].write_text(json.dumps(OCI))
    other = json.loads(json.dumps(OCI))
    change(other)
    files[1].write_text(json.dumps(other, indent=1))
    done = run(command, *files, "--quiet")
    warned = [line for line in done.err.splitlines() if "were not compared" in line]
    assert done.status == 0 and done.out == "" and len(warned) == (place is not None), done
    assert place is None or "new.json:" in warned[0] and place in warned[0]
    # Every report has the warning and its position, and states the host and the container for which the report holds.
    outputs = {name: tmp_path / name for name in ("junit", "sarif", "markdown", *([] if command == "prove" else ["html"]))}
    document, _ = report(command, *files, *[one for name, path in outputs.items() for one in ("--" + name, path)])
    assert document["read_for"] == {"arch": "x86_64", "kernel": "6.1", "capabilities": []}
    assert [str(files[1])] * (place is not None) == [one["file"] for one in document.get("not_compared", [])][:1]
    for path in outputs.values():
        text = path.read_text()
        assert ("kernels, which were not compared" in text) == (place is not None), (path, text)
        assert path.name == "sarif" or "x86_64, Linux 6.1, no capabilities" in text.replace("\\", ""), (path, text)
    (sarif,) = json.loads(outputs["sarif"].read_text())["runs"]
    assert "Linux 6.1" in sarif["properties"]["holdsFor"]
    results = [one for one in sarif["results"] if one["ruleId"] == "profile"]
    assert len(results) == (place is not None) and all(one["level"] == "warning" for one in results)
    for one in results:
        at = one["locations"][0]["physicalLocation"]
        assert at["artifactLocation"]["uri"].endswith("new.json") and place in one["message"]["text"]
        assert at["region"]["startLine"] == document["not_compared"][0]["line"]


def test_an_answer_names_the_host_only_if_a_profile_depends_on_it(tmp_path):
    plain, conditional = tmp_path / "plain.json", tmp_path / "conditional.json"
    plain.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": OCI["syscalls"][:1]}))
    conditional.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": OCI["syscalls"][:2]}))
    for command in ("diff", "prove", "check"):
        done = run(command, plain, plain)
        assert done.status == 0 and "Linux" not in done.out, done
        done = run(command, plain, conditional, "--cap", "CAP_SYS_CHROOT", "--kernel-version", "5.4")
        assert done.out.splitlines()[-1].startswith("holds for x86_64, Linux 5.4, CAP_SYS_CHROOT ("), done
        assert "holds for" not in run(command, plain, conditional, "--quiet").out


def test_an_unknown_architecture_of_one_profile_is_not_compared(tmp_path):
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    files[0].write_text(json.dumps(OCI).replace('["SCMP_ARCH_S390"]', "[]"))
    files[1].write_text(json.dumps(OCI))
    done = run("diff", *files, "--arch", "s390x", "--quiet")
    assert done.status == 0 and "were not compared" in done.err and "SCMP_ARCH_S390)" in done.err, done


def test_a_guard_that_changed_for_other_containers_is_named_and_limits_the_verdict(tmp_path):
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    files[0].write_text(json.dumps(OCI))
    other = json.loads(json.dumps(OCI))
    del other["syscalls"][1]["includes"]
    files[1].write_text(json.dumps(other))
    given = [*files, "--cap", "CAP_SYS_CHROOT"]
    for command, start in ("diff", "equivalent"), ("prove", "equivalent"), ("check", "verdict   pass"):
        done = run(command, *given)
        verdict = start + " for these capabilities and this kernel (1 entry was not compared)"
        assert done.status == 0 and any(line.startswith(verdict) for line in done.out.splitlines()), done
        assert "old.json:1 (syscalls[1], includes CAP_SYS_CHROOT)" in done.err, done
        # Report files repeat this limit of the verdict. With --require-whole, the verdict is unknown.
        outputs = [tmp_path / name for name in ("junit", "sarif", "markdown", *([] if command == "prove" else ["html"]))]
        run(command, *given, *[one for path in outputs for one in ("--" + path.name, path)])
        for path in outputs:
            text = path.read_text().replace("\\", "")
            assert start.split()[-1] + " for these capabilities and this kernel (1 entry was not compared)" in text, (path, text)
        done = run(command, *given, "--require-whole")
        assert done.status == 3 and "unknown for these capabilities" in done.out, done
        document, done = report(command, *given, "--require-whole", "--junit", outputs[0])
        assert done.status == 3 and document["verdict"] == "unknown" and 'errors="1"' in outputs[0].read_text(), outputs[0].read_text()
        assert "the profiles were not compared as a whole" in outputs[0].read_text()
    done = run("fuzz", *given, "--trials", 500, "--require-whole")
    assert done.status == 3 and "not compared): the profiles were not compared as a whole" in done.out, done
    expected = tmp_path / "expected.json"
    run("diff", *given, "--write-expect", expected)
    done = run("diff", *given, "--expect", expected)
    assert done.status == 0 and done.out == "pass for these capabilities and this kernel (1 entry was not compared): the difference is the expected one\n" \
        "holds for x86_64, Linux 6.1, CAP_SYS_CHROOT (--arch, --kernel-version, --cap)\n", done
    assert run("diff", *given, "--expect", expected, "--require-whole").status == 3
    # Without the capability, the same entry makes the difference, so `diff` has compared the entry.
    done = run("diff", *files, "--require-whole")
    assert done.status == 1 and "LOOSER: chroot on x86_64, i386 newly allowed" in done.out and "compared" not in done.out + done.err, done


def test_answers_about_one_profile_name_the_host_and_the_container(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(OCI))
    for command in ["lint"], ["why", "--nr", "chroot"], ["cost"], ["cache"], ["guard"]:
        done = run(*command, profile)
        assert "\nholds for x86_64, Linux 6.1, no capabilities (" in done.out, done
        document = json.loads(run(*command, profile, "--json").out)
        assert document["read_for"] == {"arch": "x86_64", "kernel": "6.1", "capabilities": []}
    assert "; 2 entries for other hosts or containers were not examined" in run("lint", profile).out.replace("\n", " ")
    assert json.loads(run("lint", profile, "--json").out)["not_examined"] == 2
    done = run("lint", profile, "--cap", "SYS_CHROOT")
    assert "; 1 entry for other hosts or containers was not examined" in done.out.replace("\n", " "), done


def test_all_capabilities_can_be_given_at_once(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(OCI))
    for name in "ALL", "all", "CAP_ALL":
        done = run("why", profile, "--nr", "chroot", "--cap", name)
        assert done.out.startswith("ALLOW") and "\nholds for x86_64, Linux 6.1, all capabilities (" in done.out, done


def test_capabilities_are_a_list_or_the_set_that_docker_grants(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(OCI))
    for given, held in (["docker"], "Docker's default capabilities"), (["kill,SYS_CHROOT"], "CAP_KILL CAP_SYS_CHROOT"), \
            (["KILL", "--cap", "CAP_SYS_CHROOT"], "CAP_KILL CAP_SYS_CHROOT"), (["DOCKER,KILL"], "Docker's default capabilities"):
        done = run("why", profile, "--nr", "chroot", "--cap", *given)
        assert done.out.startswith("ALLOW") and "\nholds for x86_64, Linux 6.1, %s (" % held in done.out, done
    done = run("why", profile, "--nr", "chroot", "--cap", "KILL,SYS_CHRROOT")
    assert done.status == 2 and "found 'CAP_SYS_CHRROOT'; did you mean CAP_SYS_CHROOT?" in done.err, done
