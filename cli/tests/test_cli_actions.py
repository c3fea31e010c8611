"""Tests `secequiv actions`: the naive evaluator and `prove` confirm each claim."""

import os
import random
import re

import pytest
from cli_tool import POLICIES, all_programs, evaluate, read_raw, report, run, words_bytes

AUDITS = {"x86_64": 0xC000003E, "x32": 0xC000003E, "i386": 0x40000003, "aarch64": 0xC00000B7, "arm": 0x40000028}
READ_OR_FLAG = "ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njeq #0, yes, n\nn: jeq #1, look, no\nlook: ld [16]\njeq #7, yes, no\n" \
    "yes: ret #0x7fff0000\nno: ret #0x50001\nbad: ret #0x80000000\n"


def number(path, arch, name):
    """Returns the number of a system call."""
    return report("run", path, "--arch", arch, "--nr", name)[0]["data"]["nr"]


def rows_of(document):
    return {row["arch"]: row for row in document["arches"]}


def test_constant_and_argument_dependent_calls_are_listed(asm):
    path = asm(READ_OR_FLAG)
    document, done = report("actions", path)
    rows = rows_of(document)
    assert done.status == 0 and set(rows) == {"x86_64", "x32"}
    by_action = {part["action"]: part["syscalls"] for part in rows["x86_64"]["constant"]}
    assert by_action["ALLOW"] == ["read"] and rows["x86_64"]["others"] == ["write"]
    assert set(by_action) == {"ALLOW", "ERRNO(1 EPERM)"} and len(by_action["ERRNO(1 EPERM)"]) > 300
    assert [part["action"] for part in rows["x32"]["constant"]] == ["ERRNO(1 EPERM)"] and rows["x32"]["others"] == []
    text = run("actions", path).out
    assert text.startswith("x86_64\n  ALLOW                   1: read\n  conditional             1: write\n"
                           "    write: ALLOW if arg0.lo == 0x7, else ERRNO(1 EPERM)\n  ERRNO(1 EPERM) ")
    assert text.count("ERRNO(1 EPERM)") == 3 and text.endswith("x32\n  ERRNO(1 EPERM)             all others\n"), text
    assert run("actions", path, "--allowed").out == (
        "x86_64\n  ALLOW                   1: read\n  conditional             1: write\n"
        "    write: ALLOW if arg0.lo == 0x7, else ERRNO(1 EPERM)\nx32\n  none\n")
    assert max(map(len, text.splitlines())) <= 110


def test_values_computed_from_the_number_alone_are_constant(asm):
    document, _ = report("actions", asm("ld [0]\nadd #5\nret a"))
    row = rows_of(document)["x86_64"]
    assert row["others"] == [] and row["constant"][0] == {"value": "0x00000005", "action": "KILL_THREAD(5)", "syscalls": ["read"]}
    document, _ = report("actions", asm("ld [0]\nadd #5\nret a"), "--arch", "aarch64")
    assert set(rows_of(document)) == {"aarch64", "arm"}
    document, _ = report("actions", asm("ld [16]\nret a"))
    assert rows_of(document)["x86_64"]["constant"] == []


def test_a_call_whose_argument_is_compared_with_its_number_is_not_constant(asm):
    # The bits of nr and arg0 alternate in the diagrams.
    document, _ = report("actions", asm("ld [0]\ntax\nld [16]\nand #1\njgt x, y, n\ny: ret #1\nn: ret #2\n"))
    row = rows_of(document)["x86_64"]
    assert row["others"] == ["read"] and [part["value"] for part in row["constant"]] == ["0x00000002"]


@pytest.mark.parametrize("path", all_programs() + sorted((POLICIES / "seed").glob("*.json")) + [POLICIES / "oci" / "docker-default.json"],
                         ids=lambda path: path.stem)
def test_claims_about_real_filters_are_confirmed(path, tmp_path):
    raw = tmp_path / "program.bpf"
    assert run("asm", path, "-o", raw).status == 0
    insns = read_raw(raw.read_bytes())
    rng = random.Random(4)
    document, done = report("actions", path)
    assert done.status == 0
    constants = sorted({insn.k for insn in insns if insn.code & 7 == 5})
    for row in document["arches"]:
        names = [name for part in row["constant"] for name in part["syscalls"]] + row["others"]
        assert len(names) == len(set(names)) > 200
        for part in rng.sample(row["constant"], min(2, len(row["constant"]))):
            name = rng.choice(part["syscalls"])
            if row["arch"] not in AUDITS:
                continue
            nr = number(raw, row["arch"], name)
            for _ in range(20):
                call = [nr, AUDITS[row["arch"]]] + [rng.choice([0, 1, rng.choice(constants), rng.getrandbits(32)]) for _ in range(14)]
                assert evaluate(insns, words_bytes(call)) == int(part["value"], 16), (name, call)
        for name in row["others"][:2]:
            if row["arch"] not in AUDITS:
                continue
            # A call in `others` is not constant: at least two of its inputs have different results.
            nr = number(raw, row["arch"], name)
            value = evaluate(insns, words_bytes([nr, AUDITS[row["arch"]]] + [0] * 14))
            constant = tmp_path / "constant.asm"
            constant.write_text("ret #%d\n" % value)
            assumption = "arch == %#x && nr == %d" % (AUDITS[row["arch"]], nr)
            assert report("prove", raw, constant, "--assume", assumption)[1].status == 1, name


