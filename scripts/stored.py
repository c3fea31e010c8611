"""Compare generated files ({path: bytes}) with the stored ones in a folder, and replace all of them or none.

A file that matches one of the patterns `owned` and is not generated is a leftover. This module must not know what the files mean.
"""

import os
from pathlib import Path


def differences(files, folder, owned):
    """Returns a message for each way in which `folder` differs from `files`."""
    found = []
    for name, content in sorted(files.items()):
        path = Path(folder) / name
        if not path.is_file():
            found.append("%s: missing" % name)
            continue
        old = path.read_bytes()
        if old != content:
            at = next((i for i, pair in enumerate(zip(old, content)) if pair[0] != pair[1]), min(len(old), len(content)))
            found.append("%s:%d: differs at byte %d (%d bytes stored, %d generated)" % (
                name, content.count(b"\n", 0, at) + 1, at, len(old), len(content)))
    return found + ["%s: no longer generated" % name for name in leftovers(files, folder, owned)]


def replace(files, folder, owned):
    """Writes all files under temporary names before it renames the first one. It removes leftovers last."""
    pending = []
    try:
        for name, content in files.items():
            final = Path(folder) / name
            final.parent.mkdir(parents=True, exist_ok=True)
            temporary = final.with_name(".%s.%d" % (final.name, os.getpid()))
            pending.append((temporary, final))
            temporary.write_bytes(content)
        for temporary, final in pending:
            os.replace(temporary, final)
    finally:
        for temporary, _ in pending:
            temporary.unlink(missing_ok=True)
    for name in leftovers(files, folder, owned):
        (Path(folder) / name).unlink()


def leftovers(files, folder, owned):
    found = {path.relative_to(folder).as_posix() for pattern in owned for path in Path(folder).glob(pattern) if path.is_file()}
    return sorted(found - set(files))
