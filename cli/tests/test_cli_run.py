"""Tests `secequiv run`: its inputs (names, constants, words, byte orders) and outputs (values, stacks, traces)."""

import random

import pytest
from cli_tool import POLICIES, PROGRAMS, Insn, evaluate, program, read_raw, report, run, run_stack, words_bytes, write_raw
from naive import vectors

GETPID_WORDS = [39, 0xC000003E] + [0] * 14
STACKS = [(vector, run) for path in vectors.find_files() if path.name.startswith("stack_")
          for vector in vectors.load(path) for run in vector.runs]


def data_of(*args):
    return report("run", *args)[0]["data"]


def value_of(document):
    return int(document["result"]["value"], 16)


def test_a_call_can_be_given_by_name_or_number(getpid):
    for name, nr in (("getpid", 39), ("39", 39), ("0x27", 39)):
        document, done = report("run", getpid, "--nr", name)
        assert done.status == 0 and document["data"]["words"] == GETPID_WORDS
        assert (document["data"]["syscall"], document["data"]["arch_name"]) == ("getpid", "x86_64")
        assert (value_of(document), document["result"]["action"]) == (0x7FFF0000, "ALLOW")
    text = run("run", getpid, "--nr", "getpid")
    assert text.out == "nr=39 (getpid) arch=0xc000003e (x86_64) ip=0x0 args=[]\n0x7fff0000 ALLOW\n"
    assert run("run", getpid).out.splitlines()[1] == "0x00050001 ERRNO(1 EPERM)"
    done = run("run", getpid, "read")
    assert done.status == 2 and done.err.endswith("; did you mean --nr read?\n"), done


def test_the_name_of_a_call_can_include_its_architecture(getpid):
    for options in (["--nr", "x32:getpid"], ["--nr", "x32:getpid", "--call-arch", "x32"], ["--nr", "x32:getpid", "--arch", "aarch64"]):
        data = data_of(getpid, *options)
        assert (data["words"][:2], data["syscall"], data["arch_name"]) == ([0x40000027, 0xC000003E], "getpid", "x32")
    done = run("run", getpid, "--nr", "x32:getpid", "--call-arch", "aarch64")
    assert done.status == 2 and "found 'x32:getpid'" in done.err, done
    done = run("run", getpid, "x32:read")
    assert done.status == 2 and done.err.endswith("; did you mean --nr x32:read?\n"), done


@pytest.mark.parametrize("arch, nr, audit", [("x86_64", 39, 0xC000003E), ("i386", 20, 0x40000003), ("x32", 0x40000027, 0xC000003E),
                                             ("aarch64", 172, 0xC00000B7), ("arm", 20, 0x40000028), ("riscv64", 172, 0xC00000F3),
                                             ("s390x", 20, 0x80000016), ("ppc64le", 20, 0xC0000015), ("mips64", 5038, 0x80000008)])
def test_calls_have_the_numbers_of_their_architecture(arch, nr, audit, getpid):
    data = data_of(getpid, "--arch", arch, "--nr", "getpid")
    assert (data["words"][0], data["words"][1], data["syscall"], data["arch_name"]) == (nr, audit, "getpid", arch)
    if arch != "x32":  # x32 and x86_64 have the same value of arch
        assert data_of(getpid, "--call-arch", audit, "--nr", "getpid") == data
        assert data_of(getpid, "--call-arch", hex(audit), "--nr", nr) == data


def test_an_unknown_architecture_can_be_given_by_value(getpid):
    data = data_of(getpid, "--call-arch", "0x12345678", "--nr", 7)
    assert data["words"][:2] == [7, 0x12345678] and "arch_name" not in data and "syscall" not in data
    done = run("run", getpid, "--call-arch", "0x12345678", "--nr", "getpid")
    assert done.status == 2 and "'getpid'" in done.err


