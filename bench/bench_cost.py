"""scripts/bench cost: compares two published tables of times with exact counts of executed instructions, which are the same on every
machine."""
from measure import compare, number, quotient, report_of, show

# TSC ticks of one call, published with libseccomp's tree: for calls at three places in a list of 306 calls, and in the tree.
TICKS = {"first": 256, "middle": 516, "last": 1942}
TREE_TICKS = 312
NO_FILTER_TICKS = 138
CALLS = 306

# gVisor published these figures with its optimizer, for the same profile: the percentage of the filter's time that it removes, and the
# least factor by which it shrinks the filter.
REMOVED, SMALLER = 29, 4
CONFIGURATIONS = ("systrap", "systrap-everything")


def call_rows(report):
    """Returns rows for the first, the middle and the last allowed call in the list, and a row for the mean of all allowed calls. If
    `report` is None, the rows have no numbers."""
    found = {}
    if report is not None:
        linear, tree = ([each for each in side["calls"] if each["exact"] and each["over"]["allowed"]] for side in report["sides"])
        by_place = sorted(linear, key=lambda each: each["mean"])
        in_tree = {each["name"]: each["mean"] for each in tree}
        if len(by_place) == CALLS and set(in_tree) == {each["name"] for each in linear}:
            for place, at in (("first", 0), ("middle", CALLS // 2), ("last", -1)):
                found[place] = (by_place[at]["name"], by_place[at]["mean"], in_tree[by_place[at]["name"]])
            found["mean"] = ("all %d" % CALLS, sum(each["mean"] for each in linear) / CALLS, sum(in_tree.values()) / CALLS)
    rows = []
    for place in ("first", "middle", "last", "mean"):
        name, in_list, in_tree = found.get(place, (None, None, None))
        ticks = TICKS.get(place)
        rows.append([place, name, number(in_list, 1), number(in_tree, 1), number(quotient(in_tree, in_list), 2), ticks, ticks and TREE_TICKS,
                     number(ticks and (TREE_TICKS - NO_FILTER_TICKS) / (ticks - NO_FILTER_TICKS), 2), compare((in_list, None, None))])
    return rows


def pair_row(name, report):
    """Returns what an optimizer removed from one filter; `report` is None if it was not counted."""
    def of(side, key):
        return report["sides"][side][key] if report is not None and all(each["exact"] for each in report["sides"]) else None

    cells = [name, of(0, "instructions"), of(1, "instructions"), number(quotient(of(0, "instructions"), of(1, "instructions")), 2)]
    for key in ("mean", "mean_uncached"):
        kept = quotient(of(1, key), of(0, key))
        cells += [number(of(0, key), 2), number(of(1, key), 2), number(None if kept is None else 100 * (1 - kept), 1)]
    return cells + ["about %d %%, more than %d times" % (REMOVED, SMALLER), compare((of(0, "mean"), None, None))]


def suite(root, repetitions, build, run):
    """Prints the tables and returns what could not be measured."""
    del repetitions, run  # counts are the same in every run
    binary = build("secequiv")
    programs, problems = root / "corpus/programs", []

    def report(*arguments):
        try:
            return report_of(binary, "cost", *arguments)
        except (RuntimeError, ValueError) as error:
            problems.append(str(error))
            return None

    calls = call_rows(report(programs / "libseccomp/allow306.linear.bpf", programs / "libseccomp/allow306.tree.bpf"))
    pairs = [pair_row(name, report(*(programs / "gvisor" / ("%s.%s.bpf" % (name, side)) for side in ("before", "after")),
                                   "--profile", root / "corpus/profiles/postgres.txt")) for name in CONFIGURATIONS]
    problems += show(
        ("libseccomp, %d allowed system calls, by their place in the list: instructions executed in the list, in the tree, and their ratio; then the\n"
         "published TSC ticks of a call, and the ratio after subtracting the %d ticks of a call without a filter" % (CALLS, NO_FILTER_TICKS),
         ["place", "call", "list", "tree", "ratio", "ticks list", "tree", "ratio", ""], calls),
        ("gVisor's filters, before and after its optimizer: their sizes; the instructions that a call of corpus/profiles/postgres.txt executes on\n"
         "average, with the kernel's cache and without it, and the % removed; the last column has the published reduction of time and size",
         ["filter", "before", "after", "smaller", "executed before", "after", "% removed", "uncached before", "after", "% removed",
          "published", ""], pairs))
    return problems
