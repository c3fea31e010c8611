"""Compares the policy that secequiv reads from a container profile with the filter that libseccomp makes from it.

Owns how both are obtained and what their comparison means. It must not know how profiles are chosen (profiles.py).
"""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from pinned import Missing

from . import oci

KERNEL = (6, 1)  # secequiv's default for a host
LIBRARY_SECONDS = 10  # libseccomp 2.5.4 never answers for some profiles
OUTCOMES = {0: "equal", 1: "different", 3: "unknown", 4: "rejected"}  # by secequiv's exit status
REFUSED, ENDLESS = "refused", "endless"  # libseccomp makes no filter


class Comparison(NamedTuple):
    outcome: str
    detail: str  # secequiv's report, or libseccomp's error
    unknown: tuple = ()  # names that libseccomp does not know; the comparison leaves them out


def compare(binary, library, profile, folder, arch=None, form="linear"):
    """Compares the profile (JSON values) on a host of `arch`, such as SCMP_ARCH_S390X; by default, the first one that the profile lists.

    Writes profile.json and library.bpf into `folder`.
    """
    arch = arch or (profile.get("architectures") or ["SCMP_ARCH_X86_64"])[0]
    try:
        made = library.compile(oci.rules(profile, arch, KERNEL), form, timeout=LIBRARY_SECONDS)
    except Missing as problem:
        return Comparison(REFUSED, str(problem))
    except subprocess.TimeoutExpired:
        return Comparison(ENDLESS, "no answer within %d s" % LIBRARY_SECONDS)
    unknown = tuple(sorted(set(library.unknown)))
    ours, theirs = Path(folder) / "profile.json", Path(folder) / "library.bpf"
    ours.write_text(json.dumps(without(profile, unknown), indent=1))
    theirs.write_bytes(made)
    command = [binary, "prove", ours, theirs, "--arch", arch]
    if arch == "SCMP_ARCH_S390X":
        command.append("--big-endian")
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Comparison(OUTCOMES.get(done.returncode, "error"), done.stdout + done.stderr, unknown)


def without(profile, names):
    """Returns the profile without these calls."""
    entries = []
    for entry in profile.get("syscalls") or []:
        kept = [name for name in [entry["name"]] if name not in names] if entry.get("name") else [n for n in entry["names"] if n not in names]
        if kept:
            entries.append({**{key: value for key, value in entry.items() if key != "name"}, "names": kept})
    return {**profile, "syscalls": entries}
