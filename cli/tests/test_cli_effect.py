"""Tests `--same effect`: inputs that the kernel cannot tell apart count as one, and the most permissive decision counts."""

import pytest
from cli_tool import ROOT, evaluate, assemble, report, run, words_bytes

HEAD = "ld [4]\njeq #0xc000003e, m, k\nm: ld [0]\njeq #41, s, l\n"
TAIL = "l: ret #0x7fff0000\nk: ret #0x50001\n"
LOW = HEAD + "s: ld [16]\njeq #38, k, l\n" + TAIL  # refuses socket(AF_ALG) for every high half
BOTH = HEAD + "s: ld [20]\njeq #0, t, l\nt: ld [16]\njeq #38, k, l\n" + TAIL  # only with a high half of 0
STRICT = HEAD + "s: ld [20]\njeq #0, t, k\nt: ld [16]\njeq #38, k, l\n" + TAIL  # also refuses all other high halves


@pytest.fixture
def low(asm):
    return asm(LOW, "low.asm")


@pytest.fixture
def both(asm):
    return asm(BOTH, "both.asm")


@pytest.fixture
def strict(asm):
    return asm(STRICT, "strict.asm")


@pytest.mark.parametrize("engine", ("dd", "z3", "both"))
def test_setting_ignored_bits_is_a_way_to_pass(low, both, engine):
    document, done = report("prove", low, both, "--same", "effect", "--engine", engine)
    assert done.status == 1 and document["question"]["same"] == "effect"
    words = document["witness"]["data"]["words"]
    assert (words[0], words[4]) == (41, 38) and words[5] != 0
    assert (evaluate(assemble(LOW), words_bytes(words)), evaluate(assemble(BOTH), words_bytes(words))) == (0x50001, 0x7FFF0000)


@pytest.mark.parametrize("engine", ("dd", "z3", "both"))
def test_ignored_bits_that_only_refuse_more_are_no_difference(low, strict, engine):
    assert run("prove", strict, low, "--same", "effect", "--engine", engine).status == 0
    assert run("prove", strict, low, "--same", "behaviour", "--engine", engine).status == 1


@pytest.mark.parametrize("command", ("check", "diff"))
def test_other_commands_compare_effects(low, both, strict, command):
    document, done = report(command, low, both, "--same", "effect")
    assert done.status == 1 and document["direction"]["summary"] == "LOOSER: socket (some arguments) newly allowed"
    assert report(command, strict, low, "--same", "effect")[1].status == 0
    assert report(command, strict, low)[1].status == 1


def test_a_difference_in_ignored_bits_only_is_said_to_be_none_for_the_kernel(low, both, strict):
    for command in ("prove", "check", "diff"):
        document, done = report(command, strict, low)
        assert done.status == 1 and document["direction"]["same_effect"] is True
        assert "as the kernel sees it: the same, because it ignores the bits that matter (--same effect)" in document["direction"]["summary"]
        assert "same_effect" not in report(command, low, both)[0]["direction"]
    assert "as the kernel sees it" not in run("prove", strict, low, "--same", "effect").out


def test_refinement_and_assumptions_apply_to_classes(low, both, strict):
    effect = ("--same", "effect")
    assert run("prove", "--refines", low, strict, *effect).status == 0
    assert run("prove", "--refines", strict, low, *effect).status == 0
    assert run("prove", "--refines", strict, low).status == 1
    assert run("prove", "--refines", low, both, *effect).status == 1
    assert run("prove", low, both, *effect, "--assume", "arg0.hi == 0").status == 0
    assert run("prove", low, both, *effect, "--assume", "arg0.hi == 0x7777").status == 1


def test_calls_that_no_table_knows_ignore_nothing(asm):
    text = HEAD.replace("41", "1000")
    low, strict = (asm(text + rest.replace(HEAD, ""), name) for rest, name in ((LOW, "l.asm"), (STRICT, "s.asm")))
    assert run("prove", strict, low, "--same", "effect").status == 1


def test_a_computed_return_value_is_decided_by_z3(asm):
    computed = asm("ld [16]\nand #0xff\nor #0x50000\nret a\n")
    other = asm("ld [16]\nand #0xff\nadd #0x50000\nret a\n")
    assert run("prove", computed, other, "--same", "effect").status == 0
    constant = asm("ret #0x50001\n")
    done = run("prove", computed, constant, "--same", "effect", "--assume", "arch == x86_64 && nr == socket")
    assert done.status == 1 and "(z3" in done.out, done


@pytest.mark.parametrize("args, expected", (
    (["prove", "A", "B", "--engine", "sat"], "expected the engine dd, z3 or both, because only these compare effects"),
    (["prove", "A", "B", "--certificate", "out"], "they do not support --same effect"),
    (["prove", "A", "B", "--emit-smt2", "query"], "there is no SMT-LIB 2 query about effects"),
    (["prove", "N", "N"], "needs numbers in place of names"),
    (["fuzz", "A", "B"], "effects need --optimizer or --compiler, and proofs"),
    (["fuzz", "--evaluator", "secequiv"], "effects need --optimizer or --compiler, and proofs"),
    (["fuzz", "--optimizer", "secequiv", "--no-prove"], "effects need --optimizer or --compiler, and proofs"),
    (["actions", "A"], "effect"), (["mutate", "A"], "effect"), (["kernel", "A"], "effect")))
def test_what_cannot_compare_effects_says_so(low, both, asm, args, expected, tmp_path):
    named = asm("ld [0]\njeq #$nr, y, n\ny: ret #0\nn: ret #0x7fff0000\n")
    files = {"A": low, "B": both, "N": named}
    done = run(*[files.get(arg, arg) for arg in args], "--same", "effect", cwd=tmp_path)
    assert done.status == 2 and expected in done.err and done.out == "", done


def test_a_compiler_that_drops_ignored_bits_is_right_for_the_kernel(tmp_path):
    """The planted bug forgets the high half of arguments. For an int that changes nothing; for a size it does."""
    policy = ('{"version": 1, "name": "p", "arches": ["x86_64"], "default_action": "errno(EPERM)", "bad_arch_action": "kill_process",'
              ' "rule_sets": [{"action": "allow", "rules": {"%s": {"args": {"%d": {"eq": 3}}}}}]}')
    for call, argument, status in (("socket", 0, 0), ("read", 2, 1)):
        file = tmp_path / "policy.json"
        file.write_text(policy % (call, argument))
        target = ("fuzz", "--compiler", "broken:high-word-not-checked", "--policies", file, "--trials", "1", "--no-scaling")
        assert run(*target).status == 1
        assert run(*target, "--same", "effect").status == status, call


def test_the_corpus_is_the_same_in_every_sense():
    for name in ("kvm", "systrap"):
        before, after = (ROOT / "corpus/programs/gvisor" / ("%s.%s.bpf" % (name, side)) for side in ("before", "after"))
        assert run("prove", before, after, "--same", "effect").status == 0
