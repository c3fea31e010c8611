"""Tests which texts go to standard output and standard error, outputs that cannot be written, --help and --version."""

import json
import os
import re
import subprocess

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, binary, run, some

DOCKER = POLICIES / "oci" / "docker-default.json"
COMMANDS = {each["name"]: [option["names"][-1] for option in each["options"] if option["names"] and "--help" not in option["names"]]
            for each in json.loads(run("--list-options").out)["commands"]}
TOP = {"--color", "--explain", "--print-schema"}  # these options need no command
# A short run of every command, and its exit status.
JOBS = [(["check", "getpid.asm"], 0), (["check", "getpid.asm", "getpid-enoent.asm"], 1), (["prove", "getpid.asm", "getpid.asm"], 0),
        (["prove", "getpid.asm", "getpid-enoent.asm"], 1), (["prove", "getpid.asm", "bad.asm"], 4), (["prove", "name.asm", "name.asm"], 0), (["run", "name.asm", "--set", "nr=39"], 0),
        (["run", "getpid.asm"], 0),
        (["run", "getpid.asm", "--oracle", "kernel"], 0), (["check", "getpid.asm", "--oracle", "kernel"], 0),
        (["fuzz", "--optimizer", "identity", "--trials", "5", "--no-scaling"], 0),
        (["bisect", "--optimizer", "cat # {version}", "--versions", "1..2", "--trials", "5"], 0),
        (["fuzz", "getpid.asm", "getpid.asm", "--trials", "500"], 0), (["fuzz", "getpid.asm", "getpid-enoent.asm"], 1),
        (["diff", "getpid.asm", "getpid.asm"], 0), (["diff", "getpid.asm", "getpid-enoent.asm"], 1),
        (["why", "getpid.asm", "--nr", "getpid"], 0), (["reach", "getpid.asm"], 0), (["guard", "getpid.asm"], 1), (["guard", "getpid.json"], 0), (["actions", "getpid.asm"], 0), (["bench", "getpid.asm", "--rounds", "2", "--profile", "calls"], 0), (["cache", "getpid.asm"], 0), (["cost", "getpid.asm"], 0), (["kernel", "getpid.asm"], 0), (["kernel", "getpid.asm", "getpid-enoent.asm"], 1),
        (["prove-rule", str(ROOT / "verify" / "rules" / "library" / "bytecode.rule")], 0),
        (["find-rules", "getpid.asm"], 0), (["lint", str(POLICIES / "seed" / "ten-syscalls.json")], 0),
        (["cover", "getpid.asm"], 0), (["cover", "getpid.asm", "--no-derive"], 1),
        (["mutate", "getpid.asm"], 0), (["mutate", "xor.asm", "--fuzz-seconds", "0"], 1), (["asm", "getpid.asm"], 0),
        (["dis", "getpid.asm"], 0), (["validate", "getpid.asm"], 0), (["validate", "bad.asm"], 4), (["optimize", "getpid.asm"], 0),
        (["optimize", "--list"], 0), (["precompile", "getpid.json", "-o", "out.json"], 0),
        (["precompile", "getpid.json", "-o", "out.json", "--timeout", "1e-9"], 3), (["asm", "name.asm", "--set", "nr=1"], 0),
        (["import", str(DOCKER)], 0), (["--help"], 0), (["check", "--help"], 0), (["--version"], 0)]
JSON = {"check": 1, "fuzz": 1, "bisect": 1, "mutate": 1, "prove": 2, "diff": 1, "why": 1, "reach": 1, "actions": 1, "guard": 1, "bench": 1, "cache": 1, "cost": 2, "kernel": 1, "lint": 1, "prove-rule": 1, "find-rules": 1, "run": 1, "cover": 1, "validate": 1, "precompile": 1}  # the version of each schema


