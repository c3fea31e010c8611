"""Tests that apt is used with settings, lists and caches of our own, and how its answers are read. No test downloads anything."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from kernel import apt, boards, image

INDEXES = """\
http://mirror.example/debian/|bookworm|main|$(SIGNED_BY)|Debian
http://mirror.example/debian/|bookworm|contrib|$(SIGNED_BY)|Debian
http://mirror.example/debian/|bookworm-updates|main|$(SIGNED_BY)|Debian
http://mirror.example/security/|bookworm-security|main|$(SIGNED_BY)|Debian
http://other.example/|nodistro|main||. nodistro
"""
HOST = """\
APT::Architecture "amd64";
APT::Update::Post-Invoke:: "touch %s";
DPkg::Post-Invoke:: "touch %s";
Dir::Cache "var/cache/apt";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::Retries "3";
"""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Makes fake commands that print given texts; returns a function that does so."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def fake(name, text="", status=0, error=""):
        (folder / name).write_text("#!%s\nimport sys\nopen(%r, 'a').write(' '.join(['%s', *sys.argv[1:]]) + '\\n')\nprint(%r, end='')\nsys.stderr.write(%r)\nsys.exit(%d)\n"
                                   % (sys.executable, str(tmp_path / "calls"), name, text, error, status))
        (folder / name).chmod(0o755)

    return fake


def test_the_sources_are_the_hosts_debian_archives_and_backports(commands):
    commands("apt-get", INDEXES)
    lines = [re.sub(r"\[signed-by=[^]]*\] ", "", line) for line in apt.host_sources()]
    assert lines == ["deb http://mirror.example/debian/ bookworm main", "deb http://mirror.example/debian/ bookworm-backports main",
                     "deb http://mirror.example/debian/ bookworm-updates main", "deb http://mirror.example/security/ bookworm-security main"]


def test_a_host_without_debian_archives_is_not_available(commands):
    commands("apt-get", INDEXES.splitlines()[-1] + "\n")
    with pytest.raises(boards.NotAvailable, match="no Debian archive"):
        apt.host_sources()


def test_a_host_without_apt_is_not_available(commands):
    with pytest.raises(boards.NotAvailable, match="apt-get is not installed"):
        apt.host_sources()


def test_the_settings_keep_downloads_and_drop_hooks(commands, tmp_path):
    commands("apt-config", HOST % (tmp_path / "touched", tmp_path / "touched"))
    text = apt.Archive(tmp_path / "own", "s390x").settings()
    assert 'Acquire::http::Proxy "http://proxy.example:3128";' in text and 'Acquire::Retries "3";' in text
    assert "Invoke" not in text and "amd64" not in text and "var/cache/apt" not in text


@pytest.mark.skipif(shutil.which("apt-config") is None, reason="no apt")
def test_apt_itself_places_everything_in_our_folder(tmp_path):
    archive = apt.Archive(tmp_path, "s390x")
    (tmp_path / "apt.conf").write_text(archive.settings())

    def shown(*names):
        return subprocess.run(["apt-config", *names], env=archive.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    names = ("Dir::State", "Dir::State::lists", "Dir::State::status", "Dir::Cache", "Dir::Cache::archives", "Dir::Cache::pkgcache", "Dir::Log", "Dir::Etc::sourcelist")
    for name in names:
        line = shown("shell", "PLACE", name + "/f")
        assert line.startswith("PLACE='%s/" % tmp_path), (name, line)
    assert re.search(r'^APT::Architecture "s390x";$', shown("dump"), re.M)
    assert "Invoke" not in shown("dump")
    assert shown("dump").count("APT::Architectures::") == 1


def test_lists_that_cannot_be_fetched_are_left_out_if_there_are_others(commands, tmp_path):
    archive = apt.Archive(tmp_path / "own", "s390x")
    commands("apt-config", "")
    commands("apt-get", INDEXES)
    archive.update()
    assert (tmp_path / "calls").read_text().splitlines()[-1] == "apt-get -q update"
    assert oct((archive.folder / "apt.conf").stat().st_mode & 0o777) == "0o600"
    assert not archive.ready()
    run = apt.run

    def failing(command, *rest):
        if command[-1] == "update":
            raise boards.NotAvailable("apt-get -q failed: no network")
        return run(command, *rest)

    apt_run, apt.run = apt.run, failing
    try:
        with pytest.raises(boards.NotAvailable, match="no network"):
            archive.update()
        (archive.folder / "state/lists/mirror_main_binary-s390x_Packages").touch()
        archive.update()
    finally:
        apt.run = apt_run
    assert archive.ready()


POLICY = "linux-image-s390x:\n  Installed: (none)\n  Candidate: 6.1.2-1\n"
SHOW = "Package: linux-image-s390x\nVersion: 6.1.2-1\nDepends: other (= 1), linux-image-6.1.0-50-s390x (= 6.1.2-1)\n"


def test_the_candidate_names_the_kernel(monkeypatch, tmp_path):
    answers = {"policy": POLICY, "show": SHOW}
    monkeypatch.setattr(apt, "run", lambda command, *_: answers[command[1]])
    archive = apt.Archive(tmp_path, "s390x")
    pattern = image.package_pattern(boards.BOARDS["s390x"])
    assert archive.dependency("linux-image-s390x", pattern) == ("linux-image-6.1.0-50-s390x", "6.1.2-1")
    answers["show"] = SHOW.replace("linux-image-6", "linux-headers-6")
    with pytest.raises(boards.NotAvailable, match="depends on no kernel"):
        archive.dependency("linux-image-s390x", pattern)
    answers["policy"] = POLICY.replace("6.1.2-1", "(none)")
    with pytest.raises(boards.NotAvailable, match="no package linux-image-s390x"):
        archive.dependency("linux-image-s390x", pattern)


MADISON = """\
linux-image-6.1.0-50-s390x | 6.1.2-1 | http://mirror.example/debian bookworm/main s390x Packages
linux-image-6.1.0-50-s390x | 6.1.2-1 | http://mirror.example/debian bookworm-updates/main s390x Packages
linux-image-6.12.9+deb12-s390x | 6.12.9-1~bpo12+1 | http://mirror.example/debian bookworm-backports/main s390x Packages
linux-image-6.1.0-9-s390x | 6.1.0-1 | http://mirror.example/debian bookworm/main s390x Packages
     linux | 6.1.2-1 | http://mirror.example/debian bookworm/main Sources
