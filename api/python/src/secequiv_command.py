"""The command `secequiv` of the wheel `any`. A library that cannot be loaded is an error with status 2, because status 1 means "different"."""

import sys


def main() -> int:
    try:
        from secequiv._commands import main as run
    except (ImportError, OSError) as error:
        print("secequiv: %s" % error, file=sys.stderr)
        return 2
    return run()
