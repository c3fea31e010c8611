"""Tests scripts/release: its checks, the parts that are quick to make, and whole releases of a small tree in which fake scripts build."""
# Annex: packaging

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from as_module import load  # noqa: E402

EPOCH, LATER = 1_700_000_000, 2_000_000_000
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]




@pytest.fixture
def script():
    return load(ROOT / "scripts/release")


@pytest.fixture
def made(script, tmp_path):
    """made(PART, ROUND): makes a part of this tree in a new folder; returns the folder."""
    def make(part, number=0):
        out = tmp_path / ("made%d" % number)
        out.mkdir()
        getattr(script.Release(script.own_version(), out, EPOCH), "make_" + part)()
        return out
    return make


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_file_that_repeats_the_version_has_it(script):
    found = script.versions()
    assert {version for _, version in found} == {script.own_version()}
    wanted = {"CMakeLists.txt", "pyproject.toml", "action.yml", "api/rust/Cargo.toml", "api/rust/Cargo.lock", "api/rust/README.md", "adapters/seccompiler/Cargo.lock",
              "docs/what-changed-in-this-profile.md", "docs/fuzz-my-optimizer-in-ci.md"}
    assert wanted <= {place.partition(":")[0] for place, _ in found}
    assert 'project\\(secequiv VERSION' in (ROOT / "api/python/setup.py").read_text()  # the Python package reads it
    assert 'SECEQUIV_VERSION="${PROJECT_VERSION}"' in (ROOT / "api/CMakeLists.txt").read_text()


def test_the_command_line_has_the_version(script):
    done = subprocess.run([os.environ["SECEQUIV_BIN"] + "/secequiv", "--version"], stdout=subprocess.PIPE, text=True)
    assert done.stdout.partition("\n")[0] == "secequiv " + script.own_version()


def test_every_file_that_repeats_a_name_has_it(script):
    found = [(key, script.found(pattern, name)) for key, pattern, name in script.NAMES]
    assert all(places for _, places in found)
    assert {(key, text) for key, places in found for _, text in places} == {(key, script.names()[key]) for key, _ in found}


def test_the_changelog_has_a_section_for_this_version(script):
    assert not [problem for problem in script.problems(script.own_version(), True) if "CHANGELOG" in problem]


def test_the_source_archive_is_the_same_in_every_run(made, script):
    one, two = files(made("source")), files(made("source", 1))
    name = "secequiv-%s" % script.own_version()
    assert list(one) == [name + ".tar.gz"] and one == two
    with tarfile.open(fileobj=io.BytesIO(one[name + ".tar.gz"])) as archive:
        members = archive.getmembers()
    commit = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], stdout=subprocess.PIPE, text=True).stdout
    assert {member.mtime for member in members} == {int(commit)} and {member.name.partition("/")[0] for member in members} == {name}
    assert {member.mode for member in members if member.isfile()} == {0o644, 0o755}
    assert name + "/CMakeLists.txt" in {member.name for member in members}


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_the_go_command_accepts_the_module(made, script, tmp_path, monkeypatch):
    monkeypatch.setattr(script.Release, "module", lambda _: ROOT / "LICENSE")  # building the module takes minutes
    out = made("go")
    assert files(out) == files(made("go", 1))
    with zipfile.ZipFile(next(out.rglob("*.zip"))) as archive:  # either module
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    module = "github.com/secequiv/secequiv/api/go@v" + script.own_version()
    done = subprocess.run(["go", "mod", "download", "-modcacherw", "-json", module], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "GOPROXY": "file://%s/go" % out, "GOMODCACHE": str(tmp_path / "cache"), "GONOSUMDB": "*", "GOFLAGS": "", "GOTOOLCHAIN": "local",
                               "GOWORK": "off"})
    assert done.returncode == 0, done.stdout
    folder = Path(json.loads(done.stdout)["Dir"])
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes() and (folder / "secequivtest/secequivtest.go").exists()


