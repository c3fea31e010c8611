"""Tests that the two checkers of certificates accept valid certificates and refuse changed ones."""

import ast
import random
import re
import struct

import pytest
from certificate_tool import AFTER, BEFORE, CHECKERS, ENGINES, FULL, certify, check, joins, pair, raw, sealed  # noqa: F401
from cli_tool import Insn, evaluate, report, run


def other_field(field):
    """Returns other values for a field."""
    yield field + "0"
    yield field[:-1]
    for at in range(len(field)):
        yield field[:at] + ("1" if field[at] != "1" else "2") + field[at + 1:]
    if field.isdigit():
        yield str(int(field) + 1)
        yield "-" + field
        yield "0" + field
        yield str(int(field) + (1 << 32))
    for one, other in ((":eq:", ":ne:"), (":ne:", ":eq:"), (":ge:", ":lt:"), (":lt:", ":ge:"), ("bA", "aA"), ("bA", "bX"), ("w4", "w5")):
        if one in field:
            yield field.replace(one, other)
    yield from ("", "x", "0", "never", "use", "test", "ret", "lemma", "main", "NaN", "1_0", "True", "١")


def walks(tmp_path):
    programs = [(BEFORE, AFTER), (joins(2), joins(2).replace("jgt #9, yes", "jgt #8, more, no\nmore: jeq #9, no, yes2\nyes2: ja yes\nno: ret #0x50001"))]
    for at, texts in enumerate(programs):
        sides = [raw(tmp_path / ("walk%d%d" % (at, k)), text) for k, text in enumerate(texts)]
        folder = certify(tmp_path, "dd", *sides, name="walks%d" % at)
        yield folder / "walk.cert", sides


class Checked:
    """Imports the checker as a module, so that thousands of certificates need no separate processes."""

    def __init__(self, engine):
        import importlib.machinery
        import importlib.util
        loader = importlib.machinery.SourceFileLoader("checker_" + engine, str(CHECKERS[engine]))
        self.module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(self.module)

    def walk(self, text):
        """Returns the programs if the checker accepts the certificate, otherwise None."""
        checker = self.module.Checker(text, "behaviour" if "\nsame behaviour" in text else "raw")
        try:
            checker.check()
        except self.module.Refused:
            return None
        return [b"".join(struct.pack("<HBBI", *insn) for insn in program) for program in checker.programs]

    def formula(self, query, proof):
        head = re.match("c secequiv cnf certificate 1\nc same (raw|behaviour)\nc before ([0-9a-f]+)\nc after ([0-9a-f]+)\n", query)
        if not head:
            return False
        try:
            text, clauses = self.module.formula(head.groups()[1:], head[1])
            if text != query:
                return False
            lines = proof.split("\n")
            if lines.pop() != "":
                return False
            self.module.check_proof(lines, clauses)
        except self.module.Refused:
            return False
        return True


def same_for_all(tmp_path, programs):
    paths = [tmp_path / ("same%d.bpf" % k) for k in range(2)]
    for path, program in zip(paths, programs):
        path.write_bytes(program)
    return run("prove", *paths).status == 0


