"""Checks a source tree: includes follow the arrows of `rules`, every C++ folder is in its table, no file is too long."""

import os
import re
import subprocess
from pathlib import PurePosixPath

from . import rules

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<((?:harness|adapters|verify|fuzz|analyze|cli|api|bench)/[^>]+)>)')
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}


def list_files(root):
    """Relative paths of the files that git tracks or would track; of all files where there is no repository."""
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
    """Path of an included file from the root, or None if it is none of ours (a generated or foreign header)."""
    beside = os.path.normpath(str(PurePosixPath(including).parent / name))
    if beside in files:
        return beside
    plain = os.path.normpath(name)
    return plain if plain in files or plain.split("/")[0] in rules.TOP_FOLDERS else None


def check_includes(path, lines, files):
    layer = rules.layer_of(path)
    if layer is None:
        yield "%s:1: no layer has this folder; add it to ARROWS in scripts/layers/rules.py" % path
        return
    allowed = rules.allowed(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = included_path(match.group(1) or match.group(2), path, files)
        if target is None:
            continue
        below = rules.layer_of(target)
        if below is None:
            yield "%s:%d: includes %s, whose folder no layer has (scripts/layers/rules.py)" % (path, number, target)
        elif below not in allowed:
            yield "%s:%d: %s must not include %s (%s); it may include: %s" % (
                path, number, layer, below, target, ", ".join(sorted(allowed - {layer})) or "nothing")


def is_plain_command(root, path):
    return "." not in os.path.basename(path) and os.access(os.path.join(root, path), os.X_OK)


def check_length(path, lines):
    if len(lines) > rules.MAX_LINES:
        yield "%s:%d: %d lines; at most %d" % (path, rules.MAX_LINES + 1, len(lines), rules.MAX_LINES)


def check_tree(root):
    """Every violation as "path:line: message", and how many files were read."""
    files = list_files(root)
    known = set(files)
    found, read = [], 0
    for path in files:
        if path.startswith(rules.DATA) and not path.endswith(".py"):
            continue
        cpp, counted = path.endswith(rules.CPP), path.endswith(rules.COUNTED)
        if not cpp and not counted and not is_plain_command(root, path):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        if not cpp and not counted and not (lines and lines[0].startswith("#!")):
            continue  # executable, but not a script
        read += 1
        found.extend(check_length(path, lines))
        if cpp:
            found.extend(check_includes(path, lines, known))
    return found, read
