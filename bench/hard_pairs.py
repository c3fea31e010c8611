"""Generates pairs of programs that are hard to prove equal: for each family two ways to compute the same value from the input, and a third
program that differs for few inputs. All programs end with a test of the value."""
import random

LOW = [16 + 8 * i for i in range(6)]  # offsets of the arguments' low halves
WORDS = list(range(0, 64, 4))


def tested(lines, test="jeq #0x12345678"):
    """Returns the program that computes a value in A with `lines`, and allows the call if the test holds."""
    return "\n".join([*lines, test + ", yes, no", "yes: ret #0x7fff0000", "no: ret #0x50001"]) + "\n"


def conditional_sums(rng, count=64):
    """Returns programs for a sum of constants, each of which is added if a bit of the input is set, in two orders."""
    terms = [(LOW[i % 6], i // 6, rng.getrandbits(32)) for i in range(count)]

    def program(order):
        lines = ["ld #0", "st M[0]"]
        for at, (offset, bit, k) in enumerate(order):
            lines += ["ld [%d]" % offset, "jset #%#x, add%d, next%d" % (1 << bit, at, at),
                      "add%d: ld M[0]" % at, "add #%#x" % k, "st M[0]", "next%d: ld M[0]" % at]
        return tested(lines)
    turned = terms[:]
    rng.shuffle(turned)
    wrong = turned[:]
    wrong[5] = (*wrong[5][:2], wrong[5][2] ^ 1 << 31)
    return program(terms), program(turned), program(wrong)


def load(offset, register="A"):
    return ["ld [%d]" % offset] + (["tax"] if register == "X" else [])


def products(rng):
    """Returns programs for (a + b) * c and for a * c + b * c."""
    a, b, c = LOW[:3]
    one = [*load(a, "X"), *load(b), "add x", "st M[0]", *load(c, "X"), "ld M[0]", "mul x"]
    two = [*load(c, "X"), *load(a), "mul x", "st M[0]", *load(b), "mul x", "ldx M[0]", "add x"]
    return tested(one), tested(two), tested(two + ["xor #1", "jeq #0x12345679, flip, same", "flip: ld #0x12345678", "same: add #0"])


def associative_products(rng):
    """Returns programs for (a * b) * c and for a * (b * c)."""
    a, b, c = LOW[:3]
    one = [*load(a, "X"), *load(b), "mul x", "st M[0]", *load(c, "X"), "ld M[0]", "mul x"]
    two = [*load(c, "X"), *load(b), "mul x", "tax", *load(a), "mul x"]
    return tested(one), tested(two), tested([*load(c, "X"), *load(b), "mul x", "or #2", "tax", *load(a), "mul x"])


def divisions(rng):
    """Returns programs for a / 3 / 5 / 7 and for a / 105."""
    one = ["ld [%d]" % LOW[0], "div #3", "div #5", "div #7"]
    return tested(one, "jgt #40000"), tested(["ld [%d]" % LOW[0], "div #105"], "jgt #40000"), tested(["ld [%d]" % LOW[0], "div #104"], "jgt #40000")


def remainders(rng):
    """Returns programs for `a % b + (a / b) * b` and for `a`, where `a` and `b` are words of the input."""
    a, b = LOW[:2]
    quotient = [*load(b, "X"), *load(a), "div x", "mul x", "st M[0]"]
    one = [*quotient, "ldx M[0]", *load(a), "sub x", "add x"]
    two = [*load(b, "X"), *load(a), "div x", *load(a)]  # both return 0 if b is 0
    return tested(one), tested(two), tested(two[:-1] + [*load(a), "add #1"])


def digit_sums(rng):
    """Returns programs for the sum of the decimal digits of a, from the right and from the left."""
    def digit(k):
        """Returns lines that compute a / k % 10 in A."""
        return [*load(LOW[0]), "div #%d" % k, "st M[1]", "div #10", "mul #10", "tax", "ld M[1]", "sub x"]

    def program(powers, last=()):
        lines = ["ld #0", "st M[0]"]
        for k in powers:
            lines += [*digit(k), "ldx M[0]", "add x", "st M[0]"]
        return tested([*lines, *last], "jeq #27")
    powers = [10 ** i for i in range(10)]
    return program(powers), program(powers[::-1]), program(powers[::-1][:-1])


def sorting_networks(rng):
    """Returns programs for the fourth smallest of eight words, by two sorting networks."""
    batcher = [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6), (0, 4), (1, 5), (2, 6), (3, 7), (2, 4), (3, 5),
               (1, 2), (3, 4), (5, 6)]
    bubble = [(i, i + 1) for end in range(7, 0, -1) for i in range(end)]

    def program(network):
        lines = []
        for i in range(8):
            lines += ["ld [%d]" % (16 + 4 * i), "and #0xff", "st M[%d]" % i]
        for at, (i, j) in enumerate(network):
            lines += ["ldx M[%d]" % j, "ld M[%d]" % i, "jgt x, swap%d, keep%d" % (at, at),
                      "swap%d: st M[%d]" % (at, j), "stx M[%d]" % i, "keep%d: ld M[%d]" % (at, i)]
        return tested([*lines, "ld M[3]"], "jgt #0x40")
    return program(batcher), program(bubble), program(batcher[:-2] + batcher[-1:])


def shuffled_words(rng, rounds=60):
    """Returns programs for sixteen words of memory that are mixed with many operators; the two programs take independent steps in different orders."""
    steps, width = [], 8
    for _ in range(rounds):
        pairs = list(range(16))
        rng.shuffle(pairs)
        steps.append([(pairs[2 * i], pairs[2 * i + 1], rng.choice(("add", "xor", "and", "or", "sub", "mul"))) for i in range(width)])

    def program(steps, last="ld M[3]"):
        lines = []
        for i, offset in enumerate(WORDS):
            lines += ["ld [%d]" % offset, "st M[%d]" % i]
        for row in steps:
            for to, other, operator in row:
                lines += ["ldx M[%d]" % other, "ld M[%d]" % to, "%s x" % operator, "st M[%d]" % to]
        return tested([*lines, last])
    turned = [rng.sample(row, len(row)) for row in steps]
    return program(steps), program(turned), program(turned, "ld M[3]\nxor #0x100")


def parity(rng):
    """Returns programs for the parity of all 512 input bits: the first combines the words first, the second the bits of each word."""
    def folded(shifts):
        return [line for shift in shifts for line in ("tax", "rsh #%d" % shift, "xor x")]
    one = ["ld #0"]
    for offset in WORDS:
        one += ["tax", "ld [%d]" % offset, "xor x"]
    one += [*folded((16, 8, 4, 2, 1)), "and #1"]
    two = ["ld #0", "st M[0]"]
    for offset in WORDS:
        two += ["ld [%d]" % offset, *folded((1, 2, 4, 8, 16)), "and #1", "ldx M[0]", "xor x", "st M[0]"]
    wrong = [line.replace("and #1", "and #3") if at > len(two) - 6 else line for at, line in enumerate(two)]
    return tested(one, "jeq #1"), tested(two, "jeq #1"), tested(wrong, "jeq #1")


def overlapping_lists(rng, entries=1300):
    """Returns programs that allow if one of two words lies in one of its ranges, which overlap. The programs test the ranges in different orders."""
    rows = []
    for _ in range(entries // 2):
        low, size = rng.randrange(1 << 20), rng.randrange(1, 4000)
        rows.append((low, low + size))

    def program(rows):
        lines = []
        for at, (low, high) in enumerate(rows):
            lines += ["ld [%d]" % LOW[at % 2], "jge #%d, above%d, next%d" % (low, at, at), "above%d: jgt #%d, next%d, hit%d" % (at, high, at, at),
                      "hit%d: ret #0x7fff0000" % at, "next%d: ld [%d]" % (at, LOW[at % 2])]
        return "\n".join([*lines, "ret #0x50001"]) + "\n"
    order = list(range(len(rows)))
    evens, odds = [rows[i] for i in order[::2]], [rows[i] for i in order[1::2]]
    rng.shuffle(evens)
    rng.shuffle(odds)
    turned = [row for pair in zip(evens, odds) for row in pair]
    wrong = turned[:]
    low, high = max(wrong[::2], key=lambda row: row[1])
    wrong[wrong.index((low, high))] = (low, high + 1)
    return program(rows), program(turned), program(wrong)


FAMILIES = [conditional_sums, products, associative_products, divisions, remainders, digit_sums, sorting_networks, shuffled_words, parity,
            overlapping_lists]


def pairs(seed=1):
    """Returns (name, before, equal, different), programs as text, for each family."""
    return [(family.__name__, *family(random.Random(seed))) for family in FAMILIES]
