"""Tests comparing and replacing stored files, and the command's exit statuses. Nothing is compiled or downloaded here."""

import sys
from pathlib import Path

import pytest

import as_module
import stored
from corpus import programs, sources

SCRIPT = Path(__file__).resolve().parents[1] / "regenerate"
FILES = {"programs/gvisor/a.bpf": b"12345678", "policies/oci/b.json": b"{}\n", "programs/manifest.json": b"{}\n"}


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return as_module.load(SCRIPT)


@pytest.fixture
def corpus(tmp_path):
    stored.replace(FILES, tmp_path, programs.OWNED)
    return tmp_path


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_replace_stores_exactly_the_files(corpus):
    assert contents(corpus) == FILES
    assert stored.differences(FILES, corpus, programs.OWNED) == []


def test_replace_removes_leftovers_only_from_folders_that_it_owns(corpus):
    for name in ("programs/gvisor/old.bpf", "policies/oci/by_hand.json"):
        (corpus / name).write_bytes(b"x")
    stored.replace(FILES, corpus, programs.OWNED)
    assert contents(corpus) == {**FILES, "policies/oci/by_hand.json": b"x"}


def test_replace_that_fails_changes_nothing(corpus):
    (corpus / "policies" / "gvisor").write_text("in the way of a folder")
    before = contents(corpus)
    with pytest.raises(OSError):
        stored.replace({"programs/gvisor/a.bpf": b"new", "policies/gvisor/c.json": b"{}"}, corpus, programs.OWNED)
    assert contents(corpus) == before


def test_differences_are_named(corpus):
    (corpus / "programs/gvisor/a.bpf").write_bytes(b"12X45678")
    (corpus / "policies/oci/b.json").unlink()
    (corpus / "programs/gvisor/old.bpf").write_bytes(b"")
    assert stored.differences(FILES, corpus, programs.OWNED) == [
        "policies/oci/b.json: missing",
        "programs/gvisor/a.bpf:1: differs at byte 2 (8 bytes stored, 8 generated)",
        "programs/gvisor/old.bpf: no longer generated",
    ]


def test_check_compares_and_writes_nothing(command, corpus, monkeypatch, capsys):
    monkeypatch.setattr(programs, "generate", lambda: FILES)
    assert command.main(["--check", "--corpus", str(corpus)]) == 0
    (corpus / "policies/oci/b.json").write_bytes(b"[]\n")
    assert command.main(["--check", "--corpus", str(corpus)]) == 1
    assert "policies/oci/b.json" in capsys.readouterr().err
    assert (corpus / "policies/oci/b.json").read_bytes() == b"[]\n"
    assert command.main(["--corpus", str(corpus)]) == 0
    assert contents(corpus) == FILES


def test_a_missing_source_gives_status_2(command, corpus, monkeypatch, capsys):
    def generate():
        raise sources.Missing("no such tool")

    monkeypatch.setattr(programs, "generate", generate)
    assert command.main(["--check", "--corpus", str(corpus)]) == 2
    assert capsys.readouterr().err == "regenerate: no such tool\n"


def test_missing_tools_are_named_with_their_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sources.Missing, match="go is not installed"):
        sources.moby_profile("v0.2.3")
    monkeypatch.setenv("SECEQUIV_BIN", str(tmp_path))
    with pytest.raises(sources.Missing, match="cmake --build --preset dev"):
        sources.Libseccomp()
    monkeypatch.setattr(sources, "PODMAN_PATH", tmp_path / "seccomp.json")
    with pytest.raises(sources.Missing, match="golang-github-containers-common"):
        sources.podman_profile()


def test_a_missing_library_is_named(tmp_path):
    with pytest.raises(sources.Missing, match="no-such-library.so"):
        sources.Libseccomp(library=str(tmp_path / "no-such-library.so"))


def test_a_profile_other_than_the_pinned_one_is_refused(tmp_path, monkeypatch):
    (tmp_path / "seccomp.json").write_text("{}")
    monkeypatch.setattr(sources, "PODMAN_PATH", tmp_path / "seccomp.json")
    with pytest.raises(sources.Missing, match="is not the file of"):
        sources.podman_profile()


def test_manifest_paths_are_relative_to_the_manifest():
    program = programs.Program("programs/x/a.bpf", bytes(16), "x86_64", "here", "so")
    text = programs.manifest([program], [programs.Pair("p", "programs/x/a.bpf", "programs/x/b.bpf", "policies/p.json")])
    assert '"file": "x/a.bpf"' in text and '"instructions": 2' in text
    assert '"before": "x/a.bpf"' in text and '"policy": "../policies/p.json"' in text
