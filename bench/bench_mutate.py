"""scripts/bench mutate: counts the single-point mutants of real filters that derived inputs, fuzzing and proofs find."""
from measure import compare, number, report_of, table

NAMES = ("systrap", "systrap-hostnet", "systrap-everything")
INPUTS, ALL = 99.9, 100  # percent of the mutants that are not equivalent
SECONDS = 60  # limit for one filter


def share(part, whole):
    """Returns percent, or None if there was nothing to find."""
    return 100 * part / whole if whole else None


def row(name, report, seconds):
    """Returns the figures of one filter; `report` is None if there are none."""
    if report is None:
        return [name] + [None] * 8 + ["not measured"]
    total = report["total"]
    different = total["killed_by_inputs"] + total["killed_by_fuzzing"] + total["survived"] + total["undecided"]
    inputs = share(total["killed_by_inputs"], different)
    fuzzed = share(total["killed_by_inputs"] + total["killed_by_fuzzing"], different)
    proven = share(total["proven_different"], total["proven_different"] + total["unproven"])
    return [name, total["mutants"], total["equivalent"], sum(each["inputs"] for each in report["inputs"]), number(inputs, 3),
            number(fuzzed, 3), number(proven, 3), number(seconds, 1), ">= %s, %s, %s %%; <= %d s" % (INPUTS, ALL, ALL, SECONDS),
            compare((inputs, ">=", INPUTS), (fuzzed, ">=", ALL), (proven, ">=", ALL), (seconds, "<=", SECONDS))]


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del repetitions, run  # counts are the same in every run, and a run takes long
    binary = build("secequiv")
    rows, problems = [], []
    for name in NAMES:
        report, seconds = None, None
        try:
            report = report_of(binary, "mutate", root / "corpus/programs/gvisor" / (name + ".after.bpf"), "--policy",
                               root / "corpus/policies/gvisor" / (name + ".json"), "--prove-all", allowed=(0, 1, 3))
            seconds = sum(report["seconds"].values())
        except (RuntimeError, ValueError) as error:
            problems.append("%s: %s" % (name, error))
        rows.append(row(name, report, seconds))
    print(table("single-point mutants of gVisor's optimized filters: the % of the non-equivalent ones killed by inputs derived from policy\n"
                "and program, by these inputs plus a second of fuzzing each, and by proofs; the time of all three in one run",
                ["filter", "mutants", "equivalent", "inputs", "derived", "fuzzed", "proven", "s", "target", ""], rows), end="")
    return problems
