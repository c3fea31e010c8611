"""scripts/bench interpreter: compares the evaluations per second of the interpreter, with and without coverage, with those of a switch
loop written by hand."""
from measure import fastest_rows, number, quotient, show


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured."""
    del root
    best, problems = fastest_rows(run(build("interpreter_bench"), repetitions, "."))
    rows = []
    for label in sorted({name.split("/")[1] for name in best}):
        by_hand, step, covered = (best.get("%s/%s" % (kind, label), {}).get("items_per_second")
                                  for kind in ("hand_written", "step_interpreter", "covered"))
        rows.append([label, number(quotient(by_hand, 1e6), 2), number(quotient(step, 1e6), 2), number(quotient(step, by_hand), 2),
                     number(quotient(covered, 1e6), 2), number(quotient(covered, by_hand), 2)])
    return problems + show(("interpreter: M evaluations a second (best of %d), and the ratio to the loop written by hand" % repetitions,
                            ["program", "by hand", "step", "ratio", "covered", "ratio"], rows))
