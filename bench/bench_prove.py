"""scripts/bench prove: compares the cost of proofs with the targets. The script measures processes itself; the rest comes from
prove_bench."""
import json
import os
import random
import subprocess
import sys
import time

from measure import compare, fastest, finished, growth_rows, number, quotient, show

LARGEST = "gvisor-systrap-everything"
NAIVE = (LARGEST, "gvisor-kvm")  # pairs for the naive query
PAIR_US, LARGEST_US, LARGEST_RATIO = 400, 500, 400
PROCESS_MS, PROCESS_MB = 1.5, 32
EMPTY = "/bin/true"  # the reference for processes
DIFF_US = 5000
RANDOM_MEDIAN_US, RANDOM_PROGRAMS = 10, 2000
DOUBLING = 2.3
LENGTHS = [128 << i for i in range(6)]

# A process's ru_maxrss includes the memory of its parent at spawn time, and even the smallest Python has 8 MiB. Therefore a shell of 1 MiB
# starts the process, and Python waits for it as its subreaper.
MEMORY = """
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
def peak(command):
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    shell = os.posix_spawn("/bin/sh", ["sh", "-c", '"$@" &', "sh"] + command, os.environ, file_actions=actions)
    assert os.waitpid(shell, 0)[1] == 0
    _, status, usage = os.wait4(-1, 0)
    return status, usage.ru_maxrss
print(*peak(["/bin/true"]), *peak(sys.argv[1:]))
"""


def corpus_rows(names, times, alone):
    """Returns a row for each corpus pair. `alone` has the diagrams' times in a process in which Z3 never ran. These times are longer (by
    a fifth for large pairs), because in the other process the heap that Z3 left behind avoids page faults. Both times must meet the
    target."""
    rows = []
    for name in names:
        dd, z3, apart = times.get("dd/" + name), times.get("z3/" + name), alone.get("dd/" + name)
        ratio = quotient(z3, dd)
        micros = LARGEST_US if name == LARGEST else PAIR_US
        rows.append([name, number(dd, 1), number(apart, 1), number(z3, 0), number(ratio, 0), "<= %d us" % micros,
                     compare((dd, "<=", micros), (apart, "<=", micros), (ratio, None, None))])
    return rows


def naive_seconds(before, after):
    """Returns the seconds that bench/naive_z3.py needs for two files, in the first Python that has Z3. Raises RuntimeError if no
    Python has it or the pair is not equivalent."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "naive_z3.py")
    for python in ("/usr/bin/python3", sys.executable):
        done = subprocess.run([python, script, before, after], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            answer, seconds = done.stdout.split()
            if answer != "unsat":
                raise RuntimeError("the home-made query answers %s" % answer)
            return float(seconds)
    raise RuntimeError("the home-made query needs Z3's Python module (Debian: python3-z3): %s" % done.stderr.strip().split("\n")[-1])


def naive_rows(naive, times):
    """Returns a row for each pair of the home-made query; `naive` maps names to seconds."""
    rows = []
    for name, seconds in naive.items():
        ratio = quotient(seconds and seconds * 1e6, times.get("dd/" + name))
        least = LARGEST_RATIO if name == LARGEST else None
        rows.append([name, number(seconds and seconds * 1e3, 0), number(ratio, 0), least and ">= %d" % least,
                     compare((ratio, least and ">=", least))])
    return rows


def process_rows(names, walls, peaks):
    """Returns a row for each command; `walls` has seconds and `peaks` has KiB, both by name."""
    rows = []
    for name in names:
        wall, peak, ratio = walls.get(name), peaks.get(name), quotient(walls.get(name), walls.get(EMPTY))
        wall, peak = None if wall is None else wall * 1e3, None if peak is None else peak / 1024
        rows.append([name, number(wall, 2), number(ratio, 1), number(peak, 1), "<= %.1f ms, <= %d MiB" % (PROCESS_MS, PROCESS_MB),
                     compare((wall, "<=", PROCESS_MS), (peak, "<=", PROCESS_MB))])
    return rows


def random_rows(counters):
    median, decided = counters.get("median"), counters.get("decided")
    return [["median", number(median, 2), "<= %d us" % RANDOM_MEDIAN_US, compare((median, "<=", RANDOM_MEDIAN_US))],
            ["90th percentile", number(counters.get("p90"), 2), None, compare((counters.get("p90"), None, None))],
            ["programs decided", number(decided, 0), ">= %d" % RANDOM_PROGRAMS, compare((decided, ">=", RANDOM_PROGRAMS))],
            ["limits ran out", number(counters.get("exhausted"), 0), None, compare((counters.get("exhausted"), None, None))]]


def diff_rows(times):
    return [[name[len("diff/"):], number(times[name], 1), "<= %d us" % DIFF_US, compare((times[name], "<=", DIFF_US))]
            for name in sorted(times) if name.startswith("diff/")]


def engine_of(command):
    """Returns the engine that decided, according to `secequiv prove --json`. Raises RuntimeError if the pair is not equivalent."""
    return json.loads(finished(command + ["--json"]).stdout)["engine"]


def wall_seconds(command):
    """Returns the seconds from the spawn to the end of the process; None if it fails."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    start = time.perf_counter()
    _, status = os.waitpid(os.posix_spawn(command[0], command, os.environ, file_actions=actions), 0)
    return time.perf_counter() - start if status == 0 else None


