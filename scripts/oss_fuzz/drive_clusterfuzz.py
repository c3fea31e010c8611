"""Drive fuzz targets through ClusterFuzz's own engine: drive_clusterfuzz.py OUT WORK RUNS PLANTED TARGET...

scripts/oss_fuzz/service_engine.py runs this file, with ClusterFuzz's packages in PYTHONPATH. It prints a JSON document with what the
engine returned, and checks nothing. PLANTED is a folder with a target that has a bug, or '-'. Each target runs once for each
seed, and RUNS times more. Everything is written below WORK.
"""

import json
import os
import sys
from pathlib import Path

from clusterfuzz import fuzz
from clusterfuzz.environment import Environment

ENGINE, SANITIZER = "libFuzzer", "address"
SECONDS = 120  # an upper limit for each step; -runs ends it
SEED = "-seed=1"


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def folders(work, target, *names):
    made = [work / target.name / name for name in names]
    for each in made:
        each.mkdir(parents=True)
    return map(str, made)


def session(engine, target, corpus, crashes, runs):
    """Fuzzes `target` from its seeds, as a bot does; returns the engine's options and result."""
    options = engine.prepare(corpus, str(target), str(target.parent))
    options.analyze_dictionary = False  # this step would only suggest words for a dictionary
    options.arguments += [SEED, "-runs=%d" % (len(files(corpus)) + runs)]
    return options, engine.fuzz(str(target), options, crashes, SECONDS)


def healthy(engine, target, work, runs):
    """Fuzzes, then merges the corpus of the session."""
    corpus, crashes, merged = folders(work, target, "corpus", "crashes", "merged")
    options, result = session(engine, target, corpus, crashes, runs)
    found = {"arguments": options.arguments, "crashes": len(result.crashes), "runs": result.stats["number_of_executed_units"],
             "log": result.logs[-2000:], "corpus": len(files(corpus))}
    merge = engine.minimize_corpus(str(target), [], [corpus], merged, crashes, SECONDS)
    return {**found, "merged": len(files(merged)), "merged_edges": merge.stats["edge_coverage"]}


def planted(engine, target, work, runs):
    """Fuzzes until the crash, reproduces it, makes its input smaller, and reproduces that."""
    corpus, crashes = folders(work, target, "corpus", "crashes")
    _, result = session(engine, target, corpus, crashes, runs)
    found = {"crashes": len(result.crashes), "log": result.logs[-2000:]}
    for crash in result.crashes[:1]:
        smaller = str(work / target.name / "smaller")
        again = engine.reproduce(str(target), crash.input_path, crash.reproduce_args, SECONDS)
        # Each step of the minimization ends after these runs without a crash.
        engine.minimize_testcase(str(target), crash.reproduce_args + [SEED, "-runs=10000"], crash.input_path, smaller, SECONDS)
        found.update(bytes=os.path.getsize(crash.input_path), status=again.return_code, output=again.output[:20000], smaller=None)
        if os.path.exists(smaller):
            last = engine.reproduce(str(target), smaller, crash.reproduce_args, SECONDS)
            found.update(smaller=os.path.getsize(smaller), smaller_status=last.return_code, smaller_output=last.output[:20000])
    return found


def drive(kind, target, work, runs):
    with Environment(ENGINE, SANITIZER, str(target)):
        return kind(fuzz.get_engine(ENGINE), target, work, runs)


def main(out, work, runs, folder, *names):
    out, work = Path(out), Path(work)
    report = {"targets": sorted(os.path.basename(path) for path in fuzz.get_fuzz_targets(str(out))), "healthy": {}, "planted": {}}
    for name in names:
        report["healthy"][name] = drive(healthy, out / name, work / "healthy", int(runs))
    for target in map(Path, [] if folder == "-" else fuzz.get_fuzz_targets(folder)):
        report["planted"][target.name] = drive(planted, target, work / "planted", int(runs))
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
