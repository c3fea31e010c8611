"""The arrows of ARCHITECTURE.md.

A layer is a folder (with everything below it) or a single file; the longest name that fits a path is its layer. It may
include itself, the layers on the right and, through them, theirs.
"""

ARROWS = {
    "harness/base": (),
    "harness/bpf": ("harness/base",),
    "harness/seccomp": ("harness/bpf",),
    "harness/policy": ("harness/seccomp",),
    "harness/optimize": ("harness/policy",),
    "harness/generate": ("harness/policy",),
    "harness/coverage": ("harness/seccomp",),
    "harness/compare": ("harness/coverage",),
    "harness/adapter": ("harness/optimize",),
    "harness/adapters": ("harness/adapter", "harness/kernel"),
    "harness/kernel": ("harness/generate", "harness/compare"),
    "harness/report": ("harness/optimize", "harness/compare", "harness/adapter", "harness/kernel"),
    # What both engines are made of. The engines are separate targets, so that what fuzzes does not link Z3; the rest of
    # verify uses both.
    "verify/symbolic.h": ("harness/optimize", "harness/compare", "harness/adapter", "harness/kernel"),
    "verify/assume.h": ("verify/symbolic.h",),
    "verify/policy_symbolic.h": ("verify/symbolic.h",),
    "verify/dd": ("verify/assume.h",),
    "verify/rules": ("harness/bpf",),
    "verify/smt": ("verify/assume.h", "verify/policy_symbolic.h", "verify/rules"),
    "verify/certificate": ("verify/symbolic.h", "harness/adapter"),
    "verify/hunt": ("verify/dd", "harness/generate"),
    "verify/pair_fuzz": ("harness/policy", "harness/compare"),
    "verify": ("verify/smt", "verify/hunt", "verify/pair_fuzz", "verify/certificate"),
    # C helpers of the Python scripts use nothing of ours.
    "scripts": (),
    # The top: nothing else includes these.
    "fuzz": ("verify/hunt", "verify/pair_fuzz", "verify/rules", "harness/report", "harness/adapters"),
    "harness/cli": ("verify", "harness/report", "harness/adapters"),
    "api": ("verify", "harness/report"),
}

# A unit test is part of no library: beside a library it may use all of the harness.
TEST_ENDINGS = ("_test.cc", "_bench.cc")
TEST_ARROWS = {
    layer: ("harness/report", "harness/adapters", "harness/generate")
    for layer in ARROWS
    if layer.startswith(("harness/", "verify")) and layer != "harness/cli"
}

# Whatever lies there is data, programs in C form too; only Python is code.
DATA = "corpus/"
MAX_LINES = 600
COUNTED = (".cc", ".h", ".py", ".sh", ".go", ".rs", ".c", ".inc")
CPP = (".cc", ".h", ".inc", ".def", ".c", ".cpp", ".hpp", ".cxx", ".hh")


def closure(arrows, starts):
    """Every layer reachable from `starts`, those included."""
    found, todo = set(), list(starts)
    while todo:
        layer = todo.pop()
        if layer not in found:
            found.add(layer)
            todo.extend(arrows[layer])
    return found


def layer_of(path):
    """The layer a path belongs to; None if the table has none."""
    while path:
        if path in ARROWS:
            return path
        path = path.rpartition("/")[0]
    return None


def allowed(path):
    """The layers that a file may include; its layer must be known."""
    layer = layer_of(path)
    starts = [layer]
    if path.endswith(TEST_ENDINGS):
        starts.extend(TEST_ARROWS.get(layer, ()))
    return closure(ARROWS, starts)
