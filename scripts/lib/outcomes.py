#!/usr/bin/env python3
"""Judges what the tests of a run did: a test that was skipped or lost without permission fails the run.

  outcomes.py judge PRESET...   judges the runs of these test presets, which scripts/test has put into build/outcomes/PRESET
  outcomes.py list              writes the ids of all tests of build/dev into scripts/tests/generated/all_tests.txt

build/outcomes/PRESET has ctest.xml, which ctest writes (--output-junit); *.pytest from each process of pytest (conftest.py); and *.json from each
executable of GoogleTest of which ctest runs only parts. An id is Suite.Name for GoogleTest, FILE::NAME for pytest, and the name of any other test in ctest.

scripts/tests/may_skip.txt lists the tests that may be skipped, for each environment in which they may. ENVIRONMENTS asks this machine whether it is such an
environment, whatever the test says. With SECEQUIV_COMPLETE set (.ci/run), no environment counts in which something is missing.

The last line of output is ctest's closing line, summed over the presets; tests that did not run are not in it. Without a usable count, there is none.
Exit status: 0 all is well; 1 a test failed; 2 wrong usage, or a preset has no usable records; 3 a test was skipped or lost without permission, or is not
listed
"""

import ctypes
import errno
import fnmatch
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
ALL = ROOT / "scripts/tests/generated/all_tests.txt"
MAY_SKIP = ROOT / "scripts/tests/may_skip.txt"
ANNEX = re.compile(r"^# Annex: (\S+)$", re.MULTILINE)
SHOWN = 20  # lines of each kind


class Unusable(Exception):
    """Records or lists that cannot be judged."""


def without_seccomp(_):
    """Whether this process may not install filters. The null pointer makes the kernel answer EFAULT where it would read a program."""
    if sys.platform != "linux":
        return True
    ctypes.CDLL(None, use_errno=True).prctl(22, 2, None)
    return ctypes.get_errno() != errno.EFAULT


def status_of_this_process(field):
    """Returns a field of /proc/self/status; "0" without it."""
    try:
        return re.search(r"^%s:\s*(\S+)$" % field, Path("/proc/self/status").read_text(), re.MULTILINE)[1]
    except (OSError, TypeError):
        return "0"


