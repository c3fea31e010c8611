"""Tests the Python package with the library of this build: from the sources, and as a wheel in a new environment."""
# Annex: bindings

import copy
import dataclasses
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "api" / "tests"), str(ROOT / "api" / "python" / "src")]

from api_build import LIBRARY, binary, fits, run  # noqa: E402

# test_wasm.py runs these tests with another library.
os.environ.update(SECEQUIV_LIBRARY=os.environ.get("SECEQUIV_TEST_LIBRARY") or str(LIBRARY), SECEQUIV=binary())

import secequiv  # noqa: E402
from secequiv import _library  # noqa: E402
from secequiv.testing import Insn, assert_equivalent, assert_optimizer, assert_property, assert_refines  # noqa: E402

pytestmark = pytest.mark.full
ALLOW = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x7fff0000\n"
KILL = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x80000000\n"
REFUSED = "ld [0]\n"
POLICY = '{"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",\n "rule_sets": []}'


def imported(cwd, **variables):
    """Imports the package in a new process with these variables only; returns what it prints."""
    known = {name: value for name, value in os.environ.items() if name not in ("SECEQUIV_LIBRARY", "SECEQUIV", "PATH")}
    return subprocess.run([sys.executable, "-c", "import secequiv._library as found; print(found.LIBRARY._name)"], cwd=cwd,
                          env={**known, "PYTHONPATH": str(ROOT / "api" / "python" / "src"), "PATH": "/nonexistent", **variables},
                          capture_output=True, text=True)


def test_the_library_beside_the_command_line_is_found(tmp_path):
    for variables in ({"SECEQUIV": binary()}, {"PATH": str(Path(binary()).parent)}):
        done = imported(tmp_path, **variables)
        assert Path(done.stdout.strip()).resolve() == LIBRARY.resolve(), done
    installed = tmp_path / "usr" / "lib" / "x86_64-linux-gnu"
    installed.mkdir(parents=True)
    (tmp_path / "usr" / "bin").mkdir()
    shutil.copy(binary(), tmp_path / "usr" / "bin" / "secequiv")
    (installed / "libsecequiv.so.1").symlink_to(LIBRARY.resolve())
    assert imported(tmp_path, PATH=str(tmp_path / "usr" / "bin")).stdout.strip() == str(installed / "libsecequiv.so.1")
    done = imported(tmp_path)
    assert done.returncode != 0 and "set SECEQUIV_LIBRARY to the path of libsecequiv.so" in done.stderr, done


def test_parse_accepts_text_bytes_and_paths(tmp_path):
    file = tmp_path / "filter.bpf"
    file.write_text(ALLOW)
    programs = [secequiv.parse(source) for source in (ALLOW, ALLOW.encode(), file, str(file))]
    assert {program.code for program in programs} == {programs[0].code}
    assert len(programs[0]) == 4 and not programs[0].is_policy
    assert secequiv.parse(programs[0]) is programs[0]
    assert secequiv.parse(programs[0].code).code == programs[0].code
    assert secequiv.parse("1\n6 0 0 5", form="ddd").code == b"\6\0\0\0\5\0\0\0"
    assert secequiv.parse(POLICY).is_policy
    with pytest.raises(secequiv.SecequivError, match="filter.bpf:2"):
        file.write_text("ld [0]\nnonsense\n")
        secequiv.parse(file)
    with pytest.raises(FileNotFoundError):
        secequiv.parse("no-such-file")


def test_parse_accepts_policies_of_any_format():
    corpus = ROOT / "corpus" / "imports"
    filters = corpus / "seccompiler" / "vmm.json"
    with pytest.raises(secequiv.SecequivError, match=r"options.filter: .* has 2 filters, expected the name of one: vcpu, vmm"):
        secequiv.parse(filters)
    vmm, vcpu = (secequiv.parse(filters, filter=name) for name in ("vmm", "vcpu"))
    assert vmm.is_policy and vmm.code != vcpu.code
    assert secequiv.parse(filters, filter="vmm", policy_format="seccompiler").code == vmm.code
    readings = [secequiv.parse("read: arg0 == 1; return 5\n", policy_format=name) for name in (None, "minijail", "minijail-compiler")]
    assert readings[0].code == readings[1].code != readings[2].code
    with pytest.raises(secequiv.SecequivError, match="options.policy_format: expected one of .*; did you mean oci"):
        secequiv.parse(POLICY, policy_format="ocl")
    with pytest.raises(secequiv.SecequivError, match="options.filter: <text> is not in seccompiler's format"):
        secequiv.parse(POLICY, filter="vmm")


