"""Builds the compilers of other projects for other machines, which QEMU's user emulation then runs on this one: libseccomp, whose library is big-endian on s390x,
and gVisor, which compiles only for its own architecture. adapters/tests/foreign_compilers.py asks them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import apt
from .boards import NotAvailable

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "adapters/tests/foreign_compilers.py"
CLANG = "clang++-19"
# Debian's architectures, clang's targets, and QEMU's commands.
LIBSECCOMP = {"s390x": ("s390x-linux-gnu", "qemu-s390x"), "arm64": ("aarch64-linux-gnu", "qemu-aarch64")}
PACKAGES = ("libc6", "libc6-dev", "linux-libc-dev", "libgcc-s1", "libgcc-12-dev", "libstdc++6", "libstdc++-12-dev", "libseccomp2", "libseccomp-dev")


def emulator(command):
    if shutil.which(command) is None:
        raise NotAvailable("%s is not installed (Debian: qemu-user)" % command)
    return command


def libseccomp(archive, folder):
    """Returns the command that runs the adapter with the library of the archive's architecture."""
    target, qemu = LIBSECCOMP[archive.architecture]
    system, adapter = folder / "system", folder / "libseccomp"
    if not system.exists():
        archive.unpack(PACKAGES, system)
    apt.run([CLANG, "--target=" + target, "--sysroot=%s" % system, "-fuse-ld=lld", "-std=c++20", "-O1", "-I%s" % ROOT, "-o", str(adapter),
             *sorted(map(str, (ROOT / "adapters/libseccomp").glob("*.cc"))), "-lseccomp"])
    return [emulator(qemu), "-L", str(system), str(adapter)]


def gvisor(folder):
    adapter = folder / "gvisor"
    apt.run([str(ROOT / "adapters/gvisor/build"), str(adapter)], dict(os.environ, GOARCH="arm64", CGO_ENABLED="0"))
    return [emulator("qemu-aarch64"), str(adapter)]


def commands(archive_of, folder):
    """Returns the commands by "ADAPTER-ARCHITECTURE", and the reasons why others are missing."""
    made, missing = {}, {}
    makers = {"libseccomp-" + name: lambda to, name=name: libseccomp(archive_of(name), to) for name in LIBSECCOMP} | {"gvisor-arm64": gvisor}
    for name, make in makers.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        try:
            made[name] = make(folder / name)
        except NotAvailable as why:
            missing[name] = str(why)
    return made, missing


def ask(made, secequiv):
    """Runs the tests on the commands; returns pytest's exit status."""
    environment = dict(os.environ, SECEQUIV_FOREIGN_COMPILERS=json.dumps(made), SECEQUIV_BIN=str(Path(secequiv).parent), SECEQUIV_FULL_TESTS="1",
                       PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)], cwd=ROOT, env=environment).returncode
