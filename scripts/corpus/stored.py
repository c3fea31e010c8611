"""Compare the generated files in the corpus, and replace all of them or none.

Owns which folders belong to the generator. It must not know what the files mean.
"""

import os
from pathlib import Path

# In these folders, a file that is not generated is a leftover; other folders also hold hand-written files.
OWNED = ("programs/gvisor", "programs/libseccomp", "policies/gvisor")


def differences(files, corpus):
    """A message for each way in which `corpus` differs from `files` ({path: bytes})."""
    found = []
    for name, content in sorted(files.items()):
        path = Path(corpus) / name
        if not path.is_file():
            found.append("%s: missing" % name)
            continue
        stored = path.read_bytes()
        if stored != content:
            at = next((i for i, pair in enumerate(zip(stored, content)) if pair[0] != pair[1]), min(len(stored), len(content)))
            found.append("%s: differs at byte %d (%d bytes stored, %d generated)" % (name, at, len(stored), len(content)))
    return found + ["%s: no longer generated" % name for name in left_over(files, corpus)]


def replace(files, corpus):
    """Writes `files`: each is complete on disk before the first one takes its name. Leftover files are removed last."""
    pending = []
    try:
        for name, content in files.items():
            final = Path(corpus) / name
            final.parent.mkdir(parents=True, exist_ok=True)
            temporary = final.with_name(".%s.%d" % (final.name, os.getpid()))
            pending.append((temporary, final))
            temporary.write_bytes(content)
        for temporary, final in pending:
            os.replace(temporary, final)
    finally:
        for temporary, _ in pending:
            temporary.unlink(missing_ok=True)
    for name in left_over(files, corpus):
        (Path(corpus) / name).unlink()


def left_over(files, corpus):
    """Files in the owned folders that `files` does not have."""
    corpus = Path(corpus)
    present = (path for folder in OWNED for path in (corpus / folder).rglob("*") if path.is_file())
    return sorted(str(path.relative_to(corpus)) for path in present if str(path.relative_to(corpus)) not in files)
