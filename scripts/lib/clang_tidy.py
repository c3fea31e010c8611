#!/usr/bin/env python3
"""clang-tidy on what a build folder compiles, without compiling it: clang_tidy.py SOURCES BUILD [CLANG-TIDY].

Reads BUILD/compile_commands.json; where several sources are compiled at once (SECEQUIV_UNITY), they are checked at once. Every
source under version control that is neither a test nor an adapter's own must be among them.

Exit status: 0 nothing was found, 1 findings, or sources that nothing compiles, 2 the build folder cannot be read
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("adapters", "analyze", "api", "cli", "fuzz", "harness", "verify")
# Tests and benchmarks and what only they use, and what adapters build by themselves.
ELSEWHERE = re.compile(r"_(test|bench)\.cc$|^bench/|/tests/|^adapters/(?!broken/|builtin/)\w+/|^harness/seccomp/vector_runner\.cc$")


def units(entries):
    """What is compiled: {file: the sources it consists of}."""
    found = {}
    for entry in entries:
        file = Path(entry["directory"], entry["file"])
        together = re.findall(r'^#include "(.*\.cc)"$', file.read_text(), re.MULTILINE) if "Unity" in file.parts else []
        found[file] = [Path(each) for each in together] or [file]
    return found


def forgotten(root, compiled):
    have = {path.resolve() for paths in compiled.values() for path in paths if path.exists()}
    sources = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.cc"))]
    names = [(path, str(path.relative_to(root))) for path in sources]
    return [name for path, name in names if path.resolve() not in have and not ELSEWHERE.search(name)]


def main(root, build, tool="clang-tidy-19"):
    lists = build / "clang_tidy"
    try:
        entries = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if entry["file"].endswith((".cc", ".cxx"))]
        compiled = units(entries)
        # A source of several targets is checked once.
        lists.mkdir(exist_ok=True)
        (lists / "compile_commands.json").write_text(json.dumps(list({entry["file"]: entry for entry in entries}.values())))
    except (OSError, ValueError, KeyError) as error:
        print("clang_tidy: %s: %s" % (build, error), file=sys.stderr)
        return 2
    missing = forgotten(root, compiled)
    for name in missing:
        print("%s:1: error: no target compiles this, so clang-tidy did not see it" % name)
    # What the build itself writes is not checked; it lies in the build folder, and so do the lists of what is compiled at once.
    work = [file for file, parts in compiled.items() if parts != [file] or build.resolve() not in file.resolve().parents]

    def check(file):
        # A list of sources includes them, which nothing else may.
        checks = ["--checks=-bugprone-suspicious-include"] if compiled[file] != [file] else []
        done = subprocess.run([tool, "--quiet", *checks, "-p", str(lists), str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # On standard error is how many warnings of others were left out, unless something went wrong.
        return done.returncode, done.stdout + (done.stderr if done.returncode else "")

    failed = bool(missing) or not work
    with ThreadPoolExecutor(int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)) as pool:
        # The longest first, so that no core waits for the last.
        work.sort(key=lambda file: -len(compiled[file]))
        for done, (status, said) in enumerate(pool.map(check, work), 1):
            print("[%d/%d] clang-tidy" % (done, len(work)), flush=True)
            if status != 0 or re.search(r": (warning|error): ", said):
                failed = True
                print(said, end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), *sys.argv[3:]))
