"""Tests the layer check: its table, and small trees, each of which breaks one rule."""

import subprocess
import sys
from pathlib import Path

import pytest

from .. import check, rules

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ROOT / "scripts" / "check_layers"

HARNESS = [layer for layer in rules.ARROWS if layer.startswith("harness/")]


def header(layer):
    """Returns the path of a header in a layer."""
    return layer if layer.endswith(".h") else layer + "/api.h"


@pytest.fixture
def tree(tmp_path):
    """Makes a tree in which every layer has one header; it includes everything that the layer may include."""
    for layer in rules.ARROWS:
        includes = ['#include "%s"' % header(other) for other in rules.closure(rules.ARROWS, [layer]) - {layer}]
        write(tmp_path, header(layer), ["#pragma once"] + includes)
    return tmp_path


def write(root, path, lines):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(line + "\n" for line in lines))


def violations(root):
    return check.check_tree(str(root))[0]


def test_all_allowed_includes_pass(tree):
    found, read = check.check_tree(str(tree))
    assert not found
    assert read == len(rules.ARROWS)


def reachable(layer):
    return rules.closure(rules.ARROWS, [layer])


def test_layers_have_no_cycles():
    for layer, below in rules.ARROWS.items():
        assert layer not in rules.closure(rules.ARROWS, below)


def test_the_table_follows_the_design_of_the_layers():
    chain = ["harness/base", "harness/bpf", "harness/seccomp", "harness/policy", "harness/optimize"]
    for i, layer in enumerate(chain):
        assert reachable(layer) == set(chain[: i + 1])
    assert reachable("harness/compare") == set(chain[:3]) | {"harness/coverage", "harness/compare"}
    floors = {"harness": 0, "adapters": 1, "verify": 1, "fuzz": 2, "analyze": 3, "cli": 4, "api": 4, "bench": 4, "play": 0, "scripts": 0}
    assert sorted(floors) == rules.TOP_FOLDERS
    for layer in rules.ARROWS:
        for other in reachable(layer) - {layer}:
            top, below = layer.split("/")[0], other.split("/")[0]
            assert floors[below] < floors[top] or below == top
    assert "verify/dd" not in reachable("verify/smt")
    assert "verify/smt" not in reachable("verify/dd")
    # The fuzzing loop links neither Z3 nor GMP; certificates use no engine.
    assert not {"verify/decide", "verify/smt"} & (reachable("fuzz/targets") | reachable("fuzz/hunt") | reachable("fuzz/pair"))
    assert not {"verify/dd", "verify/smt"} & reachable("verify/certificate")


# Includes that the table forbids: (layer, included layer).
BROKEN = [
    ("harness/base", "harness/bpf"),
    ("harness/bpf", "harness/seccomp"),
    ("harness/seccomp", "harness/policy"),
    ("harness/policy", "harness/optimize"),
    ("harness/coverage", "harness/compare"),
    ("harness/coverage", "harness/policy"),
    ("harness/compare", "harness/policy"),
    ("harness/optimize", "harness/coverage"),
    ("harness/adapter", "harness/report"),
    ("harness/kernel", "harness/report"),
    ("harness/report", "cli"),
    ("harness/policy", "harness/import"),
    ("harness/inputs", "harness/import"),
    ("verify/decide", "harness/report"),
    ("verify/decide", "cli"),
    ("verify/decide", "fuzz/hunt"),
    ("verify/dd", "harness/report"),
    ("verify/dd", "verify/smt"),
    ("verify/smt", "verify/dd"),
    ("verify/dd", "verify/decide"),
    ("verify/certificate", "verify/dd"),
    ("fuzz/targets", "verify/smt"),
    ("fuzz/hunt", "verify/decide"),
    ("fuzz/targets", "analyze"),
    ("adapters", "verify/dd"),
    ("analyze", "cli"),
    ("analyze", "api"),
    ("cli", "fuzz/targets"),
    ("cli", "api"),
    ("api", "cli"),
    ("scripts", "harness/base"),
] + [(layer, other) for layer in HARNESS for other in ("verify/dd", "verify/smt", "adapters", "fuzz/hunt", "analyze", "cli")]


@pytest.mark.parametrize("layer,target", BROKEN)
def test_an_include_that_the_table_forbids_is_found(tree, layer, target):
    path = layer + "/extra.cc"
    write(tree, path, ["", '#include "%s"' % header(target)])
    (message,) = violations(tree)
    assert message.startswith("%s:2: %s must not include %s (%s);" % (path, layer, target, header(target)))


