"""Tests `secequiv bisect`: the first version of a tool that has a finding, and what the report states about every version."""

import json
import shlex
import subprocess

import pytest
from cli_tool import ROOT, fits, report, run
from test_cli_fuzz import replay

RIGHT = "exec cat"
SWAP = r"exec sed 's/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /'"  # swaps the targets of every JSET
FAST = ["--trials", "30", "--seed", "7", "--no-sandbox"]


@pytest.fixture
def history(tmp_path):
    """Writes the versions of an optimizer, oldest first, and a file with their names. Each version is a script, or None if it is missing."""
    def make(*scripts):
        for number, script in enumerate(scripts):
            path = tmp_path / ("opt-v%d" % number)
            path.unlink(missing_ok=True)
            if script is not None:
                path.write_text(script + "\n")
        (tmp_path / "versions").write_text("# oldest first\n\n" + "".join("v%d\n" % number for number in range(len(scripts))))
        tool = shlex.quote(str(tmp_path)) + "/opt-{version}"
        return ["--optimizer", "test -f %s || exit 127; . %s" % (tool, tool), "--form", "ddd", "--versions", tmp_path / "versions"]
    return make


def states(document):
    return {one["version"]: one["state"] for one in document["versions"]}


def test_the_first_version_with_a_finding_is_found_and_its_finding_stored(history, tmp_path):
    found = tmp_path / "found"
    document, done = report("bisect", *history(RIGHT, RIGHT, RIGHT, RIGHT, SWAP, SWAP, SWAP), *FAST, "--save", found)
    assert (done.status, document["verdict"], document["first"], document["last_pass"]) == (1, "different", "v4", "v3")
    assert states(document) == {"v0": "pass", "v1": "not tried", "v2": "not tried", "v3": "pass", "v4": "finding", "v5": "not tried", "v6": "finding"}
    assert [one.get("same_finding") for one in document["versions"]] == [False, None, None, False, True, None, True] and not document["notes"]
    finding = document["found"]["findings"][0]
    assert finding["kind"] == "different" and "opt-v4" in open(finding["file"]).read()
    certificate = document["certificate"]
    assert certificate["written"] and certificate["path"] == finding["file"].replace(".asm", ".certificate")
    (tmp_path / "before.bpf").write_bytes(run("asm", finding["file"], raw=True).out)  # v3 returns its input
    checked = subprocess.run([ROOT / "scripts/check_certificate", certificate["path"], tmp_path / "before.bpf", tmp_path / "before.bpf"])
    assert checked.returncode == 0
    assert replay(finding).status == 1
    (tmp_path / "opt-v4").write_text(RIGHT)
    assert replay(finding).status == 0


def test_a_certificate_that_cannot_be_made_is_reported(history, tmp_path):
    # v0 is right for everything, but its second build fails.
    build = "echo {version} >> %s; test $(grep -c v0 %s) -lt 2 -o {version} = v1" % (tmp_path / "built", tmp_path / "built")
    target = [*history(RIGHT, SWAP), *FAST, "--save", tmp_path / "found", "--build", build]
    document, done = report("bisect", *target)
    assert (done.status, document["last_pass"]) == (1, "v0")
    assert not document["certificate"]["written"] and "v0: the build failed" in document["certificate"]["reason"]
    done = run("bisect", *history(RIGHT, SWAP), *FAST, "--save", tmp_path / "other")
    assert "other/different-" in done.out and ".certificate/walk.cert (" in done.out and "certificate" not in report("bisect", *history(RIGHT, SWAP), *FAST)[0]


def test_versions_that_cannot_be_started_or_built_are_skipped(history, tmp_path):
    target = history(RIGHT, RIGHT, None, None, SWAP)
    document, done = report("bisect", *target, *FAST)
    assert done.status == 1 and states(document) == {"v0": "pass", "v1": "pass", "v2": "skipped", "v3": "skipped", "v4": "finding"}
    assert document["notes"] == ["v2, v3: skipped, so the first version with a finding may be among these"]
    assert "127" in document["versions"][2]["reason"]
    build = "echo no compiler for {version} >&2; test {version} = v0 -o {version} = v4"
    document, done = report("bisect", *target, *FAST, "--build", build)
    assert done.status == 1 and states(document)["v1"] == "skipped" and "no compiler for v1" in document["versions"][1]["reason"]
    done = run("bisect", *target, *FAST)
    assert "v3  skipped    it exited with status 127" in done.out
    assert done.out.rstrip().splitlines()[-1].startswith("verdict: different (v4 is the first version with a finding, v1 the last without: ")