def test_modules_inside_a_module_have_their_own_archives_with_built_files(tree):
    tree.write(".gitignore", "build/\n*.wasm\n")
    tree.write("api/go/inner/go.mod", "module github.com/secequiv/secequiv/api/go/inner\n")
    tree.write("api/go/inner/it.go", "package it\n\n//go:embed it.wasm\nvar it []byte\n")
    tree.commit()
    done = tree.release("0.1.0", "--only", "go", "--output", str(tree.root.parent / "one"))
    assert done.returncode == 3 and "left out: go: api/go/inner/it.wasm is not built\n" in done.stderr
    assert list((tree.root.parent / "one").rglob("*.zip")) == [tree.root.parent / "one/go/github.com/secequiv/secequiv/api/go/@v/v0.1.0.zip"]
    tree.write("api/go/inner/it.wasm", "built")
    assert tree.release("0.1.0", "--only", "go").returncode == 0
    contents = {}
    for path in tree.out.rglob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            contents[str(path.parent.parent.relative_to(tree.out))] = {name.partition("@v0.1.0/")[2] for name in archive.namelist()}
    assert contents == {"go/github.com/secequiv/secequiv/api/go": {"go.mod", "LICENSE"},
                        "go/github.com/secequiv/secequiv/api/go/inner": {"go.mod", "LICENSE", "it.go", "it.wasm"}}


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_the_crate_is_the_same_in_every_run(made, script):
    one, two = files(made("crate")), files(made("crate", 1))
    (name,) = one
    assert name == "secequiv-%s.crate" % script.own_version() and one == two
    with tarfile.open(fileobj=io.BytesIO(one[name])) as archive:
        names = {member.partition("/")[2] for member in archive.getnames()}
    assert {"Cargo.toml", "build.rs", "src/ffi.rs", "README.md"} <= names and "tests/test_rust.py" not in names


PACKAGE = """set -e
mkdir -p build/release build/deb/DEBIAN build/deb/usr/share/man/man1 build/deb/usr/share/doc
printf 'Package: secequiv\\nVersion: 0.1.0\\nArchitecture: all\\nMaintainer: nobody\\nDescription: none\\n' >build/deb/DEBIAN/control
echo manual >build/deb/usr/share/man/man1/secequiv.1
echo licence >build/deb/usr/share/doc/LICENSE
dpkg-deb -Znone --root-owner-group --build build/deb build/release/secequiv_0.1.0_all.deb"""
WHEEL = """exec python3 - <<'END'
import os, pathlib, zipfile
pathlib.Path("build/wheel/dist").mkdir(parents=True)
pathlib.Path("build/wheel/dist/secequiv-0.1.0-py3-none-any.whl").write_text("without binaries")
with zipfile.ZipFile("build/wheel/dist/secequiv-0.1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "w") as archive:
    for name in ("secequiv-0.1.0.data/scripts/secequiv", "secequiv/libsecequiv.so"):
        archive.writestr(zipfile.ZipInfo(name), os.environ["SOURCE_DATE_EPOCH"])
END"""
CARGO = 'while [ "$1" != --target-dir ]; do shift; done; mkdir "$2/package" && echo crate >"$2/package/secequiv-0.1.0.crate"'
NPM = 'while [ "$1" != --pack-destination ]; do shift; done; echo npm >"$2/secequiv-0.1.0.tgz"'
ALL = {"secequiv-0.1.0.tar.gz", "secequiv-0.1.0-py3-none-any.whl", "secequiv_0.1.0_all.deb", "secequiv-0.1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "secequiv-0.1.0-linux-x86_64.tar.gz",
       "secequiv-0.1.0-man.tar.gz", "secequiv-0.1.0.tgz", "secequiv-0.1.0-page.tar.gz", "secequiv-0.1.0.crate", "secequiv-0.1.0.cdx.json", "SHA256SUMS",
       *("go/github.com/secequiv/secequiv/api/go/@v/" + name for name in ("list", "v0.1.0.info", "v0.1.0.mod", "v0.1.0.zip"))}


