"""Tests that each target finds its planted bugs, starting with few seeds or none, and reports nothing for correct programs."""

import pathlib
import subprocess

import pytest
import running
from naive import accept, naive
from running import LIBFUZZER, ROOT

BROKEN_PLUGIN = """
#include <string.h>
#include "harness/adapter/plugin.h"
uint32_t secequiv_plugin_version(void) { return SECEQUIV_PLUGIN_VERSION; }
int secequiv_optimize(const struct secequiv_insn* program, size_t count, struct secequiv_insn* out, size_t* out_count,
                      char* message) {
  (void)message;
  memcpy(out, program, count * sizeof *program);
  *out_count = count;
  %s
  return SECEQUIV_ANSWERED;
}
"""


def failure(done, target):
    assert done.returncode != 0, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [line for line in done.stderr.split("\n") if line.startswith(target + ": ")]
    assert lines, done.stderr[-2000:]
    return lines[0]


def found(folder):
    """Returns the path of the input that libFuzzer stored."""
    crashes = [path for path in pathlib.Path(folder).iterdir() if path.name.startswith("crash-")]
    assert len(crashes) == 1
    return crashes[0]


def assert_shown_difference(done):
    before, after = running.programs(done.stderr)
    data = running.witness(done.stderr)
    assert accept.accept(before) is None
    first, second = naive.run(before, data), naive.run(after, data)
    assert first != second
    assert "before: 0x%08x" % first in done.stderr
    assert "after:  0x%08x" % second in done.stderr
    return before


PROGRAM_BUGS = [
    "last-fix-up-off-by-one",
    "loads-reordered-across-store",
    "accumulator-left-out-of-hash",
    "jump-offset-truncated",
    "return-data-dropped",
    "live-block-dropped",
    "twin-skip-decided-tests",
    "twin-remove-dead-writes",
]


@pytest.mark.parametrize("bug", PROGRAM_BUGS)
def test_program_bug_is_found(bug, tmp_path):
    # Some bugs need hundreds of instructions. Whether one run finds them depends on the build, so the
    # test makes up to three runs.
    for seed in (1, 2, 3) if LIBFUZZER else (1,):
        done = running.fuzz("fuzz_program", tmp_path, "--optimizer=broken:" + bug, seed=seed)
        if done.returncode != 0:
            break
    assert ": different: " in failure(done, "fuzz_program")
    before = assert_shown_difference(done)
    if LIBFUZZER:  # the stored input is the program
        assert found(tmp_path).read_bytes() == running.raw(before)


POLICY_BUGS = [
    "swapped-targets-in-high-half",
    "and-compiled-as-or",
    "x32-bit-not-handled",
    "rule-priority-lost",
    "tree-bound-off-by-one",
    "default-range-without-its-end",
    "twin-split-halves",
    "twin-search-trees",
]


@pytest.mark.parametrize("bug", POLICY_BUGS)
def test_policy_bug_is_found(bug, tmp_path):
    done = running.fuzz("fuzz_policy", tmp_path, "--compiler=broken:" + bug, runs=20000)
    assert ": different: " in failure(done, "fuzz_policy")
    assert_shown_difference(done)


EVALUATOR_BUGS = [
    "eval-shift-past-word-is-zero",
    "eval-right-shift-keeps-sign",
    "eval-signed-comparison",
    "eval-division-by-zero-goes-on",
    "eval-x-not-cleared",
    "eval-length-is-zero",
    "eval-jset-inverted",
    "eval-scratch-words-too-few",
    "eval-neg-is-complement",
]


@pytest.mark.parametrize("bug", EVALUATOR_BUGS)
def test_evaluator_bug_is_found(bug, tmp_path):
    done = running.fuzz("fuzz_semantics", tmp_path, "--evaluator=broken:" + bug)
    assert "the evaluator returns 0x" in failure(done, "fuzz_semantics")