def test_a_changed_certificate_is_refused_or_remains_valid(tmp_path):
    """With the old digest, every changed certificate is refused. With a corrected digest, an accepted one must still be true."""
    checked, changed, harmless = Checked("dd"), 0, []
    lemmas = 0
    for path, sides in walks(tmp_path):
        text = path.read_text()
        lines = text.split("\n")[:-1]
        lemmas += sum(line.startswith("lemma") for line in lines)
        programs = checked.walk(text)
        assert programs == [side.read_bytes() for side in sides]
        variants = set()
        for at, line in enumerate(lines):
            fields = line.split(" ")
            for k, field in enumerate(fields):
                pick = list(other_field(field))
                if line.startswith(("before", "after")) and k == 1 and not FULL:
                    pick = random.Random(1).sample(pick, 150)
                for other in pick:
                    variants.add((at, " ".join(fields[:k] + [other] + fields[k + 1:])))
            variants.update([(at, None), (at, line + "\n" + line), (at, line + " "), (at, line + " 0"), (at, " " + line), (at, line + "\r"),
                             (at, line.upper())])
        for at, other in sorted(variants, key=str):
            if other == lines[at]:
                continue
            other = other and other.encode().decode("latin-1")
            new = lines[:at] + ([] if other is None else other.split("\n")) + lines[at + 1:]
            assert checked.walk("".join(line + "\n" for line in new)) is None, (at, other)
            changed += 1
            if at == len(lines) - 1:
                continue
            accepted = checked.walk(sealed(new))
            if accepted is not None:
                assert same_for_all(tmp_path, accepted), (at, other)
                harmless.append((at, lines[at], other))
    assert changed > 2000 and lemmas > 0
    # The checker accepts only changes of a jump that no input takes, and of a lemma's literal that is stronger than necessary.
    assert all(before.startswith(("before", "after", "lemma")) for _, before, _ in harmless), harmless
    assert sum(before.startswith("lemma") for _, before, _ in harmless) < changed / 50, harmless


def test_a_truncated_or_extended_certificate_is_refused(tmp_path):
    checked = Checked("dd")
    for path, _ in walks(tmp_path):
        text = path.read_text()
        for bad in (text + "x", text + "\n", text[:-1], text + text, "", "\n", text.replace("\n", "\r\n"), "\xef\xbb\xbf" + text):
            assert checked.walk(bad) is None
        lines = text.split("\n")[:-1]
        for at in range(len(lines) - 1):
            assert checked.walk(sealed(lines[:at] + lines[-1:])) is None
            assert checked.walk("\n".join(lines[:at])) is None


def digits(program):
    return "".join("%04x%02x%02x%08x" % insn for insn in struct.iter_unpack("<HBBI", program))


def test_a_certificate_for_other_programs_is_refused(tmp_path):
    """The test changes an instruction of a program in the certificate. The checker refuses this, unless the change has no effect."""
    checked, rng, refused, accepted = Checked("dd"), random.Random(7), 0, 0
    for path, sides in walks(tmp_path):
        lines = path.read_text().split("\n")[:-1]
        for side in range(2):
            program = sides[side].read_bytes()
            for _ in range(500 if FULL else 300):
                insns = [list(insn) for insn in struct.iter_unpack("<HBBI", program)]
                insn = rng.choice(insns)
                what = rng.randrange(4)
                if what == 0:
                    insn[0] = rng.choice([0x15, 0x25, 0x35, 0x45, 0x20, 0x06, 0x54, 0x05, 0x16, 0x04])
                elif what < 3:
                    insn[what] = rng.choice([0, 1, 2, 3, insn[what] ^ 1])
                else:
                    insn[3] = rng.choice([insn[3] ^ 1 << rng.randrange(32), insn[3] + 1 & 0xFFFFFFFF, 0, 4, 20, 0x50001, 0x7FFF0000])
                mutant = b"".join(struct.pack("<HBBI", *insn) for insn in insns)
                new = [("before ", "after ")[side] + digits(mutant) if at == 2 + side else line for at, line in enumerate(lines)]
                if checked.walk(sealed(new)) is None:
                    refused += 1
                elif mutant != program:
                    accepted += 1
                    assert same_for_all(tmp_path, [mutant, sides[1 - side].read_bytes()]), mutant.hex()
    assert refused > accepted > 0  # changes of fields that an instruction does not use are accepted


def forged(one, other, cases):
    return sealed(["secequiv walk certificate 1", "same raw", "before " + digits(one), "after " + digits(other), *cases, "end"])


