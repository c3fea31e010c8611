"""`python -m secequiv` is the command line."""

import os
import sys

from ._command import command

try:
    os.execvp(command(), ["secequiv", *sys.argv[1:]])
except OSError as error:
    print("secequiv: cannot start '%s': %s (set SECEQUIV or PATH)" % (command(), error.strerror), file=sys.stderr)
    sys.exit(2)