def test_without_a_finding_the_newest_version_decides(history):
    document, done = report("bisect", *history(RIGHT, RIGHT, RIGHT), *FAST)
    assert (done.status, document["verdict"]) == (0, "pass") and "found" not in document
    assert run("bisect", *history(RIGHT, RIGHT), *FAST, "--quiet").out == ""
    shown = run("bisect", *history(RIGHT, SWAP), *FAST, "--quiet").out.splitlines()
    assert len(shown) == 2 and shown[0].startswith("LOOSER: ") and shown[1].startswith("verdict: different"), shown
    document, done = report("bisect", *history(RIGHT, RIGHT, None, None), *FAST)
    assert (done.status, document["verdict"]) == (3, "unknown") and states(document)["v3"] == "skipped"


def test_a_fixed_bug_is_noted(history):
    document, done = report("bisect", *history(SWAP, SWAP, RIGHT), *FAST)
    assert (done.status, document["first"]) == (1, "v0")
    assert document["notes"] == ["v2: newer, but without a finding: the history is not monotone"]


@pytest.mark.parametrize("kind", ["compiler", "evaluator"])
def test_compilers_and_evaluators_can_be_bisected(kind):
    command = "case {version} in 3|4) echo broken >&2; exit 1;; *) exit 77;; esac"
    document, done = report("bisect", "--" + kind, command + " # {program}" * (kind == "evaluator"), "--versions", "1..4", *FAST)
    assert (done.status, document.get("verdict"), document.get("first"), document["kind"]) == (5, "crashed", "3", kind), done
    assert [one["state"] for one in document["versions"]] == ["skipped", "skipped", "finding", "finding"]
    assert "every request is unsupported" in document["versions"][1]["reason"]


@pytest.mark.parametrize("args, text", [
    (["--optimizer", "cat", "--versions", "1..3"], "expected {version}"), (["--versions", "1..3"], "expected --optimizer, --compiler or --evaluator"),
    (["--optimizer", "cat {version}"], "the argument '--versions' is required"), (["--optimizer", "cat {version}", "--versions", "3..1"], "expected a file, or a range"),
    (["--optimizer", "cat {version}", "--versions", "nowhere"], "nowhere"),
    (["--optimizer", "a {version}", "--compiler", "b {version}", "--versions", "1..2"], "expected only one of"),
])
def test_wrong_usage_is_an_error(args, text):
    done = run("bisect", *args)
    assert done.status == 2 and text in done.err and done.out == "", done


def test_a_repeated_version_is_an_error(tmp_path):
    (tmp_path / "versions").write_text("a\nb\na\n")
    done = run("bisect", "--optimizer", "cat {version}", "--versions", tmp_path / "versions")
    assert done.status == 2 and "versions:3: expected each version once, found 'a' again" in done.err, done


def test_the_schema_refuses_inconsistent_reports():
    good = {"schema": "secequiv.bisect/1", "verdict": "pass", "reason": "x", "kind": "optimizer", "target": "a {version}",
            "versions": [{"version": "1", "state": "pass", "reason": "x"}], "notes": []}
    fits(good)
    for wrong in ({"verdict": "different"}, {"first": "1"}, {"last_pass": "1"}, {"versions": []}, {"versions": [{"version": "1", "state": "good"}]}):
        with pytest.raises(AssertionError):
            fits({**good, **wrong})
    assert json.loads(run("--print-schema", "bisect").out)["title"] == "secequiv bisect --json"


def test_a_file_of_a_folder_that_cannot_be_read_is_an_error(history, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "good.asm").write_text("ret #0\n")
    (folder / "bad.asm").write_text("nonsense\n")
    done = run("bisect", *history(RIGHT, SWAP), *FAST, "--programs", folder)
    assert done.status == 2 and "bad.asm" in done.err, done
