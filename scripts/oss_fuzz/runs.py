"""Run the targets of a build in a sandbox, each with its engine.

Each check returns (problems, figures): lines of text, and measured values.
"""

import json
import re
import shutil

from . import artifacts, matrix

LEAST_RUNS = 4
LEAST_EDGES = 100  # if there are fewer, the target or the code under test was not instrumented
LIMITS = ("-rss_limit_mb=2560", "-timeout=25")
TAIL = 15  # lines shown from a target's output

OURS = re.compile(r"/(adapters|fuzz|harness|verify)/")
_LOADED = re.compile(r"INFO: Loaded \d+ modules?.*\((\d+) (?:inline 8-bit counters|guards)\)")


def _shown(text):
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return "".join("\n    | " + line for line in plain.strip().splitlines()[-TAIL:])


def unpack(sandbox, target):
    """Unpacks the seeds of a target into its /tmp; returns the folder's path as the target sees it."""
    folder = sandbox.put("seeds")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, (name, content) in enumerate(sorted(artifacts.seeds(target).items())):
        (folder / ("%05d" % number)).write_bytes(content)
    return sandbox.tmp / "seeds"


def environment(options):
    """Returns the variables of matrix.RUNTIME, with a target's own sanitizer options and environment variables added."""
    values = dict(matrix.RUNTIME)
    for section, variable in (("asan", "ASAN_OPTIONS"), ("ubsan", "UBSAN_OPTIONS"), ("msan", "MSAN_OPTIONS")):
        added = ["%s=%s" % pair for pair in options.get(section, {}).items()]
        values[variable] = ":".join([values[variable]] + added)
    values.update(options.get("env", {}))
    return values


def arguments(sandbox, target, options):
    """Returns libFuzzer's arguments for a target's options and dictionary, as the service passes them."""
    given = dict(options.get("libfuzzer", {}))
    dictionary = target.with_name(target.name + ".dict")
    if "dict" not in given and dictionary.exists():
        given["dict"] = dictionary.name
    if "dict" in given:
        given["dict"] = str(sandbox.out / given["dict"])
    return ["-%s=%s" % pair for pair in given.items()]


def libfuzzer(sandbox, target, runs):
    """Starts a target as the build check does, without and with seeds, then makes a few runs from the seeds."""
    problems = []
    binary = sandbox.out / target.name
    options = artifacts.options(target)
    variables = environment(options)
    own = arguments(sandbox, target, options)

    def attempt(what, *more):
        done = sandbox.run([binary, *own, *more], variables)
        if done.returncode != 0:
            problems.append("%s: %s: status %d%s" % (target.name, what, done.returncode, _shown(done.stdout)))
        unknown = re.search(r"unrecognized flag '(\S+?)'", done.stdout)
        if unknown:
            problems.append("%s: %s: libFuzzer does not know %s" % (target.name, what, unknown.group(1)))
        return done.stdout

    done = sandbox.run([binary, "-seed=1337", "-runs=%d" % LEAST_RUNS], variables)
    if "Done %d runs" % LEAST_RUNS not in done.stdout or done.returncode != 0:
        problems.append("%s: does not start and run %d inputs (status %d)%s" % (target.name, LEAST_RUNS, done.returncode, _shown(done.stdout)))
        return problems, {}
    loaded = _LOADED.search(done.stdout)
    edges = int(loaded.group(1)) if loaded else 0
    if edges < LEAST_EDGES:
        problems.append("%s: found %d instrumented edges, expected at least %d if the code under test is instrumented" % (target.name, edges, LEAST_EDGES))
    seeds = unpack(sandbox, target)
    attempt("its seeds", *LIMITS, "-runs=0", seeds)
    attempt("%d runs from its seeds" % runs, *LIMITS, "-seed=1337", "-runs=%d" % runs, seeds)
    attempt("an empty folder of inputs", *LIMITS, "-seed=1337", "-runs=%d" % LEAST_RUNS, sandbox.tmp)
    return problems, {"edges": edges}


