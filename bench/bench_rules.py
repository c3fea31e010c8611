"""scripts/bench rules: measures the time to prove or refute each rule of verify/rules/library, without the start of the process.

`secequiv prove-rule` reports the time; the fastest of N runs counts.
"""
import statistics

from measure import compare, number, report_of, table

MEDIAN_MS, SLOWEST_MS = 20, 100
SHOWN = 8


def fastest(reports):
    """Returns name -> (fewest milliseconds, verdict) over several reports of the same rules."""
    best = {}
    for report in reports:
        for rule in report["rules"]:
            ms = 1000 * rule["seconds"]
            if rule["name"] not in best or ms < best[rule["name"]][0]:
                best[rule["name"]] = (ms, rule["verdict"])
    return best


def rows(best):
    """Returns the median of all rules and then the slowest rules, with targets."""
    slowest = sorted(best.items(), key=lambda item: -item[1][0])[:SHOWN]
    median = statistics.median(ms for ms, _ in best.values()) if best else None
    return [["median of %d" % len(best), None, number(median, 1), MEDIAN_MS, compare((median, "<=", MEDIAN_MS))]] + [
        [name, verdict, number(ms, 1), SLOWEST_MS, compare((ms, "<=", SLOWEST_MS))] for name, (ms, verdict) in slowest]


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del run
    binary, files = build("secequiv"), sorted(map(str, (root / "verify/rules/library").glob("*.rule")))
    reports = []
    for _ in range(repetitions):
        try:
            reports.append(report_of(binary, "prove-rule", *files))
        except RuntimeError as error:
            return [str(error)]
    title = "rules: ms to prove a rule, or to find and minimize a counterexample (fastest of %d); the slowest %d" % (repetitions, SHOWN)
    print(table(title, ["rule", "verdict", "ms", "target", ""], rows(fastest(reports))), end="")
    return []
