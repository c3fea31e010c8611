"""Tests that the proven checker and scripts/check_certificate give the same answer on every certificate and every forgery."""
# Annex: coq

import random
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor

import certificate_tool
import pytest
import test_cli_certificate_checkers as suite
from certificate_tool import AFTER, BEFORE, CHECKERS, certify, raw, sealed
from cli_tool import PROGRAMS, report
from evaluator import LONG

REAL = sorted(path.name[:-11] for path in (PROGRAMS / "gvisor").glob("*.before.bpf"))
LISTS = sorted(path.name[:-9] for path in (PROGRAMS / "libseccomp").glob("*.tree.bpf"))


def real_pair(name):
    if name in REAL:
        return [PROGRAMS / "gvisor" / ("%s.%s.bpf" % (name, side)) for side in ("before", "after")]
    return [PROGRAMS / "libseccomp" / ("%s.%s.bpf" % (name, side)) for side in ("linear", "tree")]


def proven(built, *arguments):
    """Runs secequiv-checker; returns its exit status and output."""
    done = subprocess.run([str(built / "secequiv-checker"), *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=100)
    return done.returncode, done.stdout + done.stderr


def python(*arguments):
    done = subprocess.run([str(CHECKERS["dd"]), *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=100)
    return done.returncode, done.stdout + done.stderr


def some_of(tried):
    """Returns every certificate. Outside `scripts/test proved`, returns every sixth of 300 or more."""
    return tried if LONG or len(tried) < 300 else tried[::6]


@pytest.fixture
def compared(built, tmp_path, monkeypatch):
    """Records each certificate that a test of the Python checker tries, with the answer. Afterwards, the proven checker must agree.
    Returns the recorded answers."""
    answers = {}
    original = suite.Checked.walk

    def walk(self, text):
        programs = original(self, text)
        answers[text] = programs is not None
        return programs

    monkeypatch.setattr(suite.Checked, "walk", walk)
    yield answers

    def answer(at, text):
        path = tmp_path / ("compared%d" % at)
        path.write_bytes(text.encode("latin-1"))
        status, output = proven(built, path, *(["--same", "behaviour"] if "\nsame behaviour" in text else []))
        path.unlink()
        assert status in (0, 1) and output.count("\n") == (1 if status else 3), output
        return status == 0

    tried = some_of(list(answers))
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(answer, range(len(tried)), tried))
    different = [text for text, mine in zip(tried, got) if mine != answers[text]]
    assert not different, (len(different), answers[different[0]], different[0])


@pytest.mark.parametrize("name", REAL + LISTS)
def test_the_certificates_of_real_pairs_are_valid(built, name, tmp_path):
    before, after = real_pair(name)
    folder = certify(tmp_path, "dd", before, after)
    status, output = proven(built, folder, before, after)
    assert status == 0, output
    assert output == python(folder, before, after)[1]
    assert proven(built, folder, after, before)[0] == 1 and proven(built, folder, before, before)[0] == 1


def test_pairs_that_only_behave_alike(built, tmp_path):
    texts = ["ld [0]\njeq #1, y\nret #0x%x\ny: ret #0x%x\n" % values for values in ((0x7FFF0000, 0x50FFF), (0x7FFF0007, 0x51FFF))]
    sides = [raw(tmp_path / ("side%d" % at), text.replace("0x50FFF", "0x50fff")) for at, text in enumerate(texts)]
    folder = tmp_path / "certificate"
    document, done = report("prove", *sides, "--same", "behaviour", "--certificate", folder)
    assert done.status == 0 and document["certificate"]["written"]
    assert proven(built, folder, *sides, "--same", "behaviour") == python(folder, *sides, "--same", "behaviour")
    assert proven(built, folder, *sides, "--same", "behaviour")[0] == 0
    assert proven(built, folder, *sides)[0] == 1
    text = (folder / "walk.cert").read_text()
    (folder / "walk.cert").write_text(sealed(text.replace("same behaviour", "same raw").split("\n")[:-1]))
    assert proven(built, folder, *sides)[0] == 1


@pytest.mark.parametrize("test", [suite.test_a_truncated_or_extended_certificate_is_refused,
                                  suite.test_a_certificate_for_other_programs_is_refused,
                                  suite.test_forged_certificates_are_refused,
                                  suite.test_a_literal_that_is_never_true_is_refused,
                                  suite.test_the_size_of_the_file_bounds_the_steps_of_the_checker,
                                  suite.test_optimized_random_programs_have_valid_certificates])
def test_both_checkers_agree_in_the_tests_of_the_other(compared, test, tmp_path):
    test(tmp_path)
    assert compared


def test_both_checkers_agree_on_changed_certificates(compared, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "FULL", False)
    suite.test_a_changed_certificate_is_refused_or_remains_valid(tmp_path)
    assert sum(compared.values()) > 10 and len(compared) > 4000


def test_both_checkers_agree_on_arithmetic(compared, tmp_path):
    """Programs that use all instructions, compared with themselves after an added instruction."""
    checked, rng, accepted = suite.Checked("dd"), random.Random(29), 0
    for at in range(150):
        text = suite.arithmetic(rng)
        sides = [raw(tmp_path / "one", text), raw(tmp_path / "other", "ld #0\n" + text)]
        document, done = report("prove", *sides, "--certificate", tmp_path / "c", "--timeout", "1")
        if document.get("certificate", {}).get("written"):
            accepted += checked.walk((tmp_path / "c" / "walk.cert").read_text()) is not None
    assert accepted > 50


def test_semantic_forgeries_are_refused(compared, tmp_path):
    """Each certificate is well-formed and has a correct digest, but its claims do not follow."""
    one = raw(tmp_path / "one", "ld [0]\njeq #1, y\nret #0\ny: ret #0x7fff0000\n").read_bytes()
    other = raw(tmp_path / "other", "ld [0]\njeq #1, y\nret #0\ny: ret #0\n").read_bytes()
    wraps = [raw(tmp_path / ("wrap%d" % k), "ld [0]\nadd #1\njgt #0, y\nret #%d\ny: ret #7\n" % k).read_bytes() for k in (1, 2)]
    memory = [raw(tmp_path / ("memory%d" % k), "ld [0]\nst M[0]\njeq #3, s, l\ns: ld #9\nst M[0]\nl: ld M[0]\njeq #%d, y\nret #0\ny: ret #1\n" % k
                  ).read_bytes() for k in (9, 8)]
    past = struct.pack("<HBBI", 0x20, 0, 0, 0) + struct.pack("<HBBI", 0x15, 9, 0, 1) + struct.pack("<HBBI", 6, 0, 0, 0)
    far = struct.pack("<HBBI", 5, 0, 0, 0xFFFFFFFF) + struct.pack("<HBBI", 6, 0, 0, 0)
    unset = struct.pack("<HBBI", 0x60, 0, 0, 3) + struct.pack("<HBBI", 6, 0, 0, 0)
    digest = "end " + "0" * 64
    cases = [
        # a claim under contradictory cases
        (one, other, ["lemma 0 1 1 bA=w0 aA=w0 w0:eq:ffffffff:1 w0:ne:ffffffff:1", "never", "main", "use 0"]),
        (one, other, ["main", "test 1 1", "never", "ret 2 2 c0"]),
        # a lemma that is true, where its premises do not hold: a literal, a register, an instruction
        (one, other, ["lemma 0 1 1 bA=w0 aA=w0 w0:ne:ffffffff:1", "ret 2 2 c0", "main", "use 0"]),
        (one, other, ["lemma 0 1 1 bA=c0 aA=c0", "ret 2 2 c0", "main", "use 0"]),
        (one, other, ["lemma 0 2 2", "ret 2 2 c0", "main", "test 1 1", "use 0", "use 0"]),
        (one, other, ["lemma 0 1 1 bA=w0 aA=w0 w1:eq:ffffffff:1", "use 0", "main", "use 0"]),
        # a bound that wraps: nr + 1 is a term of its own, and nr >= 0 states nothing about it
        (*wraps, ["main", "test 2 2", "ret 4 4 c7", "never"]),
        (*wraps, ["term 0 + w0 c1", "lemma 0 2 2 bA=t0 aA=t0 t0:ge:1", "ret 4 4 c7", "main", "use 0"]),
        (*wraps, ["term 0 + w0 c1", "lemma 0 2 2 bA=t0 aA=t0 w0:ge:1", "ret 4 4 c7", "main", "use 0"]),
        # an old value of M[0]
        (*memory, ["main", "test 2 2", "ret 8 7 c1", "test 6 6", "ret 8 8 c1", "ret 7 7 c0"]),
        (*memory, ["lemma 0 5 5 b0=w0 a0=w0 w0:ne:ffffffff:8 w0:ne:ffffffff:9", "ret 7 7 c0", "main", "use 0"]),
        # a jump past the end, and one that wraps; an unset word; an empty program
        (past, past, ["main", "test 1 1", "never", "ret 2 2 c0"]), (past, past, ["main", "ret 2 2 c0"]),
        (far, far, ["main", "ret 1 1 c0"]), (unset, unset, ["main", "ret 1 1 c0"]), (b"", b"", ["main", "never"]),
        (one, one, ["lemma 0 4 4", "never", "main", "use 0"]), (one, one, ["lemma 0 3 3", "ret 3 3 c7fff0000", "main", "use 0"]),
    ]
    checked = suite.Checked("dd")
    for before, after, lines in cases:
        assert checked.walk(suite.forged(before, after, lines)) is None, lines
    # the certificate of another pair, and a digest of another certificate
    fine = suite.forged(one, one, ["main", "test 1 1", "ret 3 3 c7fff0000", "ret 2 2 c0"])
    assert checked.walk(fine) is not None
    assert checked.walk(fine.replace("after " + suite.digits(one), "after " + suite.digits(other))) is None
    assert checked.walk(sealed(fine.replace("after " + suite.digits(one), "after " + suite.digits(other)).split("\n")[:-1])) is None
    assert checked.walk(re.sub("end .*", digest, fine)) is None


def test_valid_uses_of_knowledge(compared, tmp_path):
    """Each certificate is valid only with one kind of conclusion: bounds, bits, excluded values, or a few remaining values."""
    end = "yes: ret #1\nno: ret #0\n"
    programs = {
        "bounds": "ld [0]\njge #5, p, no\np: jgt #9, no, q\nq: jset #0xfffffff0, yes, no\n" + end,
        "excluded": "ld [0]\njge #2, p, no\np: jgt #4, no, q\nq: jeq #2, no, r\nr: jeq #3, no, s\ns: jeq #4, no, yes\n" + end,
        "masked": "ld [0]\nand #3\njeq #1, no, p\np: ld [0]\njset #1, q, no\nq: jset #2, no, yes\n" + end,
        "few": "ld [0]\njge #4, no, p\np: jeq #1, no, q\nq: jeq #2, no, r\nr: jset #1, s, no\ns: jge #3, no, yes\n" + end,
        "bits": "ld [0]\njset #4, p, no\np: jeq #0xffffff00, yes, no\n" + end,
        "prefix": "ld [0]\njge #0x80000000, p, no\np: jset #0x80000000, no, yes\n" + end,
    }
    checked = suite.Checked("dd")
    for name, text in programs.items():
        sides = [raw(tmp_path / name, text), raw(tmp_path / "zero", "ret #0\n")]
        folder = certify(tmp_path, "dd", *sides, name="proof-" + name)
        assert checked.walk((folder / "walk.cert").read_text()) is not None, name


def test_the_command_line(built, tmp_path):
    sides = [raw(tmp_path / "before", BEFORE), raw(tmp_path / "after", AFTER)]
    folder = certify(tmp_path, "dd", *sides)
    assert proven(built, folder / "walk.cert") == python(folder / "walk.cert")
    assert proven(built, folder, *sides) == python(folder, *sides)
    for arguments in ([], ["--help"], [folder, sides[0]], [folder, "--same", "other"], [folder, *sides, sides[0]], [tmp_path / "absent"],
                      [folder, tmp_path / "absent", sides[0]]):
        status, _ = proven(built, *arguments)
        assert status == python(*arguments)[0] == 2, arguments
    text = (folder / "walk.cert").read_text()
    lines = text.split("\n")[:-1]
    claims = [at for at, line in enumerate(lines) if line.startswith(("lemma", "main"))]
    for claim in claims:
        cases = next(at for at in range(claim, len(lines)) if lines[at].startswith("ret"))
        fields = lines[cases].split(" ")
        wrong = lines[:cases] + [" ".join(fields[:3] + ["c1234"])] + lines[cases + 1:]
        (folder / "walk.cert").write_text(sealed(wrong))
        status, output = proven(built, folder)
        assert status == 1 and output.startswith("refused: %s:%d: this claim does not follow" % (folder / "walk.cert", claim + 1)), output
    assert len(claims) > 1
    for at, line in ((2, "x"), (5, "term 0 + w0"), (6, "test 1 1 "), (8, "ret 01 1 c0")):
        lines = text.split("\n")[:-1]
        lines[at - 1] = line
        (folder / "walk.cert").write_text(sealed(lines))
        status, output = proven(built, folder)
        assert status == 1 and output.startswith("refused: %s:%d: " % (folder / "walk.cert", at)), output


def test_what_was_parsed_prints_back(built, tmp_path):
    """The checker prints the certificate that it parsed and compares: no other spelling of the same certificate is accepted."""
    one = raw(tmp_path / "one", "ld [0]\nst M[0]\nst M[2]\njeq #1, y\nret #0\ny: ret #0x7fff0000\n").read_bytes()

    def answer(line):
        path = tmp_path / "certificate"
        path.write_text(suite.forged(one, one, ["term 0 + w1 ca", line, "test 3 3", "ret 5 5 c7fff0000", "ret 4 4 c0", "main", "use 0"]))
        return proven(built, path)[0]

    assert answer("lemma 0 3 3 b0=w0 b2=w0 bA=w0 a0=w0 aA=w0") == 0
    for other in ("b2=w0 b0=w0 bA=w0 a0=w0 aA=w0", "bA=w0 b0=w0 b2=w0 a0=w0 aA=w0", "a0=w0 b0=w0 b2=w0 bA=w0 aA=w0", "b0=w0 b0=w0 b2=w0 bA=w0 aA=w0",
                  "b0=w0 b2=w0 bA=w0 bA=w0 aA=w0", "b00=w0 bA=w0 aA=w0", "b0=w00 bA=w0 aA=w0", "b0=w0 bA=w0 aA=w0 ", " b0=w0 bA=w0 aA=w0",
                  "b16=w0 bA=w0 aA=w0", "bA=w16 aA=w0", "bA=w0 aA=w0=w0", "bA=w0 aA=W0", "cA=w0 bA=w0 aA=w0", "bA=w0 aA=w0 w1:ne:1ffffffff:1",
                  "bA=w0 aA=w0 w1:ne:0f:1", "bA=w0 aA=w0 w1:ge:01", "w1:ge:1 bA=w0 aA=w0"):
        assert answer("lemma 0 3 3 " + other) == 1, other
    for other in ("lemma 00 3 3", "lemma 1 3 3", "lemma 0 03 3", "lemma  0 3 3"):
        assert answer(other + " bA=w0 aA=w0") == 1, other
    assert answer("lemma 0 3 3 bA=w0 aA=w0") == 0
    # a lemma that is proven but not used
    unused = ["lemma 0 3 3 bA=w0 aA=w0 %s", "test 3 3", "ret 5 5 c7fff0000", "ret 4 4 c0", "main", "test 3 3", "ret 5 5 c7fff0000", "ret 4 4 c0"]
    for literal, status in (("w15:ne:1:1", 0), ("w16:ne:1:1", 1), ("w1:ne:1:1", 0), ("w1:ne:1:2", 1), ("w1:ge:0", 1), ("c1:ne:1:1", 1), ("t0:ne:1:1", 1)):
        path = tmp_path / "certificate"
        path.write_text(suite.forged(one, one, [line.replace("%s", literal) for line in unused]))
        assert proven(built, path)[0] == python(path)[0] == status, literal


def test_deeply_nested_cases(built, tmp_path):
    """A chain of thousands of tests, each below the one before."""
    text = "ld [0]\n" + "".join("jeq #%d, y\n" % k for k in range(4000)) + "ret #0\ny: ret #1\n"
    text = re.sub(r"jeq #(\d+), y\n", lambda test: "jeq #%s, y%s, n%s\ny%s: ret #1\nn%s: " % ((test[1],) * 5), text)
    path = raw(tmp_path / "chain", text)
    folder = certify(tmp_path, "dd", path, path)
    assert proven(built, folder, path, path)[0] == 0
    assert certificate_tool.check("dd", folder, path, path)[0] == 0
