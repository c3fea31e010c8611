"""scripts/bench fuzz: measures the speed of the fuzz targets and the time until they cover everything, and compares the speed with
gVisor's interpreter in secfuzz's loop.

The targets are built without instrumentation and without sanitizers, so that only the harness is measured. Rates are the best of
several runs. The reference runs gVisor's bpf.Exec and bpf.InstrumentedExec on the same pair and the inputs that the prover found.
"""
import json
import pathlib
import re
import tempfile

from measure import compare, finished, number, quotient, report_of, table

PAIR = ("corpus/programs/gvisor/systrap.before.bpf", "corpus/programs/gvisor/systrap.after.bpf")
EVALUATIONS, RUNS, COVERED_MS = 5e6, 0.5e6, 20
PROGRAMS, POLICIES = 50_000, 2_000
SECONDS = 4
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DSECEQUIV_FUZZ=ON", "-DSECEQUIV_Z3=OFF", "-DSECEQUIV_TESTS=OFF",
           "-DSECEQUIV_FUZZING_ENGINE=-fsanitize=fuzzer"]


def build_targets(root):
    folder = root / "build" / "bench_fuzz"
    finished(["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_C_COMPILER=clang-19", *OPTIONS])
    finished(["cmake", "--build", folder, "--target", "fuzz_pair", "fuzz_program", "fuzz_policy"])
    return folder / "bin"


def executed(text):
    """Returns (runs, (answers, proven)) from libFuzzer's final statistics and the target's last line; (runs, None) without that line."""

    runs = int(re.search(r"stat::number_of_executed_units:\s*(\d+)", text).group(1))
    counts = re.search(r": (\d+) answers, (\d+) proven", text)
    return runs, counts and (int(counts.group(1)), int(counts.group(2)))


def libfuzzer(target, folder, *arguments):
    """Returns (runs per second, (answers per second, proofs per second)). The inner pair is None if the target prints no such counts."""
    done = finished([target, "-seed=1", "-max_total_time=%d" % SECONDS, "-print_final_stats=1", *arguments], cwd=folder)
    runs, counts = executed(done.stdout + done.stderr)
    # libFuzzer counts whole seconds, so we divide by the time that it was given.
    return runs / SECONDS, counts and tuple(count / SECONDS for count in counts)


def fuzz_pair(binary, root, jobs, folder):
    return report_of(binary, "fuzz", *PAIR, "--duration", SECONDS, "--jobs", jobs, "--corpus", folder, cwd=root)


def reference(root, inputs):
    program = root / "build" / "adapters" / "gvisor"
    if not program.exists():
        return None
    counted = json.loads(finished([program, "--pairs", *PAIR, inputs, SECONDS], cwd=root).stdout)
    return counted["pairs"] / counted["seconds"]


def suite(root, repetitions, build, run):
    del run
    binary = build("secequiv")
    targets = build_targets(root)
    times = max(2, min(repetitions, 5))
    best = {"reference": 0, "pair": 0, "pair 2": 0, "one": 0, "program": 0, "proven": 0, "policy": 0}
    seeds = None
    with tempfile.TemporaryDirectory() as folder:
        inputs = pathlib.Path(folder) / "inputs"
        for _ in range(times):
            corpus = pathlib.Path(folder) / "corpus"
            report = fuzz_pair(binary, root, 1, corpus)
            rate = report["fuzz"]["evaluations"] / report["fuzz"]["seconds"]
            best["pair"] = max(best["pair"], rate)
            seeds = min(seeds or report["fuzz"]["seed_seconds"], report["fuzz"]["seed_seconds"])
            met = (report["fuzz"]["seeds_met"], len(report["coverage"]["infeasible"]), report["coverage"]["obligations"])
            two = fuzz_pair(binary, root, 2, corpus)
            best["pair 2"] = max(best["pair 2"], two["fuzz"]["evaluations"] / two["fuzz"]["seconds"])
            inputs.write_bytes(b"".join(one.read_bytes() for one in sorted(corpus.glob("seed-*"))))
            best["reference"] = max(best["reference"], reference(root, inputs) or 0)
            pair = ["--before=%s" % (root / PAIR[0]), "--after=%s" % (root / PAIR[1]), "-len_control=0"]
            best["one"] = max(best["one"], libfuzzer(targets / "fuzz_pair", folder, *pair, "-max_len=64")[0])
            _, (answers, proven) = libfuzzer(targets / "fuzz_program", folder)
            if proven > best["proven"]:
                best["program"], best["proven"] = answers, proven
            best["policy"] = max(best["policy"], libfuzzer(targets / "fuzz_policy", folder)[1][1])
    gvisor = best["reference"] or None
    print(table("fuzz: gVisor's systrap pair, million inputs run through both programs in a second (best of %d)" % times,
                ["by", "M/s", "of gVisor's", "target", ""],
                [["gVisor's interpreter, a loop", number(gvisor and gvisor / 1e6, 2), gvisor and "1.00", None, None],
                 ["secequiv fuzz", number(best["pair"] / 1e6, 2), number(quotient(best["pair"], gvisor), 2), ">= 5",
                  compare((best["pair"], ">=", EVALUATIONS))],
                 ["secequiv fuzz --jobs 2", number(best["pair 2"] / 1e6, 2), number(quotient(best["pair 2"], gvisor), 2), None, None],
                 ["fuzz_pair, one input a run", number(best["one"] / 1e6, 2), number(quotient(best["one"], gvisor), 2), ">= 0.5",
                  compare((best["one"], ">=", RUNS))]]))
    print(table("fuzz: time until every edge is covered or proven infeasible (best of %d)" % times,
                ["obligations", "met", "infeasible", "ms after the start", "target", ""],
                [[met[2], met[0], met[1], number(seeds * 1000, 1), "<= %d" % COVERED_MS,
                  compare((seeds * 1000, "<=", COVERED_MS), (met[0] + met[1], ">=", met[2]))]]))
    print(table("fuzz: programs generated, optimized, compared and proven in a second (best of %d)" % times,
                ["target", "a second", "proven", "target", ""],
                [["fuzz_program", number(best["program"], 0), number(best["proven"], 0), ">= %d" % PROGRAMS,
                  compare((best["proven"], ">=", PROGRAMS))],
                 ["fuzz_policy", number(best["policy"], 0), number(best["policy"], 0), ">= %d" % POLICIES,
                  compare((best["policy"], ">=", POLICIES))]]))
    return [] if gvisor else ["the reference was not measured: scripts/adapters build gvisor"]
