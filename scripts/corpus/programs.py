"""Lists the files in the corpus, and writes the manifest with the origin of each program.

Owns names, pairs and the manifest's format. It must not know how a tool is found or run (sources.py).
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import oci, sources

MANIFEST = "programs/manifest.json"
KERNEL = (6, 1)
ALLOW, EPERM = 0x7FFF0000, 0x00050001
FLAT_SIZE = 306
FORMS = ("linear", "tree")
# In these folders, `replace` deletes files that are not generated; other folders also hold hand-written files.
OWNED = ("programs/gvisor/**/*", "programs/libseccomp/**/*", "policies/gvisor/**/*")

DOCKER, DOCKER_OLD = "docker-default", "docker-default-0.1.0"
PODMAN = "podman-default"


class Program(NamedTuple):
    path: str  # relative to the corpus, like all paths in this file
    content: bytes
    arch: str
    source: str
    how: str


class Pair(NamedTuple):
    name: str
    before: str
    after: str
    policy: str = ""


def generate():
    """Returns {path below the corpus: bytes} for all files that are regenerated."""
    with tempfile.TemporaryDirectory(prefix="secequiv-corpus-") as work:
        profiles = {
            DOCKER: (sources.moby_profile("v0.2.3"), "%s v0.2.3" % sources.MOBY_MODULE),
            DOCKER_OLD: (sources.moby_profile("v0.1.0"), "%s v0.1.0" % sources.MOBY_MODULE),
            PODMAN: (sources.podman_profile(), sources.PODMAN),
        }
        library = sources.Libseccomp()
        out = Path(work) / "out"
        gvisor = sources.gvisor(library.syscalls("x86_64"), out, work)
        files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
        programs, pairs = _gvisor(gvisor, files)
        for made in (_from_profiles(library, profiles), _flat(library)):
            programs += made[0]
            pairs += made[1]
    files.update({"policies/oci/%s.json" % name: content for name, (content, _) in profiles.items()})
    files.update({program.path: program.content for program in programs})
    files[MANIFEST] = manifest(programs, pairs).encode()
    return files


def _gvisor(report, files):
    programs, pairs = [], []
    for configuration in report.configurations:
        name = configuration["name"]
        paths = ["programs/gvisor/%s.%s.bpf" % (name, stage) for stage in ("before", "after")]
        how = "in scripts/corpus/gvisor: go run . -names NAMES -out DIR -config %s (%s)" % (name, configuration["description"])
        for path in paths:
            programs.append(Program(path, files[path], "x86_64", "gvisor.dev/gvisor %s" % report.version, how))
        pairs.append(Pair("gvisor-" + name, *paths, "policies/gvisor/%s.json" % name))
    return programs, pairs


def _from_profiles(library, profiles):
    programs, pairs = [], []
    for name, profile, scmp_arch, arch in (
            ("docker-x86_64", DOCKER, "SCMP_ARCH_X86_64", "x86_64"),
            ("docker-aarch64", DOCKER, "SCMP_ARCH_AARCH64", "aarch64"),
            ("podman-x86_64", PODMAN, "SCMP_ARCH_X86_64", "x86_64")):
        content, source = profiles[profile]
        rules = oci.rules(json.loads(content), scmp_arch, KERNEL)
        what = "policies/oci/%s.json for %s, without capabilities, Linux %d.%d" % (profile, oci.GO_ARCHES[scmp_arch], *KERNEL)
        made = _both_forms(library, name, rules, arch, source, what)
        programs += made[0]
        pairs += made[1]
    return programs, pairs


def _flat(library):
    names = list(library.syscalls("x86_64").values())[:FLAT_SIZE]
    rules = oci.flat(EPERM, ALLOW, "x86_64", names)
    return _both_forms(library, "allow%d" % FLAT_SIZE, rules, "x86_64", "this project",
                       "the first %d system calls of x86_64 allowed, all others EPERM" % FLAT_SIZE)


def _both_forms(library, name, rules, arch, source, what):
    programs = [
        Program("programs/libseccomp/%s.%s.bpf" % (name, form), library.compile(rules, form), arch,
                "%s; rules: %s" % (sources.LIBSECCOMP, source),
                "secequiv libseccomp-host libseccomp.so.2 %s<RULES (%s)" % ("--tree " if form == "tree" else "", what))
        for form in FORMS]
    return programs, [Pair("libseccomp-" + name, *(program.path for program in programs))]


def manifest(programs, pairs):
    """Returns the manifest's text. Its paths are relative to its own folder."""
    return json.dumps({
        "version": 1,
        "programs": [{
            "file": _relative(program.path),
            "instructions": len(program.content) // 8,
            "sha256": hashlib.sha256(program.content).hexdigest(),
            "arch": program.arch,
            "source": program.source,
            "how": program.how,
        } for program in programs],
        "pairs": [
            {key: value if key == "name" else _relative(value) for key, value in pair._asdict().items() if value}
            for pair in pairs],
    }, indent=1) + "\n"


def _relative(path):
    folder = MANIFEST.rpartition("/")[0] + "/"
    return path[len(folder):] if path.startswith(folder) else "../" + path
