"""scripts/bench certificate: measures the time to write the certificates of the corpus pairs, their size, and the time to check them.

`prove` reports the time to write; the time to check is that of the whole process."""
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measure import compare, finished, number, report_of, table

WRITE_MS, CHECK_S, MIB = 50, 2, 10
CHECKERS = {"dd": "check_certificate", "z3": "check_cnf_certificate"}


def written(binary, engine, programs, folder):
    """Returns (ms, bytes). Raises RuntimeError if there is no certificate."""
    certificate = report_of(binary, "prove", *programs, "--engine", engine, "--certificate", folder)["certificate"]
    return certificate["seconds"] * 1e3, certificate["bytes"]


def checked(checker, folder, programs):
    """Returns seconds. Raises RuntimeError if the certificate is refused."""
    start = time.perf_counter()
    finished([sys.executable, checker, folder, *programs])
    return time.perf_counter() - start


def row(name, ms, size, seconds):
    mib = None if size is None else size / 1024 / 1024
    return [name, number(ms, 1), number(mib, 3), number(seconds, 2), "<= %d ms, <= %d MB, <= %d s" % (WRITE_MS, MIB, CHECK_S),
            compare((ms, "<=", WRITE_MS), (mib, "<=", MIB), (seconds, "<=", CHECK_S))]


def suite(root, repetitions, build, run):
    """Prints the tables and returns what could not be measured."""
    del run
    corpus, problems = root / "corpus/programs", []
    pairs = json.loads((corpus / "manifest.json").read_text())["pairs"]
    binary = build("secequiv")
    for engine, checker in CHECKERS.items():
        if engine == "z3" and not shutil.which("cadical"):
            problems.append("formulas need the solver cadical (Debian: cadical)")
            continue
        rows = []
        for pair in pairs:
            programs, best = [str(corpus / pair[side]) for side in ("before", "after")], [None, None, None]
            try:
                for _ in range(min(repetitions, 5)):
                    with tempfile.TemporaryDirectory() as folder:
                        ms, size = written(binary, engine, programs, folder)
                        seconds = checked(root / "scripts" / checker, str(Path(folder)), programs)
                    best = [ms if best[0] is None else min(best[0], ms), size, seconds if best[2] is None else min(best[2], seconds)]
            except (OSError, RuntimeError, ValueError) as error:
                problems.append("%s %s: %s" % (engine, pair["name"], error))
                best = [None, None, None]
            rows.append(row(pair["name"], *best))
        title = {"dd": "proofs by cases (walk.cert)", "z3": "formulas and their refutations (query.cnf, proof.lrat)"}[engine]
        print(table("%s, min time of %d" % (title, min(repetitions, 5)), ["pair", "ms to write", "MiB", "s to check", "target", ""], rows))
    return problems