def test_prove_compares_two_filters():
    proof = secequiv.prove(ALLOW, ALLOW)
    assert proof and proof.verdict is secequiv.Verdict.EQUIVALENT and proof.witness is None
    fits(proof.document)
    proof = secequiv.prove(ALLOW, KILL)
    assert not proof and proof.verdict is secequiv.Verdict.DIFFERENT
    fits(proof.document)
    assert proof.witness == secequiv.Witness(secequiv.SeccompData(nr=39, arch=0xC000003E), 0x7FFF0000, 0x80000000)
    assert "witness: nr=39" in str(proof)
    assert secequiv.prove(ALLOW, KILL, refines=True).verdict is secequiv.Verdict.PASS
    assert secequiv.prove(ALLOW, KILL, assume="nr != getpid && arch == x86_64", engine="both", same="behaviour")


def test_inputs_that_the_kernel_cannot_tell_apart_count_as_one():
    low, strict = ("ld [0]\njeq #41, s, y\ns: %sld [16]\njeq #38, n, y\ny: ret #0x7fff0000\nn: ret #0x50001\n" % high
                   for high in ("", "ld [20]\njeq #0, m, n\nm: "))
    here = dict(assume="arch == x86_64")
    assert not secequiv.prove(strict, low, **here)
    assert secequiv.prove(strict, low, same="effect", **here) and not secequiv.diff(strict, low, same="effect", **here).document["changes"]
    with pytest.raises(secequiv.SecequivError, match="expected raw or behaviour, found effect"):
        secequiv.actions(low, same="effect")


def test_prove_property_is_about_one_filter(tmp_path):
    answer = secequiv.prove_property(ALLOW, "no-ptrace")
    assert answer and answer.verdict is secequiv.Verdict.PASS and fits(answer.document) == "prove-property"
    answer = secequiv.prove_property(ALLOW, "refused: mount\nkilled: getpid", assume="arch == x86_64", engine="both")
    assert not answer and answer.verdict is secequiv.Verdict.FAIL
    assert [clause["verdict"] for clause in answer.document["clauses"]] == ["pass", "fail"]
    assert answer.document["clauses"][1]["witness"]["data"]["nr"] == 39 and "violated: killed: getpid" in str(answer)
    assert secequiv.prove_property(secequiv.parse(ALLOW).code, "no-ptrace")
    assert_property(ALLOW, "no-ptrace")
    with pytest.raises(AssertionError, match="^violated: killed: getpid\n(.*\n)*the filter does not have the property$"):
        assert_property(ALLOW, "killed: getpid")
    with pytest.raises(secequiv.SecequivError, match="property:1:9: expected a system call of x86_64, found 'getpidd'"):
        secequiv.prove_property(ALLOW, "killed: getpidd")
    with pytest.raises(secequiv.SecequivError, match="did you mean no-ptrace"):
        secequiv.prove_property(ALLOW, "no-ptrase")


def raw_files(folder):
    """Writes the programs with lines, which reports name, and as raw programs, which have no lines."""
    for name, text in (("before", ALLOW), ("after", KILL)):
        (folder / (name + ".asm")).write_text(text)
        run(binary(), "asm", name + ".asm", "--to", "raw", "-o", name, cwd=folder)


def test_documents_and_texts_match_the_command_line(tmp_path, monkeypatch):
    """The comparison ignores times."""
    raw_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for before, after, rules in (("before", "after", ()), ("before.asm", "after.asm", ("--rules",))):
        for command, answer in (("prove", secequiv.prove(before, after)), ("diff", secequiv.diff(before, after))):
            options = [command, before, after, *(rules if command == "diff" else ())]
            assert timeless(json.loads(run(binary(), *options, "--json", status=1))) == timeless(answer.document)
            assert run(binary(), *options, status=1).splitlines()[:-1] == answer.message.splitlines()[:-1]  # the last line has times
            assert ("before.asm:4 (after the test in line 2)" in str(answer)) == bool(rules), str(answer)
    assert "before.asm:4" in str(secequiv.why("before.asm", secequiv.SeccompData(nr=39)))
    document = json.loads(run(binary(), "validate", "after", "--json", cwd=tmp_path))
    document["results"][0]["file"] = "program"
    assert document == secequiv.validate(KILL).document
    document = json.loads(run(binary(), "run", "after", "--call-arch", "0", "--nr", "39", "--json", cwd=tmp_path))
    document["filters"][0]["name"] = "program"
    assert document == secequiv.evaluate(KILL, secequiv.SeccompData(nr=39)).document


