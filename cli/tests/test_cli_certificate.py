"""Tests `prove --certificate` and the two checkers: they accept valid certificates and refuse changed ones."""

import ast
import hashlib
import os
import random
import re
import shutil
import struct
import subprocess

import pytest
from cli_tool import MANIFEST, PROGRAMS, ROOT, Insn, evaluate, report, run

FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"
CHECKERS = {"dd": ROOT / "scripts" / "check_certificate", "z3": ROOT / "scripts" / "check_cnf_certificate"}
PAIRS = [pair for pair in MANIFEST["pairs"] if FULL or pair["name"] in ("gvisor-kvm", "gvisor-systrap", "libseccomp-allow306")]
cadical = pytest.mark.skipif(not shutil.which("cadical"), reason="cadical is not installed")
ENGINES = ["dd", pytest.param("z3", marks=cadical)]

BEFORE = """ld [4]
jeq #0xc000003e, ok
ret #0
ok: ld [0]
jeq #0, arg
jeq #1, arg
jeq #5, arg
jset #0x40000000, no, c
c: jgt #300, no, d
d: and #0xf
jeq #3, b
no: ret #0x50001
arg: ld [20]
jeq #0, b2
ret #0x50001
b2: ld [16]
jgt #7, no2
b: ret #0x7fff0000
no2: ret #0x50001
"""
AFTER = """ld [4]
jeq #0xc000003e, ok
ret #0
ok: ld [0]
jgt #300, no
jgt #5, rest
jeq #5, arg
jgt #1, rest
arg: ld [20]
jeq #0, b2, no
b2: ld [16]
jgt #7, no, yes
rest: and #0xf
jeq #3, yes
no: ret #0x50001
yes: ret #0x7fff0000
"""
# In these two programs, paths meet again after a combination of conditions, so the certificate has lemmas.
JOINS = "ld [16]\n%sret #0x50001\nyes: ret #0x7fff0000\n"


def joins(step):
    tests = ["ld [%d]\njeq #1, n%d\nld [%d]\njeq #2, n%d\nret #0\nn%d: " % (16 + 4 * i, i, 20 + 4 * i, i, i) for i in range(0, 10, step)]
    return JOINS % ("".join(tests) + "ld [56]\njgt #9, yes\n")


def check(engine, folder, *programs):
    """Runs the checker; returns its exit status and output."""
    done = subprocess.run([str(CHECKERS[engine]), str(folder), *map(str, programs)], capture_output=True, text=True, timeout=100)
    assert done.stderr == "" or done.returncode == 2, done.stderr
    return done.returncode, done.stdout + done.stderr


def raw(path, text):
    done = run("asm", "-", "--to", "raw", "-o", path, stdin=text)
    assert done.status == 0, done
    return path


@pytest.fixture
def pair(tmp_path):
    return raw(tmp_path / "before.bpf", BEFORE), raw(tmp_path / "after.bpf", AFTER)


def certify(tmp_path, engine, *arguments, name="certificate"):
    folder = tmp_path / name
    document, done = report("prove", *arguments, "--engine", engine, "--certificate", folder)
    assert done.status == 0 and document["certificate"]["written"], done
    return folder


def sealed(lines):
    """Returns the text of a certificate with these lines and a correct digest."""
    above = "".join(line + "\n" for line in lines[:-1])
    return above + "end %s\n" % hashlib.sha256(above.encode("latin-1")).hexdigest()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("real", PAIRS, ids=lambda real: real["name"])
def test_real_pairs_have_valid_certificates(engine, real, tmp_path):
    programs = [PROGRAMS / real["before"], PROGRAMS / real["after"]]
    for sides in (programs, programs[::-1])[:2 if engine == "dd" else 1]:
        folder = certify(tmp_path, engine, *sides)
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 16 << 20
        status, said = check(engine, folder, *sides)
        assert status == 0 and said.startswith("valid: "), said
        assert [line for line in said.split("\n")[1:3]] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in sides]
        assert check(engine, folder)[0] == 0
        assert check(engine, folder, *sides[::-1])[0] == 1, "the programs are others"


def test_the_report_names_the_files(pair, tmp_path):
    folder = tmp_path / "new" / "folder"
    done = run("prove", *pair, "--certificate", folder)
    assert done.status == 0 and "certificate: %s/walk.cert (" % folder in done.out
    written, size = report("prove", *pair, "--certificate", folder)[0]["certificate"], (folder / "walk.cert").stat().st_size
    assert written["files"] == [{"name": "walk.cert", "bytes": size}] and (written["path"], written["bytes"]) == (str(folder), size)
    assert [path.name for path in folder.iterdir()] == ["walk.cert"], "nothing temporary is left"


def test_a_pair_that_differs_has_no_certificate(pair, tmp_path):
    other = raw(tmp_path / "other.bpf", BEFORE.replace("#7, no2", "#8, no2"))
    document, done = report("prove", pair[0], other, "--certificate", tmp_path / "none")
    assert done.status == 1 and document["certificate"]["written"] is False and document["certificate"]["reason"]
    assert not (tmp_path / "none").exists()
    assert "not written" in run("prove", pair[0], other, "--certificate", tmp_path / "none").out


@cadical
def test_the_report_names_the_checkers(pair, tmp_path):
    said = run("prove", *pair, "--engine", "both", "--certificate", tmp_path).out
    assert re.findall(r"scripts/(\w+) %s" % tmp_path, said) == [path.name for path in CHECKERS.values()]