def test_forged_certificates_are_refused(tmp_path):
    """The two programs differ if nr is 1; the checker refuses all claims that they are equivalent."""
    checked = Checked("dd")
    one = raw(tmp_path / "one", "ld [0]\njeq #1, y\nret #0\ny: ret #0x7fff0000\n").read_bytes()
    other = raw(tmp_path / "other", "ld [0]\njeq #1, y\nret #0\ny: ret #0\n").read_bytes()
    fine = ["main", "test 1 1", "ret 3 3 c7fff0000", "ret 2 2 c0"]
    assert checked.walk(forged(one, one, fine)) == [one, one]
    lemma = "lemma 0 1 1 bA=w0 aA=w0"
    for cases in (fine, fine[:2] + fine[3:], fine[:3], ["main"], ["main", "never"], ["main", "use 0"], ["main", "test 1 1", "never", "ret 2 2 c0"],
                  ["main", "test 1 1", "use 0", "ret 2 2 c0"], ["main", "test 1 1", "ret 2 2 c0", "ret 2 2 c0"], ["main", "ret 2 2 c0"],
                  # a lemma that uses itself, is empty, assumes too much, or assumes a literal that is never true
                  [lemma, "use 0", "main", "use 0"], [lemma, "main", "use 0"], [lemma + " w0:ne:ffffffff:1", "ret 2 2 c0", "main", "use 0"],
                  [lemma + " w0:eq:f0:ff", "never", "main", "use 0"], [lemma + " w0:eq:1:1 w0:eq:1:0", "never", "main", "use 0"],
                  [lemma + " w0:ge:0", "ret 2 2 c0", "main", "use 0"], [lemma + " w0:lt:0", "never", "main", "use 0"],
                  [lemma + " c5:eq:ffffffff:6", "never", "main", "use 0"], ["lemma 0 2 2", "ret 2 2 c0", "main", "use 0"],
                  ["lemma 0 1 1 bA=c0 aA=c0", "ret 2 2 c0", "main", "use 0"], ["lemma 0 1 1", "ret 2 2 c0", "main", "use 0"],
                  ["lemma 0 1 1 bA=c0 aA=c0 bA=w0 aA=w0", "ret 2 2 c0", "main", "use 0"], ["lemma 0 9 9", "ret 2 2 c0", "main", "use 0"],
                  ["lemma 0 1", "main", "use 0"], ["lemma", "main"], ["lemma 0 -1 1", "main"], ["term 0 / c1 c0", "main", "use t0"],
                  ["term 0 + w0", "main"], ["term 1 + w0 w1", "main"], ["term 0 + t0 w1", "main"], ["term 0 w w0 c0", "main"],
                  [lemma + " w16:eq:1:1", "main"], [lemma + " w0:eq:1ffffffff:1", "main"], [lemma + " w0:eq:ffffffff", "main"]):
        for case in (one, other), (other, one):
            assert checked.walk(forged(*case, cases)) is None, cases


def test_a_literal_that_is_never_true_is_refused(tmp_path):
    """nr & 0xf0 == 0xff is never true. If the checker assumed it where nr & 0xf0 is 0xf0, it would conclude nr > 0xfe and miss the
    difference at 0xf0."""
    text = "ld [0]\nand #0xf0\njeq #0xf0, y\nret #0\ny: ld [0]\njgt #0xfe, z\nret #%d\nz: ret #0\n"
    one, other = [raw(tmp_path / str(k), text % k).read_bytes() for k in (1, 2)]
    cases = ["lemma 0 5 5 bA=w0 aA=w0 w0:eq:f0:ff", "ret 7 7 c0", "main", "test 2 2", "use 0", "ret 3 3 c0"]
    assert Checked("dd").walk(forged(one, other, cases)) is None


