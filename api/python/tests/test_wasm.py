"""Runs the tests of the Python package with the library as WebAssembly, and tests what only this library does."""
# Annex: wasm

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api/tests"), str(ROOT / "scripts")]

from api_build import binary  # noqa: E402
import pinned  # noqa: E402

pytestmark = pytest.mark.full
MODULE = ROOT / "build/wasm/bin/secequiv.wasm"
HERE = Path(__file__).parent
# These tests are about other engines, the process's memory, or the native library's file.
NATIVE = ("test_prove_compares_two_filters or test_prove_property_is_about_one_filter or test_memory_that_runs_out_is_unknown or "
          "test_the_wheel_works_in_a_new_environment")


@pytest.fixture(scope="module")
def environment():
    if not MODULE.exists():
        pytest.skip("%s is not built (cmake --preset wasm && cmake --build --preset wasm)" % MODULE.relative_to(ROOT))
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
    assert done.stdout.splitlines() == ["this filter was lost when the module's memory ran out or the module trapped; read it again", "EQUIVALENT"], done.stdout


def test_memory_that_runs_out_and_a_trap_are_different_errors(environment):
    done = python("""
import secequiv
from secequiv._library import LIBRARY
def fill():
    kept = LIBRARY._run('malloc', 4096)
    for size in (1 << 26, 1 << 20, 1 << 10, 1):
        while LIBRARY._run('malloc', size):
            pass
    LIBRARY._run('free', kept)
    secequiv.prove('ret #0\\n', 'ret #0\\n')
for each in (lambda: secequiv.parse(bytes(1 << 31)), lambda: secequiv.parse(bytes(600 << 20)), fill, lambda: LIBRARY._run('secequiv_result_message', 0x7fffffff)):
    try:
        each()
    except (MemoryError, RuntimeError) as error:
        print('%s: %s' % (type(error).__name__, error))
    print(secequiv.prove('ret #0\\n', 'ret #0\\n').verdict.name)
""", environment)
    ran_out = "MemoryError: the module's memory ran out"
    trapped = "RuntimeError: the module trapped in secequiv_result_message, which is a bug: out of bounds memory access"
    assert done.stdout.splitlines() == [*[ran_out, "EQUIVALENT"] * 3, trapped, "EQUIVALENT"], done.stdout


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
REFUSED, LINE = "refused.asm", "new\nline.bpf"
DOCKER, PODMAN = "corpus/policies/oci/docker-default.json", "corpus/policies/oci/podman-default.json"


@pytest.mark.parametrize("words", [
    ("prove", KVM, KVM), ("prove", KVM, SYSTRAP), ("prove", KVM, SYSTRAP, "--refines", "--json"), ("prove", KVM, SYSTRAP, "--same", "effect"),
    ("prove", KVM, SYSTRAP, "--assume", "nr == read"), ("prove", KVM, BAD), ("prove", KVM, BAD, "--json"), ("prove", KVM, LONG),
    ("prove", KVM, REFUSED), ("prove", KVM, REFUSED, "--json"), ("prove", KVM, "corpus/programs"), ("prove", KVM, LINE),
    ("prove", KVM, SYSTRAP, "--assume", "nr == "), ("prove", KVM, SYSTRAP, "--assume", "nr == ", "--json"), ("prove", DOCKER, PODMAN, "--json"),
    ("prove", DOCKER, DOCKER, "--cap", "all", "--cap", "net_raw,SYS_ADMIN", "--json"), ("prove", DOCKER, KVM, "--kernel-version", "3.2", "--json"),
    ("prove", DOCKER, KVM, "--arch", "aarch64", "--json"), ("diff", KVM, SYSTRAP, "--json"), ("diff", KVM, SYSTRAP, "--max-regions", 100),
    ("why", KVM, WRITE), ("why", DOCKER, WRITE), ("run", KVM, WRITE), ("actions", KVM), ("actions", KVM, "--json"), ("actions", DOCKER),
    ("reach", KVM), ("reach", KVM, "--at", 3), ("reach", KVM, "--at", 5000), ("optimize", KVM), ("dis", KVM, "--to", "c"), ("dis", KVM, "--to", "raw"),
    ("optimize", KVM, "--to", "raw"), ("lint", "corpus/policies/seed/orders.json"), ("lift", KVM, "--as", "oci"), ("lift", KVM), ("dis", LONG),
    ("dis", REFUSED), ("lift", REFUSED), ("dis", BAD), ("lint", BAD), ("actions", BAD, "--json"),
], ids=lambda words: " ".join(map(str, words)).replace("\n", "?"))
def test_the_commands_answer_as_the_command_line(words, environment, tmp_path):
    made = {REFUSED: tmp_path / "refused.asm", LINE: tmp_path / "new\nline.bpf"}
    made[REFUSED].write_text("ld [65]\nret #0\n")
    made[LINE].write_bytes((ROOT / SYSTRAP).read_bytes())
    words = [made.get(word, word) for word in words]
    status, out, error = native(*words)
    if words == ["lift", KVM]:  # the command line also reports the proof
        error = b""
    assert commands(environment, *words) == (status, out, error)


