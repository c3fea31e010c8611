"""Tests that cli/function_order.txt names functions of the executable, and that scripts/gen_function_order reports wrong input."""

import subprocess

from cli_tool import ROOT, binary

import as_module

ORDER = ROOT / "cli" / "function_order.txt"
SCRIPT = ROOT / "scripts" / "gen_function_order"


def test_most_functions_of_the_order_exist():
    defined = as_module.load(SCRIPT).defined(binary())
    names = [line for line in ORDER.read_text().splitlines() if not line.startswith("#")]
    missing = [name for name in names if name not in defined]
    assert len(names) > 100
    assert len(missing) < len(names) / 4, "many functions of the order are gone: run scripts/gen_function_order with a release build: %s" % missing


def test_a_file_that_is_no_executable_leaves_the_order_as_it_is(tmp_path):
    before = ORDER.read_bytes()
    other = tmp_path / "secequiv"
    other.write_text("#!/bin/sh\n")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, binary()], check=True)
    for arguments in ([other], [stripped], [tmp_path / "absent"], [], ["--check"]):
        done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)
        assert done.returncode == 2, done
        assert "gen_function_order" in done.stderr
    assert ORDER.read_bytes() == before