@pytest.mark.parametrize("engine", ENGINES)
def test_corrupted_files_are_refused_with_line_and_reason(engine, pair, tmp_path):
    """The checker, run as a process, refuses any changed bytes and names the line and the reason."""
    folder, rng = certify(tmp_path, engine, *pair), random.Random(23)
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        for at in rng.sample(range(len(good)), 8):
            for bad in (good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1:], good[:at], good[:at] + rng.randbytes(9) + good[at:]):
                path.write_bytes(bad)
                status, output = check(engine, folder)
                assert status == 1 and output.startswith("refused: ") and output.count("\n") == 1, (at, output)
        path.write_bytes(b"")
        assert check(engine, folder)[0] == 1
        path.write_bytes(good)
    if engine == "z3":  # a missing clause, and an added clause that makes any proof easy
        good = (folder / "query.cnf").read_text().split("\n")
        for lines in (good[:-2] + good[-1:], good[:-1] + ["-1 0", ""]):
            (folder / "query.cnf").write_text("\n".join(lines))
            assert check(engine, folder)[0] == 1
        count = int(good[4].split()[3])
        (folder / "query.cnf").write_text("\n".join(good[:4] + ["p cnf %s %d" % (good[4].split()[2], count + 1)] + good[5:-1] + ["-1 0", ""]))
        (folder / "proof.lrat").write_text("%d 0 1 %d 0\n" % (count + 2, count + 1))
        assert check(engine, folder)[0] == 1


def test_the_size_of_the_file_bounds_the_steps_of_the_checker(tmp_path):
    """The checker allows a number of steps in proportion to the size of the file, so quadratic work is refused."""
    checked = Checked("dd")
    long = b"".join(struct.pack("<HBBI", 0x20, 0, 0, 0) for _ in range(200000)) + struct.pack("<HBBI", 6, 0, 0, 0)
    assert checked.walk(forged(long, long, ["main", "ret 200000 200000 c0"])) == [long, long]
    body = "".join("ld [16]\njeq #%d, n%d\nn%d: " % (k, k, k) for k in range(60))
    mess = raw(tmp_path / "mess", body + "ret #0\n").read_bytes()
    assert checked.walk(forged(mess, mess, ["main", "ret 120 120 c0"])) is not None
    checker = checked.module.Checker("x" * 10, "raw")
    with pytest.raises(checked.module.Refused):
        checker.work(641)


def test_a_changed_formula_is_refused(pair, tmp_path):
    folder = certify(tmp_path, "z3", *pair)
    checked, rng = Checked("z3"), random.Random(3)
    query, proof = (folder / "query.cnf").read_text(), (folder / "proof.lrat").read_text()
    assert checked.formula(query, proof)
    lines = query.split("\n")
    for at in sorted({0, 1, 2, 3, 4, 5, len(lines) - 2, *rng.sample(range(len(lines) - 1), 40)}):
        for other in ([], [lines[at]] * 2, [lines[at] + " "], [re.sub("[0-9]", lambda d: "1" if d[0] != "1" else "2", lines[at], count=1)],
                      ["-" + lines[at]]):
            if other == [lines[at]]:
                continue
            assert not checked.formula("\n".join(lines[:at] + other + lines[at + 1:]), proof), (at, other)
    assert not checked.formula(query + "1 0\n", proof) and not checked.formula(query[:-1], proof)
    # The file has another program and the correct formula of that program, but the refutation of the original formula.
    other = raw(tmp_path / "other.bpf", AFTER.replace("jgt #7", "jgt #8")).read_bytes()
    sides = [digits(pair[0].read_bytes()), digits(other)]
    assert not checked.formula(checked.module.formula(sides, "raw")[0], proof)