def test_the_commands_have_the_options_of_the_command_line(environment):
    described = {each["name"]: each for each in json.loads(native("--list-options")[1])["commands"]}
    listed = json.loads(python("""
import json
from secequiv._commands import _COMMANDS, _OPTIONS
print(json.dumps({name: [text, {option: [_OPTIONS[option][0], _OPTIONS[option][1].get('choices', [])] for option in options}]
                  for name, (text, options, _) in _COMMANDS.items()}))""", environment).stdout)
    assert len(listed) == 10
    for name, (text, options) in listed.items():
        assert text.split()[0] == described[name]["text"].split()[0]
        known = {option["names"][-1]: option for option in described[name]["options"] if option["names"]}
        for option, (help, choices) in options.items():
            assert help == known[option]["text"], (name, option)
            assert set(choices) <= set(known[option]["words"]), (name, option)


def test_the_commands_refuse_what_they_do_not_have(environment):
    """Native refuses them, too, unless it has a command or an option that is missing here."""
    for words, text in (([], b"the following arguments are required: COMMAND"), (["fuzz"], b"invalid choice: 'fuzz'"),
                        (["prove", KVM, SYSTRAP, "--engine", "z3"], b"unrecognized arguments: --engine z3"), (["prove", KVM], b"required: after"),
                        (["prove", KVM, SYSTRAP, "--ref"], b"unrecognized arguments: --ref")):
        status, out, error = commands(environment, *words)
        assert (status, out) == (2, b"") and text in error, (words, error)
        assert (b"The packages for Linux have all of them" in error) == (b"invalid" in text or b"unrecognized" in text), error
    for words, text in ((["prove", KVM, ""], b"expected a file's name, found ''"), (["prove", "-", "-"], b"it is named twice"), (["reach", KVM, "--at", "4294967299"], b"expected a number of at most nine digits"),
                        (["prove", KVM, KVM, "--assume", "nr == 1", "--assume", "nr == 2"], b"argument --assume: given more than once"),
                        (["prove", KVM, KVM, "--assume="], b"expected a text, found ''"), (["prove", KVM, KVM, "--arch", ""], b"expected a text, found ''"),
                        (["prove", KVM, KVM, "--cap", ""], b"expected a text, found ''"), (["prove", KVM, KVM, "--timeout", "1_0"], b"found '1_0'"),
                        (["prove", KVM, KVM, "--timeout", "0"], b"expected a number of seconds above 0, found '0'"),
                        (["prove", KVM, KVM, "--timeout", "inf"], b"expected a number of seconds above 0, found 'inf'"),
                        (["prove", DOCKER, KVM, "--cap", "CAP_NONE"], b"--cap: expected a capability's name"),
                        (["diff", KVM, KVM, "--max-regions", "1000001"], b"--max-regions: expected"),
                        (["run", KVM, "--words", "1,2"], b"expected sixteen 32-bit words, found '1,2'"),
                        (["run", KVM, "--words", ",".join(["0b1"] * 16)], b"expected sixteen 32-bit words"),
                        (["dis", "/dev/zero"], b"expected at most 16777216 bytes")):
        status, out, error = commands(environment, *words)
        assert (status, out) == (2, b"") and text in error, (words, error)
        assert native(*words)[0] == 2, words


def test_outputs_that_cannot_be_written_are_errors(environment):
    for words in ("prove %s %s" % (KVM, KVM), "--version", "--help", "dis %s" % KVM):
        for end in (">/dev/full", ">&-"):
            done = subprocess.run(["bash", "-c", '"$0" -m secequiv._commands %s %s' % (words, end), sys.executable], cwd=ROOT, env=environment,
                                  stderr=subprocess.PIPE)
            assert done.returncode == 2 and b"secequiv: <stdout>: cannot write" in done.stderr, (words, end, done)


def test_names_need_no_utf_8(environment, tmp_path):
    for name in ("d\xfc.json", os.fsdecode(b"d\xff.json")):
        path = tmp_path / name
        path.write_bytes((ROOT / DOCKER).read_bytes())
        ascii_only = {**environment, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        status, out, error = commands(ascii_only, "prove", path, path)
        assert (status, out.splitlines()[:2], error) == (0, native("prove", path, path)[1].splitlines()[:2], b"")


def test_a_read_only_home_needs_no_cache(environment):
    status, out, _ = commands({**environment, "XDG_CACHE_HOME": "/proc/x", "HOME": "/proc/x"}, "prove", KVM, KVM)
    assert status == 0 and out.startswith(b"equivalent")


def test_an_interrupt_ends_a_command_at_once(environment):
    """The module's own calls end late, so a signal must end the process."""
    program = "from secequiv import _commands; import os, signal; _commands._run = lambda _: os.kill(os.getpid(), signal.SIGINT); _commands.main()"
    done = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_a_library_that_cannot_be_loaded_is_an_error(environment):
    done = subprocess.run([sys.executable, "-c", "import sys, secequiv_command; sys.exit(secequiv_command.main())", "--version"],
                          env={**environment, "SECEQUIV_LIBRARY": "/nowhere/lib.so"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.startswith(b"secequiv: cannot load the library of secequiv"), done


def test_an_exhausted_limit_is_unknown(environment):
    status, out, error = commands(environment, "prove", KVM, KVM.replace("before", "after"), "--timeout", "0.000000001")
    assert status == 3 and b"reached their limit" in out and error == b""
    status, out, error = commands(environment, "prove", KVM, KVM.replace("before", "after"), "--timeout", "0.000000001", "--json")
    assert (status, error) == (3, b"") and b'"verdict": "unknown"' in out


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
