"""Find the tools and files that filters come from, each in its pinned version.

Owns running go, the program that dumps gVisor's filters, and the process that asks libseccomp. It must not know which filters are wanted. If a tool or file is absent, or
has another version, the functions raise Missing: nothing can then be regenerated or checked.
"""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from pinned import LIBSECCOMP_VERSION, Missing, go_module

HERE = Path(__file__).resolve().parent
BIN = HERE.parents[1] / "build/dev/bin"

LIBSECCOMP = "libseccomp %s (Debian 2.5.4-1+deb12u1)" % LIBSECCOMP_VERSION

PODMAN_PATH = Path("/usr/share/containers/seccomp.json")
PODMAN_SHA256 = "cc374cf23846ce1f62f4dc807a8e2b8673c783c6f56cb475467621035d281e6c"
PODMAN = "github.com/containers/common 0.50.1 (Debian 0.50.1+ds1-4), seccomp.json"

MOBY_MODULE = "github.com/moby/profiles/seccomp"
MOBY_SUMS = {
    "v0.2.3": "h1:nrHNSiECQQvq4WjgceCUgJXIXUJBIswVQ133k4Do2mA=",
    "v0.1.0": "h1:kVf1lc5ytNB1XPxEdZUVF+oPpbBYJHR50eEvPt/9k8A=",
}


class Gvisor(NamedTuple):
    version: str  # the Go module's version
    configurations: list  # each is {"name", "description", "before", "after"}; `before` and `after` are sizes in instructions


def _run(command, hint, **options):
    """Returns the standard output of `command`; if it fails, raises Missing with `hint` and the end of its output."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "GOWORK": "off"}, **options)
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-5:]
        raise Missing("%s failed (%s):\n  %s" % (Path(command[0]).name, hint, "\n  ".join(words)))
    return done.stdout


def _tool(name, package):
    path = shutil.which(name)
    if path is None:
        raise Missing("%s is not installed (Debian and Ubuntu: %s)" % (name, package))
    return path


def moby_profile(version):
    """Returns default.json of Docker's profile module, as bytes."""
    return (go_module(MOBY_MODULE, version, MOBY_SUMS[version]) / "default.json").read_bytes()


def podman_profile():
    """Returns Podman's default profile as the distribution installs it, as bytes."""
    if not PODMAN_PATH.is_file():
        raise Missing("%s does not exist (Debian: golang-github-containers-common)" % PODMAN_PATH)
    content = PODMAN_PATH.read_bytes()
    if hashlib.sha256(content).hexdigest() != PODMAN_SHA256:
        raise Missing("%s is not the file of %s" % (PODMAN_PATH, PODMAN))
    return content


class Libseccomp:
    """The installed libseccomp, in a process of the built secequiv (cli/libseccomp.cc). If `version` is None, any version of the library is accepted.

    Requests are text, as harness/import/library_request.h describes it.
    """

    def __init__(self, version=LIBSECCOMP_VERSION, library="libseccomp.so.2"):
        self.program = Path(os.environ.get("SECEQUIV_BIN", BIN)) / "secequiv"
        if not self.program.is_file():
            raise Missing("%s does not exist (build it: cmake --build --preset dev)" % self.program)
        self.library = library
        self._numbers = {}
        found = self._ask("default 0x7fff0000\n")[0].split()[-1]
        if version not in (None, found):
            raise Missing("libseccomp has version %s, but the corpus is made with version %s" % (found, version))

    def _host(self, *options, **rest):
        done = subprocess.run([str(self.program), "libseccomp-host", self.library, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **rest)
        if done.returncode != 0:
            raise Missing("libseccomp failed: %s" % done.stderr.decode().strip())
        return done.stdout

    def _ask(self, rules, *options, timeout=None):
        """Returns the library's name, the unknown calls and the filter."""
        kind, first, rest = (self._host(*options, input=rules.encode(), timeout=timeout) + b"\n").split(b"\n", 2)
        if kind != b"filter":
            raise Missing(first.decode())
        unknown, made = rest[:-1].split(b"\n", 1)
        return first.decode(), unknown.decode().split(), made

    def syscalls(self, arch):
        """Returns {number: name} for the calls that libseccomp knows on `arch`, in ascending order of numbers."""
        lines = self._host("--calls", arch).decode().splitlines()
        return {int(number): name for number, name in (line.split() for line in lines)}

    def numbers(self, arch):
        """Returns {name: number} for the calls that libseccomp knows on `arch`."""
        if arch not in self._numbers:
            self._numbers[arch] = {name: number for number, name in self.syscalls(arch).items()}
        return self._numbers[arch]

    def compile(self, rules, form, out="filter", timeout=None):
        """Returns the filter that libseccomp makes of `rules`, as bytes. `form` is linear or tree. If the name `out` ends in .pfc, the result
        is pseudo code. Afterwards, the member `unknown` lists the names that libseccomp does not know.

        Raises Missing if libseccomp refuses the rules, and subprocess.TimeoutExpired if it needs more than `timeout` seconds.
        """
        options = ["--tree"] * (form == "tree") + ["--pfc"] * out.endswith(".pfc")
        _, self.unknown, made = self._ask(rules, *options, timeout=timeout)
        return made


def gvisor(names, out, work):
    """Builds gvisor/ in `work`, lets it write into the folder `out`, and returns its report.

    `names` is {number: name} for x86_64. The first build compiles much of gVisor and takes minutes.
    """
    go = _tool("go", "golang-go, or a newer one from go.dev")
    program, listing = Path(work) / "gvisor-dump", Path(work) / "names"
    listing.write_text("".join("%d %s\n" % entry for entry in names.items()))
    _run([go, "build", "-p", "2", "-mod=readonly", "-trimpath", "-o", program, "."], "building scripts/corpus/gvisor",
         cwd=HERE / "gvisor")
    report = json.loads(_run([program, "-names", listing, "-out", out], "dumping gVisor's filters"))
    return Gvisor(report["version"], report["configurations"])
