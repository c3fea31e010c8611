"""Tests the hook of pre-commit, as pre-commit runs it: its entry with the arguments and the files that the index changes."""
# Annex: bindings

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api" / "tests")]

from api_build import LIBRARY, binary  # noqa: E402

pytestmark = pytest.mark.full
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
PROFILE = """{
  "defaultAction": "SCMP_ACT_ERRNO",
  "architectures": ["SCMP_ARCH_X86_64"],
  "syscalls": [
    {"names": [%s],
     "action": "SCMP_ACT_ALLOW"}
  ]
}
"""
STRICT, LOOSE = PROFILE % '"read"', PROFILE % '"read", "write"'


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a seccomp.json").write_text(STRICT)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def hook(folder, *words, **variables):
    environment = {**os.environ, "SECEQUIV_LIBRARY": str(LIBRARY), "SECEQUIV": binary(), "PYTHONPATH": str(ROOT / "api/python/src"), **variables}
    entry = [sys.executable if word == "python" else word for word in HOOK["entry"].split()]
    done = subprocess.run([*entry, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    return done.returncode, done.stdout


def change(folder, text, name="a seccomp.json"):
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    return name


def test_pre_commit_installs_the_release_of_the_same_version():
    version = re.search(r"project\(secequiv VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert 'dependencies = ["secequiv==%s"]' % version in (ROOT / "pyproject.toml").read_text()


def test_a_stricter_profile_passes_and_a_looser_one_fails(repository):
    status, text = hook(repository, change(repository, PROFILE % '"getpid"'))
    assert status == 1 and "LOOSER: getpid newly allowed" in text
    git(repository, "commit", "-q", "-m", "second")
    assert hook(repository, change(repository, LOOSE.replace("write", "getpid")))[0] == 1
    git(repository, "commit", "-q", "-m", "third")
    status, text = hook(repository, change(repository, STRICT))
    assert status == 0 and "after is stricter" in text


def test_options_go_to_prove_and_the_worst_file_decides(repository):
    other = change(repository, STRICT, "other.seccomp.json")
    git(repository, "commit", "-q", "-m", "second")
    change(repository, LOOSE, other)
    status, text = hook(repository, "--quiet", "a seccomp.json", other)
    assert status == 1 and text.startswith("a seccomp.json:\n%s:\nLOOSER: write newly allowed\ndifferent (dd, " % other)
    assert hook(repository, "--no-such-option", other)[0] == 2


def test_new_and_renamed_files(repository):
    new = change(repository, LOOSE, "new.seccomp.json")
    assert hook(repository, new) == (0, "new.seccomp.json: new, so there is nothing to compare\n")
    git(repository, "commit", "-q", "-m", "second")
    git(repository, "mv", new, "renamed.seccomp.json")
    status, text = hook(repository, change(repository, LOOSE.replace('"write"', '"write", "getpid"'), "renamed.seccomp.json"))
    assert status == 1 and "LOOSER: getpid newly allowed" in text


def test_what_cannot_be_compared_fails(repository, tmp_path_factory):
    assert hook(repository, change(repository, "{"))[0] == 2
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.json").write_text(STRICT)
    status, text = hook(outside, "a.json", GIT_CEILING_DIRECTORIES=str(outside.parent))
    assert status == 2 and "not a git repository" in text
    git(outside, "init", "-q")
    assert hook(outside, "a.json")[0] == 0  # there is no commit yet


def test_a_committed_file_that_git_cannot_read_fails(repository):
    name = change(repository, LOOSE)
    blob = subprocess.run(["git", "rev-parse", "HEAD:./" + name], cwd=repository, capture_output=True, text=True, check=True).stdout.strip()
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert hook(repository, name)[0] == 2
