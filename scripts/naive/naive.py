"""Evaluates seccomp filters the slow, obvious way: one branch per opcode, in the order of the kernel's own switch.

Owns what a program returns for one `struct seccomp_data`, what a stack of filters returns, and when two return values are the
same. It must not know acceptance (accept.py), text (asm.py) or vector files (vectors.py).

The kernel functions named in the comments are in net/core/filter.c, kernel/bpf/core.c and kernel/seccomp.c.
"""

import struct
from typing import NamedTuple


class Insn(NamedTuple):
    """One `struct sock_filter`: code is 16 bits, jt and jf 8 bits, k 32 bits, all unsigned."""

    code: int
    jt: int
    jf: int
    k: int


class EvaluationError(Exception):
    """The program did something that no program accepted by the kernel can do."""


def run(program, data):
    """Returns the 32-bit value that `program` (a list of Insn) returns for `data`, 64 bytes of seccomp_data.

    This is the program's own value, before it is combined with other filters of a stack. Raises EvaluationError if the
    kernel would have refused the program; callers use accept.py first.
    """
    if len(data) != 64:
        raise ValueError("seccomp_data has 64 bytes, got %d" % len(data))
    a = 0  # bpf_convert_filter: the prologue clears A ...
    x = 0  # ... and X
    m = [None] * 16  # check_load_and_stores promises that no word is read before it is written
    pc = 0
    while True:
        if pc >= len(program):
            raise EvaluationError("ran past the end of the program")
        code, jt, jf, k = program[pc]
        here = pc
        pc += 1

        # Loads into A
        if code == 0x20:  # LD|W|ABS: seccomp_check_filter turns it into a native-order read of seccomp_data
            if k > 60 or k % 4 != 0:
                raise EvaluationError("load from offset %d at %d" % (k, here))
            a = struct.unpack_from("<I", data, k)[0]
        elif code == 0x00:  # LD|IMM: A = K
            a = k
        elif code == 0x60:  # LD|MEM: A = M[K]
            a = _memory(m, k, here)
        elif code == 0x80:  # LD|W|LEN: seccomp_check_filter turns it into LD|IMM sizeof(struct seccomp_data)
            a = 64

        # Loads into X
        elif code == 0x01:  # LDX|IMM: X = K
            x = k
        elif code == 0x61:  # LDX|MEM: X = M[K]
            x = _memory(m, k, here)
        elif code == 0x81:  # LDX|W|LEN: seccomp_check_filter turns it into LDX|IMM sizeof(struct seccomp_data)
            x = 64

        # Stores
        elif code == 0x02:  # ST: M[K] = A
            m[k] = a
        elif code == 0x03:  # STX: M[K] = X
            m[k] = x

        # Moves between the registers; K, jt and jf have no effect
        elif code == 0x07:  # MISC|TAX: X = A
            x = a
        elif code == 0x87:  # MISC|TXA: A = X
            a = x

        # Arithmetic: bpf_convert_filter emits 32-bit ALU instructions, so everything wraps and is unsigned
        elif code == 0x04:  # ALU|ADD|K
            a = (a + k) & 0xFFFFFFFF
        elif code == 0x0C:  # ALU|ADD|X
            a = (a + x) & 0xFFFFFFFF
        elif code == 0x14:  # ALU|SUB|K
            a = (a - k) & 0xFFFFFFFF
        elif code == 0x1C:  # ALU|SUB|X
            a = (a - x) & 0xFFFFFFFF
        elif code == 0x24:  # ALU|MUL|K
            a = (a * k) & 0xFFFFFFFF
        elif code == 0x2C:  # ALU|MUL|X
            a = (a * x) & 0xFFFFFFFF
        elif code == 0x34:  # ALU|DIV|K: bpf_check_classic has refused K = 0
            if k == 0:
                raise EvaluationError("division by the constant 0 at %d" % here)
            a = a // k
        elif code == 0x3C:  # ALU|DIV|X: bpf_convert_filter ends the program with 0 when X is 0
            if x == 0:
                return 0
            a = a // x
        elif code == 0x44:  # ALU|OR|K
            a = a | k
        elif code == 0x4C:  # ALU|OR|X
            a = a | x
        elif code == 0x54:  # ALU|AND|K
            a = a & k
        elif code == 0x5C:  # ALU|AND|X
            a = a & x
        elif code == 0x64:  # ALU|LSH|K: bpf_check_classic has refused K >= 32
            if k >= 32:
                raise EvaluationError("shift by %d at %d" % (k, here))
            a = (a << k) & 0xFFFFFFFF
        elif code == 0x6C:  # ALU|LSH|X: ___bpf_prog_run and the JITs use the low five bits of X
            a = (a << (x % 32)) & 0xFFFFFFFF
        elif code == 0x74:  # ALU|RSH|K: bpf_check_classic has refused K >= 32
            if k >= 32:
                raise EvaluationError("shift by %d at %d" % (k, here))
            a = a >> k
        elif code == 0x7C:  # ALU|RSH|X: ___bpf_prog_run and the JITs use the low five bits of X
            a = a >> (x % 32)
        elif code == 0x84:  # ALU|NEG: A = 0 - A; there is only this form
            a = (0 - a) & 0xFFFFFFFF
        elif code == 0xA4:  # ALU|XOR|K
            a = a ^ k
        elif code == 0xAC:  # ALU|XOR|X
            a = a ^ x

        # Jumps are relative to the next instruction; comparisons are unsigned (bpf_convert_filter)
        elif code == 0x05:  # JMP|JA: the distance is K; jt and jf are ignored
            pc += k
        elif code == 0x15:  # JMP|JEQ|K
            pc += jt if a == k else jf
        elif code == 0x1D:  # JMP|JEQ|X
            pc += jt if a == x else jf
        elif code == 0x25:  # JMP|JGT|K
            pc += jt if a > k else jf
        elif code == 0x2D:  # JMP|JGT|X
            pc += jt if a > x else jf
        elif code == 0x35:  # JMP|JGE|K
            pc += jt if a >= k else jf
        elif code == 0x3D:  # JMP|JGE|X
            pc += jt if a >= x else jf
        elif code == 0x45:  # JMP|JSET|K
            pc += jt if (a & k) != 0 else jf
        elif code == 0x4D:  # JMP|JSET|X
            pc += jt if (a & x) != 0 else jf

        # Returns
        elif code == 0x06:  # RET|K
            return k
        elif code == 0x16:  # RET|A: K is ignored
            return a

        else:  # chk_code_allowed or seccomp_check_filter would have refused it
            raise EvaluationError("code 0x%x at %d" % (code, here))


