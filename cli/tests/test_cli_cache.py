"""Tests `secequiv cache`: the calls that the kernel answers from its bitmap, and those that a change loses. A second implementation
computes the expected calls."""
# This test also runs in the preset asan.
import json

import pytest
from cli_tool import PROGRAMS, fits, read_raw, run

SYSTRAP = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
X86_64, I386 = 0xC000003E, 0x40000003
ALLOW = 0x7FFF0000


def ask(*arguments):
    done = run("cache", "--json", *arguments)
    document = json.loads(done.out)
    assert fits(document) == "cache" and done.status == (0 if document["verdict"] == "pass" else 1), done
    return {row["arch"]: row for row in document["arches"]}


def constant_allow(insns, nr, arch):
    """Implements seccomp_is_const_allow of kernel/seccomp.c independently."""
    pc, a = 0, 0
    while True:
        code, jt, jf, k = insns[pc]
        if code == 0x20 and k in (0, 4):
            a = nr if k == 0 else arch
        elif code == 0x54:
            a &= k
        elif code == 0x05:
            pc += k
        elif code in (0x15, 0x25, 0x35, 0x45):
            taken = {0x15: a == k, 0x25: a > k, 0x35: a >= k, 0x45: a & k != 0}[code]
            pc += jt if taken else jf
        else:
            return code == 0x06 and k == ALLOW
        pc += 1


@pytest.mark.parametrize("program", [*SYSTRAP, PROGRAMS / "libseccomp" / "docker-x86_64.tree.bpf"], ids=lambda path: path.stem)
def test_the_cache_of_real_filters_matches_the_kernels_algorithm(program):
    insns = read_raw(program.read_bytes())
    arches = ask(program)
    assert set(arches) == {"x86_64", "i386"}
    for name, audit in (("x86_64", X86_64), ("i386", I386)):
        expected = sum(constant_allow(insns, nr, audit) for nr in range(arches[name]["numbers"]))
        assert len(arches[name]["cached"]) == expected
    assert arches["x86_64"]["numbers"] > 450 and len(arches["x86_64"]["cached"]) > 20


def test_a_call_that_loads_an_argument_is_constant_but_not_cached(asm):
    filter_ = asm("ld [4]\njeq #0xc000003e, here, no\nhere: ld [0]\njeq #39, yes, b\nb: jeq #0, d, c\nc: jeq #1, e, no\n"
                  "d: ld [16]\njeq #3, yes, no\ne: ld [16]\nyes: ret #0x7fff0000\nno: ret #0x50001\n")
    row = ask(filter_)["x86_64"]
    assert row["cached"] == ["getpid"]
    # write is always allowed, but its path loads an argument, so the kernel does not cache it; read depends on the argument.
    assert row["constant"] == len(json.loads(run("actions", filter_, "--json").out)["arches"][0]["constant"][0]["syscalls"]) + 2


def test_lost_and_gained_calls_are_listed(asm):
    first = asm("ld [0]\njeq #39, yes, next\nnext: jeq #0, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    second = asm("ld [0]\njeq #39, b, next\nnext: jeq #1, yes, no\nb: ld [16]\nyes: ret #0x7fff0000\nno: ret #0\n")
    row = ask(first, second)["x86_64"]
    assert (row["cached"], row["after"]["cached"]) == (["read", "getpid"], ["write"])
    assert (row["after"]["lost"], row["after"]["gained"]) == (["read", "getpid"], ["write"])
    assert run("cache", first, second).status == 1
    assert run("cache", first, second, "--allow-cache-loss").status == 0
    assert run("cache", first, first).status == 0


def test_a_stack_caches_only_calls_that_all_filters_cache(asm):
    first = asm("ld [0]\njeq #39, yes, next\nnext: jeq #0, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    second = asm("ld [0]\njeq #39, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    assert ask("%s,%s" % (first, second))["x86_64"]["cached"] == ["getpid"]


def test_gvisors_optimizer_loses_no_cached_call():
    arches = ask(*SYSTRAP)
    assert all(row["after"]["lost"] == [] for row in arches.values())


def test_a_cached_number_without_a_name_is_listed(asm):
    row = ask(asm("ld [0]\njeq #336, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n"))["x86_64"]
    assert row["cached"] in (["syscall 336"], ["uprobe"])
