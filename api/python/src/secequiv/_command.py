"""Finds the command line. It must not know its arguments, and must not load the library."""

import os
from importlib.metadata import PackageNotFoundError, files


def command() -> str:
    """Returns $SECEQUIV, or the command that was installed with this package, or the name that PATH resolves."""
    given = os.environ.get("SECEQUIV")
    if given:
        return given
    try:
        installed = [str(path.locate()) for path in files("secequiv") or () if path.name == "secequiv" and path.parent.name == "bin"]
    except PackageNotFoundError:
        installed = []
    return next((path for path in installed if os.access(path, os.X_OK)), "secequiv")
