"""scripts/bench optimize: compares the reference optimizer's filters for real policies with gVisor's and libseccomp's.

optimize_bench counts, proves and times; this script compares and prints.
"""
import json

from measure import compare, fastest, finished, growth_rows, number, quotient, show

LARGEST = "systrap-everything"
LARGEST_MS = 30  # gVisor needs about 59 ms, in Go
DOUBLING = 2.5
LENGTHS = [64 << i for i in range(7)]
REQUESTS = 500
FILTERS = ("docker-x86_64", "docker-aarch64", "podman-x86_64", "allow306")


def change(row, key):
    """Returns how many system calls the kernel's bitmap loses and gains."""
    return "-%d +%d" % (row[key]["lost"], row[key]["gained"]) if key in row else None


def value(row, whose, key):
    return row.get(whose, {}).get(key)


def gvisor_rows(rows):
    out = []
    for row in rows:
        cells, limits = [row["name"], row.get("compiled")], []
        for key, digits in (("size", 0), ("weighted", 2), ("uncached", 2)):
            theirs, ours = value(row, "gvisor", key), value(row, "ours", key)
            cells += [number(theirs, digits), number(ours, digits)]
            if key != "uncached":
                limits.append((None if theirs is None else ours, "<=", theirs))
        cells += [change(row, "cache_gvisor"), change(row, "cache_compiled"), "<= gvisor's", compare(*limits)]
        out.append(cells)
    return out


def libseccomp_rows(rows):
    out = []
    for row in rows:
        cells, ours = [row["name"]], value(row, "ours", "size")
        for key, digits in (("size", 0), ("executed", 2), ("uncached", 2), ("most", 0)):
            cells += [number(value(row, whose, key), digits) for whose in ("linear", "tree", "ours")]
        out.append(cells + [row.get("inputs"), row.get("left_out"),
                            None if row.get("assumed") == "true" else row.get("assumed"), compare((ours, None, None))])
    return out


def request_rows(rows):
    return [[row["name"], row.get("size"), number(row.get("executed"), 2), row.get("most"), compare((row.get("size"), None, None))]
            for row in rows]


def time_rows(names, times):
    rows = []
    for name in names:
        now = times.get("optimize/" + name)
        limit = LARGEST_MS if name == LARGEST else None
        now = None if now is None else now / 1e3
        rows.append([name, number(now, 2), limit and "<= %d ms" % limit, compare((now, limit and "<=", limit))])
    return rows


def split_rows(times):
    parts = {kind: times.get("split/" + kind) for kind in ("rules", "layout", "bytecode")}
    known = None if None in parts.values() else sum(parts.values())
    return [[kind, number(quotient(now, 1e3), 2), number(quotient(now and 100 * now, known), 0), compare((now, None, None))]
            for kind, now in parts.items()]


def counted(binary):
    """Returns optimize_bench's counts. Raises RuntimeError if there are none."""
    return json.loads(finished([binary, "--counts"]).stdout)


def named(rows, names):
    """Returns the rows with these names; for a name that was not counted, the row has no numbers."""

    known = {row["name"]: row for row in rows}
    return [known.get(name, {"name": name}) for name in names]


def suite(root, repetitions, build, run):
    """Prints the tables and returns what could not be measured."""
    names = sorted(path.stem for path in (root / "corpus/policies/gvisor").glob("*.json"))
    binary = build("optimize_bench")
    try:
        counts = counted(binary)
    except (RuntimeError, ValueError) as error:
        return [str(error)]
    times, _, errors = fastest(run(binary, repetitions, "."))
    problems = ["%s: %s" % (row["name"], row["error"]) for rows in counts.values() for row in rows if "error" in row]
    problems += ["%s: %s" % item for item in sorted(errors.items())]

    return problems + show(
        ("gVisor's optimizer and ours on the same rules: sizes; instructions that a call of corpus/profiles/postgres.txt executes, with the\n"
         "kernel's cache and without it; system calls that the cache loses and gains (each filter is proven equivalent to the policy)",
         ["policy", "compiled", "gvisor", "ours", "executed gvisor", "ours", "uncached gvisor", "ours", "cache: to gvisor",
          "to compiled", "target", ""], gvisor_rows(named(counts["gvisor"], names))),
        ("libseccomp's filters and ours: sizes; instructions that derived inputs execute: on average with the kernel's cache, on average without\n"
         "it, and at most (each filter is proven equivalent to the policy; libseccomp's under the stated assumption)",
         ["policy", "linear", "tree", "ours", "executed linear", "tree", "ours", "uncached linear", "tree", "ours", "most linear",
          "tree", "ours", "inputs", "names left out", "assumed", ""], libseccomp_rows(named(counts["libseccomp"], FILTERS))),
        ("%d ioctl requests, any fd: size; instructions executed on average and at most, over these requests and as many that do not match" % REQUESTS,
         ["value-trees", "instructions", "executed", "most", ""], request_rows(named(counts["requests"], ("without", "with")))),
        ("optimize(policy), in process (min time of %d)" % repetitions, ["policy", "ms", "target", ""], time_rows(names, times)),
        ("%s by kind of pass (min time of %d)" % (LARGEST, repetitions), ["kind", "ms", "%", ""], split_rows(times)),
        ("growth: system calls with one tested argument each, and requests of one ioctl (min time of %d, factor per doubling)" %
         repetitions, ["rules", "ms", "factor", "target", ""], growth_rows(("calls", "requests"), LENGTHS, times, 1e3, 2, DOUBLING)))
