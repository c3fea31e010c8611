"""Tests wrong usage and wrong input: exit status 2, a message that names place and reason, and no incomplete output."""
# This test also runs in the preset asan.

import json
import os
import resource
import signal
import stat

import cli_tool
import pytest
from cli_tool import listed, report, run, some

COMMANDS = ("check", "prove", "run", "cover", "mutate", "asm", "dis", "validate", "optimize", "precompile", "import")
BOTH = {"prove": 2}  # commands that need more than one input
SYSCALLS = '"version":1,"arches":["x86_64"],"default_action":"allow","rule_sets":[{"action":"log","rules":{%s}}]'


def inputs(command, path):
    return [path] * BOTH.get(command, 1)


def fails(*args, **options):
    """Runs a command that must end with status 2, empty standard output and a message; returns the message."""
    done = run(*args, **options)
    assert done.status == 2, done
    assert done.out == "", done
    assert done.err.strip(), done
    return done.err


@pytest.mark.parametrize("command", some(COMMANDS, 4))
def test_an_unknown_option_is_named(command, getpid):
    assert "--no-such" in fails(command, *inputs(command, getpid), "--no-such")


def test_a_missing_or_unknown_command_is_an_error():
    assert fails() == "secequiv: expected a command, found none\nTry 'secequiv --help'.\n"
    assert "'chekc'" in fails("chekc")
    assert "'chekc'" in fails("chekc", "--json", "x.bpf")


@pytest.mark.parametrize("command", ("prove", "run", "cover", "mutate", "validate", "precompile"))
def test_a_missing_input_is_an_error(command):
    assert "required" in fails(command)
    if command == "prove":
        assert "after" in fails("prove", "one.bpf")


@pytest.mark.parametrize("command", some(COMMANDS, 4))
def test_a_missing_file_is_named(command, tmp_path):
    path = tmp_path / "no-such-file"
    assert fails(command, *inputs(command, path)) == "secequiv: %s: cannot open: No such file or directory\n" % path


