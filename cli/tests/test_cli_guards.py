"""Tests inputs that people mix up: swapped pairs, programs in place of policies, files of other kinds, other tools' listings."""

import shutil

import pytest
from cli_tool import POLICIES, run

ALLOW = "ld [0]\njeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n"
LONGER = "ld [0]\njeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ld [4]\nret #0x50001\n"
LISTING = """ line  CODE  JT   JF      K
=================================
 0000: 0x20 0x00 0x00 0x00000000  A = sys_number
 0001: 0x15 0x00 0x01 0x00000027  if (A != getpid) goto 0003
 0002: 0x06 0x00 0x00 0x7fff0000  return ALLOW
 0003: 0x06 0x00 0x00 0x00050001  return ERRNO(1)
"""


@pytest.mark.parametrize("first, second, swapped", [
    ("a.after.asm", "a.before.asm", True), ("a.before.asm", "a.after.asm", False), ("new/p.asm", "old/p.asm", True), ("optimized.asm", "unoptimized.asm", True),
    ("unoptimized.asm", "optimized.asm", False), ("x-opt.asm", "x-orig.asm", True), ("after.asm", "other.asm", False), ("thereafter.asm", "therebefore.asm", False)])
@pytest.mark.parametrize("command", ["check", "prove", "diff", "fuzz"])
def test_a_pair_that_looks_swapped_is_noted(command, first, second, swapped, tmp_path):
    for name, text in ((first, ALLOW), (second, LONGER)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    more = ["--trials", "100"] if command == "fuzz" else []
    done = run(command, first, second, *more, cwd=tmp_path)
    assert done.status == 0, done
    assert ("are they swapped?" in done.err) == swapped, done
    if swapped:
        assert "it is called %s and the second is called %s: are they swapped?" % (first, second) in done.err
    # If the first program is longer, it cannot be the optimized form of the second, so there is no warning.
    (tmp_path / first).write_text(LONGER)
    (tmp_path / second).write_text(ALLOW)
    assert "swapped" not in run(command, first, second, *more, cwd=tmp_path).err


def test_policies_that_look_swapped_are_noted(tmp_path):
    for name in ("new.json", "old.json"):
        shutil.copy(POLICIES / "seed" / "ten-syscalls.json", tmp_path / name)
    assert "are they swapped?" in run("check", "new.json", "old.json", cwd=tmp_path).err
    assert "swapped" not in run("check", "old.json", "new.json", cwd=tmp_path).err


def test_the_second_of_two_policies_is_not_called_optimized(tmp_path):
    policy = POLICIES / "seed" / "ten-syscalls.json"
    pair = run("check", policy, policy).out
    assert "obligations of the second policy: " in pair and "every edge of the second policy is covered" in pair
    assert "optimized program" not in pair and "optimized program" in run("check", policy).out


@pytest.mark.parametrize("command", ["import", "lint", "precompile"])
@pytest.mark.parametrize("form", ["asm", "raw", "c", "ddd"])
def test_a_program_in_place_of_a_policy_is_named(command, form, getpid, tmp_path):
    assert run("asm", getpid, "--to", form, "-o", tmp_path / "p").status == 0
    done = run(command, "p", cwd=tmp_path)
    assert done.status == 2, done
    assert "p: expected a policy, found a program of 4 instructions (form %s); use 'dis' to print it, and 'actions' or 'why' to explain it" % form in done.err


@pytest.mark.parametrize("magic, name", [
    (b"\x7fELF\x02\x01\x01\0", "an ELF file"), (b"\xff\xfe{\0", "UTF-16 text"), (b"\xfe\xff\0{", "UTF-16 text"), (b"\x1f\x8b\x08\0", "a gzip archive"), (b"\x89PNG\r\n\x1a\n", "a PNG image"), (b"%PDF-1.7\n", "a PDF document"),
    (b"PK\x03\x04\x14\0", "a zip archive"), (b"\xfd7zXZ\0", "an xz archive"), (b"\x28\xb5\x2f\xfd", "a zstd archive"), (b"\xff\xd8\xff\xe0", "a JPEG image"),
    (b"x" * 257 + b"ustar\0", "a tar archive"), (b"<?xml version=\"1.0\"?>", "an XML document")])
def test_files_of_other_kinds_are_named(magic, name, tmp_path):
    (tmp_path / "file").write_bytes(magic)
    for command in (["check", "file"], ["prove", "file", "file"], ["import", "file"], ["validate", "file"], ["cost", "file"]):
        done = run(*command, cwd=tmp_path)
        assert done.status == 2 and "file: expected a program or a policy, found %s" % name in done.err, done


@pytest.mark.parametrize("text, message", [
    ("// a profile\n{\"defaultAction\": \"SCMP_ACT_ALLOW\"}", "last read: '/'; JSON has no comments"), ("/* a\n profile */ {\"defaultAction\": 1}", "p.json:1:"),
    ("{ // a\n\"defaultAction\": \"SCMP_ACT_ALLOW\"}", "JSON has no comments"), ("[]", ":1#/: expected an object, found []"), ("{}", ": expected a policy: an OCI profile ('defaultAction', 'syscalls')"),
    ("{\"a\": 1}", "found none of their keys")])
def test_json_that_is_no_policy_is_not_read_as_a_program(text, message, tmp_path):
    (tmp_path / "p.json").write_text(text)
    for command in (["check"], ["import"], ["lint"], ["validate"]):
        done = run(*command, "p.json", cwd=tmp_path)
        assert done.status == 2 and message in done.err and "label" not in done.err, done


def test_c_that_initializes_elements_by_number_is_a_program(tmp_path):
    (tmp_path / "p.c").write_text("/* a filter */ [0] = { 0x06, 0, 0, 0x7fff0000 },\n")
    assert run("validate", "p.c", cwd=tmp_path).status == 0


def test_a_file_that_looks_like_an_option_is_named(getpid, tmp_path):
    (tmp_path / "-p.asm").write_text("ret #0\n")
    for command in "check", "validate":
        done = run(command, getpid, "-p.asm", cwd=tmp_path)
        assert done.status == 2 and "'-p.asm' looks like an option; to name this file, write ./-p.asm" in done.err, done
    assert run("validate", getpid, "./-p.asm", cwd=tmp_path).status == 0


def test_listings_of_seccomp_tools_are_programs(getpid, tmp_path):
    (tmp_path / "listing").write_text(LISTING)
    assert run("asm", "listing", "--to", "ddd", cwd=tmp_path).out == run("asm", getpid, "--to", "ddd").out
    assert run("check", "listing", getpid, cwd=tmp_path).status == 0


@pytest.mark.parametrize("old, new, message", [
    ("0003: 0x06", "0004: 0x06", ":6: expected instruction 0003, found 0004"), ("0003: 0x06", "0000: 0x06", ":6: expected one filter, found the start of another"),
    ("0x00050001", "0x100050001", ":6: expected a line such as"), ("0003: 0x06", "0003  0x06", ":6: expected a line such as"),
    ("0x15 0x00 0x01", "0x10015 0x00 0x01", ":4: expected a line such as"), ("0x15 0x00 0x01", "0x15 0x100 0x01", ":4: expected a line such as"),
    ("0x15 0x00 0x01", "0x15 0x00 0x101", ":4: expected a line such as")])
def test_wrong_listings_are_errors(old, new, message, tmp_path):
    (tmp_path / "listing").write_text(LISTING.replace(old, new))
    done = run("asm", "listing", cwd=tmp_path)
    assert done.status == 2 and "listing" + message in done.err, done


@pytest.mark.parametrize("command", [["import", "-o"], ["check", "--junit"], ["lint", "--sarif"], ["optimize", "-o"]])
@pytest.mark.parametrize("alias", ["inner.policy", "sub/../inner.policy", "link", "hard"])
def test_an_output_does_not_replace_an_included_file(command, alias, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "outer.policy").write_text("@include ./inner.policy\nread: 1\n")
    (tmp_path / "inner.policy").write_text("write: 1\n")
    (tmp_path / "link").symlink_to("inner.policy")
    (tmp_path / "hard").hardlink_to(tmp_path / "inner.policy")
    name, option = command
    done = run(name, "outer.policy", option, alias, cwd=tmp_path)
    assert done.status == 2 and "cannot include" in done.err and "an output would replace this file; write to another file" in done.err, done
    assert (tmp_path / "inner.policy").read_text() == "write: 1\n"
    assert run(name, "outer.policy", option, "other", cwd=tmp_path).status < 2
