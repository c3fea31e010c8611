"""scripts/bench hard: proves generated pairs (hard_pairs.py) that other provers find hard, and runs Z3, Bitwuzla and cvc5 on the same queries."""
import os
import subprocess
import sys
import tempfile

import hard_pairs
from measure import compare, number, quotient, report_of, show

SECONDS = 60  # for each solver
LEAST_RATIO = 2
OTHERS = ("z3", "bitwuzla", "cvc5")
ANSWERS = {"equivalent": "unsat", "different": "sat"}


def row(name, expected, ours, others):
    """Returns a row. `ours` and the values of `others` are (answer, seconds), or None if the solver is missing; the answer is "sat", "unsat" or
    "unknown". A wrong answer raises RuntimeError."""
    for solver, found in [("secequiv", ours), *others.items()]:
        if found and found[0] not in (expected, "unknown"):
            raise RuntimeError("%s: %s answers %s, expected %s" % (name, solver, found[0], expected))
    decided = [found[1] for found in others.values() if found and found[0] == expected]
    best = min(decided, default=None)
    seconds = ours[1] if ours[0] == expected else None
    cells = [name, expected, number(seconds, 3)]
    for solver in OTHERS:
        found = others.get(solver)
        cells.append("missing" if not found else number(found[1], 3) if found[0] == expected else "unknown")
    if seconds is None:
        return cells + [None, "decided" if best else None, "missed" if best else "nobody decides"]
    ratio = quotient(best, seconds)
    if ratio is None:
        return cells + [None, None, "only secequiv decides"]
    return cells + [number(ratio, 1), ">= %d" % LEAST_RATIO, compare((ratio, ">=", LEAST_RATIO))]


def proven(binary, before, after, engine, *arguments):
    report = report_of(binary, "prove", before, after, "--engine", engine, "--timeout", str(SECONDS), *arguments, allowed=(0, 1, 3))
    return ANSWERS.get(report["verdict"], "unknown"), report.get("encode_seconds", 0) + report.get("solve_seconds", 0)


def asked(solver, query):
    """Returns another solver's answer, or None if no Python has its module."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "smt_reference.py")
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run([python, script, solver, query, str(SECONDS)], capture_output=True, text=True, timeout=SECONDS + 30)
        except subprocess.TimeoutExpired:
            return "unknown", SECONDS
        if done.returncode == 0:
            answer, seconds = done.stdout.split()
            return answer, float(seconds)
    return None


def suite(root, repetitions, build, run):
    """Prints the table and returns what could not be measured. Each solver runs once, because differences are of orders of magnitude."""
    del root, repetitions, run
    binary, rows = build("secequiv"), []
    with tempfile.TemporaryDirectory() as folder:
        def written(name, text):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            return path
        for name, before, equal, different in hard_pairs.pairs():
            for expected, after in (("unsat", equal), ("sat", different)):
                sides, query = (written("before.asm", before), written("after.asm", after)), os.path.join(folder, "query.smt2")
                ours = proven(binary, *sides, "dd", "--emit-smt2", query)
                others = {"z3": proven(binary, *sides, "z3"), **{solver: asked(solver, query) for solver in OTHERS[1:]}}
                rows.append(row(name, expected, ours, others))
    return show(("hard: generated pairs, seconds to the answer within %d s" % SECONDS,
                 ["family", "answer", "secequiv", *OTHERS, "ratio", "target", ""], rows))
