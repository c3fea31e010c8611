"""The arrows of ARCHITECTURE.md.

A layer is a folder (with everything below it) or a single file; the longest name that fits a path is its layer. It may
include itself, the layers on the right and, through them, theirs.
"""

ARROWS = {
    "harness/base": (),
    "harness/bpf": ("harness/base",),
    "harness/seccomp": ("harness/bpf",),
    "harness/policy": ("harness/seccomp",),
    "harness/import": ("harness/policy",),
    "harness/inputs": ("harness/policy",),
    "harness/optimize": ("harness/policy",),
    "harness/generate": ("harness/policy",),
    "harness/coverage": ("harness/seccomp",),
    "harness/compare": ("harness/coverage",),
    "harness/adapter": ("harness/optimize",),
    "harness/kernel": ("harness/generate", "harness/compare"),
    "harness/report": ("harness/import", "harness/optimize", "harness/adapter", "harness/kernel"),
    "adapters": ("harness/adapter", "harness/kernel"),
    # The engines are separate targets, so that what fuzzes does not link Z3.
    "verify/symbolic": ("harness/policy", "harness/compare"),
    "verify/rules": ("harness/bpf",),
    "verify/dd": ("verify/symbolic",),
    "verify/smt": ("verify/symbolic", "verify/rules", "harness/optimize"),
    "verify/certificate": ("verify/symbolic", "harness/adapter"),
    "verify/decide": ("verify/dd", "verify/smt"),
    "fuzz/hunt": ("verify/dd", "harness/generate", "harness/inputs", "harness/adapter"),
    "fuzz/pair": ("harness/inputs", "harness/compare"),
    "fuzz/mutation": ("verify/decide", "harness/inputs"),
    "fuzz/targets": ("fuzz/hunt", "fuzz/pair", "verify/rules", "harness/report", "adapters"),
    "analyze": ("fuzz/hunt", "fuzz/pair", "fuzz/mutation", "verify/certificate", "harness/report", "adapters"),
    "cli": ("analyze",),
    "api": ("analyze",),
    "bench": ("analyze",),
    # C helpers of the Python scripts use nothing of ours.
    "scripts": (),
}

TOP_FOLDERS = sorted({layer.split("/")[0] for layer in ARROWS})

# A unit test is part of no library: beside a library it may also use what makes and shows its material.
TEST_ENDINGS = ("_test.cc",)
TEST_ARROWS = {
    **{layer: ("harness/report", "harness/inputs", "adapters") for layer in ARROWS if layer.startswith(("harness/", "adapters"))},
    **{layer: ("analyze",) for layer in ARROWS if layer.startswith(("verify/", "fuzz/", "analyze"))},
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