@pytest.fixture
def folder(getpid, getpid_enoent, asm):
    asm("ld [0]\n", "bad.asm")
    asm("ld [0]\njeq #$nr, ok, bad\nok: ret #0x7fff0000\nbad: ret #0x50001\n", "name.asm")
    asm("ld [16]\nxor #0x12345678\njeq #1, in, out\nin: ret #0\nout: ret #0x7fff0000\n", "xor.asm")
    asm("getpid 1\n", "calls")
    asm('{"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": []}', "getpid.json")
    return getpid.parent


def with_json(args):
    return [args] + ([args + ["--json"]] if args[0] in JSON and "--help" not in args else [])


CASES = [(args, status) for job, status in JOBS for args in with_json(job)]
IDS = [" ".join(os.path.basename(arg) for arg in args) for args, _ in CASES]


@pytest.mark.parametrize("args, status", CASES, ids=IDS)
def test_reports_go_to_standard_output(args, status, folder):
    done = run(*args, cwd=folder, raw=True)
    assert done.status == status and done.out, done
    if args[0] != "import":  # import reports on standard error what it left out
        assert done.err == "", done
    if "--json" in args:
        kind = "check" if args[:2] == ["fuzz", "getpid.asm"] else args[0]  # `fuzz` on a pair writes the same kind of report as `check`
        assert json.loads(done.out)["schema"] == "secequiv.%s/%d" % (kind, JSON[kind])


