"""Finds sources and Python packages in pinned versions. If one is absent, or has another version, raises Missing."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBSECCOMP_VERSION = "2.5.4"


class Missing(Exception):
    """This machine lacks the pinned version of a tool or source."""


def go_module(name, version, checksum):
    """Returns the folder of a Go module, which the go command takes from its cache or downloads."""
    if shutil.which("go") is None:
        raise Missing("go is not installed (Debian and Ubuntu: golang-go, or a newer one from go.dev); it downloads %s" % name)
    module = "%s@%s" % (name, version)
    with tempfile.TemporaryDirectory() as folder:  # a folder outside any module, so that no go.mod applies
        done = subprocess.run(["go", "mod", "download", "-json", module], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, GOFLAGS="", GOWORK="off", GOTOOLCHAIN="local"))
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"Error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    if "Error" in answer:
        raise Missing("cannot download %s: %s" % (module, answer["Error"]))
    if answer["Sum"] != checksum:
        raise Missing("%s has checksum %s, expected %s" % (module, answer["Sum"], checksum))
    return Path(answer["Dir"])


def crate(name, version, checksum):
    """Returns the folder of a Rust crate, which cargo takes from its cache or downloads."""
    if shutil.which("cargo") is None:
        raise Missing("cargo is not installed (Debian and Ubuntu: cargo); it downloads %s" % name)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Cargo.toml").write_text('[package]\nname = "none"\nversion = "0.0.0"\nedition = "2018"\n[lib]\npath = "none.rs"\n'
                                                 '[dependencies]\n%s = "=%s"\n' % (name, version))
        (Path(folder) / "none.rs").touch()
        done = subprocess.run(["cargo", "metadata", "--quiet", "--format-version", "1"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Missing("cargo cannot download %s: %s" % (name, (done.stderr.strip().splitlines() or ["no message"])[-1]))
        lock = (Path(folder) / "Cargo.lock").read_text()
    if '"%s"' % checksum not in lock:
        raise Missing("%s %s has another checksum than expected (%s)" % (name, version, checksum))
    (manifest,) = {one["manifest_path"] for one in json.loads(done.stdout)["packages"] if one["name"] == name}
    return Path(manifest).parent


def ziglang():
    """Returns the program zig, in the version that lib/ziglang.txt pins; pip installs it into build/ziglang."""
    here = Path(__file__).resolve().parent
    return python_packages(here / "lib/ziglang.txt", here.parent / "build/ziglang") / "ziglang/zig"


def python_packages(pins, folder):
    """Installs into `folder` the PyPI packages that the file `pins` lists with their hashes, unless they are already there. Returns `folder`."""
    kept = folder / "pins.txt"
    if kept.exists() and kept.read_text() == pins.read_text():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                               "--require-hashes", "--target", temporary + "/new", "-r", str(pins)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Missing("pip cannot install %s: %s" % (pins.name, (done.stdout.strip().splitlines() or ["status %d" % done.returncode])[-1]))
        shutil.copy(pins, temporary + "/new/pins.txt")
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(temporary + "/new", folder)
    return folder