@pytest.mark.parametrize("text, number", [("1", 1), ("0xffffffffffffffff", (1 << 64) - 1), ("-1", (1 << 64) - 1),
                                          ("-0x80000000", (1 << 64) - (1 << 31)), ("AT_FDCWD", (1 << 64) - 100),
                                          ("O_CLOEXEC", 0o2000000), ("AF_VSOCK", 40), ("PROT_EXEC", 4)])
def test_arguments_can_be_numbers_or_names(text, number, getpid):
    for index in range(6):
        for form in (["--arg", "%d=%s" % (index, text)], ["--arg=%d=%s" % (index, text)]):
            data = data_of(getpid, *form)
            words = [0, 0xC000003E] + [0] * 14
            words[4 + 2 * index], words[5 + 2 * index] = number & 0xFFFFFFFF, number >> 32
            assert data["words"] == words and int(data["args"][index], 16) == number


def test_constants_are_those_of_the_architecture(getpid):
    assert data_of(getpid, "--arg", "2=O_DIRECTORY")["args"][2] == "0x10000"
    assert data_of(getpid, "--arg", "2=O_DIRECTORY", "--arch", "aarch64")["args"][2] == "0x4000"


def test_an_argument_given_twice_is_an_error(getpid):
    done = run("run", getpid, "--arg", "0=1", "--arg", "1=1", "--arg", "0=2")
    assert done.status == 2 and "--arg: argument 0 is given twice, the second time as '0=2'" in done.err


def test_arguments_are_read_as_in_policies(getpid):
    assert data_of(getpid, "--arg", "2=O_RDWR|O_CREAT")["args"][2] == "0x42"
    assert data_of(getpid, "--arg", "2= 1 | -2 ")["args"][2] == "0xffffffffffffffff"
    done = run("run", getpid, "--arg", "2=O_RDWR|O_NOPE")
    assert done.status == 2 and "'O_NOPE' is neither a number" in done.err


def test_several_arguments_can_be_set(getpid):
    data = data_of(getpid, "--arg", "0=1", "--arg", "5=0x600000000", "--ip", "0xffffffffff600000")
    assert data["args"] == ["0x1", "0x0", "0x0", "0x0", "0x0", "0x600000000"] and data["ip"] == "0xffffffffff600000"
    assert data["words"][2:4] == [0xFF600000, 0xFFFFFFFF]


def test_negative_numbers_wrap_around(getpid):
    for form in (["--nr", "-1"], ["--nr=-1"]):
        assert data_of(getpid, *form)["nr"] == 0xFFFFFFFF
    assert data_of(getpid, "--nr", "-2147483648")["nr"] == 0x80000000
    assert data_of(getpid, "--ip", "-1")["ip"] == "0xffffffffffffffff"
    assert run("run", getpid, "--nr", "-2147483649").status == 2


def test_arguments_have_the_byte_order_of_their_architecture(asm):
    high, low = asm("ld [16]\nret a"), asm("ld [20]\nret a")
    args = ["--arg", "0=0x1122334455667788", "--ip", "0x99aabbccddeeff00"]
    for arch, first, second in (("s390x", 0x11223344, 0x55667788), ("mips64", 0x11223344, 0x55667788),
                                ("x86_64", 0x55667788, 0x11223344), ("ppc64le", 0x55667788, 0x11223344)):
        assert value_of(report("run", high, "--arch", arch, *args)[0]) == first
        assert value_of(report("run", low, "--arch", arch, *args)[0]) == second
    data = data_of(high, "--arch", "s390x", *args)
    assert data["words"][2:6] == [0x99AABBCC, 0xDDEEFF00, 0x11223344, 0x55667788]


def test_a_big_endian_policy_decides_as_its_program(tmp_path):
    policy = POLICIES / "seed" / "big-endian.json"
    for name, fd, expected in (("read", 3, None), ("read", 1 << 32, None), ("exit", 0, None)):
        args = [policy, "--arch", "s390x", "--nr", name, "--arg", "0=%d" % fd]
        document, done = report("run", *args)
        compiled = tmp_path / "p.bpf"
        assert run("asm", policy, "-o", compiled).status == 0
        data = words_bytes(document["data"]["words"])
        assert done.status == 0 and value_of(document) == evaluate(read_raw(compiled.read_bytes()), data)


