"""Tests mistyped names: the error suggests similar names; the command never uses one by itself and exits with status 2."""

import json

import pytest
from cli_tool import run, some

NAMES = [
    (["chekc"], "'chekc' is not a command; did you mean check?"),
    (["compare"], "'compare' is not a command; did you mean diff?"),
    (["test"], "'test' is not a command; did you mean check?"),
    (["prove-rul", "x.rule"], "'prove-rul' is not a command; did you mean prove-rule?"),
    (["check", "A", "--timout", "5"], "'--timout' is not an option of check; did you mean --timeout?"),
    (["check", "A", "--timout=5"], "'--timout' is not an option of check; did you mean --timeout?"),
    (["prove", "A", "--refine"], "'--refine' is not an option of prove; did you mean --refines?"),  # although an input is missing, too
    (["run", "A", "--nr", "getpit"], "did you mean getpid"), (["run", "A", "--nr", "opennat"], "did you mean openat"),
    (["run", "A", "--nr", "OPENAT"], "did you mean openat"), (["run", "A", "--nr", "__NR_openat"], "did you mean openat?"),
    (["run", "A", "--nr", "sys_openat"], "did you mean openat?"), (["run", "A", "--arch", "x64"], "did you mean x86_64?"),
    (["--explain", "LOSER"], "did you mean looser?"), (["run", "A", "--colour", "always"], "did you mean --color?"),
    (["why", "A", "--nr", "raed"], "did you mean read"), (["prove", "A", "A", "--assume", "nr == raed"], "did you mean read"),
    (["prove", "A", "A", "--assume", "arch == x86_46"], "did you mean x86_64?"),
    (["prove", "A", "A", "--assume", "nr == aarch46:read"], "did you mean aarch64?"),
    (["run", "A", "--arch", "x8664"], "did you mean x86_64?"), (["check", "A", "--arch", "i386x"], "did you mean i386?"),
    (["run", "A", "--arg", "0=O_CREATE"], "did you mean O_CREAT"),
    (["check", "A", "--same", "behavior"], "did you mean behaviour?"), (["check", "A", "--engine", "z4"], "did you mean z3?"),
    (["dis", "A", "--to", "rwa"], "did you mean raw?"), (["kernel", "A", "--entry", "anny"], "did you mean any?"),
    (["check", "A", "--cap", "CAP_SYS_ADMN"], "did you mean CAP_SYS_ADMIN?"), (["check", "A", "--cap", "dokcer"], "did you mean CAP_DOCKER?"),
    (["optimize", "A", "--passes", "thread-jump"], "did you mean thread-jumps?"),
    (["fuzz", "--optimizer", "broken:last-fixup-off-by-one"], "did you mean broken:last-fix-up-off-by-one?"),
    (["dis", "getpit.asm"], "getpit.asm: cannot open: No such file or directory; did you mean getpid.asm?"),
    (["prove", "FOLDER/getpid.amd", "A"], "did you mean FOLDER/getpid.asm?"),
    (["validate", "call.json"], "unknown system call 'raed' on x86_64; did you mean read"),
    (["validate", "arch.json"], "did you mean x86_64?"), (["validate", "key.json"], "did you mean default_action?"),
]
POLICY = {"version": 1, "arches": ["x86_64"], "default_action": "allow", "rule_sets": []}
POLICIES = {"call.json": {"rule_sets": [{"action": "log", "rules": {"raed": True}}]}, "arch.json": {"arches": ["x86-64"]},
            "key.json": {"defaultaction": "log"}}


@pytest.mark.parametrize("args, words", some(NAMES, 4), ids=[" ".join(args) for args, _ in some(NAMES, 4)])
def test_a_similar_name_is_suggested_but_not_used(args, words, getpid):
    for name, change in POLICIES.items():
        (getpid.parent / name).write_text(json.dumps({**POLICY, **change}))

    def place(text):
        return str(getpid) if text == "A" else text.replace("FOLDER", str(getpid.parent))
    done = run(*map(place, args), cwd=getpid.parent)
    assert done.status == 2 and done.out == "" and place(words) in done.err, done


def test_names_without_similar_ones_get_no_suggestion(getpid):
    for args in (["frobnicate"], ["check", getpid, "--frobnicate"], ["run", getpid, "--nr", "frobnicate"],
                 ["run", getpid, "--arch", "pdp11"], ["dis", getpid, "--to", "elf"], ["dis", getpid.parent / "frobnicate"]):
        done = run(*args)
        assert done.status == 2 and "did you mean" not in done.err, done


def test_an_unknown_command_is_the_only_error_reported():
    assert run("chekc", "--jason", "proof").err.count("is not") == 1


def test_hidden_commands_are_not_suggested():
    assert "plugin-host" not in run("plugin-hots").err


def test_suggestions_escape_control_characters(tmp_path):
    (tmp_path / "a\x1b[31mb.asm").write_text("ret #0")
    done = run("dis", tmp_path / "a\x1b[31b.asm")
    assert done.status == 2 and "\x1b" not in done.err and "did you mean" in done.err
    assert "\x1b" not in run("\x1b[31m").err
