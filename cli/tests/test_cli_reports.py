"""Tests JUnit and SARIF reports for CI systems and reviewers. Only a pass may look like a pass."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from cli_tool import POLICIES, STATUS, run

BEFORE = "ld [0]\njeq #39, y, n\n; a comment\ny: ret #0x7fff0000\nn: ret #0x50001\n"
AFTER = "ld [0]\njeq #39, y, n\ny: ret #0\nn: ret #0x50001\n"

WORDS = {**STATUS, "error": 2}  # what report files show as the verdict


class Reports:
    def __init__(self, folder):
        self.folder = folder
        (folder / "before.asm").write_text(BEFORE)
        (folder / "after.asm").write_text(AFTER)
        self.junit_file = folder / "j.xml"
        self.sarif_file = folder / "s.json"
        self.markdown_file = folder / "m.md"

    def run(self, *args, status):
        for file in (self.junit_file, self.sarif_file, self.markdown_file):
            file.write_text("stale")
        done = run(*args, "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", cwd=self.folder)
        assert done.status == status, done
        suites = ElementTree.parse(self.junit_file).getroot()
        sarif = json.loads(self.sarif_file.read_text())
        check_markdown(self.markdown_file.read_text(), suites)
        return check_junit(suites, status), check_sarif(sarif, status)


def check_junit(suites, status):
    """Checks that counts and states agree with each other and with the exit status; returns the test cases by name."""
    (suite,) = suites
    cases = {}
    for case in suite.iter("testcase"):
        (body,) = case
        assert body.tag in ("system-out", "failure", "error", "skipped")
        cases[case.get("name")] = body
    tags = [body.tag for body in cases.values()]
    for element in (suites, suite):
        assert int(element.get("tests")) == len(suite.findall("testcase")) == len(cases)
        assert int(element.get("failures")) == tags.count("failure")
        assert int(element.get("errors")) == tags.count("error")
        assert int(element.get("skipped")) == tags.count("skipped")
    passed = all(tag in ("system-out", "skipped") for tag in tags)
    assert passed == (status == 0)
    assert (status == 3) == ("error" in tags and "failure" not in tags) or status in (2, 5)
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties["exit_status"] == str(status) and WORDS[properties["verdict"]] == status
    return cases


def check_markdown(text, suites):
    """Checks that the table has a row for each test case, and that the title has the verdict."""
    lines = text.splitlines()
    assert lines[0] == "<!-- secequiv report -->"
    verdict = next(one.get("value") for one in suites.iter("property") if one.get("name") == "verdict")
    assert lines[1].startswith("### secequiv ") and re.search(rf": {verdict}( for these capabilities .*)?$", lines[1])
    assert sum(line.startswith("| ") for line in lines) == 1 + len(list(suites.iter("testcase")))


def check_sarif(document, status):
    """Returns the SARIF results, after checking the requirements of the standard."""
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    (invocation,) = run["invocations"]
    assert invocation["exitCode"] == WORDS[invocation["exitCodeDescription"].split(" for these capabilities ")[0]] == status
    assert invocation["executionSuccessful"] == (status not in (2, 5))
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning")
        # Code scanning services refuse a file if any result lacks a location.
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert bool(run["results"]) == (status != 0)
    return run["results"]


@pytest.fixture
def reports(tmp_path):
    return Reports(tmp_path)


def region(result):
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region")


def test_a_pass_lists_every_check(reports):
    cases, results = reports.run("check", "before.asm", "before.asm", status=0)
    assert set(cases) == {"acceptance", "decision", "coverage", "proof", "cache", "verdict"}
    assert "equivalent by dd" in cases["proof"].text
    assert results == []


@pytest.mark.parametrize("command", ["check", "prove", "diff"])
def test_only_a_change_that_may_allow_more_is_an_error_in_sarif(reports, command):
    """getpid is killed afterwards. For check, the lost entries of the kernel's cache are still errors."""
    options = ["--allow-cache-loss"] if command == "check" else []
    for files, level in ((("before.asm", "after.asm"), "warning"), (("after.asm", "before.asm"), "error")):
        _, results = reports.run(command, *files, *options, status=1)
        assert {result["level"] for result in results} == {level}


def test_a_difference_with_both_directions_has_both_levels(reports):
    (reports.folder / "after.asm").write_text(BEFORE.replace("n: ret #0x50001", "n: ret #0x7ffc0000").replace("y: ret #0x7fff0000", "y: ret #0"))
    _, results = reports.run("diff", "before.asm", "after.asm", status=1)
    assert {(result["level"], "no longer allowed" in result["message"]["text"]) for result in results} == {("warning", True), ("error", False)}
    _, results = reports.run("prove", "before.asm", "after.asm", status=1)
    assert [result["level"] for result in results] == ["error"]