def test_the_option_words_sets_every_word(asm):
    words = [random.Random(5).getrandbits(32) for _ in range(16)]
    for i, word in enumerate(words):
        path = asm("ld [%d]\nret a" % (4 * i))
        for form in (",".join(map(str, words)), ",".join(map(hex, words))):
            document, _ = report("run", path, "--words", form)
            assert value_of(document) == word and document["data"]["words"] == words


@pytest.mark.parametrize("option", ["--nr", "--call-arch", "--ip", "--arg"])
def test_the_option_words_excludes_other_fields(option, getpid):
    done = run("run", getpid, "--words", ",".join(["0"] * 16), option, "0=1" if option == "--arg" else "1")
    assert done.status == 2 and option in done.err


def test_a_trace_shows_registers_and_outcomes(asm):
    text = "ld [16]\ntax\nld #6\nsub x\njset #1, odd, even\nodd: ret #1\neven: st M[2]\nldx M[2]\ntxa\nneg\nret a\n"
    document, _ = report("run", asm(text), "--arg", "0=2", "--trace")
    steps = [(step["pc"], step["a"], step["x"], step.get("outcome")) for step in document["filters"][0]["steps"]]
    assert steps == [(0, 0, 0, None), (1, 2, 0, None), (2, 2, 2, None), (3, 6, 2, None), (4, 4, 2, False), (6, 4, 2, None),
                     (7, 4, 2, None), (8, 4, 4, None), (9, 4, 4, None), (10, 0xFFFFFFFC, 4, None)]
    assert value_of(document) == 0xFFFFFFFC
    shown = run("run", asm(text), "--arg", "0=2", "--trace").out
    assert "     4: A=0x00000004 X=0x00000002  jset #1, L5, L6 -> false\n" in shown
    assert "steps" not in report("run", asm(text))[0]["filters"][0]


def test_a_trace_shows_a_division_by_zero(asm):
    document, _ = report("run", asm("ld [16]\ntax\nld #9\ndiv x\nret #5\n"), "--trace")
    assert value_of(document) == 0
    assert [step["pc"] for step in document["filters"][0]["steps"]] == [0, 1, 2, 3]
    text = run("run", asm("ld [16]\ntax\nld #9\ndiv x\nret #5\n"), "--trace")
    assert "  div x -> X is 0: returns 0\n" in text.out
    text = run("run", asm("ld [16]\ntax\nld #9\ndiv x\nret #5\n"), "--trace", "--arg", "0=1")
    assert "  div x\n" in text.out
    text = run("prove", asm("ld #9\ndiv x\nret #5\n"), asm("ret #5\n"))
    assert "div x -> X is 0: returns 0 " in text.out


@pytest.mark.parametrize("vector, one", STACKS, ids=["%s-%d" % (vector.name, one.line) for vector, one in STACKS])
def test_stacks_agree_with_the_vectors(vector, one, tmp_path):
    files = []
    for index, insns in enumerate(vector.programs):
        files.append(tmp_path / ("%d.bpf" % index))
        files[-1].write_bytes(write_raw(insns))
    words = [int.from_bytes(one.data[at:at + 4], "little") for at in range(0, 64, 4)]
    document, done = report("run", *files, "--words", ",".join(map(str, words)))
    assert done.status == 0
    assert value_of(document) == one.expected
    assert [int(row["result"]["value"], 16) for row in document["filters"]] == [evaluate(p, one.data) for p in vector.programs]
    assert [row["name"] for row in document["filters"]] == [str(path) for path in files]
    if len(files) > 1:
        assert one.expected == run_stack(vector.programs, one.data)


def test_the_vectors_contain_stacks():
    assert len(STACKS) >= 100