class Tree:
    """A small tree in git, in which fake scripts make each part."""

    def __init__(self, folder):
        self.root, self.bin, self.out = folder / "tree", folder / "bin", folder / "out"
        for name in ("scripts/release", "LICENSE", "api/c/secequiv.h", "api/go/go.mod", "CMakeLists.txt"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.write("CMakeLists.txt", "project(secequiv VERSION 0.1.0)\n")
        self.write("CHANGELOG.md", "# Changes\n\n## 0.1.0 (2026-11-27)\n")
        self.write("pyproject.toml", 'dependencies = ["secequiv==0.1.0"]\n')
        self.write("scripts/release_names.toml", 'account = "us"\nmodule = "github.com/secequiv/secequiv"\ncontact = "us"\npage = "https://example.org"\n')
        self.write("docs/page.md", "- uses: us/secequiv@v0.1.0\n")
        self.write("api/npm/package.json", '{\n  "version": "0.1.0"\n}\n')
        (self.root / "api/rust").mkdir()
        self.write("api/rust/README.md", "")
        self.write(".gitignore", "build/\n*.wasm\n")
        self.command("scripts/package", PACKAGE)
        self.command("scripts/wheel", WHEEL)
        self.command("scripts/play", 'mkdir -p build/play/js build/wasm/bin && echo page >build/play/js/it.js && echo wasm >build/wasm/bin/secequiv.wasm && [ "$*" = --build-only ]')
        self.command("scripts/sbom", 'echo "{}" >"$2"')
        self.command("../bin/cargo", CARGO)
        self.command("../bin/npm", NPM)
        subprocess.run([*GIT, "init", "-q", str(self.root)], check=True)
        self.commit()

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def command(self, name, body):
        self.write(name, "#!/bin/bash\n%s\n" % body)
        (self.root / name).chmod(0o755)

    def commit(self):
        subprocess.run([*GIT, "-C", str(self.root), "add", "."], check=True)
        subprocess.run([*GIT, "-C", str(self.root), "commit", "-qm", "it", "--allow-empty"], check=True)

    def release(self, *words, out=None):
        # The tests may run with a Python that is not on PATH.
        return subprocess.run([sys.executable, str(self.root / "scripts/release"), "--output", str(out or self.out), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env={**os.environ, "PATH": "%s:%s" % (self.bin, os.environ["PATH"]), "PYTHONDONTWRITEBYTECODE": "1"})

    def refused(self, message, *words, status=1):
        """Asserts that a release fails with the message, and leaves nothing behind."""
        before = {path for path in self.out.parent.iterdir()}
        done = self.release(*(words or ["0.1.0"]))
        assert done.returncode == status and message in done.stderr, done.stderr
        assert {path for path in self.out.parent.iterdir()} == before


@pytest.fixture
def tree(tmp_path):
    if not shutil.which("dpkg-deb"):
        pytest.skip("no dpkg-deb")
    return Tree(tmp_path)


def test_a_release_has_all_parts_and_their_checksums(tree):
    done = tree.release("0.1.0")
    assert done.returncode == 0, done.stderr
    assert set(files(tree.out)) == ALL
    assert done.stdout.splitlines() == sorted(str(tree.out / name) for name in ALL)
    sums = dict(reversed(line.split("  ")) for line in (tree.out / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files(tree.out).items() if name != "SHA256SUMS"}
    with tarfile.open(tree.out / "secequiv-0.1.0-linux-x86_64.tar.gz") as archive:
        modes = {member.name.partition("/")[2]: member.mode for member in archive.getmembers()}
    assert modes == {"bin/secequiv": 0o755, "lib/libsecequiv.so.1": 0o755, "include/secequiv.h": 0o644, "LICENSE": 0o644}
    with tarfile.open(tree.out / "secequiv-0.1.0-man.tar.gz") as archive:
        assert archive.getnames() == ["share/man/man1/secequiv.1"]
    with tarfile.open(tree.out / "secequiv-0.1.0-page.tar.gz") as archive:
        assert archive.getnames() == ["secequiv-0.1.0-page/js/it.js"]


def test_two_releases_have_the_same_bytes(tree, tmp_path):
    assert tree.release("0.1.0").returncode == 0
    for path in tree.root.rglob("*"):
        os.utime(path, (LATER, LATER))
    assert tree.release("0.1.0", out=tmp_path / "again").returncode == 0
    one, two = files(tree.out), files(tmp_path / "again")
    assert [name for name in one if one[name] != two.get(name)] == []


def test_the_list_names_all_parts(tree):
    done = tree.release("--list")
    assert done.returncode == 0 and not tree.out.exists()
    assert re.findall(r"^(\w+) ", done.stdout, re.M) == [part[0] for part in load(ROOT / "scripts/release").PARTS]
    assert "secequiv-0.1.0.crate" in done.stdout and "not in this tree" not in done.stdout
    (tree.root / "scripts/play").unlink()
    assert "(not in this tree: no scripts/play)" in tree.release("--list").stdout


@pytest.mark.parametrize("name, text, message", [
    ("pyproject.toml", "secequiv==0.2.0", None), ("pyproject.toml", 'x\n"secequiv==0.2.0"\n', "pyproject.toml:2: expected version 0.1.0, found 0.2.0"),
    ("api/npm/package.json", '{\n  "version": "0.1.1"\n}\n', "api/npm/package.json:2"), ("docs/page.md", "us/secequiv@v1.0.0", "docs/page.md:1"),
    ("docs/page.md", "them/secequiv@v0.1.0", "docs/page.md:1: expected 'us' (account"), ("api/go/go.mod", "module example.org/x/api/go\n", "api/go/go.mod:1"),
    ("CMakeLists.txt", "project(secequiv VERSION 0.3.0)\n", "CMakeLists.txt: expected version 0.1.0, found 0.3.0"),
    ("CHANGELOG.md", "## 0.1.00 (2026-11-27)\n", "no section '## 0.1.0'"), ("CHANGELOG.md", "## 0.1.0 (unreleased)\n", "(YYYY-MM-DD)"), ("CHANGELOG.md", "## 0.1.0\n", "(YYYY-MM-DD)")])
def test_a_tree_that_is_not_ready_is_refused(tree, name, text, message):
    tree.write(name, text)
    tree.commit()
    if message:
        tree.refused(message)
    else:
        assert tree.release("--only", "source", "0.1.0").returncode == 0


def test_a_draft_needs_no_date(tree):
    tree.write("CHANGELOG.md", "## 0.1.0 (unreleased)\n")
    tree.commit()
    assert tree.release("--draft", "--only", "source", "0.1.0").returncode == 0


def test_another_version_is_refused(tree):
    tree.refused("expected version 0.1.1, found 0.1.0", "0.1.1")


def test_uncommitted_files_are_refused(tree):
    tree.write("new file", "")
    tree.refused("1 uncommitted files")


@pytest.mark.parametrize("name", ["scripts/package", "scripts/wheel", "scripts/sbom", "scripts/play", "../bin/cargo", "../bin/npm"])
def test_a_failed_build_leaves_nothing(tree, name):
    tree.command(name, "exit 4")
    tree.commit()
    tree.refused("exit status 4" if name != "scripts/sbom" else "release: ")


def test_a_build_that_makes_no_file_is_a_failure(tree):
    tree.command("scripts/wheel", "true")
    tree.commit()
    tree.refused("secequiv-0.1.0-*.whl: not made")


def test_files_of_an_earlier_build_are_not_taken(tree):
    tree.write("build/wheel/dist/secequiv-0.1.0-old.whl", "")
    tree.command("scripts/wheel", "true")
    tree.commit()
    tree.refused("not made")


@pytest.mark.parametrize("name, body, left_out", [
    ("scripts/package", "exit 2", ["debian", "manual"]), ("scripts/wheel", "exit 2", ["wheels", "binaries"]), ("scripts/sbom", 'touch "$2"; echo no fmt >&2; exit 1', ["bill"]),
    ("scripts/release_names.toml", None, ["account"]), ("scripts/play", None, ["page"])])
def test_parts_that_cannot_be_made_are_named(tree, name, body, left_out):
    if body:
        tree.command(name, body)
    elif name == "scripts/play":
        (tree.root / name).unlink()
    else:
        tree.write(name, (tree.root / name).read_text().replace('account = "us"', 'account = "OWNER"'))
        tree.write("docs/page.md", "- uses: OWNER/secequiv@v0.1.0\n")
    tree.commit()
    done = tree.release("0.1.0")
    assert done.returncode == 3, done.stderr
    assert re.findall(r"left out: (\w+): ", done.stderr) == left_out
    kept = {"debian": "secequiv_", "manual": "-man.", "wheels": ".whl", "binaries": "-linux-", "bill": ".cdx.json", "page": "-page.", "account": "nothing"}
    assert set(files(tree.out)) == {one for one in ALL if not any(kept[part] in one for part in left_out if part != "wheels") and not ("wheels" in left_out and ".whl" in one)}


def test_the_npm_package_needs_its_built_files(tree):
    tree.write("api/npm/package.json", '{\n  "version": "0.1.0",\n  "files": ["*.json", "built.wasm"]\n}\n')
    tree.commit()
    done = tree.release("0.1.0", "--only", "npm")
    assert done.returncode == 3 and "left out: npm: api/npm/built.wasm is not built\n" in done.stderr


def test_packages_get_the_module_that_was_just_built(tree):
    tree.write("api/npm/package.json", '{\n  "version": "0.1.0",\n  "files": ["secequiv.wasm", "LICENSE"]\n}\n')
    tree.write("api/npm/secequiv.wasm", "old")
    tree.write("api/go/wasm/secequiv.wasm", "old")
    tree.write("api/go/wasm/go.mod", "module github.com/secequiv/secequiv/api/go/wasm\n")
    tree.write("api/go/wasm/it.go", "package it\n\n//go:embed secequiv.wasm\nvar it []byte\n")
    tree.commit()
    done = tree.release("0.1.0", "--only", "npm", "--only", "go")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tree.out / "go/github.com/secequiv/secequiv/api/go/wasm/@v/v0.1.0.zip") as archive:
        assert archive.read("github.com/secequiv/secequiv/api/go/wasm@v0.1.0/secequiv.wasm") == b"wasm\n"
    assert (tree.root / "api/npm/secequiv.wasm").read_text() == "old"  # the tree stays as it is


def test_wrong_usage(tree):
    tree.out.mkdir()
    assert tree.release("0.1.0").returncode == 2
    assert tree.release().returncode == 2
    assert tree.release("0.1.0", "--only", "nothing").returncode == 2


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_leaves_no_files(tmp_path, name):
    program = """
import os, pathlib, signal, sys, time
sys.path.insert(0, "scripts")
from as_module import load
script = load(pathlib.Path("scripts/release"))
def make(release, parts):
    print(len(os.listdir(sys.argv[1])))
    os.kill(os.getpid(), signal.%s)
    time.sleep(60)
script.make = make
script.problems = lambda *_: []
script.main(["0", "--output", sys.argv[1] + "/out"])
""" % name
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (128 + getattr(signal, name), "1\n", "")
    assert os.listdir(tmp_path) == []
