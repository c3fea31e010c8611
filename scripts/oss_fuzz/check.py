"""Build one configuration as the builder does, then check it as the build check does. Owns the folders of builds."""

import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from . import artifacts, runs, sandbox, toolchain

PASSED, FAILED, NOT_AVAILABLE = "passed", "FAILED", "not available"
COMMANDS = ("cmake", "ninja", "python3", "objdump", "readelf")  # every check needs these


class Result(NamedTuple):
    result: str
    seconds: float
    problems: tuple  # lines; for NOT_AVAILABLE, the reason
    figures: dict  # target -> {name: number}


class Limits(NamedTuple):
    runs: int = 5000  # number of runs that libFuzzer makes from a target's seeds
    afl_seconds: int = 5


class Failed(Exception):
    """The build failed; the message names its log."""


def build(root, folder, variables):
    """Runs build.sh as the builder does; returns $OUT after moving it away from the place that the build knew."""
    src, work, out, moved = (folder / name for name in ("src", "objects", "out", "moved"))
    kept = folder / "variables"
    wanted = "\n".join("%s=%s" % pair for pair in sorted(variables.items()))
    if not kept.exists() or kept.read_text() != wanted:
        shutil.rmtree(work, ignore_errors=True)  # otherwise CMake would keep the flags of its first run
    for each in (src, out, moved, work / "secequiv" / "bin"):  # a target that is no longer built must not remain
        shutil.rmtree(each, ignore_errors=True)
    for each in (src, work, out):
        each.mkdir(parents=True, exist_ok=True)
    kept.write_text(wanted)
    (src / "secequiv").symlink_to(root)
    shutil.copy(root / "ci/oss-fuzz/build.sh", src / "build.sh")
    log = folder / "build.log"
    with log.open("w") as output:
        done = subprocess.run(["bash", "-eu", str(src / "build.sh")], cwd=str(src / "secequiv"), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              env={**os.environ, **variables, "SRC": str(src), "WORK": str(work), "OUT": str(out)})
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "error" in line or "FAILED" in line] or lines
        raise Failed("build.sh: status %d; the whole log is in %s\n    | %s" % (done.returncode, log, "\n    | ".join(errors[:runs.TAIL])))
    os.rename(out, moved)
    return moved


def examine_target(target, configuration, place, limits, tools):
    """Checks one target; returns (problems, figures)."""
    problems = artifacts.companion_problems(target) + artifacts.library_problems(target)
    problems += artifacts.architecture_problems(target, configuration.architecture)
    calls = artifacts.sanitizer_calls(target)
    problems += artifacts.instrumentation_problems(target, configuration, calls)
    measured = dict(calls or {})
    if not problems:  # the next checks need readable seeds and options
        if configuration.sanitizer == "coverage":
            problems, more = runs.coverage(place, target, *tools)
        elif configuration.engine == "afl":
            problems, more = runs.afl(place, target, limits.afl_seconds)
        else:
            problems, more = runs.libfuzzer(place, target, limits.runs)
        measured.update(more)
    return problems, measured


def examine(out, configuration, place, limits, tools=()):
    """Checks all targets of the build, one on each processor; returns (problems, figures)."""
    targets = artifacts.targets(out)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda target: examine_target(target, configuration, place.part(target.name), limits, tools), targets))
    problems = artifacts.name_problems(out) + [problem for some, _ in found for problem in some]
    return problems, {target.name: measured for target, (_, measured) in zip(targets, found)}


def tools(configuration):
    """Returns the commands that only this configuration needs; raises NotAvailable if one is missing."""
    needed = {"coverage": ("llvm-profdata-19", "llvm-cov-19")}.get(configuration.sanitizer, ()) + \
        {"afl": ("afl-fuzz", "afl-showmap")}.get(configuration.engine, ())
    for name in needed:
        if shutil.which(name) is None:
            raise toolchain.NotAvailable("no %s" % name)
    return needed


def check(root, configuration, folder, limits, plain=False):
    """Builds and checks one configuration in `folder`; returns the Result. Files that all configurations share are in the parent folder."""
    started = time.monotonic()

    def result(kind, problems=(), figures=None):
        return Result(kind, time.monotonic() - started, tuple(problems), figures or {})

    try:
        variables = toolchain.environment(configuration, folder.parent, plain)
        used = tools(configuration)
        toolchain.probe(variables, folder / "probe")
        out = build(Path(root), folder, variables)
    except toolchain.NotAvailable as why:
        return result(NOT_AVAILABLE, [str(why)])
    except Failed as error:
        return result(FAILED, [str(error)])
    scratch = folder / "tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    place = sandbox.Sandbox(out, scratch, root)
    problems, figures = examine(out, configuration, place, limits, used)
    shutil.rmtree(scratch, ignore_errors=True)
    return result(FAILED if problems else PASSED, problems, figures)
