"""Checks the files of a wheel: which there are, how large they are, and what they need from the system. It runs none of them."""

import re
import stat
import subprocess
import tempfile
import zipfile

MOST_BYTES = 5_000_000
# Parts of the C library, which every system with glibc has.
SYSTEM = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
WANTED = {"secequiv/py.typed", "secequiv/testing.py", "secequiv/pre_commit.py", "secequiv_adapter.py"}


def needs(path):
    """Returns the shared libraries that a program or library needs, and the newest version of glibc among its symbols."""
    text = subprocess.run(["objdump", "-p", str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"NEEDED +(\S+)", text)), max((tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", text)), default=(0,))


def wanted(wheel, command):
    return WANTED | ({"secequiv/secequiv.wasm"} if wheel.name.endswith("-any.whl") else {"secequiv/libsecequiv.so", command})


def problems(wheel, glibc):
    """Returns a message for each way in which the wheel is not what PyPI's users can run."""
    out = []
    if wheel.stat().st_size > MOST_BYTES:
        out.append("it has %d bytes; at most %d are allowed" % (wheel.stat().st_size, MOST_BYTES))
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = {info.filename: info for info in archive.infolist()}
        command = re.match(r"[^-]+-[^-]+", wheel.name)[0] + ".data/scripts/secequiv"
        out += ["it lacks %s" % name for name in sorted(wanted(wheel, command) - set(names))]
        if command in names and not names[command].external_attr >> 16 & stat.S_IXUSR:
            out.append("%s is not executable" % command)
        for name in {command, "secequiv/libsecequiv.so"} & set(names):
            libraries, newest = needs(archive.extract(name, folder))
            out += ["%s needs %s" % (name, library) for library in sorted(libraries - SYSTEM)]
            if newest > glibc:
                out.append("%s needs glibc %s" % (name, ".".join(map(str, newest))))
    return out