@pytest.mark.parametrize("args, status", some(CASES, 7), ids=some(IDS, 7))
def test_a_full_standard_output_is_a_failure(args, status, folder):
    with open("/dev/full", "wb") as full:
        process = subprocess.run([binary()] + args, cwd=folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert process.returncode == 2, process
    if "--help" not in args and "--version" not in args:
        assert b"<stdout>: cannot write: No space left on device" in process.stderr


@pytest.mark.parametrize("args, status", some(CASES, 7), ids=some(IDS, 7))
def test_a_closed_standard_output_is_a_failure(args, status, folder):
    process = subprocess.run([binary()] + args, cwd=folder, preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, timeout=60)
    assert process.returncode == 2, process


@pytest.mark.parametrize("args, status", some(CASES, 7), ids=some(IDS, 7))
def test_a_closed_pipe_is_a_failure(args, status, folder):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([binary()] + args, cwd=folder, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert process.returncode not in (0, 1, 3, 4, 5), process  # the command ends by a signal, or with status 2


@pytest.mark.parametrize("command", [["diff"], ["prove"], ["check"], ["fuzz", "--trials", "500"]])
def test_reports_are_written_before_a_closed_pipe_ends_the_command(command, folder):
    read, write = os.pipe()
    os.close(read)
    for form in "junit", "sarif", "markdown":
        (folder / form).write_text("of an earlier run")
    subprocess.run([binary(), *command, "getpid.asm", "getpid-enoent.asm", "--junit", "junit", "--sarif", "sarif", "--markdown", "markdown"],
                   cwd=folder, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    for form in "junit", "sarif", "markdown":
        assert "getpid-enoent.asm" in (folder / form).read_text(), form


def test_a_pipe_closed_while_writing_is_a_failure():
    process = subprocess.Popen([binary(), "dis", PROGRAMS / "gvisor" / "systrap-everything.before.bpf"], stdout=subprocess.PIPE)
    assert process.stdout.read(1)
    process.stdout.close()
    assert process.wait(timeout=60) not in (0, 1, 3, 4, 5)


def test_an_output_file_works_with_closed_standard_output(folder):
    process = subprocess.run([binary(), "asm", "getpid.asm", "-o", "out"], cwd=folder, preexec_fn=lambda: os.close(1), timeout=60)
    assert process.returncode == 0 and (folder / "out").stat().st_size == 32


def test_closed_standard_streams_never_overwrite_an_input(folder):
    def close():
        os.close(0), os.close(1), os.close(2)
    before = (folder / "getpid.asm").read_bytes()
    process = subprocess.run([binary(), "run", "getpid.asm", "nonexistent"], cwd=folder, preexec_fn=close, timeout=60)
    assert process.returncode == 2
    assert (folder / "getpid.asm").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_every_option_with_a_text(command):
    done = run(command, "--help")
    assert done.status == 0 and done.err == ""
    listed = set(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", done.out, re.MULTILINE))
    assert listed == set(COMMANDS[command]) | {"--help"}
    assert run(command, "-h").out == done.out
    # Every option has a help text.
    body = done.out[done.out.index("Options:"):]
    for option in listed:
        text = body.split(option, 1)[1].split("\n  -")[0]
        assert len(re.sub(r"^\S*", "", text).split()) >= 2, option


def test_help_lists_exactly_the_declared_options():
    source = "".join((ROOT / "cli" / name).read_text()
                     for name in [path.name for path in (ROOT / "cli").glob("*.cc")])
    formats = re.findall(r'ReportFormat{"(\w+)"', (ROOT / "harness" / "report" / "formats.cc").read_text())
    declared = set(re.findall(r'"(?:-\w,)?(--[a-z0-9-]+)"', source)) | {"--" + name for name in formats}
    declared -= {"--version", "--help"}
    declared -= {"--calls", "--pfc"}  # of libseccomp-host, which the help does not list
    assert declared == {option for options in COMMANDS.values() for option in options} | TOP | {"--list-options"}


def test_the_main_help_lists_every_command():
    done = run("--help")
    assert done.status == 0 and done.err == ""
    for command in COMMANDS:
        assert re.search(r"^  %s +\S" % command, done.out, re.MULTILINE), command
    assert set(re.findall(r"^  ([a-z-]+) ", done.out[done.out.index("Check and prove:"):], re.MULTILINE)) == set(COMMANDS)
    assert set(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", done.out, re.MULTILINE)) == TOP | {"--help", "--version"}
    text = " ".join(done.out.split())
    for part in ("Exit status: 0 same or pass", "1 different or failed", "2 bad usage or input", "3 unknown", "4 the kernel would refuse",
                 "5 a command under test failed"):
        assert part in text, part


def test_version_matches_the_build():
    version = re.search(r"project\(secequiv VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    done = run("--version")
    assert (done.status, done.err) == (0, "")
    first, *parts = done.out.splitlines()
    assert first == "secequiv %s" % version and [part.split(":")[0] for part in parts] == ["engines", "kernel's bitmaps", "fuzzing of pairs"]
    assert "z3 (loads libz3.so." in parts[0]


def test_the_environment_does_not_change_outputs(folder):
    plain = run("dis", "getpid.asm", cwd=folder).out
    environment = {"PATH": "/nonexistent", "LC_ALL": "tr_TR.UTF-8", "TERM": "xterm-256color", "COLUMNS": "20"}
    assert run("dis", "getpid.asm", cwd=folder, env=environment).out == plain
    done = run("check", "getpid.asm", cwd=folder, env={**environment, "LC_NUMERIC": "de_DE.UTF-8"})
    assert done.status == 0 and "\x1b" not in done.out


def test_unusual_file_names_are_supported(tmp_path, getpid):
    for name in ("with space.asm", "-dash.asm", "ünï.asm", "quote'\".asm", "%s%n.asm", "{}.asm", "line\nbreak.asm"):
        path = tmp_path / name
        path.write_text(getpid.read_text())
        assert run("validate", path).status == 0
        done = run("validate", "--json", path)
        assert json.loads(done.out)["results"][0]["file"] == str(path)
        assert run("check", path, "--json").status == 0
    assert run("validate", "--", "-dash.asm", cwd=tmp_path).status == 0
    odd = os.fsencode(tmp_path) + b"/\xff.asm"
    with open(odd, "w") as file:
        file.write(getpid.read_text())
    process = subprocess.run([os.fsencode(binary()), b"check", odd, b"--json"], stdout=subprocess.PIPE, timeout=60)
    assert process.returncode == 0 and json.loads(process.stdout.decode())["verdict"] == "pass"
