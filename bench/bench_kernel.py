"""scripts/bench kernel: compares the speed of the running kernel as an oracle with that of our interpreter on the same inputs."""
from measure import compare, fastest_rows, number, quotient, table

PROGRAMS = {"one": "one instruction", "systrap_unoptimized": "systrap, 1702 instructions", "systrap_optimized": "systrap, 447 instructions"}
EVALUATIONS, START_US = 7e6, 300


def lines(best):
    out = []
    for label, name in PROGRAMS.items():
        rate = {kind: best.get("%s/%s" % (kind, label), {}).get("items_per_second") for kind in ("model", "ask", "evaluate", "accept")}
        start = best.get("install_run_end/%s" % label, {}).get("real_time")  # ns
        start = start and start / 1000
        limited = label == "systrap_unoptimized"
        out.append([name, *(number(rate[kind] and rate[kind] / 1e6, 2) for kind in ("model", "ask")),
                    number(quotient(rate["ask"], rate["model"]), 2), compare((rate["ask"], ">=", EVALUATIONS)),
                    number(rate["evaluate"] and rate["evaluate"] / 1e6, 2), number(start, 0),
                    compare((start, "<=" if limited else None, START_US if limited else None)), number(rate["accept"] and 1e6 / rate["accept"], 1)])
    return out


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del root
    rows = run(build("kernel_bench"), repetitions, ".")
    for row in rows:
        row.setdefault("items_per_second", 1e9 / row["real_time"] if row.get("real_time") else 0)
    for row in rows:
        row["name"] = row["name"].removesuffix("/real_time")
    best, problems = fastest_rows(rows)
    print(table("the running kernel as an oracle, one core (best of %d): million inputs in a second, in batches of 4096 (target >= 7); us to install a filter,\n"
                "run one input and end (target <= 300 for 1702 instructions); us to find out whether the kernel accepts a program" % repetitions,
                ["program", "interpreter", "kernel", "ratio", "", "with start", "start us", "", "accept us"], lines(best)), end="")
    return problems
