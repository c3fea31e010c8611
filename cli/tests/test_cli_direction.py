"""Tests the first line of a report: it agrees with every system call of every architecture, tried one by one.

The pairs are generated. Their filters allow and deny calls, with and without tests of arguments, on several architectures. A small
model in Python decides; the naive evaluator checks that the assembly is the same filter.
"""

import collections
import json
import random
import re

import pytest
from cli_tool import ROOT, evaluate, program, report, run, some, words_bytes

HOST = "x86_64"
AUDIT = {"x86_64": 0xC000003E, "i386": 0x40000003, "x32": 0xC000003E, "aarch64": 0xC00000B7, "arm": 0x40000028,
         "riscv64": 0xC00000F3, "s390x": 0x80000016, "ppc64le": 0xC0000015, "mips64": 0x80000008}
STRANGE = (0, 0x12345678)  # audit values that no architecture has
CALLS = {arch: {int(nr, 0): name for nr, name in re.findall(r'SECEQUIV_SYSCALL\((\w+), "(\w+)"\)',
                                                            (ROOT / "harness/seccomp/tables" / (arch + ".inc")).read_text())}
         for arch in AUDIT}
NAMED = {audit: {nr for arch in AUDIT if AUDIT[arch] == audit for nr in CALLS[arch]} for audit in AUDIT.values()}
KINDS = ("allowed", "looser", "stricter", "changed")
ALLOW, LOG = 0x7FFF0000, 0x7FFC0000
VALUES = (ALLOW, ALLOW, ALLOW, LOG, 0x7FF00000, 0x7FC00000, 0x50001, 0x50001, 0x50002, 0x30000, 0, 0x80000000)

NAMES = {0x80000000: "KILL_PROCESS", 0: "KILL_THREAD", 0x30000: "TRAP", 0x50000: "ERRNO", 0x7FC00000: "USER_NOTIF", 0x7FF00000: "TRACE",
         LOG: "LOG", ALLOW: "ALLOW"}


def kind_of(before, after):
    """Returns the effect of a changed return value on the caller, by the kernel's order of actions."""
    if before == after:
        return None
    first, second = [(value & 0xFFFF0000) - (value >> 31 << 32) for value in (before, after)]
    if first == second:
        return "changed"
    if second < first:
        return "stricter"
    return "allowed" if after in (ALLOW, LOG) and before not in (ALLOW, LOG) else "looser"


# A leaf is a return value, or (op, constant, yes, no): a test of the low half of the first argument.
# A section is a list of (op, number, leaf), then the leaf for all other numbers. A filter maps audit values to sections;
# None stands for all others.
def holds(op, value, constant):
    return value == constant if op == "jeq" else value >= constant


def decide(tree, audit, nr, word):
    rules, leaf = tree.get(audit) or tree[None]
    leaf = next((found for op, number, found in rules if holds(op, nr, number)), leaf)
    return leaf if isinstance(leaf, int) else leaf[2] if holds(leaf[0], word, leaf[1]) else leaf[3]


def asm(tree):
    lines, labels = [], iter(range(10000))

    def leaf(one):
        if isinstance(one, int):
            lines.append("ret #%#x" % one)
            return
        op, constant, yes, no = one
        label = "n%d" % next(labels)
        lines.extend(["ld [16]", "%s #%#x, y%s, %s" % (op, constant, label, label), "y%s: ret #%#x" % (label, yes),
                      "%s: ret #%#x" % (label, no)])

    def section(rules, otherwise):
        lines.append("ld [0]")
        for op, number, found in rules:
            label = "n%d" % next(labels)
            lines.append("%s #%#x, y%s, %s" % (op, number, label, label))
            lines.append("y%s:" % label)
            leaf(found)
            lines.append("%s:" % label)
        leaf(otherwise)

    lines.append("ld [4]")
    for audit, (rules, otherwise) in tree.items():
        if audit is not None:
            label = "n%d" % next(labels)
            lines.extend(["jeq #%#x, y%s, %s" % (audit, label, label), "y%s:" % label])
            section(rules, otherwise)
            lines.append("%s:" % label)
    section(*tree[None])
    return "\n".join(lines) + "\n"


def random_leaf(rng):
    if rng.random() < 0.6:
        return rng.choice(VALUES)
    yes, no = rng.choice(VALUES), rng.choice(VALUES)
    return rng.choice(("jeq", "jge")), rng.choice((1, 2, 3)), yes, no


