"""scripts/bench latency: measures which differences `secequiv bench` can detect, and its results for real filters.

Another process keeps the other core busy, because the measurements must also hold on a machine that is in use.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from measure import compare, number, quotient, report_of, table

REPEATS, WITHIN, STEP = 20, 0.005, 30
PAIRS = {"systrap": "systrap", "systrap, everything on": "systrap-everything"}
PUBLISHED_LEFT = 0.71  # gVisor's optimizations removed about 29 % of the filters' overhead
POSTGRES = "corpus/profiles/postgres.txt"
# Published times of getpid with the kernel's bitmap (2020, another machine), in ns.
BITMAP = {"none": 646, "1 bitmap": 675, "2 bitmap": 675, "3 full": 732, "4 full": 752}


class Busy:
    """A process that keeps the last core busy; samples are taken on another core."""

    def __enter__(self):
        self.cores = sorted(os.sched_getaffinity(0))
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(self.process.pid, self.cores[-1:])
        os.sched_setaffinity(0, self.cores[:-1] or self.cores)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.sched_setaffinity(0, self.cores)


def bench(binary, root, *arguments):
    return report_of(binary, "bench", *arguments, cwd=root)


def times(document):
    return [row["ns"] for row in document["variants"]]


def percentile(values, share):
    return statistics.quantiles(values, n=20, method="inclusive")[0 if share < 0.5 else -1]


def told_apart(document):
    before, after = times(document)[2:4]
    return document["noise"] is not None and abs(after / before - 1) > document["noise"]


def repeated(binary, root, before, after, *arguments):
    """Runs REPEATS times with default settings, each time with another order of samples."""
    return [bench(binary, root, before, after, "--seed", seed, *arguments) for seed in range(REPEATS)]


def row(name, documents, target):
    ratios = [times(d)[3] / times(d)[2] for d in documents]
    low, high = percentile(ratios, 0.05), percentile(ratios, 0.95)
    return [name, number(low, 4), number(statistics.median(ratios), 4), number(high, 4),
            "%d of %d" % (sum(map(told_apart, documents)), len(documents)), target(low, high)]


def resolution(binary, root, folder):
    path = {}
    for count in (100, 100 + STEP):
        path[count] = folder / ("path%d.asm" % count)
        path[count].write_text("ld [16]\n" + "add #1\n" * count + "ret #0x7fff0000\n")
    getpid = folder / "getpid.txt"
    getpid.write_text("getpid 1\n")
    systrap = "corpus/programs/gvisor/systrap.before.bpf"
    return [
        row("systrap beside itself", repeated(binary, root, systrap, systrap, "--profile", POSTGRES),
            lambda low, high: compare((max(1 - low, high - 1), "<=", WITHIN))),
        row("getpid, %d more instructions" % STEP, repeated(binary, root, path[100], path[100 + STEP], "--profile", getpid),
            lambda low, high: compare((low - 1, ">=", WITHIN))),
    ]


def cached_calls(binary, root, program):
    return {call["name"] for call in report_of(binary, "cost", program, "--profile", POSTGRES, cwd=root)["sides"][0]["calls"] if call["cached"]}


def beyond_none(binary, root, document, side, program, bitmap_ns):
    """Returns the mean cost of the filter in ns for a call of the profile, compared with no filter. A call that the kernel can cache
    costs `bitmap_ns`."""
    cached = cached_calls(binary, root, program)
    calls = [(call["calls"], bitmap_ns if call["name"] in cached else call["ns"] - none["ns"])
             for call, none in zip(document["variants"][side]["calls"], document["variants"][0]["calls"])]
    return sum(count * ns for count, ns in calls) / sum(count for count, _ in calls)


def overhead(binary, root, bitmap_ns):
    out = []
    for name, stem in PAIRS.items():
        pair = ["corpus/programs/gvisor/%s.%s.bpf" % (stem, side) for side in ("before", "after")]
        document = bench(binary, root, *pair, "--profile", POSTGRES)
        none, empty, before, after = times(document)
        with_cache = [beyond_none(binary, root, document, side, program, bitmap_ns) for side, program in zip((2, 3), pair)]
        part = document["variants"][2].get("executed_part_of")
        out.append([name, number(none, 1), number(empty, 1), number(before, 1), number(after, 1),
                    number(quotient(after - none, before - none), 2), number(quotient(after - empty, before - empty), 2),
                    number(quotient(with_cache[1], with_cache[0]), 2), number(PUBLISHED_LEFT, 2), "+-%.1f %%" % (document["noise"] * 100),
                    "the executed part of %d" % part if part else ""])
    return out


def bitmap(binary, root, folder):
    cached, full = folder / "cached.asm", folder / "full.asm"
    cached.write_text("ret #0x7fff0000\n")
    full.write_text("ld [16]\nret #0x7fff0000\n")
    getpid = folder / "getpid.txt"
    getpid.write_text("getpid 1\n")
    stacks = ["%s" % cached, "%s,%s" % (cached, cached), "%s,%s,%s" % (full, cached, cached), "%s,%s,%s,%s" % (full, full, cached, cached)]
    document = bench(binary, root, *stacks, "--real", "--profile", getpid)
    measured = times(document)
    ours = [measured[0], *measured[2:]]
    rows = [[name, number(ns, 1), number(ns - ours[0], 1), number(published, 0), number(published - BITMAP["none"], 0)]
            for (name, published), ns in zip(BITMAP.items(), ours)]
    return rows, ours[1] - ours[0]


def suite(root, repetitions, build, run):
    """Prints the tables and returns what could not be measured."""
    del repetitions, run
    binary = build("secequiv")
    with tempfile.TemporaryDirectory() as made, Busy():
        folder = pathlib.Path(made)
        try:
            print(table("bench, %d runs at default settings, the other core busy: the second filter's time divided by the first filter's time" % REPEATS,
                        ["filters", "5 %", "median", "95 %", "told apart", ""], resolution(binary, root, folder)))
            stacks, bitmap_ns = bitmap(binary, root, folder)
            print(table("ns of getpid with stacks of filters, measured here and published in 2020 with the kernel's bitmap",
                        ["filters", "ns", "more", "2020", "more"], stacks))
            print(table("ns of a call of corpus/profiles/postgres.txt if every return is an error number; then the part of the overhead that optimization leaves:\n"
                        "over no filter, over an empty filter, over no filter with the cached calls of the second table, and as gVisor published it",
                        ["gVisor's pair", "no filter", "empty", "before", "after", "left", "of empty", "cached", "published", "noise", ""],
                        overhead(binary, root, bitmap_ns)))
        except RuntimeError as error:
            return [str(error)]
    return []