def libseccomp():
    """Returns the version of the installed libseccomp, which is a C structure of three numbers; None without it. A secequiv that cannot ask it must not excuse
    skipped tests."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return None
    library.seccomp_version.restype = ctypes.POINTER(ctypes.c_uint)
    return tuple(library.seccomp_version()[:3])


def lacks(*programs):
    return lambda _: any(shutil.which(program) is None for program in programs)


def without_go(_):
    """Whether Go is absent, or older than our modules for Go allow."""
    if shutil.which("go") is None:
        return True
    installed = subprocess.run(["go", "env", "GOVERSION"], stdout=subprocess.PIPE, text=True, env={**os.environ, "GOTOOLCHAIN": "local"}).stdout
    needed = [re.search(r"^go (\S+)$", path.read_text(), re.MULTILINE)[1] for path in (ROOT / "api/go").rglob("go.mod")]
    return any(list(map(int, re.findall(r"\d+", installed))) < list(map(int, version.split("."))) for version in needed)


def fails(*command):
    return lambda _: shutil.which(command[0]) is None or subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0


# Environments whose names start with "without" lack something. The others are only different, so that a test makes no sense there.
ENVIRONMENTS = {
    "without seccomp": without_seccomp,
    "without mount namespaces": fails("unshare", "-m", "true"),
    "without root": lambda _: not int(status_of_this_process("CapEff"), 16) >> 21 & 1,  # CAP_SYS_ADMIN, which root in a container may lack
    "this process has a filter": lambda _: status_of_this_process("Seccomp") == "2",
    "other users may not enter this folder": lambda _: any(not folder.stat().st_mode & 1 for folder in (ROOT, *ROOT.parents)),
    "without tracefs": fails("unshare", "-m", "sh", "-c", "[ -d /sys/kernel/tracing/events/syscalls ] || mount -t tracefs tracefs /sys/kernel/tracing && ls /sys/kernel/tracing/events/syscalls"),
    "without dpkg": lacks("dpkg-deb"),
    "without libseccomp 2.5.4": lambda _: libseccomp() != (2, 5, 4),
    "without libpcap": fails("python3", "-c", "import ctypes; ctypes.CDLL('libpcap.so.0.8')"),
    "without a browser": lacks("chromium", "chromedriver"),
    "without go": without_go,
    "without cargo": lacks("cargo"),
    "without node": lacks("node"),
    "without coq": lacks("coqc"),
    "other machine than x86_64": lambda _: os.uname().machine != "x86_64",
    "the kernel's memory is readable": lambda _: os.access("/proc/kcore", os.R_OK),
    "no C library for 32 bits": lambda _: not os.path.exists("/usr/lib32/libc.a"),
    "afl++ is not installed": lacks("afl-fuzz"),
    "runc is not installed": lacks("runc"),
    "linux-source-6.1 is not installed": lambda _: not os.path.exists("/usr/src/linux-source-6.1.tar.xz"),
    "SECEQUIV_PAIRS is not set": lambda _: "SECEQUIV_PAIRS" not in os.environ,
    "the preset fuzz does not run": lambda presets: "fuzz" not in presets,
    "the preset dev does not run": lambda presets: not {"dev", "house"} & set(presets),
    "the preset asan runs": lambda presets: "asan" in presets,
}


@functools.lru_cache(maxsize=None)
def _annex_of_file(file):
    found = ANNEX.search((ROOT / file).read_text(encoding="utf-8")) if (ROOT / file).is_file() else None
    return found and found.group(1)


def annex_of(name):
    """Returns the annex of a test, or None. A file of tests in Python names its annex in a comment."""
    file, colons, _ = name.partition("::")
    return _annex_of_file(file) if colons else None


# The tests that a preset must have, by their annexes; build/dev has them all. The other presets have parts of these again.
WANTED = {
    "house": lambda annex: annex is None,
    "dev": lambda annex: annex != "wasm",
    "wasm": lambda annex: annex == "wasm",
    "proved": lambda annex: annex == "coq",
}


def ctest(path):
    """Yields (id, outcome, reason) for each test of a run of ctest, but not for those that only start several tests."""
    try:
        cases = ElementTree.parse(path).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        raise Unusable("ctest did not finish: %s" % error) from error
    for case in cases:
        how = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
        skipped = case.find("skipped")
        yield case.get("name"), how, "" if skipped is None else skipped.get("message", "")


def pytest(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        yield tuple(line.split("\t"))


def googletest(path):
    for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
        for test in suite["testsuite"]:
            if test["status"] == "RUN":
                how = "failed" if "failures" in test else "skipped" if test["result"] == "SKIPPED" else "passed"
                yield "%s.%s" % (suite["name"], test["name"]), how, ""


def starts_several(name):
    return name.startswith("pytest.") or re.search(r"\.part_\d+$", name) is not None


def starter(path):
    """Returns the name in ctest of the process that wrote a record (cmake/tests/pytest.cmake)."""
    return "pytest." + re.sub(r"\.tests\.test_(.*)\.py$", r".\1", path.stem) if path.suffix == ".pytest" else path.stem


class Run:
    """One run of ctest: its own counts, and what each test did."""

    def __init__(self, preset):
        folder = ROOT / "build/outcomes" / preset
        counted = [] if preset == "fuzz" else list(ctest(folder / "ctest.xml"))
        self.counts = Counter(how for _, how, _ in counted)
        self.tests = {name: (how, why) for name, how, why in counted if not starts_several(name)}
        for pattern, read in (("*.pytest", pytest), ("*.json", googletest)):
            for path in sorted(folder.glob(pattern)):
                self.tests.update((name, (how, why)) for name, how, why in read(path))
        written = {starter(path) for path in folder.glob("*")}
        self.silent = [name for name, how, _ in counted if starts_several(name) and how != "skipped" and name not in written]
        passed = [name for name, how, _ in counted if how == "passed" and name in self.silent]
        if passed:
            raise Unusable("preset %s: %s passed, but did not write what each of its tests did" % (preset, passed[0]))
        if not self.tests and preset != "fuzz":  # scripts/test itself sees whether its tests passed
            raise Unusable("preset %s: no test ran" % preset)


def may_skip():
    """Returns {environment: patterns}."""
    out, patterns = {}, None
    for number, line in enumerate(MAY_SKIP.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("["):
            environment = line[1:].partition("]")[0]
            if environment not in ENVIRONMENTS:
                raise Unusable("%s:%d: unknown environment '%s'; outcomes.py knows: %s" % (MAY_SKIP.name, number, environment, ", ".join(ENVIRONMENTS)))
            patterns = out.setdefault(environment, [])
        elif line.strip() and not line.startswith("#"):
            if patterns is None:
                raise Unusable("%s:%d: expected a line '[ENVIRONMENT] REASON' before the first test" % (MAY_SKIP.name, number))
            patterns.append(line.strip())
    return out


def matches(name, pattern):
    """A pattern is an id; a * stands for any text, and [ is an ordinary character."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def permitted(presets):
    """Returns the patterns of the tests that may be skipped on this machine, in a run of these presets."""
    complete = bool(os.environ.get("SECEQUIV_COMPLETE"))
    out = []
    for environment, patterns in may_skip().items():
        if not (complete and environment.startswith("without")) and ENVIRONMENTS[environment](presets):
            out.extend(patterns)
    return out


def show(title, names):
    if names:
        print("%s:" % title)
        for name in names[:SHOWN]:
            print("  %s" % name)
        if len(names) > SHOWN:
            print("  ... and %d more" % (len(names) - SHOWN))


def judge(presets):
    runs = [Run(preset) for preset in presets]
    tests, skipped = {}, {}
    for run in runs:
        for name, (how, why) in run.tests.items():
            if how == "failed" or tests.get(name, "skipped") == "skipped":
                tests[name] = how
            if how == "skipped":
                skipped[name] = why
    known, patterns = set(ALL.read_text(encoding="utf-8").splitlines()), permitted(presets)
    elsewhere = [pattern for environment, some in may_skip().items() if environment.startswith("the preset ") for pattern in some]
    demands = [WANTED[preset] for preset in presets if preset in WANTED]
    wanted = {name for name in known if any(demand(annex_of(name)) for demand in demands)}
    # A preset may skip what another one runs, if a line about presets says so.
    bad = sorted(name for name in skipped if not any(matches(name, pattern) for pattern in patterns + (elsewhere if tests[name] != "skipped" else [])))
    lost = sorted(wanted - set(tests))
    # Other builds have fewer cases, and number them differently.
    new = sorted({name for preset, run in zip(presets, runs) if preset in WANTED for name in run.tests} - known)
    show("Skipped, although scripts/tests/may_skip.txt does not permit this on this machine",
         ["%s%s" % (name, skipped[name] and ": " + skipped[name]) for name in bad])
    show("Ended without saying what its tests did", sorted(name for run in runs for name in run.silent))
    show("Not collected, although scripts/tests/generated/all_tests.txt has it (if you removed it: scripts/lib/outcomes.py list)", lost)
    show("Not in scripts/tests/generated/all_tests.txt (scripts/lib/outcomes.py list adds it)", new)
    counts = Counter(tests.values())
    print("tests: %d passed, %d failed, %d skipped as permitted, %d skipped without permission, %d not collected, %d not listed"
          % (counts["passed"], counts["failed"], counts["skipped"] - len([name for name in bad if tests[name] == "skipped"]), len(bad), len(lost), len(new)))
    total = sum((run.counts for run in runs), Counter())
    if bad or lost or new:
        print("no closing line: tests were skipped or lost, or are not listed")
        return 3
    ran = total["passed"] + total["failed"]
    # As in ctest, the percentage is never rounded up to 100 if something failed.
    percent = min(total["passed"] * 100 / ran, 99) if total["failed"] else 100
    print("%.0f%% tests passed, %d tests failed out of %d" % (percent, total["failed"], ran))
    return 1 if total["failed"] else 0


def names_of_all_tests():
    """Returns the id of every test that build/dev has: ctest lists them, and pytest the tests of each of its files."""
    done = subprocess.run(["ctest", "--test-dir", str(ROOT / "build/dev"), "--show-only=json-v1"], check=True, stdout=subprocess.PIPE)
    tests = json.loads(done.stdout)["tests"]
    names = [test["name"] for test in tests if not starts_several(test["name"])]
    with tempfile.TemporaryDirectory() as folder:
        def collect(test):
            environment = next(each["value"] for each in test["properties"] if each["name"] == "ENVIRONMENT")
            environment = {**os.environ, **dict(each.split("=", 1) for each in environment), "SECEQUIV_OUTCOMES": folder}
            done = subprocess.run([*test["command"], "--collect-only"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise Unusable("%s\n%s" % (" ".join(test["command"]), done.stdout))

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(collect, [test for test in tests if starts_several(test["name"])]))
        for path in Path(folder).glob("*.pytest"):
            names.extend(name for name, _, _ in pytest(path))
    return sorted(names)


def main(arguments):
    try:
        if arguments == ["list"]:
            text = "".join(name + "\n" for name in names_of_all_tests())
            ALL.parent.mkdir(exist_ok=True)
            ALL.write_text(text, encoding="utf-8")
            return 0
        if len(arguments) > 1 and arguments[0] == "judge":
            return judge(arguments[1:])
    except (Unusable, OSError, ValueError, subprocess.CalledProcessError) as error:
        print("outcomes: %s" % error, file=sys.stderr)
        return 2
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
