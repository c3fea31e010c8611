#!/usr/bin/env python3
"""Runs vector files through the naive evaluator: run_vectors.py [DIR ...]. By default, it runs corpus/vectors and corpus/regress.

Prints one line per failure and, last, `vectors: N passed, M failed`; N and M count vectors. Exit status: 0 all
passed; 1 some failed; 2 wrong usage or a malformed file.
"""

import argparse
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from naive import vectors  # noqa: E402


def main(argv=None):
    parser = argparse.ArgumentParser(description="Run seccomp test vectors through the naive evaluator.")
    parser.add_argument("directory", nargs="*", help="directories of .vec files (default: corpus/vectors and corpus/regress)")
    options = parser.parse_args(argv)
    for directory in options.directory:
        if not Path(directory).is_dir():
            print("%s: not a directory" % directory, file=sys.stderr)
            return 2
    files = vectors.find_files(options.directory or vectors.DEFAULT_DIRECTORIES)
    if not files:
        print("no .vec files found", file=sys.stderr)
        return 2
    try:
        loaded = [vector for path in files for vector in vectors.load(path)]
    except (vectors.VectorError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    failed = 0
    for vector in loaded:
        failures = vectors.check(vector)
        failed += bool(failures)
        for failure in failures:
            print(failure)
    print("vectors: %d passed, %d failed" % (len(loaded) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