def random_rule(rng):
    numbers = [rng.choice(sorted(CALLS[rng.choice(("x86_64", "i386", "x32", "aarch64"))])) for _ in range(3)]
    return rng.choice((("jeq", numbers[0]), ("jeq", numbers[1]), ("jeq", rng.choice((384, 5000, 0x40000200))),
                       ("jge", rng.choice((0x40000000, 300, 460, numbers[2]))))) + (random_leaf(rng),)


def random_section(rng):
    return [random_rule(rng) for _ in range(rng.randrange(4))], rng.choice((ALLOW, 0x50001, 0x80000000))


def random_tree(rng):
    audits = rng.sample([AUDIT["x86_64"], AUDIT["i386"], AUDIT["aarch64"], STRANGE[1]], rng.choice((0, 0, 1, 1, 2, 3)))
    return {**{audit: random_section(rng) for audit in audits}, None: random_section(rng)}


def changed(rng, tree):
    """Returns the filter with a few changes: rules dropped, added or replaced, or a section of an architecture added or replaced."""
    out = {audit: (list(rules), leaf) for audit, (rules, leaf) in tree.items()}
    for _ in range(rng.choice((1, 1, 2, 3))):
        audit = rng.choice(list(out))
        rules, leaf = out[audit]
        what = rng.randrange(6)
        if what <= 1:
            rules.insert(rng.randrange(len(rules) + 1), random_rule(rng))
        elif what == 2 and rules:
            rules.pop(rng.randrange(len(rules)))
        elif what == 3 and rules:
            at = rng.randrange(len(rules))
            rules[at] = rules[at][:2] + (random_leaf(rng),)
        elif what == 4:
            out[rng.choice([AUDIT["i386"], AUDIT["x86_64"]])] = random_section(rng)
        elif what == 5:
            out[audit] = (rules, rng.choice(VALUES))
    return out


def numbers_in(*trees):
    constants = {number for tree in trees for rules, _ in tree.values() for _, number, _ in rules}
    return {near & 0xFFFFFFFF for number in constants for near in (number - 1, number, number + 1)} | {5000, 0xFFFFFFFF}


class Truth:
    """The effect on every call: kinds[kind] maps (arch, nr) to whether the effect has that kind for all arguments."""

    def __init__(self, before, after):
        self.kinds = {kind: {} for kind in KINDS}
        self.unnamed = {kind: set() for kind in KINDS}  # audit values
        self.strange = set()  # kinds
        self.by_audit = collections.defaultdict(dict)
        self.worst = None
        self.actions = {}  # (arch, nr): pairs of actions
        more = numbers_in(before, after)
        everywhere = set().union(*NAMED.values()) | more
        for audit in list(NAMED) + list(STRANGE):
            for nr in everywhere:
                found = [(decide(before, audit, nr, word), decide(after, audit, nr, word)) for word in (0, 1, 2, 3, 4)]
                kinds = [kind_of(*one) for one in found]
                self.by_audit[audit][nr] = tuple(kinds)
                for kind in filter(None, set(kinds)):
                    self.add(kind, audit, nr, kinds)
                pairs = {tuple(NAMES[value & 0xFFFF0000] for value in one) for one in found}
                self.actions.update({(arch, nr): pairs for arch in AUDIT if AUDIT[arch] == audit})

    def add(self, kind, audit, nr, kinds):
        self.worst = min(self.worst or kind, kind, key=KINDS.index)
        if audit in STRANGE:
            self.strange.add(kind)
        elif nr not in NAMED[audit]:
            self.unnamed[kind].add(audit)
        for arch in AUDIT:
            if AUDIT[arch] == audit and nr in CALLS[arch]:
                self.kinds[kind][arch, nr] = set(kinds) == {kind}

    def of(self, kind, arch):
        return {key: always for key, always in self.kinds[kind].items() if key[0] == arch}


def check_document(direction, truth):
    """Checks the JSON form: every call of every architecture is listed, or one of the form's flags covers it."""
    assert direction["by_number"] == (len({tuple(sorted(row.items())) for row in truth.by_audit.values()}) == 1)
    for kind in KINDS:
        part = direction[kind]
        calls = {(call["arch"], call["nr"]): call["always"] for call in part["calls"]}
        for arch in AUDIT:
            listed = {key: always for key, always in calls.items() if key[0] == arch}
            real = truth.of(kind, arch)
            if direction["by_number"] and AUDIT[arch] != AUDIT[HOST]:
                real = {key: always for key, always in real.items() if arch == "i386" and key[1] not in NAMED[AUDIT[HOST]]}
            if listed != real:
                assert not listed and part["unknown_arches"] and AUDIT[arch] != AUDIT[HOST], (kind, arch)
        if part["unnamed_numbers"]:
            assert truth.unnamed[kind]
        elif AUDIT[HOST] in truth.unnamed[kind]:
            pytest.fail("numbers without a name")
        assert part["unknown_arches"] == (kind in truth.strange and not direction["by_number"]), kind


