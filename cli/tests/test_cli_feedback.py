"""Tests feedback from the code under test: an optimizer that reports the edges of its own code steers the programs of `secequiv fuzz`.

The optimizer has a planted bug behind nested conditions. It is built twice from the same source, with and without coverage counters.
Numbers of trials decide, not times.
"""

import subprocess

import pytest
from cli_tool import ROOT, report, run

pytestmark = pytest.mark.full  # another build has other random numbers

TRIALS = 60000
# The optimizer answers with its input. If a short program has all of these instructions, it changes the return values.
SOURCE = r"""
#include "adapters/serve/serve.h"

struct Rare {
  static adapter::Answer answer_optimize(std::vector<adapter::Insn> program) {
    int counts[256] = {};
    if (program.size() <= 32)
      for (const adapter::Insn& in : program) ++counts[in.code & 0xff];
    const int neg = counts[0x84], div_x = counts[0x3c], txa = counts[0x87];
    if (neg >= 1)
      if (neg >= 2)
        if (neg >= 3)
          if (div_x >= 1)
            if (div_x >= 2)
              if (txa >= 1)
                if (txa >= 2)
                  for (adapter::Insn& in : program)
                    if (in.code == 0x06) in.k ^= 0x10000;
    return {adapter::Status::kAnswered, std::string(reinterpret_cast<const char*>(program.data()), program.size() * sizeof(adapter::Insn))};
  }
};

int main() { return adapter::serve("rare", Rare{}); }
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Returns a function that builds the optimizer with these flags and returns the text of --optimizer."""
    folder = tmp_path_factory.mktemp("optimizer")
    (folder / "rare.cc").write_text(SOURCE)

    def make(name, *flags):
        subprocess.run(["clang++-19", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT), *flags, str(folder / "rare.cc"),
                        "-o", str(folder / name)], check=True, timeout=300)
        return "serve:%s" % (folder / name)
    return make


@pytest.fixture(scope="module")
def counted(build):
    return build("counted", "-fsanitize-coverage=inline-8bit-counters")


def fuzz(optimizer, seed, *more):
    return report("fuzz", "--optimizer", optimizer, *more, "--trials", TRIALS, "--seed", seed, "--no-prove", "--no-scaling", "--stop-at-first", "--no-sandbox")


def test_feedback_finds_a_bug_that_plain_generation_misses(build, counted):
    plain = build("plain")
    for seed in (1, 2):
        document, done = fuzz(plain, seed)
        assert (done.status, document["trials"], document["feedback"]) == (0, TRIALS, None), done
        document, done = fuzz(counted, seed)
        assert done.status == 1 and document["trials"] < TRIALS, done
        assert document["feedback"]["new_edges"] >= document["feedback"]["kept"] >= 5


def test_feedback_also_steers_changed_copies_of_given_programs(counted, tmp_path):
    (tmp_path / "small.asm").write_text("ld [0]\njeq #39, y, n\ny: neg\nadd #1\nret #0x7fff0000\nn: ret #0x50001\n")
    document, done = fuzz(counted, 1, "--programs", tmp_path / "small.asm")
    assert done.status == 1 and document["trials"] < TRIALS and document["feedback"]["kept"] >= 5, done


def test_a_seed_repeats_a_campaign_with_feedback(counted):
    first, second = (fuzz(counted, 1)[0] for _ in range(2))
    for document in (first, second):
        for part in (document, *document["findings"]):
            part.pop("seconds")
            part.pop("text", None)  # the text contains the seconds, too
    assert first == second


def test_counters_are_found_even_if_only_the_compiler_got_the_flag(build, counted, tmp_path):
    # Without the flag, the linker adds no runtime of a sanitizer.
    (tmp_path / "rare.cc").write_text(SOURCE)
    flags = ["-std=c++20", "-O0", "-I", str(ROOT)]
    subprocess.run(["clang++-19", *flags, "-fsanitize-coverage=inline-8bit-counters", "-c", "rare.cc"], cwd=tmp_path, check=True, timeout=300)
    subprocess.run(["clang++-19", "rare.o", "-o", "rare"], cwd=tmp_path, check=True, timeout=300)
    done = run("fuzz", "--optimizer", "serve:%s" % (tmp_path / "rare"), "--trials", 200, "--no-prove", "--no-scaling", "--no-sandbox")
    assert done.status == 0 and "feedback: " in done.out and " new edges of the optimizer" in done.out, done


def test_a_crash_restarts_the_optimizer_and_keeps_the_feedback(tmp_path):
    # This optimizer aborts on every program of more than 100 instructions, so that new processes report the same edges again.
    (tmp_path / "rare.cc").write_text(SOURCE.replace("int counts[256] = {};", "int counts[256] = {};\n    if (program.size() > 100) std::abort();"))
    subprocess.run(["clang++-19", "-std=c++20", "-O0", "-I", str(ROOT), "-include", "cstdlib", "-fsanitize-coverage=inline-8bit-counters", "rare.cc", "-o", "rare"],
                   cwd=tmp_path, check=True, timeout=300)
    document, done = report("fuzz", "--optimizer", "serve:%s" % (tmp_path / "rare"), "--trials", 400, "--no-prove", "--no-scaling", "--no-sandbox")
    assert (done.status, document["verdict"], document["trials"]) == (5, "crashed", 400), done
    assert {one["kind"] for one in document["findings"] if one["failure"]} == {"crashed"}
    assert 0 < document["feedback"]["new_edges"] < 60
