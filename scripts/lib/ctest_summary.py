#!/usr/bin/env python3
"""Add up the closing lines of ctest logs: ctest_summary.py LOG...

The last line of output is the sum over all logs, in ctest's own form. Skipped and disabled tests ran nothing: the output names them
and the sum leaves them out, although ctest counts a skipped test as passed.

Exit status: 0 nothing failed; 1 something failed; 2 a log has no closing line or no test that ran (then the output contains
nothing that looks like a closing line)
"""

import re
import sys
from collections import namedtuple

CLOSING = re.compile(r"^(\d+)% tests passed, (\d+) tests? failed out of (\d+)\s*$", re.MULTILINE)
NOT_RUN = re.compile(r"^\s*\d+ - (\S.*) \((Skipped|Disabled)\)\s*$", re.MULTILINE)

Counts = namedtuple("Counts", "failed total skipped")


class BadLog(Exception):
    """The log has no usable counts."""


def parse(text, name):
    """Returns the counts of one log; `total` counts the tests that ran, `skipped` names the others.

    Only the last closing line and the text after it come from ctest for certain; the output of a failed test may look like a closing line.
    """
    closing = list(CLOSING.finditer(text))
    if not closing or "\nTotal Test time (real)" not in text[closing[-1].end():]:
        raise BadLog("%s: ctest's closing line is missing; it did not finish" % name)
    _, failed, total = map(int, closing[-1].groups())
    not_run = [match.groups() for match in NOT_RUN.finditer(text, closing[-1].end())]
    # ctest's total contains skipped tests but not disabled ones.
    ran = total - sum(1 for _, how in not_run if how == "Skipped")
    if ran <= 0 or failed > ran:
        raise BadLog("%s: %d tests ran and %d of them failed: these counts cannot be right" % (name, ran, failed))
    return Counts(failed, ran, tuple("%s (%s)" % (test, how.lower()) for test, how in not_run))


def combine(counts):
    counts = list(counts)
    if not counts:
        raise BadLog("no ctest log: nothing was counted")
    return Counts(sum(c.failed for c in counts), sum(c.total for c in counts), sum((c.skipped for c in counts), ()))


def closing_line(counts):
    # As in ctest, the percentage is never rounded up to 100 if something failed.
    percent = (counts.total - counts.failed) * 100 / counts.total
    if counts.failed:
        percent = min(percent, 99)
    return "%.0f%% tests passed, %d tests failed out of %d" % (percent, counts.failed, counts.total)


def main(arguments):
    try:
        parsed = []
        for path in arguments:
            with open(path, encoding="utf-8", errors="replace") as file:
                parsed.append(parse(file.read(), path))
        total = combine(parsed)
    except (BadLog, OSError) as error:
        print("ctest_summary: %s" % error, file=sys.stderr)
        return 2
    for name in total.skipped:
        print("not counted: %s" % name)
    print(closing_line(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