def test_titles_in_sarif_state_the_fault(reports):
    reports.run("check", "before.asm", "after.asm", status=1)
    (run_,) = json.loads(reports.sarif_file.read_text())["runs"]
    titles = {rule["id"]: rule["shortDescription"]["text"] for rule in run_["tool"]["driver"]["rules"]}
    assert titles["decision"] == "The two filters decide differently" and titles["acceptance"] == "The kernel refuses a program"
    assert titles["proof"] == "The filters are not proven equivalent" and titles["oracle"] == "Linux contradicts this tool's interpreter"
    assert all(title[0].isupper() for title in titles.values())


def test_edges_that_were_not_examined_are_not_covered(reports):
    for file in ("before.asm", "after.asm"):
        text = (reports.folder / file).read_text()
        (reports.folder / file).write_text(text.replace("n: ret", "n: ld [16]\njeq #7, z, o\nz: ret #0x50002\no: ret"))
    cases, _ = reports.run("check", "before.asm", "after.asm", "--max-inputs", "0", status=1)
    assert cases["coverage"].tag == "skipped" and "not examined, because a difference was found earlier" in cases["coverage"].get("message")
    text = run("check", "before.asm", "after.asm", "--max-inputs", "0", cwd=reports.folder).out
    assert re.search(r" 0 undecided, [1-9][0-9]* not examined ", text), text


def test_a_witness_is_located_at_the_deciding_line_of_the_second_program(reports):
    cases, results = reports.run("check", "before.asm", "after.asm", status=1)
    assert "ALLOW became KILL_THREAD" in cases["decision"].get("message")
    assert "witness: nr=39 (getpid)" in cases["decision"].text
    assert cases["proof"].tag == cases["coverage"].tag == "skipped"
    (result,) = [one for one in results if one["ruleId"] == "decision"]
    assert region(result) == ("after.asm", {"startLine": 3})
    related = result["relatedLocations"][0]["physicalLocation"]
    assert related["artifactLocation"]["uri"] == "before.asm"
    assert related["region"] == {"startLine": 4}  # the comment counts as a line
    assert result["properties"]["witness"]["data"]["nr"] == 39
    flows = result["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["before", "after"]
    lines = [
        [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow["locations"]]
        for flow in flows
    ]
    assert lines == [[1, 2, 4], [1, 2, 3]]


def test_raw_programs_have_byte_offsets_and_paths_are_uris(reports):
    folder = reports.folder / "a b%"
    folder.mkdir()
    for name in ("before", "after"):
        out = str(folder / f"{name}#.bpf")
        assert run("asm", str(reports.folder / f"{name}.asm"), "-o", out).status == 0
    _, results = reports.run("prove", "a b%/before#.bpf", "a b%/after#.bpf", status=1)
    assert region(results[0]) == ("a%20b%25/after%23.bpf", {"byteOffset": 16, "byteLength": 8})
    absolute = str(folder / "after#.bpf")
    _, results = reports.run("prove", "a b%/before#.bpf", absolute, status=1)
    uri, _ = region(results[0])
    assert uri.startswith("file:///") and uri.endswith("/a%20b%25/after%23.bpf")


@pytest.mark.parametrize("command", ("check", "prove", "diff"))
def test_a_difference_is_placed_at_the_test_where_the_traces_part(reports, command):
    """Many paths share the returns, so a location there would not help a reviewer."""
    text = "ld [16]\njset #6, %s\ny: ret #0x7fff0000\nn: ret #0\n"
    for name, targets in (("before.asm", "y, n"), ("after.asm", "n, y")):
        (reports.folder / name).write_text("; %s\n" % name * (name == "before.asm") + text % targets)
    _, results = reports.run(command, "before.asm", "after.asm", status=1)
    for result in results:
        if result["ruleId"] == "cache":
            continue
        assert region(result) == ("after.asm", {"startLine": 2})
        assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 3}
        assert result["codeFlows"]
    assert "at after.asm, line 2" in reports.junit_file.read_text()


def test_reports_about_policies_have_no_traces_of_our_programs(reports):
    profiles = [POLICIES / "oci" / name for name in ("docker-default-0.1.0.json", "docker-default.json")]
    _, results = reports.run("diff", profiles[0], POLICIES / "oci" / "podman-default.json", status=1)
    assert len(results) > 20 and reports.sarif_file.stat().st_size < 500_000
    for command in ("diff", "prove"):
        _, results = reports.run(command, *profiles, status=1)
        results = [result for result in results if result["ruleId"] != "profile"]  # names parts that were not compared
        assert results and all("codeFlows" not in result and result["relatedLocations"] for result in results)


