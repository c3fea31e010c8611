"""`secequiv cache --verify`: the running kernel's own bitmaps, and what is said where they may not be read."""
import ctypes
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from cli_tool import POLICIES, STATUS, all_programs, fits, read_raw, run
from test_cli_cache import SYSTRAP
from test_cli_kernel import SYS_PTRACE, SYS_SECCOMP, forbid

SYS_BPF = 321
CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39
UNFILTERED = (["uretprobe", "uprobe"], ["uretprobe"], [])  # by the kernel's version


def verify(*arguments, **options):
    done = run("cache", "--verify", "--json", *arguments, **options)
    document = json.loads(done.out)
    if document.get("error") == "unavailable":
        if os.environ.get("SECEQUIV_REQUIRE_KERNEL"):
            pytest.fail(done.err)
        pytest.skip(document["detail"])
    return document, done


def verified(*arguments, **options):
    """A run that read bitmaps; they are as they should be. Its rows by architecture."""
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
def test_real_filters(program):
    if len(read_raw(program.read_bytes())) > 4096:
        document, done = verify(program)
        assert (document["error"], done.status) == ("rejected", 4) and "expected 1 to 4096 instructions" in done.err
    else:
        rows, document = verified(program)
        assert document["verdict"] == "pass" and list(rows)[0] == "x86_64"


def policies():
    return sorted(path for path in POLICIES.rglob("*.json") if path.name != "schema.json")


def test_compiled_policies():
    read = 0
    for path in policies():
        document, done = verify(path)
        if "error" in document:
            assert document["error"] == "rejected" and "4096" in done.err, done
        else:
            assert document["kernel"]["agrees"] and done.status == 0, done
            read += 1
    assert read >= 5


def test_before_and_after():
    rows, document = verified(*SYSTRAP)
    assert document["verdict"] == "pass" and all(len(row["cached"]) > 20 for row in [rows["x86_64"]])


def test_lost_calls_fail_though_the_bitmaps_are_the_same(asm):
    first = asm("ld [0]\njeq #39, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    second = asm("ld [0]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n")
    _, document = verified(first, second)
    assert document["verdict"] == "fail"
    text = run("cache", "--verify", first, second)
    assert text.status == 1 and "verdict   fail: Linux %s has the same bitmaps; the kernel no longer" % os.uname().release in text.out
    assert run("cache", "--verify", "--allow-cache-loss", first, second).status == 0
    alone = run("cache", "--verify", first)
    assert alone.status == 0 and alone.out.endswith("verdict   pass: Linux %s has the same bitmaps\n" % os.uname().release)
    assert alone.out.count("numbers, its bitmap has the same") in (1, 2)


def test_without_the_option_nothing_is_read(getpid):
    document = json.loads(run("cache", "--json", getpid, preexec_fn=forbid(SYS_BPF)).out)
    assert "kernel" not in document and all("kernel" not in row for row in document["arches"])


def test_stacks_even_if_filters_forbid_to_install_more(asm, getpid):
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


def without(*capabilities):
    """A child that has all rights but these."""
    def drop():
        for capability in capabilities:
            ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP
    return drop


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def unavailable(done, *says):
    assert done.status == 3 and not done.out and "Traceback" not in done.err, done
    assert any(text in done.err for text in says), done
    return done


RIGHTS = "only CAP_BPF and CAP_PERFMON (root) may read it", "CAP_PERFMON and no lockdown are needed"
ABSENT = "/sys/kernel/btf/vmlinux", "built without libbpf", "x86_64 Linux only"


@pytest.mark.parametrize("missing", [(CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF), (CAP_SYS_ADMIN, CAP_PERFMON), (CAP_SYS_ADMIN, CAP_BPF)])
def test_without_rights_nothing_passes(getpid, missing):
    unavailable(run("cache", "--verify", getpid, preexec_fn=without(*missing)), *RIGHTS, *ABSENT)
    document = json.loads(run("cache", "--verify", "--json", getpid, preexec_fn=without(*missing)).out)
    assert fits(document) == "error" and document["error"] == "unavailable"


def test_another_user(getpid, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        shutil.copy(Path(os.environ["SECEQUIV_BIN"]) / "secequiv", folder)
        monkeypatch.setenv("SECEQUIV_BIN", folder)
        done = run("cache", "--verify", "-", stdin=getpid.read_bytes(), preexec_fn=as_nobody, cwd="/")
        unavailable(done, *RIGHTS, *ABSENT)
        assert run("cache", "-", stdin=getpid.read_bytes(), preexec_fn=as_nobody, cwd="/").status == 0


def test_where_seccomp_cannot_be_suspended(getpid):
    verified(getpid)
    rights = {"preexec_fn": without(CAP_SYS_ADMIN)}
    verified(getpid, **rights)
    verified("%s,%s" % (getpid, SYSTRAP[0].parent.parent / "libseccomp" / "docker-x86_64.tree.bpf"), **rights)
    for stack in ("%s,%s" % (getpid, getpid), "%s,%s" % (getpid, SYSTRAP[0])):
        unavailable(run("cache", "--verify", stack, **rights), "1 of 2 filters could be installed: they forbid seccomp()")


@pytest.mark.parametrize("call, says", [(SYS_BPF, RIGHTS[0]), (SYS_PTRACE, "ptrace is not permitted here"),
                                        (SYS_SECCOMP, "seccomp is not permitted here"),
                                        (1 << 30, "expected 1 filters in the filter's process, found 2")])
def test_where_it_is_not_permitted(getpid, call, says):
    verified(getpid)
    unavailable(run("cache", "--verify", getpid, preexec_fn=forbid(call)), says)


def test_another_architecture(getpid):
    unavailable(run("cache", "--verify", getpid, "--arch", "aarch64"), "not of aarch64")
