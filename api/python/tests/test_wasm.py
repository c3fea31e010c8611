"""Runs the tests of the Python package with the library as WebAssembly, and tests what only this library does."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api/tests"), str(ROOT / "scripts")]

from api_build import binary, in_full  # noqa: E402
import pinned  # noqa: E402

pytestmark = in_full
MODULE = ROOT / "build/wasm/bin/secequiv.wasm"
HERE = Path(__file__).parent
# These tests are about other engines, the process's memory, or the native library's file.
NATIVE = ("test_prove_compares_two_filters or test_prove_property_is_about_one_filter or test_memory_that_runs_out_is_unknown or "
          "test_the_wheel_works_in_a_new_environment")


@pytest.fixture(scope="module")
def environment():
    if not MODULE.exists():
        (pytest.fail if os.environ.get("SECEQUIV_REQUIRE_WASM") else pytest.skip)("%s is not built (cmake --preset wasm && cmake --build --preset wasm)" % MODULE.relative_to(ROOT))
    try:
        packages = pinned.python_packages(ROOT / "scripts/lib/wasmtime.txt", ROOT / "build/wasmtime")
    except pinned.Missing as why:
        pytest.skip(str(why))
    path = os.pathsep.join([str(packages), str(ROOT / "api/python/src")])
    return {**os.environ, "PYTHONPATH": path, "SECEQUIV_TEST_LIBRARY": str(MODULE), "SECEQUIV_LIBRARY": str(MODULE), "SECEQUIV": binary()}


def python(text, environment):
    return subprocess.run([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_package_works_as_with_the_native_library(environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not (%s)" % NATIVE, HERE / "test_package.py"],
                          cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and "31 passed, 5 deselected" in done.stdout, done.stdout


def test_other_engines_are_refused(environment):
    done = python("import secequiv\nprint(secequiv.prove('ld [0]\\nret a\\n', 'ld [0]\\nadd #0\\nret a\\n', engine='z3').verdict)", environment)
    assert done.returncode == 1 and "not in this build" in done.stdout, done.stdout


def test_a_filter_of_a_module_that_ended_is_refused(environment):
    """A module whose memory ran out starts again. Pointers into the old one must not be used."""
    done = python("""
import secequiv
from secequiv._library import LIBRARY
kept, other = secequiv.parse('ret #0\\n'), secequiv.parse('ret #1\\n')
LIBRARY._restart()
fresh = secequiv.parse('ret #0\\n')
try:
    print(secequiv.prove(kept, other).verdict)
except MemoryError as error:
    print(error)
del kept, other
print(secequiv.prove(fresh, 'ret #0\\n').verdict.name)
""", environment)
    assert done.stdout.splitlines() == ["this filter was lost when the module's memory ran out; read it again", "EQUIVALENT"], done.stdout


def test_memory_that_runs_out_is_an_error(environment):
    done = python("""
import secequiv
from secequiv._library import LIBRARY
for size in (1 << 31, 600 << 20):
    try:
        secequiv.parse(bytes(size))
    except MemoryError as error:
        print('memory')
print(secequiv.prove('ret #0\\n', 'ret #0\\n').verdict.name)
""", environment)
    assert done.stdout.splitlines() == ["memory", "memory", "EQUIVALENT"], done.stdout


def test_without_wasmtime_the_error_says_what_is_missing(environment):
    done = python("import secequiv", {**environment, "PYTHONPATH": str(ROOT / "api/python/src"), "PYTHONNOUSERSITE": "1"})
    assert done.returncode == 1 and "needs the package wasmtime (pip install wasmtime)" in done.stdout, done.stdout


def commands(environment, *words, stdin=b""):
    done = subprocess.run([sys.executable, "-m", "secequiv._commands", *map(str, words)], cwd=ROOT, env=environment, input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, TIMES.sub(b"", done.stdout), done.stderr


def native(*words):
    done = subprocess.run([binary(), *map(str, words)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, TIMES.sub(b"", done.stdout), done.stderr


TIMES = re.compile(rb"encoded in .* ms|_seconds\": [0-9.e-]+")
KVM, SYSTRAP = "corpus/programs/gvisor/kvm.before.bpf", "corpus/programs/gvisor/systrap.after.bpf"
WRITE = "--words=" + ",".join(["1", "0xc000003e", *["0"] * 14])
LONG, BAD = "corpus/programs/gvisor/systrap-hostnet.before.bpf", "corpus/programs/nothing.bpf"
REFUSED = "refused.asm"


@pytest.mark.parametrize("words", [
    ("prove", KVM, KVM), ("prove", KVM, SYSTRAP), ("prove", KVM, SYSTRAP, "--refines", "--json"), ("prove", KVM, SYSTRAP, "--same", "effect"),
    ("prove", KVM, SYSTRAP, "--assume", "nr == read"), ("prove", KVM, "--property", "no-ptrace"), ("prove", KVM, BAD),
    ("prove", KVM, BAD, "--json"), ("prove", KVM, LONG), ("prove", KVM, REFUSED),
    ("prove", KVM, REFUSED, "--json"), ("dis", REFUSED), ("lift", REFUSED), ("prove", KVM, "corpus/policies/oci/podman-default.json", "--json"),
    ("prove", KVM, SYSTRAP, "--assume", "nr == "), ("diff", KVM, SYSTRAP, "--json"), ("diff", KVM, SYSTRAP, "--max-regions", 100),
    ("why", KVM, WRITE), ("run", KVM, WRITE), ("actions", KVM), ("reach", KVM), ("reach", KVM, "--at", 3), ("cache", KVM, SYSTRAP),
    ("cost", KVM, SYSTRAP, "--json"), ("optimize", KVM), ("dis", KVM, "--to", "c"), ("lint", "corpus/policies/seed/orders.json"),
    ("lift", KVM, "--as", "oci"), ("lift", KVM),
], ids=lambda words: " ".join(map(str, words)))
def test_the_commands_answer_as_the_command_line(words, environment, tmp_path):
    (tmp_path / REFUSED).write_text("ld [65]\nret #0\n")
    words = [tmp_path / REFUSED if word == REFUSED else word for word in words]
    expected = native(*words)
    status, out, error = commands(environment, *words)
    if words == ["lift", KVM]:  # the command line also reports the proof
        expected = (*expected[:2], b"")
    if words[0] == "cost":  # the library does not know the names of files
        expected = (expected[0], expected[1].replace(KVM.encode(), b"before").replace(SYSTRAP.encode(), b"after"), expected[2])
    assert (status, out, error) == expected


def test_the_commands_have_the_options_of_the_command_line(environment):
    described = {each["name"]: each for each in json.loads(native("--list-options")[1])["commands"]}
    listed = json.loads(python("""
