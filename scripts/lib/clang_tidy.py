#!/usr/bin/env python3
"""Run clang-tidy on the sources that a build folder would compile: clang_tidy.py SOURCES BUILD.

Unless build/clang-tidy of this project already contains the version of clang-tidy that clang_tidy.txt pins, pip installs it there.
BUILD/compile_commands.json must list every source except tests, benchmarks and those that adapters build themselves, because run-clang-tidy
cannot notice a source that no target compiles.

Exit status: 0 no findings; 1 findings, no sources, or a source that no target compiles; 2 a build folder that cannot be read, or no
clang-tidy
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from pinned import Missing, python_packages  # noqa: E402

FOLDERS = ("adapters", "analyze", "api", "cli", "fuzz", "harness", "verify")
# No check is needed for tests, benchmarks, sources that only these use, sources that adapters build themselves, and those that only
# the preset wasm compiles.
ELSEWHERE = re.compile(r"_(absent|test|bench)\.cc$|^api/wasm/|^bench/|/tests/|^adapters/(?!broken/|builtin/)\w+/|^harness/seccomp/vector_runner\.cc$")


def compiled(database):
    """Returns the sources that are compiled, alone or in a unity file."""
    files = {Path(entry["directory"], entry["file"]) for entry in database}
    for unity in [file for file in files if "Unity" in file.parts]:
        files.update(map(Path, re.findall(r'^#include "(.*\.cc)"$', unity.read_text(), re.MULTILINE)))
    return {file.resolve() for file in files}


def main(root, build):
    try:
        tools = python_packages(HERE / "clang_tidy.txt", HERE.parents[1] / "build/clang-tidy") / "clang_tidy/data/bin"
        known = compiled(json.loads((build / "compile_commands.json").read_text()))
    except Missing as missing:
        print("clang_tidy: %s" % missing, file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as error:
        print("clang_tidy: %s: %s" % (build, error), file=sys.stderr)
        return 2
    sources = [str(path.relative_to(root)) for folder in FOLDERS for path in sorted((root / folder).rglob("*.cc")) if path.resolve() not in known]
    missing = [name for name in sources if not ELSEWHERE.search(name)]
    for name in missing:
        print("%s:1: error: no target compiles this, so clang-tidy did not see it" % name, flush=True)
    # Check unity files as well, because they include sources; all other files in the build folder are generated.
    ours = r"^(?!%s/(?!(.*/)?Unity/)).*\.(cc|cxx)$" % re.escape(str(build))
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    failed = subprocess.call([sys.executable, str(tools / "run-clang-tidy.py"), "-quiet", "-clang-tidy-binary", str(tools / "clang-tidy"),
                              "-p", str(build), "-j", jobs, ours]) != 0
    return 1 if failed or missing or not known else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
