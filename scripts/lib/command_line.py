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


def placeholder(option):
    """Returns the placeholder for an option's value: its possible words, or a name; empty for a flag."""
    if not option["type"]:
        return ""
    kind = option["type"].split(":")[0].split(" ")[0]
    if option["words"] and len(option["words"]) < 8:
        return "|".join(option["words"])
    if "ARCH" in option["type"]:
        return "ARCH"
    return {"TEXT": "TEXT", "UINT": "N", "INT": "N", "FLOAT": "SECONDS"}.get(kind, kind)
