"""Tests the npm package: its answers are those of the command line. Needs the module that scripts/play builds, and node."""
# Annex: wasm

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from wheels.compare import pairs, without_times  # noqa: E402

MODULE = Path(os.environ.get("SECEQUIV_WASM") or ROOT / "build/wasm/bin/secequiv.wasm")
COMMAND = Path(os.environ.get("SECEQUIV_BIN") or ROOT / "build/release/bin") / "secequiv"
# Questions, with the options of the module and those of the command. Beyond the limits of diagrams, the command has engines that the module lacks.
QUESTIONS = (("prove", {}, ["prove"]), ("prove", {"refines": True, "same": "behaviour"}, ["prove", "--refines", "--same", "behaviour"]), ("diff", {}, ["diff"]), ("cost", {}, ["cost"]))


@pytest.fixture(scope="module")
def node():
    missing = [what for what, there in (("node", shutil.which("node")), ("module (scripts/play --build-only)", MODULE.exists())) if not there]
    if missing:
        pytest.skip("no %s" % missing[0])
    return lambda file, **environment: subprocess.run(
        ["node", "--test", str(ROOT / "api/npm/tests" / file)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env={**os.environ, "SECEQUIV_WASM": str(MODULE), **environment})


def test_the_package(node):
    done = node("module.test.js")
    assert done.returncode == 0, done.stdout


def test_answers_are_those_of_the_command(node, tmp_path):
    cases = []
    for before, after in pairs():
        if not after.exists():
            continue
        files = [str(before.relative_to(ROOT)), str(after.relative_to(ROOT))]
        for question, options, words in QUESTIONS:
            if question == "cost" and before.suffix != ".bpf":
                continue  # the command optimizes policies first
            if question == "diff" and (before.suffix == ".json" or before.suffix == ".asm"):
                words = ["diff", "--rules"]  # the module always names rules and lines
            done = subprocess.run([str(COMMAND), *words, "--json", *files], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
            cases.append({"question": question, "files": files, "options": options, "document": without_times(json.loads(done.stdout))})
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = node("answers.test.js", SECEQUIV_CASES=str(tmp_path / "cases.json"))
    assert done.returncode == 0, done.stdout[-20000:]
    assert len(cases) > 100


def test_the_package_has_the_version_of_the_project():
    package = json.loads((ROOT / "api/npm/package.json").read_text())
    assert "project(secequiv VERSION %s " % package["version"] in (ROOT / "CMakeLists.txt").read_text()
