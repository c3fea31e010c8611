"""Tests `secequiv cache --verify`: the running kernel's own bitmaps, and the messages if they cannot be read."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from cli_tool import POLICIES, STATUS, all_programs, fits, read_raw, run
from test_cli_cache import SYSTRAP
from test_cli_kernel import SYS_PTRACE, SYS_SECCOMP, forbid

SYS_BPF = 321
CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39
UNFILTERED = (["uretprobe", "uprobe"], ["uretprobe"], [])  # depends on the kernel's version


def verify(*arguments, **options):
    done = run("cache", "--verify", "--json", *arguments, **options)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        pytest.skip(done.err)
    return document, done


def verified(*arguments, **options):
    """Runs `cache --verify`, which must read bitmaps that match the model; returns the rows by architecture and the report."""
    document, done = verify(*arguments, **options)
    assert fits(document) == "cache" and done.status == STATUS[document["verdict"]], done
    assert document["kernel"] == {"release": os.uname().release, "agrees": True}
    rows = {row["arch"]: row for row in document["arches"]}
    for arch, row in rows.items():
        assert ("after" in row) == (len(arguments) == 2)
        for side in [row] + [row[key] for key in ("after",) if key in row]:
            kernel = side["kernel"]
            if arch != "x86_64" and kernel is None:
                continue  # a kernel without CONFIG_COMPAT
            assert kernel["agrees"] and kernel["only_model"] == kernel["only_kernel"] == []
            assert kernel["unfiltered"] in (UNFILTERED if arch == "x86_64" else ([],))
            assert abs(kernel["numbers"] - row["numbers"]) < 100
    return rows, document


@pytest.mark.parametrize("program", all_programs(), ids=lambda path: path.stem)
def test_bitmaps_of_real_filters_match_the_model(program):
    if len(read_raw(program.read_bytes())) > 4096:
        document, done = verify(program)
        assert (document["error"], done.status) == ("rejected", 4) and "expected 1 to 4096 instructions" in done.err
    else:
        rows, document = verified(program)
        assert document["verdict"] == "pass" and list(rows)[0] == "x86_64"


def policies():
    return sorted(path for path in POLICIES.rglob("*.json") if path.name != "schema.json")


def test_bitmaps_of_compiled_policies_match_the_model():
    read = 0
    for path in policies():
        document, done = verify(path)
        if "error" in document:
            assert document["error"] == "rejected" and "4096" in done.err, done
        else:
            assert document["kernel"]["agrees"] and done.status == 0, done
            read += 1
    assert read >= 5


def test_bitmaps_of_a_pair_match_the_model():
    rows, document = verified(*SYSTRAP)
    assert document["verdict"] == "pass" and all(len(row["cached"]) > 20 for row in [rows["x86_64"]])


def test_a_lost_call_fails_even_if_the_bitmaps_match_the_model(asm):
    first = asm("ld [0]\njeq #39, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    second = asm("ld [0]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    _, document = verified(first, second)
    assert document["verdict"] == "fail"
    text = run("cache", "--verify", first, second)
    assert text.status == 1 and "verdict   fail: Linux %s has the same bitmaps; the kernel no longer" % os.uname().release in text.out
    assert run("cache", "--verify", "--allow-cache-loss", first, second).status == 0
    alone = run("cache", "--verify", first)
    assert alone.status == 0 and alone.out.endswith("verdict   pass: Linux %s has the same bitmaps\n" % os.uname().release)
    assert alone.out.count("numbers, its bitmap agrees") in (1, 2)


def test_without_verify_no_bitmap_is_read(getpid):
    document = json.loads(run("cache", "--json", getpid, preexec_fn=forbid(SYS_BPF)).out)
    assert "kernel" not in document and all("kernel" not in row for row in document["arches"])


def test_stacks_are_verified_even_if_a_filter_forbids_seccomp(asm, getpid):
    more = asm("ld [0]\njeq #39, yes, next\nnext: jeq #0, yes, no\nyes: ret #0x7fff0000\nno: ret #0x80000000\n")
    trap = asm("ld [0]\njeq #39, yes, no\nyes: ret #0x7fff0000\nno: ret #0x30000\n")
    for stack in ([more, getpid], [getpid, more], [getpid, more, trap, getpid], [trap, SYSTRAP[1]]):
        rows, _ = verified(",".join(map(str, stack)))
        assert rows["x86_64"]["cached"] == ["getpid"], stack
    rows, _ = verified("%s,%s" % (more, more))
    assert rows["x86_64"]["cached"] == ["read", "getpid"]
    nothing = asm("ret #0\n")
    rows, _ = verified("%s,%s" % (more, nothing))
    assert rows["x86_64"]["cached"] == []


# This library replaces syscall(), with which libbpf calls the kernel. It flips a bit from the third reading on; the first two
# readings find what all filters have in common.
FLIP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  static int runs;
  long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long done = real(number, a, b, c, d, e, f);
  if (number == SYS_bpf && a == BPF_PROG_TEST_RUN && ++runs > 2)
    ((unsigned char*)((union bpf_attr*)b)->test.ctx_in)[24 + BYTE] ^= 1 << BIT;
  return done;
}
"""


@pytest.mark.parametrize("nr, side, name", [(39, "only_model", "getpid"), (40, "only_kernel", "sendfile"),
                                            (469, "only_kernel", "file_setattr"), (512 + 20, "only_model", "getpid"),
                                            (512 + 3, "only_kernel", "read")])
