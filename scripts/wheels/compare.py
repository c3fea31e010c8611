"""Tests a wheel in a new environment, and compares its command with another build of secequiv on every pair of the corpus.

The comparison covers verdicts, witnesses, counts and costs: whole JSON documents except times. Nothing is downloaded.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pinned

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
ENDS = ((".before.", ".after."), (".linear.", ".tree."))
# Debian's Python has the packages that the set-up installed; another one may lack them.
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
# The command's environment without variables that lead to another build.
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("SECEQUIV", "PYTHON"))}


def pairs():
    """Returns the corpus's own pairs, and neighbouring filters and profiles, which mostly differ."""
    out = []
    for one, other in ENDS:
        files = [(path, path.with_name(path.name.replace(one, other))) for path in sorted(CORPUS.rglob("*%s*" % one))]
        out += [pair for pair in files if pair[0].suffix != ".pfc" or pair[1].exists()]  # some have no counterpart
    for pattern in ("programs/gvisor/*.after.bpf", "programs/libseccomp/*.tree.bpf", "policies/gvisor/*.json", "policies/oci/*.json", "policies/seed/*.json"):
        files = sorted(CORPUS.glob(pattern))
        out += zip(files, files[1:] + files[:1])
    return out


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if not key.endswith("seconds") and key != "version"}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def answer(command, words):
    done = subprocess.run([str(word) for word in [*command, *words]], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN)
    try:
        return done.returncode, without_times(json.loads(done.stdout)), done.stderr
    except ValueError:
        return done.returncode, done.stdout, done.stderr


def questions(before, after):
    yield "prove", "--json", before, after
    yield "prove", "--json", "--refines", "--same", "behaviour", "--engine", "sat", before, after
    yield "diff", "--json", before, after
    yield "cost", "--json", before, after


def different_answers(command, native, engines=True):
    """Returns a message for each question that the two commands answer differently, and the number of questions. A command without `engines` is
    that of WebAssembly: it has only the engine dd and no costs, and its diff names the rules of policies and the lines of assembly."""
    out, count = [], 0
    for before, after in pairs():
        for words in questions(before.relative_to(ROOT), after.relative_to(ROOT)):
            if not engines and ("--engine" in words or "cost" in words):
                continue
            count += 1
            rules = ["--rules"] if words[0] == "diff" and before.suffix in (".json", ".asm") and not engines else []
            ours, theirs = answer(command, words), answer([native], [*words, *rules])
            if ours != theirs:
                out.append("'%s' differs from %s:\n  %.500s\n  %.500s" % (" ".join(map(str, words)), native, ours, theirs))
    return out, count


def expect(what, done, status, text):
    found = (done.stdout + (done.stderr or b"")).decode(errors="replace")
    if done.returncode == status and text in found:
        return []
    return ["%s: expected status %d and '%s', found status %d and '%.500s'" % (what, status, text, done.returncode, found)]


def problems(wheel, arch, native, folder):
    """Returns a message for each failed test. `folder` is replaced by a new environment."""
    if not os.access(native, os.X_OK):
        return ["there is no %s to compare with: run scripts/demo, or set SECEQUIV_BIN" % native]
    shutil.rmtree(folder, ignore_errors=True)
    if arch == "any":
        return as_webassembly(wheel, native, folder)
    if arch == os.uname().machine:
        return in_environment(wheel, native, folder)
    qemu = shutil.which("qemu-%s" % arch)
    root = Path("/usr/%s-linux-gnu" % arch)
    if qemu is None or not root.is_dir():
        return ["it cannot run here (Debian: qemu-user libc6-%s-cross)" % {"aarch64": "arm64"}.get(arch, arch)]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".data/scripts/secequiv")]
        command = Path(archive.extract(name, folder))
    command.chmod(0o755)
    return compared([qemu, "-L", root, command], native)


def compared(command, native, engines=True):
    out, count = different_answers(command, native, engines)
    print("compared %d answers about %d pairs" % (count, len(pairs())), file=sys.stderr)
    return out


def as_webassembly(wheel, native, folder):
    """The tests of the package run in api/python/tests/test_wasm.py; this shows that the installed one finds its module, and tests its command."""
    packages = pinned.python_packages(ROOT / "scripts/lib/wasmtime.txt", ROOT / "build/wasmtime")
    venv.create(folder, with_pip=True)

    def run(*words, **variables):
        return subprocess.run([folder / "bin/python", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**PLAIN, **variables})
    out = expect("pip", run("-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps", wheel), 0, "Successfully installed")
    program = "import secequiv; print(secequiv.prove('ld [0]\\nret a\\n', 'ld [0]\\nadd #0\\nret a\\n').verdict.name, secequiv._library.LIBRARY._name)"
    out += expect("with wasmtime", run("-c", program, PYTHONPATH=str(packages)), 0, "EQUIVALENT")
    out += expect("without wasmtime", run("-c", program), 1, "needs the package wasmtime")
    (packages_of,) = folder.glob("lib/python*/site-packages")
    (packages_of / "wasmtime.pth").write_text("%s\n" % packages)
    out += expect("another command", run("-m", "secequiv", "fuzz"), 2, "invalid choice: 'fuzz'")
    return out + compared([folder / "bin/secequiv"], native, engines=False)


def in_environment(wheel, native, folder):
    venv.create(folder, with_pip=True)
    python, command = folder / "bin/python", folder / "bin/secequiv"

    def run(*words, **variables):
        return subprocess.run([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**PLAIN, **variables})
    out = expect("pip", run(python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps", wheel), 0, "Successfully installed")
    if out:
        return out
    pair = [ROOT / "corpus/programs/gvisor/kvm.before.bpf", ROOT / "corpus/programs/gvisor/kvm.after.bpf"]
    version = "%s\nengines: dd, sat, z3 (loads libz3.so.4)\n" % run(native, "--version").stdout.decode().splitlines()[0]
    out += expect("--version", run(command, "--version"), 0, version)
    out += expect("python -m secequiv", run(python, "-m", "secequiv", "prove", *pair), 0, "equivalent (dd")
    # Without Z3, everything else works.
    (folder / "none").mkdir()
    (folder / "none/libz3.so.4").write_text("not a library")
    without = {"LD_LIBRARY_PATH": str(folder / "none")}
    out += expect("without Z3", run(command, "prove", *pair, **without), 0, "equivalent (dd")
    out += expect("without Z3", run(command, "prove", "--engine", "z3", *pair, **without), 3, "unknown: Z3 cannot be loaded: ")
    out += expect("without libFuzzer", run(command, "fuzz", *pair), 3, "libFuzzer")
    # The package's own tests, with the library and the command of the new environment.
    (library,) = folder.glob("lib/python3*/site-packages/secequiv/libsecequiv.so")
    build = folder / "build"
    for part in ("bin", "lib"):
        (build / part).mkdir(parents=True)
    shutil.copy(command, build / "bin")
    shutil.copy(library, build / "lib")
    abi = run(python, "-c", "from secequiv import _library; print(_library.ABI)").stdout.decode().strip()
    (build / "lib" / ("libsecequiv.so." + abi)).symlink_to("libsecequiv.so")
    tests = subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "api/python/tests"], cwd=ROOT, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**PLAIN, "SECEQUIV_BIN": str(build / "bin"), "SECEQUIV_FULL_TESTS": "1"})
    out += expect("api/python/tests", tests, 0, " passed")
    return out + compared([command], native)
