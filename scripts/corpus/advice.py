"""Follows the advice of `secequiv lint` about a container profile, and compares the filters that libseccomp makes before and after.

Owns what following a finding means. It must not know how profiles are chosen (profiles.py).
"""

import collections
import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import installed, oci

REMOVES = ("unmatchable", "shadowed", "redundant", "duplicate", "never_true", "unknown_name")
LIMITED = "but not in every rule"  # the finding is no advice
PLACE = re.compile(r"syscalls\[(\d+)\]$")
CALL = re.compile(r": (\w+):(\w+)(?:, part \d+)*: \w+: ")
PAIRS = 40  # of one profile


class Edit(NamedTuple):
    entry: int
    name: str
    times: int = 0  # how often the name is removed from the entry
    argument: int = -1  # whose tests are removed for this name


class Advice(NamedTuple):
    kind: str
    edits: tuple


def given(binary, profile, folder, arch):
    """Returns the advice of lint, one for each name in an entry."""
    path = Path(folder) / "advised.json"
    path.write_text(json.dumps(profile, indent=1))
    done = subprocess.run([str(binary), "lint", str(path), "--arch", arch, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode == 4:  # no runtime loads the profile
        return []
    document = json.loads(done.stdout)
    times = collections.defaultdict(collections.Counter)
    for row in document["idle"] + document["warnings"] + document.get("errors", []):
        place, call = PLACE.search(row.get("origin", {}).get("path", "")), CALL.search(row["text"])
        if place and LIMITED not in row["text"]:
            where, name = call.groups() if call else ("", row.get("name"))
            times[row["kind"], int(place[1]), name, row.get("field"), "its alternatives" in row["text"]][where] += 1
    return [Advice(kind, tuple(_edits(profile, kind, entry, name, field, alone, max(arches.values()))))
            for (kind, entry, name, field, alone), arches in times.items() if kind in REMOVES or kind in ("always_true", "together_true")]


def _edits(profile, kind, entry, name, field, alone, times):
    if kind in REMOVES:
        return [Edit(entry, name, times=times)] if name in _names(profile["syscalls"][entry]) else []
    action = profile["syscalls"][entry]["action"]
    entries = [i for i, other in enumerate(profile["syscalls"]) if name in _names(other) and other["action"] == action]
    return [Edit(i, name, argument=int(field[3:])) for i in (entries if kind == "together_true" and not alone else [entry])]


def _names(entry):
    return [entry["name"]] if entry.get("name") else entry["names"]


def followed(profile, edits):
    """Returns the profile after these edits. A call whose tests change gets an entry of its own."""
    entries = []
    for i, entry in enumerate(profile["syscalls"]):
        names, changed = _names(entry), collections.defaultdict(set)
        for name in dict.fromkeys(names):
            mine = [edit for edit in edits if (edit.entry, edit.name) == (i, name)]
            kept = names.count(name) - max((edit.times for edit in mine), default=0)
            arguments = frozenset(edit.argument for edit in mine if edit.argument >= 0)
            if kept > 0:
                changed[arguments].add(name)
        for arguments, some in changed.items():
            args = [arg for arg in entry.get("args") or [] if arg["index"] not in arguments]
            entries.append({**{key: value for key, value in entry.items() if key != "name"}, "names": [name for name in dict.fromkeys(names) if name in some], "args": args})
    return {**profile, "syscalls": entries}


class Tried(NamedTuple):
    kinds: str  # of the findings that were followed together
    outcome: str  # equal, changed, mistake (of libseccomp, before or after), or why there is no filter before
    detail: str = ""


def tried(binary, library, profile, folder, random, arch=None):
    """Follows each finding, pairs of findings, and all of them together."""
    arch = arch or (profile.get("architectures") or ["SCMP_ARCH_X86_64"])[0]
    advice = given(binary, profile, folder, arch)
    if not advice:
        return []
    before = installed.made(library, profile, arch)
    if not isinstance(before, bytes):
        return [Tried("", before.outcome)]
    pairs = list(itertools.combinations(advice, 2))
    some = [(one,) for one in advice] + random.sample(pairs, min(PAIRS, len(pairs))) + [tuple(advice)] * (len(advice) > 2)
    return [_tried(binary, library, profile, folder, arch, before, each) for each in some]


def _tried(binary, library, profile, folder, arch, before, advice):
    kinds = " and ".join(sorted({each.kind for each in advice})) if len(advice) < 3 else "all findings"
    kinds = {1: "", 2: "pair: "}.get(len(advice), "") + kinds
    less = followed(profile, [edit for each in advice for edit in each.edits])
    after = installed.made(library, less, arch)
    if not isinstance(after, bytes):  # again: a busy machine may have been too slow
        after = installed.made(library, less, arch)
    if after == before or isinstance(after, bytes) and _equal(binary, folder, before, after, arch):
        return Tried(kinds, "equal")
    for one in (profile, less):
        found = installed.compare(binary, library, one, folder, arch)
        if found.outcome == installed.ENDLESS or installed.explain(binary, library, one, folder, found, arch).outcome == "mistake":
            return Tried(kinds, "mistake")
    return Tried(kinds, "changed", json.dumps({"before": profile, "after": less}))


def _equal(binary, folder, before, after, arch):
    for name, program in (("before.bpf", before), ("after.bpf", after)):
        (Path(folder) / name).write_bytes(program)
    command = [str(binary), "prove", str(Path(folder) / "before.bpf"), str(Path(folder) / "after.bpf"), "--arch", arch]
    command += ["--big-endian"] * (arch == "SCMP_ARCH_S390X")
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
