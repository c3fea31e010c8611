"""Tests `prove --property`: clauses on the command line, in files and in the library, and all forms of the report. For each property
of the library there is a filter that has it, and filters that each leave one door open."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from cli_tool import HARD_AFTER, HARD_BEFORE, POLICIES, ROOT, agrees, evaluate, fits, run, words_bytes
from cli_tool import program as read_asm

DOCKER = POLICIES / "oci" / "docker-default.json"
LIBRARY = [line.split()[0] for line in run("prove", "--list-properties").out.splitlines()]


def prove(path, *properties, status, args=()):
    """Runs the proof with --json; returns its clauses by text."""
    done = run("prove", path, *[part for each in properties for part in ("--property", each)], *args, "--json")
    document = json.loads(done.out)
    assert fits(document) == "prove-property" and done.status == status, done
    assert document["verdict"] == {0: "pass", 1: "fail", 3: "unknown", 4: "rejected"}[status]
    for clause in document.get("clauses", []):
        if "witness" in clause:
            agrees(clause["witness"])
    return {clause["clause"]: clause for clause in document.get("clauses", [])}


def violated(clauses):
    return [text for text, clause in clauses.items() if clause["verdict"] == "fail"]


def test_the_witness_is_what_the_filter_returns(getpid):
    clauses = prove(getpid, "refused: getpid", "refused: ptrace", "allowed: getpid", "killed: getpid", status=1)
    assert violated(clauses) == ["refused: getpid", "killed: getpid"]
    witness = clauses["refused: getpid"]["witness"]
    returned = int(witness["returned"]["value"], 16)
    assert returned == evaluate(read_asm(getpid.read_text()), words_bytes(witness["data"]["words"])) == 0x7FFF0000
    assert witness["data"]["nr"] == 39 and witness["data"]["arch_name"] == "x86_64"
    assert witness["rule"]["line"] == 3


def test_text_names_the_clause_the_input_and_the_deciding_line(getpid):
    done = run("prove", getpid, "--property", "refused: getpid")
    assert done.status == 1 and done.out.splitlines()[0] == "violated: refused: getpid"
    assert re.search(r"  returns 0x7fff0000 ALLOW: .*getpid.asm:3 \(after the test in line 2\)\n  wanted  refused \(at most ERRNO\)\n", done.out), done.out
    assert done.out.splitlines()[-1] == "fail: 1 clause: 0 proven, 1 violated"
    done = run("prove", getpid, "--property", "refused: reboot", "--quiet", "--assume", "arch == x86_64")
    assert done.status == 0 and done.out == ""
    done = run("prove", getpid, "--property", "refused: getpid", "--quiet")
    assert done.status == 1 and done.out == "fail: 1 clause: 0 proven, 1 violated\n"


def test_a_file_a_name_and_text_can_be_combined(getpid, tmp_path):
    file = tmp_path / "mine.property"
    file.write_text("# mine\nkilled: reboot\nallowed: getpid\n")
    done = run("prove", getpid, "--property", file, "--property", "no-io-uring", "--property", "refused: mount", "--assume", "arch == x86_64")
    assert done.status == 1, done
    lines = done.out.splitlines()
    assert "violated: %s:2: killed: reboot" % file in lines and "proven: %s:3: allowed: getpid" % file in lines
    assert any(line.startswith("proven: no-io-uring:") for line in lines) and "proven: refused: mount" in lines
    assert run("prove", getpid, "--property", "-", "--assume", "arch == x86_64", stdin="refused: mount\n").status == 0


def test_stacks_and_policies_have_properties(getpid, asm):
    kill = asm("ret #0\n", "kill.asm")
    assert run("prove", "%s,%s" % (getpid, kill), "--property", "always: killed").status == 0
    assert run("prove", "%s,%s" % (getpid, getpid), "--property", "always: killed").status == 1
    clauses = prove(DOCKER, "refused: ptrace", status=1)
    assert clauses["refused: ptrace"]["witness"]["rule"]["file"] == str(DOCKER)
    done = run("prove", DOCKER, "--property", "refused: keyctl")
    assert done.status == 0 and "holds for x86_64, Linux 6.1" in done.out
    assert run("prove", DOCKER, "--property", "refused: ptrace", "--kernel-version", "4.0").status == 0


def test_symbols_in_the_filter(asm):
    filter = asm("ld [0]\njeq #$number, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    clauses = prove(filter, "when nr == 5: refused", status=1)
    assert clauses["when nr == 5: refused"]["witness"]["symbols"] == {"number": 5}
    assert run("prove", filter, "--property", "when nr == 5: refused", "--assume", "$number == 4").status == 0
    divides = asm("ld [0]\ndiv #$number\nret #0x50001\n")
    assert run("prove", divides, "--property", "always: refused").status == 0, "0 is refused by the kernel, whoever fills it in"


@pytest.mark.parametrize("engine", ["dd", "sat", "z3", "both"])
def test_every_engine_answers(getpid, engine):
    assert violated(prove(getpid, "allowed: getpid", "killed: getpid", status=1, args=("--engine", engine))) == ["killed: getpid"]


def test_the_kernel_runs_the_witness_in_the_filter_alone(getpid):
    done = run("prove", getpid, "--property", "refused: getpid", "--property", "killed: mount", "--property", "allowed: getpid", "--oracle", "kernel")
    if "unavailable" in done.err or done.status == 3:
        pytest.skip(done.err)
    assert done.status == 1 and re.findall(r"^oracle .* on (.*): 1 input, the same", done.out, re.MULTILINE) == [str(getpid)] * 2, done


def test_limits_give_unknown(asm):
    """The filter allows an input if two ways to multiply differ. They never do, but no engine proves this in a second."""
    hard = asm(HARD_BEFORE + "st M[7]\n" + HARD_AFTER + "tax\nld M[7]\nsub x\njeq #0, y, n\ny: ret #0x50001\nn: ret #0x7fff0000\n")
    clauses = prove(hard, "always: refused", "refused: ptrace", status=3, args=("--timeout", "1"))
    assert clauses["always: refused"]["verdict"] == "unknown" and clauses["always: refused"]["detail"]


def test_a_filter_that_the_kernel_refuses(asm):
    done = run("prove", asm("ld M[3]\nret a\n"), "--property", "always: refused")
    assert done.status == 4 and done.out.startswith("rejected: "), done
    prove(asm("ld M[3]\nret a\n"), "always: refused", status=4)


def test_an_assumption_can_exclude_clauses(getpid):
    assume = ("--assume", "arch == x86_64 && nr == 0")
    clauses = prove(getpid, "refused: getpid", "refused: read", status=0, args=assume)
    assert [text for text, clause in clauses.items() if clause.get("excluded")] == ["refused: getpid"]
    done = run("prove", getpid, "--property", "refused: getpid", "--property", "refused: read", *assume)
    assert done.status == 0 and done.out.splitlines()[:3] == ["assuming arch == x86_64 && nr == 0", "excluded: refused: getpid", "proven: refused: read"], done
    assert done.out.splitlines()[-1] == "pass: 2 clauses: 1 proven, 1 excluded by the assumption"
    done = run("prove", getpid, "--property", "refused: getpid", *assume)
    assert done.status == 2 and "--assume: no input of any clause satisfies the assumption" in done.err


@pytest.mark.parametrize("args, message", [
    (["--property", "refused: ptrase"], "--property:1:10: expected a system call of x86_64, found 'ptrase'; did you mean ptrace?"),
    (["--property", "no-ptrase"], "found 'no-ptrase'; did you mean no-ptrace?; there is no file with this name"),
    (["--property", "when nr == read: refusd"], "--property:1:18: expected an outcome"),
    (["--property", "always: refused", "--refines"], "--refines cannot be combined with --property"),
    (["--property", "always: refused", "--certificate", "c"], "--property cannot be combined with --certificate"),
    (["--property", "always: refused", "--emit-smt2", "q"], "--property cannot be combined with --emit-smt2"),
    (["--property", "always: refused", "--assume", "nr = 1"], "--assume: column 4: expected =="),
    (["--property"], "--property: expected a value"),
    ([], "the argument 'after' is required"),
])
def test_errors(getpid, args, message):
    done = run("prove", getpid, *args, cwd=getpid.parent)
    assert done.status == 2 and done.out == "" and message in done.err, done


def test_one_filter_only(getpid):
    done = run("prove", getpid, getpid, "--property", "always: refused")
    assert done.status == 2 and "--property: expected one filter, found a second" in done.err
    assert "the argument 'before' is required" in run("prove").err


def test_errors_in_files_name_the_line(getpid, tmp_path):
    file = tmp_path / "p"
    file.write_text("# ok\nrefused: ptrace,\n  chdri\n")
    done = run("prove", getpid, "--property", file)
    assert done.status == 2 and "%s:3:3: expected a system call of x86_64, found 'chdri'; did you mean chdir or fchdir?" % file in done.err


def test_an_output_does_not_replace_a_property(getpid, tmp_path):
    file = tmp_path / "p.property"
    file.write_text("refused: mount\n")
    done = run("prove", getpid, "--property", file, "--junit", file)
    assert done.status == 2 and "is also an input" in done.err and file.read_text() == "refused: mount\n"


def test_reports(getpid, tmp_path):
    run("prove", getpid, "--property", "no-io-uring", "--property", "refused: getpid", "--assume", "arch == x86_64", "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", cwd=getpid.parent)
    cases = ET.parse(getpid.parent / "j.xml").getroot().findall(".//testcase")
    assert [case.find("failure") is not None for case in cases] == [False, True], cases
    assert "wanted  refused (at most ERRNO)" in cases[1].find("failure").text
    results = json.loads((getpid.parent / "s.json").read_text())["runs"][0]["results"]
    failed = [each for each in results if each.get("level") == "error"]
    assert len(failed) == 1 and failed[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3, results
    assert "refused: getpid" in (getpid.parent / "m.md").read_text()


def test_the_library_is_the_folder(getpid):
    titles = [re.match(r"# property ([^:]+): (.+)\n", path.read_text()) for path in (ROOT / "corpus" / "properties").glob("*.property")]
    assert sorted(title[1] for title in titles) == LIBRARY and len(LIBRARY) >= 7
    assert {line.split(None, 1)[1] for line in run("prove", "--list-properties").out.splitlines()} == {title[2] for title in titles}


ONLY_X86 = "ld [4]\njeq #0xc000003e, ok, bad\nok: ld [0]\njge #0x40000000, bad, in\nbad: ret #0\nin: "


@pytest.mark.parametrize("name", LIBRARY)
def test_a_filter_that_allows_nothing_has_every_property(asm, name):
    assert run("prove", asm("ret #0x50001\n"), "--property", name).status == 0


@pytest.mark.parametrize("name", LIBRARY)
def test_a_filter_that_allows_everything_has_no_property(asm, name):
    clauses = prove(asm("ret #0x7fff0000\n"), name, status=1)
    assert violated(clauses) == list(clauses), "every clause is about something"


# For each property: code for x86_64 alone that has it. `no` refuses and `yes` allows.
HAS = {
    "arch-closed": "jmp yes",
    "no-io-uring": "jeq #425, no\njeq #426, no\njeq #427, no, yes",
    "no-network": "jeq #425, no\njeq #41, family\njeq #53, family, yes\nfamily: ld [16]\njeq #1, yes, no",
    "no-new-namespaces": "jeq #435, no\njeq #308, no\njeq #56, clone\njeq #272, unshare\njeq #428, tree\njeq #467, tree\njeq #432, mount, yes\n"
                         "clone: ld [16]\njset #0x7e020000, no, yes\nunshare: ld [16]\njset #0x7e120080, no, yes\ntree: ld [32]\njset #2, no, yes\nmount: ld [24]\njset #2, no, yes",
    "no-ptrace": "jeq #101, no\njeq #310, no\njeq #311, no\njeq #312, no\njeq #438, no\njeq #440, no\njeq #298, perf, yes\nperf: ld [24]\njeq #0, self, no\nself: ld [48]\njset #4, no, yes",
    "no-tiocsti": "jeq #16, ioctl, yes\nioctl: ld [24]\njeq #0x5412, no\njeq #0x541c, no, yes",
    "w^x": "jeq #9, prot\njeq #10, prot\njeq #329, prot\njeq #30, shm\njeq #135, person, yes\nprot: ld [32]\nand #6\njeq #6, no, yes\n"
           "shm: ld [32]\nand #0x9000\njeq #0x8000, no, yes\nperson: ld [16]\njeq #0xffffffff, yes\njset #0x400000, no, yes",
}
# Changes of that code, each of which opens one door, and the system call or architecture of the witness.
OPENED = {
    "arch-closed": [],
    "no-io-uring": [("jeq #426, no\n", "", "io_uring_enter")],
    "no-network": [("jeq #53, family, yes", "jmp yes", "socketpair"), ("jeq #425, no\n", "", "io_uring_setup"), ("jeq #1, yes, no", "jge #2, yes, no", "socket")],
    "no-new-namespaces": [("jeq #435, no\n", "", "clone3"), ("jeq #308, no\n", "", "setns"), ("0x7e120080", "0x7e120000", "unshare"), ("0x7e020000", "0x6e020000", "clone"),
                          ("jeq #467, tree\n", "", "open_tree_attr"), ("ld [24]\njset #2", "ld [32]\njset #2", "fsmount")],
    "no-ptrace": [("jeq #%d, no\n" % nr, "", call) for nr, call in ((101, "ptrace"), (310, "process_vm_readv"), (312, "kcmp"), (438, "pidfd_getfd"), (440, "process_madvise"))]
    + [("jeq #0, self, no", "jmp self", "perf_event_open"), ("jset #4, no, yes", "jmp yes", "perf_event_open")],
    "no-tiocsti": [("jeq #0x541c, no, yes", "jmp yes", "ioctl"), ("ioctl: ", "ioctl: ld [28]\njeq #0, low, yes\nlow: ", "ioctl")],
    "w^x": [("jeq #10, prot\n", "", "mprotect"), ("jeq #329, prot\n", "", "pkey_mprotect"), ("jeq #30, shm\n", "", "shmat"), ("#0x400000", "#0x800000", "personality"),
            ("prot: ", "prot: ld [36]\njeq #0, low, yes\nlow: ", "mmap")],
}


def only_x86_64(asm, code):
    return asm(ONLY_X86 + code + "\nyes: ret #0x7fff0000\nno: ret #0x50001\n")


@pytest.mark.parametrize("name", LIBRARY)
def test_a_filter_with_the_property(asm, name):
    assert set(HAS) == set(OPENED) == set(LIBRARY)
    clauses = prove(only_x86_64(asm, HAS[name]), name, status=0)
    assert clauses


@pytest.mark.parametrize("name, old, new, call", [(name, *change) for name, changes in OPENED.items() for change in changes])
def test_each_door_is_covered(asm, name, old, new, call):
    assert old in HAS[name]
    clauses = prove(only_x86_64(asm, HAS[name].replace(old, new)), name, status=1)
    assert call in [each["witness"]["data"]["syscall"] for each in violating(clauses)] and len(violated(clauses)) <= 2


@pytest.mark.parametrize("name", LIBRARY)
def test_other_entries_to_the_kernel_are_doors(asm, name):
    """x32, int $0x80 and other architectures are violations if the filter lets them pass."""
    x32 = only_x86_64(asm, HAS[name]).read_text().replace("jge #0x40000000, bad, in", "jge #0x40000000, yes, in")
    for clause in violating(prove(asm(x32), name, status=1)):
        assert clause["witness"]["data"]["arch_name"] == "x32"
    i386 = only_x86_64(asm, HAS[name]).read_text().replace("jeq #0xc000003e, ok, bad", "jeq #0xc000003e, ok\njeq #0x40000003, yes, bad")
    for clause in violating(prove(asm(i386), name, status=1)):
        assert clause["witness"]["data"]["arch_name"] == "i386"


def violating(clauses):
    found = [clause for clause in clauses.values() if clause["verdict"] == "fail"]
    assert found
    return found


def test_multiplexers_and_calls_with_arguments_in_memory(asm):
    """On i386, only refusing the whole call closes these doors."""
    i386 = "ld [4]\njeq #0x40000003, in, no\nin: ld [0]\n%s\nyes: ret #0x7fff0000\nno: ret #0x50001\n"
    network = prove(asm(i386 % "jeq #359, no\njeq #360, no\njeq #425, no, yes"), "no-network", status=1)
    assert [(each["witness"]["data"]["syscall"], each["witness"]["data"]["args"][0]) for each in violating(network)] == [("socketcall", "0x1")]
    prove(asm(i386 % "jeq #102, call\njeq #359, no\njeq #360, no\njeq #425, no, yes\ncall: ld [16]\njeq #1, no\njeq #8, no, yes"), "no-network", status=0)
    memory = prove(asm(i386 % "jeq #192, no\njeq #125, no\njeq #380, no\njeq #397, no\njeq #136, no\njeq #86, no, yes"), "w^x", status=1)
    assert sorted(each["witness"]["data"]["syscall"] for each in violating(memory)) == ["ipc", "mmap", "mmap"]


def test_the_order_of_clones_arguments_on_s390x(asm):
    code = "ld [4]\njeq #0x80000016, in, no\nin: ld [0]\njeq #120, clone, no\nclone: ld [%d]\njset #0x7e020000, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n"
    assert run("prove", asm(code % 28), "--property", "no-new-namespaces").status == 0  # the low half of the second argument
    assert run("prove", asm(code % 20), "--property", "no-new-namespaces").status == 1


def test_mips_has_requests_of_its_own(asm):
    code = "ld [4]\njeq #0x80000008, in, no\nin: ld [0]\njeq #5015, ioctl, yes\nioctl: ld [28]\njeq #%#x, no\njeq #%#x, no, yes\nyes: ret #0x7fff0000\nno: ret #0x50001\n"
    assert run("prove", asm(code % (0x5472, 0x5483)), "--property", "no-tiocsti").status == 0
    assert run("prove", asm(code % (0x5412, 0x541C)), "--property", "no-tiocsti").status == 1


def test_a_flag_that_an_architecture_lacks_is_never_set_there(asm):
    """PROT_BTI is a flag of aarch64. On x86_64, no mprotect has it, and the exception never applies."""
    allowed = asm("ld [4]\njeq #0xc000003e, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n")
    prove(allowed, "when nr == mprotect && arg2.lo & PROT_BTI != 0: refused", status=0)
    clauses = prove(allowed, "when nr == mprotect: arg2.lo & PROT_BTI != 0 or refused", status=1)
    assert not any(clause.get("excluded") for clause in clauses.values())


def test_the_example_against_allowed_is_the_least_permissive(asm):
    done = run("prove", asm("ld [16]\njeq #7, worse, bad\nworse: ret #0\nbad: ret #0x50001\n"), "--property", "allowed: getpid")
    assert done.status == 1 and "KILL_THREAD" in done.out and "least permissive result" in done.out, done