def test_analyses_match_the_command_line(tmp_path):
    """The comparison ignores file names."""
    raw_files(tmp_path)
    (tmp_path / "policy").write_text(POLICY)
    (tmp_path / "profile").write_text("getpid 5\nread 1\n")
    call = secequiv.SeccompData(nr=39)
    for command, answer in ((["why", "before", "--call-arch", "0", "--nr", "39"], secequiv.why(ALLOW, call)),
                            (["actions", "before"], secequiv.actions(ALLOW)),
                            (["reach", "before"], secequiv.reach(ALLOW)),
                            (["reach", "before", "--at", "2"], secequiv.reach(ALLOW, 2)),
                            (["cost", "before", "after"], secequiv.cost(ALLOW, KILL)),
                            (["cost", "before", "--profile", "profile"], secequiv.cost(ALLOW, profile={"getpid": 5, "read": 1})),
                            (["cache", "before"], secequiv.cache(ALLOW)),
                            (["cache", "before", "after"], secequiv.cache(ALLOW, KILL)),
                            (["lint", "policy"], secequiv.lint(POLICY))):
        fits(answer.document)
        document = json.loads(run(binary(), *command, "--json", status=0 if answer else 1, cwd=tmp_path))
        for mine, theirs in zip(document.get("filters", []) + document.get("sides", []),
                                answer.document.get("filters", []) + answer.document.get("sides", [])):
            mine["name"] = theirs["name"]
        assert document == answer.document, command
    lost = secequiv.cache(ALLOW, KILL)
    assert not lost and lost.verdict is secequiv.Verdict.FAIL and "getpid" in str(lost)
    redundant = POLICY.replace("[]", '[{"action": "errno(1)", "rules": {"read": true}}]')
    assert secequiv.lint(redundant).verdict is secequiv.Verdict.FAIL
    with pytest.raises(secequiv.SecequivError, match="from 0 to 3, found 9"):
        secequiv.reach(ALLOW, 9)
    with pytest.raises(secequiv.SecequivError, match="profile"):
        secequiv.cost(ALLOW, profile="?")


def timeless(document):
    return {name: value for name, value in document.items() if not name.endswith("_seconds")}


TESTED = "ld [4]\njne #0xc000003e, no\nld [0]\njeq #39, yes\nno: ret #0x50001\nyes: ret #0x7fff0000\n"


def test_programs_are_transformed():
    optimized = secequiv.optimize(TESTED + "ret #0\n")
    assert secequiv.prove(TESTED, optimized).verdict is secequiv.Verdict.EQUIVALENT and len(optimized) == 6
    for source in (TESTED, copy.deepcopy(secequiv.parse(TESTED))):
        for text in (secequiv.lift(source), secequiv.disassemble(source), secequiv.disassemble(source, form="c")):
            assert secequiv.prove(TESTED, text).verdict is secequiv.Verdict.EQUIVALENT
        assert '"normal_form"' in secequiv.lift(source, form="normal-form")
        assert secequiv.diff_page(source, KILL).startswith("<!DOCTYPE html>")
    with pytest.raises(secequiv.SecequivError, match="it does not test the architecture"):
        secequiv.lift(ALLOW)
    with pytest.raises(secequiv.SecequivError):
        secequiv.lift(TESTED, form="odd")


def test_options_and_functions_match_the_header():
    header = (ROOT / "api" / "c" / "secequiv.h").read_text()
    members = re.findall(r"^  [\w *]+[ *](\w+);", re.search(r"struct secequiv_options \{(.*?)\n\};", header, re.DOTALL).group(1), re.MULTILINE)
    assert [name for name, _ in _library.Options._fields_] == members
    assert set(_library._SIGNATURES) | {"secequiv_result_holds"} == set(re.findall(r"\b(secequiv_\w+)\(", header))


def test_diff_counts_differing_inputs():
    assert secequiv.diff(ALLOW, ALLOW) and not secequiv.diff(ALLOW, ALLOW).changes
    difference = secequiv.diff(ALLOW, KILL, max_regions=1)
    assert not difference and len(difference.changes) == 1
    fits(difference.document)
    assert difference.witness.data.nr == 39