@pytest.mark.parametrize("options, word", [(["--refines"], "do not support refinement"), (["--assume", "nr == 1"], "do not support assumptions"), (["STACK"], "stacks")])
def test_refinement_assumptions_and_stacks_have_no_certificate(pair, tmp_path, options, word):
    one, other = map(str, pair)
    arguments = [one + "," + other, other] if options == ["STACK"] else [one, other] + options
    done = run("prove", *arguments, "--certificate", tmp_path / "none")
    assert done.status == 2 and word in done.err and not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_created_is_an_error(pair, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("prove", *pair, "--certificate", tmp_path / "file" / "below")
    assert done.status == 2 and "file/below" in done.err


@cadical
def test_arithmetic_identities_have_no_walk_certificate(tmp_path):
    """2 * A == A + A is provable bit by bit, but not with uninterpreted terms. The command reports this and leaves no file."""
    double, sum_of = [raw(tmp_path / name, "ld [0]\n%s\njeq #10, y\nret #0\ny: ret #0x7fff0000\n" % how)
                      for name, how in (("double", "mul #2"), ("sum", "tax\nadd x"))]
    done = run("prove", double, sum_of, "--certificate", tmp_path / "none")
    assert done.status == 3 and "no certificate" in done.err and not (tmp_path / "none").exists()
    folder = certify(tmp_path, "z3", double, sum_of)
    assert check("z3", folder, double, sum_of)[0] == 0


@cadical
def test_formulas_cover_every_operation(tmp_path):
    """Every operation occurs in a formula that is proven and that the checker derives again."""
    for i, (one, other) in enumerate([
            ("div #3", "ldx #3\ndiv x"), ("lsh #4", "ldx #36\nlsh x"), ("rsh #5", "ldx #5\nrsh x"), ("neg", "xor #0xffffffff\nadd #1"),
            ("and #0xff\nmul #3", "and #0xff\ntax\nlsh #1\nadd x"), ("or #0xf0", "and #0xffffff0f\nadd #0xf0"), ("sub #7", "add #0xfffffff9"),
            ("st M[3]\nld M[3]", "stx M[2]\ntax\ntxa"), ("ld #len", "ld #64"), ("ldx #len\ntxa", "ld #64")]):
        sides = [raw(tmp_path / ("%d%d" % (i, k)), "ld [0]\n%s\nret a\n" % how) for k, how in enumerate((one, other))]
        folder = certify(tmp_path, "z3", *sides, name="bits%d" % i)
        assert check("z3", folder, *sides)[0] == 0, (one, other)


@pytest.mark.parametrize("engine", ENGINES)
def test_certificates_for_behaviour_need_the_option_in_the_checker(engine, tmp_path):
    sides = [raw(tmp_path / name, "ld [0]\njeq #1, y\nret #%s\ny: ret #%s\n" % values)
             for name, values in (("one", ("0x7fff0001", "0x5ffff")), ("two", ("0x7fff0000", "0x50fff")))]
    folder = certify(tmp_path, engine, *sides, "--same", "behaviour")
    status, said = check(engine, folder, *sides, "--same", "behaviour")
    assert status == 0 and "behaviour" in said
    if engine == "dd":
        lines = (folder / "walk.cert").read_text().split("\n")[:-1]
        (folder / "walk.cert").write_text(sealed([line.replace("same behaviour", "same raw") for line in lines]))
    else:
        text = (folder / "query.cnf").read_text()
        (folder / "query.cnf").write_text(text.replace("c same behaviour", "c same raw"))
    assert check(engine, folder)[0] == 1


def test_a_missing_solver_is_unknown(pair, tmp_path):
    (tmp_path / "bin").mkdir()
    done = run("prove", *pair, "--engine", "z3", "--certificate", tmp_path / "none", env={**os.environ, "PATH": str(tmp_path / "bin")})
    assert done.status == 3 and "cadical" in done.err and not (tmp_path / "none").exists()


def test_a_solver_with_invalid_output_is_a_crash(pair, tmp_path):
    (tmp_path / "bin").mkdir()
    for script in ("exit 10", "cat >/dev/null; echo nonsense; exit 20", r"cat >/dev/null; printf 'a\004\000a\000'; exit 20", "exit 3"):
        (tmp_path / "bin" / "cadical").write_text("#!/bin/sh\n%s\n" % script)
        (tmp_path / "bin" / "cadical").chmod(0o755)
        done = run("prove", *pair, "--engine", "z3", "--certificate", tmp_path / "none",
                   env={**os.environ, "PATH": "%s:/usr/bin:/bin" % (tmp_path / "bin")})
        assert done.status == 5 and "cadical" in done.err and not (tmp_path / "none").exists(), done


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"], ["/no/such/file"]])
@pytest.mark.parametrize("engine", ["dd", "z3"])
def test_wrong_usage_of_the_checkers_is_an_error(engine, arguments):
    assert subprocess.run([str(CHECKERS[engine]), *arguments], capture_output=True).returncode == 2


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
    """The checker, imported as a module, so that thousands of certificates need no separate processes."""

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
    """nr & 0xf0 == 0xff is never true. If the checker assumed it where nr & 0xf0 is 0xf0, it would conclude nr > 0xfe and miss the difference at 0xf0."""
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
                status, said = check(engine, folder)
                assert status == 1 and said.startswith("refused: ") and said.count("\n") == 1, (at, said)
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


def test_the_checkers_work_is_bounded_by_the_size(tmp_path):
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


@cadical
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


@cadical
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


@cadical
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
