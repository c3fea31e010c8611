"""Decides whether the kernel would install a program as a seccomp filter, and if not, why and where.

Owns the refusal rules and their order, taken from bpf_check_classic, check_load_and_stores (net/core/filter.c) and
seccomp_check_filter (kernel/seccomp.c). It must not know evaluation. The lists below are copied from the kernel's
code and are not derived from any other table of this project.
"""

# The codes of chk_code_allowed.
CLASSIC_CODES = (
    # ALU: ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, LSH, RSH with K and with X, then NEG
    0x04, 0x0C, 0x14, 0x1C, 0x24, 0x2C, 0x34, 0x3C, 0x94, 0x9C,
    0x54, 0x5C, 0x44, 0x4C, 0xA4, 0xAC, 0x64, 0x6C, 0x74, 0x7C,
    0x84,
    # LD: W, H, B ABS; LEN; W, H, B IND; IMM; MEM
    0x20, 0x28, 0x30, 0x80, 0x40, 0x48, 0x50, 0x00, 0x60,
    # LDX: LEN; B MSH; IMM; MEM
    0x81, 0xB1, 0x01, 0x61,
    # ST, STX, TAX, TXA, RET K, RET A
    0x02, 0x03, 0x07, 0x87, 0x06, 0x16,
    # JMP: JA; JEQ, JGE, JGT, JSET with K and with X
    0x05, 0x15, 0x1D, 0x35, 0x3D, 0x25, 0x2D, 0x45, 0x4D,
)

# For these codes, seccomp_check_filter continues with the next instruction; accept() checks LD|W|ABS separately.
SECCOMP_CODES = (
    0x80, 0x81,  # LEN into A and X
    0x06, 0x16,  # RET K, RET A
    0x04, 0x0C, 0x14, 0x1C, 0x24, 0x2C, 0x34, 0x3C,  # ADD, SUB, MUL, DIV
    0x54, 0x5C, 0x44, 0x4C, 0xA4, 0xAC, 0x64, 0x6C, 0x74, 0x7C,  # AND, OR, XOR, LSH, RSH
    0x84,  # NEG
    0x00, 0x01, 0x07, 0x87, 0x60, 0x61, 0x02, 0x03,  # IMM, TAX, TXA, MEM, ST, STX
    0x05, 0x15, 0x1D, 0x35, 0x3D, 0x25, 0x2D, 0x45, 0x4D,  # jumps
)

CONDITIONAL_JUMPS = (0x15, 0x1D, 0x25, 0x2D, 0x35, 0x3D, 0x45, 0x4D)

# These are the offsets SKF_AD_* from SKF_AD_OFF that bpf_anc_helper knows.
KNOWN_ANCILLARY = (0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60)
SKF_AD_OFF = 0xFFFFF000  # -0x1000 as the kernel's u32


def accept(program, forgive_length=False):
    """Returns None if the kernel installs `program` (a list of Insn), otherwise the first broken rule as (rule, pc).

    With `forgive_length`, a program of more than 4096 instructions only has to keep the other rules: it can be
    analysed, but not installed.
    """
    length = len(program)

    # seccomp_prepare_filter checks this before it reads the program.
    if length == 0 or (length > 4096 and not forgive_length):
        return ("length", 0)

    # This is the only loop of bpf_check_classic.
    for pc, (code, jt, jf, k) in enumerate(program):
        if code not in CLASSIC_CODES:
            return ("unknown_code", pc)
        if code in (0x34, 0x94):  # DIV|K, MOD|K
            if k == 0:
                return ("div_by_zero", pc)
        elif code in (0x64, 0x74):  # LSH|K, RSH|K
            if k >= 32:
                return ("shift_range", pc)
        elif code in (0x60, 0x61, 0x02, 0x03):  # LD|MEM, LDX|MEM, ST, STX
            if k >= 16:
                return ("mem_index", pc)
        elif code == 0x05:  # JA: compared without an addition, which could wrap
            if k >= length - pc - 1:
                return ("jump_range", pc)
        elif code in CONDITIONAL_JUMPS:  # both targets must be inside the program
            if pc + jt + 1 >= length or pc + jf + 1 >= length:
                return ("jump_range", pc)
        elif code in (0x20, 0x28, 0x30):  # LD|W|ABS, LD|H|ABS, LD|B|ABS
            if k >= SKF_AD_OFF and k - SKF_AD_OFF not in KNOWN_ANCILLARY:
                return ("ancillary", pc)

    # This is the last switch of bpf_check_classic.
    if program[length - 1].code not in (0x06, 0x16):
        return ("last_not_ret", length - 1)

    unset = _check_load_and_stores(program)
    if unset is not None:
        return ("mem_unset", unset)

    # seccomp_check_filter
    for pc, (code, _jt, _jf, k) in enumerate(program):
        if code == 0x20:  # LD|W|ABS: inside seccomp_data and aligned
            if k >= 64 or (k & 3) != 0:
                return ("load_offset", pc)
        elif code not in SECCOMP_CODES:
            return ("not_seccomp", pc)
    return None


def _check_load_and_stores(program):
    """Returns the pc of the first read of a memory word that the kernel assumes to be unset, or None.

    The kernel makes one pass from top to bottom, with one bit for each word. A jump passes its bits to its targets; for
    the next instruction, it sets all bits. A RET does not set them, so the next instruction inherits the RET's bits.
    """
    masks = [0xFFFF] * len(program)
    valid = 0
    for pc, (code, jt, jf, k) in enumerate(program):
        valid &= masks[pc]
        if code in (0x02, 0x03):  # ST, STX
            valid |= 1 << k
        elif code in (0x60, 0x61):  # LD|MEM, LDX|MEM
            if (valid & (1 << k)) == 0:
                return pc
        elif code == 0x05:  # JA
            masks[pc + 1 + k] &= valid
            valid = 0xFFFF
        elif code in CONDITIONAL_JUMPS:
            masks[pc + 1 + jt] &= valid
            masks[pc + 1 + jf] &= valid
            valid = 0xFFFF
    return None
