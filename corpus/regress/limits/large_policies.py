"""Writes two policies of one rule with very many conditions; the second asks for 0 where the first asks for a bit.

Programs of hundreds of thousands of instructions come from them, so every pass over a program takes long and needs much memory. For
each of the commands `prove`, `check` and `cost`, some passes once looked at no limit.
"""

import json
import sys
from pathlib import Path


def policy(conditions, zero):
    def condition(i):
        bit = 1 << (i % 32)
        return {"args": {"0": {"masked_eq": {"mask": bit | (1 << (32 + i % 31)), "value": 0 if zero else bit}}}}
    return {"version": 1, "arches": ["x86_64"], "default_action": "allow",
            "rule_sets": [{"action": "errno(1)", "rules": {"read": {"any_of": [condition(i) for i in range(conditions)]}}}]}


def write(folder, conditions):
    """Returns the paths of both policies."""
    out = [Path(folder) / "before.json", Path(folder) / "after.json"]
    for path, zero in zip(out, (False, True)):
        path.write_text(json.dumps(policy(conditions, zero)))
    return out


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 80000)
