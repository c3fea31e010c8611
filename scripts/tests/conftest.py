"""Makes a copy of the scripts in an empty tree, with a PATH on which fake commands replace the package tools and the build tools."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL_TOOLS = ("bash", "awk", "cat", "chmod", "cp", "dirname", "env", "find", "grep", "head", "mkdir", "mktemp", "mv", "nproc", "rm", "sed",
              "sort", "tail", "tee", "xargs")


class Sandbox:
    def __init__(self, folder):
        self.root = folder / "tree"
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.bin.mkdir()
        self.calls.write_text("")
        shutil.copytree(ROOT / "scripts" / "lib", self.root / "scripts" / "lib", ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / ".ci").mkdir()
        for name in ("scripts/adapters", "scripts/demo", "scripts/package", "scripts/test", "scripts/check_format", ".ci/run"):
            shutil.copy(ROOT / name, self.root / name)
        for name in REAL_TOOLS:
            os.symlink(shutil.which(name), self.bin / name)
        os.symlink(os.path.realpath(sys.executable), self.bin / "python3")
        self.fake("cmake", 'if [ "$1" = --version ]; then echo "cmake version 3.25.1"; fi')

    def fake(self, name, body):
        """Makes a fake command that records its arguments and runs `body`."""
        file = self.bin / name
        if file.is_symlink():
            file.unlink()
        file.write_text('#!%s\necho "%s $*" >>%s\n%s\n' % (shutil.which("bash"), name, self.calls, body))
        file.chmod(0o755)

    def installed(self, packages):
        """Makes a fake dpkg-query that lists `packages`, and those that a later apt-get install adds."""
        database = self.root.parent / "installed"
        database.write_text("".join("installed %s\n" % name for name in packages))
        self.fake("dpkg-query", "cat %s; exit 1" % database)
        self.fake("apt-cache", 'case " $UNKNOWN " in *" ${@: -1} "*) exit 100 ;; esac')
        self.fake("apt-get", 'if [[ " $* " == *" install "* ]]; then for p in "$@"; do echo "installed $p" >>%s; done; fi'
                  % database)

    def user(self, number):
        self.fake("id", "echo %d" % number)

    def run(self, *command, **environment):
        return subprocess.run(command, cwd=str(self.root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={"PATH": str(self.bin), "LC_ALL": "C", "TMPDIR": str(self.root.parent), **environment})

    def noted(self, name):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(name + " ")]


@pytest.fixture
def sandbox(tmp_path):
    return Sandbox(tmp_path)
