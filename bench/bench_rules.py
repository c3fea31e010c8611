"""scripts/bench rules: how long each rule of verify/rules/library takes to be proven or refuted.

`secequiv prove-rule` says so itself; of N runs the fastest counts. Its start is that of a process, and not in it."""
import json
import statistics
import subprocess

from bench_prove import judge, number, table

MEDIAN_MS, SLOWEST_MS = 20, 100
SHOWN = 8


def fastest(reports):
    """name -> (fewest milliseconds, verdict) over several reports of the same rules."""
    best = {}
    for report in reports:
        for rule in report["rules"]:
            ms = 1000 * rule["seconds"]
            if rule["name"] not in best or ms < best[rule["name"]][0]:
                best[rule["name"]] = (ms, rule["verdict"])
    return best


def rows(best):
    """The median of all, then the slowest, with targets."""
    slowest = sorted(best.items(), key=lambda item: -item[1][0])[:SHOWN]
    median = statistics.median(ms for ms, _ in best.values()) if best else None
    return [["median of %d" % len(best), None, number(median, 1), MEDIAN_MS, judge((median, "<=", MEDIAN_MS))]] + [
        [name, verdict, number(ms, 1), SLOWEST_MS, judge((ms, "<=", SLOWEST_MS))] for name, (ms, verdict) in slowest]


def suite(root, repetitions, build, run):
    """Prints the table; returns what could not be measured. `build` and `run` are those of scripts/bench."""
    del run
    binary, files = build("secequiv"), sorted(map(str, (root / "verify/rules/library").glob("*.rule")))
    reports = []
    for _ in range(repetitions):
        done = subprocess.run([str(binary), "prove-rule", "--json", *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return ["prove-rule: status %d: %s" % (done.returncode, done.stderr.strip())]
        reports.append(json.loads(done.stdout))
    title = "rules: ms of a proof or of a counterexample made small (fastest of %d); the slowest %d" % (repetitions, SHOWN)
    print(table(title, ["rule", "verdict", "ms", "target", ""], rows(fastest(reports))), end="")
    return []
