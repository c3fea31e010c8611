"""Puts the compiler of seccompy under test. It serves requests as harness/adapter/PROTOCOL.md describes."""

import seccompy
from secequiv_adapter import INSTRUCTION_POINTER, Policy, Unsupported, decode, serve

X86_64 = 0xC000003E
LOW = 0xFFFFFFFF
ACTIONS = {0x80000000: "kill", 0x00000000: "kill_thread", 0x00030000: "trap", 0x7FC00000: "notify", 0x7FFC0000: "log", 0x7FFF0000: "allow"}


def compile(policy: Policy):
    if [arch.audit for arch in policy.arches] != [X86_64]:
        raise Unsupported("seccompy compiles only for the architecture on which it runs, here x86_64")
    if policy.bad_arch_action != 0x80000000:
        raise Unsupported("seccompy always kills the process for other architectures")
    if policy.ranges:
        raise Unsupported("seccompy has no rules for ranges of system call numbers")
    out = seccompy.Filter(default=policy.default_action)
    for rule in policy.rules:
        for all_of in rule.any_of:
            conditions = [condition(each) for each in all_of]
            if None not in conditions:
                add(out, rule.nr, rule.action, conditions)
    return decode(out.program)


def add(out, nr, action, conditions):
    data = action & 0xFFFF
    if action & 0xFFFF0000 == 0x00050000:
        out.errno(nr, data, args=conditions)
    elif action & 0xFFFF0000 == 0x7FF00000:
        out.trace(nr, data, args=conditions)
    elif action in ACTIONS:
        getattr(out, ACTIONS[action])(nr, args=conditions)
    else:
        raise Unsupported("seccompy has no name for the action 0x%08x" % action)


def condition(c):
    """Returns None for a condition that never holds; seccompy refuses it."""
    if c.field == INSTRUCTION_POINTER:
        raise Unsupported("seccompy cannot compare the instruction pointer")
    if c.value & ~c.mask:
        return None
    if c.op == "masked_eq" or (c.op == "eq" and c.bits == 32):
        return seccompy.ArgCmp(c.field, seccompy.CmpOp.MASKED_EQ, c.value, c.mask)
    if c.bits == 32:
        raise Unsupported("seccompy compares whole arguments, not 32 bits")
    return seccompy.ArgCmp(c.field, seccompy.CmpOp[c.op.upper()], c.value)


serve(compile=compile)