def test_every_difference_is_a_result(reports):
    cases, results = reports.run("diff", "before.asm", "after.asm", status=1)
    assert len(cases) == len(results) == 1
    assert "no longer allowed" in results[0]["message"]["text"]
    reports.run("diff", "before.asm", "before.asm", status=0)
    run("diff", "before.asm", "after.asm", "--write-expect", "e.json", cwd=reports.folder)
    reports.run("diff", "before.asm", "after.asm", "--expect", "e.json", status=0)
    cases, _ = reports.run("diff", "before.asm", "before.asm", "--expect", "e.json", status=1)
    assert any("- " in body.get("message", "") for body in cases.values())
    cases, _ = reports.run("diff", "before.asm", "after.asm", "--expect", "e.json", "--assume", "nr == 39", status=2)
    assert cases["error"].tag == "error" and "stored with the same options" in cases["error"].get("message")


def test_a_limit_that_ran_out_is_an_error_and_not_a_pass(reports, hard):
    cases, results = reports.run("prove", *hard, "--timeout", "0.2", status=3)
    assert cases["proof"].tag == "error"
    assert results[0]["message"]["text"].startswith("not decided: ")


def test_a_rejected_program_is_a_failure_with_its_line(reports):
    (reports.folder / "bad.asm").write_text("ld [0]\nmod #3\nret a\n")
    for command in ("check", "prove"):
        cases, results = reports.run(command, "bad.asm", "after.asm", status=4)
        assert cases["acceptance"].tag == "failure"
    cases, results = reports.run("check", "bad.asm", "after.asm", status=4)
    assert region(results[0]) == ("bad.asm", {"startLine": 2})


def test_an_error_is_in_both_reports(reports):
    (reports.folder / "broken.asm").write_text("ld [0]\nnonsense <&\">\n")
    cases, results = reports.run("check", "broken.asm", "after.asm", status=2)
    assert cases["error"].tag == "error"
    assert region(results[0]) == ("broken.asm", {"startLine": 2})
    for option in ("--junit", "--sarif"):
        done = run("check", "before.asm", "before.asm", option, "-", cwd=reports.folder)
        assert done.status == 2 and "expected a file" in done.err
        done = run("check", "before.asm", "before.asm", option, "no/f", cwd=reports.folder)
        assert done.status == 2 and "no/f" in done.err and "verdict   pass" in done.out
        done = run("check", "before.asm", "after.asm", option, "no/f", cwd=reports.folder)
        assert done.status == 2 and "no/f" in done.err and "verdict   different" in done.out


def test_no_report_of_an_earlier_run_remains(reports):
    """An old report is removed after wrong usage and after a missing input, even if the report is a link or its name follows '='."""
    folder = reports.folder
    same, other = ("check", "before.asm", "before.asm"), ("check", "before.asm", "after.asm")
    for option in ("--junit", "--sarif", "--html"):
        for wrong in ((*other, "--timeout", "abc"), (*other, "third.asm"), ("check", "before.asm", "missing.asm", "--oracle", "none")):
            assert run(*same, option, "old", cwd=folder).status == 0 and (folder / "old").exists()
            assert run(*wrong, option, "old", cwd=folder).status == 2
            assert not (folder / "old").exists()
        assert run(*same, option, "real", cwd=folder).status == 0
        (folder / "link").symlink_to("real")
        assert run(*other, option + "=link", "--timeout", "x", cwd=folder).status == 2
        assert not (folder / "real").exists()
        (folder / "link").unlink()
        # A file that is not one of our reports stays until a report replaces it.
        (folder / "mine").write_text("mine")
        assert run(*other, option, "mine", "--timeout", "x", cwd=folder).status == 2
        assert (folder / "mine").read_text() == "mine"


def test_every_result_has_a_location(reports):
    """Results without an instruction have a location, too: lost cached calls, a limit, a command, standard input."""
    _, results = reports.run("check", "before.asm", "after.asm", status=1)
    lost = [one for one in results if one["ruleId"] == "cache"]
    assert lost and region(lost[0]) == ("after.asm", None)
    _, results = reports.run("check", "--before-cmd", "cat before.asm", "--after-cmd", "cat after.asm", status=1)
    assert {region(one)[0] for one in results} == {"secequiv"}
    _, results = reports.run("check", "--before-cmd", "cat before.asm", "--after-cmd", "exit 3", status=5)
    assert region(results[0])[0] == "secequiv"