def items_of(text, by_number):
    """Returns ({(arch, name): always}, phrases) for one part of the line.

    `always` is true if the call is listed for all arguments. `phrases` are those that name no single call, such as "3 calls".
    """
    calls, words = {}, set()
    for group in text.split("; "):
        names, _, arches = group.partition(" on ")
        arches = arches.split(", ") if arches else [HOST]
        if group in ("numbers without a name", "calls on other architectures"):
            words.add(group)
        elif re.fullmatch(r"\d+ calls", names):
            words.add(names)
        elif names.startswith("every system call"):
            if " on " not in group:
                words.add(names)
                arches = [arch for arch in AUDIT if AUDIT[arch] == AUDIT[HOST]] if by_number else arches
            calls.update({(arch, name): "some" not in names for arch in arches for name in CALLS[arch].values()})
        else:
            for name in names.split(", "):
                calls.update({(arch, name.removesuffix(" (some arguments)")): name == name.removesuffix(" (some arguments)")
                              for arch in arches})
    return calls, words


ACTION = r"[A-Z][A-Z_]*(?:\([^)]*\))?"
MARKS = (("arches", r"the filters are for different architectures, (.*? before and .*? after) \(see --arch\); "),
         ("fallback", r"(default action .*? \(every call without a rule, .*?\))"), ("allowed", "(.*?) newly allowed"),
         ("looser", "(.*?: %s -> %s)" % (ACTION, ACTION)),
         ("by_number", r" \(on every architecture, by number(.*?)\)"), ("stricter", "(?:only )?stricter: (.*?)"),
         ("changed", "(?:other data of the same action|only the data of actions changed): (.*?)"))


def parts_of(line):
    """Returns the parts of the first line, by kind."""
    text = line.removeprefix("LOOSER: ")
    pattern = "(?:%s)?(?:%s)?(?:; )?(?:%s)?(?:; )?(?:%s)?(?:%s)?(?:; )?(?:%s)?(?:; )?(?:%s)?" % tuple(mark for _, mark in MARKS)
    found = re.fullmatch(pattern, text)
    assert found, line
    parts = {kind: found.group(i + 1) for i, (kind, _) in enumerate(MARKS)}
    loosens = bool(parts["fallback"] or parts["allowed"] or parts["looser"])
    assert line.startswith("LOOSER: ") == loosens, line
    assert ("only stricter: " in line) == (bool(parts["stricter"]) and not loosens), line
    return parts


def steps_of(text, by_number, truth):
    """Returns what items_of() returns, for all steps such as "read: KILL_PROCESS -> ERRNO(1 EPERM)" together. Checks their actions."""
    calls, words = {}, set()
    for names, before, after in re.findall(r"(.*?): (%s) -> (%s)(?:; |$)" % (ACTION, ACTION), text):
        found, more = items_of(names, by_number)
        words |= more
        for (arch, name), always in found.items():
            nr = next(nr for nr, one in CALLS[arch].items() if one == name)
            wanted = {(before.partition("(")[0], after.partition("(")[0])}
            assert always <= (truth.actions[arch, nr] == wanted) and wanted <= truth.actions[arch, nr], (arch, name, before, after)
            calls[arch, name] = always or ((arch, name) in calls)  # several steps together can cover all arguments
    return calls, words


def check_fallback(text, parts, truth, missing):
    """Checks the part about a changed default action: `missing` are the calls that the rest of the line lacks."""
    if not text:
        assert not missing
        return
    before, after, count = re.match(r"default action (\S+?)(?:\(.*?\))? -> (\S+?)(?:\(.*?\))? \(every call without a rule, (\d+) calls", text).groups()
    assert len({name for _, name in missing}) == int(count) > 40, text
    for arch, name in missing:
        nr = next(nr for nr, one in CALLS[arch].items() if one == name)
        assert truth.actions[arch, nr] == {(before, after)}, (arch, name)