def test_evaluate_accepts_every_form_of_input():
    data = secequiv.SeccompData(nr=39, arch=0xC000003E, args=(-1, 2))
    for given in (data, bytes(data), data.words):
        answer = secequiv.evaluate(ALLOW, given)
        assert (answer.value, answer.action) == (0x7FFF0000, "ALLOW")
    fits(answer.document)
    assert answer.document["data"]["args"][:2] == ["0xffffffffffffffff", "0x2"]
    assert secequiv.SeccompData.from_bytes(bytes(data)).args[0] == 2**64 - 1
    with pytest.raises(secequiv.SecequivError, match="expected 64 bytes, found 63"):
        secequiv.evaluate(ALLOW, bytes(63))


def test_validate_accepts_or_rejects():
    assert secequiv.validate(ALLOW).instructions == 4
    refused = secequiv.validate(REFUSED)
    assert not refused and refused.verdict is secequiv.Verdict.REJECTED
    fits(refused.document)
    assert not secequiv.validate(b"\6\0\0\0\0\0\0\0" * 5000)
    assert secequiv.validate(b"\6\0\0\0\0\0\0\0" * 5000, any_length=True)


def test_errors_and_unknown_answers_raise():
    with pytest.raises(secequiv.Unknown):
        secequiv.prove(ALLOW, ALLOW, engine="z3", timeout=1e-9)
    for question in (secequiv.prove, secequiv.diff):
        with pytest.raises(secequiv.Rejected, match="after"):
            question(ALLOW, REFUSED)
    with pytest.raises(secequiv.Rejected):
        secequiv.evaluate(REFUSED, bytes(64))
    with pytest.raises(secequiv.SecequivError, match="a proof would mean nothing") as caught:
        secequiv.prove(ALLOW, ALLOW, assume="false")
    fits(caught.value.document)
    for wrong in ({"same": "cooked"}, {"engine": "steam"}, {"timeout": 0}, {"timeout": float("nan")}, {"assume": "nr\0"}):
        with pytest.raises(ValueError):
            secequiv.prove(ALLOW, ALLOW, **wrong)


def test_assertions_show_the_witness():
    assert_equivalent(ALLOW, ALLOW)
    assert_refines(ALLOW, KILL)
    with pytest.raises(AssertionError, match="^only stricter: (.*\n)*witness: nr=39(.*\n)*the filters make different decisions$"):
        assert_equivalent(ALLOW, KILL)
    with pytest.raises(AssertionError, match="^LOOSER: (.*\n)*.*more permissive"):
        assert_refines(KILL, ALLOW)
    with pytest.raises(secequiv.Unknown):
        assert_refines(ALLOW, ALLOW, engine="z3", timeout=1e-9)
    for claim in (assert_equivalent, assert_refines):
        with pytest.raises(TypeError, match="refines"):
            claim(ALLOW, KILL, refines=True)


JSET = 0x45


def swaps_jset(program):
    return [Insn(insn.code, insn.jf, insn.jt, insn.k) if insn.code == JSET else insn for insn in program]


