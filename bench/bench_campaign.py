"""scripts/bench campaign: measures how long one run of `secequiv fuzz` takes to find every known bug, although frequent bugs hide rare
ones. The subjects are gVisor's optimizer and interpreter (corpus/known.toml), each class of planted bugs alone, and pairs of planted bugs:
each class behind each of five frequent bugs. The seconds of planted bugs are processor time. The table shows medians over the seeds:
five, or N with -n N if N is smaller.
"""
import collections
import statistics

from measure import compare, finished, number, report_of, table

SEEDS = 5
PAIR_SECONDS, OPTIMIZER_SECONDS, EVALUATOR_SECONDS = 10, 60, 20
ALONE_SECONDS = 10
ALONE = {"list-jumps-truncated": 20, "list-jumps-truncated-from-100": 5, "reload-removed-at-join": 2, "reload-removed-behind-stx": 2}  # seconds
PER_CAUSE = 2  # findings
SHOWN = 12
LD_MEM, LDX_MEM, STX, TAX, TXA, LSH_X, RSH_X = 0x60, 0x61, 0x03, 0x07, 0x87, 0x6C, 0x7C
# Each known bug: its name, the kind of its findings, and instructions, one of which must be in the reduced program (empty: any program).
# A finding belongs to the first bug that fits.
OPTIMIZER = [("gvisor-return-before-load", "rejected", ()), ("gvisor-many-returns", "slow", ()), ("gvisor-load-after-txa", "different", (TXA,)),
             ("gvisor-load-after-store", "different", (STX, 0x02))]
EVALUATOR = [("gvisor-tax", "different", (TAX, TXA)), ("gvisor-shift-left", "different", (LSH_X,)), ("gvisor-shift-right", "different", (RSH_X,))]


def causes(findings, bugs):
    """Returns {bug: [seconds of each of its findings]}, and the failures that belong to none of the bugs."""
    seconds, others = collections.defaultdict(list), []
    for finding in findings:
        if not finding["failure"]:
            continue
        codes = {insn[0] for insn in finding.get("before", [])}
        name = next((name for name, kind, needed in bugs if finding["kind"] == kind and (not needed or codes & set(needed))), None)
        if name is None:
            others.append(finding)
        else:
            seconds[name].append(finding["seconds"])
    return dict(seconds), others


def median(times, runs):
    """Returns the median of the times, or None if the bug was not found in most runs."""
    return statistics.median(times + [float("inf")] * (runs - len(times))) if 2 * len(times) > runs else None


def gvisor(binary, adapter, kind, bugs, seconds, seeds):
    """Returns a row for each bug."""
    times, most, others = collections.defaultdict(list), collections.Counter(), 0
    for seed in range(1, seeds + 1):
        document = report_of(binary, "fuzz", "--" + kind, "serve:%s" % adapter, "--duration", seconds, "--seed", seed, allowed=(0, 1, 4, 5))
        found, unknown = causes(document["findings"], bugs)
        others = max(others, len(unknown))
        for name, each in found.items():
            times[name].append(min(each))
            most[name] = max(most[name], len(each))
    rows = []
    for name, _, _ in bugs:
        middle = median(times[name], seeds)
        rows.append(["%s %s" % (kind, name), "%d/%d" % (len(times[name]), seeds), number(middle, 2), None, most[name], "<= %d" % seconds,
                     "missed" if middle is None else compare((middle, "<=", seconds), (most[name], "<=", PER_CAUSE))])
    return rows + [["%s: findings of other causes" % kind, None, None, None, others, None, None]]


def pairs(lines):
    """Returns a row for each pair of planted bugs, the slowest first. A line is: frequent, hidden, seed, the seconds until each of
    the two is found, findings, trials."""
    runs = collections.defaultdict(list)
    for line in lines:
        frequent, hidden, _, first, second, findings, trials = line.split()
        both = None if "-" in (first, second) else max(float(first), float(second))
        runs["%s behind %s" % (hidden, frequent)].append((both, int(findings), int(trials)))
    rows = []
    for name, each in runs.items():
        found = [run for run in each if run[0] is not None]
        middle = median([both for both, _, _ in found], len(each))
        trials = median([count for _, _, count in found], len(each))
        rows.append((middle if middle is not None else float("inf"),
                     [name, "%d/%d" % (len(found), len(each)), number(middle, 2), number(trials, 0), max(count for _, count, _ in each),
                      "<= %d" % PAIR_SECONDS,
                      "missed" if middle is None else compare((middle, "<=", PAIR_SECONDS))]))
    return [row for _, row in sorted(rows, key=lambda item: -item[0])]


def alone(lines):
    """Returns a row for each planted bug that is hunted alone. A line is: alone, bug, seed, seconds, trials."""
    runs = collections.defaultdict(list)
    for line in lines:
        _, name, _, seconds, trials = line.split()
        runs[name].append(None if seconds == "-" else (float(seconds), int(trials)))
    rows = []
    for name, each in runs.items():
        found = [run for run in each if run is not None]
        middle = median([seconds for seconds, _ in found], len(each))
        trials = median([count for _, count in found], len(each))
        most = ALONE.get(name, ALONE_SECONDS)
        rows.append([name, "%d/%d" % (len(found), len(each)), number(middle, 2), number(trials, 0), None, "<= %d" % most,
                     "missed" if middle is None else compare((middle, "<=", most))])
    return rows


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del run
    seeds = min(SEEDS, repetitions)
    binary, bench, problems = build("secequiv"), build("campaign_bench"), []
    header = ["bug", "seeds", "median s", "trials", "findings", "target", ""]
    adapter = root / "build" / "adapters" / "gvisor"
    if adapter.exists():
        rows = gvisor(binary, adapter, "optimizer", OPTIMIZER, OPTIMIZER_SECONDS, seeds)
        rows += gvisor(binary, adapter, "evaluator", EVALUATOR, EVALUATOR_SECONDS, seeds)
        print(table("campaign: seconds until one run found each known bug of gVisor (%d seeds)" % seeds, header, rows))
    else:
        problems.append("campaign: gvisor: not built (scripts/adapters build gvisor)")
    rows = alone(finished([bench, seeds, max(ALONE.values()), "alone"]).stdout.splitlines())
    print(table("campaign: processor seconds until one run found a planted bug", header, rows))
    rows = pairs(finished([bench, seeds, PAIR_SECONDS]).stdout.splitlines())
    met = sum(row[-1] == "met" for row in rows)
    print(table("campaign: processor seconds until one run found both of two planted bugs; %d of %d pairs within %d s, the slowest first"
                % (met, len(rows), PAIR_SECONDS), header, rows[:max(SHOWN, len(rows) - met)]), end="")
    return problems
