"""scripts/bench certificate: what certificates of the corpus' pairs cost: to write, in bytes, to check. Times are of whole processes
where they are checked, and as `prove` reports them where they are written."""
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_prove import judge, number, table

WRITE_MS, CHECK_S, MIB = 50, 2, 10
CHECKERS = {"dd": "check_certificate", "z3": "check_cnf_certificate"}


def written(binary, engine, programs, folder):
    """(ms, bytes); raises RuntimeError if there is no certificate."""
    command = [str(binary), "prove", *programs, "--engine", engine, "--certificate", folder, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("status %d: %s" % (done.returncode, (done.stderr or done.stdout).strip()[-300:]))
    certificate = json.loads(done.stdout)["certificate"]
    return certificate["seconds"] * 1e3, certificate["bytes"]


def checked(checker, folder, programs):
    """Seconds; raises RuntimeError if it is refused."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, str(checker), folder, *programs], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError("the checker says: %s" % done.stdout.strip()[-300:])
    return seconds


def row(name, ms, size, seconds):
    mib = None if size is None else size / 1024 / 1024
    return [name, number(ms, 1), number(mib, 3), number(seconds, 2), "<= %d ms, <= %d MB, <= %d s" % (WRITE_MS, MIB, CHECK_S),
            judge((ms, "<=", WRITE_MS), (mib, "<=", MIB), (seconds, "<=", CHECK_S))]


def suite(root, repetitions, build, run):
    """Prints the tables; returns what could not be measured."""
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
