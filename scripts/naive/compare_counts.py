#!/usr/bin/env python3
"""Runs two vector runners over the same directories and requires that they agree: compare_counts.py RUNNER DIR ...

RUNNER is the C++ runner; the other one is run_vectors.py in this folder. Both must end with the same
`vectors: N passed, 0 failed`, with N at least --minimum. A file that only one of them reads, or a vector on which they
differ, is a failure. Directories that do not exist are left out for both. Exit status: 0 they agree; 1 they do not; 2 wrong usage.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

LAST_LINE = re.compile(r"vectors: (\d+) passed, (\d+) failed")


def count(command):
    """Returns (passed, failed) as `command` reports them in its last line, or None; its output goes to stderr."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = done.stdout.splitlines()
    match = LAST_LINE.fullmatch(lines[-1]) if lines else None
    for line in lines[:-1] + done.stderr.splitlines():
        print(line, file=sys.stderr)
    return (int(match.group(1)), int(match.group(2))) if match else None


def disagreement(first, second, minimum):
    """Returns what is wrong with two (passed, failed) results, or None if nothing is."""
    if first is None or second is None:
        return "a runner reported no count"
    if first != second:
        return "the runners disagree: %d passed and %d failed, but %d passed and %d failed" % (first + second)
    if first[1] != 0:
        return "%d vectors failed" % first[1]
    if first[0] < minimum:
        return "only %d vectors, expected at least %d" % (first[0], minimum)
    return None


def main(argv=None):
    parser = argparse.ArgumentParser(description="Compare the counts of two vector runners.")
    parser.add_argument("runner", help="the C++ runner")
    parser.add_argument("directory", nargs="+", help="directories of .vec files")
    parser.add_argument("--minimum", type=int, default=150, help="fewest vectors to accept (default: %(default)s)")
    options = parser.parse_args(argv)
    directories = [directory for directory in options.directory if Path(directory).is_dir()]
    if not directories:
        parser.error("none of the directories exists")
    naive = Path(__file__).resolve().parent / "run_vectors.py"
    first = count([options.runner, *directories])
    second = count([sys.executable, str(naive), *directories])
    problem = disagreement(first, second, options.minimum)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    print("both runners: vectors: %d passed, %d failed" % first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
