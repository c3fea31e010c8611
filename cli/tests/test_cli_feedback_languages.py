"""Tests feedback from optimizers in Rust and Go, which report the edges of their own code with the helpers of these languages."""
# Annex: languages

import os
import re
import shutil
import subprocess

import pytest
from cli_tool import ROOT
from test_cli_feedback import TRIALS, fuzz

pytestmark = pytest.mark.full  # another build has other random numbers

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
