"""Run the targets of a build with ClusterFuzz's own engine code, the package `clusterfuzz` of PyPI, which ClusterFuzzLite also uses:
fuzzing, merging corpora, reproducing a crash of a planted bug, and minimizing its input. This module checks the results. The engine itself
runs in drive_clusterfuzz.py; nothing of it is imitated here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pinned import Missing, python_packages

from . import artifacts, toolchain

HERE = Path(__file__).resolve().parent
PINS = HERE / "clusterfuzz.txt"
PLANTED_TARGET = "fuzz_plugin"
CRASH = "fuzz_plugin: different: "  # how a wrong answer is reported


def plant(out, folder, root):
    """Makes a folder with fuzz_plugin and, beside it, an optimizer with a bug, which fuzz_plugin loads from there."""
    folder.mkdir(parents=True)
    for path in out.glob(PLANTED_TARGET + "*"):
        shutil.copy(path, folder)
    subprocess.run([toolchain.CC, "-shared", "-fPIC", "-O1", "-I", str(root), str(root / "fuzz/targets/planted_plugin.c"), "-o", str(folder / "plugin.so")], check=True)
    return folder


def drive(packages, out, work, runs, planted, names):
    """Runs the engine, which is in the folder `packages`; returns its report. Raises RuntimeError if the package itself fails."""
    environment = {**os.environ, "TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(packages)}
    done = subprocess.run([sys.executable, str(HERE / "drive_clusterfuzz.py"), str(out), str(work), str(runs), str(planted), *names], cwd=str(work),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment)
    if done.returncode != 0:
        raise RuntimeError("status %d: %s" % (done.returncode, "\n    | ".join(done.stderr.strip().splitlines()[-8:])))
    return json.loads(done.stdout.splitlines()[-1])


def problems_of(report, targets, least_runs):
    """Returns the problems in the report of drive_clusterfuzz.py, one line each."""
    problems = []
    if report["targets"] != targets:
        problems.append("ClusterFuzz finds the targets %s, expected %s" % (", ".join(report["targets"]), ", ".join(targets)))
    problems += ["ClusterFuzz's engine ran no %s target" % part for part in ("healthy", "planted") if not report[part]]
    for name, one in report["healthy"].items():
        def say(text, name=name):
            problems.append("%s with ClusterFuzz: %s" % (name, text))
        if one["crashes"]:
            say("crashes: %s" % one["log"])
        if one["runs"] < least_runs:
            say("%d runs, expected %d or more" % (one["runs"], least_runs))
        if one["corpus"] == 0:
            say("no corpus after fuzzing: %s" % one["log"])
        if not 0 < one["merged"] <= one["corpus"] or one["merged_edges"] == 0:
            say("merging left %d of %d inputs with %d edges" % (one["merged"], one["corpus"], one["merged_edges"]))
    for name, one in report["planted"].items():
        def fail(text, name=name):
            problems.append("%s with ClusterFuzz and a planted bug: %s" % (name, text))
        if not one["crashes"]:
            fail("no crash: %s" % one["log"])
        elif one["status"] == 0 or CRASH not in one["output"]:
            fail("the crash is not reproduced (status %d)" % one["status"])
        elif one["smaller"] is None or one["smaller"] >= one["bytes"]:
            fail("its input of %d bytes was not minimized" % one["bytes"])
        elif one["smaller_status"] == 0 or CRASH not in one["smaller_output"]:
            fail("the minimized input does not reproduce the crash (status %d)" % one["smaller_status"])
    return problems


def check(root, out, folder, packages, runs, short):
    """Checks a build with libFuzzer and ASan; returns (problems, figures). `short` fuzzes one correct target only. Raises NotAvailable."""
    try:
        python_packages(PINS, packages)
    except Missing as missing:
        raise toolchain.NotAvailable(str(missing)) from missing
    shutil.rmtree(folder, ignore_errors=True)
    names = [path.name for path in artifacts.targets(out)]
    planted = plant(out, folder / "planted", root)
    work = folder / "work"
    work.mkdir()
    try:
        report = drive(packages, out, work, runs, planted, ["fuzz_check"] if short else names)
    except RuntimeError as error:
        return ["ClusterFuzz's engine: %s" % error], {}
    finally:
        shutil.rmtree(planted)
    problems = problems_of(report, names, runs)
    if not problems:
        shutil.rmtree(folder)
    return problems, {name: {"runs": one["runs"], "merged": one["merged"]} for name, one in report["healthy"].items()}