@pytest.mark.parametrize("command", some(COMMANDS, 4))
def test_a_directory_as_input_is_named(command, tmp_path):
    message = fails(command, *inputs(command, tmp_path))
    assert str(tmp_path) in message and "directory" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_file_is_named(command, tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert str(path) in fails(command, *inputs(command, path))


@pytest.mark.parametrize("command", some(COMMANDS, 4))
def test_a_file_beyond_the_limit_is_an_error(command, tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate((16 << 20) + 8)  # a sparse file; its size is a multiple of 8
    message = fails(command, *inputs(command, path))
    assert str(path) in message and "16777216" in message


def test_a_file_at_the_limit_is_read(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(16 << 20)
    document, done = report("validate", path)
    assert done.status == 4
    assert document["results"][0]["instructions"] == 2 << 20


def test_endless_input_is_an_error():
    assert "16777216" in fails("validate", "/dev/zero")


def test_standard_input_can_be_used_only_once(getpid):
    text = getpid.read_text()
    assert "standard input" in fails("prove", "-", "-", stdin=text)
    assert "standard input" in fails("run", "-", getpid, "-", stdin=text)
    assert "standard input" in fails("check", "-", "--policy", "-", stdin=text)


@pytest.mark.parametrize("args, named", some([
    (["prove", "A", "A", "--timeout", "0"], "--timeout"), (["prove", "A", "A", "--timeout", "-1"], "--timeout"),
    (["prove", "A", "A", "--timeout", "nan"], "--timeout"), (["prove", "A", "A", "--timeout", "inf"], "--timeout"),
    (["prove", "A", "A", "--timeout", "1s"], "--timeout"), (["prove", "A", "A", "--timeout", ""], "--timeout"),
    (["check", "A", "--cmd-timeout", "0"], "--cmd-timeout"), (["check", "A", "--max-inputs", "-1"], "--max-inputs"),
    (["check", "A", "--max-inputs", "many"], "--max-inputs"), (["check", "A", "--same", "similar"], "behaviour"),
    (["check", "A", "A", "A"], "2"), (["check", "A", "--oracle", "linux"], "expected kernel or kernel:NAME, found 'linux'"), (["run", "A", "--oracle", "linux"], "expected kernel or kernel:NAME"), (["check", "A", "A", "--after-cmd", "true"], "at most two"),
    (["prove", "A", "A", "A"], "PATH"), (["dis", "A", "A"], "PATH"), (["dis", "A", "--to", "elf"], "raw"),
    (["dis", "A", "--from", "elf"], "raw"), (["run", "A", "--words", "1,2"], "16"),
    (["run", "A", "--words", ",".join(["0"] * 15 + ["0x100000000"])], "0x100000000"),
    (["run", "A", "--words", ",".join(["0"] * 15 + ["z"])], "'z'"), (["run", "A", "--arg", "6=1"], "6=1"),
    (["run", "A", "--arg", "1"], "INDEX=VALUE"), (["run", "A", "--arg", "0="], "INDEX=VALUE"),
    (["run", "A", "--arg", "0=NO_SUCH"], "NO_SUCH"), (["run", "A", "--arg", "0=0x10000000000000000"], "0x1000"),
    (["run", "A", "--nr", "0x100000000"], "0x100000000"), (["run", "A", "--nr", ""], "--nr"),
    (["run", "A", "--ip", "here"], "--ip"), (["run", "A", "--arch", "pdp11"], "pdp11"),
    (["optimize", "A", "--passes", "no_such_pass"], "no_such_pass"), (["cover", "A", "--inputs", "/no/such"], "/no/such"),
    (["check", "OCI", "--arch", "pdp11"], "pdp11"), (["check", "OCI", "--kernel-version", "new"], "new"),
    (["check", "OCI", "--cap", "net_admn"], "did you mean CAP_NET_ADMIN?"), (["check", "OCI", "--cap", "CAP_SYS_ADMN"], "did you mean CAP_SYS_ADMIN?"),
    (["check", "A", "--arch", "sparc"], "sparc"), (["dis", "A", "--kernel-version", "x"], "--kernel-version"), (["prove", "A", "A", "--cap", "x"], "--cap"),
    (["mutate", "A", "--fuzz-seconds", "-1"], "--fuzz-seconds"), (["mutate", "A", "--fuzz-seconds", "nan"], "--fuzz-seconds"),
    (["mutate", "A", "--sample", "-1"], "--sample"), (["mutate", "A", "--seed", "x"], "--seed"),
    (["mutate", "A", "--sample", "5", "--prove-all"], "--prove-all"), (["mutate", "A", "--same", "similar"], "behaviour"),
    (["run", "A", "--call-arch", "sparc"], "sparc"), (["cover", "A", "--arch", "0xc000003e"], "x86_64, i386"), (["import", "OCI", "--format", "xml"], "oci"),
    (["import", "OCI", "--arch", "pdp11"], "pdp11"), (["check", "A", "--policy", "A"], "PATH: expected a policy, found a program of "),
], 6))
def test_invalid_option_values_are_named(args, named, getpid):
    paths = {"A": str(getpid), "OCI": str(cli_tool.POLICIES / "oci" / "docker-default.json")}
    message = fails(*[paths.get(arg, arg) for arg in args])
    assert named.replace("PATH", str(getpid)) in message


EMPTY = [("check", "--after-cmd"), ("check", "--before-cmd"), ("check", "--policy"), ("check", "--oracle"), ("prove", "--oracle"), ("check", "--listing"), ("cover", "--state"),
         ("cover", "--listing"), ("cover", "--inputs"), ("prove", "--emit-smt2"), ("prove", "--certificate"), ("dis", "-o"), ("optimize", "-o"),
         ("optimize", "--passes"), ("import", "-o"), ("dis", "--from"), ("check", "--arch"), ("check", "--cap"),
         ("precompile", "-o"), ("asm", "--set"), ("run", "--arg"), ("run", "--words"), ("run", "--nr")]


@pytest.mark.parametrize("command, option", some(EMPTY, 4))
def test_an_empty_option_value_is_an_error(command, option, getpid):
    assert option in fails(command, *inputs(command, getpid), option, "")
    assert option in fails(command, *inputs(command, getpid), option + "=" if option != "-o" else "--output=")


@pytest.mark.parametrize("command", some(COMMANDS, 4))
def test_an_empty_input_name_is_an_error(command):
    message = fails(command, *inputs(command, ""))
    assert "expected a value, found ''" in message and ("program" if command == "cover" else "") in message


@pytest.mark.parametrize("option, command", [("--listing", "check"), ("--listing", "cover"), ("--emit-smt2", "prove")])
def test_json_and_another_output_cannot_share_standard_output(option, command, getpid):
    document, done = report(command, *inputs(command, getpid), option, "-")
    assert (done.status, document["error"], document["where"]) == (2, "usage", option)


MALFORMED = [
    # content, options, position, and a part of the message
    (b"\x06\0\0\0\0\0\0", [], ": offset 0:", "8 bytes"),
    (b"\x06\0\0\0\0\0\0\0\x06\0\0", [], ": offset 8:", "found 3"),
    (b"\0\x06\0\0\0\0\0\0\0", ["--from", "raw-be"], ": offset 8:", "found 1"),
    (b"\0\x06\0\0\0\0\0\0\0", ["--big-endian"], ": offset 8:", "found 1"),
    (b"ld [0]\nfoo #1\nret a\n", [], ":2:1:", "'foo'"),
    (b"ld [0]\n  jeq #1, nowhere\nret a\n", [], ":2:11:", "'nowhere'"),
    (b"ld [zz]\nret a\n", [], ":1:5:", "'zz'"),
    (b"y: ld [0]\ny: ret a\n", [], ":2:1:", "twice"),
    (b"b: ld [0]\nja b\nret a\n", [], ":2:4:", "forward"),
    (b"ld [0]\nret #0x1ffffffff\n", [], ":2:6:", "2^32-1"),
    (b"ld [0] junk\nret a\n", [], ":1:8:", "'junk'"),
    (b"ret a\n/* open\n", [], ":2:1:", "not closed"),
    (b"ret a\n\xff\xfe\n", [], ":2:1:", "instruction"),
    (b".raw 1,2,3\n", [], ":2:1:", "end of the input"),
    (b"garbage", [], ":1:1:", "'garbage'"),
    (b"; nothing\n", [], ":", "found none"),
    (b"2\n6 0 0 0\n", [], ":3:1:", "2 instructions"),
    (b"1\n6 0 0 0\n6 0 0 0\n", [], ":3:1:", "the end"),
    (b"1\n6 0 256 0\n", [], ":2:5:", "jf (0 to 255)"),
    (b"1\n65536 0 0 0\n", [], ":2:1:", "code (0 to 65535)"),
    (b"2\n6 0 0 0\n6 0 0 4294967296\n", [], ":3:7:", "k (0 to 4294967295)"),
    (b"0\n", [], ":1:2:", "at least one"),
    (b"{ 0x6, 0, 0, 1 },\n{ 0x6, 0, 0 },\n", [], ":2:13:", "4 values"),
    (b"{ 0x6, 0, 256, 1 }", [], ":1:19:", "0xff"),
    (b"{ 0x6, 0, 0, 0x100000000 }", [], ":1:14:", "2^32-1"),
    (b"{ 0x6, 0, 0, 1 ", [], ":1:16:", "'}'"),
    (b"BPF_STMT(BPF_RET|BPF_NO, 1)", [], ":1:18:", "'BPF_NO'"),
    (b'{"version": 1,\n "version": 1}', [], ":2:2:", "twice"),
    (b'{"version": 1,\n "arches": ["x86_64"],,}', [], ":2:23:", "syntax"),
    (b'{"version": 1', [], ":1:14:", "end of input"),
    (b'{"a":' * 1100 + b"1" + b"}" * 1100, [], ":1:5004:", "1000 levels"),
    (b"{}", [], ":1#/:", "'version'"),
    (b'{"version":2,"arches":["x86_64"],"default_action":"allow","rule_sets":[]}', [], ":1#/version:", "found 2"),
    (b'{"version":1,"arches":["vax"],"default_action":"allow","rule_sets":[]}', [], ":1#/arches/0:", "x86_64"),
    (b'{"version":1,"arches":["x86_64"],"default_action":"alow","rule_sets":[]}', [], ":1#/default_action:", '"alow"'),
    (b'{"version":1,"arches":["x86_64"],"default_action":"allow","rule_sets":[],"a/b~c":1}', [], ":1#/a~1b~0c:", "unknown key"),
    (b"{" + (SYSCALLS % '"openat":{"args":{"6":{"eq":1}}}').encode() + b"}", [], ":1#/rule_sets/0/rules/openat/args/6:", "'6'"),
    (b"{" + (SYSCALLS % '"openat":{"any_of":[]}').encode() + b"}", [], ":1#/rule_sets/0/rules/openat/any_of:", "non-empty"),
    (b"{" + (SYSCALLS % '"openat":{"args":{"1":{"eq":"O_NOPE"}}}').encode() + b"}", [],
     ":1#/rule_sets/0/rules/openat/args/1/eq:", "O_NOPE"),
    (b'{"defaultAction":"SCMP_ACT_NOPE"}', [], ":1#/defaultAction:", "SCMP_ACT_"),
    (b'{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_LOG",'
     b'"args":[{"index":6,"value":1,"op":"SCMP_CMP_EQ"}]}]}', [], ":1#/syscalls/0/args/0/index:", "found 6"),
]


@pytest.mark.parametrize("content, options, where, expected", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_input_is_reported_with_its_position(content, options, where, expected, tmp_path):
    path = tmp_path / "input"
    path.write_bytes(content)
    message = fails("dis", path, *options)
    assert message.startswith("secequiv: %s%s" % (path, where)), message
    assert expected in message
    assert fails("dis", "-", *options, stdin=content).startswith("secequiv: <stdin>" + where)
    document, done = report("validate", path, *options)
    row = document["results"][0]
    assert (done.status, row["file"], row["error"] in ("parse", "policy")) == (2, str(path), True)
    assert row["where"] + ":" == str(path) + where
    document, done = report("prove", path, path, *options)
    assert (done.status, document["error"]) == (2, row["error"])


@pytest.mark.parametrize("name, suggested", [("opneat", "openat"), ("getpdi", "getpid"), ("rt_sigaktion", "rt_sigaction"), ("raed", "read")])
def test_an_unknown_system_call_gets_a_suggestion(name, suggested, getpid, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text("{" + SYSCALLS % ('"%s":true' % name) + "}")
    message = fails("validate", policy)
    assert "#/rule_sets/0/rules/%s:" % name in message
    assert "unknown system call '%s' on x86_64; did you mean " % name in message
    assert suggested in message.split("did you mean")[1]
    message = fails("run", getpid, "--nr", name)
    assert "'%s'" % name in message and suggested in message.split("did you mean")[1]


def test_a_byte_order_mark_is_skipped(tmp_path, getpid):
    for form in ("asm", "ddd", "c"):
        text = run("asm", getpid, "--to", form).out
        assert run("dis", "-", stdin=b"\xef\xbb\xbf" + text.encode()).out == run("dis", getpid).out
    policy = ("{" + SYSCALLS % '"read":true' + "}").encode()
    assert run("dis", "-", stdin=b"\xef\xbb\xbf" + policy).out == run("dis", "-", stdin=policy).out
    assert fails("validate", "-", stdin=b"\xef\xbb\xbf{\"a\": ]").startswith("secequiv: <stdin>:1:7:")


def test_messages_contain_no_control_characters(tmp_path, getpid):
    odd = tmp_path / "a\x1b[31m\n.asm"
    odd.write_bytes(b"ld [0]\n\x1b[31m\n")
    for args in (["dis", odd], ["dis", "\x1b]0;x"], ["check", getpid, "--arch", "\x1b[1m"], ["\x1b[1m"], ["run", getpid, "--nr", "\x9b"],
                 ["check", getpid, "--after-cmd", "printf '\\033[1mx' >&2; exit 1"]):
        done = run(*args)
        assert done.status in (2, 5) and "\\x" in done.err
        assert not [c for c in done.err if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], done
    profile = '{"defaultAction":"SCMP_ACT_ALLOW","\x1b":1}'.replace("\x1b", "\\u001b")
    assert "<stdin>:1 (\\x1b): unknown key '\\x1b', which" in run("import", "-", stdin=profile).err


def test_errors_appear_as_json(getpid, tmp_path):
    missing = tmp_path / "missing"
    for args, kind in [(["check", missing], "io"), (["cover", missing], "io"), (["run", missing], "io"),
                       (["run", getpid, "--nr", "nope"], "usage"), (["prove", missing, getpid], "io")]:
        document, _ = report(*args)
        assert document["error"] == kind


def test_a_wrong_command_line_is_an_error_as_json(getpid):
    for args in (["check", getpid, "--no-such"], ["prove", getpid], ["run", getpid, "--trace", "extra", "--no-such"], ["check", getpid, "--junit", getpid],
                 ["check", getpid, "--same", "cooked"]):
        document, done = report(*args)
        assert (done.status, document["error"], document["where"]) == (2, "usage", "command line"), done


WRITERS = [["asm", "getpid.asm", "-o"], ["dis", "getpid.asm", "-o"], ["optimize", "getpid.asm", "-o"],
           ["prove", "getpid.asm", "getpid.asm", "--emit-smt2"],
           ["diff", "getpid.asm", "getpid.asm", "--write-expect"], ["check", "getpid.asm", "--listing"],
           ["cover", "getpid.asm", "--listing"], ["cover", "getpid.asm", "--state"],
           ["import", str(cli_tool.POLICIES / "oci" / "docker-default.json"), "-o"],
           ["precompile", str(cli_tool.POLICIES / "seed" / "variables.json"), "-o"]]


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


@pytest.fixture
def sealed(tmp_path, getpid):
    """Returns a folder and a file in it that an unprivileged user may read but not change."""
    folder = tmp_path / "sealed"
    folder.mkdir()
    # This is a coverage file, because `cover --state` reads the file before it writes it.
    assert run("cover", getpid, "--no-derive", "--no-prove", "--state", folder / "old").status == 3
    old = (folder / "old").read_bytes()
    folder.chmod(0o555)
    for parent in [folder, *folder.parents]:
        if parent.stat().st_uid == os.getuid() and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o555)
    yield folder
    assert listed(folder) == ["old"] and (folder / "old").read_bytes() == old
    folder.chmod(0o755)


@pytest.mark.parametrize("args", some(WRITERS, 3), ids=" ".join)
def test_unwritable_outputs_are_errors_and_leave_no_files(args, tmp_path, getpid, sealed):
    before = listed(tmp_path)
    for target in (tmp_path / "no" / "out", getpid / "out", tmp_path, "/proc/secequiv-test"):
        message = run(*args, target, cwd=tmp_path)
        assert message.status == 2, message
        assert message.err.splitlines()[-1].startswith("secequiv: %s: cannot " % target), message
    for name in ("old", "new"):
        try:
            done = run(*args, sealed / name, cwd=tmp_path, preexec_fn=as_nobody)
        except PermissionError:
            pytest.skip("the built binary is in a folder that other users may not enter")
        assert done.status == 2 and "Permission denied" in done.err, done
    assert listed(tmp_path) == before


@pytest.mark.parametrize("args", some(WRITERS, 3), ids=" ".join)
def test_a_full_device_is_an_error(args, tmp_path, getpid):
    done = run(*args, "/dev/full", cwd=tmp_path)
    if args[-1] == "--state":  # the state is read first, and /dev/full reads as endless zeros
        assert done.status == 2 and "/dev/full" in done.err, done
    else:
        assert done.status == 2 and "/dev/full: cannot write: No space left" in done.err, done


def nearly_full():
    """Simulates a full disk: no file may grow beyond ten bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


@pytest.mark.parametrize("args", some(WRITERS, 3), ids=" ".join)
def test_a_full_disk_leaves_the_old_output_unchanged(args, tmp_path, getpid):
    if args[-1] == "--state":
        assert run("cover", getpid, "--no-derive", "--no-prove", "--state", tmp_path / "old").status == 3
    else:
        (tmp_path / "old").write_text("precious")
    kept = (tmp_path / "old").read_bytes()
    before = listed(tmp_path)
    for name in ("old", "new"):
        done = run(*args, tmp_path / name, cwd=tmp_path, preexec_fn=nearly_full)
        assert done.status == 2 and "%s: cannot write: File too large" % (tmp_path / name) in done.err, done
        assert listed(tmp_path) == before and (tmp_path / "old").read_bytes() == kept


@pytest.mark.parametrize("args", some(WRITERS, 3), ids=" ".join)
def test_a_bad_input_leaves_the_old_output_unchanged(args, tmp_path):
    (tmp_path / "getpid.asm").write_text("ld [0]\nnonsense\n")
    (tmp_path / "bad.json").write_text("{")
    args = ["bad.json" if arg.endswith(".json") else arg for arg in args]
    out = tmp_path / "out"
    out.write_text("precious")
    assert run(*args, out, cwd=tmp_path).status == 2
    assert out.read_text() == "precious"
    assert listed(tmp_path) == ["bad.json", "getpid.asm", "out"]


@pytest.mark.parametrize("args", some([args for args in WRITERS if args[-1] != "--state"], 3), ids=" ".join)
def test_outputs_appear_whole_with_the_mode_of_the_umask(args, tmp_path, getpid):
    out = tmp_path / "out"
    before = listed(tmp_path)
    done = run(*args, out, cwd=tmp_path, preexec_fn=lambda: os.umask(0o027))
    assert done.status == 0, done
    assert listed(tmp_path) == sorted(before + ["out"])
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    first = out.read_bytes()
    out.chmod(0o604)
    assert run(*args, out, cwd=tmp_path).status == 0
    assert (out.read_bytes(), stat.S_IMODE(out.stat().st_mode)) == (first, 0o604)


def test_validate_continues_after_an_error(getpid, asm, tmp_path):
    illegal = asm("ld [0]\n", "illegal.asm")
    missing = tmp_path / "missing"
    document, done = report("validate", illegal, missing, getpid)
    assert done.status == 2
    assert [(row["file"], row.get("accepted")) for row in document["results"]] == [
        (str(illegal), False), (str(missing), None), (str(getpid), True)]
    assert report("validate", getpid, illegal)[1].status == 4
    text = run("validate", illegal, missing, getpid)
    assert text.status == 2 and len(text.out.splitlines()) == 2 and str(missing) in text.err


def test_schemas_refuse_invalid_reports():
    good = {"schema": "secequiv.error/1", "error": "io", "detail": "x"}
    cli_tool.fits(good)
    for bad in ({**good, "extra": 1}, {**good, "error": "other"}, {"schema": "secequiv.error/1", "error": "io"}):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    row = {"file": "a", "kind": "program", "instructions": 1, "accepted": True}
    cli_tool.fits({"schema": "secequiv.validate/1", "results": [row, {**good, "file": "b"}]})
    for bad in ({**row, "accepted": False}, {**row, "rules": 3}, {**good, "file": "b", "extra": 1}, good):
        with pytest.raises(AssertionError):
            cli_tool.fits({"schema": "secequiv.validate/1", "results": [bad]})
    proof = {"schema": "secequiv.prove/2", "verdict": "equivalent", "engine": "z3", "encode_seconds": 0, "solve_seconds": 0}
    cli_tool.fits(proof)
    for bad in ({**proof, "verdict": "different"}, {**proof, "verdict": "unknown"}, {**proof, "minimal": True},
                {**proof, "engine": "guess"}, {**proof, "file": "x"}, {**proof, "schema": "secequiv.prove/1"}):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    same = {"schema": "secequiv.diff/1", "verdict": "equivalent", "count": "0", "changes": [],
            "question": {"goal": "same", "same": "raw", "assume": "true"}}
    for good in (same, {**same, "verdict": "pass", "unexpected": []}, {**same, "verdict": "fail", "unexpected": ["- x"]}):
        cli_tool.fits(good)
    for bad in ({**same, "verdict": "different"}, {**same, "verdict": "pass"}, {**same, "unexpected": []}, {**same, "count": "1"},
                {**same, "verdict": "fail", "unexpected": []}, {**same, "verdict": "pass", "unexpected": ["+ x"]},
                {**same, "verdict": "fail", "unexpected": ["x"]}, {**same, "witness": 1}, {**same, "question": {}}):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    made = {"schema": "secequiv.precompile/1", "verdict": "equivalent", "policy": "p", "instructions": 1, "variables": [], "written": True,
            "engine": "z3", "encode_seconds": 0, "solve_seconds": 0}
    unproven = {key: value for key, value in made.items() if key not in ("verdict", "engine", "encode_seconds", "solve_seconds")}
    unknown = {**made, "verdict": "unknown", "detail": "x", "written": False}
    for good in (made, unproven, unknown):
        cli_tool.fits(good)
    for bad in ({**made, "written": False}, {**unproven, "written": False}, {**made, "verdict": "different", "written": False},
                {**unknown, "written": True}, {**made, "detail": "x"}, {**made, "values": []}, {**unproven, "engine": "z3"},
                {key: value for key, value in unknown.items() if key != "detail"}, {**made, "variables": [{"name": "x", "value": 1}]}):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    kinds = ("constant", "opcode", "target", "load", "return", "delete", "swap")
    none = dict.fromkeys(("mutants", "refused", "equivalent", "killed_by_inputs", "killed_by_fuzzing", "survived", "undecided", "proofs",
                          "proven_different", "unproven"), 0)
    mutate = {"schema": "secequiv.mutate/1", "verdict": "pass", "same": "raw", "instructions": 1, "total": none,
              "operators": dict.fromkeys(kinds, none), "inputs": [{"name": "program", "inputs": 0, "killed": 0}], "fuzz_seconds": 0,
              "all_proven": False, "not_tried": 0, "seconds": {"inputs": 0, "fuzzing": 0, "proofs": 0}, "missed_by_inputs": []}
    undecided = {"instruction": 0, "operator": "load", "change": "x", "fate": "undecided", "detail": "y"}
    unknown = {**mutate, "verdict": "unknown", "total": {**none, "undecided": 1}, "missed_by_inputs": [undecided]}
    interrupted = {**mutate, "verdict": "unknown"}  # before the mutants were known
    for good in (mutate, {**mutate, "verdict": "fail", "total": {**none, "survived": 1}}, unknown, interrupted,
                 {**mutate, "verdict": "unknown", "total": {**none, "unproven": 1}}, {**mutate, "verdict": "unknown", "total": {**none, "mutants": 1}, "not_tried": 2}):
        cli_tool.fits(good)
    for bad in ({**mutate, "verdict": "fail"}, {**mutate, "not_tried": 2}, {**interrupted, "total": {**none, "mutants": 1}}, {**unknown, "verdict": "pass"},
                {**mutate, "total": {**none, "survived": 1}}, {**mutate, "inputs": []}, {**mutate, "operators": {}},
                *({**unknown, "missed_by_inputs": [{**undecided, **wrong}]} for wrong in (
                    {"fate": "survived"}, {"fate": "fuzzed"}, {"fate": "killed"}, {"operator": "bit"}, {"detail": ""}))):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    clause = {"line": 1, "clause": "refused: read", "outcome": "refused", "verdict": "pass", "covers": "nr == 0", "engine": "dd", "seconds": 0}
    having = {"schema": "secequiv.prove-property/1", "verdict": "pass", "filter": "a", "clauses": [clause]}
    for good in (having, {**having, "assume": "nr == 0", "clauses": [{**clause, "excluded": True}]}, {**having, "verdict": "unknown", "clauses": [{**clause, "verdict": "unknown"}]}):
        cli_tool.fits(good)
    for bad in ({**having, "verdict": "rejected"}, {**having, "verdict": "different"}, {**having, "clauses": []}, {**having, "clauses": [{**clause, "verdict": "fail"}]},
                {**having, "clauses": [{**clause, "outcome": "denied"}]}, {**having, "clauses": [{**clause, "witness": {}}]}, {**having, "detail": ""}):
        with pytest.raises(AssertionError):
            cli_tool.fits(bad)
    assert sorted(cli_tool.VALIDATORS) == ["actions", "bench", "bisect", "cache", "check", "cost", "cover", "diff", "error", "explain", "find-rules", "fuzz", "guard", "kernel", "kernel-check", "lint", "mutate", "precompile", "prove", "prove-property", "prove-rule", "reach", "run", "validate", "why"]
    assert all(json.loads(path.read_text())["title"] for path in cli_tool.SCHEMAS.glob("*.json"))


REFUSED = [("ld [0]\n\n; too far\nld [3]\nret #0\n", ":4"), ("2\n32 0 0 3\n6 0 0 0\n", ":2"), (b"\x20" + bytes(7) + b"\x20\0\0\0\x03\0\0\0" + b"\6" + bytes(7), ": offset 8"),
           ("static struct sock_filter f[] = {\n  BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0),\n\n  BPF_STMT(BPF_LD|BPF_W|BPF_ABS,\n    3),\n  { 6, 0, 0, 0 },\n};\n", ":4"),
           (" line  OP   JT   JF   K\n 0000: 0x20 0x00 0x00 0x00000003  A = ?\n 0001: 0x06 0x00 0x00 0x00000000  return KILL\n", ":2")]


@pytest.mark.parametrize("content, place", REFUSED, ids=("asm", "ddd", "raw", "c", "listing"))
def test_a_refused_instruction_is_reported_with_its_position(content, place, tmp_path, getpid):
    path, sarif = tmp_path / "filter", tmp_path / "out.sarif"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    start = "%s%s: load_offset at instruction " % (path, place)
    assert run("prove", getpid, path, "--sarif", sarif).out.startswith("rejected: " + start)
    assert run("validate", path).out.startswith(start.replace(": load_offset", ": rejected: load_offset"))
    for command in (["why", path, "--nr", "read"], ["diff", getpid, path], ["cost", path], ["optimize", path]):
        done = run(*command)
        assert done.status == 4 and done.err.startswith("secequiv: " + start), done
    if place.startswith(": "):
        return
    found = json.loads(sarif.read_text())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert found["region"]["startLine"] == int(place[1:])


# For each form, a text with one mistake and the position of the mistake.
DAMAGED = {"asm": ("ld [0]\nfoo #1\nret #0\n", ":2:1"), "label": ("ld [0]\njeq #1, there\nret #0\n", ":2:9"), "ddd": ("2\n32 0 0 0\n6 0 0 4294967296\n", ":3:7"),
           "count": ("3\n32 0 0 0\n6 0 0 0\n", ":4:1"), "c": ("{ 0x20, 0, 0, 0 },\n{ 0x06, 0, 0 },\n", ":2:14"),
           "macro": ("BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0),\nBPF_STMT(BPF_RET|NOPE, 0)\n", ":2:18"), "raw": (b"\x20" + bytes(7) + b"\6\0\0", ": offset 8"),
           "listing": (" 0000: 0x20 0x00 0x00 0x00000000  A = nr\n 0001: 0x06 0x00 0xzz 0x00000000  return KILL\n", ":2"), "hex": ("20000000000000ff\n", ":1:1")}


@pytest.mark.parametrize("form", DAMAGED)
def test_a_mistake_in_a_program_is_reported_with_its_position(form, tmp_path):
    content, place = DAMAGED[form]
    path = tmp_path / "filter"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert fails("validate", path).startswith("secequiv: %s%s: expected " % (path, place) if form != "label" else "secequiv: %s%s: unknown label" % (path, place))
