"""Reads the commands and options of secequiv from its hidden option --list-options."""

import json
import subprocess


def described(binary):
    """Returns the description as a dictionary (cli/description.h)."""
    done = subprocess.run([str(binary), "--list-options"], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def commands(description):
    """Returns the whole program as a command without a name, then every command."""
    return [{"name": "", **description}, *description["commands"]]
