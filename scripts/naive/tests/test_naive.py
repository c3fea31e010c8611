"""Unit tests of the naive evaluator, its acceptance check, assembler, vector parser and command lines."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from .. import vectors
from ..accept import accept
from ..asm import AsmError, assemble
from ..naive import EvaluationError, Insn, observed, run, run_stack, same

HERE = Path(__file__).resolve().parents[1]
ZEROS = bytes(64)


def data(*words):
    return struct.pack("<16I", *(list(words) + [0] * (16 - len(words))))


# Evaluation


def test_a_load_reads_little_endian_words():
    assert run(assemble("ld [4]\nret a"), bytes(range(64))) == 0x07060504


def test_input_must_be_a_whole_seccomp_data():
    with pytest.raises(ValueError):
        run(assemble("ret #0"), bytes(63))


@pytest.mark.parametrize("text", [
    "ld [64]\nret a", "ld [2]\nret a", "ld M[3]\nret a", "ldx M[16]\nret a", "div #0\nret a", "lsh #32\nret a",
    "rsh #32\nret a", "mod #3\nret a", ".raw 0x20d, 0, 0, 0\nret a", "ld [0]", ".raw 5, 0, 0, 9\nret a",
])
def test_evaluating_a_refused_program_is_an_error(text):
    program = assemble(text)
    assert accept(program) is not None
    with pytest.raises(EvaluationError):
        run(program, ZEROS)


def test_division_by_x_zero_ends_with_0():
    assert run(assemble("ld #7\ndiv x\nret #0x7fff0000"), ZEROS) == 0


def test_a_stack_prefers_the_lower_action_and_then_the_newest():
    allow, first, second = ([Insn(6, 0, 0, k)] for k in (0x7FFF0000, 0x50001, 0x50002))
    assert run_stack([allow, first, second], ZEROS) == 0x50001
    assert run_stack([second, allow, first], ZEROS) == 0x50002
    assert run_stack([[Insn(6, 0, 0, 0)], [Insn(6, 0, 0, 0x80000000)]], ZEROS) == 0x80000000


def test_observed_names_all_actions():
    assert observed(0x7FFF1234) == ("ALLOW", 0)
    assert observed(0x7FFC1234) == ("LOG", 0)
    assert observed(0x7FF01234) == ("TRACE", 0x1234)
    assert observed(0x7FC01234) == ("USER_NOTIF", 0)
    assert observed(0x0005FFFF) == ("ERRNO", 4095)
    assert observed(0x00031234) == ("TRAP", 0x1234)
    assert observed(0x00001234) == ("KILL_THREAD", 0)
    assert observed(0x80001234) == ("KILL_PROCESS", 0)
    assert observed(0x80051234) == ("KILL_PROCESS", 0)


def test_same_accepts_only_raw_and_behaviour():
    assert same("behaviour", 0x7FFF0000, 0x7FFF0001) and not same("raw", 0x7FFF0000, 0x7FFF0001)
    with pytest.raises(ValueError):
        same("roughly", 0, 0)


# Acceptance


def test_forgive_length_waives_only_the_length_rule():
    long = [Insn(0x04, 0, 0, 1)] * 5000 + [Insn(0x06, 0, 0, 0)]
    assert accept(long) == ("length", 0)
    assert accept(long, forgive_length=True) is None
    assert accept([Insn(0x34, 0, 0, 0)] + long, forgive_length=True) == ("div_by_zero", 0)
    assert accept([], forgive_length=True) == ("length", 0)


# Assembly


@pytest.mark.parametrize("text, insn", [
    ("ld [16]", (0x20, 0, 0, 16)), ("ld #5", (0x00, 0, 0, 5)), ("ldi #5", (0x00, 0, 0, 5)), ("ld M[3]", (0x60, 0, 0, 3)),
    ("ld #len", (0x80, 0, 0, 0)), ("ldx #5", (0x01, 0, 0, 5)), ("ldxi #5", (0x01, 0, 0, 5)), ("ldx M[3]", (0x61, 0, 0, 3)),
    ("ldx #len", (0x81, 0, 0, 0)), ("st M[15]", (0x02, 0, 0, 15)), ("stx M[15]", (0x03, 0, 0, 15)), ("tax", (0x07, 0, 0, 0)),
    ("txa", (0x87, 0, 0, 0)), ("neg", (0x84, 0, 0, 0)), ("add #1", (0x04, 0, 0, 1)), ("sub x", (0x1C, 0, 0, 0)),
    ("mul %x", (0x2C, 0, 0, 0)), ("div #2", (0x34, 0, 0, 2)), ("mod #2", (0x94, 0, 0, 2)), ("mod x", (0x9C, 0, 0, 0)),
    ("or x", (0x4C, 0, 0, 0)), ("and #0xff", (0x54, 0, 0, 0xFF)), ("xor x", (0xAC, 0, 0, 0)), ("lsh #3", (0x64, 0, 0, 3)),
    ("rsh x", (0x7C, 0, 0, 0)), ("ret #0x7fff0000", (0x06, 0, 0, 0x7FFF0000)), ("ret a", (0x16, 0, 0, 0)),
    ("ret %a", (0x16, 0, 0, 0)), (".raw 0xffff, 255, 255, 0xffffffff", (0xFFFF, 255, 255, 0xFFFFFFFF)),
    ("ja l", (0x05, 0, 0, 1)), ("jmp l", (0x05, 0, 0, 1)), ("jeq #7, l", (0x15, 1, 0, 7)), ("jgt #7, l, m", (0x25, 1, 2, 7)),
    ("jge x, m, l", (0x3D, 2, 1, 0)), ("jset %x, l", (0x4D, 1, 0, 0)), ("jne #7, l", (0x15, 0, 1, 7)),
    ("jneq x, l", (0x1D, 0, 1, 0)), ("jlt #7, m", (0x35, 0, 2, 7)), ("jle x, m", (0x2D, 0, 2, 0)),
])
def test_each_mnemonic_is_assembled(text, insn):
    assert assemble(text + "\nret #0\nl: ret #1\nm: ret #2")[0] == insn


@pytest.mark.parametrize("text, line, words", [
    ("ld [0]\nfrob #1", 2, "unknown instruction"),
    ("ret x", 1, "expected #k"),
    ("ld 5", 1, "cannot load"),
    ("ldx [0]", 1, "cannot load"),
    ("st #5", 1, "expected M[k]"),
    ("add 5", 1, "expected #k"),
    ("add #010", 1, "expected a decimal"),
    ("add #-1", 1, "expected a decimal"),
    ("add #0x100000000", 1, "does not fit in 32 bits"),
    ("add #1, #2", 1, "takes 1 operand"),
    ("tax #1", 1, "takes 0 operand"),
    ("jne #1, l, l\nl: ret #0", 1, "takes 2 operand"),
    ("jeq #1", 1, "takes 2 or 3 operand"),
    ("jeq #1, 3\nret #0", 1, "expected a label"),
    ("ja nowhere\nret #0", 1, "not defined"),
    ("l: ld [0]\nja l\nret #0", 2, "jump back"),
    ("l: ld [0]\nl: ret #0", 2, "defined twice"),
    ("a: ret #0", 1, "register's name"),
    ("jeq #1, l\n.repeat 256\nld [0]\n.endrepeat\nl: ret #0", 1, "at most 255"),
    (".repeat 2\nl: ld [0]\n.endrepeat", 2, "label inside"),
    (".repeat 2\n.repeat 2\n", 2, ".repeat inside"),
    (".repeat\n", 1, "expected .repeat N"),
    (".repeat two\n", 1, "expected a decimal"),
    ("ret #0\n.repeat 2\nld [0]", 2, "without .endrepeat"),
    ("ret #0\n.endrepeat", 2, "without .repeat"),
    ("ret #0 /* open", 1, "not closed"),
    (".raw 0x10000, 0, 0, 0", 1, "16 bits"),
    (".raw 0, 256, 0, 0", 1, "8 bits"),
    (".raw 0, 0, 0", 1, "takes 4 operand"),
])
def test_bad_text_is_an_error_with_its_line(text, line, words):
    with pytest.raises(AsmError) as caught:
        assemble(text)
    assert caught.value.line == line
    assert words in caught.value.message


def test_comments_keep_line_numbers():
    with pytest.raises(AsmError) as caught:
        assemble("ld [0] /* one\n two */\n; three\nfrob")
    assert caught.value.line == 4


# Vector files

PROGRAM = "program:\n  ret #1\nend\n"


@pytest.mark.parametrize("text, line, words", [
    ("", 1, "no vector"),
    ("# only a comment\n", 1, "no vector"),
    ("run: nr=1 -> 1\n", 1, "expected `vector:` first"),
    ("vector:\n", 1, "needs a name"),
    ("vector: v\nnonsense\n", 2, "expected `key: value`"),
    ("vector: v\nspeed: 3\n", 2, "unknown key"),
    ("vector: v\n run: nr=1 -> 1\n", 2, "unknown key"),
    ("\nvector: v\n" + PROGRAM, 2, "at least one of"),
    ("vector: v\n", 1, "at least one of"),
    ("vector: v\nrun: nr=1 -> 1\n", 1, "run needs a program"),
    ("vector: v\naccept: yes\n", 1, "exactly one program, got 0"),
    ("vector: v\n" + PROGRAM + PROGRAM + "accept: yes\n", 1, "exactly one program, got 2"),
    ("vector: v\n" + PROGRAM + "accept: yes\naccept: yes\n", 6, "at most one `accept:`"),
    ("vector: v\n" + PROGRAM + "accept: maybe\n", 5, "expected `yes`"),
    ("vector: v\n" + PROGRAM + "accept: no\n", 5, "expected `yes`"),
    ("vector: v\n" + PROGRAM + "accept: no mem_full at 0\n", 5, "unknown rule"),
    ("vector: v\n" + PROGRAM + "accept: no length at 0x1\n", 5, "decimal instruction index"),
    ("vector: v\n" + PROGRAM + "accept: no length at 0\nrun: nr=1 -> 1\n", 1, "refused program"),
    ("vector: v\n" + PROGRAM + "same: raw 0 0 yes\n", 1, "nothing uses the program"),
    ("vector: v\n" + PROGRAM + "run: nr=1\n", 5, "expected `-> VALUE`"),
    ("vector: v\n" + PROGRAM + "run: nr=1 ->\n", 5, "expected a decimal"),
    ("vector: v\n" + PROGRAM + "run: nr -> 1\n", 5, "unknown field"),
    ("vector: v\n" + PROGRAM + "run: number=1 -> 1\n", 5, "unknown field"),
    ("vector: v\n" + PROGRAM + "run: nr=1 nr=2 -> 1\n", 5, "given twice"),
    ("vector: v\n" + PROGRAM + "run: nr=0x100000000 -> 1\n", 5, "32 bits"),
    ("vector: v\n" + PROGRAM + "run: ip=0x10000000000000000 -> 1\n", 5, "64 bits"),
    ("vector: v\n" + PROGRAM + "run: args=1,2,3,4,5,6,7 -> 1\n", 5, "at most 6"),
    ("vector: v\n" + PROGRAM + "run: args=1,,2 -> 1\n", 5, "expected a decimal"),
    ("vector: v\n" + PROGRAM + "run: words=1,2 -> 1\n", 5, "16 words, got 2"),
    ("vector: v\n" + PROGRAM + "run: words=" + ",".join("0" * 16) + " nr=1 -> 1\n", 5, "cannot be combined"),
    ("vector: v\nsame: nearly 0 0 yes\n", 2, "raw|behaviour"),
    ("vector: v\nsame: raw 0 0 perhaps\n", 2, "raw|behaviour"),
    ("vector: v\nsame: raw 0 0x100000000 yes\n", 2, "32 bits"),
    ("vector: v\nsame: raw 0 0 yes\nvector: v\nsame: raw 0 0 yes\n", 3, "defined twice"),
    ("vector: v\nprogram:\n  ret #1\nrun: nr=1 -> 1\n", 2, "without `end`"),
    ("vector: v\nprogram:\n  ret #1\nvector: w\n" + PROGRAM + "run: nr=1 -> 1\n", 2, "without `end`"),
    ("vector: v\nprogram: ld [0]\nend\n", 2, "expected nothing after `program:` on its line"),
    ("vector: v\n\nprogram:\n  ld [0]\n\n  frob\nend\n", 6, "unknown instruction"),
])
def test_malformed_files_name_file_and_line(tmp_path, text, line, words):
    path = tmp_path / "bad.vec"
    path.write_text(text)
    with pytest.raises(vectors.VectorError) as caught:
        vectors.load(path)
    message = str(caught.value)
    assert message.startswith("%s:%d: " % (path, line))
    assert words in message


def test_a_file_that_is_not_text_is_an_error(tmp_path):
    path = tmp_path / "bad.vec"
    path.write_bytes(b"vector: \xff\n")
    with pytest.raises(vectors.VectorError):
        vectors.load(path)


def test_fields_of_run_fill_seccomp_data():
    text = "vector: v\n" + PROGRAM + "run: args=0x1122334455667788,2 ip=0x99aabbccddeeff00 nr=7 arch=8 -> 1\nrun: -> 1\n"
    full, default = (item.data for item in vectors.parse(text, "t")[0].runs)
    assert full == data(7, 8, 0xDDEEFF00, 0x99AABBCC, 0x55667788, 0x11223344, 2)
    assert default == data(0, 0xC000003E)


def test_comment_lines_inside_a_program_are_ignored():
    assert vectors.parse("vector: v\nprogram:\n# no code\n  ret #1\nend\naccept: yes\n", "t")[0].programs == [[(6, 0, 0, 1)]]


@pytest.mark.parametrize("text, line", [
    (PROGRAM + "run: nr=1 -> 2\n", 5),
    (PROGRAM + PROGRAM + "run: nr=1 -> 1\nrun: nr=1 -> 0\n", 9),
    (PROGRAM + "accept: no length at 0\n", 1),
    ("program:\n  lsh #32\n  ret a\nend\naccept: yes\n", 1),
    ("program:\n  lsh #32\n  ret a\nend\naccept: no shift_range at 1\n", 1),
    ("program:\n  lsh #32\n  ret a\nend\naccept: no mem_index at 0\n", 1),
    ("program:\n  lsh #32\n  ret a\nend\nrun: nr=0 -> 0\n", 1),
    ("same: raw 1 2 yes\n", 2),
    ("same: behaviour 0x7fff0001 0x7fff0002 no\n", 2),
])
def test_a_wrong_vector_fails(text, line):
    failures = vectors.check(vectors.parse("vector: v\n" + text, "t.vec")[0])
    assert len(failures) == 1
    assert failures[0].startswith("t.vec:%d: v: " % line)


# Command lines


def command(script, *arguments, stdin=b""):
    return subprocess.run([sys.executable, str(HERE / script), *map(str, arguments)], input=stdin, capture_output=True)


def test_run_vectors_prints_counts_and_sets_the_exit_status(tmp_path):
    (tmp_path / "a.vec").write_text("vector: good\nsame: raw 1 1 yes\n\nvector: bad\nsame: raw 1 1 no\nsame: raw 2 2 no\n")
    done = command("run_vectors.py", tmp_path)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[-1] == "vectors: 1 passed, 1 failed"
    (tmp_path / "a.vec").write_text("vector: good\nsame: raw 1 1 yes\n")
    done = command("run_vectors.py", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"vectors: 1 passed, 0 failed\n")
    (tmp_path / "b.vec").write_text("vector: good\n")
    done = command("run_vectors.py", tmp_path)
    assert done.returncode == 2 and b"b.vec:1: " in done.stderr


def test_run_vectors_without_vectors_fails(tmp_path):
    assert command("run_vectors.py", tmp_path).returncode == 2
    assert command("run_vectors.py", tmp_path / "missing").returncode == 2


def raw(text):
    return b"".join(struct.pack("<HBBI", *insn) for insn in assemble(text))


def test_evaluate_writes_one_value_per_record(tmp_path):
    program, inputs, output = tmp_path / "p", tmp_path / "i", tmp_path / "o"
    program.write_bytes(raw("ld [0]\nadd #1\nret a"))
    inputs.write_bytes(data(1) + data(0xFFFFFFFF) + data(7))
    expected = struct.pack("<3I", 2, 0, 8)
    assert command("evaluate.py", program, inputs).stdout == expected
    assert command("evaluate.py", "-", inputs, stdin=program.read_bytes()).stdout == expected
    assert command("evaluate.py", program, "-", "-", stdin=inputs.read_bytes()).stdout == expected
    assert command("evaluate.py", program, inputs, output).returncode == 0
    assert output.read_bytes() == expected
    done = command("evaluate.py", program, "-")
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("program, inputs, code, words", [
    (raw("ret #0")[:-1], ZEROS, 2, b"offset 0"),
    (b"", ZEROS, 2, b"offset 0"),
    (raw("ret #0"), ZEROS + b"x", 2, b"offset 64"),
    (raw("mod #3\nret a"), ZEROS, 4, b"refused: not_seccomp at 0"),
])
def test_evaluate_refuses_bad_input(tmp_path, program, inputs, code, words):
    (tmp_path / "p").write_bytes(program)
    (tmp_path / "i").write_bytes(inputs)
    done = command("evaluate.py", tmp_path / "p", tmp_path / "i")
    assert done.returncode == code
    assert words in done.stderr and done.stdout == b""


def test_evaluate_accepts_programs_over_4096_instructions(tmp_path):
    (tmp_path / "p").write_bytes(raw(".repeat 5000\nadd #1\n.endrepeat\nret a"))
    assert command("evaluate.py", tmp_path / "p", "-", stdin=ZEROS).stdout == struct.pack("<I", 5000)


def test_evaluate_with_wrong_usage_gives_status_2(tmp_path):
    assert command("evaluate.py", "-", "-").returncode == 2
    assert command("evaluate.py", tmp_path / "missing", "-").returncode == 2