def check_line(line, direction, truth):
    """Checks that the first line has everything that its JSON form has, and no more."""
    parts = parts_of(line)
    missing = set()
    for kind in KINDS:
        listed = {(call["arch"], call["name"]): call["always"] for call in direction[kind]["calls"]}
        flags = direction[kind]["unnamed_numbers"] or direction[kind]["unknown_arches"]
        if not parts[kind] and not (parts["fallback"] and kind in ("allowed", "looser")):
            assert not listed and not flags, line
            continue
        find = (lambda text, by_number: steps_of(text, by_number, truth)) if kind == "looser" else items_of
        calls, words = find(parts[kind], direction["by_number"]) if parts[kind] else ({}, set())
        if direction["by_number"]:
            other = {key for key in listed if key[0] == "i386"}
            if kind in ("allowed", "looser") and not parts["fallback"] and not any(word.startswith("every") for word in words):
                assert all(name in (parts["by_number"] or "") for _, name in other), line
            listed = {key: always for key, always in listed.items() if key not in other}
        if parts["fallback"] and kind in ("allowed", "looser"):
            rest = {key for key in listed if key not in calls}
            assert all(listed[key] for key in rest) and calls.items() <= listed.items(), line
            missing |= rest
            continue
        if not any(word.endswith("calls") for word in words):
            assert calls.keys() == listed.keys() and all(listed[key] or not calls[key] or kind == "looser" for key in listed), line
            assert kind == "looser" or calls == listed, line
        else:
            assert kind in ("stricter", "changed") or parts["arches"], "what loosens is never cut: " + line
        if any(direction[one]["unknown_arches"] for one in KINDS):
            assert not calls or " on " in parts[kind], "architectures are named if others differ too: " + line
        assert ("calls on other architectures" in words) == direction[kind]["unknown_arches"], line
    check_fallback(parts["fallback"], parts, truth, missing)


@pytest.mark.parametrize("seed", some(range(60), 20))
def test_the_first_line_is_true_of_every_system_call(seed, tmp_path):
    rng = random.Random(seed)
    before = random_tree(rng)
    after = changed(rng, before)
    files = [tmp_path / "before.asm", tmp_path / "after.asm"]
    for tree, path in zip((before, after), files):
        path.write_text(asm(tree))
        insns = program(path.read_text())
        for _ in range(40):
            words = [rng.choice(sorted(numbers_in(tree))), rng.choice(list(AUDIT.values())), 0, 0, rng.randrange(5)] + [0] * 11
            assert evaluate(insns, words_bytes(words)) == decide(tree, words[1], words[0], words[4])
    truth = Truth(before, after)
    document, _ = report("diff", *files)
    if not truth.worst:
        assert document["verdict"] == "equivalent"
        return
    direction = document["direction"]
    check_document(direction, truth)
    check_line(direction["summary"], direction, truth)
    proof, _ = report("prove", *files)
    shown = [int(proof["witness"][side]["value"], 16) for side in ("before", "after")]
    assert kind_of(*shown) == truth.worst and proof["direction"] == direction
    if seed % 10 == 0:
        for command in ("diff", "prove", "check"):
            assert run(command, *files).out.split("\n")[0] == direction["summary"]


STRICTER_FIRST = "ld [0]\njeq #0, read, next\nread: ret #%#x\nnext: jeq #59, execve, no\nexecve: ret #%#x\nno: ret #0x80000000\n"


@pytest.mark.parametrize("command", (["check"], ["prove"], ["prove", "--refines"]), ids=" ".join)
def test_the_witness_is_looser_even_if_a_smaller_input_is_stricter(command, tmp_path):
    before, after = tmp_path / "before.asm", tmp_path / "after.asm"
    before.write_text(STRICTER_FIRST % (ALLOW, 0x50001))
    after.write_text(STRICTER_FIRST % (0x50001, ALLOW))
    junit, sarif, markdown = [tmp_path / name for name in ("out.xml", "out.sarif", "out.md")]
    document, _ = report(*command, before, after, "--junit", junit, "--sarif", sarif, "--markdown", markdown)
    assert document["witness"]["data"]["syscall"] == "execve" and document["witness"]["after"]["action"] == "ALLOW"
    line = "LOOSER: execve newly allowed"
    lines = run(*command, before, after).out.splitlines()
    assert lines[0].startswith(line) and any(one.startswith("witness: nr=59 (execve)") for one in lines)
    assert lines[0].endswith("; stricter: read")
    for path in (junit, markdown):
        assert line in path.read_text() and "nr=59 (execve)" in path.read_text().replace("\\", "")
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert results[0]["message"]["text"].startswith(line)
    run("diff", before, after, "--junit", junit)
    assert line in junit.read_text()
