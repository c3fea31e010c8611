"""Tests scripts/package's check that the Debian package is complete, and tests the names in the Containerfile.

These tests build neither the package (scripts/package does) nor the image (nothing does)."""
# Annex: packaging

import os
import re
import shutil
import subprocess

import pytest
from api_build import ROOT, run

pytestmark = pytest.mark.full
CONTAINERFILE = (ROOT / "Containerfile").read_text()
LISTS = (ROOT / "scripts" / "lib" / "package.sh").read_text()
FILES = re.search(r"PACKAGE_FILES=\(([^)]*)\)", LISTS).group(1).split()
NEEDS = "libc6 (>= 2.34), libfmt9 (>= 9.1), libgmp10 (>= 2:6), libstdc++6 (>= 12), libz3-4 (>= 4.8)"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """complete(MISSING, DEPENDS): checks a package that lacks the file MISSING; returns the finished process."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("no dpkg-deb")

    def check(missing, depends):
        folder = tmp_path_factory.mktemp("deb")
        for name in FILES:
            if name != missing:
                (folder / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "usr" / name).touch()
        (folder / "DEBIAN").mkdir()
        (folder / "DEBIAN" / "control").write_text("Package: secequiv\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: none\n"
                                                   "Depends: %s\n" % depends)
        run("dpkg-deb", "-Znone", "--root-owner-group", "--build", folder, folder / "it.deb")
        return subprocess.run(["bash", "-c", '. scripts/lib/package.sh; package_complete "$1"', "-", str(folder / "it.deb")], cwd=ROOT,
                              capture_output=True, text=True)

    return check


def test_a_complete_package_passes(complete):
    done = complete(None, NEEDS)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("/it.deb\n")


@pytest.mark.parametrize("missing", [FILES[0], FILES[-1]])
def test_a_missing_file_fails(complete, missing):
    done = complete(missing, NEEDS)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "package: /usr/%s is missing\n" % missing)


def test_a_missing_dependency_fails(complete):
    done = complete(None, NEEDS.replace("libz3-4", "libz4"))
    assert done.returncode == 1 and "does not depend on libz3" in done.stderr


def copied():
    """Returns the files that the Containerfile copies into the build stage."""
    for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINERFILE, re.MULTILINE):
        yield from line.split()[:-1]


def test_the_containerfile_names_existing_files():
    names = list(copied())
    assert len(names) >= 10
    for name in names:
        assert (ROOT / name).exists(), name
    scripts = re.findall(r"scripts/\w+", " ".join(re.findall(r"^RUN .*$", CONTAINERFILE, re.MULTILINE)))
    assert scripts
    for script in scripts:
        assert os.access(ROOT / script, os.X_OK), script


def test_the_copied_files_can_be_configured(tmp_path):
    for name in copied():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    run("cmake", "--preset", "release", cwd=tmp_path)
    assert 'CPACK_GENERATOR "DEB"' in (tmp_path / "build" / "release" / "CPackConfig.cmake").read_text()
