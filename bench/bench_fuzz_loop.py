"""scripts/bench fuzz_loop: measures how many programs and policies one core can generate, optimize, compare and prove per second, and the
speed of each stage."""
from measure import compare, fastest_rows, number, table

TARGETS = {"program/loop_generated": 50_000, "program/loop_mutated": 50_000, "policy/loop_generated": 2000, "policy/loop_mutated": 2000}
SHARES = ("proven_%", "by_diagrams_%", "undecided_%")


def lines(best):
    out = []
    for name in dict.fromkeys(sorted(best, key=lambda name: best[name]["family_index"]) + list(TARGETS)):
        row = best.get(name, {})
        rate = row.get("items_per_second")
        target = TARGETS.get(name)
        out.append([name, number(rate, 0), number(1e6 / rate if rate else None, 2), *(number(row.get(share), 2) for share in SHARES),
                    target and ">= %d" % target, compare((rate, ">=" if target else None, target))])
    return out


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del root
    best, problems = fastest_rows(run(build("fuzz_loop_bench"), repetitions, "."))
    print(table("fuzzing the reference optimizer with proofs on one core: programs or policies in a second (best of %d). The loops run all stages.\n"
                "by diagrams: proofs that needed decision diagrams; undecided: not decided within 2^14 nodes and 2^15 steps" % repetitions,
                ["stage", "a second", "us each", "proven %", "by diagrams", "undecided", "target", ""], lines(best)), end="")
    return problems
