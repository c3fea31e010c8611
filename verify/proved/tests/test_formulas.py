"""Tests that the proven checker and scripts/check_cnf_certificate print the same for every query.cnf and proof.lrat, valid or forged."""
# Annex: coq

import contextlib
import io
import random
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
import test_cli_certificate_checkers as suite
from certificate_tool import certify, pair, raw  # noqa: F401
from cli_tool import report
from evaluator import LONG
from naive import random_programs
from test_checker import LISTS, REAL, proven, real_pair, some_of
from test_evaluator import nearly_legal

SLOW = ("docker-x86_64", "podman-x86_64")  # the searches for their proofs take longest
FORMULAS = suite.Checked("z3").module


def python(*arguments):
    """Runs the Python checker in this process; returns its exit status and output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = FORMULAS.main(list(map(str, arguments)))
    return status, out.getvalue()


def mode_of(query):
    return ["--same", "behaviour"] if "\nc same behaviour\n" in query else []


@pytest.fixture
def agree(built, tmp_path):
    """Compares the checkers on pairs of query.cnf and proof.lrat; returns the exit statuses and the reasons for refusals."""
    def compare(certificates):
        certificates = list(certificates)
        folders = [tmp_path / ("agree%d" % at) for at in range(len(certificates))]
        arguments = []
        for folder, (query, proof) in zip(folders, certificates):
            folder.mkdir()
            (folder / "query.cnf").write_bytes(query.encode("latin-1"))
            (folder / "proof.lrat").write_bytes(proof.encode("latin-1"))
            arguments.append([folder, *mode_of(query)])
        with ThreadPoolExecutor(4) as pool:
            mine = list(pool.map(lambda each: proven(built, *each), arguments))
        theirs = [python(*each) for each in arguments]
        for got, want, certificate in zip(mine, theirs, certificates):
            assert got == want, (got, want, certificate[0][:200], certificate[1][:200])
        for folder in folders:
            shutil.rmtree(folder)
        return [(status, "" if status == 0 else out.split(": ", 2)[-1]) for status, out in mine]
    return compare


def query_of(programs, same="raw"):
    """Returns the query.cnf of two programs, as the Python checker makes it; only its heading if the checker refuses the programs."""
    digits = ["".join("%04x%02x%02x%08x" % tuple(insn) for insn in program) for program in programs]
    try:
        return FORMULAS.formula(digits, same)[0]
    except FORMULAS.Refused:
        return "c secequiv cnf certificate 1\nc same %s\nc before %s\nc after %s\n" % (same, *digits)


NO_PROOF = "x\n"
REFUSED_PROOF = "expected 'ID LITERAL... 0 HINT... 0'\n"  # the checkers come to the proof only if the bytes of query.cnf are right


@pytest.mark.parametrize("name", REAL + LISTS)
def test_the_formulas_of_real_pairs_have_the_same_bytes(agree, name):
    programs = [FORMULAS.struct.iter_unpack("<HBBI", path.read_bytes()) for path in real_pair(name)]
    before, after = map(list, programs)
    pairs = [(before, after), (after, before), (before, before)] if LONG else [(before, after)]
    queries = [query_of(sides, same) for same in ("raw", "behaviour") for sides in pairs]
    assert all(reason == REFUSED_PROOF for _, reason in agree((query, NO_PROOF) for query in queries))


@pytest.mark.parametrize("name", REAL + [name for name in LISTS if LONG or name not in SLOW])
def test_the_certificates_of_real_pairs_are_valid(built, name, tmp_path):
    before, after = real_pair(name)
    folder = certify(tmp_path, "z3", before, after)
    status, output = proven(built, folder, before, after)
    assert status == 0 and (status, output) == python(folder, before, after)
    swapped = proven(built, folder, after, before)
    assert swapped[0] == 1 and swapped == python(folder, after, before)


def test_the_formulas_of_random_programs_have_the_same_bytes(agree):
    """Random programs with every instruction, and programs that the kernel refuses; compared as raw values and as behaviour."""
    rng, seen = random.Random(31), []
    for _ in range(20 if LONG else 2):
        queries = []
        for _ in range(100):
            sides = [nearly_legal(rng) or [(6, 0, 0, 0)] for _ in range(2)]
            if rng.random() < 0.7:
                sides = [random_programs.program(rng, rng.choice([3, 8, 20])) for _ in range(2)]
            same = rng.choice(["raw", "raw", "behaviour"])
            if same == "behaviour" and rng.random() < 0.7:
                sides = [[(6, 0, 0, insn[3]) if insn[0] == 0x16 else insn for insn in program] for program in sides]
            queries.append(query_of(sides, same))
        seen += agree((query, NO_PROOF) for query in queries)
    reasons = [reason for _, reason in seen]
    assert reasons.count(REFUSED_PROOF) > len(reasons) / 2
    for part in ("the kernel refuses instruction", "is written", "does not return", "returns a computed value"):
        assert any(part in reason for reason in reasons), part


def test_large_circuits_have_the_same_bytes(agree):
    """Chains of multiplications and divisions of registers: more than 100,000 gates."""
    start = [(0x20, 0, 0, 16), (0x02, 0, 0, 0), (0x20, 0, 0, 20), (0x07, 0, 0, 0), (0x60, 0, 0, 0)]
    programs = [start + [(0x2C, 0, 0, 0), (0x0C, 0, 0, 0), (0x3C, 0, 0, 0), (0x1C, 0, 0, 0)] * count + [(0x16, 0, 0, 0)] for count in (11, 12)]
    query = query_of(programs)
    assert int(query.split("\n")[4].split(" ")[2]) > 100000
    assert agree([(query, NO_PROOF)])[0][1] == REFUSED_PROOF


@pytest.fixture
def recorded(agree, monkeypatch, built):
    """Records each certificate that a test of the Python checker tries, with the answer. Afterwards, the proven checker must agree. Where
    the test runs the Python checker as a process, the proven checker must print the same."""
    answers = {}
    formula, check = suite.Checked.formula, suite.check

    def record(self, query, proof):
        answers[query, proof] = formula(self, query, proof)
        return answers[query, proof]

    def compare(engine, folder, *programs):
        answer = check(engine, folder, *programs)
        assert proven(built, folder, *programs) == answer
        answers[str(folder), len(answers)] = answer
        return answer

    monkeypatch.setattr(suite.Checked, "formula", record)
    monkeypatch.setattr(suite, "check", compare)
    yield answers
    tried = some_of([(certificate, answer) for certificate, answer in answers.items() if isinstance(answer, bool)])
    assert [status == 0 for status, _ in agree(certificate for certificate, _ in tried)] == [answer for _, answer in tried]


@pytest.mark.parametrize("test", [suite.test_a_changed_formula_is_refused, suite.test_a_changed_refutation_is_refused])
def test_both_checkers_agree_on_changed_certificates(recorded, test, pair, tmp_path):  # noqa: F811
    test(pair, tmp_path)
    assert len(recorded) > 100


def test_both_checkers_agree_on_corrupted_files(recorded, pair, tmp_path):  # noqa: F811
    suite.test_corrupted_files_are_refused_with_line_and_reason("z3", pair, tmp_path)
    assert len(recorded) > 40


def test_both_checkers_agree_on_arithmetic(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "FULL", LONG)
    suite.test_the_checker_derives_the_same_formula(tmp_path)
    assert recorded and all(status == 0 for status, _ in recorded.values())


def test_every_reason_for_which_a_proof_is_refused(agree, pair, tmp_path):  # noqa: F811
    """Changes one line of a valid proof. All reasons occur, and both checkers give the same one for the same line."""
    folder, rng = certify(tmp_path, "z3", *pair), random.Random(3)
    query, proof = (folder / "query.cnf").read_text(), (folder / "proof.lrat").read_text()
    lines = proof.split("\n")[:-1]
    changed = [proof, proof[:-1], proof + "\n", proof + lines[-1] + "\n", "".join(line + "\n" for line in lines[:-1])]
    for _ in range(400 if LONG else 200):
        at = rng.randrange(len(lines))
        fields = lines[at].split(" ")
        zero = fields.index("0")
        number, literals, hints = fields[:1], fields[1:zero], fields[zero + 1:-1]
        kind = rng.randrange(9)
        if kind == 0:
            number = [str(int(number[0]) + rng.choice([-1, 1]))]
        elif kind == 1 and literals:
            literals.pop(rng.randrange(len(literals)))
        elif kind == 2:
            literals.insert(0, str(rng.randint(-600, 600) or 1))
        elif kind == 3 and hints:
            hints.pop(rng.randrange(len(hints)))
        elif kind == 4:
            hints.insert(rng.randrange(len(hints) + 1), str(rng.choice([rng.randint(1, int(number[0])), int(number[0]), 999999999])))
        elif kind == 5 and hints:
            hints.append(rng.choice(hints))
        elif kind == 6 and hints:
            hints.insert(0, rng.choice(hints))
        elif kind == 7:
            rng.shuffle(hints)
        else:
            hints.insert(0, rng.choice(["0", "00", "01", "-1", "1x", "", "1234567890", "+1", "1_0"]))
        new = " ".join([*number, *literals, "0", *hints, "0"])
        changed.append("".join(line + "\n" for line in lines[:at] + [new] + lines[at + 1:]))
    seen = agree((query, bad) for bad in changed)
    assert seen[0][0] == 0
    for reason in ("cut off", "expected 'ID", "expected clause", "is not needed", "there is no clause", "that are not false", "adds nothing",
                   "do not refute", "goes on after", "ends before"):
        assert any(reason in found for _, found in seen), reason


def test_pairs_that_only_behave_alike(built, tmp_path):
    texts = ["ld [0]\njeq #1, y\nret #0x%x\ny: ret #0x%x\n" % values for values in ((0x7FFF0000, 0x50FFF), (0x7FFF0007, 0x51FFF))]
    sides = [raw(tmp_path / ("side%d" % at), text) for at, text in enumerate(texts)]
    folder = tmp_path / "certificate"
    document, done = report("prove", *sides, "--engine", "z3", "--same", "behaviour", "--certificate", folder)
    assert done.status == 0 and document["certificate"]["written"]
    for arguments in ([folder, *sides, "--same", "behaviour"], [folder, "--same", "behaviour"], [folder, *sides], [folder]):
        answer = proven(built, *arguments)
        assert answer == python(*arguments) and answer[0] == (0 if "behaviour" in arguments else 1), arguments


def test_the_command_line(built, pair, tmp_path):  # noqa: F811
    folder = certify(tmp_path, "z3", *pair)
    other = raw(tmp_path / "other", "ret #0\n")
    for arguments in ([folder], [str(folder) + "/"], [folder, *pair], [folder, *reversed(pair)], [folder, pair[0], other], [folder, "--same", "behaviour"],
                      [folder, *pair, "--same", "raw"]):
        assert proven(built, *arguments) == python(*arguments), arguments
    for arguments in ([folder, pair[0]], [folder, "--same", "other"], [folder, tmp_path / "absent", pair[1]]):
        assert proven(built, *arguments)[0] == python(*arguments)[0] == 2, arguments
    # A folder with both kinds of certificates is valid only if both are.
    both = certify(tmp_path, "dd", *pair, name="both")
    for path in folder.iterdir():
        shutil.copy(path, both)
    walk = proven(built, both / "walk.cert", *pair)
    assert proven(built, both, *pair) == (0, walk[1] + python(both, *pair)[1])
    text = (both / "walk.cert").read_text()
    (both / "walk.cert").write_text(text[:-2])
    assert proven(built, both, *pair)[0] == 1
    (both / "walk.cert").write_text(text)
    (both / "query.cnf").write_text("")
    assert proven(built, both, *pair) == python(both, *pair) and proven(built, both, *pair)[0] == 1
    (folder / "proof.lrat").unlink()
    assert proven(built, folder)[0] == python(folder)[0] == 2
