"""Tests that man pages and completions, generated from the command line's own description, are well formed and complete."""

import re
import shutil
import subprocess

import pytest
from cli_tool import ROOT, binary, run
from test_cli_streams import COMMANDS, TOP



def options_of(command):
    return set(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", run(command, "--help").out, re.MULTILINE))


OPTIONS = {command: options_of(command) for command in COMMANDS}
PAGES = {"": TOP | {"--version", "--help"}, **OPTIONS}


def written(folder):
    done = subprocess.run([str(ROOT / "scripts" / "gen_documents"), binary(), str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    written(folder)
    return folder


def page(share, command):
    return share / "man" / "man1" / ("secequiv%s.1" % ("-" + command if command else ""))


def test_each_command_has_a_man_page_with_every_option(share):
    assert {path.name for path in (share / "man/man1").iterdir()} == {page(share, command).name for command in PAGES}
    for command, options in PAGES.items():
        text = page(share, command).read_text()
        entries = re.findall(r"^\.TP\n(\\fB\\-.*)$", text, re.MULTILINE)
        assert set(re.findall(r"\\fB(--[a-z0-9-]+)\\fR", "\n".join(entries).replace("\\-", "-"))) == options, command
        assert text.startswith(".TH ") and all(".SH %s\n" % head in text for head in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"))
        for line in text.splitlines():  # no line of a description may be a roff request
            assert not line.startswith("'") and (not line.startswith(".") or re.match(r"\.(TH|SH|SS|TP|br)\b", line)), line
    assert all("secequiv\\-%s" % command.replace("-", "\\-") in page(share, "").read_text() for command in COMMANDS)


def test_man_pages_are_valid_roff(share):
    done = subprocess.run(["groff", "-ww", "-z", "-man", "-Tutf8"] + sorted(map(str, (share / "man/man1").iterdir())),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    text = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", str(page(share, "prove"))], stdout=subprocess.PIPE, text=True, timeout=60).stdout
    text = " ".join(text.split())
    for words in ("for example 'nr == read'", "--engine dd|sat|z3|both|all|smt:COMMAND", "(default: 60)"):
        assert words in text, text


def test_a_wrong_folder_is_an_error(share):
    done = subprocess.run([str(ROOT / "scripts" / "gen_documents"), binary(), str(page(share, ""))], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "gen_documents: " in done.stderr and "Traceback" not in done.stderr


# Simulates Tab in bash after the last word. Prints the completions, or an empty line if there are none, and "no files" if bash must not
# offer files instead.
ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { echo "no files"; }
_secequiv
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash_completion_offers_commands_options_and_files(share):
    script = share / "bash-completion/completions/secequiv"
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0

    def asked(*words):
        done = subprocess.run(["bash", "-c", ASK, "bash", str(script), "secequiv", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0 and done.stderr == "", done
        return done.stdout.split("\n")[:-1]
    assert set(asked("")) == set(COMMANDS) and asked("prov") == ["prove", "prove-rule"]
    for command, options in OPTIONS.items():
        assert set(asked(command, "--")) == options, command
    assert set(asked("--")) == TOP | {"--version", "--help"}
    assert asked("check", "x.asm", "--engine", "") == ["no files", "dd", "sat", "z3", "both", "all"]
    assert asked("check", "--engine", "=", "z") == ["no files", "z3"] and asked("check", "--engine", "=") == ["no files", "dd", "sat", "z3", "both", "all"]
    assert "aarch64" in asked("check", "--arch", "")
    assert asked("check", "--timeout", "") == ["no files", ""]
    assert asked("check", "--policy", "") == [""] and asked("check", "") == [""]  # files
    assert asked("--color", "") == ["no files", "auto", "always", "never"]


def test_zsh_and_fish_know_every_option(share):
    zsh = (share / "zsh/site-functions/_secequiv").read_text()
    fish = (share / "fish/vendor_completions.d/secequiv.fish").read_text()
    assert zsh.startswith("#compdef secequiv\n")
    for command, options in OPTIONS.items():
        part = zsh[zsh.index("\n  %s)\n" % command):].split("\n    ;;")[0]
        assert set(re.findall(r"'\*?(--[a-z0-9-]+)", part)) == options, command
        lines = re.findall(r"^complete -c secequiv -n '__fish_seen_subcommand_from %s' .*" % command, fish, re.MULTILINE)
        assert {"--" + name for line in lines for name in re.findall(r" -l (\S+)", line)} == options, command
    for line in fish.splitlines()[1:]:
        assert len(re.findall(r"(?<!\\)'", line)) % 2 == 0, line
    assert "-x -a 'dd sat z3 both all'" in fish and ":(dd sat z3 both all)'" in zsh
    if shutil.which("zsh"):
        assert subprocess.run(["zsh", "-n", str(share / "zsh/site-functions/_secequiv")]).returncode == 0
    if shutil.which("fish"):
        assert subprocess.run(["fish", "-n", str(share / "fish/vendor_completions.d/secequiv.fish")]).returncode == 0