import json
from secequiv._commands import _COMMANDS, _OPTIONS
print(json.dumps({name: [text, {option: [_OPTIONS[option][0], _OPTIONS[option][1].get('choices', [])] for option in options}]
                  for name, (text, options, _) in _COMMANDS.items()}))""", environment).stdout)
    assert len(listed) == 12
    for name, (text, options) in listed.items():
        assert text == described[name]["text"]
        known = {option["names"][-1]: option for option in described[name]["options"] if option["names"]}
        for option, (help, choices) in options.items():
            text = known[option]["text"]
            assert help == (text.replace("; repeatable", "") if option == "--property" else text), (name, option)
            assert set(choices) <= set(known[option]["words"]), (name, option)


def test_the_commands_refuse_what_they_do_not_have(environment):
    for words, text in (([], b"the following arguments are required: COMMAND"), (["fuzz"], b"invalid choice: 'fuzz'"),
                        (["prove", KVM, SYSTRAP, "--engine", "z3"], b"unrecognized arguments: --engine z3"),
                        (["prove", KVM], b"prove: expected two filters, or one and --property"),
                        (["cost", KVM, KVM, KVM], b"cost: expected one or two filters, found 3"),
                        (["prove", KVM, KVM, "--assume", "nr == 1", "--assume", "true"], b"argument --assume: given more than once"),
                        (["prove", KVM, SYSTRAP, "--ref"], b"unrecognized arguments: --ref"),
                        (["run", KVM, "--words", "1,2"], b"expected sixteen 32-bit words, found '1,2'"),
                        (["prove", KVM, KVM, "--timeout", "0"], b"expected a number of seconds above 0, found '0'")):
        status, out, error = commands(environment, *words)
        assert (status, out) == (2, b"") and text in error and b"the packages for Linux have all of them" in error, (words, error)


def test_an_exhausted_limit_is_unknown(environment):
    status, out, error = commands(environment, "prove", KVM, KVM.replace("before", "after"), "--timeout", "0.000000001")
    assert status == 3 and b"reached their limit" in out and error == b""
    status, out, error = commands(environment, "prove", KVM, KVM.replace("before", "after"), "--timeout", "0.000000001", "--json")
    assert (status, error) == (3, b"") and b'"verdict": "unknown"' in out
    status, out, error = commands(environment, "dis", "-", "--from", "raw", stdin=bytes(600 << 20))
    assert (status, out) == (3, b"") and b"memory" in error


def test_a_closed_pipe_ends_a_command_quietly(environment):
    done = subprocess.run(["bash", "-c", '"$0" -m secequiv._commands reach %s | true; echo "${PIPESTATUS[0]}"' % KVM, sys.executable], cwd=ROOT,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.stdout == b"141\n"


def test_without_a_binary_the_package_is_the_command_line(environment):
    def module(variables, *words):
        return subprocess.run([sys.executable, "-m", "secequiv", *words], cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    alone = {**environment, "PATH": "/nowhere"}
    done = module({**alone, "SECEQUIV": "/nowhere/secequiv"}, "dis", KVM)
    assert done.returncode == 2 and b"cannot start '/nowhere/secequiv'" in done.stdout
    del alone["SECEQUIV"]
    done = module(alone, "dis", KVM)
    assert (done.returncode, done.stdout) == native("dis", KVM)[:2]
    assert commands(environment, "dis", "-", stdin=(ROOT / KVM).read_bytes())[:2] == native("dis", KVM)[:2]