def test_a_changed_refutation_is_refused(pair, tmp_path):
    folder = certify(tmp_path, "z3", *pair)
    checked, refused, harmless = Checked("z3"), 0, 0
    query, proof = (folder / "query.cnf").read_text(), (folder / "proof.lrat").read_text()
    lines = proof.split("\n")
    rng = random.Random(5)
    for at in range(len(lines) - 1):
        fields = lines[at].split(" ")
        for k in rng.sample(range(len(fields)), min(len(fields), 6)):
            for other in ("0", "-" + fields[k], fields[k] + "1", "x", None):
                new = " ".join(fields[:k] + ([] if other is None else [other]) + fields[k + 1:])
                if checked.formula(query, "\n".join(lines[:at] + [new] + lines[at + 1:])):
                    harmless += 1  # a literal left out of a clause that is implied without it
                else:
                    refused += 1
    assert refused > 20 * harmless
    for bad in ("", "\n", "\n".join(lines[:-2]) + "\n", proof + lines[-2] + "\n", proof[:-1], "1 0 0\n", "1 0 1 0\n", " ".join(lines)):
        assert not checked.formula(query, bad), bad[:50]
    # A satisfiable formula has no refutation, so the checker must refuse every list of hints.
    other = raw(tmp_path / "other.bpf", AFTER.replace("jgt #7", "jgt #8")).read_bytes()
    text, clauses = checked.module.formula([digits(pair[0].read_bytes()), digits(other)], "raw")
    for _ in range(200):
        hints = [rng.randint(1, len(clauses)) for _ in range(rng.randint(1, 9))]
        assert not checked.formula(text, "%d 0 %s 0\n" % (len(clauses) + 1, " ".join(map(str, hints))))


def random_program(rng):
    """Returns a small random program as bpf_asm text."""
    out, count = [], rng.randint(4, 14)
    for at in range(count):
        kind = rng.random()
        if kind < 0.35 or at == 0:
            out.append("ld [%d]" % rng.choice([0, 4, 16, 20]))
        elif kind < 0.45:
            out.append(rng.choice(["and #0x3", "and #0xff", "and #0xfffffffe", "add #1", "rsh #4", "tax", "txa", "ldx #3", "ld #2", "or #4"]))
        elif at < count - 1:
            test = rng.choice(["jeq", "jgt", "jge", "jset"])
            operand = "x" if rng.random() < 0.1 else "#%d" % rng.choice([0, 1, 2, 3, 4, 5, 8, 255, 0xFFFFFFFF])
            out.append("%s %s, l%d, l%d" % (test, operand, rng.randint(at + 1, count - 1), rng.randint(at + 1, count - 1)))
        else:
            out.append("ld [0]")
    lines = ["l%d: %s" % item for item in enumerate(out)]
    for at in range(len(lines) - 1, 1, -1):
        if rng.random() < 0.3:
            lines.insert(at, "ret #0x%x" % rng.choice([0, 0x50001, 0x7FFF0000]))
    return "\n".join(lines) + "\nret #%d\n" % rng.choice([0, 0x7FFF0000])


def test_optimized_random_programs_have_valid_certificates(tmp_path):
    """Pairs from the reference optimizer have valid certificates, and no certificate is valid for another pair."""
    checked, rng, made, refused = Checked("dd"), random.Random(11), [], 0
    for at in range(60 if FULL else 25):
        before = raw(tmp_path / "before.bpf", random_program(rng))
        after = tmp_path / "after.bpf"
        assert run("optimize", before, "--to", "raw", "-o", after).status == 0
        document, done = report("prove", before, after, "--certificate", tmp_path / "c")
        if done.status == 3:
            refused += 1
            continue
        text = (tmp_path / "c" / "walk.cert").read_text()
        assert checked.walk(text) == [before.read_bytes(), after.read_bytes()], text
        made.append((text.split("\n")[:-1], before.read_bytes()))
    assert len(made) > 10 * refused
    for lines, program in made:
        for _, other in made:
            new = lines[:3] + ["after " + digits(other)] + lines[4:]
            accepted = checked.walk(sealed(new))
            assert accepted is None or same_for_all(tmp_path, [program, other])