BY_NUMBER = "every other architecture\n  decided by number, even if the number means another call there\n"


def test_a_filter_without_a_test_of_the_architecture_decides_by_number(asm):
    """Number 11 is munmap for programs of x86_64, and execve for programs of i386, which run on the same machine."""
    path = asm("ld [0]\njeq #11, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    document, _ = report("actions", path)
    allowed = {row["arch"]: [part["syscalls"] for part in row["constant"] if part["action"] == "ALLOW"] for row in document["arches"]}
    assert allowed == {"x86_64": [["munmap"]], "i386": [["execve"]], "x32": []} and document["others_by_number"]
    assert run("actions", path).out.endswith(BY_NUMBER)


def test_architectures_of_the_host_are_listed_beside_the_one_that_is_tested(asm):
    path = asm("ld [4]\njeq #0x40000003, no\nld [0]\njeq #11, y, no\ny: ret #0x7fff0000\nno: ret #0x50001\n")
    document, _ = report("actions", path)
    assert set(rows_of(document)) == {"x86_64", "i386", "x32"} and document["others_by_number"]
    everywhere = report("actions", asm("ret #0x7fff0000\n"))[0]
    assert set(rows_of(everywhere)) == {"x86_64", "i386", "x32"} and not everywhere["others_by_number"]
    aarch64 = report("actions", asm("ld [4]\njeq #0xc00000b7, y, no\ny: ret #0x7fff0000\nno: ret #0\n"))[0]
    assert set(rows_of(aarch64)) == {"aarch64"} and not aarch64["others_by_number"]


def test_stacks_and_same_behaviour_are_supported(asm):
    data, plain = asm("ret #0x7fff0001", "data.asm"), asm("ret #0x7fff0000", "plain.asm")
    assert report("actions", data)[0]["arches"][0]["constant"][0]["value"] == "0x7fff0001"
    assert report("actions", data, "--same", "behaviour")[0]["arches"][0]["constant"][0]["value"] == "0x7fff0000"
    stacked = report("actions", "%s,%s" % (plain, asm(READ_OR_FLAG)))[0]
    assert rows_of(stacked)["x86_64"]["others"] == ["write"]


def test_a_program_that_the_kernel_refuses_is_rejected(asm):
    document, done = report("actions", asm("ld [0]", "bad.asm"))
    assert (done.status, document["error"]) == (4, "rejected")


def test_x32_is_shown_with_x86_64_where_it_is_equal(asm):
    text = run("actions", asm("ld [4]\njeq #0xc000003e, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")).out
    assert re.match(r"x86_64, x32\n  ALLOW +all others\n$", text), text
    policy = POLICIES / "oci" / "docker-default.json"
    lines = run("actions", policy, "--allowed").out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] and "    socket: ALLOW if" in "\n".join(lines)


def test_conditions_are_exact(asm, tmp_path):
    path = POLICIES / "oci" / "docker-default.json"
    constant = tmp_path / "constant.asm"
    for row in report("actions", path)[0]["arches"][:1]:
        assert [call["syscall"] for call in row["conditions"]] == row["others"] != []
        for call in row["conditions"]:
            for choice in call["choices"]:
                value = {"ALLOW": 0x7FFF0000, "ERRNO(1 EPERM)": 0x50001, "ERRNO(38 ENOSYS)": 0x50026}[choice["action"]]
                constant.write_text("ret #%d\n" % value)
                assumption = "arch == %s && nr == %s && (%s)" % (row["arch"], call["syscall"], choice["condition"])
                assert report("prove", path, constant, "--assume", assumption)[0]["verdict"] == "equivalent", assumption


def test_filters_of_a_process_can_be_listed():
    done = run("actions", "--pid", os.getpid())
    assert done.status in (2, 3) or done.out.startswith("x86_64"), done
    again = run("actions", "--pid", hex(os.getpid()))
    assert (again.status, again.out) == (done.status, done.out)
    assert run("actions").status == 2 and run("actions", "--pid", 1, POLICIES / "oci" / "docker-default.json").status == 2