def test_correct_optimizers_pass(tmp_path):
    seen = []
    assert_optimizer(lambda program: seen.append(program) or [tuple(insn) for insn in program], trials=20)
    assert not seen  # it runs in other processes
    file = tmp_path / "filter.bpf"
    file.write_text(ALLOW)
    assert_optimizer(lambda program: program if len(program) == 4 else 1 // 0, trials=1, programs=[file], same="behaviour")


@pytest.mark.parametrize("optimize, message", [
    (swaps_jset, "different: "),
    (swaps_jset, "= KILL_THREAD"),  # the end of a trace
    (lambda program: program + program[:1], "rejected: "),
    (lambda program: [], "garbage: "),
    (lambda program: 1 // 0, "ZeroDivisionError"),
    (lambda program: os.kill(os.getpid(), 9), "128 + signal 9"),
    (lambda program: sys.exit(0), "exited with status 1 without an answer"),
])
def test_wrong_optimizers_fail(optimize, message):
    with pytest.raises(AssertionError) as caught:
        assert_optimizer(optimize, trials=100)
    assert str(caught.value).endswith("\nthe optimizer is wrong") and message in str(caught.value)


def test_the_program_of_a_finding_is_stored_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert_optimizer(lambda program: program, trials=3)
    assert not list(tmp_path.glob("secequiv-findings-*"))
    for folder in (None, tmp_path / "found"):
        with pytest.raises(AssertionError) as caught:
            assert_optimizer(swaps_jset, trials=100, save=folder)
        path = Path(re.search("^  stored: (.*)$", str(caught.value), re.M)[1])
        assert "jset" in path.read_text() and path.parent == (folder or next(tmp_path.glob("secequiv-findings-*")))


def test_a_finding_names_a_command_that_repeats_it(tmp_path):
    """The finding names its file and the pytest command, because the command that secequiv stores would need this process."""
    for programs in ((), "stored"):
        with pytest.raises(AssertionError) as caught:
            assert_optimizer(swaps_jset, save=tmp_path, programs=programs and [path])
        said, path, test = re.search(r"^  replay: (add programs=\['(.*)'\] to assert_optimizer and run pytest (\S+))$", str(caught.value), re.M).groups()
        assert "\n; replay: %s\n" % said in Path(path).read_text() and test.endswith("::test_a_finding_names_a_command_that_repeats_it")
    assert "trial 1 (" in str(caught.value)


def raises_in_a_thread(program, seconds=0):
    thread = threading.Thread(target=lambda: time.sleep(seconds) or 1 // 0)
    thread.start()
    if not seconds:
        thread.join()
    return program


def test_exceptions_in_threads_and_warnings_as_errors_fail():
    with pytest.raises(AssertionError, match="ZeroDivisionError(.*\n)*the optimizer is wrong$"):
        assert_optimizer(raises_in_a_thread, trials=20)
    with pytest.raises(AssertionError, match="^a fork of the test process failed after its last answer .exit status 1.\nthe optimizer is wrong$"):
        assert_optimizer(lambda program: raises_in_a_thread(program, 0.3), trials=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AssertionError, match="UserWarning: oops"):
            assert_optimizer(lambda program: warnings.warn("oops") or program, trials=20)


def test_arithmetic_is_proven(tmp_path):
    """Diagrams and derived inputs cannot decide arithmetic with several words, but a pass still needs a proof."""
    file = tmp_path / "hash.asm"
    file.write_text("ld [16]\nmul #0x9e3779b1\ntax\nld [24]\nmul #0x85ebca6b\nxor x\njeq #0x12345678, bad, good\nbad: ret #0x80000000\ngood: ret #0x7fff0000\n")
    assert_optimizer(lambda program: program, trials=1, programs=[file])
    with pytest.raises(AssertionError, match="different: KILL_PROCESS became ALLOW"):
        assert_optimizer(lambda program: [insn._replace(k=0x7FFF0000) if insn.k == 0x80000000 else insn for insn in program], trials=1, programs=[file])
    with pytest.raises(secequiv.Unknown, match="no proof succeeded"):
        assert_optimizer(lambda program: program[:-2] + [insn._replace(k=0x7FFF0000) if insn.k == 0x80000000 else insn for insn in program[-2:]],
                         trials=1, programs=[file], allow_unproven=True)


def test_endless_optimizers_fail():
    with pytest.raises(AssertionError, match="hung: "):
        assert_optimizer(lambda program: time.sleep(1e6), request_timeout=0.2)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # no fork is left


def test_errors_about_optimizers_raise(tmp_path, monkeypatch):
    with pytest.raises(secequiv.SecequivError, match="no-such-file"):
        assert_optimizer(swaps_jset, programs=["no-such-file"])
    program = tmp_path / "secequiv"
    monkeypatch.setenv("SECEQUIV", str(program))
    with pytest.raises(secequiv.SecequivError, match="cannot be started"):
        assert_optimizer(swaps_jset)
    for script, error in (("exit 3", secequiv.Unknown), ("kill -9 $$", secequiv.SecequivError)):
        program.write_text("#!/bin/sh\n%s\n" % script)
        program.chmod(0o755)
        with pytest.raises(error):
            assert_optimizer(swaps_jset)


def test_failures_about_policies_name_their_lines(tmp_path):
    for name, more in (("old.json", ""), ("new.json", ',\n"read": true')):
        (tmp_path / name).write_text(POLICY.replace("[]", '[{"action": "allow", "rules": {\n"write": true%s}}]' % more))
    with pytest.raises(AssertionError) as caught:
        assert_equivalent(tmp_path / "old.json", secequiv.parse(tmp_path / "new.json"))
    text = str(caught.value)
    assert text.startswith("LOOSER: read newly allowed") and "new.json:4 (rule_sets[0].rules.read)" in text, text


def test_changed_copies_of_a_parsed_program_are_compared_themselves(tmp_path):
    (tmp_path / "kill.asm").write_text(KILL)
    kill, allow = secequiv.parse(tmp_path / "kill.asm"), secequiv.parse(ALLOW)
    changed = dataclasses.replace(kill, code=allow.code)
    for copied in (changed, copy.deepcopy(kill), pickle.loads(pickle.dumps(kill))):
        assert bool(secequiv.prove(copied, ALLOW)) == (copied is changed)
        assert bool(secequiv.prove(copied, KILL)) == (copied is not changed)


def test_notes_about_profiles_are_warnings():
    profile = '{"defaultAction": "SCMP_ACT_ALLOW",\n "syscalls": [], "Nothing": 1}'
    program = secequiv.parse(profile)
    for question in (secequiv.prove, secequiv.diff):
        for before, after in ((profile, program), (program, program)):
            with pytest.warns(UserWarning, match="<text>:2 \\(Nothing\\): unknown key") as caught:
                answer = question(before, after)
            assert answer.message.count("<text>:2 (Nothing): unknown key") == 2 and len(caught) == 1
            assert caught[0].filename == __file__


def test_numbers_and_programs_out_of_range_are_errors():
    for wrong in ({"max_memory": 2**64}, {"max_memory": -1}):
        for question in (secequiv.prove, secequiv.diff):
            with pytest.raises(ValueError, match="max_memory"):
                question(ALLOW, ALLOW, **wrong)
    with pytest.raises(ValueError, match="max_regions"):
        secequiv.diff(ALLOW, ALLOW, max_regions=2**64)
    with pytest.raises(ValueError, match="found 9 in all"):
        secequiv.Program(bytes(9))


NO_MEMORY = """
import resource, secequiv
program = secequiv.parse("ld [0]\\njeq #39, yes\\nret #0x50001\\nyes: ret #0x7fff0000\\n")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (%d << 20),) * 2)
try:
    print(secequiv.prove(program, program, engine="z3").verdict.value)
except (secequiv.Unknown, MemoryError):
    print("unknown")
"""


@pytest.mark.parametrize("mib", [2, 18])  # too little memory for Z3; too little for a thread
def test_memory_that_runs_out_is_unknown(mib):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "api" / "python" / "src"))
    assert run(sys.executable, "-c", NO_MEMORY % mib, env=environment) in ("unknown\n", "equivalent\n")


def test_the_wheel_works_in_a_new_environment(tmp_path):
    """The wheel is built in a copy, so that the tree does not change, and nothing is downloaded."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "api" / "python", tree / "api" / "python", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    shutil.copy(ROOT / "CMakeLists.txt", tree)
    pip = ["-m", "pip", "--disable-pip-version-check", "-q"]
    offline = ["--no-deps", "--no-index"]
    command = tmp_path / "secequiv"
    command.write_text("#!/bin/sh\necho command: \"$@\"\n")
    command.chmod(0o755)
    run(sys.executable, *pip, "wheel", *offline, "--no-build-isolation", "-w", tmp_path / "wheels", tree / "api" / "python",
        env={**os.environ, "SECEQUIV_COMMAND": str(command)})
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert wheel.name.startswith("secequiv-%s-py3-none-linux_" % secequiv.__version__)
    with zipfile.ZipFile(wheel) as files:
        assert {"secequiv/libsecequiv.so", "secequiv/py.typed", "secequiv/testing.py"} <= set(files.namelist())
    run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, *pip, "install", *offline, wheel)
    shutil.copy(ROOT / "api" / "python" / "tests" / "sample" / "filters.py", tmp_path / "test_filters.py")
    environment = {name: value for name, value in os.environ.items() if name not in ("SECEQUIV", "SECEQUIV_LIBRARY", "PYTHONPATH")}
    for started in ([python.with_name("secequiv")], [python, "-m", "secequiv"]):
        assert run(*started, "one word", env={**environment, "PATH": "/nonexistent"}) == "command: one word\n"
    done = subprocess.run([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_filters.py"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: only stricter: " in done.stdout
    assert "witness: nr=39" in done.stdout and "before: 0x7fff0000 ALLOW" in done.stdout
    assert "secequiv.Unknown" in done.stdout or "secequiv._types.Unknown" in done.stdout
    assert "secequiv/testing.py" not in done.stdout  # the traceback hides the package's own frames
