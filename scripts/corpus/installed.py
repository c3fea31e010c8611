"""Compares the policy that secequiv reads from a container profile with the filter that libseccomp makes from it.

Owns how both are obtained and what their comparison means. It must not know how profiles are chosen (profiles.py).
"""

import json
import random
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

from naive.naive import Insn, run
from pinned import Missing

from . import meaning, mistakes, oci

KERNEL = (6, 1)  # secequiv's default for a host
LIBRARY_SECONDS = 5  # libseccomp 2.5.4 never answers for some profiles
OUTCOMES = {0: "equal", 1: "different", 3: "unknown", 4: "rejected"}  # by secequiv's exit status
CHOICE = "libseccomp chooses one of the entries"  # in secequiv's report
INPUTS = 60  # for each call, for the third evaluation
REFUSED, ENDLESS = "refused", "endless"  # libseccomp makes no filter
EXPLAINED = ("equal", "choice", "mistake", REFUSED, ENDLESS)  # without a bug in secequiv


class Comparison(NamedTuple):
    outcome: str
    detail: str  # secequiv's report, or libseccomp's error
    unknown: tuple = ()  # names that libseccomp does not know; the comparison leaves them out


def made(library, profile, arch, form="linear"):
    """Returns libseccomp's filter as bytes, or a Comparison without one."""
    try:
        return library.compile(oci.rules(profile, arch, KERNEL), form, timeout=LIBRARY_SECONDS)
    except Missing as problem:
        return Comparison(REFUSED, str(problem))
    except subprocess.TimeoutExpired:
        return Comparison(ENDLESS, "no answer within %d s" % LIBRARY_SECONDS)


def compare(binary, library, profile, folder, arch=None, form="linear"):
    """Compares the profile (JSON values) on a host of `arch`, such as SCMP_ARCH_S390X; by default, the first one that the profile lists.

    Writes profile.json and library.bpf into `folder`.
    """
    arch = arch or (profile.get("architectures") or ["SCMP_ARCH_X86_64"])[0]
    program = made(library, profile, arch, form)
    if not isinstance(program, bytes):
        return program
    unknown = tuple(sorted(set(library.unknown)))
    ours, theirs = Path(folder) / "profile.json", Path(folder) / "library.bpf"
    ours.write_text(json.dumps(without(profile, unknown), indent=1))
    theirs.write_bytes(program)
    done = subprocess.run(_prove(binary, folder, arch), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Comparison(OUTCOMES.get(done.returncode, "error"), done.stdout + done.stderr, unknown)


class Explanation(NamedTuple):
    """Why both differ: `choice` if libseccomp chose another entry that matches, `mistake` if no entry explains its decision. `ours`, if secequiv is wrong, and
    `unexplained` are bugs."""

    outcome: str  # of the comparison if both are equal or there is no filter
    detail: str = ""
    mistakes: tuple = ()  # names in corpus/known.toml


def explain(binary, library, profile, folder, found, arch=None):
    """Evaluates the profile a third time, on inputs beside its values and on secequiv's counterexample, after compare(...) wrote both files into `folder`."""
    if found.outcome in (REFUSED, ENDLESS):
        return Explanation(found.outcome)
    if found.outcome not in OUTCOMES.values() or found.outcome == "rejected":
        return Explanation("ours", found.detail)
    arch = arch or (profile.get("architectures") or ["SCMP_ARCH_X86_64"])[0]
    rules = meaning.Rules(oci.rules(without(profile, found.unknown), arch, KERNEL), library.numbers)
    theirs = _program(Path(folder) / "library.bpf", arch)
    inputs = rules.inputs(random.Random(1), INPUTS)
    ours = theirs  # proven
    if found.outcome != "equal":
        ours = _compiled(binary, folder, arch)
        inputs += _counterexample(binary, folder, arch, rules)
    wrong, chosen = {}, None
    for given in inputs:
        data, permitted = given.data(), rules.permitted(given)
        values = run(ours, data), run(theirs, data)
        text = "%s on %s, arguments %s: secequiv %#x, libseccomp %#x, permitted %s" % (
            given.name, given.arch, [hex(each) for each in given.args], *values, [hex(each) for each in permitted])
        if values[0] not in permitted:
            return Explanation("ours", text)
        if values[1] not in permitted:
            wrong.setdefault((given.arch, given.name), text)
        elif values[0] != values[1]:
            chosen = text
    names = set()
    for (where, call), text in wrong.items():
        default_decides = all(run(theirs, given.data()) == rules.default for given in inputs if given.arch == where)
        fitting = mistakes.names(rules, where, call, default_decides)
        if not fitting:
            return Explanation("unexplained", text)
        names.update(fitting)
    if wrong:
        return Explanation("mistake", next(iter(wrong.values())), tuple(sorted(names)))
    if found.outcome == "equal":
        return Explanation("equal")
    if CHOICE in found.detail and (chosen or found.outcome == "unknown"):
        return Explanation("choice", chosen or "")
    return Explanation("unexplained", chosen or found.detail)


def _program(path, arch):
    """Returns libseccomp's program, which has the byte order of the architecture."""
    return [Insn(*each) for each in struct.iter_unpack((">" if arch == "SCMP_ARCH_S390X" else "<") + "HBBI", path.read_bytes())]


def _compiled(binary, folder, arch):
    """Returns secequiv's program, which decides as the first of several entries that match."""
    out = Path(folder) / "ours.bpf"
    form = "raw-be" if arch == "SCMP_ARCH_S390X" else "raw"
    done = subprocess.run([str(word) for word in (binary, "optimize", Path(folder) / "profile.json", "--arch", arch, "--passes", "none", "--to", form, "-o", out)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if OUTCOMES.get(done.returncode) not in ("equal", "unknown"):
        raise ValueError(done.stderr)
    return _program(out, arch)


def _counterexample(binary, folder, arch, rules):
    """Returns secequiv's counterexample for both programs as a list: empty if it has none, or if its number is no call of the architecture."""
    done = subprocess.run([*_prove(binary, folder, arch, "ours.bpf"), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    witness = json.loads(done.stdout).get("witness")
    given = rules.read(witness["data"]["words"]) if witness else None
    return [given] if given else []


def _prove(binary, folder, arch, ours="profile.json"):
    command = [binary, "prove", Path(folder) / ours, Path(folder) / "library.bpf", "--arch", arch]
    return [str(word) for word in command + (["--big-endian"] if arch == "SCMP_ARCH_S390X" else [])]


def without(profile, names):
    """Returns the profile without these calls."""
    entries = []
    for entry in profile.get("syscalls") or []:
        kept = [name for name in [entry["name"]] if name not in names] if entry.get("name") else [n for n in entry["names"] if n not in names]
        if kept:
            entries.append({**{key: value for key, value in entry.items() if key != "name"}, "names": kept})
    return {**profile, "syscalls": entries}