def test_a_bitmap_that_differs_in_one_bit_fails(asm, tmp_path, nr, side, name):
    filter_ = asm("ld [4]\njeq #0xc000003e, native, compat\nnative: ld [0]\njeq #39, yes, no\n"
                  "compat: ld [0]\njeq #20, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    rows, _ = verified(filter_)
    if rows["x86_64"]["kernel"]["numbers"] not in range(470, 513) or rows["i386"]["kernel"] is None:
        pytest.skip("this kernel's bitmaps are not where this test expects them")
    (tmp_path / "flip.c").write_text(FLIP.replace("BYTE", str(nr // 8)).replace("BIT", str(nr % 8)))
    compiler = next(path for path in map(shutil.which, ("clang-19", "cc", "gcc")) if path)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "flip.so", tmp_path / "flip.c", "-ldl"], check=True)
    preload = {"env": {**os.environ, "LD_PRELOAD": str(tmp_path / "flip.so"), "ASAN_OPTIONS": "verify_asan_link_order=0"}}
    done = run("cache", "--verify", "--json", filter_, **preload)
    document = json.loads(done.out)
    assert fits(document) == "cache" and done.status == 1 and document["verdict"] == "fail", done
    assert document["kernel"]["agrees"] is False
    arch = "i386" if nr >= 512 else "x86_64"
    for row in document["arches"]:
        wrong = row["arch"] == arch
        assert row["kernel"]["agrees"] == (not wrong)
        for one in ("only_model", "only_kernel"):
            assert row["kernel"][one] == ([name] if wrong and one == side else [])
    second = json.loads(run("cache", "--verify", "--json", "--allow-cache-loss", filter_, filter_, **preload).out)
    assert second["verdict"] == "fail" and not all(row["after"]["kernel"]["agrees"] for row in second["arches"])
    text = run("cache", "--verify", filter_, **preload)
    assert text.status == 1 and "its bitmap DIFFERS" in text.out and "1: %s\n" % name in text.out
    assert text.out.endswith("verdict   fail: Linux %s has DIFFERENT bitmaps\n" % os.uname().release)


def without(*capabilities):
    """Drops these capabilities in a child process."""
    def drop():
        for capability in capabilities:
            ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP
    return drop


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def unavailable(done, *message):
    assert done.status == 3 and not done.out and "Traceback" not in done.err, done
    assert any(text in done.err for text in message), done
    return done


RIGHTS = "reading it needs CAP_BPF and CAP_PERFMON (root)", "CAP_PERFMON and no lockdown are needed"
ABSENT = "/sys/kernel/btf/vmlinux", "built without libbpf", "can only be read on x86_64 Linux"


@pytest.mark.parametrize("missing", [(CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF), (CAP_SYS_ADMIN, CAP_PERFMON), (CAP_SYS_ADMIN, CAP_BPF)])
def test_missing_capabilities_never_give_a_pass(getpid, missing):
    unavailable(run("cache", "--verify", getpid, preexec_fn=without(*missing)), *RIGHTS, *ABSENT)
    document = json.loads(run("cache", "--verify", "--json", getpid, preexec_fn=without(*missing)).out)
    assert fits(document) == "error" and document["error"] == "unavailable"


def test_an_unprivileged_user_cannot_verify(getpid, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        shutil.copy(Path(os.environ["SECEQUIV_BIN"]) / "secequiv", folder)
        monkeypatch.setenv("SECEQUIV_BIN", folder)
        done = run("cache", "--verify", "-", stdin=getpid.read_bytes(), preexec_fn=as_nobody, cwd="/")
        unavailable(done, *RIGHTS, *ABSENT)
        assert run("cache", "-", stdin=getpid.read_bytes(), preexec_fn=as_nobody, cwd="/").status == 0


def test_a_stack_that_blocks_its_own_installation_needs_cap_sys_admin(getpid):
    verified(getpid)
    rights = {"preexec_fn": without(CAP_SYS_ADMIN)}
    verified(getpid, **rights)
    verified("%s,%s" % (getpid, SYSTRAP[0].parent.parent / "libseccomp" / "docker-x86_64.tree.bpf"), **rights)
    for stack in ("%s,%s" % (getpid, getpid), "%s,%s" % (getpid, SYSTRAP[0])):
        unavailable(run("cache", "--verify", stack, **rights), "1 of 2 filters could be installed: either the filters are too long together, or one forbids seccomp()")


@pytest.mark.parametrize("call, message", [(SYS_BPF, RIGHTS[0]), (SYS_PTRACE, "ptrace is not permitted here"),
                                        (SYS_SECCOMP, "seccomp is not permitted here"),
                                        (1 << 30, "expected 1 filters in the filter's process, found 2")])
def test_forbidden_system_calls_make_verify_unavailable(getpid, call, message):
    verified(getpid)
    unavailable(run("cache", "--verify", getpid, preexec_fn=forbid(call)), message)


def test_only_x86_64_can_be_verified(getpid):
    unavailable(run("cache", "--verify", getpid, "--arch", "aarch64"), "bitmaps can be read, found aarch64")


def test_libbpf_is_loaded_only_to_read_a_bitmap(getpid, tmp_path):
    (tmp_path / "libbpf.so.1").write_text("not a library")
    broken = {"env": {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}}
    assert run("cache", getpid, **broken).status == 0
    unavailable(run("cache", "--verify", getpid, **broken), "libbpf cannot be loaded: %s/libbpf.so.1: " % tmp_path)