def test_text_shows_each_filter_of_a_stack(asm):
    one, two = asm("ret #0x50001", "one.asm"), asm("ret #0x50002", "two.asm")
    assert run("run", one, two).out.splitlines()[1:] == [
        "%s: 0x00050001 ERRNO(1 EPERM)" % one, "%s: 0x00050002 ERRNO(2 ENOENT)" % two, "0x00050001 ERRNO(1 EPERM)"]
    assert run("run", two, one).out.splitlines()[-1] == "0x00050002 ERRNO(2 ENOENT)"


def test_real_filters_agree_with_the_naive_evaluator():
    rng = random.Random(11)
    for name in ("gvisor/systrap.after.bpf", "libseccomp/docker-x86_64.tree.bpf", "libseccomp/docker-aarch64.linear.bpf"):
        insns = read_raw((PROGRAMS / name).read_bytes())
        constants = [insn.k for insn in insns if insn.code & 7 == 5]
        for _ in range(20):
            words = [rng.choice(constants)] + [rng.choice((0xC000003E, 0xC00000B7, 0x40000003))]
            words += [rng.choice((0, 0, 1, rng.choice(constants))) for _ in range(14)]
            document, _ = report("run", PROGRAMS / name, "--words", ",".join(map(str, words)))
            assert value_of(document) == evaluate(insns, words_bytes(words))


def test_programs_and_policies_are_run(getpid, tmp_path):
    raw = write_raw(program(getpid.read_text()))
    assert run("run", "-", "--nr", "getpid", stdin=raw).out == run("run", getpid, "--nr", "getpid").out
    assert run("run", POLICIES / "seed" / "ten-syscalls.json", "--nr", "brk").out.endswith("0x7fff0000 ALLOW\n")
    docker = POLICIES / "oci" / "docker-default.json"
    assert run("run", docker, "--nr", "socket", "--arg", "0=AF_VSOCK").out.endswith("0x00050001 ERRNO(1 EPERM)\n")
    assert run("run", docker, "--nr", "socket", "--arg", "0=AF_UNIX").out.endswith("0x7fff0000 ALLOW\n")
    assert run("run", docker, "--arch", "aarch64", "--nr", "mount").out.endswith("0x00050001 ERRNO(1 EPERM)\n")


def test_host_options_change_a_profiles_decision(tmp_path):
    docker = POLICIES / "oci" / "docker-default.json"
    last = lambda *args: run("run", docker, "--nr", "mount", *args).out.splitlines()[-1]  # noqa: E731
    assert last().endswith("EPERM)") and last("--cap", "CAP_SYS_ADMIN").endswith("ALLOW")
    ptrace = [run("run", docker, "--nr", "ptrace", "--kernel-version", kernel).out.splitlines()[-1] for kernel in ("4.7", "4.8")]
    assert ptrace[0].endswith("EPERM)") and ptrace[1].endswith("ALLOW")
    # Without --arch, the host has the architecture of the call.
    for arch in ("aarch64", "0xc00000b7"):
        assert last("--call-arch", arch).endswith("EPERM)")
        assert last("--call-arch", arch, "--arch", "x86_64").endswith("KILL_THREAD")
    words = ["--words", ",".join(["63", "0xc00000b7"] + ["0"] * 14)]  # read on aarch64
    assert run("run", docker, *words).out.endswith("ALLOW\n")
    assert run("run", docker, *words, "--arch", "x86_64").out.endswith("KILL_THREAD\n")
    i386 = run("run", docker, "--call-arch", "i386", "--nr", "socketcall", "--arch", "x86_64")
    assert i386.out.endswith("ALLOW\n")


def test_unused_fields_of_instructions_are_ignored(tmp_path):
    path = tmp_path / "odd.bpf"
    path.write_bytes(write_raw([Insn(0x20, 9, 9, 0), Insn(0x16, 200, 200, 0xFFFFFFFF)]))
    assert value_of(report("run", path, "--nr", 1234)[0]) == 1234
