"""Generates the texts of all files from the sources."""

from . import constants, output, selection, syscalls
from .sources import GoModule, Headers, Libseccomp


def generate():
    """Returns {file name: bytes} of every table. Raises Missing or TableError (sources.py)."""
    go = GoModule()
    headers = Headers(selection.HEADERS)
    return output.render(syscalls.build(go, headers, Libseccomp()), constants.build(go, headers))