def afl(sandbox, target, seconds):
    """Runs afl-fuzz for a short time from one small input, with the dictionary; then measures the coverage of all seeds with
    afl-showmap."""
    problems = []
    options = artifacts.options(target)
    variables = dict(environment(options), AFL_NO_UI="1", AFL_SKIP_CPUFREQ="1", AFL_NO_AFFINITY="1", AFL_FORKSRV_INIT_TMOUT="30000",
                     AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES="1", AFL_MAP_SIZE="2097152")
    variables["ASAN_OPTIONS"] += ":abort_on_error=1:detect_leaks=0"  # afl-fuzz requires abort_on_error
    del variables["MSAN_OPTIONS"]  # afl-fuzz requires other values, even if the target was built without MSan
    start = sandbox.put("start")
    start.mkdir(exist_ok=True)
    (start / "one").write_bytes(b"input")
    dictionary = target.with_name(target.name + ".dict")
    words = ["-x", str(sandbox.out / dictionary.name)] if dictionary.exists() else []
    shutil.rmtree(sandbox.put("afl"), ignore_errors=True)
    done = sandbox.run(["afl-fuzz", "-i", sandbox.tmp / "start", "-o", sandbox.tmp / "afl", "-V", seconds, *words, "--", sandbox.out / target.name],
                       variables, timeout=seconds + 35)
    if "All set and ready to roll" not in done.stdout or done.returncode != 0:
        problems.append("%s: afl-fuzz does not start (status %d)%s" % (target.name, done.returncode, _shown(done.stdout)))
        return problems, {}
    crashes = [path for path in sandbox.put("afl").glob("default/crashes/id*")]
    if crashes:
        problems.append("%s: afl-fuzz found %d crashes" % (target.name, len(crashes)))
    seeds = unpack(sandbox, target)
    shutil.rmtree(sandbox.put("map"), ignore_errors=True)
    done = sandbox.run(["afl-showmap", "-C", "-i", seeds, "-o", sandbox.tmp / "map", "--", sandbox.out / target.name], variables)
    counts = re.search(r"coverage of (\d+) edges were achieved out of (\d+) existing", done.stdout)
    reached, edges = map(int, counts.groups()) if counts else (0, 0)
    if done.returncode != 0 or edges < LEAST_EDGES or reached == 0:
        problems.append("%s: according to afl-showmap, its seeds reach %d of %d instrumented edges (status %d); expected at least 1 of at least %d%s" % (
            target.name, reached, edges, done.returncode, LEAST_EDGES, _shown(done.stdout)))
    return problems, {"edges": edges, "reached": reached}


def coverage(sandbox, target, profdata, cov):
    """Makes a profile of the seeds as the service does, and checks that they reach lines of this project."""
    options = artifacts.options(target)
    variables = dict(environment(options), LLVM_PROFILE_FILE=str(sandbox.tmp / ("%s.%%1m.profraw" % target.name)))
    seeds = unpack(sandbox, target)
    merged = sandbox.put("merged")
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir()
    done = sandbox.run([sandbox.out / target.name, "-merge=1", "-timeout=100", *arguments(sandbox, target, options), sandbox.tmp / "merged", seeds], variables)
    raw = [sandbox.tmp / path.name for path in sandbox.put("").glob(target.name + ".*.profraw")]
    if done.returncode != 0 or not raw:
        return ["%s: left no profile of its seeds (status %d)%s" % (target.name, done.returncode, _shown(done.stdout))], {}
    profile = sandbox.tmp / (target.name + ".profdata")
    done = sandbox.run([profdata, "merge", "-sparse", *raw, "-o", profile])
    if done.returncode != 0:
        return ["%s: llvm-profdata: %s" % (target.name, done.stdout.strip())], {}
    done = sandbox.run([cov, "export", "-summary-only", "-instr-profile=%s" % profile, sandbox.out / target.name])
    total, reached = covered_lines(done.stdout) if done.returncode == 0 else (0, 0)
    if reached == 0:
        return ["%s: its seeds reach none of the %d lines of this project%s" % (target.name, total, _shown(done.stdout[:1000]))], {}
    return [], {"lines": total, "reached": reached}


def covered_lines(summary):
    """Reads the JSON that llvm-cov exports; returns (lines, reached lines) of this project's files."""
    try:
        rows = [row for part in json.loads(summary)["data"] for row in part["files"] if OURS.search(row["filename"])]
        return sum(row["summary"]["lines"]["count"] for row in rows), sum(row["summary"]["lines"]["covered"] for row in rows)
    except (KeyError, TypeError, ValueError):
        return 0, 0
