"""Finds sources in pinned versions. If a source is absent, or has another version, raises Missing."""

import json
import os
import shutil
import subprocess
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
