"""`python -m secequiv` is the command line. Without its binary, it has the commands of the wheel `any`."""

import os
import sys

from ._command import command

try:
    os.execvp(command(), ["secequiv", *sys.argv[1:]])
except OSError as error:
    if os.environ.get("SECEQUIV"):
        print("secequiv: cannot start '%s': %s (set SECEQUIV or PATH)" % (command(), error.strerror), file=sys.stderr)
        sys.exit(2)
from ._commands import main  # only now, because it changes how signals act

sys.exit(main())
