"""Generates the texts of all files from the sources."""

import hashlib
import re
from pathlib import Path

from . import constants, output, seen_bits, selection, sources, syscalls
from .kernel_source import KernelSource
from .sources import GoModule, Headers, Libseccomp


def generate():
    """Returns {file name: bytes} of every table but the one of bits. Raises Missing or TableError (sources.py)."""
    go = GoModule()
    headers = Headers(selection.HEADERS)
    return output.render(syscalls.build(go, headers, Libseccomp()), constants.build(go, headers))


def generate_seen_bits(folder, archive):
    """Returns {file name: bytes} of the table of bits, for the calls that the tables in `folder` list. Raises Missing or TableError."""
    names = stored_names(folder)
    source = KernelSource(archive)
    table = seen_bits.build(source, names)
    return output.render_seen_bits(table, names, source.hash(), rules_hash())


def stored_names(folder):
    """Returns {arch: {number: name}} of the tables in `folder`."""
    return {arch: {int(number, 0): name for number, name in
                   re.findall(r'^SECEQUIV_SYSCALL\((\w+), "(\w+)"\)$', (Path(folder) / (arch + ".inc")).read_text(), re.MULTILINE)}
            for arch in sources.SCMP_ARCHES}


def rules_hash():
    """Returns a hash of the scripts that decide about the table of bits. It tells without the kernel's source whether they changed."""
    found = hashlib.sha256()
    for name in output.RULES:
        found.update((Path(__file__).parent / name).read_bytes())
    return found.hexdigest()
