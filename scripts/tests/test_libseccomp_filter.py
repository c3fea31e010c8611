"""libseccomp_filter writes a filter, and reports what it cannot read and a library that does not answer."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "corpus" / "regress" / "known"


def run(*arguments):
    command = [sys.executable, ROOT / "scripts/libseccomp_filter", *arguments]
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# A name must not add a line to the rules that libseccomp gets.
TWO_RULES = """{"defaultAction": "SCMP_ACT_ERRNO", "archMap": [{"architecture": "SCMP_ARCH_X86_64"}],
 "syscalls": [{"names": ["read\\nrule 0x7fff0000 execve"], "action": "SCMP_ACT_ALLOW"}]}"""


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"defaultAction": "NONE"}', "[" * 100000, TWO_RULES])
def test_unreadable_profiles_are_errors(tmp_path, text):
    profile = tmp_path / "profile.json"
    if text is not None:
        profile.write_text(text)
    done = run(profile, "-o", tmp_path / "out.bpf")
    assert done.returncode == 2 and str(profile) in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out.bpf").exists()


def test_names_of_files_cannot_command_a_terminal(tmp_path):
    done = run(tmp_path / "a\x1b[31m\u202e\n.json", "-o", tmp_path / "out.bpf")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not set("\x1b\u202e") & set(done.stderr)


def test_it_writes_the_filter_or_reports_that_libseccomp_does_not_answer(tmp_path):
    if shutil.which("cc") is None or not Path("/usr/include/seccomp.h").exists():
        pytest.skip("no C compiler, or no headers of libseccomp")
    out = tmp_path / "out.bpf"
    assert run(KNOWN / "two-lower-bounds.json", "-o", out).returncode == 0
    assert out.stat().st_size % 8 == 0
    assert "%s: No such file" % (tmp_path / "no/out") in run(KNOWN / "two-lower-bounds.json", "-o", tmp_path / "no/out").stderr
    out.unlink()
    done = run(KNOWN / "bound-and-two-arguments.json", "-o", out, "--seconds", "2")
    assert done.returncode == 1 and "did not answer within 2 s" in done.stderr
    assert not out.exists()
