"""Combine this machine's compilers, C++ libraries and engines as in the builder's image.

The image has clang with a static libc++, which is instrumented for MSan builds, and engines that do not depend on it. If this machine
lacks something, the functions raise NotAvailable, which is a separate result and never a pass. Owns paths of this machine; it must not
know the checks of a build.
"""

import os
import subprocess
from pathlib import Path

from . import matrix

CC, CXX = "clang-19", "clang++-19"
AFL = Path("/usr/lib/afl")

# A small fuzz target that uses the same parts of a C++ library as this project's targets.
PROBE = """
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < size; ++i) ++seen[std::string(100, static_cast<char>(data[i]))];
  try {
    if (seen.size() > 1) throw std::runtime_error(seen.begin()->first);
  } catch (const std::exception& error) {
    return error.what()[0] == 1 ? -1 : 0;
  }
  return 0;
}
"""


class NotAvailable(Exception):
    """This machine lacks something; the message names it, in one line."""


def _run(*command):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.splitlines() or ["status %d" % done.returncode]
        raise NotAvailable("%s: %s" % (Path(command[0]).name, lines[0].strip()))
    return done.stdout.strip()


def private_engine(folder):
    """Makes an archive of libFuzzer with its own C++ library, so that targets may use another one, as in the image."""
    engine = folder / "libFuzzingEngine.a"
    if engine.exists():
        return engine
    folder.mkdir(parents=True, exist_ok=True)
    runtime = Path(_run(CXX, "-print-resource-dir")) / "lib/linux/libclang_rt.fuzzer-x86_64.a"
    library = _run(CXX, "-print-file-name=libstdc++.a")
    whole, local = folder / "engine.whole.o", folder / "engine.o"
    _run("ld", "-r", "--force-group-allocation", "-o", whole, "--whole-archive", runtime, "--no-whole-archive", library)
    _run("objcopy", "--wildcard", *("--keep-global-symbol=" + name for name in ("main", "LLVMFuzzer*", "__sanitizer_*")), whole, local)
    _run("ar", "rcs", folder / "new.a", local)
    os.replace(folder / "new.a", engine)
    return engine


def afl_engine(folder):
    """Makes one archive of AFL++'s driver and runtime, for targets with clang's own instrumentation."""
    for file in ("libAFLDriver.a", "afl-compiler-rt.o"):
        if not (AFL / file).is_file():
            raise NotAvailable("no %s (Debian: afl++)" % (AFL / file))
    folder.mkdir(parents=True, exist_ok=True)
    engine = folder / "libAFLEngine.a"
    new = folder / "new-afl.a"
    new.write_bytes((AFL / "libAFLDriver.a").read_bytes())
    _run("ar", "rs", new, AFL / "afl-compiler-rt.o")
    os.replace(new, engine)
    return engine


def environment(configuration, folder, plain=False):
    """Returns the builder's variables; `folder` keeps files that are built once. With `plain`, they select libstdc++ and clang's
    libFuzzer."""
    if configuration.engine not in matrix.FEEDBACK:
        raise NotAvailable("Debian has no package of %s" % configuration.engine)
    flags = matrix.flags(configuration)
    extra, link = "", "-static-libstdc++"
    if configuration.engine == "afl":
        engine = str(afl_engine(folder))
    elif plain or configuration.architecture != "x86_64":  # in Debian, libc++ of two architectures cannot be installed together
        engine = "-fsanitize=fuzzer"
        plain = True
    else:
        engine = str(private_engine(folder))
    if configuration.sanitizer == "memory":
        library = folder / "libcxx-msan"
        if not (library / "lib/libc++.a").is_file():
            raise NotAvailable("no C++ library built with MSan; scripts/oss_fuzz_check --libcxx makes one from Debian's sources")
        extra = "-nostdinc++ -isystem %s -stdlib=libc++" % (library / "include/c++/v1")
        link += " -L%s" % (library / "lib")
    elif not plain:
        extra = "-stdlib=libc++"
    return {
        "FUZZING_ENGINE": configuration.engine, "SANITIZER": configuration.sanitizer, "ARCHITECTURE": configuration.architecture,
        "FUZZING_LANGUAGE": "c++", "CC": CC, "CXX": CXX, "CCC": CXX, "CFLAGS": flags, "CXXFLAGS": ("%s %s" % (flags, extra)).strip(),
        "LDFLAGS": link, "LIB_FUZZING_ENGINE": engine, "UBSAN_OPTIONS": "silence_unsigned_overflow=1",
        "ASAN_OPTIONS": "detect_leaks=0" if configuration.engine == "afl" else "",
    }


def probe(variables, folder):
    """Raises NotAvailable unless a small target builds with these variables and runs."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / "probe.cc", folder / "probe"
    source.write_text(PROBE)
    words = [variables["CXX"]] + (variables["CXXFLAGS"] + " " + variables["LDFLAGS"]).split()
    _run(*words, source, "-o", target, *variables["LIB_FUZZING_ENGINE"].split())
    done = subprocess.run([str(target)] + (["-runs=10", "-seed=1"] if variables["SANITIZER"] != "coverage" else ["-runs=0"]), cwd=str(folder),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                          env=dict(os.environ, **matrix.RUNTIME))
    if done.returncode != 0:
        raise NotAvailable("a small target with these variables does not run (status %d)" % done.returncode)
