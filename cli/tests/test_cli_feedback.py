"""Tests feedback from the code under test: an optimizer that reports the edges of its own code steers the programs of `secequiv fuzz`.

The optimizer has a planted bug behind nested conditions. It is built twice from the same source, with and without coverage counters.
Numbers of trials decide, not times.
"""

import os
import re
import shutil
import subprocess

import pytest
from cli_tool import FULL, ROOT, report, run

pytestmark = [pytest.mark.skipif(shutil.which("clang++-19") is None, reason="no clang++-19, which builds the counters"),
              pytest.mark.skipif(not FULL, reason="another build has other random numbers")]

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


RUST = r"""
use secequiv::adapter::{serve, Adapter, Answer};
use secequiv::Insn;

struct Rare;

impl Adapter for Rare {
    fn optimize(&self, program: &[Insn]) -> Answer<Vec<Insn>> {
        let count = |code: u16| program.iter().filter(|insn| insn.code == code).count();
        let mut out = program.to_vec();
        if program.len() <= 32 && count(0x84) >= 1 {
            if count(0x84) >= 2 {
                if count(0x84) >= 3 {
                    if count(0x3c) >= 1 {
                        if count(0x3c) >= 2 {
                            if count(0x87) >= 1 {
                                out.iter_mut().filter(|insn| insn.code == 0x06).for_each(|insn| insn.k ^= 0x10000);
                            }
                        }
                    }
                }
            }
        }
        Ok(out)
    }
}

fn main() -> std::io::Result<()> {
    serve(&Rare)
}
"""
COUNTERS = ("-C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3 "
            "-C llvm-args=-sanitizer-coverage-inline-8bit-counters")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo, which builds the Rust crate")
def test_an_optimizer_in_rust_reports_its_edges(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text(RUST)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "rare"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'
                                         'secequiv = { path = "%s", default-features = false }\n' % (ROOT / "api" / "rust"))

    def optimizer(flags):
        host = re.search("^host: (.*)$", subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout, re.M)[1]
        subprocess.run(["cargo", "build", "--offline", "--release", "--target", host], cwd=tmp_path, check=True, timeout=600,
                       env={**os.environ, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(tmp_path / "target")})
        return "serve:%s" % (tmp_path / "target" / host / "release" / "rare")
    document, done = fuzz(optimizer(""), 1)
    assert (done.status, document["trials"], document["feedback"]) == (0, TRIALS, None), done
    document, done = fuzz(optimizer(COUNTERS), 1)
    assert done.status == 1 and document["trials"] < TRIALS and document["feedback"]["new_edges"] >= document["feedback"]["kept"] >= 5, done


GO = r"""
package main

import "github.com/secequiv/secequiv/api/go/serve"

func optimize(program []serve.Insn) ([]serve.Insn, error) {
	count := map[uint16]int{}
	if len(program) <= 32 {
		for _, in := range program {
			count[in.Code]++
		}
	}
	if count[0x84] >= 1 {
		if count[0x84] >= 2 {
			if count[0x84] >= 3 {
				if count[0x3c] >= 1 {
					if count[0x3c] >= 2 {
						if count[0x87] >= 1 {
							for i := range program {
								if program[i].Code == 0x06 {
									program[i].K ^= 0x10000
								}
							}
						}
					}
				}
			}
		}
	}
	return program, nil
}

func main() { serve.Command(serve.Handlers{Optimize: optimize}) }
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="no go, which builds the module")
def test_an_optimizer_in_go_reports_its_edges(tmp_path):
    (tmp_path / "main.go").write_text(GO)
    module = "github.com/secequiv/secequiv/api/go"
    (tmp_path / "go.mod").write_text("module rare\n\ngo 1.21\n\nrequire %s v0.0.0\n\nreplace %s => %s\n" % (module, module, ROOT / "api" / "go"))

    def optimizer(name, *flags):
        subprocess.run(["go", "build", *flags, "-o", name, "."], cwd=tmp_path, check=True, timeout=600, env={**os.environ, "GOFLAGS": "-mod=mod"})
        return "serve:%s" % (tmp_path / name)
    document, done = fuzz(optimizer("plain"), 1)
    assert (done.status, document["trials"], document["feedback"]) == (0, TRIALS, None), done
    document, done = fuzz(optimizer("counted", "-cover", "-covermode=atomic"), 1)
    assert done.status == 1 and document["trials"] < TRIALS and document["feedback"]["new_edges"] >= document["feedback"]["kept"] >= 5, done
