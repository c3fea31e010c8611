"""Build libc++ with MemorySanitizer, from the sources of the installed clang in Debian.

MSan reports memory as uninitialized if code that was built without MSan wrote it, and both of Debian's C++ libraries are built without it.
The build downloads 165 MB, needs about 300 MB of disk and takes a few minutes.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from . import toolchain

SOURCE = "llvm-toolchain-19"
_FIELD = re.compile(r"^(URIs|Suites|Components|Signed-By):[ \t]*(.+)$", re.MULTILINE)
PARTS = ("libcxx", "libcxxabi", "runtimes", "cmake", "llvm/utils", "libc")  # these folders of the sources are unpacked


def _step(log, *command, cwd):
    with log.open("a") as output:
        output.write("+ %s\n" % " ".join(str(part) for part in command))
        output.flush()
        done = subprocess.run([str(part) for part in command], cwd=str(cwd), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    if done.returncode != 0:
        raise toolchain.NotAvailable("%s failed; the whole log is in %s" % (Path(str(command[0])).name, log))


def source_lists(texts):
    """Returns deb-src lines for the Debian archives in apt's lists of sources (in the old or the new form)."""
    found = []
    for text in texts:
        for stanza in text.split("\n\n"):
            fields = dict(_FIELD.findall(stanza))
            key = fields.get("Signed-By", "")
            option = "[signed-by=%s] " % key if key.startswith("/") else ""
            if {"URIs", "Suites", "Components"} <= set(fields):
                found += ["deb-src %s%s %s %s" % (option, uri, suite, fields["Components"])
                          for uri in fields["URIs"].split() for suite in fields["Suites"].split()]
        found += ["deb-src" + line[3:] for line in text.splitlines() if line.startswith("deb ")]
    return [line for line in found if "debian" in line]


def make(folder):
    """Makes folder/libcxx-msan unless it exists; raises NotAvailable if this is not possible here."""
    final = folder / "libcxx-msan"
    if (final / "lib/libc++.a").is_file():
        return final
    work = folder / "libcxx-work"
    shutil.rmtree(work, ignore_errors=True)
    (work / "lists/partial").mkdir(parents=True)
    log = folder / "libcxx.log"
    log.write_text("")
    if shutil.which("apt-get") is None:
        raise toolchain.NotAvailable("no apt-get, which downloads Debian's sources")
    places = [path for path in [Path("/etc/apt/sources.list")] + sorted(Path("/etc/apt/sources.list.d").glob("*")) if path.is_file()]
    (work / "sources.list").write_text("\n".join(source_lists([path.read_text() for path in places])) + "\n")
    apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=%s" % (work / "sources.list"), "-o", "Dir::Etc::sourceparts=-",
           "-o", "Dir::State::lists=%s" % (work / "lists")]
    _step(log, *apt, "update", cwd=work)
    _step(log, *apt, "--download-only", "source", SOURCE, cwd=work)
    archives = list(work.glob("*.orig.tar.*"))
    if len(archives) != 1:
        raise toolchain.NotAvailable("%d archives of sources were downloaded, not one" % len(archives))
    tree = work / "tree"
    tree.mkdir()
    _step(log, "tar", "xf", archives[0], "-C", tree, "--strip-components=1", "--wildcards", *("*/%s/*" % part for part in PARTS),
          "--exclude=*/test/*", cwd=work)
    options = {
        "CMAKE_BUILD_TYPE": "Release", "CMAKE_C_COMPILER": toolchain.CC, "CMAKE_CXX_COMPILER": toolchain.CXX,
        "LLVM_ENABLE_RUNTIMES": "libcxx;libcxxabi", "LLVM_USE_SANITIZER": "MemoryWithOrigins", "LLVM_INCLUDE_TESTS": "OFF",
        "LIBCXX_ENABLE_SHARED": "OFF", "LIBCXX_ENABLE_STATIC_ABI_LIBRARY": "ON", "LIBCXX_INCLUDE_BENCHMARKS": "OFF",
        "LIBCXX_INCLUDE_TESTS": "OFF", "LIBCXXABI_ENABLE_SHARED": "OFF", "LIBCXXABI_USE_LLVM_UNWINDER": "OFF", "LIBCXXABI_INCLUDE_TESTS": "OFF",
        "CMAKE_INSTALL_PREFIX": str(work / "installed"),
    }
    _step(log, "cmake", "-S", tree / "runtimes", "-B", work / "build", "-G", "Ninja", *("-D%s=%s" % pair for pair in options.items()), cwd=work)
    _step(log, "cmake", "--build", work / "build", "--target", "install-cxx", "install-cxxabi", cwd=work)
    shutil.rmtree(final, ignore_errors=True)
    os.replace(work / "installed", final)
    shutil.rmtree(work)
    return final