def _memory(m, k, pc):
    if k > 15 or m[k] is None:
        raise EvaluationError("M[%d] read while unset at %d" % (k, pc))
    return m[k]


def run_stack(programs, data):
    """Returns what seccomp_run_filters returns for `programs`, newest first: the value of highest precedence.

    The kernel starts from a plain SECCOMP_RET_ALLOW and replaces it only by a strictly lower action. So of several
    equal actions the newest filter's value stays, and the data bits of SECCOMP_RET_ALLOW never come out of a stack.
    """
    result = 0x7FFF0000
    for program in programs:
        value = run(program, data)
        if _signed_action(value) < _signed_action(result):
            result = value
    return result


def _signed_action(value):
    """Returns the upper half as a signed 32-bit number, like ACTION_ONLY() of seccomp.c."""
    action = value & 0xFFFF0000
    if action >= 0x80000000:
        return action - 0x100000000
    return action


def observed(value):
    """Returns the (action, data) that __seccomp_filter derives from a return value. `same: behaviour` compares these."""
    action = value & 0xFFFF0000
    data = value & 0x0000FFFF
    if action == 0x7FFF0000:  # SECCOMP_RET_ALLOW: runs the call, data unused
        return ("ALLOW", 0)
    elif action == 0x7FFC0000:  # SECCOMP_RET_LOG: logs and runs the call, data unused
        return ("LOG", 0)
    elif action == 0x7FF00000:  # SECCOMP_RET_TRACE: data is the tracer's PTRACE_GETEVENTMSG
        return ("TRACE", data)
    elif action == 0x7FC00000:  # SECCOMP_RET_USER_NOTIF: seccomp_do_user_notification is not given the data
        return ("USER_NOTIF", 0)
    elif action == 0x00050000:  # SECCOMP_RET_ERRNO: capped at MAX_ERRNO
        return ("ERRNO", min(data, 4095))
    elif action == 0x00030000:  # SECCOMP_RET_TRAP: data is si_errno
        return ("TRAP", data)
    elif action == 0x00000000:  # SECCOMP_RET_KILL_THREAD
        return ("KILL_THREAD", 0)
    else:  # SECCOMP_RET_KILL_PROCESS and, by the switch's default, every unknown action
        return ("KILL_PROCESS", 0)


def same(notion, first, second):
    """Returns whether two return values are the same; `notion` is "raw" (all 32 bits) or "behaviour" (see observed)."""
    if notion == "raw":
        return first == second
    if notion == "behaviour":
        return observed(first) == observed(second)
    raise ValueError("unknown notion of same: %r" % notion)
