"""Defines the only table of layers: what each folder owns and what it may include. ARCHITECTURE.md shows it (check_layers --table).

A layer is a folder with everything below it. A file belongs to the layer with the longest name that matches its path. A layer may
include itself and all layers that it depends on, directly or indirectly.
"""

from typing import NamedTuple


class Layer(NamedTuple):
    owns: str
    below: tuple = ()


LAYERS = {
    "harness/base": Layer("errors as values, whole files, text, time, interrupts"),
    "harness/terminal": Layer("text on a terminal: its width, colour and progress", ("harness/base",)),
    "harness/bpf": Layer("classic BPF: instructions, the kernel's check, the interpreter, text forms", ("harness/base",)),
    "harness/seccomp": Layer("`seccomp_data`, actions, architectures, call names, the argument bits that the kernel looks at, doors, conditions, properties, its bitmap cache", ("harness/bpf",)),
    "harness/policy": Layer("rule sets: their meaning, JSON, the unoptimized compiler", ("harness/seccomp",)),
    "harness/import": Layer("readers of other projects' policy formats, and the writer of OCI profiles", ("harness/policy",)),
    "harness/inputs": Layer("inputs derived from policies and programs, and their mutation", ("harness/policy",)),
    "harness/optimize": Layer("the reference optimizer and precompiled filters", ("harness/policy",)),
    "harness/generate": Layer("random programs and policies, their description, and how failing ones are reduced", ("harness/policy",)),
    "harness/coverage": Layer("edges of one program, listings, executed instructions", ("harness/seccomp",)),
    "harness/compare": Layer("running a pair; proof queries, proofs, witnesses and differences as data", ("harness/coverage",)),
    "harness/adapter": Layer("how optimizers, compilers and evaluators under test are run", ("harness/optimize",)),
    "harness/kernel": Layer("Linux as an evaluator, running here or booted; its caches and its speed", ("harness/generate", "harness/compare", "harness/adapter")),
    "harness/report": Layer("report values and their text, JSON, JUnit, SARIF, Markdown and HTML",
                            ("harness/import", "harness/optimize", "harness/adapter", "harness/kernel")),
    "adapters": Layer("one folder per third-party project, the planted bugs, and the built-in optimizer, compiler and evaluators", ("harness/adapter", "harness/kernel")),
    "verify/symbolic": Layer("one forward pass over all inputs, in any symbolic domain", ("harness/policy", "harness/compare")),
    "verify/rules": Layer("rewrites with symbols, the library of them, and the search for more", ("harness/bpf",)),
    "verify/walk": Layer("the product walk of two programs", ("harness/compare",)),
    "verify/dd": Layer("the decision-diagram engine", ("verify/symbolic", "verify/walk")),
    "verify/bound": Layer("lower bounds for every filter that makes the same decisions", ("verify/dd",)),
    "verify/sat": Layer("the SAT engine", ("verify/symbolic",)),
    "verify/smt": Layer("the Z3 engine, and other SMT solvers as commands", ("verify/symbolic", "verify/rules", "harness/adapter")),
    "verify/certificate": Layer("proofs that others can check, made without any engine", ("verify/symbolic", "verify/walk", "harness/adapter")),
    "verify/decide": Layer("which engine answers, and which edges are infeasible", ("verify/dd", "verify/sat", "verify/smt", "harness/inputs")),
    "fuzz/hunt": Layer("fuzzing an optimizer, compiler or evaluator under test",
                       ("verify/dd", "harness/generate", "harness/inputs", "harness/adapter")),
    "fuzz/pair": Layer("fuzzing a fixed pair with libFuzzer", ("harness/inputs", "harness/compare")),
    "fuzz/mutation": Layer("mutation scores", ("verify/decide", "harness/inputs")),
    "fuzz/targets": Layer("the libFuzzer targets", ("fuzz/hunt", "fuzz/pair", "verify/rules", "harness/report", "adapters")),
    "analyze": Layer("the analyses that the commands and the C interface share: a job goes in, a report comes out",
                     ("fuzz/hunt", "fuzz/pair", "fuzz/mutation", "verify/bound", "verify/certificate", "harness/report", "adapters")),
    "cli": Layer("one thin file per command, which declares its options as data (`question.h`); only `command_line.cc` and the texts about usage know CLI11", ("analyze", "harness/terminal")),
    "api": Layer("the C library and its WebAssembly module, the bindings for Python, Rust, Go, JavaScript and CMake, and test helpers for Go", ("analyze",)),
    "bench": Layer("benchmarks", ("analyze",)),
    "play": Layer("the page that compares filters in a browser; no C++ code"),
    "scripts": Layer("set-up, checks, generators and the naive evaluator; no C++ code"),
}
ARROWS = {name: layer.below for name, layer in LAYERS.items()}
TOP_FOLDERS = sorted({name.split("/")[0] for name in LAYERS})

# A unit test belongs to no library, so it may also use the layers that generate and print test data.
TEST_ENDINGS = ("_test.cc",)
TEST_ARROWS = {
    **{name: ("harness/report", "harness/inputs", "adapters") for name in LAYERS if name.startswith(("harness/", "adapters"))},
    **{name: ("analyze",) for name in LAYERS if name.startswith(("verify/", "fuzz/", "analyze"))},
}

DATA = "corpus/"  # holds data, some of it in C
CPP = (".cc", ".h", ".inc", ".def", ".c", ".cpp", ".hpp", ".cxx", ".hh")


def closure(arrows, starts):
    """Returns every layer that can be reached from `starts`, and `starts` themselves."""
    found, todo = set(), list(starts)
    while todo:
        layer = todo.pop()
        if layer not in found:
            found.add(layer)
            todo.extend(arrows[layer])
    return found


def layer_of(path):
    """Returns the layer a path belongs to; None if the table has none."""
    while path:
        if path in ARROWS:
            return path
        path = path.rpartition("/")[0]
    return None


def allowed(path):
    """Returns the layers that a file may include; its layer must be known."""
    layer = layer_of(path)
    starts = [layer]
    if path.endswith(TEST_ENDINGS):
        starts.extend(TEST_ARROWS.get(layer, ()))
    return closure(ARROWS, starts)


def table():
    """Returns the rows that ARCHITECTURE.md shows."""
    rows = ["| folder | owns | depends on |", "|---|---|---|"]
    for name, layer in LAYERS.items():
        rows.append("| `%s` | %s | %s |" % (name, layer.owns, " ".join("`%s`" % other for other in layer.below) or "nothing"))
    return "".join(row + "\n" for row in rows)