"""


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="no dpkg")
def test_a_version_is_chosen_by_its_start(monkeypatch, tmp_path):
    board = boards.BOARDS["s390x"]
    names = ["linux-image-6.1.0-50-s390x", "linux-image-6.12.9+deb12-s390x", "linux-image-6.1.0-9-s390x", "linux-image-6.1.0-50-rt-s390x", "linux-image-6.12-s390x",
             "linux-image-6.1.0-50-cloud-s390x", "linux-image-6.1.0-50-s390x-dbg", "linux-image-s390x"]
    asked = []

    def run(command, *_):
        asked.append(command)
        return "\n".join(names) if command[1] == "pkgnames" else MADISON

    monkeypatch.setattr(apt, "run", run)
    archive = apt.Archive(tmp_path, "s390x")
    assert [kernel.release for kernel in image.available(archive, board, tmp_path)] == ["6.1.0-9-s390x", "6.1.0-50-s390x", "6.12.9+deb12-s390x"]
    assert sorted(asked[-1][2:]) == sorted(names[:3])
    for wanted, release in (("6.1", "6.1.0-50-s390x"), ("6.12", "6.12.9+deb12-s390x"), ("6.1.0-9", "6.1.0-9-s390x"), ("6.12.9-1~bpo12+1", "6.12.9+deb12-s390x"),
                            ("6.1.0-50-s390x", "6.1.0-50-s390x")):
        assert image.chosen(archive, board, tmp_path, wanted).release == release, wanted
    for wanted in ("6.13", "6", "6.1.0-5", ""):
        if wanted == "6":
            assert image.chosen(archive, board, tmp_path, wanted).release == "6.12.9+deb12-s390x"
            continue
        with pytest.raises(boards.NotAvailable, match="no kernel %s for s390x; there are 6.1.0-9-s390x, " % re.escape(wanted)):
            image.chosen(archive, board, tmp_path, wanted)


def test_no_file_of_the_repository_names_an_archive():
    for path in image.HERE.rglob("*"):
        if path.is_file() and "tests" not in path.parts and "__pycache__" not in path.parts:
            assert not re.search(r"https?://|debian\.org", path.read_text()), path
    assert os.path.exists(image.HERE / "apt.py")
