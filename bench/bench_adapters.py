"""scripts/bench adapters: measures how many programs per second an optimizer, compiler or evaluator under test answers.
"""
from measure import compare, number, quotient, report_of, table

TRIVIAL, GVISOR = 20_000, 5_000  # programs each second
PLAIN = 500  # programs each second through a command that takes 3 ms, on two cores


def fastest(rates):
    """Returns the highest rate of each command from [(name, rate)]."""
    return {name: max(rate for other, rate in rates if other == name) for name, _ in rates}


def plain_commands(binary, folder, repetitions):
    """Returns a table of how many programs `fuzz` tests per second with a tool that starts once, and with one that starts for each program."""
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
    print(plain_commands(binary, bench.parent, repetitions), end="")
    return []
