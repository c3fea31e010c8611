"""A hook of pre-commit: every changed filter or profile must be no looser than the committed one.

Words with a leading hyphen are options of `secequiv prove` ("--same=behaviour"); all others are files. A file that HEAD does not have
passes. The exit status is the largest of all files.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Sequence

from ._command import command


def _git(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _old_names() -> Dict[str, str]:
    """Returns the committed name of each file that was renamed since HEAD."""
    words = _git("diff", "--cached", "--relative", "-M", "--diff-filter=R", "--name-status", "-z", "HEAD").stdout.decode("utf-8", "surrogateescape").split("\0")
    return {new: old for old, new in zip(words[1::3], words[2::3])}


def main(words: Sequence[str]) -> int:
    options = [word for word in words if word.startswith("-")]
    status = 0
    first = _git("rev-parse", "--quiet", "--verify", "HEAD").returncode == 1  # no commit yet
    renamed = {} if first else _old_names()
    for name in words:
        if name.startswith("-"):
            continue
        old = renamed.get(name, name)
        listed = _git("ls-tree", "-z", "HEAD", "--", old)
        if first or (listed.returncode == 0 and not listed.stdout):
            print("%s: new, so there is nothing to compare" % name)
            continue
        committed = _git("show", "HEAD:./" + old)
        if committed.returncode != 0:
            print("secequiv: %s: %s" % (name, committed.stderr.decode(errors="replace").strip()), file=sys.stderr)
            status = max(status, 2)
            continue
        with tempfile.TemporaryDirectory(prefix="HEAD-") as folder:
            before = Path(folder) / Path(name).name
            before.write_bytes(committed.stdout)
            print("%s:" % name, flush=True)
            status = max(status, subprocess.call([command(), "prove", "--refines", *options, "--", str(before), name]) % 256)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
