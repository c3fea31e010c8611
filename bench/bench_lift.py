"""scripts/bench lift: measures `lift` and `optimize` on programs alone, and `merge` on pairs of policies: the time of the whole process, and how long
the results are.

The reference is what `optimize` makes of the policy from which the program was compiled, if the corpus has it.
"""
import itertools
import json
import tempfile
import time

from measure import compare, finished, number, quotient, show

MILLISECONDS = 50  # for each of the largest filters, the start of the process included
DOCKER, OF_RULES = 300, 1.05
BYTES = 8  # of an instruction


def milliseconds(command, repetitions):
    """Returns the shortest time of the command in ms."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        finished(command)
        times.append((time.perf_counter() - begin) * 1000)
    return min(times)


def instructions(binary, source, folder):
    out = folder + "/optimized.bpf"
    finished([binary, "optimize", source, "--to", "raw", "-o", out])
    with open(out, "rb") as made:
        return len(made.read()) // BYTES


def policies(programs):
    """Returns the policy of each program whose policy is known: {path below `programs`: path below `programs`}."""
    pairs = json.loads((programs / "manifest.json").read_text())["pairs"]
    return {pair[side]: pair["policy"] for pair in pairs if pair.get("policy") for side in ("before", "after")}


def row(binary, program, policy, repetitions, folder):
    name = "%s/%s" % (program.parent.name, program.stem)
    lifting = milliseconds([binary, "lift", program, "-o", folder + "/policy.json"], repetitions)
    optimizing = milliseconds([binary, "optimize", program, "-o", folder + "/optimized.asm"], repetitions)
    size = instructions(binary, program, folder)
    of_rules = quotient(size, instructions(binary, policy, folder)) if policy else None
    limits = [(lifting, "<=", MILLISECONDS), (of_rules or 0, "<=" if "after" in name else None, OF_RULES),
              (size, "<=" if "docker-x86_64" in name else None, DOCKER)]
    return [name, program.stat().st_size // BYTES, size, number(of_rules, 3), number(lifting, 1), number(optimizing, 1), compare(*limits)]


def merges(binary, policies, repetitions):
    """Returns one row for each way to merge, about the slowest pair of these policies."""
    rows = []
    for way in ("--intersect", "--union"):
        times = [(milliseconds([binary, "merge", way, *pair], 1), pair) for pair in itertools.combinations(policies, 2)]
        slowest = max(times)[1]
        slow = milliseconds([binary, "merge", way, *slowest], repetitions)
        rows.append([way[2:], len(times), " ".join(path.stem for path in slowest), number(slow, 1), compare((slow, "<=", MILLISECONDS))])
    return rows


def suite(root, repetitions, build, _run):
    binary = build("secequiv")
    programs = root / "corpus" / "programs"
    known = {programs / program: programs / policy for program, policy in policies(programs).items()}
    files = sorted(programs.glob("*/*.bpf")) + sorted(set((root / "corpus" / "dumped").glob("*.bpf")) - {root / "corpus/dumped/firejail-protocol.bpf"})
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(binary, file, known.get(file), min(repetitions, 5), folder) for file in files]
    policies_of = sorted((root / "corpus" / "policies").glob("*/*.json"))
    return show(("lift: programs alone (milliseconds: best of %d; targets: lifted in %d ms, at most %.2f of the instructions from rules)"
                 % (min(repetitions, 5), MILLISECONDS, OF_RULES),
                 ["program", "instructions", "optimized", "of rules", "lift, ms", "optimize, ms", ""], rows),
                ("merge: all pairs of policies (target: %d ms)" % MILLISECONDS, ["way", "pairs", "slowest pair", "ms", ""],
                 merges(binary, policies_of, min(repetitions, 5))))
