"""Tests that other projects' policies decide as the programs that those projects' own tools made, and that every command reads them."""

import json
import os

import pytest
from cli_tool import PROGRAMS, ROOT, report, run

IMPORTS = ROOT / "corpus" / "imports"
SECCOMPILER = sorted((IMPORTS / "seccompiler").glob("*.bpf"))
PFC = sorted((IMPORTS / "pfc").glob("*.pfc"))
OCI = sorted((IMPORTS / "oci").glob("*.bpf"))


def prove(policy, program, *options):
    return report("prove", policy, program, "--engine", "both", *options)[0]["verdict"]


def of_seccompiler(program):
    """Returns the policy and the options from which seccompiler/POLICY[.FILTER].ARCH.bpf was made."""
    policy, *name, arch = program.stem.split(".")
    return program.with_name(policy + ".json"), ["--arch", arch] + [word for part in name for word in ("--filter", part)]


@pytest.mark.parametrize("program", SECCOMPILER, ids=lambda path: path.stem)
def test_imported_policies_are_equivalent_to_seccompilers_programs(program):
    policy, options = of_seccompiler(program)
    assert prove(policy, program, *options) == "equivalent"


@pytest.mark.parametrize("text", PFC, ids=lambda path: path.stem)
def test_libseccomps_pseudo_code_is_equivalent_to_its_program(text):
    program = text.with_suffix(".bpf")
    stored = program if program.exists() else PROGRAMS / "libseccomp" / program.name
    assert prove(text, stored) == "equivalent"


@pytest.mark.parametrize("program", OCI, ids=lambda path: path.stem)
def test_oci_profiles_are_equivalent_to_libseccomps_programs(program):
    assert prove(program.with_suffix(".json"), program) == "equivalent"


def test_the_proofs_of_imported_policies_can_fail(tmp_path):
    assert len(SECCOMPILER) >= 8 and len(PFC) >= 7 and len(OCI) >= 1
    changed = tmp_path / "changed.json"
    text = (IMPORTS / "seccompiler" / "every.json").read_text()
    changed.write_text(text.replace('"type": "dword", "op": "ge"', '"type": "qword", "op": "ge"'))
    assert changed.read_text() != text
    program = IMPORTS / "seccompiler" / "every.operators.x86_64.bpf"
    assert prove(changed, program, "--filter", "operators") == "different"
    changed = tmp_path / "changed.pfc"
    text = (IMPORTS / "pfc" / "x86_64.tree.pfc").read_text()
    changed.write_text(text.replace("$a0.hi32 > 0", "$a0.hi32 >= 0", 1))
    assert changed.read_text() != text
    assert prove(changed, IMPORTS / "pfc" / "x86_64.tree.bpf") == "different"


VMM = IMPORTS / "seccompiler" / "vmm.json"
WEB = IMPORTS / "minijail" / "web.policy"
TREE = IMPORTS / "pfc" / "x86_64.tree.pfc"


@pytest.mark.parametrize("arguments", [
    ["check", VMM, "--filter", "vmm"], ["check", WEB], ["lint", WEB], ["lint", TREE], ["run", WEB, "--nr", "read"],
    ["why", VMM, "--filter", "vcpu", "--nr", "ioctl"], ["actions", TREE], ["validate", TREE], ["cost", WEB],
    ["cover", IMPORTS / "seccompiler" / "single.x86_64.bpf", "--policy", IMPORTS / "seccompiler" / "single.json"],
    ["optimize", WEB], ["precompile", WEB], ["diff", WEB, WEB]],
    ids=lambda arguments: "%s-%s" % (arguments[0], arguments[1].suffix[1:]))  # fmt: skip
def test_every_command_reads_every_format(arguments):
    done = run(*arguments, raw=True)
    assert done.status == (1 if arguments[0] == "lint" else 0), done  # lint finds redundant rules


@pytest.mark.parametrize("path, name", [(VMM, "seccompiler"), (WEB, "minijail"), (TREE, "pfc"),
                                        (IMPORTS / "minijail-compiler" / "every.policy", "minijail-compiler")],
                         ids=["seccompiler", "minijail", "pfc", "minijail-compiler"])  # fmt: skip
def test_import_detects_the_format(path, name):
    options = ["--filter", "vmm"] if path == VMM else []
    detected, named = run("import", path, *options), run("import", path, "--format", name, *options)
    assert detected.status == named.status == 0 and detected.out == named.out and json.loads(detected.out)["version"] == 1
    other = run("import", path, "--format", "oci")
    assert other.status == 2 and path.name in other.err


@pytest.mark.parametrize("arguments, message", [
    (["check", VMM], "vmm.json has 2 filters, expected the name of one: vcpu, vmm"),
    (["import", WEB, "--filter", "vmm"], "--filter: web.policy is not in seccompiler's format"),
    (["import", VMM, "--filter", "vmm", "--arch", "arm"], "--arch: expected x86_64, aarch64 or riscv64"),
    (["import", WEB, "--arch", "arm"], "web.policy:8:1: unknown system call 'mmap' on arm"),
    (["import", IMPORTS / "minijail-compiler" / "every.policy", "--format", "minijail"], "every.policy:2:1: @default: only"),
], ids=["filter", "no-filter", "arch", "call", "dialect"])  # fmt: skip
def test_malformed_policies_are_reported_with_their_position(arguments, message):
    done = run(*arguments)
    assert done.status == 2 and message in done.err.replace(str(WEB), WEB.name), done


def test_includes_are_read_relative_to_their_file(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.policy").write_text("@include ./sub/more.policy\nread: 1\n")
    (tmp_path / "sub" / "more.policy").write_text("write: 1\n@include ./last.policy\n")
    (tmp_path / "sub" / "last.policy").write_text("close: 1\n")
    done = run("import", tmp_path / "main.policy")
    assert done.status == 0 and set(json.loads(done.out)["rule_sets"][0]["rules"]) == {"read", "write", "close"}
    (tmp_path / "sub" / "last.policy").write_text("close: 1\nclose: 1\n")
    done = run("import", tmp_path / "main.policy")
    assert done.status == 2 and "sub/last.policy:2:8: close already has an action for all arguments" in done.err
    done = run("import", "--format", "minijail", tmp_path / "main.policy")
    assert done.status == 2 and "sub/more.policy:2:1: @include in an included file: only" in done.err


def test_includes_stay_below_the_policys_folder(tmp_path):
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.write_text("write: 1\n")
    (folder / "beside").write_text("write: 1\n")
    (folder / "sub" / "up").write_text("@include ./beside\n")
    (folder / "sub" / "beside").symlink_to("../beside")
    (folder / "link").symlink_to(outside)
    (folder / "way").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    policy = folder / "main.policy"
    for path, message in (("sub/up", None), ("link", "leads out of the policy's folder"), ("way/outside", "leads out of the policy's folder"),
                       ("pipe", "expected a regular file"), ("sub", "expected a regular file"), ("none", "cannot include")):  # fmt: skip
        policy.write_text("read: 1\n@include ./%s\n" % path)
        done = run("import", policy)
        assert (done.status == 0) if message is None else (done.status == 2 and "main.policy:2:1: cannot" in done.err and message in done.err), done
    policy.write_text("read: 1\n@include ./sub/up\n")
    (tmp_path / "elsewhere").symlink_to(folder)
    assert run("import", tmp_path / "elsewhere" / "main.policy").status == 0