def test_a_report_never_replaces_another_file(reports):
    folder = reports.folder
    kept = {name: (folder / name).read_bytes() for name in ("before.asm", "after.asm")}
    (folder / "hard").hardlink_to(folder / "after.asm")
    for args in (("check", "before.asm", "after.asm", "--junit", "before.asm"), ("check", "before.asm", "after.asm", "--html", "./after.asm"),
                 ("check", "before.asm", "hard", "--sarif", "after.asm"), ("prove", "before.asm,after.asm", "after.asm", "--sarif", "before.asm"),
                 ("check", "before.asm", "before.asm", "--junit", "x", "--sarif", "./x"),
                 ("check", "before.asm", "before.asm", "--junit", "x", "--listing", "x")):
        done = run(*args, cwd=folder)
        assert done.status == 2 and ("is also an input; write to another file" in done.err or "is named twice; write each output to its own file" in done.err), done
        assert {name: (folder / name).read_bytes() for name in kept} == kept and not (folder / "x").exists()


def test_diff_reports_a_rejected_program(reports):
    (reports.folder / "bad.asm").write_text("ld [0]\nmod #3\nret a\n")
    cases, _ = reports.run("diff", "bad.asm", "after.asm", status=4)
    assert cases["acceptance"].tag == "failure"


def test_lint_and_prove_rule_write_reports(reports):
    policy = POLICIES / "seed" / "nested.json"
    done = run("lint", str(policy), "--json")
    reports.run("lint", str(policy), status=done.status)
    (reports.folder / "r.rule").write_text(
        "rule bit-test\n  live: X, M\n  before:\n    and #$m\n    jeq #$m, yes, no\n"
        "  after:\n    jset #$m, yes, no\n"
    )
    cases, results = reports.run("prove-rule", "r.rule", status=1)
    assert "before goes to yes, after goes to no" in cases["rewrite bit-test"].text
    assert region(results[0]) == ("r.rule", {"startLine": 1})


def test_fuzz_findings_are_results(reports):
    swap = r"sed 's/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /'"
    args = ("fuzz", "--optimizer", swap, "--form", "ddd", "--stop-at-first", "--trials", "200")
    cases, results = reports.run(*args, "--no-scaling", "--save", "found", status=1)
    (found,) = [one for one in results if one["ruleId"] == "finding"]
    assert found["message"]["text"].startswith("different")
    assert region(found)[0].startswith("found/different-")
    args = ("fuzz", "before.asm", "after.asm", "--trials", "100")
    _, results = reports.run(*args, status=1)
    assert region(results[0])[0] == "after.asm"


def test_text_is_safe_in_xml(reports):
    name = "x\x01<&\">.asm"
    (reports.folder / name).write_text(AFTER)
    cases, _ = reports.run("prove", "before.asm", name, status=1)
    assert "x\\x01<&\">.asm" in cases["proof"].text


def test_every_report_begins_with_the_direction(reports):
    (reports.folder / "looser.asm").write_text("ld [0]\njeq #39, y, n\ny: ret #0\nn: ret #0x7fff0000\n")
    summary = "LOOSER: "
    for command in ("check", "prove", "diff"):
        junit, (result, *_) = reports.run(command, "after.asm", "looser.asm", status=1)
        (suite,) = ElementTree.parse(reports.junit_file).getroot()
        direction = next(one.get("value") for one in suite.iter("property") if one.get("name") == "direction")
        assert direction.startswith(summary + "default action ERRNO(1 EPERM) -> ALLOW (every call without a rule, ")
        done = run(command, "after.asm", "looser.asm", cwd=reports.folder)
        assert done.out.splitlines()[0] == direction
        document = json.loads(run(command, "after.asm", "looser.asm", "--json", cwd=reports.folder).out)
        assert document["direction"]["summary"] == direction
        assert reports.markdown_file.read_text().splitlines()[3].startswith("**LOOSER: ")
        if command != "diff":
            assert result["message"]["text"].startswith(summary)
            assert any(body.get("message", "").startswith(summary) for body in junit.values())


def test_the_shown_input_is_the_one_that_loosens_the_filter_most(reports):
    """If one call is newly allowed and another is stricter, the report shows the newly allowed one."""
    (reports.folder / "a.asm").write_text("ld [0]\njeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    (reports.folder / "b.asm").write_text("ld [0]\njeq #319, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    for command in ("check", "prove"):
        document = json.loads(run(command, "a.asm", "b.asm", "--json", cwd=reports.folder).out)
        assert document["witness"]["data"]["nr"] == 319 and document["witness"]["data"]["arch"] == "0xc000003e"
        assert document["direction"]["summary"] == \
                "LOOSER: memfd_create newly allowed (on every architecture, by number: on i386, 319 is epoll_pwait); stricter: read"