def peak_kib(command):
    """Returns (the peak of /bin/true, the peak of the command); a pair of None if the command fails."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", MEMORY] + command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return None, None
    floor_status, floor, status, peak = map(int, done.stdout.split())
    return (floor, peak) if floor_status == 0 and status == 0 else (None, None)


def processes(commands, repetitions):
    """Measures the commands of {name: command} and, if one can be measured, EMPTY; returns (walls, peaks, floor, problems). Runs all of them
    once in each round, in random order."""
    walls, peaks, floors, problems, usable = {}, {}, [], [], []
    for name, command in commands.items():
        try:
            engine = engine_of(command)
            if engine == "dd":
                usable.append(name)
            else:
                problems.append("process %s: decided by %s, not by diagrams" % (name, engine))
        except (OSError, RuntimeError, ValueError) as error:
            problems.append("process %s: %s" % (name, error))
    failed = set()
    for _ in range(repetitions):
        for name in random.sample(usable, len(usable)):
            wall = wall_seconds(commands[name])
            floor, peak = peak_kib(commands[name])
            if wall is None or peak is None:
                failed.add(name)
                continue
            empty = wall_seconds([EMPTY])
            walls[name], walls[EMPTY] = min(wall, walls.get(name, wall)), min(empty, walls.get(EMPTY, empty))
            peaks[name] = max(peak, peaks.get(name, peak))
            floors.append(floor)
    for name in sorted(failed):
        problems.append("process %s: failed in some repetition" % name)
        walls.pop(name, None)
        peaks.pop(name, None)
    return walls, peaks, max(floors, default=None), problems


def suite(root, repetitions, build, run):
    """Prints the tables and returns what could not be measured."""
    programs = root / "corpus/programs"
    pairs = json.loads((programs / "manifest.json").read_text())["pairs"]
    names = [pair["name"] for pair in pairs]
    binary, tool = build("prove_bench"), build("secequiv")
    times, counters, errors = fastest(run(binary, repetitions, "."))
    alone, _, more = fastest(run(binary, repetitions, "^dd/"))
    problems = ["%s: %s" % item for item in sorted({**more, **errors}.items())]
    commands = {pair["name"]: [str(tool), "prove", "--engine", "dd", str(programs / pair["before"]), str(programs / pair["after"])]
                for pair in pairs}
    naive = {}
    for pair in pairs:
        if pair["name"] in NAIVE:
            naive[pair["name"]] = None
            try:
                naive[pair["name"]] = min(naive_seconds(str(programs / pair["before"]), str(programs / pair["after"])) for _ in range(3))
            except RuntimeError as error:
                problems.append("%s: %s" % (pair["name"], error))
    walls, peaks, floor, failed = processes(commands, repetitions)
    problems += failed

    return problems + show(
        ("corpus pairs, in process (min time of %d, of Z3 of 7)" % repetitions,
         ["pair", "dd us", "without z3", "z3 us", "z3/dd", "target", ""], corpus_rows(names, times, alone)),
        ("a home-made Z3 query (bench/naive_z3.py, min of 3), and how many times faster diagrams are, in process",
         ["pair", "ms", "ratio", "target", ""], naive_rows(naive, times)),
        ("whole process, secequiv prove --engine dd (min wall time and max peak memory of %d; smaller peaks than %s MiB cannot be measured)" % (
            repetitions, number(quotient(floor, 1024), 1)),
         ["pair", "ms", "of an empty process", "MiB", "target", ""], process_rows(names, walls, peaks)),
        ("random programs against their optimized form (min time of each, us)",
         ["", "value", "target", ""], random_rows(counters.get("random/optimized", {}))),
        ("complete difference with counts, in process (min time of %d)" % repetitions, ["profiles", "us", "target", ""],
         diff_rows(times)),
        ("allow-lists against a shuffled order (min time of %d, factor per doubling)" % repetitions,
         ["numbers", "us", "factor", "target", ""], growth_rows(("scattered", "dense"), LENGTHS, times, 1, 1, DOUBLING)))
