#!/usr/bin/env python3
"""Lists the tests of build/dev that depend on what changed: affected.py REVISION FILE writes their numbers into FILE, for ctest -I.

What changed is what differs between the revision and the files of the work tree. A unit test in C++ depends on its own file, and on the layers of the files
that it includes, with all layers below (scripts/layers/rules.py). A test in Python depends on its folder, on the modules that it imports, on scripts that it
names, and, if it runs the command line or the library, on the layers below these. A change that no layer and no script owns, like a build file, affects every
test. Tests of annexes run only if a file beside them changed; those of adapters and of the WebAssembly module not even then, because they need other builds.
"""

import functools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from layers import check, rules  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "build/dev"
IMPORT = re.compile(r"^\s*(?:from\s+(\.*)([\w.]*)\s+import\s+\(?([\w, ]+)|import\s+([\w., ]+))", re.MULTILINE)
NAMED = re.compile(r'scripts/[\w./-]*\w|(?<=")[\w./-]+(?=")')  # a path, or a name in quotation marks
RUNS_OURS = re.compile(r"SECEQUIV_BIN|SECEQUIV_FUZZ_BIN|build/(dev|release|wasm)")
DOCUMENTS = ("docs/", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
EMBEDDED = {"harness/seccomp": ("corpus/properties/",), "harness/policy": ("corpus/policies/schema.json",), "harness/report": ("docs/glossary.md",)}  # compiled into a layer
ANYTHING = "everything"  # a layer on which every test depends


STALE = ("adapters", "wasm")  # annexes that need more builds than the preset dev


def changed_since(revision, root=ROOT):
    """Returns the paths that differ from the revision, and new files."""
    def git(*command):
        out = subprocess.run(["git", "-C", str(root), *command, "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return {name for name in out.split("\0") if name}
    return git("diff", "--name-only", "--no-renames", revision) | git("ls-files", "-o", "--exclude-standard")


def is_test(path):
    return path.endswith("_test.cc") or re.search(r"(^|/)(tests/.*|test_\w*|conftest)\.(py|txt|patch)$", path) is not None


def layers_of(path):
    """Returns the layers that a changed file changes; tests and documents are no part of a layer."""
    if path == "conftest.py" or path.startswith("cmake/"):
        return {ANYTHING}
    for owner, embedded in EMBEDDED.items():
        if path.startswith(embedded):
            return {owner} | ({rules.DATA} if path.startswith(rules.DATA) else set())
    if is_test(path) or path.startswith(DOCUMENTS) or path.startswith("scripts/"):
        return set()
    if path.startswith(rules.DATA):
        return {rules.DATA}
    return {rules.layer_of(path) or ANYTHING}


class Tests:
    """Knows on what each test depends. `files` are the paths of the tree."""

    def __init__(self, root, files):
        self.root, self.files = root, set(files)
        self.modules = {}  # each way to end a dotted name, like naive and naive.accept for scripts/naive/accept.py
        for path in self.files:
            if path.endswith(".py"):
                parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
                for start in range(len(parts)):
                    self.modules.setdefault(".".join(parts[start:]), set()).add(path)

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        file = self.root / path  # absent if it was removed
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""

    @functools.lru_cache(maxsize=None)
    def unit(self, path):
        """Returns (files, layers) on which the tests in a C++ file depend."""
        starts = {rules.layer_of(path)} | {rules.layer_of(target) for _, target in check.includes(path, self.text(path).splitlines(), self.files)}
        layers = rules.closure(rules.ARROWS, [layer for layer in starts if layer])
        return {path}, layers | ({rules.DATA} if re.search(r"\bcorpus\b", self.text(path)) else set())

    def names_imported(self, path):
        """Yields the dotted name of each module that a Python file may import."""
        for dots, module, words, plain in IMPORT.findall(self.text(path)):
            if dots:  # relative to the folder of the file
                folder = path.split("/")[:-len(dots)]
                module = ".".join([*folder, *filter(None, module.split("."))])
            for word in re.findall(r"\w+", words):
                yield "%s.%s" % (module, word)
            yield from [module] if module else re.findall(r"[\w.]+", plain)

    def imported(self, path):
        """Returns the paths of the modules that a Python file imports, directly or indirectly; a name stands for every module of this name."""
        found, todo = set(), [path]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo.extend(each for name in self.names_imported(one) for each in self.modules.get(name, ()))
        return found

    @functools.lru_cache(maxsize=None)
    def script(self, path):
        """Returns (files, layers) on which a file of tests in Python depends."""
        files = self.imported(path)
        folder = path.rpartition("/")[0]
        owner = folder.rpartition("/tests")[0] or folder
        text = "\n".join(self.text(each) for each in files)
        files = files | {each for each in self.files if (each.startswith(folder + "/") and (not each.endswith(".py") or each.endswith("conftest.py")))
                         or (each.startswith(owner + "/") and not is_test(each))}
        named = set(NAMED.findall(text))
        files |= {each for each in self.files if each.startswith("scripts/") and not is_test(each) and {each, each.removeprefix("scripts/")} & named}
        layers = set()
        if RUNS_OURS.search(text) or "cli_tool" in text:
            layers = rules.closure(rules.ARROWS, ["cli", "api"])
        elif rules.layer_of(path):
            layers = {rules.layer_of(path)}
        if "corpus" in text:
            layers = layers | {rules.DATA}
        if path.startswith("docs/") or re.search(r"\bdocs\b|README|ARCHITECTURE|SECURITY", text):
            files |= {each for each in self.files if each.startswith(DOCUMENTS)}
        return files, layers


def googletests(programs):
    """Returns {id: path} of the tests in these executables."""
    out = {}
    for program in programs:
        with tempfile.NamedTemporaryFile(suffix=".json") as listing:
            subprocess.run([program, "--gtest_list_tests", "--gtest_output=json:" + listing.name], check=True, stdout=subprocess.DEVNULL)
            for suite in json.load(open(listing.name, encoding="utf-8"))["testsuites"]:
                out.update(("%s.%s" % (suite["name"], test["name"]), test["file"]) for test in suite["testsuite"])
    return out


def labels(test):
    return next((each["value"] for each in test.get("properties", ()) if each["name"] == "LABELS"), ())


def selection(numbers):
    """Returns the text of a file for ctest -I: START,END,STRIDE,NUMBER,... The first three are such that only the listed numbers remain."""
    return "0,0,0,%s\n" % ",".join(map(str, numbers)) if numbers else ""


def affected(tests, knows, changed, sources, left_out=STALE):
    """Returns the numbers of the affected tests. `tests` are those of ctest, `sources` the files of the tests of GoogleTest."""
    layers = set().union(*map(layers_of, changed))
    numbers = []
    for number, test in enumerate(tests, 1):
        command, name = test["command"], test["name"]
        annex = "annex" in labels(test)
        if set(left_out) & set(labels(test)):
            continue
        if name in sources:
            files, below = knows.unit(sources[name])
        elif name.startswith("pytest."):
            files, below = knows.script(command[-1])
            if annex:
                folder = command[-1].rpartition("/tests/")[0]
                files, below = {command[-1]} | {each for each in changed if each.startswith(folder + "/")}, set()
        elif name.startswith("replay_"):
            files, below = set(), rules.closure(rules.ARROWS, ["fuzz/targets"]) | {rules.DATA}
        elif name.startswith("api"):
            files, below = {each for each in changed if each.startswith("api/c/tests/")}, rules.closure(rules.ARROWS, ["api"])
        else:  # checks of the whole tree
            files, below = changed, set()
        if (ANYTHING in layers and not annex) or files & changed or below & layers:
            numbers.append(number)
    return numbers


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    changed = changed_since(arguments[0])
    done = subprocess.run(["ctest", "--test-dir", str(DEV), "--show-only=json-v1"], check=True, stdout=subprocess.PIPE)
    tests = json.loads(done.stdout)["tests"]
    programs = sorted({test["command"][0] for test in tests if test["command"][0].endswith("_tests")})
    sources = {name: str(Path(path).resolve().relative_to(ROOT)) if Path(path).is_absolute() else path for name, path in googletests(programs).items()}
    knows = Tests(ROOT, {*check.list_files(ROOT), *changed})
    numbers = affected(tests, knows, changed, sources)
    Path(arguments[1]).write_text(selection(numbers), encoding="utf-8")
    print("%d files changed: %d of %d tests depend on them" % (len(changed), len(numbers), len(tests)), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