def arithmetic(rng):
    """Returns a random program that uses all instructions and returns a computed value."""
    out = ["ld [0]", "st M[0]", "ld [16]", "tax"]
    for _ in range(rng.randint(2, 8)):
        out.append(rng.choice(["ld [%d]" % rng.choice([0, 4, 16, 20, 60]), "st M[0]", "stx M[0]", "ld M[0]", "ldx M[0]", "tax", "txa", "ld #len", "ldx #len",
                               "ldx #%d" % rng.choice([0, 1, 7, 33]), "neg", *["%s %s" % (op, rng.choice(["x", "#%d" % rng.choice([1, 3, 17, 31])]))
                                                                               for op in ("add", "sub", "mul", "div", "and", "or", "xor", "lsh", "rsh")]]))
        if rng.random() < 0.5:
            out.append("%s %s, l%d, m%d\nl%d: %s\nm%d: %s" % (
                rng.choice(["jeq", "jgt", "jge", "jset"]), rng.choice(["x", "#%d" % rng.choice([0, 1, 5, 1 << 31])]), len(out), len(out),
                len(out), rng.choice(["add x", "txa", "ret a", "ldx #9"]), len(out), rng.choice(["sub #1", "tax", "and #255"])))
    return "\n".join(out) + "\nret a\n"


def words_of(rng):
    return [rng.choice([0, 1, 5, 17, 0x80000000, 0xFFFFFFFF, rng.getrandbits(32), rng.getrandbits(4)]) for _ in range(16)]


def test_both_checkers_agree_with_the_naive_evaluator(tmp_path):
    """Compares both checkers with the naive evaluator on all instructions."""
    walk, formula, rng = Checked("dd"), Checked("z3"), random.Random(13)

    def term(word, words):
        if isinstance(word, int):
            return word
        if word.operation == "word":
            return words[word.left]
        return walk.module.calculate(word.operation, term(word.left, words), term(word.right, words))

    for _ in range(150 if FULL else 40):
        program = raw(tmp_path / "program", arithmetic(rng)).read_bytes()
        insns = list(struct.iter_unpack("<HBBI", program))
        gates = formula.module.Gates()
        result = formula.module.returned(gates, formula.module.load(digits(program), "it"), "raw")
        assert walk.module.load(digits(program), "it") == insns
        for words in (words_of(rng) for _ in range(8)):
            expected = evaluate([Insn(*insn) for insn in insns], struct.pack("<16I", *words))
            facts = {}
            for i, word in enumerate(words):
                facts = walk.module.learn(facts, walk.module.Literal(walk.module.WORDS[i], "eq", 0xFFFFFFFF, word, True), lambda amount: None)
            pc, start = 0, {"A": 0, "X": 0}
            while True:  # the checker does not decide a test of a computed value, because terms are uninterpreted
                pc, start, test, value = walk.module.run(insns, pc, start, facts, lambda amount: None)
                if test is None:
                    break
                known = term(test.term, words)
                facts = walk.module.learn(facts, walk.module.Literal(test.term, "eq", 0xFFFFFFFF, known, True), lambda amount: None)
            assert term(value, words) == expected, (insns, words)
            bits = {1: True, **{2 + 32 * i + b: bool(word >> b & 1) for i, word in enumerate(words) for b in range(32)}}

            def true(literal):
                return bits[abs(literal)] == (literal > 0)
            for at, (kind, *inputs) in enumerate(gates.made, 514):
                a, b, *c = map(true, inputs)
                bits[at] = a and b if kind == "and" else a != b if kind == "xor" else b if a else c[0]
            assert sum(1 << b for b, literal in enumerate(result) if true(literal)) == expected, (insns, words)


def test_the_checker_derives_the_same_formula(tmp_path):
    """The checker derives the same formula from random programs as the prover."""
    rng = random.Random(17)
    for at in range(30 if FULL else 8):
        text = arithmetic(rng).replace("mul x", "mul #3").replace("div x", "div #5")
        one, other = raw(tmp_path / "one", text), raw(tmp_path / "other", "ld #0\n" + text)
        folder = certify(tmp_path, "z3", one, other)
        assert check("z3", folder, one, other)[0] == 0, text


def test_the_checkers_need_only_the_standard_library():
    for path in CHECKERS.values():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert imported <= {"hashlib", "os", "re", "struct", "sys", "typing"}
        assert "__import__" not in path.read_text() and "importlib" not in path.read_text()
