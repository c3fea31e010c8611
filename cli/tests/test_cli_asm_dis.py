"""Tests `secequiv asm` and `dis`: every form holds the same program, and comments explain it."""
# This test also runs in the preset asan.

import random
import struct

import pytest
from cli_tool import POLICIES, PROGRAMS, Insn, all_programs, program, read_raw, run, some, write_raw

FORMS = ("raw", "raw-be", "asm", "ddd", "c")
FILES = some(all_programs(), 4)


def converted(path, form, *options, **popen):
    done = run("asm", path, "--to", form, *options, raw=True, **popen)
    assert done.status == 0 and done.err == "", done
    return done.out


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_form_reads_back(path, tmp_path):
    raw = path.read_bytes()
    assert converted(path, "raw") == raw
    for form in FORMS:
        out = tmp_path / form
        assert run("dis", path, "--to", form, "-o", out).status == 0
        assert converted(out, "raw") == raw, form
        assert converted(out, "raw", "--from", form) == raw, form


def test_every_form_converts_to_every_form(tmp_path):
    path = PROGRAMS / "gvisor" / "kvm.after.bpf"
    texts = {form: converted(path, form) for form in FORMS}
    for source in FORMS:
        (tmp_path / source).write_bytes(texts[source])
        for form in FORMS:
            assert converted(tmp_path / source, form) == texts[form]
            assert converted("-", form, stdin=texts[source]) == texts[form]


@pytest.mark.parametrize("seed", some(range(6), 2))
def test_random_instructions_read_back_in_every_form(seed, tmp_path):
    rng = random.Random(seed)
    insns = [Insn(rng.getrandbits(8 if seed < 4 else 16), rng.getrandbits(8), rng.getrandbits(8), rng.getrandbits(32))
             for _ in range(300)]
    path = tmp_path / "any.bpf"
    path.write_bytes(write_raw(insns))
    for form in FORMS:
        if seed >= 4 and form.startswith("raw"):
            continue  # the byte order can be detected only if every code contains a zero byte; see below
        (tmp_path / form).write_bytes(converted(path, form, "--from", "raw"))
        assert converted(tmp_path / form, "raw", "--from", form) == write_raw(insns), form


def test_big_endian_programs_are_written_and_detected(tmp_path):
    path = PROGRAMS / "libseccomp" / "allow306.linear.bpf"
    insns = read_raw(path.read_bytes())
    big = b"".join(struct.pack(">HBBI", *insn) for insn in insns)
    assert converted(path, "raw-be") == big
    (tmp_path / "big").write_bytes(big)
    for options in ([], ["--big-endian"], ["--from", "raw-be"]):
        assert converted(tmp_path / "big", "raw", *options) == path.read_bytes()
    (tmp_path / "text").write_bytes(converted(path, "asm"))
    assert converted(tmp_path / "text", "raw", "--big-endian") == path.read_bytes()  # the option has no effect on text, which has no byte order
    palindrome = [Insn(0x0000, 0, 0, 5), Insn(0x0606, 0, 0, 1)]  # a program whose bytes do not show the byte order
    (tmp_path / "odd").write_bytes(b"".join(struct.pack(">HBBI", *insn) for insn in palindrome))
    assert read_raw(converted(tmp_path / "odd", "raw", "--big-endian")) == palindrome
    assert read_raw(converted(tmp_path / "odd", "raw", "--from", "raw-be")) == palindrome


def test_asm_agrees_with_the_naive_assembler():
    text = """
    start: ld [4]             ; comment
    /* and
       another */ jne #0xc000003e, kill
    ld [0]
    jlt #1000, next
    jle #2000, kill
    next: jset #0x40000000, kill, deeper
    deeper: ldi #5
    ldxi #6
    add %x
    ja end
    kill: ret #0x80000000
    end: ret %a
    """
    assert converted("-", "raw", stdin=text.encode()) == write_raw(program(text))


