"""Generates random policies in our format that a compiler can express.

`Abilities` describes what a compiler can express. It claims too much if the compiler answers "unsupported" to many of the policies.
"""

import json
from typing import NamedTuple

VALUES = (0, 1, 2, 0x80, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x100000001, 0x1FFFFFFFF, 0x7FFFFFFFFFFFFFFF,
          0x8000000000000000, 0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFF)
ALL_OPERATORS = ("eq", "ne", "gt", "ge", "lt", "le", "masked_eq", "bits_allowlist", "non_negative_fd")


class Abilities(NamedTuple):
    actions: tuple
    operators: tuple = ALL_OPERATORS
    numbers: tuple = tuple(range(8)) + (999, 0x3FFFFFFF)
    depth: int = 3  # nesting of any_of and all_of; 0: one conjunction
    instruction_pointer: bool = False
    vsyscall: bool = False
    same_call_again: bool = False  # one call may occur in several rule sets
    one_action: bool = False  # all rules must have the same action
    defaults: tuple = ()  # the supported default actions; empty: any
    bad_arch: tuple = ()  # the supported values of bad_arch_action; empty: any
    x32_like_bad_arch: bool = False  # the compiler requires x32_action to equal bad_arch_action
    bad_arch_like_default: bool = False  # the compiler requires bad_arch_action to equal default_action
    x32: str = ""  # the x32_action that the compiler requires
    least: int = 0  # the smallest constant in a condition
    arches: tuple = (("x86_64",),)  # the lists of architectures
    bits: int = 64  # the width of all conditions


def policy(random, can):
    """Returns the text of a policy."""
    actions = list(can.actions)
    random.shuffle(actions)
    default, bad_arch = random.choice(can.defaults) if can.defaults else actions.pop(), random.choice(can.bad_arch or can.actions)
    out = {"version": 1, "name": "random", "arches": list(random.choice(can.arches)), "default_action": default, "bad_arch_action": bad_arch,
           "rule_sets": []}
    if can.bad_arch_like_default:
        out["bad_arch_action"] = default
    if can.x32 or can.x32_like_bad_arch:
        out["x32_action"] = can.x32 or bad_arch
    used, vsyscall = set(), {}
    for _ in range(random.randrange(1, 4)):
        rules, only = {}, can.vsyscall and random.randrange(3) == 0
        for _ in range(random.randrange(1, 6)):
            number = random.choice(can.numbers)
            if vsyscall.setdefault(number, only) == only and (can.same_call_again or str(number) not in used):
                rules[str(number)] = rule(random, can, can.depth)
        used.update(rules)
        action = actions[0] if can.one_action else actions.pop() if actions else default
        out["rule_sets"].append({"action": action, "vsyscall": only, "rules": rules})
    if random.randrange(2):
        out["hot"] = [str(number) for number in random.sample(sorted(can.numbers), min(2, len(can.numbers)))]
    return json.dumps(out)


def rule(random, can, depth):
    kind = random.randrange(8 if depth else 4)
    if kind == 0:
        return True
    if kind >= 4:
        children = [rule(random, can, depth - 1) for _ in range(random.randrange(1, 4))]
        return {"any_of" if kind < 7 else "all_of": children}
    fields = ["0", "1", "2", "3", "4", "5"] + (["ip"] if can.instruction_pointer else [])
    chosen = random.sample(fields, random.randrange(4)) if random.randrange(2) else random.sample(fields[:2], random.randrange(3))
    return {"args": {field: matcher(random, can) for field in chosen}}


def matcher(random, can):
    operator = random.choice(can.operators)
    if operator == "non_negative_fd":
        operand = True
    elif operator == "masked_eq":
        mask = value(random, can.bits)
        operand = {"mask": mask, "value": value(random, can.bits) & mask}
    else:
        operand = max(value(random, can.bits), can.least)
    return {operator: operand, "bits": can.bits}


def value(random, bits):
    number = random.getrandbits(64) if random.randrange(5) == 0 else random.choice(VALUES) + random.choice((0, 0, 0, 1, -1))
    return number & ((1 << bits) - 1)
