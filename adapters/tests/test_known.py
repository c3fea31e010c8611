"""Every known bug in corpus/known.toml must still exist. If it was fixed, its entry must be deleted."""
# Annex: adapters

import json
import os
import struct

import frames
import pytest
from built_adapters import built

from corpus import known
from naive.accept import accept
from naive.naive import Insn, run

HANG_SECONDS = 3
ENTRIES = known.load()
X86_64 = struct.pack("<2I56x", 0, 0xC000003E)  # struct seccomp_data


def decoded(raw):
    return [Insn(*insn) for insn in frames.decode(raw)]


def keep(entry, raw):
    """Compares a wrong program with the stored one. With SECEQUIV_STORE=1, stores it."""
    if os.environ.get("SECEQUIV_STORE"):
        entry.answer.parent.mkdir(exist_ok=True)
        entry.answer.write_bytes(raw)
    assert raw == entry.answer.read_bytes(), "the project's answer differs from %s; if it is still wrong, SECEQUIV_STORE=1 stores it" % entry.answer


def differs(entry, adapter, secequiv, normal_form):
    """Returns the current values of the entry's fields `ours` and `theirs`."""
    if entry.request == "evaluate":
        program = entry.program()
        status, body = adapter.ask(frames.evaluate(program, [entry.data or X86_64]))
        if entry.kind == "refused":
            return "a program", body.decode().strip() if status == frames.REFUSED else "a program"
        assert status == frames.ANSWERED, body
        return run(program, entry.data), frames.values(body)[0]
    if entry.request == "optimize":
        program = entry.program()
        status, body = adapter.ask(frames.optimize(program))
    else:
        status, body = adapter.ask(frames.compile_policy(normal_form(entry.file.read_text())))
    if entry.kind == "refused":
        return "a program", body.decode().strip() if status == frames.REFUSED else "a program"
    assert status == frames.ANSWERED, body
    after = decoded(body)
    refusal = accept(after)
    if entry.kind == "refused-output":
        found = "accepted", "accepted" if refusal is None else "%s at %d" % refusal
    else:
        assert refusal is None
        found = run(program, entry.data) if entry.request == "optimize" else meant(entry, secequiv), run(after, entry.data)
    if entry.answer and found == (entry.ours, entry.theirs):
        keep(entry, body)
    return found


def meant(entry, secequiv, *options):
    """Returns the value that the program or policy gives to the input."""
    return value_of(entry.file, entry.data, secequiv, *options)


def value_of(file, data, secequiv, *options):
    words = ",".join(str(word) for word in struct.unpack("<16I", data))
    done = secequiv("run", file, "--words", words, "--libseccomp", "none", *options)
    if done.returncode == 3:
        pytest.skip(done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.splitlines()[1].split()[0], 0)


def check_profile(entry, secequiv, file):
    """libseccomp's filter of the profile is wrong, or libseccomp never answers."""
    done = secequiv("asm", entry.file, "--libseccomp", "libseccomp.so.2", *entry.arguments, "-o", file)
    if entry.kind == "hang":
        assert done.returncode == 3 and "still running after" in done.stderr, done.stderr
        return
    assert done.returncode == 0, done.stderr
    program = decoded(file.read_bytes())
    if entry.kind == "hole":
        check_hole(entry, secequiv, program, file)
        return
    assert (meant(entry, secequiv), run(program, entry.data)) == (entry.ours, entry.theirs)
    keep(entry, file.read_bytes())


def check_hole(entry, secequiv, program, file):
    """The library's filter refuses one input and allows the other, also in the kernel; `guard` reports the call, in this filter and
    in the profile."""
    assert (run(program, entry.data), run(program, entry.other_data)) == (entry.ours, entry.theirs)
    assert [value_of(file, data, secequiv, "--oracle", "kernel") for data in (entry.data, entry.other_data)] == [entry.ours, entry.theirs]
    for subject in (file, entry.file):
        done = secequiv("guard", subject, "--json")
        assert done.returncode == 1, done.stdout + done.stderr
        assert struct.unpack("<I", entry.data[:4])[0] in {hole["nr"] for hole in json.loads(done.stdout)["holes"]}


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.kind != "slow"], ids=lambda entry: entry.id)  # tests do not measure time
def test_known_bug_still_exists(entry, secequiv, normal_form, tmp_path, request):
    if entry.request == "profile":
        request.getfixturevalue("library")  # skips other versions
        check_profile(entry, secequiv, tmp_path / "library.bpf")
        return
    command = [built(entry.adapter), *entry.arguments]
    if entry.kind == "hang":
        adapter = frames.Served(command, HANG_SECONDS)
        with pytest.raises(frames.Gone, match="no answer within"):
            adapter.ask(frames.compile_policy(normal_form(entry.file.read_text())) if entry.request == "compile"
                        else b"O" + entry.file.read_bytes())
        return
    if entry.kind == "crash":
        if entry.request == "compile":
            frame = frames.compile_policy(normal_form(entry.file.read_text()))
        elif entry.request == "optimize":
            frame = frames.optimize(entry.program())
        else:
            frame = frames.evaluate(entry.program(), [bytes(64)])
        with pytest.raises(frames.Gone, match="it ended with status"):
            frames.Served(command, 60).ask(frame)
        return
    with frames.Served(command, 60) as adapter:
        assert differs(entry, adapter, secequiv, normal_form) == (entry.ours, entry.theirs)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.data and entry.kind != "hole"], ids=lambda entry: entry.id)
def test_the_kernel_confirms_the_right_value(entry, secequiv):
    """docs/findings.md shows this value as the running kernel's answer."""
    assert meant(entry, secequiv, "--oracle", "kernel") == entry.ours


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.answer], ids=lambda entry: entry.id)
def test_the_stored_answer_shows_the_fault(entry, secequiv):
    """docs/findings.md and the page of scripts/play show these pairs."""
    after = decoded(entry.answer.read_bytes())
    if entry.kind == "refused-output":
        done = secequiv("validate", entry.answer)
        assert done.returncode == 4 and accept(after) is not None, done
        return
    done = secequiv("prove", entry.file, entry.answer)
    assert done.returncode == 1 and "witness: " in done.stdout, done
    assert run(after, entry.data) == entry.theirs