def test_comments_name_fields_calls_and_actions(tmp_path):
    text = run("dis", PROGRAMS / "libseccomp" / "docker-x86_64.linear.bpf").out
    for part in ("; A = arch", "; arch == x86_64", "; arch == i386", "; A = nr", "; nr == openat", "; return ALLOW",
                 "; return ERRNO(1 EPERM)", "; A = args[0].lo", "; A = args[0].hi", "; nr == clone3"):
        assert part in text, part
    assert "; nr == epoll_pwait2" in run("dis", PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf").out
    assert "; arch == aarch64" in run("dis", PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf").out
    gvisor = run("dis", PROGRAMS / "gvisor" / "systrap.before.bpf").out
    assert "; return KILL_PROCESS" in gvisor or "; return TRAP" in gvisor


def test_system_calls_are_named_after_the_architecture_tested(asm):
    text = "ld [4]\njeq #%#x, known, other\nknown: ld [0]\njeq #1, yes, other\nyes: ret #0x7fff0000\nother: ret #0\n"
    assert "; nr == write" in run("dis", asm(text % 0xC000003E)).out
    assert "; nr == exit" in run("dis", asm(text % 0x40000003)).out
    assert "; nr == io_destroy" in run("dis", asm(text % 0xC00000B7)).out
    assert "; nr == 1" in run("dis", asm(text % 0x12345678)).out
    halves = "ld [4]\njeq #0x80000016, big, other\nbig: ld [16]\njeq #0, low, other\nlow: ld [20]\njeq #3, yes, other\n"
    halves += "yes: ret #0x50002\nother: ret #0x7ff00007\n"
    shown = run("dis", asm(halves)).out
    for part in ("arch == s390x", "args[0].hi == 0", "args[0].lo == 3", "return ERRNO(2 ENOENT)", "return TRACE(7)"):
        assert part in shown, part
    shown = run("dis", asm(halves.replace("0x80000016", "0xc000003e"))).out
    assert "args[0].lo == 0" in shown and "args[0].hi == 3" in shown


def test_the_arch_option_names_the_calls(asm):
    untested = asm("ld [0]\njeq #59, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    for command in ("dis", "asm"):
        arguments = [command, untested, "--to", "asm"]
        assert "; nr == 0x3b" in run(*arguments).out
        for arch, name in (("x86_64", "execve"), ("aarch64", "pipe2"), ("i386", "oldolduname")):
            shown = run(*arguments, "--arch", arch).out
            assert "jeq #0x3b, L2, L3" in shown and "; nr == %s\n" % name in shown, shown
            assert run("asm", stdin=shown, raw=True).out == run("asm", untested, raw=True).out


@pytest.mark.parametrize("value, words", [(0x7FFF0000, "ALLOW"), (0x7FFC0000, "LOG"), (0x80000000, "KILL_PROCESS"),
                                          (0, "KILL_THREAD"), (0x30000, "TRAP(0)"), (0x7FC00000, "USER_NOTIF"),
                                          (0x50026, "ERRNO(38 ENOSYS)"), (0x7FF00001, "TRACE(1)")])
def test_actions_are_named(value, words, asm):
    assert run("dis", asm("ret #%d" % value)).out.rstrip().endswith("; return " + words)


def test_plain_removes_only_comments(getpid):
    plain = run("dis", getpid, "--plain").out
    assert ";" not in plain and plain.split() == "ld [0] jeq #0x27, L2, L3 L2: ret #0x7fff0000 L3: ret #0x50001".split()
    commented = run("dis", getpid).out
    assert [line.split(";")[0].rstrip() for line in commented.splitlines()] == plain.splitlines()
    assert "ALLOW" in run("dis", getpid, "--to", "c").out and "ALLOW" not in run("dis", getpid, "--to", "c", "--plain").out


def test_asm_and_dis_have_default_forms_and_read_standard_input(getpid):
    assert run("asm", getpid, raw=True).out == write_raw(program(getpid.read_text()))
    assert run("dis", getpid).out.lstrip().startswith("ld [0]")
    assert run("dis", stdin=getpid.read_text()).out == run("dis", getpid).out
    assert run("asm", stdin=getpid.read_text(), raw=True).out == run("asm", getpid, raw=True).out


def test_policies_are_compiled():
    docker = POLICIES / "oci" / "docker-default.json"
    assert "arch == x86_64" in run("dis", docker).out
    assert "arch == aarch64" in run("dis", docker, "--arch", "aarch64").out
    few, many = run("asm", docker, raw=True).out, run("asm", docker, "--cap", "CAP_SYS_ADMIN", raw=True).out
    assert len(few) < len(many)


def test_text_forms_match_those_of_other_tools(getpid):
    assert run("dis", getpid, "--to", "ddd").out == "4\n32 0 0 0\n21 0 1 39\n6 0 0 2147418112\n6 0 0 327681\n"
    one_line = "4,32 0 0 0,21 0 1 39,6 0 0 2147418112,6 0 0 327681,\n"  # tcpdump -ddd | tr '\n' ','
    assert converted("-", "raw", stdin=one_line.encode()) == converted(getpid, "raw")
    macros = ("BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),\nBPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),\n"
              "BPF_STMT(BPF_RET | BPF_K, 0x7fff0000),\nBPF_STMT(BPF_RET | BPF_K, 0x50001),\n")
    assert converted("-", "raw", stdin=macros.encode()) == converted(getpid, "raw")


def test_an_output_does_not_replace_its_input(getpid):
    before = getpid.read_bytes()
    assert run("asm", getpid, "-o", getpid).status == 2
    assert getpid.read_bytes() == before


def test_names_in_c_depend_on_the_architecture(tmp_path):
    source = tmp_path / "filter.c"
    source.write_text("""struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 1),
        { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ERRNO | EACCES },
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };""")
    for arch, nr in (("x86_64", 257), ("aarch64", 56)):
        done = run("dis", source, "--arch", arch, "--to", "ddd")
        assert done.out == "4\n32 0 0 0\n21 0 1 %d\n6 0 0 327693\n6 0 0 2147418112\n" % nr
        assert run("run", source, "--arch", arch, "--nr", "openat").out.endswith("ERRNO(13 EACCES)\n")
