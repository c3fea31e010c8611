"""Runs the GitHub Action (action.yml) as a runner does, with a wheel that starts this build's command line, and checks its declarations."""
# Annex: packaging

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml
from runner import ACTION, OWN, ROOT, Runner

sys.path.insert(0, str(ROOT / "cli" / "tests"))
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "lib")]
from as_module import load  # noqa: E402
from cli_tool import binary  # noqa: E402
from doc_blocks import blocks  # noqa: E402

SCRIPT = (ROOT / "ci/action/run").read_text()
OCI = ROOT / "corpus/policies/oci"
ALLOW, KILL = "ret #0x7fff0000\n", "ret #0x80000000\n"
VERSION = re.search(r"project\(secequiv VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
TUTORIALS = ("what-changed-in-this-profile", "fuzz-my-optimizer-in-ci")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel whose command starts the command line of this build."""
    path = tmp_path_factory.mktemp("a wheel") / "secequiv-0.1.0-py3-none-any.whl"
    files = {"secequiv-0.1.0.data/scripts/secequiv": '#!/bin/sh\nexec "%s" "$@"\n' % binary(),
             "secequiv-0.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: secequiv\nVersion: 0.1.0\n",
             "secequiv-0.1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "secequiv-0.1.0.dist-info/RECORD": "".join("%s,,\n" % name for name in files)}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFREG | 0o755) << 16  # pip makes only regular files executable
            archive.writestr(info, text)
    return path


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return tmp_path_factory.mktemp("machine")


@pytest.fixture
def act(machine, wheel, tmp_path):
    """act(INPUT=VALUE...): runs the action in tmp_path; returns the runner, the exit status and the outputs. All tests share one installation."""
    (tmp_path / "allow.asm").write_text(ALLOW)
    (tmp_path / "kill.asm").write_text(KILL)
    shutil.copy(OCI / "docker-default.json", tmp_path / "docker.json")

    def run(**inputs):
        runner = Runner(machine, tmp_path, wheel)
        return (runner, *runner.action({name.replace("_", "-"): value for name, value in inputs.items()}))
    return run


def answer(result):
    _, status, outputs = result
    return status, outputs["verdict"], outputs["status"]


def test_equivalent_filters_pass(act):
    runner, status, outputs = act(before="allow.asm", after="allow.asm")
    assert (status, outputs["verdict"], outputs["status"], outputs["sarif"]) == (0, "equivalent", "0", "")
    assert "### secequiv prove: equivalent" in runner.summary and runner.summary.rstrip() == Path(outputs["markdown"]).read_text().rstrip()
    assert runner.uploaded == []


def test_different_filters_fail_and_everything_that_differs_is_listed(act, tmp_path):
    runner, status, outputs = act(before="kill.asm", after="allow.asm", sarif="out.sarif")
    assert (status, outputs["verdict"], outputs["status"], outputs["sarif"]) == (1, "different", "1", "out.sarif")
    text = Path(outputs["markdown"]).read_text()
    assert "### secequiv prove: different" in text and "### secequiv diff: different" in text and "LOOSER" in text
    assert runner.uploaded == [(tmp_path / "out.sarif").read_bytes()]
    assert [result["level"] for result in json.loads(runner.uploaded[0])["runs"][0]["results"]].count("error") == 1


@pytest.mark.parametrize("before, after, status, verdict", [("allow.asm", "kill.asm", 0, "pass"), ("kill.asm", "allow.asm", 1, "different")])
def test_refines_accepts_only_stricter_filters(act, before, after, status, verdict):
    runner, *_ = result = act(before=before, after=after, refines="true")
    assert answer(result)[:2] == (status, verdict)
    assert "### secequiv diff: different" in runner.summary, "everything that differs is listed, too"


def test_a_baseline_bounds_the_filter_or_the_policy(act):
    assert answer(act(after="docker.json", baseline="kill.asm")) == (1, "different", "1")
    assert answer(act(after="docker.json", baseline="allow.asm")) == (0, "pass", "0")
    runner, status, outputs = act(policy="docker.json", baseline="kill.asm", sarif="both.sarif")
    assert (status, outputs["verdict"]) == (1, "different")
    assert "### secequiv prove: different" in runner.summary and "### secequiv lint: pass" in runner.summary
    assert answer(act(after="kill.asm", policy="docker.json", baseline="kill.asm")) == (0, "pass", "0")
    document = json.loads(runner.uploaded[0])
    assert len(document["runs"]) == 1 and len(document["runs"][0]["invocations"]) == 2


def test_a_policy_with_a_redundant_rule_fails(act, tmp_path):
    (tmp_path / "twice.json").write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": 2 * [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]}))
    assert answer(act(policy="twice.json")) == (1, "fail", "1")
    both = dict(policy="twice.json", before="kill.asm", after="allow.asm")
    assert answer(act(**both, fail_on="fail")) == (1, "different", "1")
    assert answer(act(**both, fail_on="unknown")) == (0, "different", "1")


def test_a_command_without_a_report_does_not_show_the_report_of_another(act):
    runner, status, outputs = act(policy="docker.json", baseline="allow.asm", options="--require-whole")  # lint has no such option
    assert (status, outputs["verdict"]) == (2, "error")
    assert runner.summary.count("### secequiv prove: ") == 1 and "### secequiv lint: error" in runner.summary


def test_an_agreed_difference_passes(act, tmp_path):
    subprocess.run([binary(), "diff", "kill.asm", "allow.asm", "--write-expect", "agreed.json"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert answer(act(before="kill.asm", after="allow.asm", expect="agreed.json")) == (0, "pass", "0")
    assert answer(act(before="kill.asm", after="docker.json", expect="agreed.json"))[0] == 1
    assert answer(act(before="kill.asm", after="allow.asm", expect="agreed.json", refines="true")) == (2, "error", "2")


def test_unknown_fails_unless_fail_on_leaves_it_out(act):
    shutil.copy(OCI / "docker-default-0.1.0.json", act(policy="docker.json")[0].workspace / "old.json")
    unknown = dict(before="old.json", after="docker.json", refines="true", options="--require-whole\n\n  --cap=DOCKER\n")
    assert answer(act(**unknown)) == (1, "unknown", "3")
    assert answer(act(**unknown, fail_on="different rejected")) == (0, "unknown", "3")
    assert answer(act(**unknown, fail_on="none")) == (0, "unknown", "3")


def test_same_is_passed_on(act, tmp_path):
    (tmp_path / "data.asm").write_text("ret #0x7fff0001\n")  # ALLOW ignores the low bits
    assert answer(act(before="allow.asm", after="data.asm"))[1] == "different"
    assert answer(act(before="allow.asm", after="data.asm", same="behaviour"))[1] == "equivalent"


def test_a_rejected_program_fails(act, tmp_path):
    (tmp_path / "endless.asm").write_text("ld [0]\n")
    assert answer(act(before="allow.asm", after="endless.asm")) == (1, "rejected", "4")


@pytest.mark.parametrize("inputs, message", [
    (dict(before="missing.json", after="allow.asm"), "missing.json: cannot open"),
    (dict(before="allow.asm"), "before: expected"),
    (dict(after="allow.asm"), "after: expected"),
    (dict(baseline="allow.asm"), "baseline: expected"),
    (dict(before="allow.asm", after="allow.asm", refines="yes"), "refines: expected"),
    (dict(before="allow.asm", after="allow.asm", same="equal"), "--same"),
    (dict(before="allow.asm", after="allow.asm", options="--bogus"), "--bogus"),
    (dict(before="allow.asm", after="allow.asm", fail_on=""), "fail-on: expected"),
    (dict(before="allow.asm", after="allow.asm", fail_on="different unknwon"), "fail-on: expected"),
    (dict(before="allow.asm\nafter", after="allow.asm"), "before: expected one line"),
    (dict(before="allow.asm", after="allow.asm", sarif="no/such/folder.sarif"), "no/such/folder.sarif"),
    (dict(package="missing.whl"), "package: "),
])
@pytest.mark.parametrize("fail_on", [{}, {"fail_on": "none"}])
def test_errors_fail_whatever_fail_on_lists(act, inputs, message, fail_on):
    runner, status, outputs = act(**{**fail_on, **inputs})
    assert (status, outputs["verdict"], outputs["status"]) == (2, "error", "2")
    assert message in runner.log and re.sub(r"\\", "", runner.summary).count(message) >= 1
    assert runner.uploaded == []


NASTY = ["with space.asm", "quote'd.asm", 'double"quoted.asm', "$(touch pwned).asm", "`touch pwned`;touch pwned.asm", "-r.asm", "${{ inputs.after }}.asm",
         "a&&touch pwned|x.asm", "verdict=pass.asm", "ü*.asm"]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_never_shell_code(act, tmp_path, name):
    (tmp_path / name).write_text(KILL)
    present = sorted(os.listdir(tmp_path))
    assert answer(act(before=name, after="allow.asm")) == (1, "different", "1")
    assert answer(act(before=name, after=name)) == (0, "equivalent", "0")
    (tmp_path / name).unlink()
    assert answer(act(before="allow.asm", after=name)) == (2, "error", "2")
    assert sorted([*os.listdir(tmp_path), name]) == present


def test_lines_of_filters_are_not_commands_of_the_runner(act, tmp_path):
    (tmp_path / "bad.json").write_text('{"x\\n::add-mask::a\\n": 1}\n::error::planted\n')
    (tmp_path / "bad.asm").write_text("\n::error::planted\n::set-output name=verdict::pass\n")
    for name in ("bad.json", "bad.asm"):
        runner, status, outputs = act(before=name, after="allow.asm")
        assert (status, outputs["verdict"]) == (2, "error")
        lines = runner.log.splitlines()
        token = re.fullmatch(r"::stop-commands::(\w{32})", lines[0])[1]
        assert lines[-1] == "::%s::" % token and sum(token in line for line in lines) == 2


def test_later_steps_find_the_command(act, tmp_path):
    runner, status, outputs = act()
    assert (status, outputs["verdict"], runner.summary) == (0, "", "")
    assert runner.shell("secequiv --version > version", {})[0] == 0
    assert (tmp_path / "version").read_text().startswith("secequiv %s\n" % VERSION)


@pytest.mark.parametrize("body", ["""echo '{"verdict": "pass"}'; exit 1""", """echo '{"verdict": "good"}'""", "echo '[]'", "kill -SEGV $$", "exit 1", "echo '{}'; exit 5"])
def test_any_other_answer_of_the_command_is_an_error(tmp_path, body):
    (tmp_path / "it").write_text("#!/bin/bash\n%s\n" % body)
    (tmp_path / "it").chmod(0o755)
    (tmp_path / "report.md").write_text("of another command")
    check = load(ROOT / "ci/action/run").run(tmp_path / "it", ["prove", "--", "a", "b"], tmp_path)
    assert check.verdict == "error" and check.markdown.startswith("### secequiv prove: error")


def test_long_reports_are_cut_for_comments():
    action = load(ROOT / "ci/action/run")
    assert action.shortened("short\n") == "short\n"
    line = "a line of a report\n"
    for text, ending in (("# title\n" + line * 5000, "a line of a report\n\nThis report was cut"), ("# title\n````text\n" + line * 5000 + "````\n", "a line of a report\n````\n\nThis")):
        cut = action.shortened(text)
        assert len(cut) < 65_536 and ending in cut and cut.startswith(text[:1000])


def test_the_action_declares_the_inputs_that_its_script_reads():
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    declared = set(ACTION["inputs"])
    assert declared == set(re.findall(r'inputs\["([a-z-]+)"\]', SCRIPT))
    (step,) = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert step["env"] == {"INPUT_" + name.upper().replace("-", "_"): "${{ inputs.%s }}" % name for name in declared}
    assert set(ACTION["outputs"]) == set(re.findall(r'put\("GITHUB_OUTPUT", "([a-z-]+)"', SCRIPT))
    for name, field in ACTION["outputs"].items():
        assert field["value"] == "${{ steps.run.outputs.%s }}" % name
    for field in [*ACTION["inputs"].values(), *ACTION["outputs"].values()]:
        assert field["description"]


def test_the_action_has_the_form_that_runners_read():
    assert ACTION["runs"]["using"] == "composite"
    text = {"type": "string", "minLength": 1}
    step = {"type": "object", "additionalProperties": False, "oneOf": [{"required": ["run", "shell"]}, {"required": ["uses"]}],
            "properties": {"id": text, "if": text, "name": text, "shell": {"const": "bash"}, "env": {"type": "object"}, "with": {"type": "object"},
                           "run": {"type": "string", "not": {"pattern": r"\$\{\{"}},  # an expression in `run` would become shell code
                           "uses": {"type": "string", "pattern": r"^[\w-]+/[\w./-]+@v\d"}}}
    jsonschema.Draft202012Validator({"type": "array", "items": step}).validate(ACTION["runs"]["steps"])
    assert os.access(ROOT / "ci/action/run", os.X_OK)


def workflow(tutorial):
    """Returns the steps of the workflow of a tutorial."""
    found = [yaml.safe_load("\n".join(block.lines)) for block in blocks((ROOT / "docs" / (tutorial + ".md")).read_text()) if block.language == "yaml"]
    (job,) = [job for each in found if isinstance(each, dict) for job in each["jobs"].values()]
    return job["steps"]


@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_workflows_of_tutorials_use_this_version_of_the_action(tutorial):
    versions = [OWN.fullmatch(step["uses"])[1] for step in workflow(tutorial) if "/secequiv@" in step.get("uses", "")]
    assert versions == [VERSION]


@pytest.mark.parametrize("looser", [False, True])
def test_the_workflow_for_profiles_runs_on_a_fresh_machine(tmp_path, wheel, looser):
    """The pull request's commit is merged into the base, as actions/checkout does it."""
    work = tmp_path / "work"
    (work / "profiles").mkdir(parents=True)
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    for name in ("docker-default.json", "docker-default-0.1.0.json")[::1 if looser else -1]:
        shutil.copy(OCI / name, work / "profiles/seccomp.json")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", name], check=True)
    runner = Runner(tmp_path, work, wheel)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text('#!/bin/sh\necho "$@" >"%s/comment"; cat "$5" >>"%s/comment"\n' % (tmp_path, tmp_path))
    (tmp_path / "bin/gh").chmod(0o755)
    runner.path.insert(0, str(tmp_path / "bin"))
    values = {"github.token": "secret", "github.event.number": "7"}
    status = runner.steps(workflow("what-changed-in-this-profile"), values)
    assert status == (1 if looser else 0), runner.log
    assert ("LOOSER: socket" if looser else "only stricter: socket") in runner.summary
    assert "--body-file" in (tmp_path / "comment").read_text() and "### secequiv prove" in (tmp_path / "comment").read_text()
    assert len(runner.uploaded) == 1


def test_the_workflow_for_optimizers_runs_on_a_fresh_machine(tmp_path, wheel):
    work = tmp_path / "work"
    work.mkdir()
    (work / "Makefile").write_text("mytool:\n\tprintf '#!/bin/sh\\nexec cat\\n' >mytool; chmod +x mytool\n")
    steps = workflow("fuzz-my-optimizer-in-ci")
    for step in steps:
        if "run" in step:
            step["run"] = step["run"].replace("--duration 60", "--trials 20")
    runner = Runner(tmp_path, work, wheel)
    assert runner.steps(steps, {}) == 0, runner.log
    assert "### secequiv fuzz: pass" in runner.summary and len(runner.uploaded) == 1
