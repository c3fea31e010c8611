"""Checks a source tree: includes follow the table in `rules`, every C++ folder is in that table, and ARCHITECTURE.md shows it."""

import os
import re
import subprocess
from pathlib import PurePosixPath

from . import rules

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<((?:harness|adapters|verify|fuzz|analyze|cli|api|bench)/[^>]+)>)')
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}
MARKERS = ("<!-- layers -->", "<!-- /layers -->")


def list_files(root):
    """Returns the relative paths of the files that git tracks or would track, or of all files if there is no repository."""
    if os.path.exists(os.path.join(root, ".git")):
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                                 stdout=subprocess.PIPE).stdout.decode()
        names = [name for name in listing.split("\0") if name]
    else:
        names = []
        for folder, subfolders, files in os.walk(root):
            subfolders[:] = [name for name in subfolders if name not in SKIPPED_FOLDERS]
            names.extend(os.path.relpath(os.path.join(folder, name), root) for name in files)
    return sorted(name for name in set(names) if os.path.isfile(os.path.join(root, name)))


def included_path(name, including, files):
    """Returns the path of an included file from the root, or None for a generated or foreign header."""
    beside = os.path.normpath(str(PurePosixPath(including).parent / name))
    if beside in files:
        return beside
    plain = os.path.normpath(name)
    return plain if plain in files or plain.split("/")[0] in rules.TOP_FOLDERS else None


def includes(path, lines, files):
    """Returns each included file of this project as (line number, path)."""
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        target = match and included_path(match.group(1) or match.group(2), path, files)
        if target:
            yield number, target


def check_includes(path, lines, files):
    layer = rules.layer_of(path)
    if layer is None:
        yield "%s:1: no layer has this folder; add it to LAYERS in scripts/layers/rules.py" % path
        return
    allowed = rules.allowed(path)
    for number, target in includes(path, lines, files):
        below = rules.layer_of(target)
        if below is None:
            yield "%s:%d: includes %s, whose folder no layer has (scripts/layers/rules.py)" % (path, number, target)
        elif below not in allowed:
            yield "%s:%d: %s must not include %s (%s); it may include: %s" % (
                path, number, layer, below, target, ", ".join(sorted(allowed - {layer})) or "nothing")


def check_document(root):
    """Checks that ARCHITECTURE.md, if the tree has one, shows the table between its two markers; yields messages."""
    name = "ARCHITECTURE.md"
    path = os.path.join(root, name)
    if not os.path.isfile(path):
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    start, end = text.find(MARKERS[0]), text.find(MARKERS[1])
    if start < 0 or end < start:
        yield "%s:1: expected the layers between %s and %s" % (name, *MARKERS)
    elif text[start + len(MARKERS[0]):end].strip() != rules.table().strip():
        yield "%s:%d: this is not the table of scripts/layers/rules.py; insert what check_layers --table prints" % (
            name, text.count("\n", 0, start) + 1)


def read_sources(root):
    """Yields (path, lines, set of all files) for each C++ file."""
    files = set(list_files(root))
    for path in sorted(files):
        if path.endswith(rules.CPP) and not path.startswith(rules.DATA):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                yield path, file.readlines(), files


def check_tree(root):
    """Returns every violation as "path:line: message", and how many files were read."""
    found, read = [], 0
    for path, lines, files in read_sources(root):
        read += 1
        found.extend(check_includes(path, lines, files))
    found.extend(check_document(root))
    return found, read


def graph(root):
    """Returns the includes between layers as a Graphviz graph, without the includes of unit tests."""
    arrows = set()
    for path, lines, files in read_sources(root):
        if not path.endswith(rules.TEST_ENDINGS):
            arrows.update((rules.layer_of(path), rules.layer_of(target)) for _, target in includes(path, lines, files))
    rows = ['  "%s" -> "%s";' % arrow for arrow in sorted(arrows, key=str) if arrow[0] != arrow[1]]
    return "\n".join(["digraph layers {", "  rankdir=BT; node [shape=box];", *rows, "}", ""])