RULES = [
    "unknown_code",
    "div_by_zero",
    "shift_range",
    "mem_index",
    "jump_range",
    "ancillary",
    "last_not_ret",
    "mem_unset",
    "load_offset",
    "not_seccomp",
]


@pytest.mark.parametrize("rule", RULES)
def test_missing_rule_is_found(rule, tmp_path):
    done = running.fuzz("fuzz_check", tmp_path, "--without-rule=" + rule)
    line = failure(done, "fuzz_check")
    assert "our checker: %s" % rule in line
    if LIBFUZZER:
        refusal = accept.accept(running.parsed(found(tmp_path).read_bytes()))
        assert refusal is not None and refusal[0] == rule


def test_missing_length_rule_is_found(tmp_path):
    """Mutation that starts from nothing does not reach 4097 instructions, so this test replays a stored program."""
    file = ROOT / "corpus/regress/check/too-long"
    done = running.fuzz("fuzz_check", tmp_path, "--without-rule=length", str(file), runs=0)
    assert "our checker: length" in failure(done, "fuzz_check")


def built_plugin(folder, body):
    source, shared = folder / "broken.c", folder / "broken.so"
    source.write_text(BROKEN_PLUGIN % body)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", str(ROOT), str(source), "-o", str(shared)], check=True)
    return shared


def test_wrong_plugin_is_found(tmp_path):
    shared = built_plugin(tmp_path, "if (count > 2 && out[1].code == 0x15) out[1].k &= 0xffffff;")
    done = running.fuzz("fuzz_plugin", tmp_path, "--plugin=%s" % shared)
    assert ": different: " in failure(done, "fuzz_plugin")
    assert_shown_difference(done)


def test_plugin_with_illegal_answers_is_found(tmp_path):
    shared = built_plugin(tmp_path, "if (out[0].code == 0x20 && out[0].k == 8) out[0].k = 64;")
    done = running.fuzz("fuzz_plugin", tmp_path, "--plugin=%s" % shared)
    assert ": rejected: the kernel would refuse the returned program: load_offset" in failure(done, "fuzz_plugin")


def test_a_file_that_is_not_a_plugin_is_an_error(tmp_path):
    shared = tmp_path / "none.so"
    shared.write_bytes(b"no plugin")
    done = running.fuzz("fuzz_plugin", tmp_path, "--plugin=%s" % shared)
    assert done.returncode != 0
    assert str(shared) in done.stderr


READERS = [
    "raw", "raw-be", "asm", "ddd", "c", "policy", "oci", "rule", "assumption", "expectation", "profile", "symbolic",
    "coverage", "inputs", "vectors", "frames", "names", "rewrites", "seccompiler", "minijail",
    "minijail-compiler", "pfc", "property",
]  # fmt: skip


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    subprocess.run([running.binary("fuzz_seeds"), str(folder), str(ROOT / "corpus")], check=True)
    return folder


@pytest.mark.parametrize("reader", READERS)
def test_parsers_reach_every_reader(reader, seeds, tmp_path):
    done = running.fuzz("fuzz_parsers", tmp_path, "--deny=" + reader, str(seeds / "fuzz_parsers_seed_corpus"), runs=10)
    assert failure(done, "fuzz_parsers") == "fuzz_parsers: %s: it accepts input that it must refuse" % reader


TARGETS = ["fuzz_program", "fuzz_policy", "fuzz_semantics", "fuzz_check", "fuzz_plugin", "fuzz_parsers"]


@pytest.mark.parametrize("target", TARGETS)
def test_correct_targets_pass(target, seeds, tmp_path):
    corpus = seeds / (target + "_seed_corpus")
    assert len(list(corpus.iterdir())) > 50
    done = running.fuzz(target, tmp_path, str(corpus), runs=2000)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stderr.split("\n"):
        if line.endswith("unsupported"):  # nearly all answers are proven
            words = line.split()
            assert int(words[3]) >= 0.9 * int(words[1]) > 0, line
