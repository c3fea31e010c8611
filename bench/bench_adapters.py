"""scripts/bench adapters: measures how many programs per second an optimizer, compiler or evaluator under test answers, and checks
whether findings about other projects are true.

Every adapter is fuzzed for 10 million evaluations. The naive evaluator shares no code with the tool. It confirms a finding if the two
programs return different values for its input, if the adapter's value is wrong, or if the kernel's check refuses the answer. Otherwise
the finding is a false alarm.
"""
import sys

from measure import compare, number, quotient, report_of, table

EVALUATIONS = 10_000_000
RUNS = 1000  # inputs for each program
TRIVIAL, GVISOR = 20_000, 5_000  # programs each second
PLAIN = 500  # programs each second through a command that takes 3 ms, on two cores
TARGETS = [("optimizer", "gvisor", ""), ("compiler", "gvisor", ""), ("evaluator", "gvisor", ""), ("compiler", "libseccomp", ""),
           ("compiler", "libseccomp", " --tree"), ("compiler", "seccompiler", ""), ("evaluator", "libpcap", "")]
# These kinds of findings are not about return values, so the naive evaluator cannot confirm them.
NOT_ABOUT_VALUES = {"slow", "hung", "crashed", "exhausted", "grew", "nondeterministic", "not-idempotent", "cache-loss"}


def confirmed(finding, kind):
    """Returns whether the naive evaluator confirms a finding; None if the finding is not about values."""
    from naive.accept import accept
    from naive.naive import Insn, run
    if finding["kind"] in NOT_ABOUT_VALUES:
        return None
    before = [Insn(*row) for row in finding["before"]]
    if finding["kind"] == "rejected":
        return accept(before) is None and accept([Insn(*row) for row in finding["after"]]) is not None
    if finding["kind"] != "different":
        return False
    data = b"".join(word.to_bytes(4, "little") for word in finding["witness"]["data"]["words"])
    ours, theirs = (int(finding["witness"][side]["value"], 16) for side in ("before", "after"))
    if run(before, data) != ours or ours == theirs:
        return False
    return kind == "evaluator" or run([Insn(*row) for row in finding["after"]], data) == theirs


def fuzz(binary, kind, command, trials):
    return report_of(binary, "fuzz", "--" + kind, "serve:" + command, "--trials", trials, "--runs", RUNS, "--request-timeout", 1, "--no-scaling",
                     allowed=(0, 1, 4, 5))


def alarms(root, binary):
    """Returns the rows of the table, and problems."""
    rows, problems = [], []
    for kind, name, arguments in TARGETS:
        program = root / "build" / "adapters" / name
        label = "%s %s%s" % (kind, name, arguments)
        if not program.exists():
            rows.append([label] + [None] * 6 + ["not built"])
            continue
        totals, trials, false = {"evaluations": 0, "answered": 0, "seconds": 0, "findings": 0, "confirmed": 0}, EVALUATIONS // RUNS, []
        while totals["evaluations"] < EVALUATIONS and trials < 4_000_000:
            document = fuzz(binary, kind, str(program) + arguments, trials)
            checked = [(finding, confirmed(finding, kind)) for finding in document["findings"]]
            false = [finding for finding, true in checked if true is False]
            totals = {"evaluations": document["evaluations"], "answered": document["answered"], "seconds": document["seconds"],
                      "findings": sum(true is not None for _, true in checked), "confirmed": sum(true is True for _, true in checked)}
            # These compilers can express few policies, so they need more trials to reach the number of evaluations.
            trials = int(trials * max(1.5, 1.2 * EVALUATIONS / max(totals["evaluations"], 1)))
        rows.append([label, totals["answered"], totals["evaluations"], number(totals["seconds"], 1), totals["findings"],
                     totals["confirmed"], len(false), compare((len(false), "<=", 0), (totals["evaluations"], ">=", EVALUATIONS))])
        problems += ["%s: %s is not confirmed: %s" % (label, finding["kind"], finding["detail"]) for finding in false]
    return rows, problems


def fastest(rates):
    """Returns the highest rate of each command from [(name, rate)]."""
    return {name: max(rate for other, rate in rates if other == name) for name, _ in rates}


def plain_commands(binary, folder, repetitions):
    """Returns the table of programs per second that `fuzz` sends to the same tool, started once and started for each program."""
    plain = folder / "bench_plain_command"
    commands = {"served": ["serve:%s" % (folder / "bench_identity_server"), "--trials", 20_000], "3 ms, at once": [plain, "--trials", 1000],
                "3 ms, one at a time": [plain, "--trials", 300, "--at-once", 1]}
    rates = []
    for _ in range(min(repetitions, 5)):
        for name, arguments in commands.items():
            document = report_of(binary, "fuzz", "--no-scaling", "--optimizer", *arguments)
            rates.append((name, document["trials"] / document["seconds"]))
    best = fastest(rates)
    return table("adapters: programs that fuzz generates, sends and proves in a second (best of %d)" % min(repetitions, 5),
                 ["command", "programs/s", "of served", "target", ""],
                 [[name, number(best[name], 0), number(quotient(best[name], best["served"]), 4), target and ">= %d" % target,
                   compare((best[name], ">=" if target else None, target))]
                  for name, target in (("served", None), ("3 ms, at once", PLAIN), ("3 ms, one at a time", None))])


def suite(root, repetitions, build, run):
    sys.path.insert(0, str(root / "scripts"))
    bench = build("adapter_bench")
    binary = build("secequiv")
    served = ["--serve=identity=%s" % (bench.parent / "bench_identity_server")]
    gvisor = root / "build" / "adapters" / "gvisor"
    if gvisor.exists():
        served.append("--serve=gvisor=%s" % gvisor)
    rates = {}
    for row in run(bench, repetitions, ".", *served):
        if row.get("run_type") == "iteration":
            name = row["name"].split("/")[1]
            rates[name] = max(rates.get(name, 0), row["items_per_second"])
    reference = rates.get("in_process")
    print(table("adapters: programs of about 30 instructions answered in a second, with many requests under way at once (best of %d)" % repetitions,
                ["optimizer", "programs/s", "of in process", "target", ""],
                [[name, number(rates.get(name), 0), number(quotient(rates.get(name), reference), 4), target and ">= %d" % target,
                  compare((rates.get(name), ">=" if target else None, target))]
                 for name, target in (("in_process", None), ("identity", TRIVIAL), ("gvisor", GVISOR))]))
    print(plain_commands(binary, bench.parent, repetitions))
    rows, problems = alarms(root, binary)
    print(table("adapters: findings about values, and how many the naive evaluator confirms",
                ["under test", "answered", "evaluations", "s", "findings", "confirmed", "false", ""], rows))
    return problems