@pytest.mark.parametrize("line", [
    '#include "harness/bpf/api.h"',
    '  #  include "harness/bpf/api.h"  // why',
    "#include <harness/bpf/api.h>",
    '#include "../bpf/api.h"',
    '#include "harness/base/../bpf/api.h"',
    '#include "harness/bpf/generated_at_build_time.h"',
])
def test_every_form_of_include_is_found(tree, line):
    write(tree, "harness/base/extra.h", [line])
    (message,) = violations(tree)
    assert message.startswith("harness/base/extra.h:1: harness/base must not include harness/bpf (harness/bpf/")


@pytest.mark.parametrize("line", [
    '// #include "harness/bpf/api.h"',
    "#include <vector>",
    '#include "api.h"',
    '#include "generated.inc"',
    '#define X "harness/bpf/api.h"',
])
def test_includes_within_a_layer_and_of_foreign_headers_pass(tree, line):
    write(tree, "harness/base/extra.h", [line])
    assert not violations(tree)


def test_a_unit_test_may_use_more_libraries_but_not_all(tree):
    write(tree, "harness/coverage/foo_test.cc", ['#include "harness/policy/api.h"', '#include "adapters/api.h"'])
    assert not violations(tree)
    write(tree, "harness/coverage/bar_test.cc", ['#include "verify/dd/api.h"', '#include "cli/api.h"'])
    assert [message.split(": ")[0] for message in violations(tree)] == [
        "harness/coverage/bar_test.cc:1", "harness/coverage/bar_test.cc:2"]


@pytest.mark.parametrize("path", ["harness/new/a.cc", "harness/a.h", "tools/a.cc", "corpus.h", "a.inc"])
def test_a_folder_outside_the_table_is_found(tree, path):
    write(tree, path, ["int x;"])
    (message,) = violations(tree)
    assert message.startswith("%s:1: no layer has this folder" % path)


def test_an_include_from_outside_the_table_is_found(tree):
    write(tree, "cli/extra.cc", ['#include "harness/new/a.h"'])
    (message,) = violations(tree)
    assert message.startswith("cli/extra.cc:1: includes harness/new/a.h, whose folder")


def test_subfolders_belong_to_their_layer(tree):
    write(tree, "harness/optimize/rules/a.cc", ['#include "harness/policy/api.h"', '#include "harness/optimize/api.h"'])
    assert not violations(tree)
    write(tree, "harness/optimize/rules/b.cc", ['#include "harness/report/api.h"'])
    assert len(violations(tree)) == 1


def test_includes_in_data_files_are_not_checked(tree):
    write(tree, "corpus/program.c", ['#include "cli/api.h"'])
    assert not violations(tree)


def test_architecture_md_shows_the_table(tree):
    write(tree, "ARCHITECTURE.md", ["# Architecture", "<!-- layers -->", rules.table() + "<!-- /layers -->"])
    assert not violations(tree)
    write(tree, "ARCHITECTURE.md", ["# Architecture", "<!-- layers -->", rules.table().replace("errors", "terrors") + "<!-- /layers -->"])
    (message,) = violations(tree)
    assert message.startswith("ARCHITECTURE.md:2: this is not the table")
    write(tree, "ARCHITECTURE.md", ["# Architecture", "<!-- layers -->"])
    (message,) = violations(tree)
    assert message.startswith("ARCHITECTURE.md:1: expected the layers between")


def test_the_graph_has_the_includes_between_layers(tree):
    write(tree, "harness/bpf/extra_test.cc", ['#include "harness/report/api.h"'])
    arrows = [line.strip() for line in check.graph(str(tree)).splitlines() if "->" in line]
    assert '"harness/bpf" -> "harness/base";' in arrows
    assert not [line for line in arrows if line.startswith('"harness/bpf" -> "harness/report"')]
    assert len(arrows) == sum(len(reachable(layer)) - 1 for layer in rules.ARROWS)


def test_files_that_git_ignores_are_not_checked(tree):
    write(tree, "harness/new/a.cc", ["int x;"])
    write(tree, ".gitignore", ["/harness/new/"])
    assert len(violations(tree)) == 1
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    assert not violations(tree)


def run(*arguments):
    return subprocess.run([sys.executable, str(COMMAND), *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def test_the_command_has_the_documented_statuses(tree, tmp_path_factory):
    assert run("--root", tree).returncode == 0
    write(tree, "harness/base/extra.cc", ['#include "harness/bpf/api.h"'])
    broken = run("--root", tree)
    assert broken.returncode == 1
    assert broken.stdout.startswith("harness/base/extra.cc:1: ")
    assert run("--root", tmp_path_factory.mktemp("empty")).returncode == 2
    printed = run("--table")
    assert printed.returncode == 0
    assert printed.stdout == rules.table()
    assert "| `harness/bpf` | " in printed.stdout
